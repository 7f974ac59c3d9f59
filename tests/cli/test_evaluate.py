"""`fedbandit evaluate`."""

import json

import numpy as np
import pytest

import fedbandit as fb
from samples.small_logs import as_csv, rows

FEATURES = fb.Features(
    {
        "context": {"segment": {"kind": "category", "levels": ["new", "gold"]}},
        "arm": {"price": {"kind": "number", "range": [0, 500]}},
        "cross": {"taste": {"of": ["segment", "price"]}},
    }
)


@pytest.fixture
def files(tmp_path):
    """A log of choices at random, features and a policy, as options of the command."""
    FEATURES.write(tmp_path / "features.toml")
    with fb.Site("local-linucb", features=FEATURES, explore=0.5, fresh=1) as site:
        site.policy().save(tmp_path / "policy.bin")
    log = as_csv(rows(600), tmp_path / "log.csv")
    return log, "--policy", tmp_path / "policy.bin", "--features", tmp_path / "features.toml"


def test_it_shows_the_estimates_of_all_sites_and_of_each(files, fedbandit):
    said = fedbandit("evaluate", *files, "--include-earlier")
    assert said.code == 0, said.err
    assert all(word in said.out for word in ("all sites", "shop-0", "shop-2", "95 % interval of dr", "mean weight"))


def test_the_json_has_what_the_library_finds(files, fedbandit):
    said = fedbandit("evaluate", *files, "--include-earlier", "--json")
    found = json.loads(said.out)
    wanted = fb.evaluate(fb.Log.read(files[0]), fb.Policy.load(files[2]), features=FEATURES, include_earlier=True)
    assert found["dr"] == wanted.dr
    assert found["by_site"]["shop-1"]["rows"] == wanted.by_site["shop-1"].rows
    assert np.isclose(sum(each["rows"] for each in found["by_site"].values()), found["rows"])


def test_what_cannot_be_told_is_one_line_and_exit_code_2(files, fedbandit, tmp_path):
    said = fedbandit("evaluate", *files)
    assert said.code == 2
    assert said.err.startswith("fedbandit: all rows of the log are from before the policy was taken")
    without = as_csv(rows(600), tmp_path / "log.csv", ["time", "site", "segment", "choice", "reward", "arms"])
    said = fedbandit("evaluate", without, *files[1:], "--include-earlier")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("fedbandit: the log has no propensities")
    few = as_csv(rows(60), tmp_path / "log.csv")
    said = fedbandit("evaluate", few, *files[1:], "--include-earlier")
    assert "effective rows" in said.err
    assert fedbandit("evaluate", few, *files[1:], "--include-earlier", "--anyway").code == 0


def test_sites_tell_sums_and_others_add_them_up(files, fedbandit, tmp_path):
    told = []
    for number, shop in enumerate(("shop-0", "shop-1", "shop-2")):
        own = as_csv([row for row in rows(600) if row["site"] == shop], tmp_path / "own.csv")
        said = fedbandit("evaluate", own, *files[1:], "--include-earlier", "--sums")
        assert (said.code, said.err) == (0, "")
        told.append(tmp_path / f"site-{number}.json")
        told[-1].write_text(said.out)
    said = fedbandit("evaluate", *told, "--json")
    found = json.loads(said.out)
    assert found["rows"] == 600
    assert list(found["by_site"]) == ["shop-0", "shop-1", "shop-2"]
    whole = fb.evaluate(fb.Log.read(files[0]), fb.Policy.load(files[2]), features=FEATURES, include_earlier=True)
    assert found["ips"] == pytest.approx(whole.ips)
    assert found["snips"] == pytest.approx(whole.snips)
    assert found["dr"] == pytest.approx(whole.dr, abs=0.05)  # each with a model of its own
    again = fedbandit("evaluate", files[0], *files[1:], "--include-earlier", "--sums", "--last", told[0])
    assert json.loads(again.out)["sums"]["rows"] == 600
    assert "shop-1" in fedbandit("evaluate", *told).out


def test_guaranteed_intervals_are_shown(files, fedbandit):
    said = fedbandit(
        "evaluate", *files, "--include-earlier", "--guaranteed", "--rewards", "0", "1", "--largest-weight", "4"
    )
    assert said.code == 0, said.err
    assert "guaranteed: ips" in said.out
    assert "(by the later 300 rows)" in said.out


def test_options_that_do_not_go_together_are_refused(files, fedbandit, tmp_path):
    (tmp_path / "site.json").write_text("{}")
    for arguments, sentence in (
        ((files[0],), "--policy is missing"),
        ((files[0], files[0], *files[1:]), "2 logs were given: give one, or the --sums of each site"),
        ((*files, "--last", "site.json"), "--last site.json is for --sums"),
        ((*files, "--sums", "--guaranteed"), "sums of sites take --anyway and --json alone"),
        (("site.json", "--policy", files[2]), "sums of sites take --anyway and --json alone"),
        (("site.json",), "site.json has no sums of an evaluation"),
        ((*files, "--include-earlier", "--guaranteed"), "guaranteed intervals need the range of rewards"),
        (
            (*files, "--include-earlier", "--rewards", "0", "1"),
            "rewards and largest_weight are for guaranteed intervals",
        ),
    ):
        said = fedbandit("evaluate", *arguments)
        assert (said.code, said.out) == (2, ""), arguments
        assert said.err.startswith(f"fedbandit: {sentence}"), said.err
