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

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_n_neighbors
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph
from isofold.quality import _pairs
from isofold.quality.distances import Comparison, compare
from isofold.quality.global_ import PathBlock, along_paths
from isofold.quality.score import RowSample, Score, moment_score
from isofold.quality.sweep import order_of_others

__all__ = ["count_triplets", "triplet_accuracy", "triplets_of"]

DISTANCES = ("paths", "straight")


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
    """
    counts = np.empty((len(rows), 2))
    orders = order_of_others(before, rows), order_of_others(after, rows)
    _pairs.kept_order(before, after, *orders, counts)
    return counts


def _fraction(counts: FloatArray) -> FloatArray:
    return np.asarray(counts[..., 0] / counts[..., 1])
