"""Every kind of bad log is refused in one sentence that names the row, and at the command line with exit code 2."""

import sys

import pytest

import fedbandit as fb
from fedbandit.cli import main
from samples.small_logs import as_csv, as_parquet, by_candidates, changed, rows

BAD = {
    "no reward column": ([{k: v for k, v in row.items() if k != "reward"} for row in rows()],
                         r"has no column 'reward' \(it has time, site, segment, choice, propensity, arms\): add it"),
    "no site column": ([{k: v for k, v in row.items() if k != "site"} for row in rows()], "has no column 'site'"),
    "propensity 0": (changed(16, propensity=0.0), r"row 17: propensity is 0: it must be in \(0, 1\]"),
    "propensity above 1": (changed(16, propensity=1.5), r"row 17: propensity is 1.5: it must be in \(0, 1\]"),
    "propensity missing": (changed(16, propensity=None), "row 17: propensity is missing"),
    "no time": (changed(3, time=None), "row 4: time is missing: give ISO 8601, or seconds"),
    "bad time": (changed(3, time="yesterday"), "row 4: time is 'yesterday': give ISO 8601, or seconds"),
    "no site": (changed(3, site=None), "row 4: site is missing: give a text or a whole number"),
    "choice not on offer": (changed(3, choice="B"), r"row 4: choice is not among the \d arms on offer"),
    "choice missing": (changed(3, choice=None), "row 4: choice is missing"),
    "no arms": (changed(3, arms=[]), "row 4: arms is empty: give what was on offer"),
    "an id twice": (changed(3, arms=[{"id": "A-1", "price": 1.0}] * 2, choice="A-1"), "row 4: an id is twice in arms"),
    "an arm without id": (changed(3, arms=[{"id": "A", "price": 1.0}, {"id": None, "price": 1.0}], choice="A"),
                          "row 4: id of an arm is missing"),
    "empty": ([], "a log needs|is empty|no rows"),
    "one row": (rows(1), "has one row: a log needs at least two"),
    "nothing to decide": ([{**row, "arms": row["arms"][:1], "choice": row["arms"][0]["id"]} for row in rows()],
                          "no row offers more than one arm: there was nothing to decide"),
    "no rewards": ([{**row, "reward": None} for row in rows()], "has no rows with a reward: a log needs at least two"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_csv_is_refused_by_row(kind, tmp_path):
    found, reason = BAD[kind]
    path = as_csv(found or rows(1), tmp_path / "log.csv")
    if not found:
        path.write_text("time,site,choice,reward\n")
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.Log.read(path)


@pytest.mark.parametrize("kind", [kind for kind in BAD if kind != "empty"])
def test_a_bad_parquet_is_refused_by_row(kind, tmp_path):
    pytest.importorskip("pyarrow")
    found, reason = BAD[kind]
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.Log.read(as_parquet(found, tmp_path / "log.parquet"))


def test_at_the_command_line_it_is_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys):
    path = as_csv(changed(16, propensity=0.0), tmp_path / "log.csv")
    monkeypatch.setattr(sys, "argv", ["fedbandit", "suggest", str(path)])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert capsys.readouterr().err == f"fedbandit: {path}: row 17: propensity is 0: it must be in (0, 1]\n"


CSV = {
    "mixed types": (changed(4, reward="much"), "row 5: reward is 'much': give a number, or nothing"),
    "nan": (changed(4, reward="nan"), "row 5: reward is nan: it must be finite, or empty"),
    "infinite": (changed(4, reward="inf"), "row 5: reward is inf: it must be finite"),
    "bad JSON": (changed(4, arms="A-1, A-2"), "row 5: arms is 'A-1, A-2': give a list in JSON"),
    "mixed arms": (changed(4, arms=["A-1", {"id": "A-2"}]), "row 5: arms has tables and single values"),
}


@pytest.mark.parametrize("kind", CSV)
def test_a_cell_that_is_not_what_its_column_is_for_is_refused_by_row(kind, tmp_path):
    found, reason = CSV[kind]
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.Log.read(as_csv(found, tmp_path / "log.csv"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "log.csv is empty: a log has a header and rows"),
        ("time,site\n1,2,3\n", "row 1 has 3 cells, the header 2: correct it"),
        ("time,time\n1,2\n", "the column 'time' is there twice"),
        ('time,site\n"1,2\n', "is not a CSV file in UTF-8"),
        (b"time,\xff\n", "is not a CSV file in UTF-8"),
        (b"PAR1 and no more", "cannot read|is not a Parquet file"),
    ],
)
def test_a_file_that_is_no_table_is_refused(text, reason, tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if text[:1] == b"P":
        pytest.importorskip("pyarrow")
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.Log.read(path)


def test_a_log_that_is_not_there_or_is_none_is_refused(tmp_path):
    with pytest.raises(fb.InvalidInput, match=r"cannot read .*none.csv: No such file or directory: give the path"):
        fb.Log.read(tmp_path / "none.csv")
    with pytest.raises(fb.InvalidInput, match="is no log: give the path of a CSV or Parquet file, or a data frame"):
        fb.Log.read({"reward": [1]})


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("reward", {"value": 1.0}, r"row 1: reward is \{'value': 1.0\}: give a number, or nothing"),
        ("reward", float("nan"), "row 1: reward is nan: it must be finite"),
        ("site", {"name": "a"}, r"row 1: site is \{'name': 'a'\}: give a text or a whole number"),
        ("arms", {"id": "A"}, r"row 1: arms is \{'id': 'A'\}: give a list of ids, of structs, or JSON text"),
        ("arms", [["A"], ["B"]], r"row 1: an id in arms is \['A'\]: give a text or a whole number"),
    ],
)
def test_nested_types_of_parquet_are_refused_where_they_mean_nothing(name, values, reason, tmp_path):
    pytest.importorskip("pyarrow")
    found = [{**row, name: values} for row in rows()]
    with pytest.raises(fb.InvalidInput, match=reason):
        fb.Log.read(as_parquet(found, tmp_path / "log.parquet"))


