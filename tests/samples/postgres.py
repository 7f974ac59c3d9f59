"""A real PostgreSQL server for the tests that need one; they are skipped where none can be started."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def _programs() -> Path | None:
    """The folder of initdb and pg_ctl: on the path, or where Debian puts them."""
    found = shutil.which("pg_ctl")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)


def _owner() -> str | None:
    """PostgreSQL refuses to run as root: the user that it is to run as instead."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return pytest.skip("PostgreSQL does not run as root, and there is no other user")


@contextmanager
def postgres_server():
    """Start a server of our own; gives its URL, which leads through a socket in its folder."""
    pytest.importorskip("psycopg")
    programs = _programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL on this machine")
    owner = _owner()
    folder = Path(tempfile.mkdtemp(prefix="fedbandit-postgres-"))
    if owner:
        shutil.chown(folder, owner)
    data = folder / "data"

    def run(*command: str) -> None:
        subprocess.run(command, user=owner, cwd=folder, check=True, capture_output=True, timeout=120)

    run(str(programs / "initdb"), "--pgdata", str(data), "--username", "fedbandit", "--auth", "trust", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
    control = [str(programs / "pg_ctl"), "--pgdata", str(data), "--wait", "--log", str(folder / "log")]
    run(*control, "--options", options, "start")
    try:
        yield f"postgresql://fedbandit@/postgres?host={folder}"
    finally:
        run(*control, "--mode", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def emptied(url):
    """The same server without what earlier tests have left in it."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(url, autocommit=True) as base:
        found = base.execute("SELECT tablename FROM pg_tables WHERE starts_with(tablename, 'fedbandit_')").fetchall()
        for (table,) in found:
            base.execute(f"DROP TABLE {table}")
    return url


@pytest.fixture(scope="session")
def postgres_url():
    """The URL of a server for all tests of a session."""
    with postgres_server() as url:
        yield url
