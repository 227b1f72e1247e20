"""A browser for the tests of this folder, and pages to open in it."""

import os
import shutil

import numpy as np
import pytest

from isofold.reports import report
from support.report_cases import PATIENCE, Opened, flat_case, free_page

BROWSERS = ("chromium", "google-chrome", "chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="package")
def browser():
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        reason = f"no browser found: none of {', '.join(BROWSERS)} is on the path"
        if os.environ.get("ISOFOLD_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Return a function that opens a report as a user would, from its file."""
    contexts = []

    def open_report(made, *, width=1280, height=900, theme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, **options
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        path = tmp_path / f"page {len(contexts)} #é.html"
        made.save(path)
        return Opened(context.new_page(), path)

    yield open_report
    for context in contexts:
        context.close()


@pytest.fixture(scope="package")
def case():
    return flat_case()


@pytest.fixture(scope="package")
def flat_report(case):
    return report(case.X, case.Y, labels=case.labels, fields=case.fields, title="Flat points")


@pytest.fixture
def flat(open_page, flat_report):
    opened = open_page(flat_report)
    yield opened
    opened.assert_quiet()


@pytest.fixture(scope="package")
def many_report():
    rng = np.random.default_rng(0)
    Y = rng.uniform(size=(60_000, 2)) * [2.0, 1.0]
    labels = np.where(Y[:, 0] < 1.0, "left", "right")
    return free_page(Y, labels=labels)
