"""PLML's time and memory beside IPA: end to end, refined, and new points.

All fits are with ``random_state=0, n_jobs=-1`` on the clean Swiss roll of the thesis, the first
call of a fresh process. The error is taken at 10,000 points. Memory of n × n numbers would be 80 GB
at 100,000 points, and 8 TB at a million.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from benchmarks import harness
from benchmarks.harness import Case
from benchmarks.ipa_data import Sheet
from isofold import IPA, PLML
from isofold.datasets import swiss_roll

SIZES = (10_000, 100_000, 1_000_000)
N_JUDGED = 10_000
OURS = "isofold PLML"
MOST_GROWTH = 1.15
"""The exponent of growth from 100,000 to 1,000,000 points that is allowed."""


def _roll(n: int, seed: int = 0, *, noise: float = 0.0) -> Sheet:
    data = swiss_roll(n, noise=noise, random_state=seed)
    return Sheet(data.X, data.truth, noise=noise, judged=np.arange(n) < N_JUDGED)


def _fit(model: BaseEstimator, sheet: Sheet) -> dict[str, Any]:
    Y = model.fit_transform(sheet.X)
    figures: dict[str, Any] = {
        "input_mb": sheet.X.nbytes / 2**20,
        "error": sheet.error(Y),
    }
    if isinstance(model, PLML):
        figures |= {"pieces": model.planes_.n_cells, "size": model.cell_size_}
    return figures


def _fitted(n: int) -> tuple[BaseEstimator, Sheet]:
    return PLML(random_state=0, n_jobs=-1).fit(_roll(n).X), _roll(n, seed=1)


def _transform(prepared: tuple[BaseEstimator, Sheet]) -> dict[str, Any]:
    model, fresh = prepared
    return {"error": fresh.error(model.transform(fresh.X))}


def _methods() -> list[tuple[str, BaseEstimator]]:
    return [
        (OURS, PLML(random_state=0, n_jobs=-1)),
        ("isofold PLML, refined", PLML(refine=True, random_state=0, n_jobs=-1)),
        ("isofold IPA", IPA(random_state=0, n_jobs=-1)),
    ]


def _task(n: int) -> str:
    return f"roll, n = {n:,}"


CASES = [
    Case(_task(n), name, partial(_roll, n), partial(_fit, model), repeats=3)
    for n in SIZES
    for name, model in _methods()
    if n <= 100_000 or "refined" not in name
]
CASES += [
    Case(
        "noisy roll (.25), n = 20,000",
        name,
        partial(_roll, 20_000, noise=0.25),
        partial(_fit, model),
    )
    for name, model in _methods()
]
CASES += [
    Case("transform of 1,000,000 rows", OURS, partial(_fitted, 1_000_000), _transform),
]


def markdown(records: list[dict[str, Any]]) -> str:
    """Return the table of cases, and the exponent of growth if its cases were run."""
    table = harness.markdown(records)
    seconds = {
        (r["task"], r["method"]): float(r["seconds"]) for r in records if r["status"] == "ok"
    }
    small, large = (seconds.get((_task(n), OURS)) for n in SIZES[1:])
    if small is None or large is None:
        return table
    growth = math.log10(large / small)
    verdict = "met" if growth <= MOST_GROWTH else "MISSED"
    return (
        f"{table}\nExponent from 100,000 to 1,000,000: {growth:.2f} (≤ {MOST_GROWTH}, {verdict})\n"
    )
