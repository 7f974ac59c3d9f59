"""Experiments of a user's own: a good file says everything, and a bad one is refused in one sentence."""

import fedbandit.experiments.user_file as module
from fedbandit.experiments.experiment import Quick
from fedbandit.experiments.figures import Against, OverTime, TradeOff
from samples.experiment_files import LEAST, read


def test_the_example_of_the_documentation_is_a_good_file(tmp_path):
    experiment = read(tmp_path, module.__doc__.split("\n\n", 1)[1])
    assert experiment.id == "mine"
    assert experiment.title == "Two thresholds"
    assert (experiment.turns, experiment.seeds) == (5000, 3)
    assert experiment.world == {"clients": 50, "dimension": 10}
    (series,) = experiment.series
    assert (series.label, series.algorithm) == ("Async", "async-linucb")
    assert [(point.value("upload_threshold"), point.value("clients")) for point in series.points] == [
        (1.1, 10), (2, 10), (5, 10), (1.1, 50), (2, 50), (5, 50),
    ]  # fmt: skip
    assert {point.value("download_threshold") for point in series.points} == {3}
    assert experiment.figures == (TradeOff(x="messages"),)


def test_the_least_that_a_file_must_say(tmp_path):
    experiment = read(tmp_path, LEAST)
    assert experiment.id == experiment.title == "mine"
    assert experiment.seeds == 10
    assert experiment.turns is None
    assert experiment.series[0].label == "local-linucb"
    assert experiment.figures == (TradeOff(), OverTime())


def test_everything_that_a_file_may_say(tmp_path):
    experiment = read(
        tmp_path,
        """
        id = "a/b"
        title = "All of it"
        environment = "linear"
        rounds = 20
        seeds = 4
        notes = "why"
        world = { clients = 6 }
        quick = { seeds = 1, rounds = 2, every = 2, world = { clients = 2 } }
        [[series]]
        label = "A"
        algorithm = "async-linucb"
        grid = { upload_threshold = [1.5, inf], ridge = 2 }
        [[series]]
        label = "B"
        algorithm = "local-linucb"
        set = { alpha = 0.5 }
        [[figures]]
        kind = "over-time"
        y = "reward"
        band = 2
        spread = "standard deviation"
        labels = ["1.5, 2"]
        by_round = true
        per_client = true
        [[figures]]
        kind = "against"
        x = "rounds"
        series = ["A"]
        log_y = true
        name = "rounds"
        """,
    )
    assert experiment.rounds == 20
    assert experiment.notes == "why"
    assert experiment.quick == Quick(seeds=1, rounds=2, every=2, world={"clients": 2})
    assert [point.label for point in experiment.series[0].points] == ["1.5, 2", "inf, 2"]
    assert experiment.series[1].points[0].parameters == {"alpha": 0.5}
    assert experiment.figures == (
        OverTime(y="reward", band=2, spread="standard deviation", labels=("1.5, 2",), by_round=True, per_client=True),
        Against(x="rounds", series=("A",), log_y=True, name="rounds"),
    )
    quick = experiment.quickened()
    assert (quick.rounds, quick.seeds, quick.world) == (2, 1, {"clients": 2})
