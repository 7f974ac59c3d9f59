"""The documentation as a site: it builds without a warning, fetches nothing, and its reference has what users call."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import pytest

import fedbandit as fb
from fedbandit.advice.advice import Advice
from fedbandit.evaluation.evaluate import Evaluation
from fedbandit.site.decision import Decision

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
FETCHED = re.compile(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]*)"|<link\b[^>]*\bhref="([^"]*)"')
BY_A_SHEET = re.compile(r"""(?:url\(|@import\s)\s*["']?([^)"';]*)""")
ELSEWHERE = re.compile(r"(?!data:)(\w+:|//)")
DOES = (FunctionType, property, classmethod, staticmethod)


def text_of(file):
    return file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if find_spec("material") is None or find_spec("mkdocstrings") is None:
        pytest.skip("needs what builds the documentation: in the checkout, pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    said = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    return folder


def test_no_page_and_no_sheet_fetches_anything_from_elsewhere(site):
    pages, sheets = list(site.rglob("*.html")), list(site.rglob("*.css"))
    assert {f"{each.stem}.html" for each in (ROOT / "docs").glob("*.md")} <= {each.name for each in pages}
    for file in [*pages, *sheets]:
        fetched = ["".join(each) for each in (BY_A_SHEET if file in sheets else FETCHED).findall(text_of(file))]
        assert fetched or file in sheets, f"{file.name} has neither a script nor a sheet: is it a page?"
        assert [each for each in fetched if ELSEWHERE.match(each)] == [], file.name


def test_every_page_has_the_worker_by_which_search_works_from_a_folder(site):
    for page in site.glob("*.html"):
        scripts = re.findall(r'<script src="/?(assets/[^"]+)"', text_of(page))
        assert scripts[0] == "assets/iframe-worker.js", f"{page.name} needs it before the theme's own script"
    theme = text_of(next((site / "assets/javascripts").glob("bundle.*.js")))
    assert "new Worker(" in theme, "what the theme calls"
    assert "window.Worker = window.IFrameWorker =" in text_of(site / "assets/iframe-worker.js")


@pytest.mark.parametrize(
    "name",
    ["Algorithm", "Client", "Environment", "Experiment", "Features", "Log", "Policy", "Result", "Server", "Site"],
)
def test_the_reference_has_all_that_a_class_can_do_inherited_or_not(site, name):
    members = inspect.getmembers_static(getattr(fb, name))
    can = {each for each, value in members if not each.startswith("_") and isinstance(value, DOES)}
    assert can, "something to look for"
    assert can - set(re.findall(rf'id="fedbandit\.{name}\.(\w+)"', text_of(site / "reference.html"))) == set()


@pytest.mark.parametrize("name", ["Client", "Features", "Policy", "Server", "Site"])
def test_the_reference_has_how_an_object_is_made(site, name):
    said = inspect.getdoc(getattr(fb, name).__init__)
    assert re.split(r"[`:,.]", said)[0] in text_of(site / "reference.html")


@pytest.mark.parametrize("returned", [Advice, Decision, Evaluation])
def test_the_reference_has_what_a_call_returns(site, returned):
    assert f'id="{returned.__module__}.{returned.__name__}"' in text_of(site / "reference.html")


def test_the_reference_calls_functions_by_the_names_under_which_they_can_be_imported(site):
    page = re.sub(r"<[^>]+>", "", text_of(site / "reference.html"))
    assert "fb.algorithm(" in page
    assert "fb.environment(" in page
    assert "_named(" not in page
