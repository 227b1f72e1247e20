"""The examples of the documentation pages, run as they are written."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
@pytest.mark.usefixtures("ctrl_c")  # one of them presses it
def test_examples_run(page):
    result = doctest.testfile(str(page), module_relative=False)
    assert result.failed == 0


def test_the_engine_has_examples():
    assert doctest.testfile(str(DOCS / "sdp.md"), module_relative=False).attempted > 5
