"""New points by their distances to the training points: barycentric weights without coordinates.

All d_j² = |y − y_j|² + h² with one height h above the map. Less their mean these equations are
linear in y and locate the point among the images of its neighbors (Gower, 1968).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold._validation import (
    check_count,
    check_graph,
    check_points,
    check_units,
    read_points,
    refuse_no_distances,
)
from isofold.exceptions import InvalidInputError
from isofold.extension.neighborhoods import Spread, lengths_of, neighborhoods_of
from isofold.extension.weights import (
    apply_weights,
    fading_fractions,
    rounding_floors,
    solve_axes,
    tilt_fractions,
    torn,
    weight_matrix,
)
from isofold.neighbors import Neighbors
from isofold.neighbors.duplicates import Distinct, find_distinct
from isofold.neighbors.precomputed import nearest_in_rows

__all__ = ["DistanceMap", "fit_from_distances"]


@dataclass(frozen=True, eq=False)
class DistanceMap:
    """Places new points by distances, see `fit_from_distances`.

    Attributes
    ----------
    images : ndarray of shape (n, q)
        The embedding.
    distinct : Distinct
        Which training points share an image.
    n_neighbors : int
        Neighbors that count.
    """

    images: FloatArray
    distinct: Distinct
    n_neighbors: int

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new points.

        Parameters
        ----------
        X_new : array-like or sparse matrix of shape (n_new, n)
            Distances to the training points. Of a sparse matrix, what is not stored is unknown,
            and a stored zero says that the points are equal.

        Returns
        -------
        ndarray of shape (n_new, q)
            Their images, in the precision of the embedding.
        """
        return apply_weights(self.weights(X_new), self.images)

    def weights(self, X_new: Any) -> sp.csr_array:
        """Return the weights of new points over the training points.

        Parameters
        ----------
        X_new : array-like or sparse matrix of shape (n_new, n)
            Distances to the training points, as in `transform`.

        Returns
        -------
        csr_array of shape (n_new, n)
            Weights, each row with sum one; negative ones occur. Of several training points with
            one image the first is weighted.

        Raises
        ------
        InvalidInputError
            If the distances do not fit the training points, or a row knows none.
        """
        n_used = min(self.n_neighbors, self.distinct.n_nodes)
        n_listed = min(n_used + 1, self.distinct.n_nodes)
        if sp.issparse(X_new):
            near = self._nearest_stored(X_new, n_listed)
        else:
            near = self._nearest(X_new, n_listed)
        used = self.distinct.sample_of_node[near.indices[:, :n_used]]
        weights = np.empty(used.shape)
        step = block_rows(4 * 8 * n_used * self.images.shape[1], len(used))
        for start in range(0, len(used), step):
            block = slice(start, start + step)
            weights[block] = self._place(near.distances[block], used[block])
        return weight_matrix(weights, used, len(self.images))

    def _place(self, distances: FloatArray, used: IntArray) -> FloatArray:
        """Return weights by Gower's formula, c_l = Σ √ω_j U_jl (|y_j − m|² − d_j²)/(2 s_l²)."""
        near = self.images[used].astype(np.float64, copy=False)
        offsets = near - near[:, :1]
        lengths = distances[:, : used.shape[1]]
        reach = lengths + lengths[:, :1]
        stretches = np.divide(lengths_of(offsets), reach, out=np.zeros_like(reach), where=reach > 0)
        fractions = fading_fractions(distances, ~torn(stretches, _usual(stretches, reach)))
        neighbors = neighborhoods_of(offsets, np.zeros_like(offsets[:, 0]))
        spread, squares = neighbors.spread(fractions), neighbors.from_means(fractions)
        # d_j² − d_1² in the form that does not cancel; unknown distances have weight zero.
        known = np.where(np.isfinite(lengths), lengths, lengths[:, :1])
        squares -= (known - known[:, :1]) * (known + known[:, :1])
        products = _beyond_noise(np.sqrt(fractions) * squares, spread)
        eps = float(np.finfo(self.images.dtype).eps)
        floors = rounding_floors(eps * np.abs(near).max(axis=2))
        tilts = solve_axes(spread, solve_axes(spread, products, floors), floors)
        return tilt_fractions(spread, tilts)

    def _nearest(self, X_new: Any, n_listed: int) -> Neighbors:
        distances = read_points(X_new, name="X_new")
        self._refuse_misfit(distances.shape)
        refuse_no_distances(distances, name="X_new")
        check_units(distances, name="X_new")
        indptr, by_node = self.distinct.samples_by_node()
        nearest = np.empty((len(distances), n_listed))
        indices = np.empty((len(distances), n_listed), dtype=np.intp)
        step = block_rows(3 * 8 * distances.shape[1], len(distances))
        for start in range(0, len(distances), step):
            block = distances[start : start + step].astype(np.float64, copy=False)
            if self.distinct.has_copies:
                block = np.minimum.reduceat(block[:, by_node], indptr[:-1], axis=1)
            found = nearest_in_rows(block, n_listed)
            nearest[start : start + step], indices[start : start + step] = found
        return Neighbors(nearest, indices)

    def _nearest_stored(self, X_new: Any, n_listed: int) -> Neighbors:
        """Return the nearest of the known nodes; rows that know fewer end in infinity."""
        self._refuse_misfit(X_new.shape)
        stored = check_graph(X_new, name="X_new", square=False)
        rows, columns = stored.coords
        n_known = np.bincount(rows, minlength=stored.shape[0])
        if not n_known.all():
            row = int(n_known.argmin())
            msg = (
                f"Row {row} of X_new stores no distance, so nothing is known about where the point "
                f"lies. Store its distances to some training points, or drop the row."
            )
            raise InvalidInputError(msg)
        check_units(stored.data, name="X_new")
        nodes = self.distinct.node_of_sample[columns]
        lengths = stored.data.astype(np.float64, copy=False)
        # Of several samples with one image the nearest speaks for all.
        order = np.lexsort((lengths, nodes, rows))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = (np.diff(rows[order]) != 0) | (np.diff(nodes[order]) != 0)
        order = order[first]
        order = order[np.lexsort((nodes[order], lengths[order], rows[order]))]
        starts = np.searchsorted(rows[order], np.arange(stored.shape[0]))
        position = np.arange(len(order)) - starts[rows[order]]
        order, position = order[position < n_listed], position[position < n_listed]
        nearest = np.full((stored.shape[0], n_listed), np.inf)
        indices = np.zeros((stored.shape[0], n_listed), dtype=np.intp)
        nearest[rows[order], position] = lengths[order]
        indices[rows[order], position] = nodes[order]
        return Neighbors(nearest, indices)

    def _refuse_misfit(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 2 or shape[1] != len(self.images) or shape[0] == 0:
            msg = (
                f"X_new has shape {shape}, but the map was made from {len(self.images)} training "
                f"points. Pass one row a new point, with its distances to all of them."
            )
            raise InvalidInputError(msg)


def _usual(stretches: FloatArray, reach: FloatArray) -> FloatArray:
    """Return how far apart images usually are, relative to the path over the new point.

    At most that path, since the map keeps local distances. Where the data have more dimensions
    than the map, all are closer, and those that are far belong to another part of it.
    """
    known = np.where(np.isfinite(reach), stretches, np.nan)
    usual: FloatArray = np.minimum(1.0, np.nanmedian(known, axis=1, keepdims=True))
    return usual


def _beyond_noise(squares: FloatArray, spread: Spread) -> FloatArray:
    """Return ½ U_l·squares, each damped by p²/(p² + its variance).

    The variance is estimated from what no place on the map explains of the squared distances. It is
    zero where the map keeps distances. Where data have more dimensions than the map, the
    rest is larger than the differences that locate the point, which would be thrown far out.
    """
    products = np.einsum("mk,mkr->mr", squares, spread.left)
    roots = np.sqrt(spread.fractions)
    # One height above the map is common to all: the component along √ω.
    heights = np.einsum("mk,mk->m", squares, roots)[:, None]
    rest = squares - heights * roots - np.einsum("mkr,mr->mk", spread.left, products)
    n_free = np.maximum((spread.fractions > 0).sum(axis=1) - 1 - products.shape[1], 1)
    noise = np.einsum("mk,mk->m", rest, rest)[:, None] / n_free[:, None]
    power = products**2
    total = power + noise
    kept = np.divide(power, total, out=np.zeros_like(total), where=total > 0)
    damped: FloatArray = 0.5 * kept * products
    return damped


def fit_from_distances(Y: Any, *, n_neighbors: int = 12) -> DistanceMap:
    """Return the map that places new points by their distances to the training points.

    Parameters
    ----------
    Y : array-like of shape (n, q)
        The embedding, in the units of the distances.
    n_neighbors : int, default=12
        Nearest training points that carry a new one; all that are known if there are fewer.

    Returns
    -------
    DistanceMap
        The map.

    Raises
    ------
    InvalidInputError
        If the embedding cannot be used.

    Notes
    -----
    Weights need the Gram matrix of the neighbors about the new point,
    C_ab = (d_a² + d_b² − d_ab²)/2. The distances d_ab between neighbors are taken from the map,
    d_ab = |y_a − y_b|: it keeps local distances, and no n × n matrix need be kept for it. This
    is Gower's formula [1]_: the new point is located by its distances to the images.

    Where too few distances are known to locate it, the point stays with the mean of its
    neighbors; with one distance it gets that neighbor's image.

    References
    ----------
    .. [1] J. C. Gower, "Adding a point to vector diagrams in multivariate analysis", Biometrika
       55, 1968.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> new_map = fit_from_distances(Y)
    >>> new_map.transform([[np.sqrt(2), 1.0, 1.0]]).round(12)
    array([[1., 1.]])
    """
    images = check_points(Y, name="Y", min_samples=1)
    check_units(images, name="Y")
    k = check_count(n_neighbors, name="n_neighbors")
    return DistanceMap(images.copy(), find_distinct(images), k)
