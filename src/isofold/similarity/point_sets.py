"""Distances and kernels of sets of points: outlines, minutiae, handwritten digits.

A shape context (Belongie, Malik and Puzicha 2002) is a histogram of where the other points of a
shape are seen from one of its points, in rings whose radii grow by a factor and in sectors of the
same angle. Shapes are compared by matching points of similar contexts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import binary_erosion, zoom
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_finite, check_flag, check_positive, check_seed
from isofold.exceptions import InvalidInputError
from isofold.similarity.counts import unit_diagonal
from isofold.similarity.objects import ObjectDistance, ObjectKernel, read_objects

__all__ = [
    "AssignmentDistance",
    "HausdorffDistance",
    "ShapeContextDistance",
    "ShapeContextKernel",
    "image_points",
]

INNER, OUTER = 0.125, 2.0
"""Radii of the innermost and of the outermost ring, in mean distances (Belongie et al. 2002)."""


@dataclass(frozen=True)
class HausdorffDistance(ObjectDistance):
    """How far the loneliest point of either set is from the other set.

    A metric of finite sets of points. One outlier decides it.

    Examples
    --------
    >>> from isofold.similarity import HausdorffDistance
    >>> HausdorffDistance()([[[0, 0], [1, 0]], [[0, 0], [4, 0]]])
    array([[0., 3.],
           [3., 0.]])
    """

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the distance of every set of A to every set of B, or of A to itself."""
        first, second = _read_sets(A, B)
        starts, points = _joined(second)
        D = np.zeros((len(first), len(second)))
        for i, one in enumerate(first):
            lengths = cdist(one, points)
            there = np.minimum.reduceat(lengths, starts, axis=1).max(axis=0)
            back = np.maximum.reduceat(lengths.min(axis=0), starts)
            D[i] = np.maximum(there, back)
        return D


@dataclass(frozen=True)
class AssignmentDistance(ObjectDistance):
    """Mean distance of points that are matched one to one so that it is least.

    Between sets of the same size this is the Wasserstein distance of order 1. The surplus points
    of the larger set are matched to the nearest point of the smaller one, or cost `cutoff` each.

    Parameters
    ----------
    cutoff : float or None, default=None
        The most that a pair of points, and what each surplus point costs: the OSPA metric of order
        1 (Schuhmacher, Vo and Vo 2008). None: pairs cost their distance; then sets of different
        sizes may break the triangle inequality.

    Examples
    --------
    >>> from isofold.similarity import AssignmentDistance
    >>> AssignmentDistance()([[[0, 0], [1, 0]], [[1, 2], [0, 2]]])
    array([[0., 2.],
           [2., 0.]])
    """

    cutoff: float | None = None

    def __post_init__(self) -> None:
        if self.cutoff is not None:
            check_positive(self.cutoff, name="cutoff")

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the distance of every set of A to every set of B, or of A to itself."""
        first, second = _read_sets(A, B)

        def cost(one: FloatArray, other: FloatArray) -> FloatArray:
            lengths = cdist(one, other)
            return lengths if self.cutoff is None else np.minimum(lengths, self.cutoff)

        return _matched(first, second, cost, self.cutoff, is_symmetric=B is None)


@dataclass(frozen=True)
class ShapeContextDistance(ObjectDistance):
    """Mean χ² distance of the shape contexts of matched points, between 0 and 1.

    Shapes that differ by a shift or by their size are the same; turned or mirrored ones are not.
    The distance may break the triangle inequality.

    Parameters
    ----------
    n_rings : int, default=5
        Rings of a histogram.
    n_sectors : int, default=12
        Sectors of a ring.
    unmatched : float, default=0.25
        What each surplus point of the larger set costs; 0.25 is that of Belongie et al.

    Examples
    --------
    >>> from isofold.similarity import ShapeContextDistance
    >>> square, bar = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0], [0, 1], [0, 2], [0, 3]]
    >>> larger = [[5, 5], [5, 7], [7, 5], [7, 7]]
    >>> ShapeContextDistance()([square, larger, bar]).round(2)
    array([[0.  , 0.  , 0.67],
           [0.  , 0.  , 0.67],
           [0.67, 0.67, 0.  ]])
    """

    n_rings: int = 5
    n_sectors: int = 12
    unmatched: float = 0.25

    def __post_init__(self) -> None:
        check_count(self.n_rings, name="n_rings")
        check_count(self.n_sectors, name="n_sectors")
        if not 0.0 <= self.unmatched <= 1.0:
            msg = f"unmatched={self.unmatched!r} must be between 0 and 1, as all costs are."
            raise InvalidInputError(msg)

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the distance of every set of A to every set of B, or of A to itself."""
        from sklearn.metrics.pairwise import additive_chi2_kernel

        first, second = _contexts(A, B, self.n_rings, self.n_sectors)

        def cost(one: FloatArray, other: FloatArray) -> FloatArray:
            return np.asarray(-0.5 * additive_chi2_kernel(one, other))

        return _matched(first, second, cost, self.unmatched, is_symmetric=B is None)


