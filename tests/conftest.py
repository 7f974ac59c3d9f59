"""Settings that every test shares."""

from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from samples.compiling import keep_programs_of_jax, one_worker_compiles
from samples.examples import make_few
from samples.postgres import postgres_url

__all__ = ["one_worker_compiles", "postgres_url"]  # fixtures

# What tests import is not collected: a module that is imported twice would register its messages twice.
collect_ignore_glob = ["samples/*.py", "reference/[!t]*.py"]

settings.register_profile("fedbandit", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("fedbandit")
keep_programs_of_jax()

# Folders and files whose tests take more than a second each, or start processes: `make quick` leaves them out.
LONG = (
    "advice", "algorithms/dueling", "algorithms/glm", "algorithms/lasso", "algorithms/linear/test_async_linucb_am.py",
    "algorithms/linear/test_clustered_linucb.py", "algorithms/linear/test_randomised_choice.py",
    "algorithms/linear/test_restarting.py", "algorithms/neural", "cli/test_advise.py", "cli/test_change.py",
    "cli/test_change_refusals.py", "cli/test_check.py", "cli/test_forget.py", "cli/test_leaderboard.py",
    "cli/test_roster.py", "cli/test_roster_refusals.py", "cli/test_run.py", "cli/test_serve.py", "cli/test_up.py",
    "cli/test_upgrade.py", "cli/test_warm_start.py", "contract", "datasets", "deploy", "docs",
    "durable/journals/test_lease.py", "durable/test_damage.py", "durable/test_doubt.py",
    "durable/coordinator/test_erasure_in_files.py", "durable/test_forgetting.py", "durable/journals/test_journals.py",
    "durable/test_lost_records.py", "durable/test_taken_journals.py", "environments/test_recorded_damaged.py",
    "experiments", "golden", "kernels/neural", "notebooks", "reference/test_reference_lasso.py",
    "results/test_plots.py", "results/test_reproduce.py", "service", "simulation", "site/test_closing.py",
    "site/test_decision_log.py", "site/test_deployed_site.py", "site/test_programs_that_end.py",
    "site/test_warm_start.py", "transport", "wire/test_codec.py",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Have few examples where the slow tests are left out."""
    if "not slow" in config.option.markexpr:
        make_few()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings only where a file of tests has some: to look takes a second for all of them."""
    found = yield
    if file_path.suffix != ".py" or b">>> " in file_path.read_bytes():
        return found
    return [each for each in found if type(each).__name__ != "DoctestModule"]


def pytest_collection() -> None:
    """Look for no garbage among what is imported to stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from now on, only among what tests make, and seldom: tests leave little."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is long."""
    here = Path(__file__).parent
    long = {here / each for each in LONG}
    is_long = {path: bool(long & {path, *path.parents}) for path in {item.path for item in items}}
    for item in items:
        if is_long[item.path]:
            item.add_marker(pytest.mark.long)
