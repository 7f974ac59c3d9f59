"""What `import fedbandit as fb` gives."""

import pkgutil
from importlib import import_module

import pytest

import fedbandit as fb
from fedbandit.core.registry import Registry


@pytest.mark.parametrize("name", fb.__all__)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(fb, name).__doc__


@pytest.mark.parametrize("name", ["algorithms", "environments", "experiments"])
def test_a_registry_keeps_its_name_when_every_file_of_its_folder_has_been_imported(name):
    for module in pkgutil.iter_modules(import_module(f"fedbandit.{name}").__path__):
        import_module(f"fedbandit.{name}.{module.name}")
    registry = getattr(fb, name)
    assert isinstance(registry, Registry)
    assert list(registry)
    assert registry[next(iter(registry))]


def test_a_file_of_a_folder_can_be_imported_under_another_name():
    import fedbandit.algorithms.linear.async_linucb as algorithms
    import fedbandit.environments.linear as environments
    import fedbandit.experiments.user_file as experiments

    assert algorithms.AsyncLinUCB is fb.algorithms["async-linucb"]
    assert environments.Linear is fb.environments["linear"]
    assert experiments.read_experiment


def test_a_registry_has_no_other_attributes():
    with pytest.raises(AttributeError, match="has no module 'linucb'"):
        _ = fb.algorithms.linucb
