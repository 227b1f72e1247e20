"""The data of the thesis that are to be had, with labels and dimensions that it does not state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from experiments.harness import FULL, Size
from isofold._typing import FloatArray, IntArray
from isofold.datasets import (
    Dataset,
    broken_s_curve,
    four_moons,
    load_coil20,
    load_olivetti,
    parallel_swiss_rolls,
    rotated_swiss_rolls,
)
from isofold.linalg import principal_coordinates

__all__ = ["CASES", "IMAGES", "N_POINTS", "Case", "artificial", "images"]

N_POINTS = 2000
NOISE = 0.05
ROLL_BEGINS = 1.5 * np.pi
S_CURVE_BEGINS = -1.5 * np.pi
GREY_LEVELS = 255.0


@dataclass(frozen=True, eq=False)
class Case:
    """One column of the tables.

    Attributes
    ----------
    name : str
        Name of the column.
    X : ndarray of shape (n_samples, n_features)
        The points.
    pieces : ndarray of shape (n_samples,)
        The component of an artificial set, the class of an image.
    checkerboard : ndarray of shape (n_samples,) or None
        Two classes in squares on the manifold.
    truth : ndarray or None
        Coordinates that are isometric on every piece.
    dimensions : tuple of int
        Dimensions of the maps; the first is that of the tables.
    n_raw_features : int
        Columns of the data before images were rotated into their principal axes.
    """

    name: str
    X: FloatArray
    pieces: IntArray
    checkerboard: IntArray | None
    truth: FloatArray | None
    dimensions: tuple[int, ...]
    n_raw_features: int


def artificial(name: str, n_samples: int = N_POINTS) -> Case:
    """Return an artificial set."""
    generate, checkerboard = _ARTIFICIAL[name]
    data = generate(n_samples, noise=NOISE, random_state=0)
    board = None if checkerboard is None else checkerboard(data.truth)
    return Case(name, data.X, data.labels, board, data.truth, (2,), data.X.shape[1])


def images(name: str, size: Size = FULL) -> Case:
    """Return images in all their principal axes, at most n - 1 of them: no distance changes."""
    load, dimension = IMAGES[name]
    data = size.part(load())
    X = data.X.astype(np.float64) / GREY_LEVELS
    rotated = principal_coordinates(X).coordinates
    return Case(name, rotated, data.labels, None, None, (dimension, 2), X.shape[1])


def _roll_squares(truth: FloatArray) -> IntArray:
    """Return the checkerboard that van der Maaten's toolbox puts on Swiss rolls."""
    length, height = truth.T
    t = np.linspace(ROLL_BEGINS, 2 * ROLL_BEGINS, 10_000)
    along = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    angle = np.interp(length, along - along[0], t)
    return ((np.round(angle / 2) + np.round(height / 12)) % 2).astype(np.intp)


def _s_curve_squares(truth: FloatArray) -> IntArray:
    """Return the like on the S-curve, where arc length is the angle t and the height 2."""
    t, height = truth[:, 0] + S_CURVE_BEGINS, truth[:, 1]
    return ((np.round(t / 2) + np.round(height / 2)) % 2).astype(np.intp)


_ARTIFICIAL: Mapping[
    str, tuple[Callable[..., Dataset], Callable[[FloatArray], IntArray] | None]
] = {
    "BSC": (broken_s_curve, _s_curve_squares),
    "SR1": (rotated_swiss_rolls, _roll_squares),
    "SR2": (parallel_swiss_rolls, _roll_squares),
    "FM": (four_moons, None),
}

# The dimensions in which kernel PCA has about the errors of the thesis.
IMAGES: Mapping[str, tuple[Callable[[], Dataset], int]] = {
    "COIL20": (load_coil20, 5),
    "Olivetti": (load_olivetti, 8),
}

CASES = (*_ARTIFICIAL, *IMAGES)
