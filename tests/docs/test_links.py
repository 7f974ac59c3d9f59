"""Every page is in the menu, and whatever it names is there."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]+)")
NAMED_TEST = re.compile(r"`(?:tests/)?([\w/]+/test_\w+\.py)(?:::(\w+))?`")


def test_every_page_is_in_the_menu_and_every_link_leads_somewhere() -> None:
    menu = (PAGES[0].parents[1] / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        assert f" {page.name}\n" in menu, f"{page.name} is not in mkdocs.yml"
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_every_test_that_a_page_names_is_there() -> None:
    tests = PAGES[0].parents[1] / "tests"
    for page in PAGES:
        for path, name in NAMED_TEST.findall(page.read_text(encoding="utf-8")):
            file = tests / path
            assert file.exists(), f"{page.name} names {path}, which is not there"
            assert not name or f"def {name}(" in file.read_text(encoding="utf-8"), f"{page.name} names {path}::{name}"
