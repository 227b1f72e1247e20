"""Where points go that were not there when the map was made.

For every new point its 12 nearest among the fitted points are compared, in the data and on the
map. Trustworthiness is that of Venna and Kaski with ranks among the fitted points.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import euclidean_distances

from experiments.harness import FULL, Row, Size, fit, say, write_table
from experiments.real_data.blends import blends
from experiments.real_data.methods import METHODS, OURS, available
from experiments.real_data.scale import kept
from experiments.real_data.sets import all_digits, set_named
from isofold._typing import FloatArray, IntArray

__all__ = ["heldout", "new_points"]

SHOWN = ("UMAP", "openTSNE", "NeighborMap")
N_NEIGHBORS = 12
N_COMPARED = 2_000
"""New points that are compared at most; all of them are mapped."""
PART = 0.2
N_MNIST = 10_000
N_BLENDS = 20_000
N_ALONE = 20
"""New points that are also mapped one by one."""


def heldout(folder: Path, size: Size = FULL) -> None:
    """Fit a part of digits, of MNIST and of blends in 50 columns, then map the rest."""
    rows: list[Row] = []
    for label, (X, labels, n_new) in _cases(folder, size).items():
        order = np.random.RandomState(0).permutation(len(X))
        new, old = np.sort(order[:n_new]), np.sort(order[n_new:])
        for name in available(SHOWN):
            made = partial(_figures, name, X, labels, old, new)
            key = f"{name}, {n_new} new points of {label}"
            found = made() if name in OURS else kept(folder, key, made)
            rows.append({"set": label, "method": name, "fitted": len(old), "new": n_new, **found})
            say(f"{rows[-1]}")
    if rows:
        write_table(rows, folder / "real_data_heldout")


def new_points(
    X: FloatArray, Y: FloatArray, new_X: FloatArray, new_Y: FloatArray
) -> tuple[float, float, IntArray]:
    """Return trustworthiness, fraction of neighbors kept, and the nearest on the map."""
    k, n, m = N_NEIGHBORS, len(X), len(new_X)
    # In single precision products would not tell close neighbors apart.
    X, new_X = (np.asarray(points, dtype=np.float64) for points in (X, new_X))
    shift = kept_pairs = 0.0
    nearest = np.empty(m, dtype=np.intp)
    for start in range(0, m, 100):
        part = slice(start, start + 100)
        order = np.argsort(euclidean_distances(new_X[part], X), axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(1, n + 1)[None], axis=1)
        shown = np.argsort(cdist(new_Y[part], Y), axis=1, kind="stable")[:, :k]
        rank_of_shown = np.take_along_axis(rank, shown, axis=1)
        shift += np.maximum(rank_of_shown - k, 0).sum()
        kept_pairs += (rank_of_shown <= k).sum()
        nearest[part] = shown[:, 0]
    # Each of the n fitted points is a candidate, where inside a map n - 1 are.
    trust = 1.0 - 2.0 * shift / (m * k * (2 * (n + 1) - 3 * k - 1))
    return trust, kept_pairs / (m * k), nearest


def _cases(folder: Path, size: Size) -> Mapping[str, tuple[FloatArray, IntArray | None, int]]:
    digits = set_named("digits").load(size)
    images = all_digits(size)
    both = size.points(2 * N_BLENDS)
    return {
        "digits": (digits.X, digits.labels, round(PART * len(digits.X))),
        "MNIST": (images.X, images.labels, min(N_MNIST, len(images.X) // 2)),
        "blends": (blends(both, folder, size), None, both // 2),
    }


def _figures(
    name: str, X: FloatArray, labels: IntArray | None, old: IntArray, new: IntArray
) -> Row:
    outcome = fit(name, METHODS[name](2), X[old])
    model: Any = outcome.model
    model.transform(X[new[:N_ALONE]])  # compiles what is compiled at the first call
    begin = time.process_time()
    new_Y = model.transform(X[new])
    seconds = time.process_time() - begin
    alone = np.concatenate([model.transform(X[[row]]) for row in new[:N_ALONE]])
    some = slice(0, N_COMPARED)
    trust, found, nearest = new_points(X[old], outcome.embedding, X[new[some]], new_Y[some])
    same = "" if labels is None else float(np.mean(labels[old][nearest] == labels[new[some]]))
    return {
        "trustworthiness": trust,
        "same label": same,
        "neighbors kept": found,
        "rows a second": len(new) / seconds,
        "row by row": "yes" if np.array_equal(alone, new_Y[:N_ALONE]) else "no",
    }
