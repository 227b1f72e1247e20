r"""The way back: points of a map to points of the data, by their neighbors on the map.

The weights that place a point y of the map among its neighbors place a point of the data among
theirs:

    x = Σ w_j x_j,   Σ w_j = 1,   Σ w_j y_j = y.

They are those of `isofold.extension.barycentric` with both sides exchanged, so that the image of a
training point leads back to it, and an affine map is inverted exactly. Where the map is smooth,
x = f(y) with |f''| ≤ c, and the neighbors lie within h of y, the error is at most
½c h² Σ|w_j|: of second order.

A map of few dimensions may lay points on each other that are apart in the data, where it is torn or
folded. Neighbors that are much farther from the nearest one *in the data* than is usual nearby are
left out, unless they are where the others lead to. Where data are thick, x is a mean of many, the
more the thicker they are: the number of neighbors is the one with which training points that
are left out are restored best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isofold._memory import block_rows
from isofold._typing import Auto, BoolArray, FloatArray, IntArray
from isofold._validation import check_choice, check_count, check_pair, check_points, check_width
from isofold.extension.region import SampledRegion
from isofold.extension.training_points import TrainingPoints
from isofold.extension.weights import (
    fading_fractions,
    in_one_part,
    place_weights,
    rounding_floors,
)
from isofold.neighbors import Neighbors, build_search
from isofold.neighbors.duplicates import find_distinct
from isofold.neighbors.search.protocol import drop_own

__all__ = ["LocalInverse", "WayBack", "fit_way_back"]

CANDIDATES = (10, 16, 30, 60)
"""Numbers of neighbors that are compared, beside one that grows with the dimension of the map."""

N_HELD_OUT = 400
"""Training points that are left out in turn to compare them."""

WORST, AS_GOOD = 0.01, 1.02
"""Fraction of these that is not counted, since points at the rim and at tears would decide; and how
much larger the error may be for the sake of fewer neighbors."""

EXACT = 1e-9
"""Error relative to the data that is no more than rounding."""

LARGEST_TILT = 3.0
"""A point is extrapolated up to so many standard deviations of its neighbors; 2 are within."""


@dataclass(frozen=True, eq=False)
class WayBack:
    """Leads from points of a map to points of the data, see `fit_way_back`.

    Attributes
    ----------
    training : TrainingPoints
        The distinct images of the training points, each with its point of the data.
    n_neighbors : int
        Neighbors on the map that count.
    """

    training: TrainingPoints
    n_neighbors: int

    def transform(self, Y: Any) -> FloatArray:
        """Return the points of the data that belong to points of the map.

        Parameters
        ----------
        Y : array-like of shape (n_new, q)
            Points of the map.

        Returns
        -------
        ndarray of shape (n_new, d)
            Points of the data, in the precision of the training points.
        """
        queries = check_points(Y, name="Y", min_samples=1).astype(np.float64, copy=False)
        check_width(queries, self.training.points.shape[1], name="Y")
        n_used = min(self.n_neighbors, self.training.n_points)
        near = self.training.nearest(queries, min(n_used + 1, self.training.n_points))
        return self._restored(queries, near, n_used)

    def is_outside(self, Y: Any, *, level: float = 0.01) -> BoolArray:
        """Return which points of the map are far from all images of training points.

        Parameters
        ----------
        Y : array-like of shape (n_new, q)
            Points of the map.
        level : float, default=0.01
            Fraction of the training points that are as remote.

        Returns
        -------
        ndarray of bool of shape (n_new,)
            Whether there are no data: what `transform` returns is a guess.
        """
        queries = check_points(Y, name="Y", min_samples=1).astype(np.float64, copy=False)
        check_width(queries, self.training.points.shape[1], name="Y")
        return self._region.is_outside(queries, level=level)

    @cached_property
    def _region(self) -> SampledRegion:
        return SampledRegion.around(self.training, 10)

    def misses_more_than(self, inverse: Callable[[FloatArray], FloatArray]) -> bool:
        """Return whether another inverse leads images of training points closer to these.

        These points helped to make the other one, but are held out here.
        """
        points = self._some_points
        missed = self._missed(points, inverse(self.training.points[points]))
        is_exact = missed <= EXACT * float(np.abs(self.training.images).max())
        return is_exact or missed <= self.held_out_error()

    def held_out_error(self) -> float:
        """Return how far some training points are from where the others lead, root mean squared."""
        training, points = self.training, self._some_points
        n_used = min(self.n_neighbors, training.n_points - 1)
        queries = training.points[points]
        near = training.nearest(queries, min(n_used + 2, training.n_points))
        return self._missed(points, self._restored(queries, drop_own(near, points), n_used))

    @property
    def _some_points(self) -> IntArray:
        """Some training points, enough to measure errors."""
        n = self.training.n_points
        return np.arange(n)[:: -(-n // N_HELD_OUT)]

    def _missed(self, points: IntArray, restored: FloatArray) -> float:
        """Return how far training points are from others, root mean squared."""
        apart = restored - self.training.images_at(points)
        squares = np.sort(np.einsum("md,md->m", apart, apart))
        return float(np.sqrt(squares[: max(1, int((1.0 - WORST) * len(squares)))].mean()))

    def _restored(self, queries: FloatArray, near: Neighbors, n_used: int) -> FloatArray:
        """Return points of the data by the first neighbors; a further one tells where they fade."""
        rows, n = self.training.images, len(queries)
        restored = np.empty((n, rows.shape[1]), dtype=rows.dtype)
        # The neighbors of a row are gathered and weighed.
        step = block_rows(2 * 8 * n_used * rows.shape[1], n)
        for start in range(0, n, step):
            block = slice(start, start + step)
            restored[block] = self._restore(
                queries[block], near.distances[block, : n_used + 1], near.indices[block, :n_used]
            )
        return restored

    def _restore(self, queries: FloatArray, distances: FloatArray, used: IntArray) -> FloatArray:
        # Measured from the nearest, so that a point far away costs no digits.
        near, rows = self.training.around(queries, used), self.training.images_at(used)
        first = rows[:, 0].copy()
        rows -= first[:, None]
        floors = rounding_floors(self.training.rounding[used])
        weights = place_weights(
            near,
            fading_fractions(distances, in_one_part(near, rows, floors)),
            n_kept=near.n_columns,
            thinness=None,
            floors=floors,
            largest=LARGEST_TILT,
        )
        restored: FloatArray = first + np.einsum("mk,mkd->md", weights, rows)
        return restored


class LocalInverse:
    """Gives a map that knows its training points an inverse by local weights.

    The way back is made when it is first asked for, and no part of a model file.
    """

    def training_pairs(self) -> tuple[FloatArray, FloatArray]:
        """Return the training points and their images."""
        # Of maps that keep their training points; others have pairs of their own.
        training: TrainingPoints = self.training  # type: ignore[attr-defined]
        return training.points, training.own_images

    @cached_property
    def way_back(self) -> WayBack:
        """The way from points of the map to points of the data."""
        return _with_best_neighbors(_exchanged(*self.training_pairs()))

    def inverse_transform(self, Y: FloatArray) -> FloatArray:
        """Return the points of the data that belong to points of the map."""
        return self.way_back.transform(Y)


def fit_way_back(X: Any, Y: Any, *, n_neighbors: int | Auto = "auto") -> WayBack:
    """Return the way back from a map to the data, by local weights on the map.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The data.
    Y : array-like of shape (n, q)
        Their map, by whatever method.
    n_neighbors : int or "auto", default="auto"
        Neighbors on the map that carry a point; all if there are fewer. "auto" compares several
        numbers on training points that are left out.

    Returns
    -------
    WayBack
        The way back. Samples with the same image share one point of the data: their mean.

    Raises
    ------
    InvalidInputError
        If the data or the map cannot be used, or they differ in length.

    Notes
    -----
    Images of training points lead back to these exactly. A point outside of the map is extrapolated
    linearly up to three standard deviations of its neighbors; one farther away is treated as if it
    were that far, in the same direction. `WayBack.is_outside` tells which these are.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> back = fit_way_back(X, 3 * X + 1)
    >>> back.transform([[1.75, 2.5]]).round(12)
    array([[0.25, 0.5 ]])
    """
    rows, images = check_pair(X, Y, min_samples=1)
    # A copy: callers may write to theirs.
    training = _exchanged(rows.copy(), images)
    if isinstance(n_neighbors, str):
        check_choice(n_neighbors, ("auto",), name="n_neighbors")
        return _with_best_neighbors(training)
    return WayBack(training, check_count(n_neighbors, name="n_neighbors"))


def _exchanged(rows: FloatArray, images: FloatArray) -> TrainingPoints:
    """Return the distinct images as points, and the mean of the data at each of them."""
    distinct = find_distinct(images)
    points = images[distinct.sample_of_node].astype(np.float64, copy=False)
    if len(points) < len(images):
        rows = _means(rows, distinct.node_of_sample, distinct.sample_of_node)
    return TrainingPoints(
        points=points,
        images=rows,
        samples=np.arange(len(points)),
        search=build_search(points, n_jobs=1),
        rounding=float(np.finfo(images.dtype).eps) * np.abs(points).max(axis=1),
    )


def _means(rows: FloatArray, group: IntArray, first: IntArray) -> FloatArray:
    """Return the means of the rows of groups; rows that are equal are their own mean."""
    offsets = rows - rows[first][group]
    sums = np.zeros((len(first), rows.shape[1]), dtype=rows.dtype)
    np.add.at(sums, group, offsets)
    sizes = np.bincount(group, minlength=len(first)).astype(rows.dtype)
    means: FloatArray = rows[first] + sums / sizes[:, None]
    return means


def _with_best_neighbors(training: TrainingPoints) -> WayBack:
    """Return the way back that restores training points best which are left out."""
    n, q = training.points.shape
    tried = sorted({k for k in (*CANDIDATES, 2 * q + 4) if q < k < n})
    if not tried:
        return WayBack(training, n)
    errors = [WayBack(training, k).held_out_error() for k in tried]
    good = next(k for k, error in zip(tried, errors, strict=True) if error <= AS_GOOD * min(errors))
    return WayBack(training, good)
