"""Declarations of features and offers that fit them, drawn by hypothesis; and offers by columns, as a log has them."""

import math

import numpy as np
from hypothesis import strategies as st

from fedbandit.features.columns import Column

TEXTS = st.one_of(
    st.sampled_from(["new", "gold", "1", "true", "", "Größe 42"]), st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(-3, 3), st.booleans(), st.none(), st.just(math.nan), st.just(2.0),
)  # fmt: skip
VALUES = {
    "number": st.one_of(st.floats(-200, 200), st.integers(-200, 200)),
    "bins": st.one_of(st.floats(-200, 200), st.integers(-200, 200)),
    "category": TEXTS,
    "hashed": st.one_of(TEXTS, st.lists(TEXTS, max_size=3)),
    "text": TEXTS,
}
WEIGHT = st.sampled_from([{}, {"weight": 1}, {"weight": 2.5}])
SIZE = st.integers(1, 6)


@st.composite
def feature(draw):
    kind = draw(st.sampled_from(sorted(VALUES)))
    table = {"kind": kind, **draw(WEIGHT)}
    if kind == "number":
        table["scale"] = draw(st.sampled_from(["linear", "log"]))
        table["range"] = [draw(st.sampled_from([0.5, 1, 10])), draw(st.sampled_from([20, 150.5]))]
        table["missing"] = draw(st.sampled_from(["refuse", "zero", "indicator"]))
    elif kind == "bins":
        table["edges"] = sorted(draw(st.sets(st.integers(-100, 100), min_size=1, max_size=4)))
        table["missing"] = draw(st.sampled_from(["refuse", "zero"]))
    elif kind == "category":
        table["levels"] = draw(st.lists(st.sampled_from(["new", "gold", "1", "true"]), min_size=1, unique=True))
        table["unknown"] = draw(st.sampled_from(["other", "zero"]))
    else:
        table["size"] = draw(SIZE)
    return table


@st.composite
def declaration(draw, with_arms=True):
    context = draw(st.dictionaries(st.sampled_from("abc"), feature(), max_size=3, min_size=0 if with_arms else 1))
    arm = draw(st.dictionaries(st.sampled_from("xyz"), feature(), min_size=1, max_size=3)) if with_arms else {}
    names = [*context, *arm]
    cross = {}
    for place in range(draw(st.integers(0, 2))):
        of = [draw(st.sampled_from(names)), draw(st.sampled_from(names))]
        if not with_arms or any(each in arm for each in of):
            cross[f"cross{place}"] = {"of": of, **draw(WEIGHT), **draw(st.sampled_from([{}, {"size": 5}]))}
    options = {"constant": draw(st.booleans()), "length": draw(st.sampled_from(["bound", "unit"]))}
    options["main"] = list(context) if not with_arms else draw(st.permutations(list(context)))
    blocks = [*options["main"], *arm, *cross]
    if draw(st.booleans()):
        options["hash_to"] = draw(SIZE)
    else:
        options["personal"] = [each for each in blocks if draw(st.booleans())]
    return {"context": context, "arm": arm, "cross": cross, "features": {**options, "largest": 5000}}


def row(draw, table):
    given = {}
    for name, each in table.items():
        may_miss = each.get("missing", "zero") != "refuse"
        if not may_miss or draw(st.booleans()):
            given[name] = draw(VALUES[each["kind"]])
        elif draw(st.booleans()):
            given[name] = None
    return given


@st.composite
def turns(draw, with_arms=True):
    tables = draw(declaration(with_arms))
    count = draw(st.integers(1, 4))
    offers = [
        (row(draw, tables["context"]), [row(draw, tables["arm"]) for _ in range(draw(st.integers(1, 3)))])
        for _ in range(count)
    ]
    return tables, offers


class Offered:
    """Turns by columns, as a log has them."""

    def __init__(self, offers):
        contexts, arms = [context for context, _ in offers], [arm for _, arms in offers for arm in arms]
        self.context, self.arms = columns(contexts), columns(arms)
        self.row = np.arange(1, len(offers) + 1)
        self.offered = np.full((len(offers), max(len(arms) for _, arms in offers)), -1)
        place = 0
        for turn, (_, some) in enumerate(offers):
            self.offered[turn, : len(some)] = np.arange(place, place + len(some))
            place += len(some)


def columns(rows):
    return {name: Column.of([each.get(name) for each in rows]) for name in {key for each in rows for key in each}}
