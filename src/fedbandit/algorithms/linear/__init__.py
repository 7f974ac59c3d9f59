"""Linear rewards: sums of outer products travel. One file an algorithm; `shared` has what they have in common."""
