"""What is said of an advised setting: what it buys, how sure that is, and what its deployment costs."""

from dataclasses import replace

import numpy as np
import pytest

import fedbandit as fb
from fedbandit.advice.advice import UploadCost, described
from fedbandit.advice.model.fit_check import FitCheck
from fedbandit.advice.model.fitted import fit
from fedbandit.advice.model.worlds import drawn_world
from fedbandit.files.amounts import shown_bytes
from fedbandit.simulation.in_process import simulate

FEDERATED = ("lean-linucb", "sync-linucb", "async-linucb")


def test_the_sentence_says_what_to_take_what_it_buys_and_what_it_costs(advice):
    said = advice.sentence
    assert said.startswith(f"Take {advice.algorithm.id} (")
    assert "more than every site alone" in said
    assert "kB a day" in said


def off(less, more):
    return {"bytes": f"in nine of ten draws messages take {less} less to {more} more than predicted"}


@pytest.mark.parametrize(
    ("has_rival", "low", "high", "doubts"),
    [
        (False, 0.91, 1.09, {}), (True, 1.0, 1.0, {}), (False, 0.88, 1.0, off("12%", "0%")),
        (False, 1.01, 1.12, off("0%", "12%")), (True, 0.5, 2.0, off("50%", "100%")),
    ],
)  # fmt: skip
def test_advice_is_sure_of_a_setting_without_rivals_and_of_bytes_that_are_near(advice, has_rival, low, high, doubts):
    rival = next(each for each in advice.points if each.candidate != advice.choice.candidate)
    if has_rival:
        doubts = {"setting": f"its regret may be more than 10 % above that of {described(rival)}"} | doubts
    choice = replace(advice.choice, rivals=(rival.candidate,) if has_rival else ())
    one = replace(advice, choice=choice, bytes_band=(low * advice.point.bytes, high * advice.point.bytes))
    assert one.doubts == doubts
    assert one.is_sure == (not doubts)
    for what in ("setting", "bytes"):
        assert (f" Unsure of the {what}: {doubts.get(what)}." in one.sentence) == (what in doubts)
        assert ("Unsure of the " + what in one.sentence) == (what in doubts)


def test_bytes_are_said_with_what_they_may_be(advice):
    low, high = advice.bytes_band
    day = [shown_bytes(each / advice.log.days + advice.idle) for each in (low, high)]
    assert advice.bytes_a_day_band == pytest.approx([each / advice.log.days + advice.idle for each in (low, high)])
    assert f" a day (in nine of ten draws {day[0]} to {day[1]})." in advice.sentence
    same = replace(advice, bytes_band=(low, low))
    assert f" a day ({day[0]} in nine of ten draws)." in same.sentence


def test_warnings_make_the_setting_unsure_and_not_the_bytes(advice):
    assert "in doubt" not in advice.sentence
    warned = replace(advice, checks=replace(advice.checks, fit=FitCheck(p=1e-9, gap=0.5)))
    assert warned.checks.warnings
    assert warned.doubts["setting"].endswith("what it would have earned is in doubt, see the warnings")
    assert warned.doubts.get("bytes") == advice.doubts.get("bytes")
    assert not warned.is_sure


def test_what_a_warm_start_changes_is_said(advice):
    assert advice.warm_start.draws == 10
    assert advice.warm_start.gain > 0
    assert advice.warm_start_sentence == advice.warm_start.sentence(helps=True)


def test_idle_talk_beyond_a_tenth_of_the_budget_makes_sites_ask_more_rarely(advice):
    assert advice.every > 30
    assert advice.idle <= 0.1 * advice.budget
    assert any(note.startswith(f"every = {advice.every:g}") for note in advice.notes)


def test_rounds_are_left_out_and_it_says_so(advice):
    assert any("act in rounds" in note for note in advice.notes)
    assert advice.log.whole_rounds == 6 * min(np.bincount(advice.log.rows.site))


def test_all_are_tried_with_the_smallest_upload_of_a_federation_that_is_deployed(advice):
    federated = [each.candidate.algorithm for each in advice.screened if each.candidate.name in FEDERATED]
    assert {each.smallest_upload for each in federated} == {max(10, 2 * advice.log.dimension)}
    assert advice.algorithm.smallest_upload == advice.uploads.observations == 10


def test_what_the_smallest_upload_costs_is_told_beside_one(advice):
    rows, advised = advice.log.rows, advice.choice.candidate.algorithm
    worlds = [drawn_world(rows, fit(rows), number) for number in range(4)]
    runs = [
        [simulate(replace(advised, smallest_upload=least), world, len(rows.site))[0] for world in worlds]
        for least in (1, 10)
    ]
    regret = [np.mean([each.regret.sum() for each in some]) for some in runs]
    spent = [np.mean([each.ledger.bytes for each in some]) for some in runs]
    assert advice.uploads.regret == pytest.approx(regret[1] - regret[0])
    assert advice.uploads.bytes == pytest.approx(spent[1] - spent[0])
    assert advice.uploads.regret > 0
    assert advice.notes[0].startswith("smallest_upload = 10, so that no upload tells of fewer decisions, costs ")
    assert advice.notes[0].endswith("a day, compared with smallest_upload = 1")


def test_what_the_choices_of_the_log_would_have_sent_is_told_beside_the_forecast(advice, tmp_path):
    rows = advice.log.rows
    chosen = rows.vectors[np.arange(len(rows.site)), rows.choice][:, np.newaxis]
    np.savez(tmp_path / "log.npz", client=rows.site, arms=chosen, reward=rows.reward[:, np.newaxis])
    world = fb.environment("recorded", path=str(tmp_path / "log.npz"))
    spent = fb.run(advice.choice.candidate.algorithm, world, turns=len(rows.site)).bytes[-1]
    assert advice.logged_bytes == spent
    day = shown_bytes(spent / advice.log.days + advice.idle)
    assert advice.notes[1].startswith(f"had sites made the choices of the log, this setting would have sent {day} a ")


def test_a_smallest_upload_of_one_is_warned_of(advice):
    said = replace(advice, uploads=UploadCost(1, 0.0, 0.0)).notes[0]
    assert said.startswith("smallest_upload = 1: an upload may rest on a single decision")
    assert said.endswith("a federation has 10")
