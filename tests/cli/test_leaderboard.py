"""`fedbandit leaderboard`: it stores what is whole, and writes the page and its figures."""

from fedbandit.results.leaderboard import page_of
from samples.made_up_leaderboard import store_made_up


def test_it_writes_the_page_and_the_figures_of_what_is_stored(fedbandit, tmp_path):
    store_made_up(tmp_path / "evidence")
    said = fedbandit("leaderboard", "--store", "evidence")
    assert (said.code, said.out, said.err) == (0, "leaderboard.md\n", "")
    assert (tmp_path / "leaderboard.md").read_text("utf-8") == page_of(tmp_path / "evidence")
    for rewards in ("linear", "logistic"):
        assert (tmp_path / "evidence" / "leaderboard" / rewards / "leaderboard.png").exists()


def test_with_nothing_stored_it_says_what_to_run_and_writes_nothing(fedbandit, tmp_path):
    said = fedbandit("leaderboard", "--store", "evidence")
    assert (said.code, said.out) == (2, "")
    assert said.err.endswith("run `fedbandit reproduce leaderboard/linear-tuning` first\n")
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_a_file_is_refused(fedbandit, tmp_path):
    (tmp_path / "file").write_text("")
    said = fedbandit("leaderboard", "--store", "file")
    assert (said.code, said.err) == (2, "fedbandit: --store file is a file: give the name of a folder\n")
