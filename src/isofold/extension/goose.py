r"""GOoSE: new points by the best similarity between their neighbors and the images of these.

Any embedding will do, since nothing but pairs (x_j, y_j) is looked at. Of a new point x take the
k nearest training points N, their means μ_x and μ_y, and the q widest axes V of X_N − μ_x. Then

    Z = (X_N − μ_x)V,      Zᵀ(Y_N − μ_y) = P S Qᵀ,      R = P Qᵀ,      y = μ_y + (x − μ_x) V R B,

where B scales. *Range* (the thesis): the ratio of extents of Y_N − μ_y and ZR along each coordinate
of the embedding, about right if it was stretched along these. *Isotropic*: b = tr S / tr ZᵀZ,
right if it is a similarity. *Least squares*: RB is replaced by (ZᵀZ)⁻¹Zᵀ(Y_N − μ_y), right if it is
affine, in whatever direction; that is a sum of images with barycentric weights.

The thesis's map does not pass through the training points. Here the means may be weighted by
fractions ω_j that fade where another neighbor becomes the last, and of which the nearest takes all
where x meets it:

    y = Σ ω_j y_j + (x − Σ ω_j x_j) V R B.

So training points keep their images, and where the embedding is a similarity of flat data nothing
changes. Least squares then runs over all axes, thin ones damped, since many embeddings follow the
noise: it is the barycentric map (`isofold.extension.barycentric`). Neighbors whose images are torn
off from that of the nearest one are left out.

The printed algorithm has eight errors (it centers nothing and rotates after it moved); this
is its sound form.

References
----------
Strange, H. and Zwiggelaar, R. (2011). A generalised solution to the out-of-sample extension problem
in manifold learning. AAAI.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from isofold._findings import parameter, setting
from isofold._parallel import ordered_map
from isofold._progress.stages import stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_choice, check_count, check_flag, check_points
from isofold.exceptions import InvalidInputError
from isofold.extension.neighborhoods import Neighborhoods
from isofold.extension.training_points import TrainingPoints, read_training_points
from isofold.extension.way_back import LocalInverse
from isofold.extension.weights import (
    THINNESS,
    bound_tilts,
    fading_fractions,
    place_weights,
    rounding_floors,
    solve_axes,
    untorn,
)
from isofold.neighbors.search.protocol import drop_own

__all__ = ["SCALINGS", "GooseMap", "fit_goose"]

SCALINGS = ("least_squares", "range", "isotropic")


@dataclass(frozen=True, eq=False)
class GooseMap(LocalInverse):
    """TrainingPoints new points by a similarity of their neighborhood, see `fit_goose`.

    Attributes
    ----------
    training : TrainingPoints
        The distinct training points with their images.
    n_neighbors : int
        Neighbors that count.
    scaling : {"least_squares", "range", "isotropic"}
        How neighborhoods are scaled.
    interpolates : bool
        Whether training points keep their images.
    n_jobs : int or None
        Threads.
    """

    training: TrainingPoints
    n_neighbors: int
    scaling: str
    interpolates: bool
    n_jobs: int | None = None

    def transform(self, X_new: Any) -> FloatArray:
        """Return the images of new points.

        Parameters
        ----------
        X_new : array-like of shape (n_new, d)
            The points.

        Returns
        -------
        ndarray of shape (n_new, q)
            Their images, in the precision of the embedding.
        """
        queries = check_points(X_new, name="X_new", min_samples=1)
        return self._place(queries, (self.n_neighbors,))[0]

    def held_out(self, n_neighbors: tuple[int, ...]) -> FloatArray:
        """Return where training points would go if they were new, for several numbers of neighbors.

        Parameters
        ----------
        n_neighbors : tuple of int
            Numbers k of neighbors.

        Returns
        -------
        ndarray of shape (len(n_neighbors), n_points, q)
            Images by the k nearest *other* training points.
        """
        return self._place(self.training.points, n_neighbors, are_training=True)

    def _place(
        self, queries: FloatArray, n_neighbors: tuple[int, ...], *, are_training: bool = False
    ) -> FloatArray:
        """Return images by the k nearest training points, for several k; none neighbors itself."""
        training, q = self.training, self.training.images.shape[1]
        images = np.empty((len(n_neighbors), len(queries), q), dtype=training.images.dtype)
        n_own = int(are_training)
        most = min(max(n_neighbors), training.n_points - n_own)
        step = self.training.rows_at_once(most, len(queries))
        starts = range(0, len(queries), step)
        blocks = ((start, queries[start : start + step]) for start in starts)
        place = partial(self._place_block, n_neighbors, most, are_training=are_training)
        with stage("place points", total=len(starts)) as steps:
            found = ordered_map(place, blocks, n_jobs=self.n_jobs, is_pure=True, steps=steps)
            for start, placed in zip(starts, found, strict=True):
                images[:, start : start + step] = placed
        return images

    def _place_block(
        self,
        n_neighbors: tuple[int, ...],
        most: int,
        block: tuple[int, FloatArray],
        *,
        are_training: bool,
    ) -> FloatArray:
        """Return the images of some points, of which the first has a number, for several k."""
        first, queries = block[0], block[1].astype(np.float64, copy=False)
        n_own = int(are_training)
        near = self.training.nearest(queries, min(most + 1 + n_own, self.training.n_points))
        if are_training:
            near = drop_own(near, np.arange(first, first + len(queries)))
        images = [
            self._fit(queries, near.distances[:, : k + 1], near.indices[:, : min(k, most)])
            for k in n_neighbors
        ]
        # As they are kept: half of the bytes come back if the embedding is in single precision.
        return np.stack(images).astype(self.training.images.dtype, copy=False)

    def _fit(self, queries: FloatArray, distances: FloatArray, used: IntArray) -> FloatArray:
        near, images = self.training.around(queries, used), self.training.images_at(used)
        floors = rounding_floors(self.training.rounding[used])
        # Measured from the nearest training point, so that a point far away costs no digits.
        first = images[:, 0].copy()
        images -= first[:, None, :]
        kept = untorn(near, images, floors)
        equal = kept / kept.sum(axis=1, keepdims=True)
        fractions = fading_fractions(distances, kept) if self.interpolates else equal
        q = images.shape[2]
        if self.scaling == "least_squares":
            thinness = THINNESS if self.interpolates else None
            weights = place_weights(near, fractions, n_kept=q, thinness=thinness, floors=floors)
            return first + np.einsum("mk,mkq->mq", weights, images)
        axes = _Axes.of(near, equal, fractions, q, floors)
        centered = images - np.einsum("mk,mkq->mq", equal, images)[:, None]
        moved = axes.carry(centered, kept, isotropic=self.scaling == "isotropic")
        placed: FloatArray = first + np.einsum("mk,mkq->mq", fractions, images) + moved
        return placed


@dataclass(frozen=True, eq=False)
class _Axes:
    """Neighbors and targets along the q widest axes of neighborhoods.

    Attributes
    ----------
    neighbors : ndarray of shape (m, k, q)
        Coordinates Z of the neighbors.
    widths : ndarray of shape (m, q)
        Their standard deviations; zero for axes of no extent.
    targets : ndarray of shape (m, q)
        Coordinates of the targets, bounded.
    """

    neighbors: FloatArray
    widths: FloatArray
    targets: FloatArray

    @classmethod
    def of(
        cls,
        near: Neighborhoods,
        fractions: FloatArray,
        anchors: FloatArray,
        q: int,
        floors: FloatArray,
    ) -> _Axes:
        """Return the coordinates of neighbors, and of points less the means of other fractions."""
        spread = near.spread(fractions)
        n_axes = min(q, spread.widths.shape[1])
        products = near.toward(spread, anchors)
        tilts = bound_tilts(solve_axes(spread, products, floors)[:, :n_axes])
        is_wide = spread.widths[:, :n_axes] > floors[:, None]
        widths = spread.widths[:, :n_axes] * is_wide
        # √ω Z = U S; neighbors of weight zero have no position.
        roots = np.sqrt(fractions)[:, :, None]
        scaled = spread.left[:, :, :n_axes] * spread.widths[:, None, :n_axes]
        along = np.divide(scaled, roots, out=np.zeros_like(scaled), where=roots > 0)
        pad = ((0, 0), (0, q - n_axes))
        return cls(
            neighbors=np.pad(along * is_wide[:, None], ((0, 0), *pad)),
            widths=np.pad(widths, pad),
            targets=np.pad(tilts * widths, pad),
        )

    def carry(self, images: FloatArray, kept: BoolArray, *, isotropic: bool) -> FloatArray:
        """Return the targets rotated and scaled as the neighbors are to fit their images."""
        fractions = kept / kept.sum(axis=1, keepdims=True)
        cross = self.neighbors.swapaxes(1, 2) @ (fractions[:, :, None] * images)
        left, sizes, right = np.linalg.svd(cross)
        rotation = left @ right
        rotated: FloatArray = (self.targets[:, None, :] @ rotation)[:, 0]
        if isotropic:
            return rotated * _ratio(sizes.sum(axis=1), (self.widths**2).sum(axis=1))[:, None]
        return rotated * _ratio(_extents(images, kept), _extents(self.neighbors @ rotation, kept))


def _extents(table: FloatArray, kept: BoolArray) -> FloatArray:
    """Return the ranges of the columns of tables (m, k, q) over the rows that are kept."""
    high = np.where(kept[:, :, None], table, -np.inf).max(axis=1)
    low = np.where(kept[:, :, None], table, np.inf).min(axis=1)
    extents: FloatArray = high - low
    return extents


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return ratios, zero where there is nothing to be scaled."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def fit_goose(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 10,
    scaling: str = "least_squares",
    interpolate: bool = True,
    search: str = "auto",
    n_jobs: int | None = None,
) -> GooseMap:
    """Return the map that places new points by GOoSE.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training points. Equal ones share one image.
    Y : array-like of shape (n, q)
        Their embedding, by whatever method.
    n_neighbors : int, default=10
        Nearest training points that carry a new point, more than q; all if there are fewer.
    scaling : {"least_squares", "range", "isotropic"}, default="least_squares"
        How neighborhoods are scaled; "range" is the thesis's.
    interpolate : bool, default=True
        Whether training points keep their images; else means are plain, as in the thesis.
    search : {"auto", "fast", "kd_tree", "brute", "lists", "hnsw"}, default="auto"
        How neighbors are found; "lists" and "hnsw" are approximate, and "hnsw" needs faiss.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention. Results never depend on it.

    Returns
    -------
    GooseMap
        The map. Its index is built once.

    Raises
    ------
    InvalidInputError
        If the points or the embedding cannot be used, or `n_neighbors` is at most q.

    Notes
    -----
    A point outside of the data is extrapolated linearly up to twenty standard deviations of its
    neighbors; one farther away is placed as if it were that far, in the same direction.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> goose = fit_goose(X, 3 * X + 1)
    >>> goose.transform([[0.25, 0.5], [1.5, 1.0]]).round(12)
    array([[1.75, 2.5 ],
           [5.5 , 4.  ]])
    """
    training = read_training_points(X, Y, search=search, n_jobs=n_jobs)
    k = check_count(n_neighbors, name="n_neighbors")
    refuse_few_neighbors(k, training.images.shape[1])
    return GooseMap(
        training=training,
        n_neighbors=k,
        scaling=check_choice(scaling, SCALINGS, name="scaling"),
        interpolates=check_flag(interpolate, name="interpolate"),
        n_jobs=n_jobs,
    )


def refuse_few_neighbors(k: int, q: int) -> None:
    """Refuse fewer neighbors than a neighborhood of q dimensions needs."""
    if k <= q:
        msg = (
            f"{setting('n_neighbors', k)}, but the embedding has {q} coordinate(s): at least "
            f"{q + 1} neighbors are needed to tell how it runs. Pass "
            f"{parameter('n_neighbors')} >= {q + 1}."
        )
        raise InvalidInputError(msg)
