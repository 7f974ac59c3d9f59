"""An experiment that cannot be run or shown is refused before anything runs."""

from dataclasses import replace

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.claims import Monotone, Ordered
from fedbandit.experiments.experiment import Point, Series, grid
from fedbandit.experiments.figures import Against, OverTime, TradeOff
from fedbandit.experiments.frontiers import CheaperAtEqual
from samples.small_experiment import SMALL


def named(*labels, **points):
    return tuple(Series(label, "local-linucb", **points) for label in labels)


BAD = {
    "no series": ({"series": ()}, "experiment 'test/small' has no series: add at least one [[series]]"),
    "no seeds": ({"seeds": 0}, "seeds must be at least 1, not 0: give the number of repetitions"),
    "two lengths": ({"rounds": 5}, "turns=50 and rounds=5 are both given: keep one of them"),
    "an unknown environment": ({"environment": "liner"}, "unknown environment 'liner': did you mean 'linear'?"),
    "an unknown size": ({"world": {"client": 3}}, "linear has no parameter 'client': did you mean 'clients'?"),
    "a bad size": (
        {"world": {"clients": 0}},
        "clients must be at least 1, not 0: give a whole number in that range",
    ),
    "an unknown algorithm": (
        {"series": (Series("A", "async-linucv"),)},
        "unknown algorithm 'async-linucv': did you mean 'async-linucb'?",
    ),
    "an unknown parameter": (
        {"series": (Series("A", "async-linucb", grid(rigde=[1])),)},
        "async-linucb has no parameter 'rigde': did you mean 'ridge'?",
    ),
    "a bad parameter": (
        {"series": (Series("A", "async-linucb", grid(ridge=[1, -1])),)},
        "ridge must be greater than 0, not -1: give a number in that range",
    ),
    "a series without points": (
        {"series": named("A", points=())},
        "series 'A' has no points: give each parameter of its grid a value",
    ),
    "two series under one label": (
        {"series": named("A", "A")},
        "series 'A' has two points '': give each a label of its own",
    ),
    "two points under one label": (
        {"series": (Series("A", "async-linucb", grid("same", ridge=[1, 2])),)},
        "series 'A' has two points 'same': give each a label of its own",
    ),
    "one run under two labels": (
        {"series": named("A", points=(Point({}, {"clients": 3}, "few"), Point({}, {"clients": 3}, "many")))},
        "points 'few' and 'many' of series 'A' are the same run: drop one, or take what they sweep out of the world of "
        "`quick`",
    ),
    "a figure of an unknown quantity": (
        {"figures": (TradeOff(y="regrets"),)},
        "unknown quantity 'regrets': did you mean 'regret'?",
    ),
    "a figure over time of what is known at the end alone": (
        {"figures": (OverTime(y="uploads"),)},
        "unknown quantity 'uploads': known: bytes, messages, regret, reward, scalars",
    ),
    "a figure against an unknown quantity": (
        {"figures": (TradeOff(x="mesages"),)},
        "unknown quantity 'mesages': did you mean 'messages'?",
    ),
    "a figure against what only some series sweep": (
        {"figures": (Against(x="upload_threshold"),)},
        "unknown quantity 'upload_threshold': known: bytes, downloads, later_regret, messages, processor_seconds, "
        "regret, reward, rounds, scalars, seconds, uploads",
    ),
    "a figure against words": (
        {
            "series": (Series("A", "async-linucb", grid(exploration=["ucb", "thompson"])),),
            "figures": (Against(x="exploration"),),
        },
        "exploration is 'ucb' in series 'A': an axis needs numbers",
    ),
    "a figure of an unknown series": (
        {"figures": (TradeOff(series=("Asinc",)),)},
        "unknown series 'Asinc': did you mean 'Async'?",
    ),
    "two figures under one name": (
        {"figures": (TradeOff(), TradeOff(y="reward"))},
        "a figure's name must be its own and name a file, not 'trade-off': choose another",
    ),
    "a figure in another folder": (
        {"figures": (TradeOff(name="../x"),)},
        "a figure's name must be its own and name a file, not '../x': choose another",
    ),
    "an unknown spread": (
        {"figures": (OverTime(spread="standard eror"),)},
        "unknown spread 'standard eror': did you mean 'standard error'?",
    ),
    "a claim about an unknown series": (
        {"claims": (CheaperAtEqual("", cheaper="Asinc", dearer="Local"),)},
        "unknown series 'Asinc': did you mean 'Async'?",
    ),
    "a claim about unknown series in order": (
        {"claims": (Ordered("", ("Async", "Locale")),)},
        "unknown series 'Locale': did you mean 'Local'?",
    ),
    "a monotone claim about an unknown series": (
        {"claims": (Monotone("", ("Asink",), along="messages"),)},
        "unknown series 'Asink': known: Async, Local",
    ),
    "no id": ({"id": ""}, "id '' cannot name a folder of results: give a plain name, as in my-experiment"),
    "an id above": (
        {"id": "../x"},
        "id '../x' cannot name a folder of results: give a plain name, as in my-experiment",
    ),
    "an id elsewhere": (
        {"id": "/x"},
        "id '/x' cannot name a folder of results: give a plain name, as in my-experiment",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_run_or_shown_is_refused_before_anything_runs(case):
    changes, sentence = BAD[case]
    with pytest.raises(InvalidInput) as error:
        replace(SMALL, **changes).check()
    assert str(error.value) == sentence


def test_a_good_experiment_passes():
    shown = (
        TradeOff(),
        OverTime(),
        Against(x="upload_threshold", series=("Async",)),
        Against(x="rounds", name="against-rounds"),
    )
    claims = (
        CheaperAtEqual("", "Async", "Local"),
        Ordered("", ("Async", "Local")),
        Monotone("", ("Async",), "messages"),
    )
    replace(SMALL, figures=shown, claims=claims).check()
