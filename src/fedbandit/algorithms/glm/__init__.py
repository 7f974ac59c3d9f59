"""Generalised linear rewards: gradients travel. One file an algorithm; `shared` has what they are composed of."""
