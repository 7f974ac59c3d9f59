"""A small experiment that can be run and shown."""

from fedbandit.experiments.experiment import Experiment, Series, grid

SMALL = Experiment(
    id="test/small",
    title="two series",
    environment="linear",
    world={"clients": 5, "dimension": 3},
    turns=50,
    seeds=3,
    series=(
        Series("Async", "async-linucb", grid("γ={upload_threshold:g}", upload_threshold=[1.5, 2, 5])),
        Series("Local", "local-linucb"),
    ),
)
