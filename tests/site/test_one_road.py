"""What a site does goes through its node, by name, as in a simulation of faults; no site looks behind it."""

from pathlib import Path

import numpy as np

import fedbandit as fb
from fedbandit.core.interfaces import Decided
from fedbandit.durable.site.journalled import JournalledSite

LOOKS_BEHIND = "node.life"


def test_applications_and_simulations_of_faults_decide_in_one_place(monkeypatch):
    monkeypatch.setattr(JournalledSite, "decide", lambda self, features, draws: Decided(np.array([2]), None, None))
    with fb.Site("async-linucb", dimension=3) as site:
        assert site.choose(np.eye(3)).arm == 2
        name, decided = site.node.choose(np.eye(3)[np.newaxis], np.empty((1, 0)))
        assert (decided.choices.tolist(), site.node.is_pending(name)) == ([2], True)


def test_no_site_looks_behind_its_node():
    folder = Path(fb.__file__).parent / "site"
    assert [path.name for path in folder.glob("*.py") if LOOKS_BEHIND in path.read_text("utf-8")] == []
