r"""Exact nearest neighbors in many dimensions: all points by lower bounds, a few by distances.

Let P hold r leading principal axes, and φ(x) = (P(x − μ), ‖(x − μ) − PᵀP(x − μ)‖): the coordinates
along them and the length of the rest. Since ‖a‖ − ‖b‖ ≤ ‖a − b‖, φ brings no two points farther
apart,

    ‖φ(x) − φ(y)‖ ≤ ‖x − y‖.

So distances of φ in single precision, less what rounding may add, show of most points that they are
not among the k nearest. The others are compared directly, the least bounds first, until a bound
exceeds the k-th distance. What comes out are the nearest by distances in double precision, however
the bounds were made.

References
----------
Seidl, T. and Kriegel, H.-P. (1998). Optimal multi-step k-nearest neighbor search. SIGMOD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial.distance import cdist

from isofold._memory import block_rows
from isofold._parallel import n_workers, one_blas_thread, ordered_map
from isofold._typing import FloatArray
from isofold._validation import check_positive
from isofold.linalg.gram import principal_coordinates
from isofold.neighbors.search._lists import pack, screen
from isofold.neighbors.search.protocol import (
    Neighbors,
    RadiusNeighbors,
    check_k,
    check_queries,
    drop_own,
    match_precision,
    ragged_rows,
    require_pairs,
)

__all__ = ["BruteForceSearch"]

BLOCK = 4096
"""Queries answered together by one thread. So many are not shared out among several."""

TILE = 8
"""Rows are filled up to a multiple of this, so that the kernel takes whole tiles."""

LANES = 16
"""Points of a panel, as the kernel takes them."""

FAR = 1e30
"""Squared length in the unit of the points beyond which a query has no bounds, as none fit in
single precision."""


@dataclass(frozen=True)
class ScreenRules:
    """Constants that decide how much is seen at first; neighbors do not depend on them.

    Attributes
    ----------
    fewest_points, fewest_columns : int
        Of fewer points or columns, bounds are made from all columns.
    n_for_center : int
        Points of which the median is the origin.
    n_sampled : int
        Points from which principal axes are found.
    variance : float
        Fraction of the variance along the axes that bounds are made from.
    most_axes : float
        Axes beyond which bounds are made from all columns, as a fraction of these.
    """

    fewest_points: int = 2000
    fewest_columns: int = 24
    n_for_center: int = 100
    n_sampled: int = 1000
    variance: float = 0.95
    most_axes: float = 0.7


DEFAULT_RULES = ScreenRules()


class BruteForceSearch:
    """Exact search by comparing all pairs, most of them by lower bounds, for many dimensions.

    The neighbors of a query depend on that query alone, to the bit.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        The points.
    rules : ScreenRules, optional
        Constants that decide how much is seen at first.
    n_jobs : int or None, default=None
        Threads of a query, by scikit-learn's convention.
    """

    def __init__(
        self, X: FloatArray, *, rules: ScreenRules = DEFAULT_RULES, n_jobs: int | None = None
    ) -> None:
        self._points = np.ascontiguousarray(X)
        self._workers = n_workers(n_jobs)
        # What BLAS rounds depends on its threads, and with it how much is compared.
        with one_blas_thread():
            self._view = _View.of(self._points, rules)
            n, width = -(-len(X) // LANES) * LANES, self._view.width
            self._panels = np.zeros(n * width, dtype=np.float32)
            self._norms = np.zeros(n, dtype=np.float32)
            for block in _blocks(self._points):
                rows, norms = self._view.see(self._points[block])
                panels = self._panels[block.start * width :]
                # Norms are those of the view.
                pack(rows, np.zeros((1, width)), np.array([len(rows)]), panels, norms.copy())
                self._norms[block] = norms

    @property
    def points(self) -> FloatArray:
        """The points compared with."""
        return self._points

    @property
    def n_points(self) -> int:
        """Number of points compared with."""
        return len(self._points)

    def query(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of every query."""
        points, k = check_queries(points, self._points), check_k(k, self.n_points)
        distances = np.empty((len(points), k), dtype=points.dtype)
        indices = np.empty((len(points), k), dtype=np.int64)
        blocks = _blocks(points)
        workers = min(self._workers, len(blocks))
        parts = ordered_map(lambda block: self._nearest(points[block], k), blocks, n_jobs=workers)
        for block, found in zip(blocks, parts, strict=True):
            distances[block], indices[block] = found.distances, found.indices
        return Neighbors(distances, indices)

    def query_self(self, k: int) -> Neighbors:
        """Return the k nearest other points of every point."""
        k = check_k(k, self.n_points - 1)
        return drop_own(self.query(self._points, k + 1), np.arange(self.n_points))

    def query_radius(self, points: FloatArray, radius: float) -> RadiusNeighbors:
        """Return all points within a radius of every query, the rim included."""
        points, radius = check_queries(points, self._points), check_positive(radius, name="radius")
        rows, columns, lengths = [], [], []
        step = block_rows(self.n_points * 8, len(points))
        for start in range(0, len(points), step):
            # Direct differences: a rim decided by cancelled digits would not be a rim.
            block = cdist(points[start : start + step], self._points)
            row, column = np.nonzero(block <= radius)
            rows.append(row + start)
            columns.append(column)
            lengths.append(block[row, column])
            require_pairs(sum(map(len, rows)), radius)
        found = match_precision(points, np.concatenate(lengths))
        return ragged_rows(np.concatenate(rows), np.concatenate(columns), found, len(points))

    def _nearest(self, points: FloatArray, k: int) -> Neighbors:
        """Return the k nearest points of a block of queries."""
        queries = np.ascontiguousarray(points, dtype=np.float64)
        rows, norms = self._view.see(queries)
        spare = -len(queries) % TILE
        distances = np.empty((len(queries), k))
        indices = np.empty((len(queries), k), dtype=np.int64)
        screen(
            queries,
            self._points,
            np.pad(rows.astype(np.float32), ((0, spare), (0, 0))),
            np.pad(norms, (0, spare)),
            self._panels,
            self._norms,
            self._view.unit,
            distances,
            indices,
        )
        return Neighbors(distances, indices)


