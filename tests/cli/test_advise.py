"""`fedbandit advise`: what it prints and writes, and that the files it writes can be served as they are."""

import json
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from io import StringIO

import pytest

import fedbandit as fb
from fedbandit.advice.advise import advise
from fedbandit.advice.writing import coordinator_of
from fedbandit.cli import main
from fedbandit.service.coordinator.settings import read_plan
from samples.shop_logs import SHOPS, shop_files


@pytest.fixture(scope="module")
def commanded(tmp_path_factory):
    """What the command prints and writes, and the advice that it had."""
    folder = tmp_path_factory.mktemp("advice")
    log, features = shop_files(folder)
    arguments = ("--features", features, "--budget", "20 kB/day", "--algorithms", "async-linucb", "--json")
    found = []

    def noted(*given, **named):
        found.append(advise(*given, **named))
        return found[0]

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.chdir(folder)
        patch.setattr("fedbandit.advice.advise.advise", noted)
        patch.setattr("sys.argv", ["fedbandit", "advise", *map(str, (log, *arguments))])
        with suppress(SystemExit):
            main()
    return out.getvalue(), found[0], folder / "advice"


@pytest.fixture(scope="module")
def advised(commanded):
    return commanded[1:]


def test_the_command_prints_the_frontier_the_checks_and_one_sentence(fedbandit, tmp_path):
    log, features = shop_files(tmp_path)
    said = fedbandit(
        "advise", log, "--features", features, "--budget", "20 kB/day", "--algorithms", "lean-linucb", "--output",
        "out", "--smallest-upload", "12",
    )  # fmt: skip
    assert (said.code, said.err) == (0, "")
    for words in ("of pooled's", "lean-linucb (", "advised", "local-linucb", "breaks privacy", "sites: alike",
                  "fit: linear", "smallest_upload = 12, so that no upload", "idle talk of 6 sites", "act in rounds",
                  "warm start: had every site", "Take lean-linucb"):  # fmt: skip
        assert words in said.out, words
    files = [
        "advice.json",
        "coordinator.toml",
        "features.toml",
        "frontier.png",
        "frontier.svg",
        "report.html",
        "site.py",
    ]
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == files
    assert "smallest_upload = 12" in (tmp_path / "out" / "coordinator.toml").read_text(encoding="utf-8")
    assert said.out.endswith("".join(f"out/{name}\n" for name in files))


def test_the_numbers_are_one_json_object(commanded):
    out, _, folder = commanded
    found = json.loads(out)
    assert found == json.loads((folder / "advice.json").read_text(encoding="utf-8"))
    assert found["algorithm"] == "async-linucb"
    assert found["helps"] is True
    assert found["parameters"]["explore"] == 0.02
    assert found["parameters"]["smallest_upload"] == found["smallest_upload"]["observations"] == 10
    assert found["warm_start"]["gain"] > 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<p>Warm start: had every site first learnt from its rows of this log" in page
    assert found["sites"] == [f"shop {number}" for number in range(SHOPS)]
    assert {each["algorithm"] for each in found["frontier"]} == {"async-linucb", "local-linucb", "pooled-linucb"}


REFUSED = {
    "no budget": (("--budget", "much"), "budget 'much' cannot be read: write a number with B, kB, MB or GB an hour"),
    "nothing": (("--budget", "0 MB/day"), "budget '0 MB/day' is not greater than 0"),
    "less than idle talk": (("--budget", "10 B/day"), "budget 10 B a day is less than 612 B, which 6 sites take"),
    "an unknown algorithm": (("--algorithms", "lean-linucv"), "unknown algorithm 'lean-linucv': did you mean"),
    "rounds": (("--algorithms", "fn-ucb"), "algorithms names fn-ucb, which acts in rounds of one turn of every site"),
    "duels": (("--algorithms", "kernel-ucb"), "algorithms names kernel-ucb, which"),
    "personal features that are none": (("--algorithms", "async-linucb-am"), "algorithms names async-linucb-am, but"),
    "a folder that is a file": (("--output", "log.csv"), "--output log.csv is a file: give the name of a folder"),
    "uploads of nothing": (("--smallest-upload", "0"), "smallest_upload must be at least 1, not 0: give a whole"),
    "no such file": (("--features", "none.toml"), "none.toml"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_sentence_and_nothing_is_written(fedbandit, tmp_path, name):
    log, features = shop_files(tmp_path, count=200)
    changed, sentence = REFUSED[name]
    given = {"--features": str(features), "--budget": "20 kB/day", **dict([changed])}
    said = fedbandit("advise", log, *(each for pair in given.items() for each in pair))
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert sentence in said.err, said.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["features.toml", "log.csv"]


def test_the_coordinators_file_says_what_was_advised(advised):
    advice, folder = advised
    (plan,) = read_plan(folder / "coordinator.toml").federations
    assert plan.charter.algorithm == advice.algorithm
    assert "smallest_upload = 10" in (folder / "coordinator.toml").read_text(encoding="utf-8")
    assert plan.charter.setting.clients == SHOPS
    assert plan.charter.features == advice.log.features.fingerprint
    assert plan.limits.bounds.context == 1.0
    assert plan.limits.bounds.reward == advice.log.largest_reward


def read_back(advised, folder, algorithm):
    """What a coordinator reads in the file that would be written if an algorithm were advised."""
    advice, written = advised
    other = replace(advice, exploring=replace(advice.exploring, algorithm=algorithm))
    (folder / "features.toml").write_bytes((written / "features.toml").read_bytes())
    (folder / "coordinator.toml").write_text(coordinator_of(other), encoding="utf-8")
    (plan,) = read_plan(folder / "coordinator.toml").federations
    return plan


def test_a_smallest_upload_of_one_is_written_out_since_it_is_no_default_of_what_is_deployed(advised, tmp_path):
    one = replace(advised[0].algorithm, smallest_upload=1)
    assert read_back(advised, tmp_path, one).charter.algorithm == one


def test_a_federation_that_synchronises_does_not_wait_for_ever(advised, tmp_path):
    plan = read_back(advised, tmp_path, fb.algorithm("sync-linucb"))
    assert (plan.charter.algorithm.id, plan.deadline) == ("sync-linucb", 30)


def test_another_name_than_a_sites_is_told_which_there_are(advised):
    _, folder = advised
    said = subprocess.run([sys.executable, folder / "site.py", "shop 9"], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr.startswith("usage: python site.py NAME, where NAME is one of shop 0, shop 1,")


@pytest.mark.slow
def test_sites_that_had_better_stay_alone_get_no_coordinator(tmp_path):
    log, features = shop_files(tmp_path, differ=2.0)
    folder = tmp_path / "advice"
    folder.mkdir()
    (folder / "coordinator.toml").write_text("of an earlier advice")
    advice = fb.advise(fb.Log.read(log), fb.Features.read(features), budget="20 kB/day", algorithms=["async-linucb"])
    advice.write(folder)
    assert advice.sentence.startswith("Federation would not have helped")
    assert not (folder / "coordinator.toml").exists()
    offer = {"context": {"segment": "gold"}, "arms": [{"price": 100.0}, {"price": 400.0}]}
    said = subprocess.run(
        [sys.executable, folder / "site.py", "shop 1"], input=json.dumps(offer) + "\n", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert json.loads(said.stdout)["arm"] in (0, 1)
