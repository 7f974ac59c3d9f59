"""What the generalised linear bandits are composed of: a global update, a local update, and a schedule.

    server = GlmServer(global update, local update)         clients = GlmClients(rule, global update, local update, width)

`updates` holds the global updates (an exact regression by gradients, or one Newton step), `solvers` the ways to solve
the regression, `steps` the local updates, `widths` the confidence widths of the lemmas; the schedule is numbers of the
kernels' rule. `fedglb_ucb.py` and `ucb_glm.py`, beside this folder, name the compositions.
"""
