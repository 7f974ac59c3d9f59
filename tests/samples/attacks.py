"""What whoever reads an upload of the linear family can compute from it: dV = sum x x^T, db = sum x y."""

import itertools

import numpy as np


def one_observation(gram, moment):
    """x and y of the one observation that sums are over; the sign of both is anybody's guess."""
    values, vectors = np.linalg.eigh(gram)
    x = np.sqrt(values[-1]) * vectors[:, -1]
    return x, float(moment @ x / (x @ x))


def two_unit_arms(gram, moment):
    """Both observations of unit arms: dV has the eigenvalues 1 + x1.x2 and 1 - x1.x2, along x1 + x2 and x1 - x2."""
    values, vectors = np.linalg.eigh(gram)
    sides = [np.sqrt(max(0.0, values[place])) * vectors[:, place] for place in (-1, -2)]
    arms = np.array([sides[0] + sides[1], sides[0] - sides[1]]) / np.sqrt(2.0)
    return arms, np.linalg.lstsq(arms.T, moment, rcond=None)[0]


def counts_of_known_arms(gram, catalogue):
    """How often each arm of a known catalogue was chosen: dV is linear in that."""
    upper = np.triu_indices(len(gram))
    columns = np.array([np.outer(arm, arm)[upper] for arm in catalogue]).T
    return np.rint(np.linalg.lstsq(columns, gram[upper], rcond=None)[0]).astype(int)


def rewards_of_known_arms(moment, arms):
    """Rewards of observations whose arms are known, by linear algebra: right while they are independent."""
    return np.linalg.lstsq(arms.T, moment, rcond=None)[0]


def bits_of_known_arms(moment, arms):
    """All ways in which rewards of 0 and 1 give these sums, by trying them all."""
    tried = np.array(list(itertools.product((0.0, 1.0), repeat=len(arms))))
    return tried[np.abs(tried @ arms - moment).max(axis=1) < 1e-9]
