"""How an operator, or whoever was invited, asks the coordinator something: one question through the broker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fedbandit.core.errors import InvalidInput
from fedbandit.service.keys.files import write_secret
from fedbandit.transport.link import LinkRefused
from fedbandit.transport.nats.address import client_library, security
from fedbandit.transport.nats.connection import connect, end

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 20.0


class NobodyThere(InvalidInput):
    """Nobody answers at the broker, or there is no broker: the same may be asked again."""


def ask(server: str, credentials: Path | None, subject: str, question: bytes, inbox: str = "_INBOX") -> dict[str, Any]:
    """Return what the coordinator answers; what it says is wrong is raised as InvalidInput."""
    answer = asyncio.run(_ask(server, credentials, subject, question, inbox))
    if "error" in answer:
        raise InvalidInput(str(answer["error"]))
    return answer


async def _ask(server: str, credentials: Path | None, subject: str, question: bytes, inbox: str) -> dict[str, Any]:
    tls = security(server, credentials)
    errors = client_library().errors
    try:
        connection = await connect(
            server, name="roster", tls=tls, seconds=CONNECT_SECONDS, on_error=_ignore, on_end=_ignore, inbox=inbox
        )
    except LinkRefused:
        raise
    except OSError as error:
        raise NobodyThere(
            f"the broker at {server} cannot be reached ({error}): try again when it and the coordinator run"
        ) from None
    try:
        answer: dict[str, Any] = json.loads((await connection.request(subject, question, timeout=ANSWER_SECONDS)).data)
    except (errors.Error, OSError, TimeoutError):
        raise NobodyThere(
            f"no coordinator that can do this for {subject.split('.')[1]} answers at {server}: start it with "
            "`fedbandit serve`, and try again"
        ) from None
    finally:
        await end(connection)
    return answer


def _ignore(_: str) -> None:
    """Leave it to the answer, or to its absence, to tell what is wrong."""


@contextmanager
def as_file(credential: bytes) -> Iterator[Path]:
    """Give a credential as a file, which the TLS library wants, for a moment."""
    with TemporaryDirectory(prefix="fedbandit-") as folder:
        path = Path(folder) / "credential.pem"
        write_secret(path, credential)
        yield path