@dataclass(frozen=True)
class ShapeContextKernel(ObjectKernel):
    """Mean of exp(−γ χ²) over all pairs of shape contexts of two sets of points.

    Unlike a kernel of matched points it is positive semidefinite: the inner product of the means of
    both sets in the space of the χ² kernel.

    Parameters
    ----------
    gamma : float, default=10.0
        How similar contexts must be to count. χ² is between 0 and 1 here.
    n_rings : int, default=5
        Rings of a histogram.
    n_sectors : int, default=12
        Sectors of a ring.
    normalize : bool, default=True
        Divide by the square roots of both kernels of a set with itself.

    Examples
    --------
    >>> from isofold.similarity import ShapeContextKernel
    >>> square, bar = [[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0], [0, 1], [0, 2], [0, 3]]
    >>> ShapeContextKernel(1.0)([square, bar]).round(2)
    array([[1.  , 0.73],
           [0.73, 1.  ]])
    """

    gamma: float = 10.0
    n_rings: int = 5
    n_sectors: int = 12
    normalize: bool = True

    def __post_init__(self) -> None:
        check_positive(self.gamma, name="gamma")
        check_count(self.n_rings, name="n_rings")
        check_count(self.n_sectors, name="n_sectors")
        check_flag(self.normalize, name="normalize")

    def __call__(self, A: Sequence[Any], B: Sequence[Any] | None = None) -> FloatArray:
        """Return the kernel of every set of A with every set of B, or of A with itself."""
        first, second = _contexts(A, B, self.n_rings, self.n_sectors)
        K = self._means(first, second, is_symmetric=B is None)
        if not self.normalize:
            return K
        if B is None:
            return unit_diagonal(K, K.diagonal(), K.diagonal())
        own = [
            np.array([self._means([one], [one], is_symmetric=False)[0, 0] for one in side])
            for side in (first, second)
        ]
        return unit_diagonal(K, own[0], own[1])

    def _means(
        self, first: list[FloatArray], second: list[FloatArray], *, is_symmetric: bool
    ) -> FloatArray:
        """Return the mean kernel of the contexts of every pair of sets."""
        from sklearn.metrics.pairwise import chi2_kernel

        starts, contexts = _joined(second)
        sizes = np.array([len(one) for one in second])
        K = np.zeros((len(first), len(second)))
        for i, one in enumerate(first):
            begin = i if is_symmetric else 0
            others = contexts[starts[begin] :]
            sums = chi2_kernel(one, others, gamma=self.gamma / 2.0).sum(axis=0)
            K[i, begin:] = np.add.reduceat(sums, starts[begin:] - starts[begin])
            K[i, begin:] /= sizes[begin:] * len(one)
        return np.maximum(K, K.T) if is_symmetric else K


def image_points(
    image: Any, n_points: int = 50, *, contour: bool = True, random_state: Any = 0
) -> FloatArray:
    """Return points of what is drawn on an image, such as a handwritten digit.

    Pixels of at least half of the greatest value are ink. Points are spread evenly: each next one
    is the pixel farthest from all before. An image with too few such pixels is enlarged first.

    Parameters
    ----------
    image : array-like of shape (height, width)
        Gray values; ink has the greater ones.
    n_points : int, default=50
        Number of points.
    contour : bool, default=True
        Whether only the edge of the ink has points.
    random_state : int, RandomState or None, default=0
        Chooses the first point.

    Returns
    -------
    points : ndarray of shape (n_points, 2)
        Coordinates in pixels: to the right, and up.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.similarity import image_points
    >>> image = np.zeros((28, 28))
    >>> image[10:20, 12:16] = 1.0
    >>> image_points(image, 20).shape
    (20, 2)
    """
    check_count(n_points, name="n_points")
    check_flag(contour, name="contour")
    pixels = np.asarray(image, dtype=float)
    if pixels.ndim != 2 or not np.isfinite(pixels).all() or not pixels.max(initial=0.0) > 0:
        msg = (
            f"An image of shape {pixels.shape} has no points: a table of finite gray values is "
            f"needed, with some above 0."
        )
        raise InvalidInputError(msg)
    pixels, factor = np.pad(pixels, 1), 1
    found = _ink(pixels, contour=contour)
    while len(found) < n_points:
        factor *= 2
        found = _ink(zoom(pixels, factor, order=1, grid_mode=True, mode="nearest"), contour=contour)
    first = int(check_seed(random_state).randint(len(found)))
    chosen = found[_spread(found, first, n_points)]
    # Middles of pixels, in those of the image without its margin.
    across, down = (chosen[:, 1] + 0.5) / factor - 1.0, (chosen[:, 0] + 0.5) / factor - 1.0
    return np.stack([across, pixels.shape[0] - 2.0 - down], axis=1)


