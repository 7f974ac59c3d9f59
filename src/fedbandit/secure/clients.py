"""The client side of an algorithm whose uploads are aggregated securely: one site.

What the side within would upload stays with it until all are called. The part that it then contributes is given back to
it whenever it is certain that no sum has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedbandit.core.around import ClientsAround, WithOwnState, innermost
from fedbandit.core.arrays import Ints
from fedbandit.core.drawn import Drawn, Identity
from fedbandit.core.errors import InvalidInput
from fedbandit.core.interfaces import Clients, Outgoing, TurnByTurn
from fedbandit.core.messages import Download, Message, Upload
from fedbandit.core.turns import Observations
from fedbandit.secure.member import IDLE, KEYED, MASKED, SECRET_BYTES, SHARED, Member, Participation, Secret, statement
from fedbandit.secure.messages import (
    DOWNLOADS,
    KEYS_BYTES,
    SIGNATURE_BYTES,
    AnyDownload,
    Call,
    Keys,
    Left,
    Parcels,
    Present,
    Question,
    Ready,
    Result,
    Roster,
    row_of,
)
from fedbandit.secure.parts import Parts, SecureCohort


class SecureClients(TurnByTurn, WithOwnState, ClientsAround):
    """A client side that sends nothing of its own but under masks; in all else it is the side within.

    It forgets nothing: what a discount would age is hidden (`protocol.securing`).
    """

    def __init__(
        self,
        within: Clients,
        parts: Parts,
        part: Participation,
        sizes: dict[str, int],
        opened: Callable[[bytes], Message],
    ) -> None:
        """Take the side, how its sums are added up, the site's part in that, sizes, and what reads its messages."""
        super().__init__(within)
        self.kinds, self.sizes = DOWNLOADS, sizes
        self.number_bytes = 8  # whatever the numbers of the side within have
        self.secret_bytes = SECRET_BYTES  # that a site draws for an answer
        self.parts = parts
        self.part = part
        self._side = innermost(within)  # whose sums are added up; what is around it chooses, and has no state
        self._opened = opened

    def start(self, clients: int) -> SecureCohort:
        """Return a site that has seen nothing."""
        if clients != 1:
            raise InvalidInput(f"secure_aggregation is for one site, not for a cohort of {clients}: give each its own")
        return self.parts.cohort(self.within.start(1), Member())

    def without_secrets(self, state: SecureCohort) -> SecureCohort:
        """Return the state as a file of a policy may hold it: without the keys of an aggregation that is under way."""
        return self.parts.cohort(self.within.without_secrets(state.within), Member())

    def receive_late(self, state: SecureCohort, to: Ints, message: Any, lacks: Ints) -> Sequence[Outgoing[Upload]]:  # noqa: ARG002
        """Take in a download: what of a site's parts is in sums, each result tells by itself."""
        return self.receive(state, to, message)

    # What is aggregated.

    def learn(self, state: SecureCohort, who: Ints, seen: Observations) -> Sequence[Outgoing[Upload]]:
        """Take in what was observed; where it would be sent now, ask for an aggregation in place of that."""
        outgoing = self.within.learn(state.within, who, seen)
        is_enough = [self.parts.keep(self._side, state, each.message) for each in outgoing]
        if not any(is_enough) or state.has_called:
            return ()
        state.owes_call = state.member.stage != IDLE
        state.has_called = not state.owes_call
        return (Outgoing(who, Ready()),) if state.has_called else ()

    def check(self, state: SecureCohort, message: AnyDownload, identity: Identity) -> None:
        """Raise ProtocolError if this site does not answer a download, which it then has not heard."""
        member = state.member
        self._said(message)
        if not isinstance(message, Roster | Parcels | Present) or not self._fits(member, message):
            return
        if isinstance(message, Roster):
            self.part.check_roster(message)
            for client in np.flatnonzero(message.observations > 0).tolist():
                keys, observations = message.keys[client].tobytes(), int(message.observations[client])
                said = statement(message.version, message.step, client, keys, observations)
                vouched = message.signatures[client].tobytes() + message.certificates[client].tobytes()
                identity.check(client, said, vouched)
        elif isinstance(message, Parcels):
            self.part.check_parcels(member, message)
        else:
            self.part.check_present(member, message)

    def receive(self, state: SecureCohort, to: Ints, message: Any) -> Sequence[Outgoing[Upload]]:
        """Take in a download that needs no random bytes."""
        return self.receive_drawn(state, to, message, None)

    def receive_drawn(
        self, state: SecureCohort, to: Ints, message: AnyDownload, drawn: Drawn | None
    ) -> Sequence[Outgoing[Upload]]:
        """Take in a download; return the answer to the step of the aggregation that it is part of."""
        member = state.member
        if isinstance(message, Call | Result):
            self._resolve(state, int(message.counted[self.part.number]))
            state.has_called = False
        if isinstance(message, Call):
            return (Outgoing(to, self._join(state, message, drawn)),)
        if isinstance(message, Result):
            return self._finish(state, to, self._said(message))
        if not self._fits(member, message):
            return self._leave(state, to, message)
        if isinstance(message, Roster):
            return (Outgoing(to, self.part.shares(member, message)),)
        if isinstance(message, Parcels):
            return (Outgoing(to, self.part.masked(member, message)),)
        return (Outgoing(to, self.part.unmask(member, message)),)

    def _fits(self, member: Member, message: Roster | Parcels | Present) -> bool:
        stage = {Roster: KEYED, Parcels: SHARED, Present: MASKED}[type(message)]
        if not member.is_in(message.version, message.step) or member.stage != stage:
            return False
        return not isinstance(message, Roster) or self.part.is_listed(member, message)

    def _resolve(self, state: SecureCohort, counted: int) -> None:
        """Let the part of the last aggregation go if it was counted there, and else keep it."""
        member = state.member
        is_in = member.stage == MASKED and counted == member.version
        if member.stage in (KEYED, SHARED, MASKED) and not is_in:
            self._put_back(state)
        member.clear()

    def _put_back(self, state: SecureCohort) -> None:
        if not state.member.step:  # later steps ask for answers, which are made anew
            self.parts.put_back(self._side, state, state.member.part, state.member.observations)

    def _join(self, state: SecureCohort, call: Call, drawn: Drawn | None) -> Keys:
        """Take all that there is as the part of this aggregation, or an answer, and tell the keys for it."""
        member = state.member
        member.version, member.step = call.version, call.step
        member.part, member.observations = self.parts.take(self._side, state, self._said(call))
        state.owes_call &= call.step > 0
        has_part = member.observations and np.isfinite(member.part).all()
        vouched = drawn.vouch(self._statement(member, drawn)) if drawn is not None and has_part else b""
        if not vouched or drawn is None:  # it has nothing that can be summed up, or nobody can sign its keys now
            if member.observations:
                self._put_back(state)
            member.clear()
            nothing = row_of(bytes(KEYS_BYTES)), row_of(bytes(SIGNATURE_BYTES)), row_of(bytes(self._certificate))
            return Keys(np.array([call.version]), np.array([call.step]), np.zeros(1, dtype=np.int64), *nothing)
        signature, certificate = vouched[:SIGNATURE_BYTES], vouched[SIGNATURE_BYTES:]
        return self.part.keys(member, drawn.secret, signature, certificate.ljust(self._certificate, b"\0"))

    def _statement(self, member: Member, drawn: Drawn) -> bytes:
        keys = Secret.of(drawn.secret).public
        return statement(member.version, member.step, self.part.number, keys, member.observations)

    @property
    def _certificate(self) -> int:
        return self.sizes["certificate"]

    def _leave(self, state: SecureCohort, to: Ints, message: Roster | Parcels | Present) -> Sequence[Outgoing[Upload]]:
        """Say that this site cannot go on; what it has told nobody yet it keeps."""
        member = state.member
        if member.stage in (KEYED, SHARED):
            self._put_back(state)
            member.clear()
        elif (message.version, message.step) == (member.version, member.step):
            return ()  # it has answered this, or a later step
        return (Outgoing(to, Left(np.array([message.version]), np.array([message.step]))),)

    def _said(self, message: AnyDownload) -> Download | None:
        """Return what the algorithm says in a download, if anything."""
        if not isinstance(message, Question | Result) or not message.length:
            return None
        said = self._opened(message.body[: message.length].tobytes())
        assert isinstance(said, Download)  # its schema knows no other
        return said

    def _finish(self, state: SecureCohort, to: Ints, said: Download | None) -> Sequence[Outgoing[Upload]]:
        """Take in what ends a round; where all wait for each other, say that there is more already."""
        if said is not None:
            self.parts.hear(self._side, state, said)
        if not (state.owes_call and self.parts.waits_for_all):
            return ()
        state.owes_call, state.has_called = False, True
        return (Outgoing(to, Ready()),)
