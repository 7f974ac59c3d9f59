"""What can be made again is kept where the user says, or where the platform keeps such things."""

from pathlib import Path

import pytest

from fedbandit.files import cache_folder as module
from fedbandit.files.cache_folder import cache_folder


def test_the_users_choice_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "usual"))
    assert cache_folder() == tmp_path / "mine"


@pytest.mark.parametrize(
    ("platform", "variable", "ending"),
    [
        ("linux", "XDG_CACHE_HOME", "fedbandit"),
        ("darwin", "HOME", "Library/Caches/fedbandit"),
        ("win32", "LOCALAPPDATA", "fedbandit/Cache"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    platform: str, variable: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FEDBANDIT_CACHE", raising=False)
    monkeypatch.setattr(module.sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == tmp_path / ending
