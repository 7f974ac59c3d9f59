"""The file of a site that is a service: what it says, and what is wrong with it in one sentence."""

from __future__ import annotations

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.service.agent.settings import read_agent_plan
from fedbandit.site.traced import TracedSite

GOOD = 'store = "site.db"\noffline = { algorithm = "async-linucb", dimension = 2 }\n'


def read(folder, text):
    path = folder / "site.toml"
    path.write_text(text)
    return read_agent_plan(path)


def test_paths_are_relative_to_the_file(tmp_path):
    with read(tmp_path, GOOD + 'log = "decisions"\nreport = true\n').open_site(restored=False) as site:
        site.choose([[1.0, 0.0], [0.0, 1.0]])
    assert (tmp_path / "site.db").exists()
    assert (tmp_path / "decisions").is_dir()


@pytest.mark.parametrize("traces", [False, True])
def test_a_site_is_traced_if_the_file_says_so(tmp_path, traces):
    if traces:
        pytest.importorskip("opentelemetry", reason="needs OpenTelemetry: pip install '.[telemetry]'")
    with read(tmp_path, GOOD + f"traces = {str(traces).lower()}\n").open_site(restored=False) as site:
        assert isinstance(site, TracedSite) == traces


BAD = {
    "no store": ('offline = { algorithm = "async-linucb", dimension = 2 }', "missing required field `store`"),
    "neither": ('store = "site.db"', "give federation, or offline = { algorithm = ..., dimension = ... }, one of them"),
    "both": (GOOD + 'federation = "nats://localhost/x"', "one of them"),
    "an unknown key": (GOOD + "prot = 8", "unknown key 'prot': known: credentials"),
    "a number for a text": (GOOD + "listen = 8077", "Expected `str`, got `int` - at `$.listen`"),
    "no port": (GOOD + 'listen = "localhost"', "listen = 'localhost' is no address: write HOST:PORT, or unix:PATH"),
    "a port beyond all": (GOOD + 'listen = "localhost:70000"', "is no address"),
    "open to others without a token": (GOOD + 'listen = "0.0.0.0:8077"', "lets other machines ask: give token_file"),
    "open to others by name": (GOOD + 'listen = "example.org:8077"', "lets other machines ask: give token_file"),
    "no token there": (GOOD + 'token_file = "nowhere"', "cannot be read"),
    "a short token": (GOOD + 'token_file = "short"', "must be at least 16 plain letters long, not 5"),
    "no TOML": ("store = ", "is not valid TOML"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_file_is_refused_in_a_sentence_that_names_it(tmp_path, name):
    (tmp_path / "short").write_text("short")
    text, reason = BAD[name]
    with pytest.raises(InvalidInput) as refused:
        read(tmp_path, text)
    assert reason in str(refused.value)
    assert "site.toml" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_stands_outside_is_not_said_in_the_table(tmp_path):
    plan = read(tmp_path, 'store = "site.db"\noffline = { algorithm = "async-linucb", dimension = 2, store = "x" }\n')
    with pytest.raises(InvalidInput, match=r"offline\.store stands outside of the table: write store = \.\.\. above"):
        plan.open_site(restored=False)
