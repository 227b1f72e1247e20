"""Measures of neighborhood ranks: who stayed near, who intruded, who was lost.

For a point i let r_X(i, j) be the rank of j by distance from i in the input (1 is the nearest, i
itself has none), r_Y(i, j) the same in the embedding, N_X(i) and N_Y(i) the k nearest. Equal
distances are ranked by index. All measures below need only the *displaced ranks*: r_X over N_Y
and r_Y over N_X. A rank is counted in one row of distances, so memory is O(n) and never O(n²).

References
----------
Venna and Kaski (2001), trustworthiness and continuity; Lee and Verleysen (2007), MRRE; the
nearest-neighbor error ψ is eq. 5.21 of Khajehpour Tadavani (2013), MRRE eq. 5.22-5.23.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isofold._findings import parameter, setting
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_count, check_n_neighbors
from isofold.exceptions import InvalidInputError
from isofold.quality.distances import Comparison, compare, nearest
from isofold.quality.neighborhoods import neighborhoods_of, shown_neighborhoods_of
from isofold.quality.score import RowSample, Score, mean_score

IN_INPUT, IN_EMBEDDING = 0, 1
"""In which space of a comparison neighbors are looked for."""

TIE = 1e-9
"""Relative difference of distances that rounding cannot make, whatever computes them."""


def trustworthiness(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Fraction of trust in the neighbors that the embedding shows; 1 is best.

    T(k) = 1 − 2/(nk(2n − 3k − 1)) Σ_i Σ_j (r_X(i, j) − k) over j in N_Y(i) but not in N_X(i):
    points that the embedding shows as neighbors although they were not are charged by how far
    they came.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points)
        The points before, or their distances with ``metric="precomputed"``.
    Y : array-like of shape (n_points, n_components)
        The points after.
    n_neighbors : int, default=12
        Size k of a neighborhood, below half of the number of points.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds.
    n_samples : int, optional
        Evaluate at so many random points and give an interval, instead of at all points.
    random_state : int, RandomState or None, default=None
        Source of that draw.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    Score
        The measure, with its per-point form.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.quality import trustworthiness
    >>> line = np.arange(20.0)[:, None]
    >>> float(trustworthiness(line, 3 * line, n_neighbors=4))
    1.0
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    k = check_half_neighbors(n_neighbors, comparison.sample.n_points)
    return intrusion_score(input_ranks(comparison, k), comparison.sample)


def continuity(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Fraction of the true neighbors that the embedding keeps near; 1 is best.

    The trustworthiness of the swapped pair: neighbors of the input that the embedding tore away
    are charged by their rank in the embedding.

    Parameters
    ----------
    X, Y, n_neighbors, metric, n_samples, random_state, n_jobs
        As in :func:`trustworthiness`.

    Returns
    -------
    Score
        The measure, with its per-point form.
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    k = check_half_neighbors(n_neighbors, comparison.sample.n_points)
    return intrusion_score(embedded_ranks(comparison, k), comparison.sample)


def neighbor_error(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Fraction ψ of the k nearest neighbors that are lost; 0 is best.

    ψ = 1 − 1/(kn) Σ_i |N_X(i) ∩ N_Y(i)|.

    Parameters
    ----------
    X, Y, n_neighbors, metric, n_samples, random_state, n_jobs
        As in :func:`trustworthiness`; here `n_neighbors` may be anything below `n_points`.

    Returns
    -------
    Score
        The measure, with its per-point form.
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    k = check_n_neighbors(n_neighbors, comparison.sample.n_points)
    return loss_score(embedded_ranks(comparison, k), comparison.sample)


def mean_relative_rank_error(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    neighbors_of: str = "input",
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Mean relative rank error (MRRE) in one of its two directions; 0 is best.

    MRRE_X = 1/β Σ_i Σ_{j ∈ N_X(i)} |r_X(i, j) − r_Y(i, j)| / r_X(i, j), and MRRE_Y with X and Y
    exchanged, with the papers' normalization β = n Σ_{a=1..k} |n + 1 − 2a|/a, which the worst
    case exceeds by a few percent at most.

    Parameters
    ----------
    X, Y, n_neighbors, metric, n_samples, random_state, n_jobs
        As in :func:`trustworthiness`; here `n_neighbors` may be anything below `n_points`.
    neighbors_of : {"input", "embedding"}, default="input"
        Whose neighborhoods are followed: MRRE_X or MRRE_Y.

    Returns
    -------
    Score
        The measure, with its per-point form.
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    k = check_n_neighbors(n_neighbors, comparison.sample.n_points)
    ranks = {"input": embedded_ranks, "embedding": input_ranks}.get(neighbors_of)
    if ranks is None:
        msg = f"neighbors_of={neighbors_of!r} must be 'input' (MRRE_X) or 'embedding' (MRRE_Y)."
        raise InvalidInputError(msg)
    return rank_error_score(ranks(comparison, k), comparison.sample)


def check_half_neighbors(n_neighbors: Any, n_points: int) -> int:
    """Return k if the normalization of trustworthiness is defined for it, that is k < n/2."""
    k = check_count(n_neighbors, name="n_neighbors")
    most = (n_points - 1) // 2
    if most == 0:
        msg = f"{n_points} points have no neighborhoods to compare. Pass at least 3."
        raise InvalidInputError(msg)
    if k > most:
        msg = (
            f"{setting('n_neighbors', k)} is not below half of the {n_points} points, where "
            f"trustworthiness and continuity lose their meaning. Pass "
            f"{parameter('n_neighbors')} <= {most}."
        )
        raise InvalidInputError(msg)
    return k


def input_ranks(comparison: Comparison, k: int) -> IntArray:
    """Ranks r_X of the k nearest in the embedding, shape (n_sampled, k), nearest first."""
    return _displaced_ranks(comparison, k, (IN_EMBEDDING,))[0]


def embedded_ranks(comparison: Comparison, k: int) -> IntArray:
    """Ranks r_Y of the k nearest in the input, shape (n_sampled, k), nearest first."""
    return _displaced_ranks(comparison, k, (IN_INPUT,))[0]


def excess_ranks(comparison: Comparison, k: int) -> IntArray:
    """Ranks r_X and r_Y as `input_ranks` and `embedded_ranks` have them, as far as they exceed k.

    Distances to all points are compared only around points whose k nearest are not the same before
    and after for certain; elsewhere the ranks are 1 to k in any order.
    """
    sample = comparison.sample
    is_open = ~_is_kept(comparison, k)
    ranks = np.tile(np.arange(1, k + 1), (2, len(sample.indices), 1))
    if is_open.any():
        some = RowSample(sample.indices[is_open], sample.n_points)
        there = _displaced_ranks(replace(comparison, sample=some), k, (IN_EMBEDDING, IN_INPUT))
        ranks[:, is_open] = there
    return ranks


def _is_kept(comparison: Comparison, k: int) -> BoolArray:
    """Return around which points the k nearest before and after are the same, without ties."""
    n_rows = len(comparison.sample.indices)
    if comparison.input.points is None or k + 1 >= comparison.sample.n_points:
        return np.zeros(n_rows, dtype=bool)
    near, shown = neighborhoods_of(comparison, k + 1), shown_neighborhoods_of(comparison, k + 1)
    same = np.sort(near.indices[:, :k]) == np.sort(shown.indices[:, :k])
    is_clear = (each[:, k] > (1.0 + TIE) * each[:, k - 1] for each in (near.before, shown.after))
    return np.logical_and.reduce([same.all(axis=1), *is_clear])


def intrusion_score(ranks: IntArray, sample: RowSample) -> Score:
    """Trustworthiness from r_X over N_Y, or continuity from r_Y over N_X."""
    n, k = sample.n_points, ranks.shape[1]
    excess = np.maximum(ranks - k, 0).sum(axis=1)
    return mean_score(1.0 - excess * (2.0 / (k * (2.0 * n - 3.0 * k - 1.0))), sample, bounds=(0, 1))


def loss_score(ranks: IntArray, sample: RowSample) -> Score:
    """Nearest-neighbor error ψ from either table of displaced ranks."""
    return mean_score((ranks > ranks.shape[1]).mean(axis=1), sample, bounds=(0, 1))


def rank_error_score(ranks: IntArray, sample: RowSample) -> Score:
    """MRRE_X from r_Y over N_X, or MRRE_Y from r_X over N_Y."""
    n, k = sample.n_points, ranks.shape[1]
    own = np.arange(1, k + 1)
    scale = np.sum(np.abs(n + 1 - 2 * own) / own)
    # A reversed order of all points reaches 1; k near n/2 can exceed it a little.
    errors = np.sum(np.abs(ranks - own) / own, axis=1) / scale
    return mean_score(errors, sample, bounds=(0, 1.1))


def _displaced_ranks(comparison: Comparison, k: int, spaces: tuple[int, ...]) -> IntArray:
    """Ranks in the other space of the k nearest in each of some spaces, (space, n_sampled, k)."""

    def of_block(rows: IntArray) -> IntArray:
        pairs = zip(comparison.input.others(rows), comparison.embedding.others(rows), strict=True)
        return np.stack(
            [
                [_ranks_of(nearest(pair[here], k), pair[1 - here]) for here in spaces]
                for pair in pairs
            ]
        )

    return np.concatenate(list(comparison.map_blocks(of_block))).swapaxes(0, 1)


def _ranks_of(points: IntArray, distances: FloatArray) -> IntArray:
    # Only what is as close as the farthest of the points is sorted, which in a good map is little.
    # The point itself, at −1, is always among the closer ones: the nearest other is number 1.
    wanted = distances[points]
    closer = np.sort(distances[distances <= wanted.max()])
    ranks = np.searchsorted(closer, wanted)
    tied = np.searchsorted(closer, wanted, side="right") > ranks + 1
    for position in np.flatnonzero(tied):
        ranks[position] += np.count_nonzero(distances[: points[position]] == wanted[position])
    return ranks