def test_nested_columns_that_nobody_asks_for_do_no_harm(tmp_path):
    pytest.importorskip("pyarrow")
    found = [{**row, "place": {"lat": 1.0}, "raw": b"x"} for row in rows()]
    log = fb.Log.read(as_parquet(found, tmp_path / "log.parquet"))
    assert "place" in log.context
    asked = fb.Features({"context": {"place": {"kind": "hashed", "size": 4}}})
    with pytest.raises(fb.InvalidInput, match=r"row 1: place is \{'lat': 1.0\}: give a text"):
        log.encode(asked)


def test_two_chosen_or_none_are_refused_by_the_first_row_of_their_decision(tmp_path):
    long = by_candidates(rows())
    first = next(place for place, row in enumerate(long) if row["decision"] == 2)
    two, none, odd = ([dict(row) for row in long] for _ in range(3))
    for row in two[first : first + 2]:
        row["chosen"] = True
    for row in none:
        row["chosen"] = row["chosen"] and row["decision"] != 2
    odd[4]["chosen"] = "maybe"
    for found, reason in (
        (two, f"row {first + 1}: two or more rows of its decision are chosen"),
        (none, f"row {first + 1}: no row of its decision is chosen"),
        (odd, "row 5: chosen is neither true nor false"),
    ):
        with pytest.raises(fb.InvalidInput, match=reason):
            fb.Log.read(as_csv(found, tmp_path / "log.csv"))


def test_catalogues_are_checked_too(tmp_path):
    log = as_csv(
        [{**row, "arms": ["A-1", row["choice"]]} for row in rows() if row["choice"] != "A-1"], tmp_path / "l.csv"
    )
    for text, reason in (
        ("id,price\nA-1,1\nA-1,2\n", "row 2: id is the id of an earlier row"),
        ("sku,price\nA-1,1\n", r"has no column 'id' \(it has sku, price\)"),
        ("id,price\nA-1,1\n", "row 1: an id in arms is not in the catalogue"),
    ):
        (tmp_path / "arms.csv").write_text(text)
        with pytest.raises(fb.InvalidInput, match=reason):
            fb.Log.read(log, arms=tmp_path / "arms.csv")


def test_sites_that_are_not_among_those_given_are_refused(tmp_path):
    path = as_csv(rows(), tmp_path / "log.csv")
    with pytest.raises(fb.InvalidInput, match=r"row \d+: site is 'shop-\d': it is none of the 1 that are given"):
        fb.Log.read(path, sites=["shop-1"])
    with pytest.raises(fb.InvalidInput, match="sites must be different names"):
        fb.Log.read(path, sites=["shop-1", "shop-1"])


def test_roles_that_do_not_fit_are_refused(tmp_path):
    path = as_csv(rows(), tmp_path / "log.csv")
    with pytest.raises(fb.InvalidInput, match="unknown role of a column 'rewards': did you mean 'reward'"):
        fb.Log.read(path, {"rewards": "reward"})
    with pytest.raises(fb.InvalidInput, match="has no column 'clicks' for reward"):
        fb.Log.read(path, {"reward": "clicks"})


def test_the_first_twenty_faults_are_told_and_the_rest_is_counted(tmp_path):
    found = [{**row, "propensity": 2.0} for row in rows()]
    with pytest.raises(fb.InvalidInput) as refused:
        fb.Log.read(as_csv(found, tmp_path / "log.csv"))
    said = str(refused.value)
    assert said.count("row ") == 20
    assert said.endswith("row 20: propensity is 2: it must be in (0, 1]; and 10 more")


def test_without_pyarrow_it_is_said_how_to_install_it(tmp_path, monkeypatch):
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(fb.InvalidInput, match=r"pyarrow is not installed.*pip install pyarrow, .* extra logs"):
        fb.Log.read(tmp_path / "log.parquet")
