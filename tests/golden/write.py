"""Write the golden files of this version: `python tests/golden/write.py`, at the commit of its release, never after.

The files of a version are what its users have on their disks. They are never written again: a version that cannot open
them, or goes on from them with other sums, breaks what was promised. A release adds a folder of its own.

    tests/golden/VERSION/ALGORITHM.zip   the coordinator's journal, the stores of three sites, a policy
    tests/golden/VERSION/ALGORITHM.json  what was in them, and what was in them after `story.go_on`
    tests/golden/VERSION/postgresql.zip  the journals of all coordinators, as `pg_dump --inserts` wrote them

The journal has a snapshot and records after it, epochs that were closed before it and after it, uploads that came
early, and a round that was closed at a deadline where there are rounds. Site 0 has pending decisions from before and
after its snapshot, and unsent uploads. Site 1 was restored from a backup, and has had an upload refused. Site 2 was
restored twice, and was killed: its last records stand in the write-ahead log.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent)]

from fedbandit.core.version import VERSION  # noqa: E402
from fedbandit.durable.journals.journal import open_journal  # noqa: E402
from fedbandit.wire.frame import Frame, Kind, refusal  # noqa: E402
from golden import story  # noqa: E402
from samples.postgres import postgres_server  # noqa: E402


def begin(name, folder, journal):
    """Tell the story up to the moment when all ends; return what is known then of the coordinator and the sites."""
    rng = np.random.default_rng(5)
    server = story.open_server(name, journal)
    places = [folder / f"site-{number}.db" for number in range(story.SITES)]
    sites = [story.open_site(name, number, places[number], fresh=100 + number) for number in range(story.SITES)]
    for step in range(6):
        story.take_turns(name, sites, rng)
        story.meet_again(server, sites, 1001.0 + step)
    sites[1] = restore(name, server, sites, 1, places[1], rng, is_sent=False)
    sites[0].choose(story.offer(name, rng))  # pending when the snapshot is taken
    server.save()
    at_snapshot = story.known_of_server(server)
    for site in sites:
        site.node.save()
    for step in range(4):
        story.take_turns(name, sites, rng)
        story.meet_again(server, sites, 1101.0 + step)
    for is_sent in (True, False):
        sites[2] = restore(name, server, sites, 2, places[2], rng, is_sent=is_sent)
    refuse_one(name, sites[1], rng)
    story.meet_again(server, sites, 1150.0)
    leave_a_round_open(name, server, sites, rng)
    for _ in range(2):
        sites[0].choose(story.offer(name, rng))  # pending, and only in records
    return server, sites, at_snapshot


def restore(name, server, sites, number, place, rng, *, is_sent):
    """Let a site go on from a backup that lacks what it has learnt since, and has sent or not."""
    sites[number].close()
    backup = place.with_suffix(".backup")
    shutil.copy(place, backup)
    fresh = sites[number].node.life.decisions.life + 100
    sites[number] = story.open_site(name, number, place, fresh=fresh)
    story.meet_again(server, sites, 1050.0)
    story.take_turns(name, sites, rng, rounds=2)
    if is_sent:
        story.meet_again(server, sites, 1051.0)
    sites[number].close()
    shutil.move(backup, place)
    sites[number] = story.open_site(name, number, place, fresh=fresh + 50, restored=True)
    story.meet_again(server, sites, 1052.0)
    return sites[number]


def refuse_one(name, site, rng):
    """Let the coordinator refuse an upload of a site for good, if it has any to send."""
    for _ in range(10):
        story.take_turns(name, [site], rng)
        for data in site.news():
            frame = Frame.from_bytes(data)
            if frame.kind is Kind.UPLOAD and not site.refused:
                site.hear(refusal(frame, "its numbers are too large", for_good=True).to_bytes())
        if site.refused:
            return


def leave_a_round_open(name, server, sites, rng):
    """Let all have something to send, of which only what site 0 sends first arrives; the answers are lost."""
    for _ in range(6):
        story.take_turns(name, sites, rng)
    for frame in sites[0].news()[:3:2]:  # the third comes before the second
        server.receive(frame, 1200.0, 0)
    server.commit()
    for site in sites[1:]:
        site.news()
    if server.awaited().size:
        server.deadline(1201.0)
        server.commit()
    story.take_turns(name, sites, rng)
    for site in sites:
        site.node.flush()


def write(name, url, folder):
    """Write the files of one federation, and return nothing."""
    files = folder / name
    files.mkdir()
    elsewhere = folder / f"{name}-postgresql"
    elsewhere.mkdir()
    server, sites, at_snapshot = begin(name, files, open_journal(str(files), "coordinator"))
    known = {
        "version": VERSION,
        "charter": server.charter.text,
        "at snapshot": at_snapshot,
        "coordinator": story.known_of_server(server),
        "sites": [story.known_of_site(name, site) for site in sites],
    }
    sites[0].policy().save(files / "site-0.policy")
    known["policy"] = story.choices(name, sites[0].policy())
    kept = folder / f"{name}-kept"
    shutil.copytree(files, kept)  # of site 2 with its write-ahead log, as if it had been killed
    for end in (server.journal, sites[0], sites[1]):
        end.close()
    for file in ("coordinator.db", "site-0.db", "site-1.db"):
        shutil.copy(files / file, kept / file)
    for file in kept.iterdir():
        if file.name.endswith("-wal") and file.name != "site-2.db-wal":
            file.unlink()
    sites[2].close()
    with ZipFile(HERE / VERSION / f"{name}.zip", "w", ZIP_DEFLATED) as archive:
        for file in sorted(kept.iterdir()):
            archive.write(file, file.name)
    known["later"] = later(name, kept, folder / f"{name}-later")
    text = json.dumps(known, indent=None, separators=(",", ":"), sort_keys=True)
    (HERE / VERSION / f"{name}.json").write_text(text + "\n")
    beside, more, _ = begin(name, elsewhere, open_journal(url, name))
    assert story.known_of_server(beside) == known["coordinator"]
    for end in (beside.journal, *more):
        end.close()


def later(name, kept, folder):
    """What is known after the rest of the story, told from a copy."""
    shutil.copytree(kept, folder)
    server = story.open_server(name, open_journal(str(folder), "coordinator"))
    sites = [story.open_site(name, number, folder / f"site-{number}.db") for number in range(story.SITES)]
    story.go_on(name, server, sites)
    known = {
        "coordinator": story.known_of_server(server), "sites": [story.known_of_site(name, site) for site in sites],
    }  # fmt: skip
    for end in (server.journal, *sites):
        end.close()
    return known


def main():
    (HERE / VERSION).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, postgres_server() as url:
        for name in story.FEDERATIONS:
            write(name, url, Path(folder))
        command = ["pg_dump", "--inserts", "--no-owner", "--no-privileges", url]
        dump = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        with ZipFile(HERE / VERSION / "postgresql.zip", "w", ZIP_DEFLATED) as archive:
            archive.writestr("coordinators.sql", dump)


if __name__ == "__main__":
    main()
