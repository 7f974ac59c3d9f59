"""What earlier versions have written opens for ever, and goes on to the same sums."""

from __future__ import annotations

import json
import math
from dataclasses import field, fields, make_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import get_type_hints
from zipfile import ZipFile

import pytest

import fedbandit as fb
from fedbandit.core.errors import InvalidInput
from fedbandit.core.former_names import formerly
from fedbandit.durable.coordinator.site_accounts import Accounts, CoordinatorMemory
from fedbandit.durable.journals.journal import MemoryJournal, open_journal
from fedbandit.wire.state import decode_state
from golden import story
from golden.moved import move_to_where_it_stands_today

HERE = Path(__file__).parent
VERSIONS = sorted(folder.name for folder in HERE.glob("[0-9]*"))
NEEDS_JAX = pytest.mark.skipif(find_spec("jax") is None, reason="needs JAX: pip install '.[neural]'")
NAMES = [pytest.param(name, marks=NEEDS_JAX) if name.startswith("fn-") else name for name in story.FEDERATIONS]
EXACT = {"async-linucb", "sync-linucb", "fedego-lasso"}  # whose sums no machine has to round
SUMS = {"gram", "moment", "new_gram", "new_moment"}
WINDING = {"search"}  # the path of a minimiser, which the rounding of another machine may lead elsewhere


KNOWN = {"gram", "moment", "inverse", "estimate", "log_det", "growth", "updates", "slot_of", "shared"}
PARTS = {"local", "whole", "estimates", "global_inverse", "local_inverse", "new_moment"}
CROSSED = {"async-linucb": KNOWN, "sync-linucb": KNOWN, "async-linucb-am": KNOWN | PARTS}


def without(known, names):
    """Leave some fields out, wherever they stand."""
    if not isinstance(known, dict):
        return known
    return {name: without(each, names) for name, each in known.items() if name not in names}


class Golden:
    """The files of one federation, in a folder where they may be changed."""

    def __init__(self, version, name, folder):
        self.name, self.folder = name, folder
        self.known = json.loads((HERE / version / f"{name}.json").read_text())
        for known in (self.known["coordinator"], self.known["at snapshot"], self.known["later"]["coordinator"]):
            move_to_where_it_stands_today(name, known["state"])
        with ZipFile(HERE / version / f"{name}.zip") as archive:
            archive.extractall(folder)

    def server(self, journal=None):
        return story.open_server(self.name, journal or open_journal(str(self.folder), "coordinator"))

    def sites(self):
        return [story.open_site(self.name, number, self.folder / f"site-{number}.db") for number in range(story.SITES)]

    def require_later(self, server, sites):
        """Compare how a federation has gone on with how it went on in the version that wrote its files.

        There a download that crossed an upload of its site made the site forget what it had sent, until the next one.
        So of what linear sites know, only what they have yet to send is the same; and in `async-linucb-am` what they
        take for the other part's share of a reward follows from what they know.
        """
        later = self.known["later"]
        moments = {"moment"} if self.name == "async-linucb-am" else set()
        self.require(story.known_of_server(server), without(later["coordinator"], moments))
        for site, known in zip(sites, later["sites"], strict=True):
            self.require(story.known_of_site(self.name, site), without(known, CROSSED.get(self.name, set())))

    def require(self, now, known):
        """Compare what is known now with what was: whole numbers and sums are the same, all else up to rounding."""
        if "joined" in known:  # 0.1.0 counted totals, and messages that tell of nothing, as observations
            now, known = ({name: each for name, each in one.items() if name != "observations"} for one in (now, known))
        sums = SUMS if self.name in EXACT else set()
        assert list(differences(now, known, sums)) == []


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture(params=NAMES)
def golden(request, version, tmp_path):
    return Golden(version, request.param, tmp_path)


def differences(now, known, sums, place="", winding=WINDING):
    """Tell where what is known now is not what was known; fields that a later version has added are left alone."""
    if isinstance(known, dict):
        for name in known.keys() - winding:
            if name in now:
                yield from differences(now[name], known[name], sums, f"{place}.{name}", winding)
            else:
                yield f"{place}.{name} is gone"
    elif isinstance(known, list) and isinstance(now, list) and len(now) == len(known):
        for one, other in zip(now, known, strict=True):
            yield from differences(one, other, sums, place, winding)
    elif isinstance(known, float) and ".state." in f"{place}." and sums.isdisjoint(place.split(".")):
        if not math.isclose(now, known, rel_tol=1e-6, abs_tol=1e-6):
            yield f"{place} is {now}, and was {known}"
    elif now != known:
        yield f"{place} is {now}, and was {known}"


def test_the_journal_of_a_coordinator_opens_as_it_was(golden):
    server = golden.server()
    golden.require(story.known_of_server(server), golden.known["coordinator"])
    server.journal.close()