def _ink(pixels: FloatArray, *, contour: bool) -> FloatArray:
    """Return rows and columns of the pixels that have ink, or of those at its edge."""
    ink = pixels >= 0.5 * pixels.max()
    return np.argwhere(ink & ~binary_erosion(ink) if contour else ink).astype(float)


def _spread(points: FloatArray, first: int, n_points: int) -> IntArray:
    """Return points each of which is the farthest from all before."""
    chosen = np.zeros(n_points, dtype=np.intp)
    chosen[0], nearest = first, np.full(len(points), np.inf)
    for k in range(1, n_points):
        nearest = np.minimum(nearest, ((points - points[chosen[k - 1]]) ** 2).sum(axis=1))
        chosen[k] = int(nearest.argmax())
    return chosen


def _read_sets(A: Any, B: Any) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the sets of both sides as arrays."""
    first = [_read_set(item) for item in read_objects(A, name="A")]
    second = first if B is None else [_read_set(item) for item in read_objects(B, name="B")]
    widths = {points.shape[1] for points in (*first, *second)}
    if len(widths) > 1:
        msg = f"Points have {sorted(widths)} coordinates, but all need the same number of them."
        raise InvalidInputError(msg)
    return first, second


def _read_set(item: Any) -> FloatArray:
    points = np.asarray(item, dtype=float)
    if points.ndim != 2 or points.size == 0:
        msg = f"A set of points has shape {points.shape}; (n_points, n_coordinates) is needed."
        raise InvalidInputError(msg)
    check_finite(points, name="a set of points", advice="Leave such points out.")
    return points


def _joined(sets: list[FloatArray]) -> tuple[IntArray, FloatArray]:
    """Return where each set starts, and all sets one after the other."""
    starts = np.cumsum([0, *(len(one) for one in sets)])[:-1]
    return starts, np.concatenate(sets)


def _matched(
    first: list[FloatArray],
    second: list[FloatArray],
    cost: Any,
    surplus: float | None,
    *,
    is_symmetric: bool,
) -> FloatArray:
    """Return the mean cost of the best matching of every pair of sets."""
    starts, together = _joined(second)
    ends = np.append(starts[1:], len(together))
    D = np.zeros((len(first), len(second)))
    for i, one in enumerate(first):
        begin = i if is_symmetric else 0
        costs = cost(one, together[starts[begin] :])
        for j in range(begin, len(second)):
            block = costs[:, starts[j] - starts[begin] : ends[j] - starts[begin]]
            D[i, j] = _best_matching(block if len(one) <= block.shape[1] else block.T, surplus)
    return np.maximum(D, D.T) if is_symmetric else D


def _best_matching(costs: FloatArray, surplus: float | None) -> float:
    """Return the mean cost of matching rows to columns, of which there are as many or more."""
    rows, columns = linear_sum_assignment(costs)
    total = float(costs[rows, columns].sum())
    spare = np.ones(costs.shape[1], dtype=bool)
    spare[columns] = False
    n_spare = int(spare.sum())
    if n_spare:
        nearest = float(costs[:, spare].min(axis=0).sum())
        total += nearest if surplus is None else surplus * n_spare
    return float(total / costs.shape[1])


def _contexts(
    A: Any, B: Any, n_rings: int, n_sectors: int
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the shape contexts of all points of all sets of both sides."""
    first, second = _read_sets(A, B)
    if any(points.shape[1] != 2 for points in (*first, *second)):
        msg = f"Shape contexts are of points in the plane, not of {first[0].shape[1]} coordinates."
        raise InvalidInputError(msg)
    made = [_shape_contexts(points, n_rings, n_sectors) for points in first]
    if B is None:
        return made, made
    return made, [_shape_contexts(points, n_rings, n_sectors) for points in second]


def _shape_contexts(points: FloatArray, n_rings: int, n_sectors: int) -> FloatArray:
    """Return where the other points of a set are seen from each, as histograms of sum 1."""
    n = len(points)
    away = points - points[:, None]
    radius = np.hypot(away[..., 0], away[..., 1])
    others = ~np.eye(n, dtype=bool)
    size = float(radius[others].mean()) if n > 1 else 0.0
    contexts = np.zeros((n, n_rings * n_sectors))
    if size == 0.0:
        return contexts
    limits = np.geomspace(INNER, OUTER, n_rings)
    # What is farther than the outermost ring is counted in it.
    ring = np.minimum(np.searchsorted(limits, radius / size), n_rings - 1)
    # Sectors are centered at the axes, so that rounding does not decide about straight lines.
    turn = np.arctan2(away[..., 1], away[..., 0]) / (2.0 * np.pi)
    sector = np.floor(turn * n_sectors + 0.5).astype(int) % n_sectors
    seen = np.arange(n)[:, None] * contexts.shape[1] + ring * n_sectors + sector
    np.add.at(contexts.ravel(), seen[others], 1.0 / (n - 1))
    return contexts
