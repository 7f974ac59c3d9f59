"""The end of an epoch of a site that goes on from a backup: what came under numbers that it gives anew is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedbandit.core.errors import ProtocolError
from fedbandit.durable.coordinator.outcome import ACCEPTED, NEWS, REPEATED, Judged
from fedbandit.durable.coordinator.site_accounts import Closure
from fedbandit.wire.frame import LARGEST_NUMBER, Frame, Kind, with_numbers

if TYPE_CHECKING:
    from fedbandit.durable.coordinator.server import DurableServer


def judge_closing(server: DurableServer, frame: Frame, now: float) -> Judged:
    """Decide what is to become of a CLOSE, and hold the answer."""
    client, epoch, number, (heir,) = frame.client, frame.epoch, frame.sequence, frame.numbers
    if not epoch < heir <= LARGEST_NUMBER:
        raise ProtocolError(f"site {client} closes epoch {epoch} and goes on in {heir}, which is not a later one")
    seen, before = server.node.seen, server.accounts.closed.get((client, epoch))
    heirs = server.accounts.heirs(client, epoch, number)
    newest = max([*heirs, 0 if before is None else before.heir])
    window = seen.look(client, epoch)
    was_taken_in, top = window.has(number) and server.accounts.has_told(client, epoch, number), window.top
    for other in [*heirs, *server.accounts.replaced(client, epoch, heirs)]:
        if other != heir:  # another life went on from the same backup
            window = seen.look(client, other)
            was_taken_in |= other in heirs and window.has(1) and server.accounts.has_told(client, other, 1)
            top = max(top, number if window.top else 0)
    is_news = heir >= newest and not was_taken_in and before != Closure(number, heir)
    if is_news:
        server.accounts.check_epoch(client, epoch, now, server.validation.limits)
    numbers = max(heir, newest), was_taken_in, top  # a site whose epoch is not the newest asks for a later one
    if not frame.is_old or numbers[0] == heir:
        server.postbox.answer(with_numbers(Kind.CLOSED, client, epoch, number, *numbers, is_old=frame.is_old))
    return NEWS if is_news else REPEATED if heir < newest else ACCEPTED
