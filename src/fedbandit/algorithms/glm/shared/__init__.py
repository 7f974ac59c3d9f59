"""What the generalised linear bandits are composed of: a global update, a local update, and a schedule.

`updates` holds the global updates (an exact regression by gradients, or one Newton step), `solvers` the ways to solve
the regression, `steps` the local updates, `widths` the confidence widths of the lemmas; the schedule is numbers of the
kernels' rule. `clients` and `server` are the two sides that use them, `family` puts all together, and `fedglb_ucb.py`
and `ucb_glm.py`, one folder up, name the compositions.
"""
