"""Ridge regression by rank-one updates, optimistic scores, and the turns of the linear family."""
