"""The paper's faces: GOoSE beside the extensions that methods bring along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.manifold import LocallyLinearEmbedding

from experiments import peers
from experiments.harness import FULL, Row, Size, say, write_table
from experiments.out_of_sample import paper
from experiments.out_of_sample.cases import (
    Embedding,
    embed,
    folds,
    mean_and_sd,
    move_onto,
    rms,
    spread,
)
from isofold import OutOfSample
from isofold._typing import FloatArray, IntArray
from isofold.datasets import load_isomap_faces
from isofold.extension import fit_barycentric, fit_goose

__all__ = ["EMBEDDINGS", "faces", "fold_errors"]

N_FOLDS, N_COMPONENTS = 10, 4
GRAPH_NEIGHBORS = 8
CANDIDATES = (5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20)
"""Neighbors of GOoSE among which the paper takes the best of each fold."""


def _locally_linear(method: str) -> LocallyLinearEmbedding:
    return LocallyLinearEmbedding(
        n_neighbors=GRAPH_NEIGHBORS, n_components=N_COMPONENTS, eigen_solver="dense", method=method
    )


EMBEDDINGS = {
    "LLE": Embedding(partial(_locally_linear, "standard"), is_normalized=True),
    "LTSA": Embedding(partial(_locally_linear, "ltsa"), is_normalized=True),
    "Isomap": Embedding(partial(peers.isomap, GRAPH_NEIGHBORS, N_COMPONENTS)),
}


def faces(folder: Path, size: Size = FULL) -> None:
    """Place a tenth of the faces on maps of the others, and on the map of all."""
    say(f"paper: GOoSE {paper.GOOSE['faces']}, built in {paper.BUILT_IN['faces']}")
    X = size.part(load_isomap_faces()).X.astype(np.float64)
    n_folds = size.repeats(N_FOLDS)
    rows: list[Row] = []
    for name, embedding in EMBEDDINGS.items():
        everything = embed(embedding.make(), X, unit_covariance=embedding.is_normalized)
        found = [
            fold_errors(embedding, X, everything, train, test, size.few(CANDIDATES))
            for train, test in folds(len(X), n_folds, seed=0)
        ]
        say(f"{name}: {n_folds} folds")
        # The paper's unit: eigenvectors of length one.
        unit = np.sqrt(len(X)) if embedding.is_normalized else 1.0
        for method in found[0]:
            again, kept = np.array([fold[method] for fold in found]).T
            rows.append(
                {
                    "embedding": name,
                    "extension": method,
                    "e": _summary(again / unit),
                    "e, map of all kept": _summary(kept / unit),
                    "in % of extent": _summary(100 * kept / spread(everything)),
                }
            )
    write_table(rows, folder / "faces")


def fold_errors(
    embedding: Embedding,
    X: FloatArray,
    everything: FloatArray,
    train: IntArray,
    test: IntArray,
    candidates: Sequence[int] = CANDIDATES,
) -> dict[str, tuple[float, float]]:
    """Return the errors of one fold: on the map of nine tenths, and on the map of all."""
    model: Any = embedding.make()
    alone = embed(model, X[train], unit_covariance=embedding.is_normalized)
    known, expected = everything[train], everything[test]

    def both(place: Callable[[FloatArray], FloatArray]) -> tuple[float, float]:
        return rms(move_onto(alone, known, place(alone)), expected), rms(place(known), expected)

    def best(**options: Any) -> tuple[float, float]:
        """Return the least errors over all numbers of neighbors, as in the paper."""
        on_new, on_kept = (
            [
                fit_goose(X[train], Y, n_neighbors=k, **options).transform(X[test])
                for k in candidates
            ]
            for Y in (alone, known)
        )
        return (
            min(rms(move_onto(alone, known, placed), expected) for placed in on_new),
            min(rms(placed, expected) for placed in on_kept),
        )

    change = rms(move_onto(alone, known, alone), known)
    automatic = OutOfSample.from_embedding(X[train], known, n_neighbors="auto").transform(X[test])
    own = partial(_own_transform, model, X[test])
    keeps_own_map = not isinstance(model, LocallyLinearEmbedding)
    return {
        "the map's own change": (change, np.nan),
        "its own transform": (both(own)[0], np.nan) if keeps_own_map else both(own),
        "GOoSE, thesis, best k": best(scaling="range", interpolate=False),
        "GOoSE, best k": best(),
        "GOoSE": both(lambda Y: fit_goose(X[train], Y).transform(X[test])),
        "GOoSE, auto": (np.nan, rms(automatic, expected)),
        "barycentric": both(lambda Y: fit_barycentric(X[train], Y).transform(X[test])),
    }


def _own_transform(model: Any, X_new: FloatArray, Y: FloatArray) -> FloatArray:
    """Return new points by the weights that LLE gives them; Isomap keeps its map."""
    if isinstance(model, LocallyLinearEmbedding):
        # Its `transform` applies weights to this attribute, whatever map that is.
        model.embedding_ = Y
    return np.asarray(model.transform(X_new))


def _summary(values: FloatArray) -> str:
    return "" if np.isnan(values).any() else mean_and_sd(values)
