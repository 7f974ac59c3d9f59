"""Rewards that no linear model fits: weights travel. One file an algorithm; `shared` has what they have in common."""
