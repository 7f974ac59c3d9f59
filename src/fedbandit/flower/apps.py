"""The two apps of Flower: what it needs to run a federation.

A `ClientApp` answers two kinds of messages: `query`, by which a site says its number, and `train`, by which it takes in
frames, acts, and hands over frames. Between messages it is bytes in Flower's context.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.durable.journals.journal import Journal, MemoryJournal
from fedbandit.durable.journals.sqlite import SqliteJournal
from fedbandit.flower.plan import Plan, read_plan
from fedbandit.flower.rounds import Rounds, SitesSilent
from fedbandit.flower.site import FlowerSite, Request, Turn
from fedbandit.site.opening import fresh_number
from fedbandit.wire.state import encode_state

log = logging.getLogger("fedbandit.flower")

RECORD = "fedbandit"  # the record of our messages, and of what a context keeps
POLL_SECONDS = 0.5  # between two looks for SuperNodes that are not there yet
INTRODUCTION, TURN = "query", "train"  # types of messages


def client_app(play: Callable[[Turn], None], federation: Mapping[str, Any] | None = None) -> Any:
    """Return the ClientApp of a federation: `play` is called with a `Turn` whenever the site is to act.

    What the federation has agreed on is in the configuration of the run (`fedbandit.flower.plan` lists the keys); an
    app that is run from Python is given it as `federation`.
    """
    flwr = _flower()
    app = flwr.clientapp.ClientApp()

    @app.query()  # type: ignore[untyped-decorator, unused-ignore]
    def introduce(message: Any, context: Any) -> Any:
        site = _site(_plan(federation, context), context)
        _keep(flwr, site, context)
        return _reply(flwr, message, {"number": site.number})

    @app.train()  # type: ignore[untyped-decorator, unused-ignore]
    def take_turn(message: Any, context: Any) -> Any:
        said = message.content[RECORD]
        site = _site(_plan(federation, context), context)
        frames = site.answer(Request(list(said["frames"]), int(said["round"])), play, context.node_config)
        _keep(flwr, site, context)
        return _reply(flwr, message, {"frames": frames})

    return app


def server_app(federation: Mapping[str, Any] | None = None) -> Any:
    """Return the ServerApp of a federation, whose keys are those of `client_app`.

    When all rounds are played, what the server knows and what was carried is in its context's state, under `fedbandit`.
    """
    flwr = _flower()
    app = flwr.serverapp.ServerApp()

    @app.main()  # type: ignore[untyped-decorator, unused-ignore]
    def main(grid: Any, context: Any) -> None:
        plan = _plan(federation, context)
        journal: Journal = SqliteJournal(plan.journal) if plan.journal else MemoryJournal()
        try:
            rounds = Rounds(plan, journal, GridCarrier(flwr, grid, plan))
            rounds.play()
        finally:
            journal.close()
        ledger = rounds.server.ledger
        told = {"messages": ledger.messages, "bytes": ledger.bytes, "left_out": rounds.left_out}
        state = encode_state(rounds.server.node.state)
        context.state[RECORD] = flwr.app.ConfigRecord({"state": state, **told})
        log.info("%d rounds played, %d messages of %d bytes, %d turns missed", plan.rounds, *told.values())

    return app


class GridCarrier:
    """Carries requests to the SuperNodes of Flower's grid, by the numbers of their sites."""

    def __init__(self, flwr: Any, grid: Any, plan: Plan) -> None:
        """Wait until there are as many SuperNodes as sites, and ask each for its number."""
        self._flwr, self._grid, self._plan = flwr, grid, plan
        self._nodes: dict[int, int] = {}  # by number of the site
        self._known: set[int] = set()
        clients = plan.charter.setting.clients
        while len(nodes := set(grid.get_node_ids())) < clients:
            time.sleep(POLL_SECONDS)
        if len(nodes) > clients:
            raise InvalidInput(
                f"there are {len(nodes)} SuperNodes, but fedbandit.clients is {clients}: give as many as there are"
            )
        self._meet(nodes)
        if missing := sorted(set(range(clients)) - self._nodes.keys()):
            listed = ", ".join(map(str, missing))
            raise SitesSilent(f"sites {listed} have not introduced themselves: see the warnings above, and start them")

    def exchange(self, requests: dict[int, Request], seconds: float | None) -> dict[int, list[bytes]]:
        """Send all at once; a SuperNode that was started anew is asked for its number first."""
        if strangers := set(self._grid.get_node_ids()) - self._known:
            self._meet(strangers)
        contents = {
            self._nodes[site]: {"frames": request.frames, "round": request.round} for site, request in requests.items()
        }
        replies = self._ask(TURN, contents, seconds)
        return {site: list(replies[node]["frames"]) for site, node in self._nodes.items() if node in replies}

    def _meet(self, nodes: Iterable[int]) -> None:
        """Ask SuperNodes for their numbers; one that was started anew takes the place of the one before it."""
        replies = self._ask(INTRODUCTION, {node: {} for node in nodes}, self._plan.deadline)
        met = {node: int(reply["number"]) for node, reply in replies.items()}
        for number, count in Counter(met.values()).items():
            if count > 1:
                raise InvalidInput(f"{count} SuperNodes have partition-id {number}: give each one of its own")
        self._known |= met.keys()
        self._nodes |= {number: node for node, number in met.items()}

    def _ask(self, kind: str, contents: dict[int, dict[str, Any]], seconds: float | None) -> dict[int, Any]:
        """Return the records that nodes answer; one that fails is told of, and has none."""
        app = self._flwr.app
        messages = [
            app.Message(app.RecordDict({RECORD: app.ConfigRecord(content)}), dst_node_id=node, message_type=kind)
            for node, content in contents.items()
        ]
        found = {}
        for reply in self._grid.send_and_receive(messages, timeout=seconds):
            node = reply.metadata.src_node_id
            if reply.has_error():
                log.warning("SuperNode %d has failed: %s", node, reply.error.reason)
            else:
                found[node] = reply.content[RECORD]
        return found


def _plan(federation: Mapping[str, Any] | None, context: Any) -> Plan:
    if federation is None:
        return read_plan(context.run_config)
    return read_plan({f"{RECORD}.{name}": value for name, value in _flat(federation).items()})


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return tables within tables as Flower does: one table, whose keys have dots."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {before + name: value}
    return flat


def _site(plan: Plan, context: Any) -> FlowerSite:
    kept = bytes(context.state[RECORD]["site"]) if RECORD in context.state else None
    return FlowerSite(plan, context.node_config.get("partition-id"), kept, fresh_number())


def _keep(flwr: Any, site: FlowerSite, context: Any) -> None:
    context.state[RECORD] = flwr.app.ConfigRecord({"site": site.kept()})


def _reply(flwr: Any, message: Any, content: dict[str, Any]) -> Any:
    records = flwr.app.RecordDict({RECORD: flwr.app.ConfigRecord(content)})
    return flwr.app.Message(records, reply_to=message)


def _flower() -> Any:
    try:
        import flwr.app
        import flwr.clientapp
        import flwr.serverapp
    except ImportError:
        raise InvalidInput("apps of Flower need flwr: install fedbandit with its extra flower") from None
    return flwr
