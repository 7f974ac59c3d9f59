"""The vectors of the specification, and declarations for properties."""

import json
from pathlib import Path

import pytest

VECTORS = Path(__file__).parents[1] / "vectors"


@pytest.fixture
def example():
    """Return the declaration of the specification with its rows."""
    return json.loads((VECTORS / "features.json").read_text(encoding="utf-8"))
