"""The examples of the documentation pages, run as they are written; links and names."""

import doctest
import re
from pathlib import Path

import pytest

import isofold

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LINKING = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]

page_name = {"ids": lambda page: page.name}


@pytest.mark.parametrize("page", PAGES, **page_name)
@pytest.mark.usefixtures("ctrl_c")  # one of them presses it
def test_examples_run(page):
    result = doctest.testfile(str(page), module_relative=False)
    assert result.failed == 0


def test_the_engine_has_examples():
    assert doctest.testfile(str(DOCS / "sdp.md"), module_relative=False).attempted > 5


def headings(page):
    """Return the anchors of a page, as GitHub makes them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line).strip().lower().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", LINKING, **page_name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            linked = page.parent / path if path else page
            assert linked.exists(), target
            assert not anchor or anchor in headings(linked), target


def test_the_readme_leads_to_every_page():
    text = (ROOT / "README.md").read_text("utf-8")
    assert [page.name for page in PAGES if f"(docs/{page.name})" not in text] == []


def test_the_api_page_lists_every_public_name():
    text = (DOCS / "api.md").read_text("utf-8")
    listed = set(re.findall(r"`(?:isofold\.)?(\w+)`", text))
    assert sorted(set(isofold.__all__) - listed) == []
