"""The client for JavaScript, compiled once for all tests."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "clients" / "typescript"


@pytest.fixture(scope="session")
def client(tmp_path_factory):
    """The folder of the compiled client."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("needs Node")
    folder = tmp_path_factory.mktemp("client") / "typescript"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    subprocess.run(["npm", "install", "--no-audit", "--no-fund"], cwd=folder, check=True, capture_output=True)
    subprocess.run(["npx", "tsc"], cwd=folder, check=True, capture_output=True)
    return folder / "dist"
