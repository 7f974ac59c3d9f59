"""The experiment of "Federated Linear Dueling Bandits" (Huang et al. 2025) on MovieLens (figure 1d)."""

from __future__ import annotations

from fedbandit.experiments.claims import Ordered
from fedbandit.experiments.experiment import Experiment, Point, Quick, Series
from fedbandit.experiments.figures import OverTime

GD, OGD, LDB = "FLDB-GD", "FLDB-OGD", "LDB"
WHO = (Point(world={"answers": "anyone"}, label="anyone"), Point(world={"answers": "own"}, label="own"))

Experiment(
    id="fldb/movielens",
    title="Duels between films of MovieLens 1M (figure 1d)",
    environment="likes",
    world={"dataset": "movielens-1m", "clients": 100, "arms": 5, "dimension": 10},
    rounds=500,
    series=(Series(GD, "fldb-gd", WHO), Series(OGD, "fldb-ogd", WHO), Series(LDB, "ldb", WHO)),
    seeds=10,
    figures=(
        OverTime(title="A user drawn for each turn answers (figure 1d)", name="movielens-anyone", per_client=True,
                 by_round=True, labels=("anyone",)),
        OverTime(title="Each client is answered by one user (beyond the paper)", name="movielens-own", per_client=True,
                 by_round=True, labels=("own",)),
    ),
    claims=(
        Ordered("FLDB-GD has less regret than FLDB-OGD, and that less than LDB (figure 1d)", (GD, OGD, LDB),
                per_client=True, points=("anyone",)),
        Ordered("The same where each client is answered by one user (beyond the paper)", (GD, OGD, LDB),
                per_client=True, points=("own",)),
    ),
    quick=Quick(seeds=2, rounds=100),
    notes=(
        "The paper does not name the release of MovieLens; this is 1M. Of the 200 most active users 20 give the "
        "features and 180 answer. As the paper has it, a user drawn at random answers at each time; utilities are then "
        "those of the average user plus the noise of who was drawn. curvature (kappa_mu) is 0.25."
    ),
).register()  # fmt: skip
