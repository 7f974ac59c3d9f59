"""Sides around sides: each member of the protocols is handed on, and what a side can do does not depend on Python."""

import inspect
from types import SimpleNamespace

import pytest

import fedbandit as fb
from fedbandit.core import deadlines, erasing, forgetting, taking_many
from fedbandit.core.around import ClientsAround, ServerAround, WithOwnState, innermost
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Clients, Server
from fedbandit.protocol.charter import Charter
from fedbandit.protocol.securing import AGGREGABLE
from samples.members import members_of, methods_of

SETTING = fb.Setting(clients=5, arms=4, dimension=3, horizon=10)
CAN = [
    deadlines.ChecksSums, deadlines.GivesUp, deadlines.MeetsDeadlines, erasing.CountsOn, erasing.TellsAnew,
    forgetting.Forgets, taking_many.TakesMany,
]  # fmt: skip


class Within:
    """A side that notes how it is asked; what it says of itself is the name of what it is asked for."""

    def __init__(self, protocol):
        self.methods, self.asked = methods_of(protocol), []

    def __getattr__(self, name):
        if name not in self.methods:
            return f"its {name}"
        return lambda *given: self.asked.append((name, given)) or f"answer of {name}"


class BoxedClients(WithOwnState, ClientsAround):
    pass


class BoxedServer(WithOwnState, ServerAround):
    pass


@pytest.mark.parametrize(("protocol", "around"), [(Clients, BoxedClients), (Server, BoxedServer)])
def test_every_member_is_that_of_the_side_within(protocol, around):
    within = Within(protocol)
    side = around(within)
    for name in members_of(protocol) - set(methods_of(protocol)):
        assert vars(side).get(name) == f"its {name}"
    for name in methods_of(protocol):
        state = SimpleNamespace(within="inner state")
        _, *taken = inspect.signature(getattr(protocol, name)).parameters
        given = [state if each == "state" else f"given {each}" for each in taken]
        answer, returned = f"answer of {name}", getattr(side, name)(*given)
        handed_on = tuple("inner state" if each is state else each for each in given)
        assert within.asked.pop() == (name, handed_on)
        if name in ("revised", "without_secrets"):
            assert (returned, state.within) == (state, answer), f"{name} does not put what it returns into the box"
        else:
            assert returned in (answer, None)


def test_the_innermost_side_has_nothing_around_it():
    plain = fb.algorithm("async-linucb").build(SETTING)
    assert innermost(plain.clients) is plain.clients
    assert innermost(BoxedClients(BoxedClients(plain.clients))) is plain.clients
    assert innermost(BoxedServer(plain.server)) is plain.server


def ways_to_run(name):
    """Yield both sides of an algorithm with all that can be around them."""
    kind = fb.algorithms[name]
    known = {each.name for each in kind.describe()}
    given = {"epsilon": 1.0} if "epsilon" in known else {"weight": "ramp:5"} if name == "fn-ucb-less" else {}
    for more in ({}, {"explore": 0.1}, {"restart_quorum": 2}, {"explore": 0.1, "restart_quorum": 2}):
        if set(more) <= known and not (kind.duels and "explore" in more):
            try:
                yield kind(**given, **more).federation(SETTING)
            except InvalidInput:  # one that does not hear of others restarts nothing
                assert "restart_quorum" in more
            if name in AGGREGABLE:
                yield Charter.named(name, SETTING, smallest_cohort=3, **given, **more).build()


@pytest.mark.parametrize("name", list(fb.algorithms))
def test_what_a_side_can_do_is_the_same_however_a_protocol_is_looked_for(name):
    """By `hasattr`, as Python 3.11 does, and without it, as later ones do."""
    absent = object()
    for sides in ways_to_run(name):
        for side in sides.clients, sides.server:
            for each in CAN:
                static = all(inspect.getattr_static(side, one, absent) is not absent for one in members_of(each))
                dynamic = all(hasattr(side, one) for one in members_of(each))
                assert isinstance(side, each) == static == dynamic, (type(side).__name__, each.__name__)
        assert Clients in type(sides.clients).__mro__
        assert Server in type(sides.server).__mro__


@pytest.mark.parametrize("name", AGGREGABLE)
def test_a_secured_server_waits_and_checks_and_can_do_nothing_else(name):
    given = {"weight": "ramp:5"} if name == "fn-ucb-less" else {}
    server = Charter.named(name, SETTING, smallest_cohort=3, **given).build().server
    can = {each for each in CAN if isinstance(server, each)}
    assert can == {deadlines.ChecksSums, deadlines.GivesUp, deadlines.MeetsDeadlines}
