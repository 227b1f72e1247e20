"""Whether `Unfold` chooses well: its score on held-out points beside those of its candidates.

Four fifths of every set are mapped, and the rest placed by `transform`. The score of a method is
the fraction of the 12 neighbors that new points keep, times how true lengths are: 1 less the mean
of two medians of |d_Y/d_X − 1|, over their nearest in the data and over their nearest on the map.
Maps are taken in their own unit, not at their best scale.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import FULL, Row, Size, fit, say, write_table
from experiments.real_data.methods import METHODS, available
from experiments.real_data.sets import CHOOSING, UNSEEN, loaded
from isofold._typing import FloatArray, IntArray
from isofold.neighbors import build_search

__all__ = ["choices", "held_out_score"]

CANDIDATES = ("LocalMDS", "NeighborMap")
N_NEIGHBORS = 12
PART = 0.2
MOST_BELOW = 0.01
SHELL_NAMES = {"local_mds": "LocalMDS", "neighbor_map": "NeighborMap"}
"""Candidates by the names that a decision has for them."""


def choices(folder: Path, size: Size = FULL) -> None:
    """Score `Unfold` and its candidates on held-out points of all sets."""
    rows: list[Row] = []
    candidates = list(available(CANDIDATES))
    sets = [*CHOOSING[: size.repeats(len(CHOOSING))], *UNSEEN[: size.repeats(len(UNSEEN))]]
    for one, data in loaded(sets, size):
        row: dict[str, Any] = {"set": one.name}
        seconds = {}
        for name in (*candidates, "Unfold"):
            outcome, row[name] = _scored(name, data.X)
            seconds[name] = outcome.seconds
        row["chosen"] = outcome.model.decision_.method
        best = max(row[name] for name in candidates)
        row["near the better"] = "yes" if row["Unfold"] >= best - MOST_BELOW else "no"
        row |= {f"{name} s": value for name, value in seconds.items()}
        alone = seconds.get(SHELL_NAMES.get(row["chosen"], ""))
        row["times the chosen"] = "" if alone is None else seconds["Unfold"] / alone
        rows.append(row)
        say(f"{row}")
    write_table(rows, folder / "real_data_choices")


def held_out_score(X: FloatArray, Y: FloatArray, new_X: FloatArray, new_Y: FloatArray) -> float:
    """Return the score of placed points among fitted ones, in the data and on the map."""
    near, shown = _nearest(X, new_X), _nearest(Y, new_Y)
    kept = np.mean([len(np.intersect1d(a, b)) for a, b in zip(near, shown, strict=True)])
    errors = []
    for indices in (near, shown):
        before, after = _lengths(X, new_X, indices), _lengths(Y, new_Y, indices)
        seen = before > 0
        errors.append(np.median(np.abs(after[seen] / before[seen] - 1.0)))
    return float(kept / N_NEIGHBORS * max(0.0, 1.0 - np.mean(errors)))


def _scored(name: str, X: FloatArray) -> tuple[Any, float]:
    order = np.random.RandomState(0).permutation(len(X))
    n_new = round(PART * len(X))
    new, old = np.sort(order[:n_new]), np.sort(order[n_new:])
    outcome = fit(name, METHODS[name](2), X[old])
    placed = outcome.model.transform(X[new])
    return outcome, held_out_score(X[old], outcome.embedding, X[new], placed)


def _nearest(X: FloatArray, new_X: FloatArray) -> IntArray:
    return build_search(X, n_jobs=1).query(new_X, N_NEIGHBORS).indices


def _lengths(X: FloatArray, new_X: FloatArray, indices: IntArray) -> FloatArray:
    return np.stack(
        [np.linalg.norm(X[row] - x, axis=1) for row, x in zip(indices, new_X, strict=True)]
    )
