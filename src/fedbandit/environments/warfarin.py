"""Warfarin dosing as a bandit: a patient's covariates, three doses, and 1 for the right one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from fedbandit.core.parameters import parameter
from fedbandit.datasets.sets import warfarin
from fedbandit.environments.labelled import Labelled, LabelledRows

NUMBERS = ("own-units", "unit-scale")
DOSES = 3


@dataclass(frozen=True)
class WarfarinDosing(Labelled, id="warfarin", title="warfarin dosing: low, medium or high (IWPC, PharmGKB)"):
    """The 5,528 patients with a known dose; arms: low (below 21 mg a week), medium, high (above 49).

    The 745 covariates are 4 numbers (age decade, height, weight, INR), and 0 or 1 for each level of each category and
    each comorbidity word. With `numbers="unit-scale"` the 4 numbers are divided by their largest value.
    """

    numbers: str = parameter("own-units", "scale of the four numeric covariates", choices=NUMBERS)

    def data_set(self) -> tuple[str, str]:
        """Return the data set, and where it is."""
        return warfarin.DESCRIPTION.name, self.path

    def rows(self) -> LabelledRows:
        """Return the patients with a dose."""
        return _patients(self.place(), self.numbers == "unit-scale")


@cache
def _patients(place: str, unit_scale: bool) -> LabelledRows:
    data = warfarin.load(place or None)
    features = data.features()
    if unit_scale:
        scale = np.ones(features.shape[1])
        numbers = len(warfarin.NUMERIC)
        scale[:numbers] = 1.0 / features[:, :numbers].max(axis=0).toarray()
        features = scipy.sparse.csr_array(features @ scipy.sparse.diags_array(scale))
    return LabelledRows(features, data.arms(), DOSES)
