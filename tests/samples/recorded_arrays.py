"""The arrays of small recorded files, one of each kind."""

from reference.recorded import dueling_rounds, lasso_rounds, linear_turns


def rewards():
    return linear_turns(seed=0, turns=6, clients=3, arms=4, dimension=2)


def duels():
    return dueling_rounds(seed=0, rounds=2, clients=3, arms=4, dimension=2)


def contexts():
    return lasso_rounds(seed=0, rounds=2, clients=3, arms=4, dimension=5)
