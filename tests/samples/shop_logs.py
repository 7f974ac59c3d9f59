"""Logs of shops that are large enough to be advised by."""

from __future__ import annotations

import numpy as np

from samples.small_logs import as_csv

SHOPS = 6
FEATURES = """
[context]
segment = { kind = "category", levels = ["new", "gold"], unknown = "refuse" }
[arm]
price = { kind = "number", range = [0, 500] }
[cross]
taste = { of = ["segment", "price"] }
"""


def shop_rows(count=900, seed=0, differ=0.0, noise=0.2):
    """Decisions between three articles at random; each shop may see prices in its own way."""
    rng = np.random.default_rng(seed)
    taste = {"new": -0.5, "gold": 0.5}
    own = differ * rng.standard_normal(SHOPS)
    found = []
    for number in range(count):
        shop, segment = int(rng.integers(SHOPS)), ["new", "gold"][rng.integers(2)]
        arms = [{"id": f"A-{each}", "price": round(float(rng.uniform(0, 500)), 2)} for each in range(3)]
        chosen = arms[rng.integers(3)]
        mean = 0.5 + (taste[segment] + own[shop]) * (chosen["price"] / 250 - 1)
        found.append(
            {
                "time": 600.0 * number, "site": f"shop {shop}", "segment": segment, "choice": chosen["id"],
                "reward": round(mean + noise * float(rng.standard_normal()), 4), "propensity": 1 / 3, "arms": arms,
            }
        )  # fmt: skip
    return found


def shop_files(folder, **given):
    """Write `log.csv` and `features.toml`; return their paths."""
    features = folder / "features.toml"
    features.write_text(FEATURES, encoding="utf-8")
    return as_csv(shop_rows(**given), folder / "log.csv"), features
