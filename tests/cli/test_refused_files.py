"""Files of another kind than a command needs, and addresses at which nothing can be: said by what they are."""

import sqlite3

import pytest

import fedbandit as fb
from fedbandit.files.npz import read_npz
from samples.refusals import refused

RUN = ("run", "async-linucb", "--world", "clients=4", "--world", "dimension=2", "--turns", "10")
BYTES = b"GARB\x00\xff\x00\xff"
COORDINATOR = """broker = "nats://127.0.0.1:4222"
journal = "journals"
[federations.demo]
algorithm = "async-linucb"
dimension = 2
clients = 2
"""


@pytest.fixture(autouse=True)
def files(fedbandit, tmp_path):
    (tmp_path / "garbage.bin").write_bytes(BYTES)
    (tmp_path / "text.txt").write_text("hello\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "empty.db").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "x.toml").write_text('store = "site.db"\nx = 3\n')
    (tmp_path / "log.csv").write_text("site,time,choice,reward,propensity,f\na,1,a,1,0.5,2\na,2,b,0,0.5,2\n")
    (tmp_path / "coordinator.toml").write_text(COORDINATOR)


FILES = {
    "a text that is no journal": (("check", "text.txt"), "text.txt is no journal or store of fedbandit: give the .db"),
    "an empty file that is no journal": (("check", "empty.csv"), "empty.csv is no journal or store of fedbandit: give"),
    "an empty journal": (("check", "empty.db"), "the journal empty.db is empty: nothing was written to it"),
    "a folder of turns": ((*RUN[:2], "--recorded", "folder"), "'folder' is a folder: give the path of an .npz file"),
    "turns that are no arrays": (
        (*RUN[:2], "--recorded", "garbage.bin"),
        "garbage.bin is not a readable .npz of plain arrays (it is something else): write it with numpy.savez",
    ),
    "a policy that is none": (
        ("evaluate", "log.csv", "--policy", "garbage.bin"),
        "garbage.bin is no policy that a site has saved (these bytes are not a fedbandit state",
    ),
    "a key that a site has not": (("site", "x.toml"), "x.toml: unknown key 'x': known: credentials, features"),
    "a key of a site that begins": (("warm-start", "x.toml", "log.csv"), "x.toml: unknown key 'x': known: "),
    "a plan that is no text": (("serve", "garbage.bin"), "garbage.bin is not text in UTF-8: give the path of a TOML"),
    "a result under another name": (
        (*RUN, "--save", "x.txt"),
        "--save x.txt does not end in .npz: give a name that ends so",
    ),
    "no address to listen at": (
        ("broker", "coordinator.toml", "--listen", "no where"),
        "--listen 'no where' is no address: give one of this machine, without a port, or 0.0.0.0 for all",
    ),
    "the address of another machine": (
        ("broker", "coordinator.toml", "--listen", "192.0.2.1"),
        "--listen 192.0.2.1: the broker cannot listen at port 4222 (Cannot assign requested address): give an address",
    ),
    "a leaderboard of nothing": (
        ("leaderboard", "--output", "nosuch", "--store", "stored"),
        "no runs of leaderboard/linear-tuning are all in --output nosuch, nor stored in --store stored: run "
        "`fedbandit reproduce leaderboard/linear-tuning` first",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_of_another_kind_is_said_to_be_so_and_nothing_is_made(fedbandit, tmp_path, case):
    before = sorted(path.name for path in tmp_path.iterdir())
    arguments, sentence = FILES[case]
    refused(fedbandit(*arguments), sentence)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_the_database_of_another_program_is_no_journal(fedbandit, tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE people (name)")
    refused(fedbandit("check", "other.db"), "other.db is no journal or store of fedbandit: give the .db file of a site")


def test_a_folder_with_a_file_that_is_none_of_ours_is_checked_to_its_end(fedbandit, tmp_path):
    (tmp_path / "folder" / "a.db").write_text("hello, this is not a database at all, and long enough to be read as one")
    fb.Site("async-linucb", dimension=2, store=tmp_path / "folder" / "b.db").close()
    said = fedbandit("check", "folder")
    assert said.code == 2
    assert "folder/a.db cannot be used (file is not a database): its beginning is damaged, so restore a bac" in said.err
    assert "folder/b.db: whole" in said.out


def test_a_store_that_this_process_has_open_is_told_from_one_that_another_has(tmp_path):
    refusal = pytest.raises(fb.InvalidInput, match=r"site\.db cannot be used .*: this process has it open: close it")
    with fb.Site("async-linucb", dimension=2, store=tmp_path / "site.db"), refusal:
        fb.Site("async-linucb", dimension=2, store=tmp_path / "site.db")
    fb.Site("async-linucb", dimension=2, store=tmp_path / "site.db").close()


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "Grüße\n" * 400, "ü" * 2000 + "x"])
def test_a_text_is_said_to_be_one_in_whatever_language(tmp_path, text):
    (tmp_path / "it.npz").write_text(text, encoding="utf-8")
    with pytest.raises(fb.InvalidInput, match=r"\(it is text\)"):
        read_npz(tmp_path / "it.npz")


@pytest.mark.parametrize("name", ["fedglb-ucb", "neural-ucb"])
def test_who_acts_in_rounds_is_told_how_clients_take_turns(fedbandit, name):
    said = fedbandit("run", name, "--world", "clients=4", "--turns", "40")
    refused(said, "client[")
    assert said.err.endswith("in which every client appears once: set arrivals=round-robin in the world\n")
    world = ("--world", "clients=4", "--world", "dimension=2", "--world", "arrivals=round-robin")
    if name == "fedglb-ucb":
        assert fedbandit("run", name, *world, "--turns", "40").code == 0
