"""The report page: time to write it, its size, and how fast a browser opens and redraws it.

A sheet with a hole and a dense spot, with labels and one more column. The map is measured before,
except in the last case, which takes minutes. Loading needs Chromium and Playwright.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.harness import Case
from isofold.assessment import NearPairs, assess
from isofold.reports import make_report, report

MEASURED = 2000
"""Points at which measures are taken; pages of more points show these measures."""

NEIGHBORS = 12
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def _sheet(n_points: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    Y = rng.uniform(size=(2 * n_points, 2)) * [4.0, 2.4]
    Y = Y[np.hypot(Y[:, 0] - 2.0, Y[:, 1] - 1.2) > 0.5][:n_points]
    Y[: n_points // 10] = rng.normal(size=(n_points // 10, 2)) * 0.12 + [1.0, 1.6]
    X = np.column_stack([np.cos(Y[:, 0]), np.sin(Y[:, 0]), Y[:, 1]])
    labels = np.array(["north", "south", "east", "west"])[(Y @ [1.2, 2.0]).astype(int) % 4]
    return {"X": X, "Y": Y + 0.004 * np.sin(8.0 * Y[:, ::-1]), "labels": labels}


def _measured_sheet(n_points: int) -> dict[str, Any]:
    data = _sheet(n_points)
    before, indices = cKDTree(data["X"]).query(data["X"], k=NEIGHBORS + 1, workers=-1)
    near = indices[:, 1:]
    after = np.linalg.norm(data["Y"][near] - data["Y"][:, None], axis=2)
    error = np.abs(after / np.maximum(before[:, 1:], 1e-12) - 1.0).mean(axis=1)
    some = slice(-MEASURED, None)
    known = assess(data["X"][some], data["Y"][some])
    data["assessment"] = replace(
        known,
        embedding=data["Y"],
        distortion=error,
        near=NearPairs(near, before[:, 1:], after),
    )
    return data


def _page(data: dict[str, Any]) -> str:
    return make_report(
        data["assessment"], labels=data["labels"], fields={"height": data["X"][:, 2]}
    ).html


def _plotly_page(data: dict[str, Any]) -> str:
    """Return a page with the same points and labels by Plotly, without neighbors and measures."""
    import plotly.graph_objects as graph_objects

    codes = np.unique(data["labels"], return_inverse=True)[1]
    points = graph_objects.Scattergl(
        x=data["Y"][:, 0], y=data["Y"][:, 1], mode="markers", marker={"color": codes}
    )
    return str(graph_objects.Figure(points).to_html(include_plotlyjs=True))


def _open(html: str) -> dict[str, Any]:
    """Return how long a page takes to be ready, and to be drawn again when it is moved."""
    with _browser(html) as (page, address):
        start = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("html[data-ready='yes']", timeout=120_000)
        ready = time.perf_counter() - start
        page.locator("#overlay").focus()
        drawn = []
        for key in ("ArrowLeft", "ArrowRight") * 5:
            page.keyboard.press(key)
            page.wait_for_timeout(150)
            drawn.append(float(page.locator("#overlay").get_attribute("data-milliseconds")))
    return {"ready after s": ready, "redrawn in ms": float(np.median(drawn))}


def _open_plotly(html: str) -> dict[str, Any]:
    """Return how long a page of Plotly takes until its canvas is there."""
    with _browser(html) as (page, address):
        start = time.perf_counter()
        page.goto(address)
        page.wait_for_selector(".gl-canvas", state="attached", timeout=120_000)
        return {"ready after s": time.perf_counter() - start}


@contextmanager
def _browser(html: str) -> Iterator[tuple[Any, str]]:
    """Give an empty page of a browser, and the address of a file with some contents."""
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(html, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        yield browser.new_page(viewport={"width": 1440, "height": 900}), path.as_uri()
        browser.close()


def _plotly_cases(n_points: int) -> list[Case]:
    if find_spec("plotly") is None:
        return []
    return [
        Case(
            f"write a page, n = {n_points:,}",
            "Plotly, points and labels only",
            lambda: _sheet(n_points),
            lambda data: {"page MB": len(_plotly_page(data)) / 1e6},
        ),
        Case(
            f"open a page, n = {n_points:,}",
            "Plotly, points and labels only",
            lambda: _plotly_page(_sheet(n_points)),
            _open_plotly,
        ),
    ]


CASES = [
    case
    for n_points in (2000, 1_000_000)
    for case in (
        Case(
            f"write a page, n = {n_points:,}",
            "isofold",
            lambda n=n_points: _measured_sheet(n),
            lambda data: {"page MB": len(_page(data)) / 1e6},
        ),
        Case(
            f"open a page, n = {n_points:,}",
            "isofold",
            lambda n=n_points: _page(_measured_sheet(n)),
            _open,
        ),
        *_plotly_cases(n_points),
    )
] + [
    Case(
        "measure and write, n = 1,000,000",
        "isofold",
        lambda: _sheet(1_000_000),
        lambda data: {"page MB": len(report(data["X"], data["Y"], n_jobs=-1).html) / 1e6},
        is_slow=True,
    )
]
