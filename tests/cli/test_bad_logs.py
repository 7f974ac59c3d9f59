"""Every kind of bad log leaves every command in one way: one sentence with the row, exit code 2, and no file more."""

import pytest

import fedbandit as fb
from samples.shop_logs import FEATURES
from samples.small_logs import as_csv, as_parquet, changed, rows

NOT_A_NUMBER = [{"id": "A-1", "price": None}, {"id": "A-2", "price": 1.0}]
READ = {
    "a missing column": ([{k: v for k, v in row.items() if k != "reward"} for row in rows()],
                         "has no column 'reward' (it has time, site, segment, choice, propensity, arms): add it"),
    "mixed types": (changed(4, reward="much"), "row 5: reward is 'much': give a number, or nothing"),
    "an id twice": (changed(3, arms=[{"id": "A-1", "price": 1.0}] * 2, choice="A-1"), "row 4: an id is twice in arms"),
    "propensity 0": (changed(16, propensity=0.0), "row 17: propensity is 0: it must be in (0, 1]"),
    "propensity above 1": (changed(16, propensity=1.5), "row 17: propensity is 1.5: it must be in (0, 1]"),
    "time that is none": (changed(3, time="yesterday"), "row 4: time is 'yesterday': give ISO 8601, or seconds"),
    "no number": (changed(4, reward="nan"), "row 5: reward is nan: it must be finite, or empty"),
    "empty": ([], "has no rows: a log needs at least two"),
    "one row": (rows(1), "has one row: a log needs at least two"),
}  # fmt: skip
ENCODED = {
    "an unknown category": (changed(8, segment="silver"), "row 9: segment is 'silver', which is none of its levels"),
    "a missing number": (changed(8, arms=NOT_A_NUMBER, choice="A-2"), "row 9: price is missing"),
}
ONE_SITE = ([{**row, "site": "north"} for row in rows()], "are of one site, 'north': a federation needs at least two")
NESTED = {
    "a nested reward": ({"reward": {"value": 1.0}}, "row 1: reward is {'value': 1.0}: give a number, or nothing"),
    "a nested site": ({"site": {"name": "a"}}, "row 1: site is {'name': 'a'}: give a text or a whole number"),
    "nested ids": ({"arms": [["A"], ["B"]]}, "row 1: an id in arms is ['A']: give a text or a whole number"),
}
COMMANDS = ("suggest", "evaluate", "advise", "warm-start")


@pytest.fixture
def call(fedbandit, tmp_path):
    """Call a command with a log, and all else that it needs."""
    (tmp_path / "features.toml").write_text(FEATURES)
    (tmp_path / "site.toml").write_text(
        'store = "site.db"\nfeatures = "features.toml"\noffline = { algorithm = "local-linucb" }\n'
    )
    with fb.Site("local-linucb", features=fb.Features.read(tmp_path / "features.toml"), fresh=1) as site:
        site.policy().save(tmp_path / "policy.bin")
    more = {
        "suggest": (), "warm-start": (),
        "evaluate": ("--features", "features.toml", "--policy", "policy.bin", "--include-earlier"),
        "advise": ("--features", "features.toml", "--budget", "1 MB/day"),
    }  # fmt: skip

    def call(command, log):
        before = {each.name for each in tmp_path.iterdir()} | {"site.db", "site.db-wal", "site.db-shm"}
        first = ("site.toml",) if command == "warm-start" else ()
        said = fedbandit(command, *first, log.name, *more[command])
        left = {each.name for each in tmp_path.iterdir()} - before
        return said, {each for each in left if not each.startswith("site.db")}

    return call


def refused(call, command, log, sentence):
    said, left = call(command, log)
    assert (said.code, said.out, left) == (2, "", set())
    assert said.err.startswith("fedbandit: ")
    assert len(said.err.splitlines()) == 1
    assert sentence in said.err, said.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", READ)
def test_a_bad_log_is_one_sentence_at_every_command(call, tmp_path, kind, command):
    found, sentence = READ[kind]
    path = as_csv(found or rows(1), tmp_path / "log.csv")
    if not found:
        path.write_text(path.read_text().splitlines()[0] + "\n")
    refused(call, command, path, sentence)


@pytest.mark.parametrize("command", COMMANDS[1:])
@pytest.mark.parametrize("kind", ENCODED)
def test_values_that_features_cannot_encode_are_told_by_row(call, tmp_path, kind, command):
    found, sentence = ENCODED[kind]
    log = as_csv([{**row, "site": "a"} for row in found] if command == "warm-start" else found, tmp_path / "log.csv")
    refused(call, command, log, sentence)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", NESTED)
def test_nested_types_of_parquet_are_one_sentence(call, tmp_path, kind, command):
    pytest.importorskip("pyarrow")
    values, sentence = NESTED[kind]
    refused(call, command, as_parquet([{**row, **values} for row in rows()], tmp_path / "log.parquet"), sentence)


def test_a_log_of_one_site_is_no_federation(call, tmp_path):
    found, sentence = ONE_SITE
    refused(call, "advise", as_csv(found, tmp_path / "log.csv"), sentence)


def test_times_that_go_backwards_are_put_in_order_and_it_is_said(call, tmp_path):
    found = rows()
    found[3], found[20] = found[20], found[3]
    path = as_csv(found, tmp_path / "log.csv")
    said, _ = call("suggest", path)
    assert said.code == 0
    assert said.err == (
        f"{path.name}: 2 rows are earlier than the row before them, the first of them row 5: all were put in the order "
        "of time\n"
    )
    assert said.out == call("suggest", as_csv(rows(), tmp_path / "log.csv"))[0].out
