"""Federated contextual bandits: many sites decide locally, learn together, and keep their data.

>>> import fedbandit as fb
>>> world = fb.environment("linear", clients=10, arms=5, dimension=4)
>>> alone = fb.run("local-linucb", world, turns=500)
>>> together = fb.run("async-linucb", world, turns=500)
>>> bool(together.regret[-1] < alone.regret[-1])
True
"""

# The folders first: a folder that is imported later would take the name of its registry.
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedbandit import algorithms as _algorithms
from fedbandit import environments as _environments
from fedbandit.core.algorithm import Algorithm, Setting, algorithms
from fedbandit.core.environment import Environment, environments
from fedbandit.core.errors import FedbanditError, InvalidInput, ProtocolError
from fedbandit.core.version import VERSION
from fedbandit.experiments.experiment import Experiment, experiments
from fedbandit.kernels.shared.garbage import pause_while_compiling as _pause_while_compiling
from fedbandit.results.reproduce import reproduce
from fedbandit.simulation.by_hand import Client, Server
from fedbandit.simulation.result import Result
from fedbandit.simulation.run import algorithm, environment, run

if TYPE_CHECKING:
    from fedbandit.advice.advise import advise
    from fedbandit.evaluation.evaluate import evaluate
    from fedbandit.features.features import Features
    from fedbandit.logs.log import Log
    from fedbandit.site.policy import Policy
    from fedbandit.site.site import Site

_pause_while_compiling()

del _algorithms, _environments, _pause_while_compiling

__version__ = VERSION

__all__ = [
    "Algorithm",
    "Client",
    "Environment",
    "Experiment",
    "Features",
    "FedbanditError",
    "InvalidInput",
    "Log",
    "Policy",
    "ProtocolError",
    "Result",
    "Server",
    "Setting",
    "Site",
    "advise",
    "algorithm",
    "algorithms",
    "environment",
    "environments",
    "evaluate",
    "experiments",
    "reproduce",
    "run",
]


LATER = {  # by folder
    "Features": "features", "Log": "logs", "Policy": "site", "Site": "site", "advise": "advice",
    "evaluate": "evaluation",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load what only deployments and logs need when it is first asked for."""
    if name in LATER:
        return getattr(import_module(f"fedbandit.{LATER[name]}.{name.lower()}"), name)
    raise AttributeError(f"module 'fedbandit' has no attribute {name!r}")