@dataclass(frozen=True, eq=False)
class _View:
    """The map that brings no two points farther apart: leading axes and the length of the rest.

    Attributes
    ----------
    center : ndarray of shape (d,)
        The origin.
    unit : float
        The unit of length.
    axes : ndarray of shape (d, r) or None
        The axes; without, the map keeps all columns.
    """

    center: FloatArray
    unit: float
    axes: FloatArray | None

    @classmethod
    def of(cls, X: FloatArray, rules: ScreenRules) -> Self:
        """Return the map for points."""
        n, d = X.shape
        # A few points far away would take a mean with them, and all axes.
        center = np.median(_evenly(X, rules.n_for_center).astype(np.float64), axis=0)
        unit = max(float(X.max() - center.min()), float(center.max() - X.min())) or 1.0
        if n < rules.fewest_points or d < rules.fewest_columns:
            return cls(center, unit, None)
        offsets = (_evenly(X, rules.n_sampled) - center) / unit
        lengths = np.linalg.norm(offsets, axis=1, keepdims=True)
        principal = principal_coordinates(offsets / np.where(lengths > 0, lengths, 1.0), d)
        reached = np.cumsum(principal.variances) >= rules.variance * principal.total_variance
        n_axes = int(np.argmax(reached)) + 1
        return cls(
            center, unit, principal.axes[:, :n_axes] if n_axes <= rules.most_axes * d else None
        )

    @property
    def width(self) -> int:
        """Columns of what the map returns."""
        return len(self.center) if self.axes is None else self.axes.shape[1] + 1

    def see(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the map's images of points, and squared norms less what squares may be off.

        Notes
        -----
        Images are rounded to single precision, of unit u, by up to u|a|; the length of the rest of
        an image a is a root, off by up to δ|a|, where δ² is 4 d^1.5 times the unit of double
        precision. With that, (|a|² + |b|²) − 2ab in single precision exceeds the square of a − b by
        no more than (2D + 10)u + 7(u + δ) times |a|² + |b|², with D columns.
        """
        offsets = (points - self.center) / self.unit
        squares = np.einsum("ij,ij->i", offsets, offsets)
        is_far = ~(squares < FAR)
        offsets[is_far] = 0.0
        off = (2 * self.width + 17) * 2.0**-24
        if self.axes is not None:
            along = offsets @ self.axes
            rest = np.maximum(squares - np.einsum("ij,ij->i", along, along), 0.0)
            offsets = np.column_stack((along, np.sqrt(np.where(is_far, 0.0, rest))))
            off += 14.0 * len(self.center) ** 0.75 * 2.0**-26.5
        norms = np.where(is_far, -np.inf, (1.0 - off) * squares)
        return offsets, norms.astype(np.float32)


def _evenly(X: FloatArray, most: int) -> FloatArray:
    """Return evenly spaced rows: a choice without chance."""
    n = len(X)
    return X[np.linspace(0, n - 1, min(n, most)).astype(np.intp)]


def _blocks(points: FloatArray) -> list[slice]:
    """Return blocks of rows, each of whole panels but the last."""
    n, d = points.shape
    step = min(BLOCK, LANES * -(-block_rows(3 * 8 * d, n) // LANES))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
