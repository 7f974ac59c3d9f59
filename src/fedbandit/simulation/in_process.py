"""The simulator: both sides in one process, every message carried at once and counted.

The nodes are those of a deployment. The engine asks the client side to play until a turn has something to send, then
carries envelopes to and fro until all is quiet, and books them on that turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from fedbandit.core.algorithm import Algorithm, Setting
from fedbandit.core.arrays import Floats
from fedbandit.core.environment import Environment
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Cadence, Clients, Decided, Federation
from fedbandit.core.lots import propensity_without_lot
from fedbandit.core.randomness import ClientStreams
from fedbandit.core.shortcuts import RoundsShortcut, TurnsShortcut
from fedbandit.core.turns import Duels, Observations, Turns
from fedbandit.kernels.shared.compiled import starting
from fedbandit.protocol.envelope import Envelope
from fedbandit.simulation.epochs import Epochs
from fedbandit.simulation.release_noise import ReleaseNoise
from fedbandit.simulation.room import require_room
from fedbandit.simulation.trace import Trace
from fedbandit.simulation.wire import Wire, begin

Play = Callable[[Wire, Turns, ClientStreams, Trace, int], None]
BLOCK_BYTES = 1 << 22  # features of a block of turns: small enough for the processor's cache


def simulate(
    algorithm: Algorithm,
    environment: Environment,
    turns: int,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    begun: Wire | None = None,
) -> tuple[Trace, Wire]:
    """Run an algorithm on an environment; return the trace, and both nodes as they ended.

    `progress` is called with the number of turns done, after each block of turns. `begun` are nodes of the same
    algorithm and sizes that have a past: the run goes on from what they know, and they stay as they are.
    """
    setting = _setting(algorithm, environment, turns, seed)
    require_room(algorithm, environment, setting, turns)
    with starting():  # where an algorithm imports what only it needs
        sides = algorithm.federation(setting)
    trace = Trace.empty(turns)
    wire = begin(sides, setting.clients, trace.ledger) if begun is None else begun.copied(trace.ledger)
    wire.noise = ReleaseNoise(seed, environment.release_noise())
    nodes = wire.clients, wire.server
    streams = ClientStreams(seed)
    play = _player(sides)
    epochs = Epochs(algorithm, environment)
    done = 0
    for block in environment.turns(turns, seed, _block_length(setting, algorithm.acts_in_rounds)):
        check_kind(algorithm, environment, block)
        check_draws(algorithm, wire.clients.side.draws, block)
        if algorithm.acts_in_rounds:
            check_rounds(block, setting.clients, done, _taking_turns(environment))
        for piece in epochs.pieces(block, done, *nodes):
            play(wire, piece, streams, trace, done)
            done += len(piece)
        if progress is not None:
            progress(done)
    return trace, wire


def _player(sides: Federation) -> Play:
    if isinstance(sides.shortcut, TurnsShortcut):
        return partial(_play_turns_by_shortcut, sides.shortcut)
    if sides.shortcut is not None:
        return partial(_play_rounds_by_shortcut, sides.shortcut)
    return _play_rounds if sides.clients.cadence is Cadence.ROUND else _play_turns


def check_kind(algorithm: Algorithm, environment: Environment, block: Turns) -> None:
    """Refuse a world that offers or answers in another way than the algorithm understands."""
    offers = {False: "features of each arm", True: "one context for all arms"}
    answers = {False: "rewards", True: "duels"}
    wanted = f"{offers[algorithm.shares_context]} and {answers[algorithm.duels]}"
    found = f"{offers[block.features.ndim == 2]} and {answers[isinstance(block.outcomes, Duels)]}"
    if wanted != found:
        raise InvalidInput(
            f"{algorithm.id} needs {wanted}, but {environment.id} has {found}: choose another of the two"
        )


def check_draws(algorithm: Algorithm, needed: int, block: Turns) -> None:
    """Refuse a world that fixes fewer standard normals a turn than a choice needs."""
    if block.draws is not None and block.draws.shape[1] < needed:
        raise InvalidInput(
            f"draws has {block.draws.shape[1]} numbers a turn, but {algorithm.id} needs {needed} with these "
            f"parameters: record at least {needed}"
        )


def _taking_turns(environment: Environment) -> str:
    """Return what lets the clients of a world take turns."""
    if "arrivals" in {each.name for each in environment.describe()}:
        return "set arrivals=round-robin in the world"
    return "give a world whose clients take turns"


def check_rounds(block: Turns, clients: int, first: int = 0, remedy: str = "order the turns so") -> None:
    """Refuse a block that does not divide into rounds in each of which every client has one turn."""
    rounds = block.client.reshape(-1, clients)
    wrong = (np.sort(rounds, axis=1) != np.arange(clients)).any(axis=1)
    if wrong.any():
        round_ = int(np.argmax(wrong))
        seen: set[int] = set()
        for place, client in enumerate(rounds[round_].tolist()):
            if client in seen:
                turn = first + round_ * clients + place
                raise InvalidInput(
                    f"client[{turn}] is {client}, which already had its turn in round {turn // clients + 1}: "
                    f"this algorithm acts in rounds of {clients} turns, in which every client appears once: {remedy}"
                )
            seen.add(client)


def _setting(algorithm: Algorithm, environment: Environment, turns: int, seed: int) -> Setting:
    if not isinstance(turns, int | np.integer) or turns < 1:
        raise InvalidInput(f"turns must be a whole number of at least 1, not {turns!r}: give how many turns to run")
    size = environment.setting()
    if not algorithm.acts_in_rounds:
        return Setting(size.clients, size.arms, size.dimension, turns)
    if turns % size.clients:
        last = turns - turns % size.clients
        for start, block in enumerate(environment.turns(last, seed, size.clients)):
            # The first turn at fault may lie before.
            check_rounds(block, size.clients, start * size.clients, _taking_turns(environment))
        raise InvalidInput(
            f"the last round, from turn {last} on, is incomplete: {algorithm.id} acts in rounds of "
            f"{size.clients} clients, so give a multiple of {size.clients} turns, not {turns}"
        )
    return Setting(size.clients, size.arms, size.dimension, turns // size.clients)


def _block_length(size: Setting, in_rounds: bool) -> int:
    length = max(1, min(4096, BLOCK_BYTES // (8 * size.arms * size.dimension)))
    return max(1, length // size.clients) * size.clients if in_rounds else length


def _play_turns(wire: Wire, block: Turns, streams: ClientStreams, trace: Trace, offset: int) -> None:
    draws = _draws(block, streams, wire.clients.side)
    decided = []
    turn = 0
    while turn < len(block):
        wire.noise.supply(wire.clients)
        chosen, envelopes, asks = wire.clients.play(block, turn, draws)
        decided.append(chosen)
        turn += len(chosen.choices)
        if envelopes:
            _exchange(wire, envelopes, trace, offset + turn - (not asks))
    _note(trace, block, _joined(decided), wire.clients.side, offset)


def _play_rounds(wire: Wire, block: Turns, streams: ClientStreams, trace: Trace, offset: int) -> None:
    clients = wire.clients.clients
    draws = _draws(block, streams, wire.clients.side)
    decided = []
    for start in range(0, len(block), clients):
        order = start + np.argsort(block.client[start : start + clients], kind="stable")
        who, features = block.client[order], block.features[order]
        choice, propensity, _ = wire.clients.decide(who, features, draws[order])
        feedback = block.outcomes.feedback(order, choice)
        envelopes = wire.clients.learn(who, Observations(features, choice, feedback))
        if envelopes:
            _exchange(wire, envelopes, trace, offset + start + clients - 1)
        in_file_order = np.argsort(order)
        decided.append(Decided(choice[in_file_order], None if propensity is None else propensity[in_file_order]))
    _note(trace, block, _joined(decided), wire.clients.side, offset)


def _play_rounds_by_shortcut(
    shortcut: RoundsShortcut, wire: Wire, block: Turns, streams: ClientStreams, trace: Trace, offset: int
) -> None:
    clients = wire.clients.clients
    starts = np.arange(0, len(block), clients)
    order = (starts[:, np.newaxis] + np.argsort(block.client.reshape(-1, clients), axis=1)).ravel()
    turns = block.take(order)
    draws = _draws(turns, streams, wire.clients.side)
    played = shortcut.simulate_rounds(wire.clients.state, wire.server.state, turns, draws)
    before = trace.ledger.totals
    for each in played.exchange:
        trace.ledger.record(each, len(starts))
    trace.book(offset + starts + clients - 1, before, len(starts))
    choices = np.empty_like(played.choices)
    choices[order] = played.choices
    _note(trace, block, Decided(choices), wire.clients.side, offset)


def _play_turns_by_shortcut(
    shortcut: TurnsShortcut, wire: Wire, block: Turns, streams: ClientStreams, trace: Trace, offset: int
) -> None:
    draws = _draws(block, streams, wire.clients.side)
    played = shortcut.simulate_turns(wire.clients.state, wire.server.state, block, draws)
    trace.book_each(slice(offset, offset + len(block)), played.exchanged)
    _note(trace, block, Decided(played.choices, played.propensity), wire.clients.side, offset)


def _exchange(wire: Wire, envelopes: list[Envelope], trace: Trace, turn: int) -> None:
    before = trace.ledger.totals
    wire.carry(envelopes)
    trace.book(turn, before)


def _draws(block: Turns, streams: ClientStreams, side: Clients) -> Floats:
    """Return the standard normals of each turn's choice: the world's, or else those of the clients' streams."""
    if block.draws is None:
        return streams.normals(block.client, side.draws)
    return np.ascontiguousarray(block.draws[:, : side.draws])


def _joined(decided: list[Decided]) -> Decided:
    choices = np.concatenate([each.choices for each in decided])
    known = [each.propensity for each in decided if each.propensity is not None]
    return Decided(choices, np.concatenate(known) if known else None)


def _note(trace: Trace, block: Turns, decided: Decided, side: Clients, offset: int) -> None:
    choices, propensity, _ = decided
    now = slice(offset, offset + len(block))
    if choices.ndim > trace.choice.ndim:
        trace.choice = np.zeros((len(trace.client), choices.shape[1]), dtype=np.int64)
    everything = slice(None)
    trace.client[now] = block.client
    trace.choice[now] = choices
    trace.propensity[now] = propensity_without_lot(side) if propensity is None else propensity
    trace.reward[now] = block.outcomes.reward(everything, choices)
    trace.regret[now] = block.outcomes.regret(everything, choices)
