"""Things are found by name, in the files of their folder, without a list kept by hand."""

import sys

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.core.registry import Registry


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package of two modules, each of which registers something when it is imported."""
    package = tmp_path / "found_by_scan"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from fedbandit.core.registry import Registry\nthings = Registry('thing', __name__)\n"
    )
    for name in ("second", "first"):
        (package / f"{name}.py").write_text(f"from found_by_scan import things\nthings.add('{name}', '{name} thing')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package
    for name in [name for name in sys.modules if name.startswith("found_by_scan")]:
        del sys.modules[name]


def test_a_file_in_the_folder_is_enough_to_be_known(folder):
    from found_by_scan import things

    assert "found_by_scan.first" not in sys.modules, "nothing is imported before somebody asks"
    assert list(things) == ["first", "second"]
    assert things["second"] == "second thing"


def test_asking_by_name_scans_the_folder_too(folder):
    from found_by_scan import things

    assert things["first"] == "first thing"


def test_the_folder_is_scanned_once(folder):
    from found_by_scan import things

    list(things)
    (folder / "third.py").write_text("raise RuntimeError('must not be imported')\n")
    assert list(things) == ["first", "second"]


def test_a_file_that_fails_fails_every_time(folder):
    (folder / "zebra.py").write_text("raise RuntimeError('broken file')\n")
    from found_by_scan import things

    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken file"):
            list(things)


def offer(folder, module, text):
    """Install a package beside the folder that offers one module to it."""
    (folder.parent / f"{module}.py").write_text(text)
    about = folder.parent / f"{module}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[found_by_scan]\nmine = {module}\n")


def test_an_installed_package_offers_its_own_by_an_entry_point(folder):
    offer(folder, "offered_elsewhere", "from found_by_scan import things\nthings.add('third', 'from afar')\n")
    from found_by_scan import things

    assert things["third"] == "from afar"
    del sys.modules["offered_elsewhere"]


def test_an_entry_point_that_fails_is_named_with_its_package(folder):
    offer(folder, "offered_broken", "raise RuntimeError('out of order')\n")
    from found_by_scan import things

    with pytest.raises(InvalidInput, match=r"'mine' \(offered_broken\) of the package offered_broken.*out of order"):
        list(things)


def test_names_come_in_order_whenever_they_were_added():
    things = Registry("thing", "fedbandit.core")
    for name in ("pear", "apple", "fig"):
        things.add(name, name)
    assert list(things) == ["apple", "fig", "pear"]


def test_the_latest_of_a_name_wins():
    things = Registry("thing", "fedbandit.core")
    things.add("one", 1)
    things.add("one", 2)
    assert things["one"] == 2


def test_an_unknown_name_is_refused_with_the_nearest_one():
    things = Registry("thing", "fedbandit.core")
    things.add("async-linucb", 1)
    with pytest.raises(InvalidInput) as error:
        things["async-linucv"]
    assert str(error.value) == "unknown thing 'async-linucv': did you mean 'async-linucb'?"
    assert "async-linucv" not in things
    assert "async-linucb" in things


def test_a_thing_in_a_file_of_its_name_is_found_without_importing_the_others(folder):
    (folder / "zebra.py").write_text("raise RuntimeError('must not be imported')\n")
    from found_by_scan import things

    assert things["second"] == "second thing"
    assert "found_by_scan.first" not in sys.modules
