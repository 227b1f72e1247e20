"""LocalMDS and Unfold beside UMAP: time, peak memory, neighborhoods and lengths.

All fits are with ``random_state=0``, the first call of a fresh process; UMAP is seeded and so runs
on one core, ours on all. Subsets of MNIST in raw pixels over 255, and the holed roll, on which
Unfold must give the map of IPA. Trustworthiness, continuity and the median relative length error of
12 neighbors are taken at 1,000 samples; *fit* are the seconds without that. All pairs of 70,000
samples would take 20 GB in float32.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Case
from isofold import IPA, LocalMDS, Unfold
from isofold._typing import FloatArray
from isofold.datasets import holed_swiss_roll, load_mnist
from isofold.quality import continuity, local_isometry, trustworthiness

SIZES = (2_000, 5_000, 20_000, 70_000)
JUDGED = 1_000


def _digits(n: int) -> FloatArray:
    rows = np.sort(np.random.RandomState(0).permutation(70_000)[:n])
    return (load_mnist().X[rows] / 255.0).astype(np.float32)


def _roll(n: int) -> FloatArray:
    return holed_swiss_roll(n, random_state=0).X


def _measured(model: Any, X: FloatArray) -> dict[str, Any]:
    begin = time.perf_counter()
    Y = np.asarray(model.fit_transform(X))
    fit = time.perf_counter() - begin
    how: dict[str, Any] = {"n_neighbors": 12, "n_samples": JUDGED, "random_state": 0}
    figures: dict[str, Any] = {
        "input_mb": X.nbytes / 2**20,
        "fit": round(fit, 2),
        "trustworthiness": round(float(trustworthiness(X, Y, **how)), 4),
        "continuity": round(float(continuity(X, Y, **how)), 4),
        "length_error": round(float(local_isometry(X, Y, **how).median), 4),
    }
    decision = getattr(model, "decision_", None)
    return figures if decision is None else figures | {"used": decision.method}


def _umap(X: FloatArray) -> dict[str, Any]:
    from umap import UMAP

    return _measured(UMAP(random_state=0, n_jobs=1), X)


def _task(n: int) -> str:
    return f"MNIST, n = {n:,}"


CASES = [
    case
    for n in SIZES
    for case in (
        Case(
            _task(n),
            "isofold LocalMDS",
            partial(_digits, n),
            partial(_measured, LocalMDS(random_state=0, n_jobs=-1)),
        ),
        Case(
            _task(n),
            "isofold Unfold",
            partial(_digits, n),
            partial(_measured, Unfold(random_state=0, n_jobs=-1)),
        ),
        Case(_task(n), "UMAP", partial(_digits, n), _umap, is_slow=n > 20_000),
    )
]
CASES += [
    Case(
        f"holed roll, n = {n:,}",
        f"isofold {type(model).__name__}",
        partial(_roll, n),
        partial(_measured, model),
    )
    for n in (2_000, 100_000)
    for model in (Unfold(random_state=0, n_jobs=-1), IPA(random_state=0, n_jobs=-1))
]
