"""Are distances true? Lengths of neighbor pairs, stretch of the others, agreement with a truth.

References
----------
Preservation error and stretch: Khajehpour Tadavani (2013), §2.1. Procrustes measure: Goldberg
and Ritov, "Local Procrustes for manifold embedding" (2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._findings import parameter, setting
from isofold._memory import block_rows
from isofold._parallel import ordered_map
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_n_neighbors, check_points
from isofold.exceptions import InvalidInputError
from isofold.neighbors.search.exact import inverse_of
from isofold.quality import _pairs
from isofold.quality.distances import Comparison, compare, nearest
from isofold.quality.neighborhoods import (
    Neighborhoods,
    neighborhoods_of,
    shown_neighborhoods_of,
)
from isofold.quality.score import RowSample, Score, moment_score, quantile_scores

_NEIGHBORHOODS = {"input": neighborhoods_of, "embedding": shown_neighborhoods_of}


@dataclass(frozen=True, eq=False)
class LocalIsometry:
    """How true the lengths of neighbor pairs are.

    Parameters
    ----------
    ratio : Score
        Median of embedded over original length: 1 if the scale is kept.
    median, p95, worst : Score
        Median, 95 % quantile and maximum of |ratio − 1|. A sampled ``worst`` is a lower bound.
    per_point : ndarray of shape (n_sampled,)
        Mean of |ratio − 1| over a point's own pairs; 0 for a point that has only copies.
    """

    ratio: Score
    median: Score
    p95: Score
    worst: Score
    per_point: FloatArray


def local_isometry(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    neighbors_of: str = "input",
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> LocalIsometry:
    """Ratio of embedded to original length over all pairs of a point and a near neighbor.

    Neighbors in the data tell whether true neighbors have their distance on the map (recall).
    Neighbors on the map tell whether the distances that one reads off it between points that lie
    side by side are true (precision). A map that tears apart fails the first, one that lays far
    points onto each other the second.

    Parameters
    ----------
    X, Y, n_neighbors, metric, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`; `n_neighbors` may be anything below
        `n_points`. Pairs of identical points have no ratio and are left out.
    neighbors_of : {"input", "embedding"}, default="input"
        Whose neighbors to look at: those in the data or those on the map.

    Returns
    -------
    LocalIsometry
        The distribution of the ratio in four numbers, and one number per point.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.quality import local_isometry
    >>> line = np.arange(20.0)[:, None]
    >>> isometry = local_isometry(line, 3 * line, n_neighbors=2)
    >>> float(isometry.ratio), float(isometry.worst)
    (3.0, 2.0)

    The two ends of a line, 19 apart, are laid next to each other:

    >>> ring = np.column_stack([np.cos(0.31 * line), np.sin(0.31 * line)]) / 0.31
    >>> bool(local_isometry(line, ring, n_neighbors=2).p95 < 0.02)
    True
    >>> bool(local_isometry(line, ring, n_neighbors=2, neighbors_of="embedding").worst > 0.9)
    True
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    if neighbors_of not in _NEIGHBORHOODS:
        msg = f"neighbors_of={neighbors_of!r} must be 'input' or 'embedding' (the map)."
        raise InvalidInputError(msg)
    return isometry_of(_NEIGHBORHOODS[neighbors_of](comparison, n_neighbors))


def isometry_of(near: Neighborhoods) -> LocalIsometry:
    """Local isometry of measured neighborhoods."""
    ratio = near.ratio
    error = np.abs(ratio - 1.0)
    counts = np.isfinite(error).sum(axis=1)
    median, p95, worst = quantile_scores(error, (0.5, 0.95, 1.0), near.sample)
    per_point = np.nansum(error, axis=1) / np.maximum(counts, 1)
    (middle,) = quantile_scores(ratio, (0.5,), near.sample)
    return LocalIsometry(middle, median, p95, worst, per_point)


def median_error_of(near: Neighborhoods) -> Score:
    """Median of |ratio − 1| alone."""
    return quantile_scores(np.abs(near.ratio - 1.0), (0.5,), near.sample)[0]


def preservation_error(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    pairs: Any = None,
    targets: Any = None,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Error of the distances to keep, mean of (‖y_i − y_j‖²/τ_ij² − 1)²; 0 is best.

    By default the pairs are every point with each of its nearest neighbors, so that mutual
    neighbors count twice. Pass ``graph.edges`` as `pairs` to count every edge once.

    Parameters
    ----------
    X, Y, n_neighbors, metric, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`; `n_neighbors` and `n_samples` matter only
        without `pairs`.
    pairs : array-like of shape (n_pairs, 2), optional
        The pairs to keep; by default every point with its `n_neighbors` nearest.
    targets : array-like of shape (n_pairs,), optional
        The distances τ that `pairs` should have; by default those in `X`.

    Returns
    -------
    Score
        The mean over the pairs, with a per-point form for the default pairs.

    Notes
    -----
    A few pairs that were close and are far now can make up the whole sum. Such a tail cannot be
    estimated from a sample: where it is possible, evaluate at all points.
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    _check_targets(pairs, targets)
    if pairs is None:
        return preservation_of(neighborhoods_of(comparison, n_neighbors))
    squared_ratio = _ratio_of_pairs(comparison, pairs, targets)
    return Score(float(np.mean((squared_ratio - 1.0) ** 2)))


