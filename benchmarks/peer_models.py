"""What a user would pick instead: contextual bandits of other libraries behind one interface.

Each library gets contexts in the form that it takes, made before the clock runs, and may try six settings of its own:
three of how much it explores and two of how much it regularises, of which the first are its defaults.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from fedbandit.core.arrays import Floats

Settings = Mapping[str, Any]
EACH_ARM = (
    "-q ca --ignore_linear c --ignore_linear a --noconstant"  # of VW: a weight for each arm and number, none else
)


def grid(**values: tuple[Any, ...]) -> tuple[Settings, ...]:
    """Return every combination of values of a library's parameters."""
    return tuple(dict(zip(values, each, strict=True)) for each in product(*values.values()))


class Model(ABC):
    """A contextual bandit: a few arms, and a context that they share."""

    package: ClassVar[str]  # as pip knows it
    module: ClassVar[str]  # as Python does
    name: ClassVar[str]  # of the model
    tried: ClassVar[tuple[Settings, ...]]  # the library's defaults first

    @classmethod
    def together(cls) -> dict[str, Any]:
        """Return what is measured of sites that learn together; most libraries have no such thing."""
        return {}

    @abstractmethod
    def __init__(self, arms: int, dimension: int, settings: Settings, seed: int) -> None:
        """Begin with nothing learnt."""

    @abstractmethod
    def prepared(self, context: Floats) -> Any:
        """Return a context as the library takes it."""

    @abstractmethod
    def choose(self, context: Any) -> int:
        """Return the arm to play."""

    @abstractmethod
    def learn(self, context: Any, arm: int, reward: float) -> None:
        """Take in what the arm that was just chosen earned."""


class Fedbandit(Model):
    """A site in memory: each arm has the context in a block of its own."""

    package, module, name = "fedbandit", "fedbandit", "lean-linucb, a site in memory"
    tried = grid(alpha=(None, 0.3, 0.1), ridge=(0.1, 1.0))

    @classmethod
    def together(cls) -> dict[str, Any]:
        from benchmarks.peer_federated import federated

        return federated()

    def __init__(self, arms: int, dimension: int, settings: Settings, seed: int) -> None:  # noqa: ARG002
        import fedbandit as fb

        self.arms = arms
        self.site = fb.Site("lean-linucb", dimension=arms * dimension, arms=arms, **settings)

    def prepared(self, context: Floats) -> Floats:
        return np.asarray(blocks(context[np.newaxis], self.arms)[0])

    def choose(self, context: Floats) -> int:
        self.decision = self.site.choose(context)
        return int(self.decision.arm)

    def learn(self, context: Floats, arm: int, reward: float) -> None:  # noqa: ARG002
        self.site.learn(self.decision, reward)


class River(Model):
    package, module, name = "river", "river", "LinUCBDisjoint"
    tried = grid(beta=(1.0, 10.0, 100.0), alpha=(1.0, 10.0))  # it believes in noise of variance 1 / beta

    def __init__(self, arms: int, dimension: int, settings: Settings, seed: int) -> None:  # noqa: ARG002
        from river.bandit import LinUCBDisjoint

        self.model, self.arms = LinUCBDisjoint(**settings, seed=seed), list(range(arms))

    def prepared(self, context: Floats) -> dict[str, float]:
        return {f"x{place}": value for place, value in enumerate(context.tolist())}

    def choose(self, context: dict[str, float]) -> int:
        return int(self.model.pull(self.arms, context=context))

    def learn(self, context: dict[str, float], arm: int, reward: float) -> None:
        self.model.update(arm, context, reward)


class MabWiser(Model):
    package, module, name = "mabwiser", "mabwiser", "LinUCB"
    tried = grid(alpha=(1.25, 0.3, 0.1), l2_lambda=(1.0, 0.1))

    def __init__(self, arms: int, dimension: int, settings: Settings, seed: int) -> None:  # noqa: ARG002
        from mabwiser.mab import MAB, LearningPolicy

        self.model, self.is_fitted = MAB(list(range(arms)), LearningPolicy.LinUCB(**settings), seed=seed), False

    def prepared(self, context: Floats) -> list[list[float]]:
        return [context.tolist()]

    def choose(self, context: list[list[float]]) -> int:
        return int(self.model.predict(context)) if self.is_fitted else 0  # it predicts nothing before its first fit

    def learn(self, context: list[list[float]], arm: int, reward: float) -> None:
        fit, self.is_fitted = self.model.partial_fit if self.is_fitted else self.model.fit, True
        fit([arm], [reward], context)