def test_a_snapshot_is_read_bit_for_bit(golden):
    journal, alone = open_journal(str(golden.folder), "coordinator"), MemoryJournal()
    snapshot = journal.snapshot()
    for _ in range(snapshot.position):
        alone.append(b"")
    alone.save(snapshot.data)
    now = story.known_of_server(golden.server(alone))
    assert list(differences(now["state"], golden.known["at snapshot"]["state"], SUMS, winding=set())) == []
    assert now | {"state": None} == golden.known["at snapshot"] | {"state": None}
    journal.close()


def test_the_stores_of_sites_open_as_they_were(golden):
    sites = golden.sites()
    for site, known in zip(sites, golden.known["sites"], strict=True):
        golden.require(story.known_of_site(golden.name, site), known)
        site.close()


def test_a_federation_goes_on_from_its_files_to_the_same_sums(golden):
    server, sites = golden.server(), golden.sites()
    story.go_on(golden.name, server, sites)
    golden.require_later(server, sites)
    for end in (server.journal, *sites):
        end.close()


def test_what_goes_on_from_old_files_can_be_opened_again(golden):
    server, sites = golden.server(), golden.sites()
    story.go_on(golden.name, server, sites)
    server.save()
    sites[0].node.save()
    for end in (server.journal, *sites):
        end.close()
    server, sites = golden.server(), golden.sites()
    golden.require_later(server, sites)
    for end in (server.journal, *sites):
        end.close()


def test_a_journal_of_another_federation_says_so_though_its_records_are_strange(version, tmp_path):
    golden = Golden(version, "async-linucb", tmp_path)
    journal = open_journal(str(golden.folder), "coordinator")
    with pytest.raises(InvalidInput, match="the journal belongs to another federation"):
        story.open_server("sync-linucb", journal)
    journal.close()


def test_a_store_of_another_site_is_refused_though_it_has_but_a_snapshot(version, tmp_path):
    golden = Golden(version, "async-linucb", tmp_path)
    sites = golden.sites()
    sites[1].node.unchecked = None
    sites[1].node.save()
    for site in sites:
        site.close()
    with pytest.raises(InvalidInput, match="the store belongs to site 1, not to 0: give that number"):
        story.open_site(golden.name, 0, golden.folder / "site-1.db")


def changed(kind, *, without=(), added=(), name="", types=None, **former):
    """A record type as a later version may have it."""
    hints, today = {**get_type_hints(kind), **(types or {})}, {before: now for now, before in former.items()}
    kept = [
        (
            today.get(each.name, each.name),
            hints[each.name],
            field(default=each.default, default_factory=each.default_factory),
        )
        for each in fields(kind)
        if each.name not in without
    ]
    again = make_dataclass(name or kind.__name__, [*kept, *added], kw_only=True)
    return formerly(*([kind.__name__] if name else []), **former)(again)


def test_records_that_have_changed_since_are_read_from_the_files_of_earlier_versions(golden):
    """A field was added, one has gone with all that was in it, and a class and a field have a new name."""
    journal = open_journal(str(golden.folder), "coordinator")
    mood = ("mood", str, field(default="calm"))
    accounts = changed(Accounts, name="Books", added=[mood], closed_before="closed")
    memory = changed(CoordinatorMemory, without=["latest", "node"], added=[mood], types={"accounts": accounts})
    read = decode_state(journal.snapshot().data, memory)
    assert (read.mood, read.accounts.mood) == ("calm", "calm")
    closed = {f"{site} {epoch}": [each.first, each.heir] for (site, epoch), each in read.accounts.closed_before.items()}
    assert closed == golden.known["at snapshot"]["closed"]
    assert not hasattr(read, "latest")
    journal.close()


def test_a_policy_chooses_as_it_did(golden):
    policy = fb.Policy.load(golden.folder / "site-0.policy")
    assert story.choices(golden.name, policy) == golden.known["policy"]


@pytest.fixture(scope="module")
def restored_database(postgres_url):
    """A function that gives the URL of a database with the journals of a version, restored from its dump."""
    psycopg = import_module("psycopg")
    restored = {}

    def restore(version):
        if version not in restored:
            database = f"golden_{version.replace('.', '_')}"
            with psycopg.connect(postgres_url, autocommit=True) as base:
                base.execute(f"CREATE DATABASE {database}")
            restored[version] = postgres_url.replace("/postgres?", f"/{database}?")
            with ZipFile(HERE / version / "postgresql.zip") as archive:
                dump = archive.read("coordinators.sql").decode()
            own = [line for line in dump.splitlines() if not line.startswith(("SET ", "\\", "--", "SELECT pg_catalog"))]
            with psycopg.connect(restored[version], autocommit=True) as base:
                base.execute("\n".join(own))
        return restored[version]

    return restore


@pytest.mark.parametrize("name", NAMES)
def test_journals_in_a_database_that_was_dumped_and_restored_go_on(version, name, tmp_path, restored_database):
    golden = Golden(version, name, tmp_path)
    server = golden.server(open_journal(restored_database(version), name))
    golden.require(story.known_of_server(server), golden.known["coordinator"])
    sites = golden.sites()
    story.go_on(name, server, sites)
    golden.require_later(server, sites)
    for end in (server.journal, *sites):
        end.close()
