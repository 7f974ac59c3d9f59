"""Both sides of a row of the table in `shared.ways`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fedbandit.algorithms.linear.shared.answering_server import AnsweringServer
from fedbandit.algorithms.linear.shared.clients import LinearClients
from fedbandit.algorithms.linear.shared.family import LinearAlgorithm, log_growth, per_client
from fedbandit.algorithms.linear.shared.push_server import PushServer
from fedbandit.algorithms.linear.shared.restarting import WatchingClients, restarting
from fedbandit.algorithms.linear.shared.ways import Delivery, Way
from fedbandit.core.algorithm import Setting
from fedbandit.core.interfaces import Federation

Thresholds = float | tuple[float, ...]


def compose(
    algorithm: LinearAlgorithm, setting: Setting, way: Way, uploads: Thresholds, downloads: Thresholds
) -> Federation:
    """Return both sides of an asynchronous algorithm, whose thresholds are ratios of determinants."""
    fades = algorithm.discount < 1.0 or algorithm.restart_quorum > 0
    way = replace(way, fades=fades, smallest_upload=algorithm.smallest_upload)
    growths = log_growth(per_client("upload_threshold", uploads, setting.clients))
    owed = log_growth(per_client("download_threshold", downloads, setting.clients))
    greets = owed < np.inf if is_met(way) else np.zeros(setting.clients, dtype=np.bool_)
    kind = PushServer if way.delivery in (Delivery.PUSH, Delivery.NONE) else AnsweringServer
    server = kind(algorithm.ridge, setting.dimension, owed, way)
    told = algorithm.rule(setting.dimension), setting.dimension, growths, way, greets
    if not algorithm.restart_quorum:
        return Federation(LinearClients(*told), server)
    watching = WatchingClients(*told, noise=algorithm.noise)
    return restarting(watching, server, algorithm.restart_quorum, setting.clients)


def is_met(way: Way) -> bool:
    """Tell whether clients say hello after their first turn, so that the server meets them."""
    return way.delivery is Delivery.PUSH and not way.welcome
