"""Which extension suits maximum variance unfolding: barycentric weights or GOoSE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from experiments import peers
from experiments.harness import FULL, Row, Size, say, write_table
from experiments.out_of_sample.cases import GOOSES, Fit, embed, folds, quartiles, rms, spread
from isofold import MVU
from isofold._typing import FloatArray
from isofold.datasets import load_isomap_faces, swiss_roll
from isofold.extension import fit_barycentric, fit_goose
from isofold.linalg import procrustes

__all__ = ["METHODS", "held_out", "mvu"]

N_TRAIN, N_NEW, N_DRAWS, N_FOLDS = 800, 1000, 5, 10
FACE_NEIGHBORS = 8


@dataclass(frozen=True)
class Sheet:
    """A roll of some width and the neighbors that MVU keeps on it."""

    width: float
    n_neighbors: int
    noise: float


SHEETS = [
    Sheet(width, k, noise) for width, k in ((12.0, 8), (21.0, 12)) for noise in (0.0, 0.1, 0.3)
]
"""Points are 1.2 and 1.5 apart, turns 6.3. The wider roll has a short-cut in some draws."""

METHODS: Mapping[str, Fit] = {
    "barycentric": fit_barycentric,
    "barycentric, k = 8": partial(fit_barycentric, n_neighbors=8),
    **GOOSES,
    "GOoSE, least squares, k = 6": partial(fit_goose, n_neighbors=6),
}


def mvu(folder: Path, size: Size = FULL) -> None:
    """Place points on maps of rolls and of faces, each a tenth on the map of the others."""
    n_train, n_new, n_folds = size.points(N_TRAIN), size.points(N_NEW), size.repeats(N_FOLDS)
    rows: list[Row] = []
    for sheet in size.few(SHEETS):
        inner: list[dict[str, float]] = []
        outer: list[dict[str, float]] = []
        for seed in range(size.repeats(N_DRAWS)):
            roll = swiss_roll(
                n_train + n_new,
                width=sheet.width,
                uniform=True,
                noise=sheet.noise,
                random_state=seed,
            )
            X, new = roll.X[:n_train], roll.X[n_train:]
            Y = embed(peers.mvu(sheet.n_neighbors), X)
            inner.append(_on_map(X, Y, seed, n_folds))
            outer.append(_against_truth(X, Y, new, roll.truth))
        say(f"{sheet}: error of the map itself {quartiles([one['map'] for one in outer])} %")
        name = f"roll, width {sheet.width:g}, noise {sheet.noise}"
        rows += _rows(name, inner, outer)
    rows += _faces(size)
    write_table(rows, folder / "mvu")


def held_out(
    fit: Fit, X: FloatArray, Y: FloatArray, *, seed: int, n_folds: int = N_FOLDS
) -> FloatArray:
    """Return where each point goes on the map of nine tenths, all from one map."""
    placed = np.empty_like(Y)
    for train, test in folds(len(X), n_folds, seed=seed):
        placed[test] = fit(X[train], Y[train]).transform(X[test])
    return placed


def _on_map(X: FloatArray, Y: FloatArray, seed: int, n_folds: int) -> dict[str, float]:
    """Return errors against the map's own places, in percent of its spread."""
    unit = spread(Y) / 100
    return {
        name: rms(held_out(fit, X, Y, seed=seed, n_folds=n_folds), Y) / unit
        for name, fit in METHODS.items()
    }


def _against_truth(
    X: FloatArray, Y: FloatArray, new: FloatArray, truth: FloatArray
) -> dict[str, float]:
    """Return errors of new points against the true sheet, in percent of its spread."""
    motion = procrustes(Y, truth[: len(X)]).transform
    unit = spread(truth) / 100
    errors = {"map": rms(motion.apply(Y), truth[: len(X)]) / unit}
    for name, fit in METHODS.items():
        placed = motion.apply(fit(X, Y).transform(new))
        errors[name] = rms(placed, truth[len(X) :]) / unit
    return errors


def _rows(data: str, inner: list[dict[str, float]], outer: list[dict[str, float]]) -> list[Row]:
    best = [min(draw, key=draw.__getitem__) for draw in inner]
    return [
        {
            "map": data,
            "extension": name,
            "held out, %": quartiles([draw[name] for draw in inner]),
            "worst draw": max(draw[name] for draw in inner),
            "best in": f"{best.count(name)} of {len(best)}",
            "new, against truth, %": quartiles([draw[name] for draw in outer]) if outer else "",
        }
        for name in METHODS
    ]


def _faces(size: Size) -> list[Row]:
    """Return the errors on maps of the faces in two and three dimensions."""
    X = size.part(load_isomap_faces()).X.astype(np.float64)
    n_folds, seeds = size.repeats(N_FOLDS), range(size.repeats(3))
    rows: list[Row] = []
    for r in (2, 3):
        Y = embed(MVU(n_components=r, n_neighbors=FACE_NEIGHBORS, random_state=0), X)
        rows += _rows(
            f"faces, {r} dimensions", [_on_map(X, Y, seed, n_folds) for seed in seeds], []
        )
    return rows
