"""Where the service listens, and that it ends well."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.agent.serving import listening
from samples.agents import TWO, asking, plan_in, post

STATE = ("GET", "/v1/state")


def test_a_unix_socket_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "site.sock"
    plan = plan_in(tmp_path, listen="unix:site.sock")

    async def mode():
        with plan.open_site(restored=False) as site:
            async with listening(site, plan, "") as address:
                assert address == f"unix:{path}"
                return stat.S_IMODE(path.stat().st_mode)

    assert asyncio.run(mode()) == 0o600
    assert [status for status, _ in asking(plan, STATE, post("choose", {"arms": TWO}))] == [200, 200]
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))  # as after kill -9: a socket that nobody listens at
    assert asking(plan, STATE)[0][0] == 200


def test_a_socket_that_somebody_answers_at_is_left_alone(tmp_path):
    plan = plan_in(tmp_path, listen="unix:site.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "site.sock"))
        other.listen()
        with pytest.raises(InvalidInput, match="another process answers at"):
            asking(plan, STATE)
    (tmp_path / "site.sock").unlink()
    (tmp_path / "site.sock").write_text("a file")
    with pytest.raises(InvalidInput, match="is a file: give another path"):
        asking(plan, STATE)


def test_a_port_that_is_taken_is_said(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"port {port} of 127.0.0.1 cannot be had"):
            asking(plan_in(tmp_path, listen=f"127.0.0.1:{port}"), STATE)


def test_the_command_serves_until_it_is_told_to_end(tmp_path):
    (tmp_path / "site.toml").write_text(
        'store = "site.db"\noffline = { algorithm = "async-linucb", dimension = 2 }\nlisten = "127.0.0.1:0"\n'
    )
    command = [sys.executable, "-m", "fedbandit", "site", str(tmp_path / "site.toml")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        assert "site 0 answers at http://127.0.0.1:" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
    assert process.returncode == 0
    assert "stopped; what was not sent waits in the store" in rest


def test_the_command_checks_a_file_and_says_what_is_wrong(tmp_path):
    (tmp_path / "site.toml").write_text('store = "site.db"\n')
    command = [sys.executable, "-m", "fedbandit", "site", str(tmp_path / "site.toml"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "give federation, or offline" in done.stderr
