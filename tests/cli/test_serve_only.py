"""`fedbandit serve --only`: which of the federations in the file are served."""

from __future__ import annotations

from cli.test_serve import GOOD, NOWHERE
from samples.refusals import refused


def test_only_the_federations_that_are_named_are_served(fedbandit, tmp_path):
    text = GOOD.replace("{broker}", NOWHERE)
    (tmp_path / "serve.toml").write_text(text + text[text.index("[federations") :].replace("demo", "another"))
    said = fedbandit("serve", "serve.toml", "--only", "demi", "--only", "demo")
    refused(said, "unknown federation 'demi': did you mean 'demo'?")
    assert not (tmp_path / "journals").exists()
    refused(fedbandit("serve", "serve.toml", "--only", "demo", "--only", "demo"), f"the broker at {NOWHERE} cannot be")
    assert [each.name for each in (tmp_path / "journals").glob("*.db")] == ["demo.db"]