class VowpalWabbit(Model):
    package, module, name = "vowpalwabbit", "vowpalwabbit", "cb_explore_adf, SquareCB"
    tried = grid(gamma_scale=(10, 100, 1000), learning_rate=(0.5, 2.0))

    def __init__(self, arms: int, dimension: int, settings: Settings, seed: int) -> None:  # noqa: ARG002
        from vowpalwabbit import Workspace

        words = " ".join(f"--{name} {value}" for name, value in settings.items())
        self.model = Workspace(f"--cb_explore_adf --squarecb {EACH_ARM} --quiet {words}")
        self.arms = [f"|a arm={arm}" for arm in range(arms)]
        self.rng = np.random.default_rng(seed)

    def prepared(self, context: Floats) -> str:
        return "shared |c " + " ".join(f"x{place}:{value}" for place, value in enumerate(context.tolist()))

    def choose(self, context: str) -> int:
        self.shares = self.model.predict([context, *self.arms])
        return min(int(np.searchsorted(np.cumsum(self.shares), self.rng.random())), len(self.arms) - 1)

    def learn(self, context: str, arm: int, reward: float) -> None:
        lines = [context, *self.arms]
        lines[arm + 1] = f"0:{-reward}:{self.shares[arm]} {self.arms[arm]}"
        self.model.learn(lines)


class BayesianBandits(Model):
    package, module, name = "bayesianbandits", "bayesianbandits", "NormalRegressor, UpperConfidenceBound"
    tried = grid(beta=(1.0, 10.0, 100.0), alpha=(1.0, 10.0))  # as River's; the quantile 0.68 is played

    def __init__(self, arms: int, dimension: int, settings: Settings, seed: int) -> None:  # noqa: ARG002
        from bayesianbandits import Arm, ContextualAgent, NormalRegressor, UpperConfidenceBound

        each = [Arm(arm, learner=NormalRegressor(**settings)) for arm in range(arms)]
        self.model = ContextualAgent(each, UpperConfidenceBound(), random_seed=seed)

    def prepared(self, context: Floats) -> Floats:
        return context[np.newaxis]

    def choose(self, context: Floats) -> int:
        (arm,) = self.model.pull(context)
        return int(arm)

    def learn(self, context: Floats, arm: int, reward: float) -> None:  # noqa: ARG002
        self.model.update(context, np.array([reward]))


class ContextualBandits(Model):
    package, module, name = "contextualbandits", "contextualbandits", "LinUCB"
    tried = grid(alpha=(1.0, 0.3, 0.1), lambda_=(1.0, 0.1))

    def __init__(self, arms: int, dimension: int, settings: Settings, seed: int) -> None:  # noqa: ARG002
        from contextualbandits.online import LinUCB

        self.model = LinUCB(nchoices=arms, **settings, fit_intercept=False, random_state=seed + 1)  # not 0

    def prepared(self, context: Floats) -> Floats:
        return context[np.newaxis]

    def choose(self, context: Floats) -> int:
        return int(self.model.predict(context)[0])

    def learn(self, context: Floats, arm: int, reward: float) -> None:
        self.model.partial_fit(context, np.array([arm]), np.array([reward]))


def blocks(contexts: Floats, arms: int) -> Floats:
    """Return the arms' features: (turns, arms, arms * d), the context in a block of its own for each arm."""
    turns, size = contexts.shape
    features = np.zeros((turns, arms, arms, size))
    features[:, np.arange(arms), np.arange(arms)] = contexts[:, np.newaxis]
    return features.reshape(turns, arms, arms * size)


MODELS: tuple[type[Model], ...] = (Fedbandit, River, MabWiser, VowpalWabbit, BayesianBandits, ContextualBandits)
