"""A bad experiment of one's own is refused in one sentence that names the file and the place."""

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.experiments.user_file import read_experiment
from samples.experiment_files import LEAST, SERIES, read

BAD = {
    "not TOML": ("environment = ", "is not valid TOML (Invalid value (at end of document)): correct that line"),
    "not text": (b"\xff\xfe\x00", "is not text in UTF-8: "),
    "nothing": ("", ": 'environment' is missing: an experiment needs an environment and [[series]]"),
    "no environment": (SERIES, ": 'environment' is missing: an experiment needs an environment and [[series]]"),
    "no series": (
        'environment = "linear"',
        ": 'series' is missing: an experiment needs an environment and [[series]]",
    ),
    "an empty list of series": (
        'environment = "linear"\nseries = []',
        ": experiment 'mine' has no series: add at least one [[series]]",
    ),
    "an unknown key": ("turn = 5\n" + LEAST, ": unknown key 'turn': did you mean 'turns'?"),
    "an unknown key of a series": (LEAST + "gird = {}", ": unknown key 'gird': did you mean 'grid'?"),
    "an unknown key of a figure": (
        LEAST + '[[figures]]\nkind = "over-time"\nx = "messages"',
        ": unknown key 'x': known: band, by_round, kind, label",
    ),
    "an unknown key of quick": ("quick = { seed = 1 }\n" + LEAST, ": unknown key 'seed': did you mean 'seeds'?"),
    "no turns": (
        "turns = 0\n" + LEAST,
        ": turns must be a whole number of at least 1, not 0: write one, as in turns = 10",
    ),
    "half a turn": (
        "turns = 1.5\n" + LEAST,
        ": turns must be a whole number of at least 1, not 1.5: write one, as in turns = 10",
    ),
    "seeds in words": (
        'seeds = "3"\n' + LEAST,
        ": seeds must be a whole number of at least 1, not '3': write one, as in seeds = 10",
    ),
    "seeds that are true": (
        "seeds = true\n" + LEAST,
        ": seeds must be a whole number of at least 1, not True: write one, as in seeds = 10",
    ),
    "negative rounds": (
        "rounds = -1\n" + LEAST,
        ": rounds must be a whole number of at least 1, not -1: write one, as in rounds = 10",
    ),
    "two lengths": ("turns = 5\nrounds = 5\n" + LEAST, ": turns=5 and rounds=5 are both given: keep one of them"),
    "an unknown environment": (
        'environment = "liner"\n' + SERIES,
        ": unknown environment 'liner': did you mean 'linear'?",
    ),
    "an environment that is a number": ("environment = 3\n" + SERIES, ": unknown environment '3': known: "),
    "a world that is no table": (
        "world = 5\n" + LEAST,
        ": world must be a table, not 5: write one, as in world = { clients = 10 }",
    ),
    "an unknown size of the world": (
        "world = { client = 5 }\n" + LEAST,
        ": linear has no parameter 'client': did you mean 'clients'?",
    ),
    "a bad size of the world": (
        "world = { clients = -5 }\n" + LEAST,
        ": clients must be at least 1, not -5: give a whole number in that range",
    ),
    "a series that is no table": (
        'environment = "linear"\nseries = "async-linucb"',
        ": series must be a list of tables, not 'async-linucb': write each as [[series]]",
    ),
    "a series of words": (
        'environment = "linear"\nseries = ["async-linucb"]',
        ": series must be a list of tables, not ['async-linucb']: write each as [[series]]",
    ),
    "a series without an algorithm": (
        'environment = "linear"\n[[series]]\nlabel = "A"',
        ": a [[series]] has no algorithm: name one of `fedbandit list`",
    ),
    "an unknown algorithm": (
        'environment = "linear"\n[[series]]\nalgorithm = "sink-linucb"',
        ": unknown algorithm 'sink-linucb': did you mean 'sync-linucb'?",
    ),
    "a grid that is no table": (
        LEAST + "grid = 3",
        ": grid must be a table, not 3: write one, as in grid = { clients = 10 }",
    ),
    "an unknown parameter": (
        LEAST + "grid = { rigde = [1, 2] }",
        ": local-linucb has no parameter 'rigde': did you mean 'ridge'?",
    ),
    "a parameter with the name of an argument of ours": (
        LEAST + "grid = { label = [1, 2] }",
        ": local-linucb has no parameter 'label': see",
    ),
    "a size with the name of an argument of ours": (
        LEAST + "along = { points = [1, 2] }",
        ": linear has no parameter 'points': see",
    ),
    "a bad parameter": (
        LEAST + "grid = { ridge = [1, -2] }",
        ": ridge must be greater than 0, not -2: give a number in that range",
    ),
    "a bad parameter that all share": (
        LEAST + "set = { delta = 1 }",
        ": delta must be greater than 0 and less than 1, not 1: give a number in that range",
    ),
    "a grid without values": (
        LEAST + "grid = { ridge = [] }",
        ": series 'local-linucb' has no points: give each parameter of its grid a value",
    ),
    "a bad size along": (
        LEAST + "along = { clients = [0] }",
        ": clients must be at least 1, not 0: give a whole number in that range",
    ),
    "two series that cannot be told apart": (
        LEAST + SERIES + "set = { ridge = 2 }",
        ": series 'local-linucb' has two points '': give each a label of its own",
    ),
    "an unknown kind of figure": (
        LEAST + '[[figures]]\nkind = "tradeoff"',
        ": unknown kind of figure 'tradeoff': did you mean 'trade-off'?",
    ),
    "a figure of an unknown quantity": (
        LEAST + '[[figures]]\ny = "regrets"',
        ": unknown quantity 'regrets': did you mean 'regret'?",
    ),
    "a figure against nothing": (LEAST + '[[figures]]\nkind = "against"', ": unknown quantity '': known: "),
    "a figure of one series in words": (
        LEAST + '[[figures]]\nseries = "A"',
        ': series must be a list of labels, not \'A\': write one, as in series = ["a", "b"]',
    ),
    "a figure of an unknown series": (
        LEAST + '[[figures]]\nseries = ["local"]',
        ": unknown series 'local': did you mean 'local-linucb'?",
    ),
    "a figure that is perhaps logarithmic": (
        LEAST + '[[figures]]\nlog_x = "yes"',
        ": log_x must be true or false, not 'yes': write true or false",
    ),
    "a figure with a title that is a number": (
        LEAST + "[[figures]]\ntitle = 3",
        ": title must be text, not 3: write text",
    ),
    "a band that is true": (
        LEAST + '[[figures]]\nkind = "over-time"\nband = true',
        ": band must be a number, not True: write a number",
    ),
    "an unknown spread": (
        LEAST + '[[figures]]\nkind = "over-time"\nspread = "deviation"',
        ": unknown spread 'deviation': did you mean 'standard deviation'?",
    ),
    "quick that is no table": (
        "quick = true\n" + LEAST,
        ": quick must be a table, not True: write one, as in quick = { clients = 10 }",
    ),
    "quick with no seeds": (
        "quick = { seeds = 0 }\n" + LEAST,
        ": seeds must be a whole number of at least 1, not 0: write one, as in seeds = 10",
    ),
    "quick that takes every zeroth point": (
        "quick = { every = 0 }\n" + LEAST,
        ": every must be a whole number of at least 1, not 0: write one, as in every = 10",
    ),
    "quick with a world that is no table": (
        "quick = { world = 3 }\n" + LEAST,
        ": world must be a table, not 3: write one, as in world = { clients = 10 }",
    ),
    "an id above": (
        'id = "../../x"\n' + LEAST,
        ": id '../../x' cannot name a folder of results: give a plain name, as in my-experiment",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_in_one_sentence_that_names_it(tmp_path, case):
    text, sentence = BAD[case]
    with pytest.raises(InvalidInput) as error:
        read(tmp_path, text)
    found = str(error.value)
    assert found.startswith(str(tmp_path / "mine.toml"))
    assert found.removeprefix(str(tmp_path / "mine.toml")).strip().startswith(sentence.strip())
    assert len(found.splitlines()) == 1


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path, why in ((tmp_path / "none.toml", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(InvalidInput) as error:
            read_experiment(path)
        assert str(error.value) == f"cannot read {path}: {why}: give the path of a TOML file"
