"""What every contract test needs: each registered algorithm, a small world of its kind, and a way to watch the wire."""

from typing import NamedTuple

import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.simulation import in_process
from fedbandit.simulation.in_process import simulate
from fedbandit.simulation.wire import Wire
from samples.needed import ready
from samples.runs import ByMessages
from samples.worlds import arrays_for, recorded


class Played(NamedTuple):
    """What a run left: its trace, and both nodes as they ended."""

    trace: in_process.Trace
    wire: Wire


@pytest.fixture(params=list(fb.algorithms))
def declared(request):
    """Each registered algorithm's class."""
    return fb.algorithms[request.param]


@pytest.fixture
def kind(declared):
    """Each registered algorithm's class, unless it needs a package that is not here."""
    found = ready(declared)
    try:
        found().build(fb.Setting(clients=3, arms=4, dimension=3, horizon=12))
    except InvalidInput as error:
        if "not installed" not in str(error):
            raise
        pytest.skip(str(error))
    return found


@pytest.fixture(scope="session")
def usual_runs():
    """The run of each algorithm on its small world, to be looked at and left as it is."""
    return {}


@pytest.fixture
def usual(kind, play, usual_runs):
    """What `play()` gives; the tests that only look at it share it."""
    if kind not in usual_runs:
        usual_runs[kind] = play()
    return usual_runs[kind]


@pytest.fixture
def play(kind, tmp_path, monkeypatch):
    """Run the algorithm on its small world; `carry` replaces the way in which envelopes are carried."""

    def run(seed=0, carry=None, **world):
        environment = recorded(tmp_path, arrays_for(kind, **world))
        with monkeypatch.context() as patch:
            if carry is not None:
                patch.setattr(Wire, "carry", carry)
            algorithm = kind() if carry is None else ByMessages(kind())
            return Played(*simulate(algorithm, environment, environment.setting().horizon, seed))

    return run
