"""What JAX compiles is kept between processes, unless the user has said otherwise or the folder cannot be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from samples.standard_error import COMPILING

pytest.importorskip("jax", reason="needs JAX: pip install '.[neural]'")

RUN = """
import collections, json
import jax
from fedbandit.kernels.shared.compiled import seconds_starting

events = collections.Counter()
jax.monitoring.register_event_listener(lambda event, **_: events.update([event.rpartition("/")[2]]))
{program}
told = {{name: events[name] for name in ("compile_requests_use_cache", "cache_hits", "cache_misses")}}
print(json.dumps({{**told, "found": found, "seconds": seconds_starting()}}))
"""
FEDERATION = """
import fedbandit as fb
world = fb.environment("cosine", clients=2, dimension=2)
found = fb.run("fn-ucb-less", world, turns=4, width=2, device="cpu").choice.tolist()
"""
ONE_FUNCTION = """
from fedbandit.kernels.neural.device import Device
device = Device("cpu", "float32")
with device.active():
    found = float(device.compiled(lambda number: number + 1)(1.0))
"""


def start(cache, program=ONE_FUNCTION, **others):
    """Run a program in a process of its own; return what it compiled and found."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    environment |= {"FEDBANDIT_CACHE": str(cache)} | others
    command = [sys.executable, "-c", RUN.format(program=program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.replace(COMPILING, "") == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The first start with an empty cache: the folder, and what was compiled."""
    folder = tmp_path_factory.mktemp("first") / "cache"
    return folder, start(folder)


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    before, again = (start(tmp_path / "cache", FEDERATION) for _ in range(2))
    assert before["cache_misses"] == before["compile_requests_use_cache"] > 0
    assert again["cache_misses"] == 0
    assert again["cache_hits"] == again["compile_requests_use_cache"]
    assert again["found"] == before["found"]


def test_whoever_could_write_programs_could_have_them_run_so_only_the_user_can(first):
    assert (first[0] / "jax").stat().st_mode & 0o777 == 0o700


def test_the_time_that_compiling_takes_is_counted_apart(first):
    assert first[1]["seconds"] > 0


@pytest.mark.slow
def test_a_program_that_was_cut_short_is_compiled_again_without_a_word(tmp_path):
    before = start(tmp_path / "cache")
    for kept in (tmp_path / "cache" / "jax").glob("*-cache"):
        kept.write_bytes(kept.read_bytes()[:100])
    again = start(tmp_path / "cache")
    assert again["cache_hits"] == 0 < before["cache_misses"]
    assert again["found"] == before["found"]


def test_the_users_own_folder_is_left_alone(tmp_path):
    theirs = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "theirs")}
    start(tmp_path / "cache", **theirs, JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")
    assert any((tmp_path / "theirs").iterdir())
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "environment",
    [{"JAX_ENABLE_COMPILATION_CACHE": "false"}, {"FEDBANDIT_CACHE": f"{__file__}/cache"}],
    ids=["switched off", "a folder that cannot be made"],
)
@pytest.mark.slow
def test_without_a_folder_programs_are_compiled_and_nothing_is_said(tmp_path, environment):
    told = start(tmp_path / "cache", **environment)
    assert told["cache_hits"] == told["cache_misses"] == 0
    assert not (tmp_path / "cache").exists()
