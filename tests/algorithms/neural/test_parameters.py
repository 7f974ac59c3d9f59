"""The family without its extra, without its device, without enough memory, and with training that diverges."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import fedbandit as fb

HAS_JAX = find_spec("jax") is not None
needs_jax = pytest.mark.skipif(not HAS_JAX, reason="needs JAX: pip install '.[neural]'")
NEURAL = ["fn-ucb", "fn-ucb-less", "neural-ucb", "neural-ts"]
SETTING = fb.Setting(clients=2, arms=3, dimension=4, horizon=10)

WITHOUT_JAX = """
import sys
sys.modules["jax"] = None  # as if it were not installed
import fedbandit as fb
from fedbandit.cli import main
"""


def without_jax(code):
    return subprocess.run([sys.executable, "-c", WITHOUT_JAX + code], capture_output=True, text=True, check=False)


def test_without_the_extra_the_error_names_it():
    done = without_jax(
        f"for name in {NEURAL}:\n"
        "    try:\n"
        "        fb.run(name, fb.environment('cosine'), turns=4)\n"
        "    except fb.InvalidInput as error:\n"
        "        print(error)\n"
    )
    remedy = "needs JAX, which is not installed: pip install jax, or install fedbandit with its extra neural"
    assert done.stdout.splitlines() == [f"{name} {remedy}" for name in NEURAL], done.stderr


def test_without_the_extra_everything_else_works():
    done = without_jax(
        "sys.argv = ['fedbandit', 'list']\n"
        "fb.run('linear-ucb', fb.environment('cosine'), turns=10)\n"
        "fb.run('kernel-ts', fb.environment('square'), turns=10)\n"
        "fb.algorithm('fn-ucb-less', width=4).describe()\n"
        "main()\n"
    )
    assert "fn-ucb-less" in done.stdout, done.stderr


def test_importing_the_package_does_not_import_jax():
    code = "import sys, fedbandit as fb; list(fb.algorithms), list(fb.experiments); print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"weight": "rump:700"}, "weight must be theory, ramp:ROUNDS or a number from 0 to 1, not 'rump:700'"),
        ({"weight": "ramp:0"}, "weight must be theory, ramp:ROUNDS or a number"),
        ({"weight": 1.5}, "weight must be at least 0 and at most 1, not 1.5"),
        ({"sync_threshold": -1}, "sync_threshold must be at least 0, not -1"),
        ({"width": 0}, "width must be at least 1, not 0"),
        ({"initialisation": "xavier"}, "unknown initialisation 'xavier'"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(parameters, sentence):
    with pytest.raises(fb.InvalidInput, match=sentence):
        fb.algorithm("fn-ucb-less", **parameters)


@needs_jax
def test_an_odd_width_of_the_symmetric_network_is_refused():
    with pytest.raises(fb.InvalidInput, match="width must be even with initialisation=symmetric"):
        fb.algorithm("fn-ucb-less", width=5).build(SETTING)
    fb.algorithm("fn-ucb-less", width=5, initialisation="normal").build(SETTING)


@needs_jax
def test_a_device_that_is_not_there_is_named():
    import jax

    if any(each.platform == "gpu" for each in jax.devices()):
        pytest.skip("this machine has a GPU")
    with pytest.raises(fb.InvalidInput, match="device=cuda, but JAX finds no such device here"):
        fb.algorithm("fn-ucb-less", device="cuda").build(SETTING)


@needs_jax
@pytest.mark.parametrize("name", NEURAL)
def test_a_run_that_would_not_fit_says_so_before_it_starts(name):
    world = fb.environment("cosine", clients=2, dimension=20)
    with pytest.raises(
        fb.InvalidInput, match=r"width=20000 needs about .* GiB for the matrices of 2 clients .* diagonal"
    ):
        fb.run(name, world, turns=2, width=20000)


@needs_jax
def test_long_contexts_train_with_the_bound_on_their_lengths_and_not_without(tmp_path):
    """Assumption 1 asks for contexts of length 1; these are of length 10."""
    rng = np.random.default_rng(0)
    arms = rng.standard_normal((100, 3, 5))
    arms *= 10 / np.linalg.norm(arms, axis=-1, keepdims=True)
    reward = rng.random((100, 3))
    np.savez(tmp_path / "long.npz", client=np.zeros(100, dtype=np.int64), arms=arms, reward=reward)
    world = fb.environment("recorded", path=str(tmp_path / "long.npz"))
    assert fb.run("neural-ucb", world).turns == 100
    diverged = (
        r"predictions of client 0 in round \d+ are not finite, because its training diverged .* rate_bound=lengths"
    )
    with pytest.raises(fb.InvalidInput, match=diverged):
        fb.run("neural-ucb", world, rate_bound="count")
