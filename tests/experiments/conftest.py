"""What tests of declared experiments share."""

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def unwritten_figures(monkeypatch):
    """Draw figures in full, as labels need it to find their places, but write empty pictures.

    To draw each again as PNG and as SVG takes half of the time; that both are written is shown in `tests/results`.
    """
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **options: path.write_text("<svg></svg>"))
