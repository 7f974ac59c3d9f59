"""Every test has a cache of its own, so that none reads or fills the user's."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

OFFICIAL = os.environ.get("FEDBANDIT_DATA")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FEDBANDIT_CACHE", str(folder))
        patch.setenv("no_proxy", "*")
        yield folder


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No data sets anywhere but where the test puts them; the cache is this folder."""
    monkeypatch.delenv("FEDBANDIT_DATA", raising=False)
    monkeypatch.setenv("FEDBANDIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def official() -> Path:
    """The folder with the official files; tests that need it are skipped where there is none."""
    if not OFFICIAL:
        pytest.skip("FEDBANDIT_DATA is not set: it names the folder with the official files")
    return Path(OFFICIAL)
