"""Agreement with known coordinates, and what a projection leaves out.

References
----------
Embedding error of out-of-sample points: Strange (2011), eq. 5.13.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._typing import FloatArray
from isofold._validation import check_count, check_pair, check_points, check_units
from isofold.exceptions import InvalidInputError
from isofold.linalg import principal_coordinates, procrustes
from isofold.quality.score import Score, draw_rows


def procrustes_error(Y: Any, truth: Any, *, scale: bool = False) -> Score:
    """Distance from known coordinates after the best rigid motion; 0 is best.

    √(Σ ‖y_i R + b − t_i‖² / Σ ‖t_i − t̄‖²): 0.01 means that points lie one percent of the truth's
    own spread away from where they should be. Reflections are allowed.

    Parameters
    ----------
    Y : array-like of shape (n_points, n_components)
        The embedding.
    truth : array-like of shape (n_points, n_dimensions)
        The true coordinates; the narrower of the two tables is filled up with zeros.
    scale : bool, default=False
        Allow a common factor too: judges the shape, not the lengths.

    Returns
    -------
    Score
        The error, with every point's own distance (in the same unit) as its per-point form.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.quality import procrustes_error
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> round(procrustes_error(2 * square, square), 6)
    1.0
    >>> round(procrustes_error(2 * square, square, scale=True), 6)
    0.0
    """
    Y, truth = check_pair(Y, truth, names=("Y", "truth"))
    width = max(Y.shape[1], truth.shape[1])
    Y, truth = (_widen(table, width) for table in (Y, truth))
    spread = float(np.sqrt(np.mean(np.sum((truth - truth.mean(axis=0)) ** 2, axis=1))))
    if (truth == truth[0]).all():
        msg = "All true coordinates coincide, so no relative error exists. Check `truth`."
        raise InvalidInputError(msg)
    moved = procrustes(Y, truth, scale=scale).transform.apply(Y)
    distance = np.sqrt(np.sum((moved - truth) ** 2, axis=1)) / spread
    value = float(np.sqrt(np.mean(distance**2)))
    return Score(value, sample=draw_rows(len(Y), None), per_point=distance)


def out_of_sample_error(expected: Any, placed: Any, *, reference: Any = None) -> Score:
    """Root mean squared distance of newly placed points from where they should be; 0 is best.

    Parameters
    ----------
    expected : array-like of shape (n_new, n_components)
        Where an embedding of all points puts the new ones.
    placed : array-like of shape (n_new, n_components)
        Where the extension of an embedding of the old points puts them.
    reference : tuple of two array-likes of shape (n_old, n_components), optional
        The old points in the embedding of the old alone and in that of all. The rigid motion
        from the first to the second is applied to `placed` before the comparison.

    Returns
    -------
    Score
        The error in the unit of the embedding, with every point's own distance.
    """
    expected, placed = check_pair(expected, placed, names=("expected", "placed"), min_samples=1)
    if expected.shape != placed.shape:
        msg = f"expected has shape {expected.shape} and placed has {placed.shape}; they must agree."
        raise InvalidInputError(msg)
    if reference is not None:
        if not isinstance(reference, tuple | list) or len(reference) != 2:
            msg = "reference must be a pair: the old points embedded alone, and among all."
            raise InvalidInputError(msg)
        old_alone, old_in_all = check_pair(*reference, names=("reference[0]", "reference[1]"))
        placed = procrustes(old_alone, old_in_all).transform.apply(placed)
    distance = np.sqrt(np.sum((expected.astype(np.float64) - placed) ** 2, axis=1))
    value = float(np.sqrt(np.mean(distance**2)))
    return Score(value, sample=draw_rows(len(expected), None), per_point=distance)


def spectrum(Y: Any) -> FloatArray:
    """Fraction of the variance along each principal axis, largest first.

    Parameters
    ----------
    Y : array-like of shape (n_points, n_components)
        The points.

    Returns
    -------
    ndarray of shape (min(n_points, n_components),)
        Fractions that sum to 1; all 0 if the points coincide.
    """
    Y = check_points(Y, name="Y", min_samples=1)
    check_units(Y, name="Y")
    if (Y[0] == Y).all():
        return np.zeros(min(Y.shape))
    variances = principal_coordinates(Y, min(Y.shape)).variances
    return np.asarray(variances / variances.sum())


def variance_loss(Y: Any, n_components: int) -> float:
    """Fraction of the variance beyond the first principal axes; 0 if they hold everything.

    Parameters
    ----------
    Y : array-like of shape (n_points, n_features)
        The points, for example an unfolding before its final projection.
    n_components : int
        How many axes are kept.

    Returns
    -------
    float
        The fraction that is lost.
    """
    kept = check_count(n_components, name="n_components")
    return float(spectrum(Y)[kept:].sum())


def _widen(table: FloatArray, width: int) -> FloatArray:
    wide = np.zeros((len(table), width))
    wide[:, : table.shape[1]] = table
    return wide
