"""Where fields of a coordinator's state stood when golden files were written, and where they stand today."""

from __future__ import annotations

MOVED = {  # by algorithm, in 0.1.0 and today; what is told in another way has no place
    "fedglb-ucb": {
        "step": "questions.number",
        "roster": "questions.roster",
        "answered": "questions.answered",
        "answers": "questions.rows",
        "missed": "questions.missed",
        "iterate": "search.iterate",
        "place": "search.place",
        "momentum": "search.momentum",
    },
    "fldb-ogd": {
        "questions.is_open": "questions.is_called",
        "questions.answers.rows": "questions.rows.gradient",
        "questions.answers": "",  # the counts, by `answered`
    },
    "fedego-lasso": {"missed": "attendance.missed"},
    "fn-ucb-less": {
        "called": "attendance.is_called",
        "answered": "attendance.answered",
        "missed": "attendance.missed",
    },
}


def move_to_where_it_stands_today(name, state):
    """Move what was known of the state of an algorithm's server; what is known of a later version stays."""
    for before, today in MOVED.get(name, {}).items():
        *above, last = before.split(".")
        value = inside(state, above).pop(last, None)
        if today and value is not None:
            *above, last = today.split(".")
            inside(state, above)[last] = value


def inside(state, names):
    for name in names:
        state = state.setdefault(name, {})
    return state
