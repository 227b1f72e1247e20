"""How far a map is from the truth: as a whole, by components, and sample by sample.

The error is that of `docs/ipa-failures.md`, over the samples whose position can be known.
Components that nothing joins may lie anywhere, if the method says that the data are disconnected:
then the shape of each counts. If it does not say so, two sheets laid on each other pass for one:
the error is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.hostile.draws import Draw
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.linalg import procrustes

__all__ = ["Errors", "residuals", "true_errors"]

FAR_WRONG = 0.3
"""Distance from the truth, relative to the extent of the data, from which on a sample is wrong."""


@dataclass(frozen=True)
class Errors:
    """Errors of a map.

    Attributes
    ----------
    error : float
        The one that counts; NaN without a truth.
    whole : float
        That of all components together.
    by_component : float
        That of the components, each laid on the truth by itself.
    wrong, wrong_unmarked : float
        Fraction of the samples far from their true positions, and of those not marked as outliers.
    n_wrong_unmarked : int
        Number of the latter.
    """

    error: float = np.nan
    whole: float = np.nan
    by_component: float = np.nan
    wrong: float = 0.0
    wrong_unmarked: float = 0.0
    n_wrong_unmarked: int = 0


def true_errors(
    draw: Draw, Y: FloatArray, *, components: IntArray | None, outliers: BoolArray | None
) -> Errors:
    """Return the errors of a map.

    Parameters
    ----------
    draw : Draw
        The data set.
    Y : ndarray of shape (n_samples, n_components)
        The map.
    components : ndarray of int of shape (n_samples,) or None
        The component of every sample, if the method says that there are several.
    outliers : ndarray of bool of shape (n_samples,) or None
        Samples that the method marked as outliers.

    Returns
    -------
    Errors
        The errors.
    """
    if draw.truth is None:
        return Errors()
    rows = np.flatnonzero(draw.judged)
    Y, truth = np.asarray(Y, dtype=np.float64)[rows], draw.truth[rows]
    one = np.zeros(len(rows), dtype=np.intp)
    groups = one if draw.labels is None else draw.labels[rows]
    if components is not None and draw.labels is None:
        groups = components[rows]
    whole, split = residuals(Y, truth, one), residuals(Y, truth, groups)
    # Each relative to the spread of what was laid on each other.
    whole_error = _relative(whole, truth, one)
    split_error = _relative(split, truth, groups)
    error, away = whole_error, whole
    if not draw.is_placed and components is None:
        error, away = np.inf, split
    elif not draw.is_placed or (
        draw.is_apart and components is not None and split_error < whole_error
    ):
        error, away = split_error, split
    extent = np.sqrt(((truth - truth.mean(axis=0)) ** 2).sum(axis=1).mean())
    wrong = away > FAR_WRONG * extent
    unmarked = wrong if outliers is None else wrong & ~outliers[rows]
    return Errors(
        float(error),
        whole_error,
        split_error,
        float(wrong.mean()),
        float(unmarked.mean()),
        int(unmarked.sum()),
    )


def residuals(Y: FloatArray, truth: FloatArray, groups: IntArray) -> FloatArray:
    """Return the distance of every sample from the truth, each group laid on it by itself."""
    away = np.zeros(len(Y))
    for group in np.unique(groups):
        rows = groups == group
        # A rigid motion fits so few samples exactly.
        if rows.sum() > truth.shape[1] + 1:
            moved = procrustes(Y[rows], truth[rows]).transform.apply(Y[rows])
            away[rows] = np.linalg.norm(moved - truth[rows], axis=1)
    return away


def _relative(away: FloatArray, truth: FloatArray, groups: IntArray) -> float:
    """Return the root of the sum of squares relative to the spread within groups."""
    spread = 0.0
    for group in np.unique(groups):
        part = truth[groups == group]
        spread += float(((part - part.mean(axis=0)) ** 2).sum())
    return float(np.sqrt((away**2).sum() / spread)) if spread else 0.0
