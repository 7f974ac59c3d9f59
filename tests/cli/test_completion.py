"""What a shell offers after Tab."""

import pytest
import typer

import fedbandit as fb
from fedbandit.cli.main import app

OFFERED = {
    "an algorithm": ("run lean", ["lean-linucb"]),
    "any algorithm": ("run ", list(fb.algorithms)),
    "an environment": ("run lean-linucb --environment me", ["medical-mnist"]),
    "an experiment": ("reproduce fldb/a", ["fldb/agents"]),
    "another experiment": ("book fldb/agents fldb/m", ["fldb/more-agents", "fldb/movielens"]),
    "a paper": ("reproduce --all --paper fn", ["fn-ucb"]),
    "a panel": ("panels fldb/figure-1a", ["fldb/figure-1a"]),
    "whatever can be described": ("describe line", ["linear-ts", "linear-ucb", "linear"]),
    "a parameter": ("run async-linucb-am --set gl", ["global_dimension="]),
    "a parameter after others": ("run async-linucb-am --set ridge=2 --set gl", ["global_dimension="]),
    "a parameter of an option": ("up --algorithm async-linucb-am --set gl", ["global_dimension="]),
    "a parameter of what is usual": ("up --set gre", ["greed="]),
    "a size of the usual world": ("run random --world cl", ["clients="]),
    "a size of the world that was named": ("run random --environment grouped --world gr", ["groups="]),
    "nothing of what there is not": ("run nosuch --set r", []),
}


@pytest.mark.parametrize("case", OFFERED)
def test_tab_offers_the_names_that_can_stand_there(monkeypatch, capsys, case):
    words, names = OFFERED[case]
    monkeypatch.setenv("COMP_WORDS", f"fedbandit {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" "))))
    monkeypatch.setenv("_FEDBANDIT_COMPLETE", "complete_bash")
    with pytest.raises(SystemExit):
        typer.main.get_command(app).main([], prog_name="fedbandit")
    assert capsys.readouterr().out.split() == names
