"""Unfold beside the method that it chooses, fitted alone: what looking and deciding cost.

The holed roll, which is stitched (on all threads), and real data, which go to NeighborMap (one
thread): tables in units of their standard deviations, images as they are. One raw table has hardly
more dimensions than the map; there all methods are rehearsed in full. All fits are seeded and the
first of their size in a fresh process; a small fit has loaded the modules before. `lost` and
`length_error` are those of the method used: equal figures tell that both maps are the same.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.harness import Case
from benchmarks.ipa_data import Sheet, roll
from isofold import IPA, NeighborMap, Unfold, datasets
from isofold._typing import FloatArray
from isofold.exceptions import DoubtfulMapWarning
from isofold.quality import procrustes_error

SIZES, LARGEST = (100_000, 1_000_000), 10_000_000
N_JUDGED, N_LOADING = 10_000, 60
MNIST_ROWS = 2_000


def _standardized(data: datasets.Dataset) -> FloatArray:
    return np.asarray((data.X - data.X.mean(axis=0)) / data.X.std(axis=0))


REAL: dict[str, Callable[[], FloatArray]] = {
    "COIL-20": lambda: datasets.load_coil20().X,
    "Olivetti": lambda: datasets.load_olivetti().X,
    "Frey": lambda: datasets.load_frey_faces().X,
    "faces": lambda: datasets.load_isomap_faces().X,
    "MNIST, 2,000 rows": lambda: datasets.load_mnist().X[:MNIST_ROWS],
    "digits": lambda: load_digits().data,
    "red wine": lambda: _standardized(datasets.load_wine_quality_red()),
    "olive oil": lambda: _standardized(datasets.load_olive_oil()),
    "olive oil, raw": lambda: datasets.load_olive_oil().X,
}


def _fitted(method: Any, X: FloatArray) -> tuple[Any, dict[str, float]]:
    processor = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        method.fit(X)
    return method, {"processor_seconds": round(time.process_time() - processor, 3)}


def _of_sheet(method: Any, sheet: Sheet) -> dict[str, Any]:
    fitted, figures = _fitted(method, sheet.X)
    Y, truth = fitted.embedding_[:N_JUDGED], sheet.truth[:N_JUDGED]
    return {**figures, **_choice(fitted), "error": procrustes_error(Y, truth)}


def _of_real(method: Any, X: FloatArray) -> dict[str, Any]:
    fitted, figures = _fitted(method, X)
    used = getattr(fitted, "estimator_", fitted)
    lost, error = used.lost_neighbors_, used.length_errors_.median
    return {**figures, **_choice(fitted), "lost": lost, "length_error": error}


def _choice(fitted: Any) -> dict[str, str]:
    decision = getattr(fitted, "decision_", None)
    return {} if decision is None else {"chosen": decision.method}


def _sheet(n: int) -> Sheet:
    _fitted(Unfold(random_state=0), roll(N_LOADING, 0).X)
    return roll(n, 0)


def _real(name: str) -> FloatArray:
    X = REAL[name]()
    for method in (Unfold(random_state=0), NeighborMap(random_state=0)):
        _fitted(method, X[:N_LOADING])
    return X


CASES = [
    *(
        Case(
            f"roll with a hole, n = {n:,}",
            f"isofold {kind.__name__}",
            partial(_sheet, n),
            partial(_of_sheet, kind(random_state=0, n_jobs=-1)),
            repeats=1 if n == LARGEST else 3,
            is_slow=n == LARGEST,
        )
        for n in (*SIZES, LARGEST)
        for kind in (IPA, Unfold)
    ),
    *(
        Case(
            name,
            f"isofold {kind.__name__}",
            partial(_real, name),
            partial(_of_real, kind(random_state=0)),
            repeats=3,
        )
        for name in REAL
        for kind in (NeighborMap, Unfold)
    ),
]
