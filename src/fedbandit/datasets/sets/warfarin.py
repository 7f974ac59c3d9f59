"""Warfarin: patients of the International Warfarin Pharmacogenetics Consortium and the right dose for each.

IWPC (2009), NEJM 360:753, through PharmGKB. One csv file, UTF-8 with a byte-order mark, quoted header; the
last columns and the last line are empty. Missing is "NA" or empty.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from fedbandit.datasets.arrays import Booleans, Floats, Ints, Strings
from fedbandit.datasets.classification import coded
from fedbandit.datasets.description import Description, Download, with_missing
from fedbandit.datasets.files.folders import find
from fedbandit.datasets.files.tables import Table

SUBJECT = "PharmGKB Subject ID"
DOSE = "Therapeutic Dose of Warfarin"
NUMERIC = ("Age", "Height (cm)", "Weight (kg)", "INR on Reported Therapeutic Dose of Warfarin")
WORDS = "Comorbidities"
TEXT = "Medications"
MISSING = "NA"
COLUMNS = 66

DESCRIPTION = Description(
    name="warfarin",
    title="Warfarin (IWPC, PharmGKB): 5,700 patients, 5,528 with a therapeutic dose",
    publisher="International Warfarin Pharmacogenetics Consortium, through PharmGKB",
    terms="PharmGKB's data usage policy (CC BY-SA 4.0, no re-identification; cite PharmGKB and NEJM 360:753)",
    page="https://www.pharmgkb.org/downloads",
    downloads=(
        # PharmGKB offers a spreadsheet; this is the csv of it that the paper's authors name, at a fixed
        # commit.
        Download(
            "https://raw.githubusercontent.com/chuchro3/Warfarin/edcfc41ad39be0cfbdf84ff02799721d6cf48777/data/warfarin.csv",
            "sha256:13c37c04d28bee5c02b2ff55afbc256b11aec74b2d2eea284744dce1af697810",
            1_869_317,
        ),
    ),
    files=("warfarin.csv",),
    anchors=("warfarin.csv",),
    expected={
        "patients": 5_700,
        "patients with a dose": 5_528,
        "low doses": 1_495,
        "medium doses": 3_382,
        "high doses": 651,
    },
)


@dataclass(frozen=True, eq=False)
class Warfarin:
    """The patients as arrays; numbers that are not known are nan.

    `dose` is in mg a week. `categories` is (patients, columns) of positions in `levels`; "NA" is the first
    level of every column. `comorbidities` is a (patients, words) matrix of 0 and 1.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("warfarin") as path:
    ...     data = load(path)
    >>> data.dose.tolist(), data.arms().tolist(), data.features().shape[0]
    ([49.0, nan, 17.5], [1, 0], 2)
    """

    subjects: Strings
    dose: Floats
    age_decade: Floats
    height: Floats
    weight: Floats
    inr: Floats
    categories: Ints
    category_names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    comorbidities: scipy.sparse.csr_array
    comorbidity_words: tuple[str, ...]
    medications: Strings
    missing: tuple[str, ...] = ()

    def dosed(self) -> Booleans:
        """Return for each patient whether the therapeutic dose is known."""
        return ~np.isnan(self.dose)

    def counts(self) -> dict[str, int]:
        """Return the numbers of patients, of those with a dose, and of those by arm."""
        low, medium, high = (int(n) for n in np.bincount(self.arms(), minlength=3))
        doses = {"low doses": low, "medium doses": medium, "high doses": high}
        return {"patients": self.subjects.size, "patients with a dose": int(self.dosed().sum()), **doses}

    def arms(self) -> Ints:
        """Return the right arm (0 low, 1 medium, 2 high) of each patient with a dose."""
        return dose_arms(self.dose[self.dosed()])

    def features(self, missing_weight: float | None = None) -> scipy.sparse.csr_array:
        """Return the covariates of the patients with a dose: 5,528 x 745 on the full set.

        Four numeric columns (age decade, height, weight, INR on the dose) in their own units, a missing
        number replaced by the mean of the known ones; then 0 and 1 for each level of each categorical
        column; then for each comorbidity word. `missing_weight` is put for a missing weight instead of the
        mean weight: the public loader that the paper used puts the mean height there.
        """
        kept = self.dosed()
        weight = self.weight[kept]
        if missing_weight is not None:
            weight = np.where(np.isnan(weight), missing_weight, weight)
        columns = (self.age_decade[kept], self.height[kept], weight, self.inr[kept])
        numbers = np.stack([_filled(column) for column in columns], axis=1)
        blocks = [scipy.sparse.csr_array(numbers)]
        for column, levels in enumerate(self.levels):
            codes = self.categories[kept, column]
            entries = (np.ones(codes.size), (np.arange(codes.size), codes))
            blocks.append(scipy.sparse.csr_array(scipy.sparse.coo_array(entries, shape=(codes.size, len(levels)))))
        blocks.append(self.comorbidities[kept])
        return scipy.sparse.csr_array(scipy.sparse.hstack(blocks, format="csr"))

    def feature_names(self) -> tuple[str, ...]:
        """Return the names of the columns of `features()`."""
        pairs = zip(self.category_names, self.levels, strict=True)
        one_hot = (f"{name}={level}" for name, levels in pairs for level in levels)
        return (*NUMERIC, *one_hot, *(f"{WORDS}: {word}" for word in self.comorbidity_words))


def dose_arms(dose: Floats) -> Ints:
    """Return 0 for doses below 21 mg a week, 2 for those above 49 (3 and 7 mg a day), 1 for those between.

    >>> dose_arms(np.array([20.9, 21.0, 49.0, 49.5])).tolist()
    [0, 1, 1, 2]
    """
    return (dose >= 21.0).astype(np.int64) + (dose > 49.0)


def load(path: str | os.PathLike[str] | None = None) -> Warfarin:
    """Read the Warfarin set from `path` (folder or the csv file), else from where data sets are kept.

    >>> from fedbandit.datasets.files import examples
    >>> with examples.folder("warfarin") as path:
    ...     load(path).levels[0]
    ('NA', 'female', 'male')
    """
    release = find(DESCRIPTION, path)
    table = Table.open(release, "warfarin.csv", b",")
    header, *rows = table.quoted(COLUMNS, "utf-8")
    names = [name.removeprefix("\ufeff").strip() for name in header]
    absent = [name for name in (SUBJECT, DOSE, *NUMERIC, WORDS, TEXT) if name not in names]
    if absent:
        raise table.damaged(f"there is no column {absent[0]!r}", 1)
    # The last line of the release has no subject: it is nobody.
    column = {name: [row[index].strip() for row in rows if row[0]] for index, name in enumerate(names) if name}
    categorical = [name for name in column if name not in (SUBJECT, DOSE, *NUMERIC, WORDS, TEXT)]
    attributes = [_levels(column[name]) for name in categorical]
    words, matrix = _words(column[WORDS])
    loaded = Warfarin(
        subjects=np.array(column[SUBJECT]),
        dose=_numbers(table, names, column, DOSE),
        age_decade=np.array([float(age[0]) if age[:1].isdecimal() else math.nan for age in column["Age"]]),
        height=_numbers(table, names, column, NUMERIC[1]),
        weight=_numbers(table, names, column, NUMERIC[2]),
        inr=_numbers(table, names, column, NUMERIC[3]),
        categories=np.stack([codes for _, codes in attributes], axis=1),
        category_names=tuple(categorical),
        levels=tuple(levels for levels, _ in attributes),
        comorbidities=matrix,
        comorbidity_words=words,
        medications=np.array(column[TEXT]),
    )
    return with_missing(loaded, DESCRIPTION, release)


def _numbers(table: Table, names: list[str], column: Mapping[str, list[str]], name: str) -> Floats:
    values = np.empty(len(column[name]))
    for index, entry in enumerate(column[name]):
        try:
            values[index] = math.nan if entry in ("", MISSING) else float(entry)
        except ValueError:
            problem = f"column {names.index(name) + 1} ({name}) is {entry[:30]!r}, not a number"
            raise table.damaged(problem, index + 2) from None
    return values


def _levels(entries: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Empty is NA, and NA is a level even where nobody has it, as in the loader that the paper used."""
    filled = [entry or MISSING for entry in entries]
    return coded(filled, (MISSING, *sorted(set(filled) - {MISSING})))


def _words(entries: Sequence[str]) -> tuple[tuple[str, ...], scipy.sparse.csr_array]:
    """Return (the phrases between semicolons, in lower case; which patient has which)."""
    phrases = [sorted({phrase.strip() for phrase in entry.lower().split(";")}) for entry in entries]
    known, place = coded([phrase for some in phrases for phrase in some])
    row = np.repeat(np.arange(len(phrases)), [len(some) for some in phrases])
    shape = (len(phrases), len(known))
    return known, scipy.sparse.csr_array(scipy.sparse.coo_array((np.ones(place.size), (row, place)), shape=shape))


def _filled(column: Floats) -> Floats:
    known = ~np.isnan(column)
    return np.where(known, column, column[known].mean() if known.any() else 0.0)
