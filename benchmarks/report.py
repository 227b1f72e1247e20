"""The report page: time to write it, its size, and how fast a browser opens and redraws it.

A sheet with a hole and a dense spot, with labels and one more column. The map is measured before,
except in the last case, which takes minutes. Loading needs Chromium and Playwright.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.harness import Case
from isofold.plot import NearPairs, find
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
    findings = find(data["X"][some], data["Y"][some])
    data["findings"] = replace(
        findings,
        embedding=data["Y"],
        distortion=error,
        near=NearPairs(near, before[:, 1:], after),
    )
    return data


def _page(data: dict[str, Any]) -> str:
    return make_report(
        data["findings"], labels=data["labels"], fields={"height": data["X"][:, 2]}
    ).html


def _open(html: str) -> dict[str, Any]:
    """Return how long a page takes to be ready, and to be drawn again when it is moved."""
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(html, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready='yes']", timeout=120_000)
        ready = time.perf_counter() - start
        page.locator("#overlay").focus()
        drawn = []
        for key in ("ArrowLeft", "ArrowRight") * 5:
            page.keyboard.press(key)
            page.wait_for_timeout(150)
            drawn.append(float(page.locator("#overlay").get_attribute("data-milliseconds")))
        browser.close()
    return {"ready after s": ready, "redrawn in ms": float(np.median(drawn))}


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
    )
] + [
    Case(
        "measure and write, n = 1,000,000",
        "isofold",
        lambda: _sheet(1_000_000),
        lambda data: {"page MB": len(report(data["X"], data["Y"]).html) / 1e6},
        is_slow=True,
    )
]
