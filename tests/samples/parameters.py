"""Parameters of every kind and limit that can be declared."""

from dataclasses import dataclass

from fedbandit.core.errors import InvalidInput
from fedbandit.core.parameters import Parameters, parameter


@dataclass(frozen=True)
class Sample(Parameters):
    positive: float = parameter(1.0, "above nothing", symbol="lambda", above=0)
    share: float = parameter(0.5, "a probability", above=0, below=1)
    closed: float = parameter(0.0, "both ends allowed", at_least=-1, at_most=1)
    growth: float | tuple[float, ...] = parameter(2.0, "one number or one a client", at_least=1, infinite=True)
    count: int = parameter(3, "how many", at_least=1)
    width: float | None = parameter(None, "a fixed width, or the theory's", at_least=0)
    way: str = parameter("ucb", "how to explore", choices=("ucb", "thompson"))
    switch: bool = parameter(False, "on or off")
    text: str = parameter("", "anything")
    either: float | str = parameter("auto", "a number or a word")


def refusal(make):
    """The sentence with which a value is refused; nothing if it is kept. Any other error goes through."""
    try:
        make()
    except InvalidInput as error:
        return str(error)
    return ""
