"""Table 5.1: five embeddings of the Swiss roll in ten folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from experiments import peers
from experiments.harness import FULL, Row, Size, say, write_table
from experiments.out_of_sample import paper
from experiments.out_of_sample.cases import (
    GOOSES,
    RIVALS,
    Embedding,
    Fit,
    embed,
    folds,
    mean_and_sd,
    move_onto,
    rms,
    spread,
)
from isofold import PLML
from isofold._typing import FloatArray
from isofold.datasets import swiss_roll

__all__ = ["EMBEDDINGS", "fold_errors", "table51"]

N_POINTS, N_FOLDS = 2000, 10
GRAPH_NEIGHBORS, PLANE_POINTS = 12, 9
METHODS: dict[str, Fit] = {**GOOSES, **RIVALS}
PRINTED = {"Yang": 0, "GOoSE, thesis": 1}
"""Columns of the thesis's table."""


EMBEDDINGS = {
    "Isomap": Embedding(lambda: peers.isomap(GRAPH_NEIGHBORS)),
    "LLE": Embedding(lambda: peers.lle(GRAPH_NEIGHBORS), is_normalized=True),
    "LTSA": Embedding(lambda: peers.ltsa(GRAPH_NEIGHBORS), is_normalized=True),
    "PCA": Embedding(lambda: PCA(2)),
    "PLML": Embedding(lambda: PLML(cell_size=PLANE_POINTS, random_state=0)),
}


def table51(folder: Path, size: Size = FULL) -> None:
    """Place a tenth of the roll on maps of the rest, and on the map of all."""
    X = swiss_roll(size.points(N_POINTS), random_state=0).X
    n_folds = size.repeats(N_FOLDS)
    rows: list[Row] = []
    for name, embedding in EMBEDDINGS.items():
        everything = embed(embedding.make(), X, unit_covariance=embedding.is_normalized)
        found = [
            fold_errors(embedding, X, everything, train, test)
            for train, test in folds(len(X), n_folds, seed=0)
        ]
        say(f"{name}: {n_folds} folds")
        # The thesis's maps are eigenvectors of length one, as it seems from its numbers.
        unit = np.sqrt(len(X)) if embedding.is_normalized else 1.0
        rows += _rows(name, found, spread(everything), unit)
    write_table(rows, folder / "table51")


def fold_errors(
    embedding: Embedding, X: FloatArray, everything: FloatArray, train: Any, test: Any
) -> dict[str, tuple[float, float]]:
    """Return every extension's errors by the thesis's protocol and on the map of all."""
    model = embedding.make()
    alone = embed(model, X[train], unit_covariance=embedding.is_normalized)
    expected = everything[test]

    def error(placed: FloatArray) -> float:
        return rms(move_onto(alone, everything[train], placed), expected)

    nothing = float("nan")
    moved = move_onto(alone, everything[train], alone)
    errors = {"the map's own change": (rms(moved, everything[train]), nothing)}
    for name, fit in METHODS.items():
        on_new_map = fit(X[train], alone).transform(X[test])
        on_old_map = fit(X[train], everything[train]).transform(X[test])
        errors[name] = (error(on_new_map), rms(on_old_map, expected))
    if hasattr(model, "transform"):
        unit = np.sqrt(len(train)) if embedding.is_normalized else 1.0
        errors["its own transform"] = (error(unit * model.transform(X[test])), nothing)
    return errors


def _rows(
    name: str,
    found: list[dict[str, tuple[float, float]]],
    extent: float,
    unit: float,
) -> list[Row]:
    rows = []
    for method in found[0]:
        again, fixed = np.array([fold[method] for fold in found]).T
        printed = paper.TABLE_5_1[name][PRINTED[method]] if method in PRINTED else ""
        kept = "" if np.isnan(fixed).any() else mean_and_sd(100 * fixed / extent)
        rows.append(
            {
                "embedding": name,
                "extension": method,
                "e": mean_and_sd(again / unit),
                "thesis": printed,
                "e, % of extent": mean_and_sd(100 * again / extent),
                "map of all kept, %": kept,
            }
        )
    return rows
