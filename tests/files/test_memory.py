"""How much memory there is to take, by what the system says."""

import pytest

from fedbandit.files import memory


@pytest.fixture
def says(tmp_path, monkeypatch):
    def said(meminfo, container=None):
        monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
        monkeypatch.setattr(memory, "_CONTAINER", tmp_path / "memory.max")
        if meminfo is not None:
            (tmp_path / "meminfo").write_text(meminfo)
        if container is not None:
            (tmp_path / "memory.max").write_text(container)
        return memory.free_memory()

    return said


LINES = "MemTotal:       9000 kB\nMemAvailable:   4000 kB\nSwapFree:        100 kB\n"


@pytest.mark.parametrize(
    ("container", "free"), [(None, 4_198_400), ("max\n", 4_198_400), ("1000000\n", 1_000_000), ("99999999", 4_198_400)]
)
def test_what_is_available_counts_and_what_a_container_may_have(says, container, free):
    assert says(LINES, container) == free


def test_where_the_system_does_not_say_it_is_the_whole_memory(says):
    assert says(None) > 2**28
