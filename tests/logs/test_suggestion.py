"""Suggested features: what is declared of which column, and which columns are crossed."""

import math
import tomllib

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.features.columns import Column
from fedbandit.logs.suggestion import AIM, _feature, _rounded, _share, suggest
from samples.small_logs import as_csv, by_candidates, rows


def suggested(found, folder, columns=None):
    text = suggest(fb.Log.read(as_csv(found, folder / "log.csv"), columns))
    return text, tomllib.loads(text)


def test_the_suggestion_encodes_its_log_and_says_what_a_message_costs(tmp_path):
    text, tables = suggested(rows(400), tmp_path)
    features = fb.Features(tables)
    log = fb.Log.read(tmp_path / "log.csv")
    assert features.encode_log(log).shape[2] == features.dimension <= AIM
    size = 8 * (features.dimension * (features.dimension + 1) // 2 + features.dimension)
    assert text.startswith(f"# dimension {features.dimension}: a message of a linear algorithm has {size:,} bytes\n")


def test_the_columns_that_explain_rewards_together_are_crossed(tmp_path):
    found = rows(2000)
    rng = np.random.default_rng(1)
    for row in found:
        row.update({f"noise{place}": float(rng.random()) for place in range(4)})
    text, tables = suggested(found, tmp_path)
    first = next(iter(tables["cross"].values()))
    assert first["of"] == ["segment", "price"], "rewards of this log depend on both"
    assert len(tables["cross"]) == 3
    assert set(tables["context"]) == {each["of"][0] for each in tables["cross"].values()}
    assert text.count("# not crossed: noise") == 2


def test_a_row_for_each_candidate_tells_context_from_arms_by_what_varies(tmp_path):
    _, tables = suggested(by_candidates(rows(300)), tmp_path)
    assert set(tables["arm"]) == {"sku", "price"}
    assert set(tables["context"]) == {"segment"}


def test_columns_that_say_nothing_or_have_no_name_for_a_feature_are_left_out(tmp_path):
    found = [{**row, "country": "DE", "post code": str(number)} for number, row in enumerate(rows())]
    text, tables = suggested(found, tmp_path)
    assert "# left out, since it says nothing, or is no text or number: country" in text
    assert "# left out, since features have names without spaces: post code" in text
    assert "country" not in tables["context"]


def test_a_log_that_does_not_tell_arms_apart_is_refused(tmp_path):
    path = as_csv(rows(), tmp_path / "log.csv", ["time", "site", "segment", "choice", "reward"])
    with pytest.raises(fb.InvalidInput, match="the log has no column that tells one arm from another"):
        suggest(fb.Log.read(path))


@pytest.mark.parametrize(
    ("values", "declared"),
    [
        (list(range(-50, 51)), {"kind": "number", "range": [-50, 50]}),
        ([*range(1, 10_001), None], {"kind": "number", "range": [50, 10000], "scale": "log", "missing": "indicator"}),
        ([-1234.0, 1234.0], {"kind": "number", "range": [-1300, 1300]}),
        ([0] * 999 + [5], {"kind": "number", "range": [0, 5]}),
        ([5, 5, 5], None),
        ([True, False], {"kind": "category", "levels": ["false", "true"]}),
        (["b", "a", None], {"kind": "category", "levels": ["a", "b"]}),
        (["a", "a"], None),
        (["a", None], {"kind": "category", "levels": ["a"]}),
        ([f"v{number}" for number in range(11)], {"kind": "hashed", "size": 16}),
        ([f"v{number}" for number in range(1001)], {"kind": "text", "size": 16}),
        ([["a"], ["a", "b"]], {"kind": "hashed", "size": 16}),
        ([{"a": 1}, {"a": 2}], None),
    ],
)
def test_what_is_declared_of_a_column(values, declared):
    assert _feature(Column.of(values)) == declared


@pytest.mark.parametrize("value", [0.01234, 99.5, 100, 1e-9, 12345.678, 0.5, 7])
def test_ranges_are_rounded_outwards_to_two_digits(value):
    for sign in (1, -1):
        low, high = _rounded(sign * value, math.floor), _rounded(sign * value, math.ceil)
        assert low <= sign * value * (1 + sign * 1e-12)
        assert high >= sign * value * (1 - sign * 1e-12)
        assert len(f"{abs(low):.10e}".split("e")[0].rstrip("0").replace(".", "")) <= 2
        assert high - low <= 0.11 * value


def test_many_wide_columns_are_hashed_until_there_are_few_coordinates(tmp_path):
    found = rows(200)
    for number, row in enumerate(found):
        row.update({f"text{place}": f"{number * place % 97}" + "x" for place in range(1, 6)})
        row["arms"] = [
            {**arm, **{f"tag{place}": f"t{number * place % 89}" for place in range(1, 9)}} for arm in row["arms"]
        ]
    _, tables = suggested(found, tmp_path)
    assert fb.Features(tables).dimension <= AIM


def test_shares_are_those_of_groups_beyond_chance():
    rng = np.random.default_rng(0)
    group = rng.integers(4, size=4000)
    assert _share(group + 0.0, group) == pytest.approx(1.0)
    assert abs(_share(rng.standard_normal(4000), group)) < 0.01
    assert _share(np.ones(5), np.zeros(5, dtype=np.int64)) == -math.inf
