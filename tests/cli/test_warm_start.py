"""`fedbandit warm-start`: a site learns from its past, each row once, also if the command is interrupted."""

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.durable.site.past import SiteWithPast
from fedbandit.service.agent.settings import read_agent_plan
from samples.shop_logs import FEATURES, shop_rows
from samples.small_logs import as_csv

ROWS = 150
PLAN = (
    'store = "site.db"\nfeatures = "features.toml"\noffline = { algorithm = "async-linucb", clients = 6, number = 2 }\n'
)


@pytest.fixture
def files(tmp_path):
    """A site's file, its features, and a log of six shops; return how many rows each shop has."""
    (tmp_path / "site.toml").write_text(PLAN)
    (tmp_path / "features.toml").write_text(FEATURES)
    rows = shop_rows(count=ROWS)
    as_csv(rows, tmp_path / "log.csv")
    return [sum(row["site"] == f"shop {shop}" for row in rows) for shop in range(6)]


def gram(folder):
    with read_agent_plan(folder / "site.toml").open_site(restored=False) as site:
        return site.node.life.node.state.rows.gram.tolist()


def test_a_site_learns_from_its_rows_of_a_log_once(fedbandit, tmp_path, files):
    said = fedbandit("warm-start", "site.toml", "log.csv", "--site", "shop 2")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"site.toml: the site has learnt from {files[2]} rows of log.csv; messages that wait: ")
    after = gram(tmp_path)
    log, features = fb.Log.read(tmp_path / "log.csv"), fb.Features.read(tmp_path / "features.toml")
    with fb.Site("async-linucb", features=features, clients=6, number=2) as site:
        site.warm_start(log, site="shop 2")
        assert site.node.life.node.state.rows.gram.tolist() == after
    again = fedbandit("warm-start", "site.toml", "log.csv", "--site", "shop 2")
    assert f"has learnt from {files[2]} rows of log.csv, {files[2]} of them before; messages" in again.out
    assert gram(tmp_path) == after


def test_it_goes_on_where_it_was_interrupted(fedbandit, tmp_path, files, monkeypatch):
    plain, done = SiteWithPast.recall, []

    def interrupted(self, *row):
        if len(done) == 70:
            raise KeyboardInterrupt
        done.append(row)
        plain(self, *row)

    rows = [{**row, "site": "one"} for row in shop_rows(count=ROWS)]
    as_csv(rows, tmp_path / "log.csv")
    with monkeypatch.context() as patch:
        patch.setattr(SiteWithPast, "recall", interrupted)
        assert fedbandit("warm-start", "site.toml", "log.csv").code == 130
    said = fedbandit("warm-start", "site.toml", "log.csv")
    known = int(said.out.partition(" of them before")[0].rpartition(" ")[2])
    assert 64 <= known <= 70
    assert f"has learnt from {ROWS} rows of log.csv, {known} of them before" in said.out
    with read_agent_plan(tmp_path / "site.toml").open_site(restored=False) as site:
        assert site.node.life.node.state.rows.turns.tolist() == [ROWS]


REFUSED = {
    "several sites": ((), "it has rows of several sites: give site as one of shop 0, shop 1"),
    "no such site": (("--site", "north"), "it has no rows of 'north': give site as one of shop 0"),
    "no such log": (("none.csv",), "none.csv"),
    "no reward": (("--columns", "columns.toml"), "earned"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_a_past_is_one_sentence_and_changes_nothing(fedbandit, tmp_path, files, name):
    (tmp_path / "columns.toml").write_text('reward = "earned"\n')
    more, sentence = REFUSED[name]
    log = () if more[:1] == ("none.csv",) else ("log.csv",)
    said = fedbandit("warm-start", "site.toml", *log, *more)
    assert (said.code, said.out, len(said.err.splitlines())) == (2, "", 1)
    assert sentence in said.err
    assert not np.any(gram(tmp_path))


def test_a_site_that_is_being_served_is_left_alone(fedbandit, tmp_path, files):
    with read_agent_plan(tmp_path / "site.toml").open_site(restored=False):
        said = fedbandit("warm-start", "site.toml", "log.csv", "--site", "shop 2")
    assert (said.code, len(said.err.splitlines())) == (2, 1)
    assert "site.db" in said.err


def test_a_site_that_has_decided_has_no_past_any_more(fedbandit, tmp_path, files):
    with read_agent_plan(tmp_path / "site.toml").open_site(restored=False) as site:
        site.choose([{"price": 1.0}, {"price": 2.0}], context={"segment": "new"})
    said = fedbandit("warm-start", "site.toml", "log.csv", "--site", "shop 2")
    assert said.code == 2
    assert "the site has made 1 decision: a past is taken in before the first: begin with another store" in said.err
