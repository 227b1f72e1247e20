"""Is the shape as a whole right? Triplets: which of two points is farther from a third.

Random triplet accuracy, as in the papers of TriMap and PaCMAP, asks whether a map keeps the order
of the distances from a point i to two others j and l. It looks at all scales at once, needs no
unit, and is not moved by a few outliers, as correlations of distances are. Two things differ here:

- Distances before are those *along the data*, shortest paths in the neighbor graph. Straight lines
  punish whoever unfolds: the two ends of a rolled sheet are near each other through the air. To a
  point that no path reaches there is only the straight line, and it counts as farther than all
  points that a path does reach.
- All pairs (j, l) of an evaluated point are counted, by sorting, in O(n log² n). So the measure has
  a per-point form, and an interval only where points are sampled.

References
----------
Amid and Warmuth, "TriMap: large-scale dimensionality reduction using triplets" (2019); Wang,
Huang, Rudin and Shaposhnik, "Understanding how dimension reduction tools work" (2021), who call it
random triplet accuracy. The fraction is (1 + D)/2 for Somers' D of the map's distances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import check_choice, check_n_neighbors
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph
from isofold.quality.distances import Comparison, compare
from isofold.quality.global_ import PathBlock, along_paths
from isofold.quality.score import RowSample, Score, moment_score

__all__ = ["count_triplets", "triplet_accuracy", "triplets_of"]

DISTANCES = ("paths", "straight")

RUN = 16
"""Numbers whose inversions are counted pair by pair, which is faster than to merge shorter runs."""


def triplet_accuracy(
    X: Any,
    Y: Any,
    *,
    distances: str = "paths",
    n_neighbors: int = 12,
    metric: str = "euclidean",
    n_samples: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Score:
    """Fraction of triplets that keep their order; 1 is best, 0.5 is chance.

    A triplet is a point and two others. It keeps its order if the one that is farther along the
    data is farther on the map. Two that are equally far in the data have no order and are left out;
    two that are equally far on the map count half.

    Parameters
    ----------
    X, Y, metric, n_samples, random_state, n_jobs
        As in :func:`~isofold.quality.trustworthiness`. One shortest-path search per evaluated
        point: sample where there are more than a few thousand.
    distances : {"paths", "straight"}, default="paths"
        What farther in the data means: along shortest paths in the neighbor graph, which is fair to
        maps that unfold, or through the air, as in the papers.
    n_neighbors : int, default=12
        Neighbors that the graph joins; matters only for paths. A point that no path reaches is
        farther than all that one does; of two such points the straight line decides.

    Returns
    -------
    Score
        The fraction, with its per-point form. Shortcuts in the graph spoil it, as they spoil
        :func:`~isofold.quality.residual_variance`: read it beside the other measures.

    Examples
    --------
    An open ring, straightened, keeps the order along the data, but not through the air:

    >>> import numpy as np
    >>> from isofold.quality import triplet_accuracy
    >>> angle = np.linspace(0.0, 6.0, 60)[:, None]
    >>> arc = np.hstack([np.cos(angle), np.sin(angle)])
    >>> float(triplet_accuracy(arc, angle, n_neighbors=2)) > 0.99
    True
    >>> bool(triplet_accuracy(arc, angle, distances="straight") < 0.9)
    True
    """
    comparison = compare(
        X, Y, metric=metric, n_samples=n_samples, random_state=random_state, n_jobs=n_jobs
    )
    check_choice(distances, DISTANCES, name="distances")
    if distances == "straight":
        counts = _straight_triplets(comparison)
    else:
        k = check_n_neighbors(n_neighbors, comparison.sample.n_points)
        graph = build_graph(X, n_neighbors=k, metric=metric, n_jobs=n_jobs)
        (counts,) = along_paths(comparison, graph, count_triplets)
    return triplets_of(counts, comparison.sample)


def triplets_of(counts: FloatArray, sample: RowSample) -> Score:
    """Return the accuracy of counted triplets."""
    if not counts[:, 1].any():
        msg = (
            "No point has two others at different distances, so there is no order to keep. Pass at "
            "least three points that do not form a regular simplex."
        )
        raise InvalidInputError(msg)
    per_point = _fraction(np.where(counts[:, 1:] > 0, counts, np.nan))
    return moment_score(counts, _fraction, sample, bounds=(0, 1), per_point=per_point)


def count_triplets(block: PathBlock) -> FloatArray:
    """Count triplets that keep their order along paths, and all, one row a point."""
    before = block.before
    reached = np.isfinite(before)
    if not reached.all():
        # Only order matters: beyond all that is reached, by straight lines.
        farthest = np.max(before, where=reached, initial=0.0, axis=1, keepdims=True)
        before = np.where(reached, before, farthest + np.sqrt(block.straight(block.rows)))
    return _kept_order(before, block.after, block.rows)


def _straight_triplets(comparison: Comparison) -> FloatArray:
    def of_block(rows: IntArray) -> FloatArray:
        return _kept_order(comparison.input.squared(rows), comparison.embedding.squared(rows), rows)

    return np.concatenate(list(comparison.map_blocks(of_block)))


def _kept_order(before: FloatArray, after: FloatArray, rows: IntArray) -> FloatArray:
    """Return (pairs whose order is kept, pairs with an order) of the others, one row a point.

    In the order of `before` (then `after`), a pair of `after` that is reversed is an inversion.
    Ties in `after` count half, ties in `before` not at all.
    """
    n = before.shape[1]
    own = np.arange(len(rows)), rows
    # The point itself comes first in both orders, where it neither is tied nor reverses anything.
    before, after = before.copy(), after.copy()
    before[own] = after[own] = -1.0
    order = np.argsort(before, axis=1)
    sorted_before = np.take_along_axis(before, order, 1)
    same_before = sorted_before[:, 1:] == sorted_before[:, :-1]
    if same_before.any():
        # Only ties need the second key, which takes twice as long.
        order = np.lexsort((after, before), axis=1)
    after = np.take_along_axis(after, order, 1)
    by_after = np.argsort(after, axis=1)
    sorted_after = np.take_along_axis(after, by_after, 1)
    same_after = sorted_after[:, 1:] == sorted_after[:, :-1]
    if same_after.any():
        by_after = np.argsort(after, axis=1, kind="stable")
    same_in_both = same_before & (after[:, 1:] == after[:, :-1])
    pairs = (n - 1) * (n - 2) / 2 - _tied_pairs(same_before)
    half = 0.5 * (_tied_pairs(same_after) - _tied_pairs(same_in_both))
    return np.stack([pairs - _inversions(by_after) - half, pairs], axis=1)


def _tied_pairs(is_same: BoolArray) -> FloatArray:
    """Return the number of equal pairs in sorted rows, from whether each equals the one before."""
    if not is_same.any():
        return np.zeros(len(is_same))
    position = np.arange(is_same.shape[1] + 1)
    first = np.zeros((len(is_same), len(position)), dtype=np.intp)
    first[:, 1:] = np.where(is_same, 0, position[1:])
    np.maximum.accumulate(first, axis=1, out=first)
    return np.asarray((position - first).sum(axis=1), dtype=np.float64)


def _inversions(permutations: IntArray) -> FloatArray:
    """Return the number of inversions of every row, by merging runs of doubling width."""
    n_rows, n = permutations.shape
    width = max(RUN, 1 << (n - 1).bit_length())
    # Padded to a power of two by larger numbers in their order, which adds no inversion.
    keys = np.empty((n_rows, width), dtype=np.int32)
    keys[:, :n], keys[:, n:] = permutations, np.arange(n, width)
    runs = keys.reshape(n_rows, -1, RUN)
    found = np.zeros(n_rows)
    for step in range(1, RUN):
        found += np.count_nonzero(runs[:, :, step:] < runs[:, :, :-step], axis=(1, 2))
    runs = np.sort(runs, axis=2)
    run = RUN
    while run < width:
        # The last bit tells the run on the right from that on the left.
        sides = 2 * runs.reshape(n_rows, -1, 2, run)
        sides[:, :, 1] += 1
        merged = np.sort(sides.reshape(n_rows, -1, 2 * run), axis=2)
        # The i-th of the right run, at p_i, has p_i − i of the left run before it: the other
        # run − (p_i − i) of them are larger.
        places = ((merged & 1) * np.arange(2 * run, dtype=np.int32)).sum(axis=(1, 2))
        found += width / (2 * run) * (run * run + run * (run - 1) / 2) - places
        runs = merged >> 1
        run *= 2
    return found


def _fraction(counts: FloatArray) -> FloatArray:
    return np.asarray(counts[..., 0] / counts[..., 1])