def preservation_of(near: Neighborhoods) -> Score:
    """Preservation error of measured neighborhoods."""
    return _mean_over_pairs((near.ratio**2 - 1.0) ** 2, near)


def stretch(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    pairs: Any = None,
    targets: Any = None,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """How far all other pairs were pulled apart, mean of ‖y_i − y_j‖²/τ_ij².

    By default the pairs are every point with all others but its nearest neighbors.

    Parameters
    ----------
    X, Y, n_neighbors, metric, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`; `n_neighbors` and `n_samples` matter only
        without `pairs`.
    pairs : array-like of shape (n_pairs, 2), optional
        The pairs to stretch; by default every point with all but its `n_neighbors` nearest.
    targets : array-like of shape (n_pairs,), optional
        The weights τ of `pairs`; by default their distances in `X`.

    Returns
    -------
    Score
        The mean over the pairs, with a per-point form for the default pairs.
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    _check_targets(pairs, targets)
    if pairs is None:
        return stretch_of(comparison, n_neighbors)
    return Score(float(np.mean(_ratio_of_pairs(comparison, pairs, targets))))


def stretch_of(comparison: Comparison, n_neighbors: int) -> Score:
    """Stretch of the pairs beyond the k nearest."""
    k = check_n_neighbors(n_neighbors, comparison.sample.n_points)

    def of_block(rows: IntArray) -> FloatArray:
        sums = np.empty((len(rows), 2))
        before = comparison.input.others(rows)
        for row in before:
            row[nearest(row, k)] = -1.0
        _pairs.ratio_sums(before, comparison.embedding.squared(rows), sums)
        return sums

    sums = np.concatenate(list(comparison.map_blocks(of_block)))
    return stretch_from(sums, k, comparison.sample)


def stretch_from(sums: FloatArray, k: int, sample: RowSample) -> Score:
    """Stretch of summed ratios."""
    if not sums[:, 1].any():
        msg = (
            f"With {setting('n_neighbors', k)} every pair of the {sample.n_points} points is a "
            f"neighbor pair (or a copy), so none is left to stretch. Pass a smaller "
            f"{parameter('n_neighbors')}."
        )
        raise InvalidInputError(msg)
    per_point = sums[:, 0] / np.maximum(sums[:, 1], 1)
    return moment_score(sums, _ratio, sample, bounds=(0, np.inf), per_point=per_point)


def procrustes_measure(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    normalized: bool = True,
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Mean misfit of each neighborhood after its best rigid motion (Goldberg & Ritov); 0 is best.

    G_i = min over AᵀA = I and b of Σ ‖x − A y − b‖² over point i and its k nearest in the input
    = ‖X_c‖² + ‖Y_c‖² − 2 Σ σ(Y_cᵀ X_c), both centered: no scaling is allowed. If `Y` has more
    columns than `X`, zero columns are thought to be added to `X`.

    Parameters
    ----------
    X, Y, n_neighbors, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`; `X` must hold coordinates.
    normalized : bool, default=True
        Divide G_i by ‖X_c‖², which makes it free of units; neighborhoods that consist of copies
        have no size and are left out. False gives the raw measure.

    Returns
    -------
    Score
        The mean of G_i, with its per-point form.
    """
    X = check_points(X)
    comparison = compare(X, Y, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs)
    near = neighborhoods_of(comparison, n_neighbors)
    return procrustes_measure_of(
        X, comparison.embedded_points, near, normalized=normalized, n_jobs=n_jobs
    )


def procrustes_measure_of(
    X: FloatArray,
    Y: FloatArray,
    near: Neighborhoods,
    *,
    normalized: bool = True,
    n_jobs: int | None = None,
) -> Score:
    """Procrustes measure of measured neighborhoods."""
    X, Y = np.ascontiguousarray(X), np.ascontiguousarray(Y)
    n_rows, k = near.indices.shape
    step = block_rows(8 * (k + X.shape[1] * Y.shape[1]), n_rows)
    spans = (near.order[start : start + step] for start in range(0, n_rows, step))
    blocks = ((near.sample.indices[rows], near.indices[rows]) for rows in spans)
    parts = ordered_map(lambda block: _misfit(X, Y, *block), blocks, n_jobs=n_jobs, is_pure=True)
    misfit, size = np.concatenate(list(parts), axis=1)[:, inverse_of(near.order)]
    if normalized:
        # A neighborhood of copies has no size to compare its misfit with.
        misfit[near.before[:, -1] == 0] = np.nan
        misfit /= size
    return _mean_over_pairs(misfit[:, None], near)


def _misfit(X: FloatArray, Y: FloatArray, rows: IntArray, partners: IntArray) -> FloatArray:
    sizes, products = np.empty((len(rows), 2)), np.empty((len(rows), Y.shape[1], X.shape[1]))
    _pairs.neighborhood_products(X, Y, rows, partners, sizes, products)
    singular = np.linalg.svd(products, compute_uv=False)
    misfit = sizes.sum(axis=1) - 2.0 * singular.sum(axis=1)
    return np.stack([np.maximum(misfit, 0.0), sizes[:, 0]])


def _mean_over_pairs(values: FloatArray, near: Neighborhoods) -> Score:
    sums = np.column_stack([np.nansum(values, axis=1), np.isfinite(values).sum(axis=1)])
    per_point = sums[:, 0] / np.maximum(sums[:, 1], 1)
    return moment_score(sums, _ratio, near.sample, bounds=(0, np.inf), per_point=per_point)


def _ratio(sums: FloatArray) -> FloatArray:
    return np.asarray(sums[..., 0] / sums[..., 1])


def _check_targets(pairs: Any, targets: Any) -> None:
    if pairs is None and targets is not None:
        msg = "targets were given without the pairs they belong to. Pass both."
        raise InvalidInputError(msg)


def _ratio_of_pairs(comparison: Comparison, pairs: Any, targets: Any) -> FloatArray:
    """Squared ratio of embedded to wanted length of given pairs."""
    try:
        pairs = np.asarray(pairs)
        targets = None if targets is None else np.asarray(targets, dtype=np.float64)
    except ValueError as error:
        msg = f"pairs or targets cannot be read as a table of numbers: {error}"
        raise InvalidInputError(msg) from error
    n = comparison.sample.n_points
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) == 0 or pairs.dtype.kind not in "iu":
        msg = (
            f"pairs must be a table of two row numbers a line; got shape {pairs.shape} and dtype "
            f"{pairs.dtype}. Pass, for example, graph.edges."
        )
        raise InvalidInputError(msg)
    if pairs.min() < 0 or pairs.max() >= n:
        msg = f"pairs hold row numbers from {pairs.min()} to {pairs.max()}, but there are {n} rows."
        raise InvalidInputError(msg)
    Y = comparison.embedded_points.astype(np.float64)
    after = np.sum((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2, axis=1)
    if targets is None:
        X = comparison.input.points
        if X is None:
            msg = 'With metric="precomputed" pass the wanted lengths of `pairs` as `targets`.'
            raise InvalidInputError(msg)
        wanted = np.sum((X[pairs[:, 0]].astype(np.float64) - X[pairs[:, 1]]) ** 2, axis=1)
    else:
        wanted = np.sign(targets) * targets**2
    if wanted.shape != after.shape or not np.isfinite(wanted).all() or not (wanted > 0).all():
        msg = (
            f"{len(pairs)} pairs need as many finite target distances > 0; got {wanted.shape}. "
            f"Leave out pairs of copies, whose distance is 0."
        )
        raise InvalidInputError(msg)
    return after / wanted
