"""Programs of Node."""

from __future__ import annotations

import json
import subprocess


def node(client, script, *arguments):
    """Run a program of Node that has the client as `fb`; return what it prints."""
    whole = f"import * as fb from {json.dumps((client / 'index.js').as_uri())};\n{script}"
    command = ["node", "--input-type=module", "-e", whole, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
