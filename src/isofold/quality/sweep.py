"""One pass over the distances of every evaluated point to all others, before and after.

Whatever needs the ranks of all of them is measured here at once: to sort two rows takes longer than
all that is then read off them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.quality import _pairs
from isofold.quality.distances import Comparison

SIZES = (5, 12, 50)
"""Neighborhoods of which the fraction kept is measured at every point: the closest, the usual, and
those that make up a region."""


@dataclass(frozen=True, eq=False)
class RankSweep:
    """What the ranks of all points say, one row an evaluated point.

    Attributes
    ----------
    original, embedded : ndarray of int of shape (n_sampled, n_neighbors)
        Ranks in the input of the nearest in the embedding, and the other way round.
    kept : ndarray of int of shape (n_sampled, 50)
        How many points have 1 to 50 as the larger of their two ranks.
    areas : ndarray of shape (n_sampled,)
        The areas under the co-ranking curves of single points.
    ratios : ndarray of shape (n_sampled, 2)
        Sum of the squared length ratios of all points beyond the k nearest, and their number.
    moments : ndarray of shape (n_sampled, 7)
        Means of the products of both distances, see `isofold.quality.global_`.
    histogram : ndarray of shape (n_points,)
        How many pairs have a number as the larger of their two ranks, estimated for all points.
    """

    original: IntArray
    embedded: IntArray
    kept: IntArray
    areas: FloatArray
    ratios: FloatArray
    moments: FloatArray
    histogram: FloatArray


def sweep_ranks(comparison: Comparison, k: int) -> RankSweep:
    """Rank all points before and after from every evaluated one, and read off what that says."""
    sample = comparison.sample
    n = sample.n_points
    if n < 4:
        msg = f"A co-ranking curve needs at least 4 points; got {n}. Pass more samples."
        raise InvalidInputError(msg)
    weight, chance = _weight_of_rank(n)
    stands_for = np.zeros(n)
    stands_for[sample.indices] = n * sample.weights

    def of_task(rows: IntArray) -> RankSweep:
        m = len(rows)
        found = RankSweep(
            np.empty((m, k), dtype=np.int64),
            np.empty((m, k), dtype=np.int64),
            np.empty((m, min(SIZES[-1], n - 1)), dtype=np.int64),
            np.empty(m),
            np.empty((m, 2)),
            np.empty((m, 7)),
            np.zeros(n),
        )
        start = 0
        for block in comparison.blocks(rows):
            here = slice(start, start + len(block))
            start += len(block)
            before, after = comparison.input.squared(block), comparison.embedding.squared(block)
            roots = np.sqrt(before), np.sqrt(after)
            _pairs.moments(*roots, block, found.moments[here])
            _pairs.compare_ranks(
                before,
                order_of_others(before, block),
                order_of_others(after, block),
                block,
                stands_for[block],
                weight,
                found.original[here],
                found.embedded[here],
                found.kept[here],
                found.areas[here],
                found.histogram,
            )
            _pairs.ratio_sums(before, after, found.ratios[here])
        return found

    parts, histogram = [], np.zeros(n)
    for part in comparison.map_tasks(of_task):
        histogram += part.histogram
        parts.append(replace(part, areas=part.areas - chance, histogram=histogram))
    per_row = [field.name for field in fields(RankSweep) if field.name != "histogram"]
    tables = {name: np.concatenate([getattr(part, name) for part in parts]) for name in per_row}
    return RankSweep(**tables, histogram=histogram)


def order_of_others(values: FloatArray, own: IntArray) -> IntArray:
    """Return in every row the columns of all other points by value, ties by column.

    The last column means nothing. Plain numbers are sorted, which is faster than to sort columns.
    """
    keys = np.empty(values.shape, dtype=np.uint64)
    _pairs.pack(values, own, keys)
    keys.sort(axis=1)
    _pairs.settle(values, keys)
    return keys.view(np.int64)


def _weight_of_rank(n: int) -> tuple[FloatArray, float]:
    """Return what a pair adds to the area of its point by its larger rank, and what chance does.

    The area is linear in the histogram of larger ranks: a pair of larger rank m adds Σ_{K≥m}
    (n − 1)/(K²(n − 1 − K)) / Σ 1/K, and chance takes away a constant.
    """
    sizes = np.arange(1, n - 1)
    harmonic = np.sum(1.0 / sizes)
    weight = np.zeros(n)
    weight[1:-1] = np.cumsum(((n - 1) / (sizes**2.0 * (n - 1 - sizes)))[::-1])[::-1] / harmonic
    return weight, float(np.sum(1.0 / (n - 1 - sizes)) / harmonic)
