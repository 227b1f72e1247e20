"""The centers of inverted lists, and which of them are near: what a query probes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.neighbors.search.lists import Lists, divide_rows, fill_lists, group_means

__all__ = ["CoarseCenters", "find_centers", "split_large"]

SAMPLE_PER_CENTER = 32
"""Rows from which a center is found."""

FEWEST_GROUPS = 16
"""Groups of centers that a query looks into at least; up to so many, it sees all centers."""

MOST_PARTS = 64
"""Parts into which a large list is split at a time."""

UNSPLIT = 0.9
"""Fraction of a list in one of its parts above which its rows cannot be told apart."""


@dataclass(frozen=True, eq=False)
class CoarseCenters:
    """Centers of lists in groups of near ones, so that a query need not see them all.

    Attributes
    ----------
    groups : Lists
        The means of the groups, in a few lists.
    centers : Lists
        The centers in a list for every group.
    """

    groups: Lists
    centers: Lists

    def nearest(self, rows: FloatArray, n: int) -> IntArray:
        """Return about the n nearest centers of every row, nearest first."""
        n_centers, n_groups = self.centers.n_entries, self.centers.n_lists
        if n >= n_centers:
            return _every(len(rows), n_centers)
        wanted = min(n_groups, FEWEST_GROUPS)
        # Enough groups that even the smallest hold n centers.
        held = np.cumsum(np.sort(self.centers.sizes))
        wanted = max(wanted, int(np.searchsorted(held, n)) + 1)
        near = self.groups.nearest(rows, _every(len(rows), self.groups.n_lists), wanted)[1]
        return self.centers.nearest(rows, near, n)[1]

    @classmethod
    def of(cls, centers: FloatArray, group: IntArray, rng: np.random.RandomState) -> CoarseCenters:
        """Return centers in their groups."""
        group = np.unique(group, return_inverse=True)[1]
        means = group_means(centers, group)
        # A query sees all of them, but relative to one that is near.
        middles, nearest = divide_rows(means, round(float(np.sqrt(len(means)))), rng)
        return cls(
            groups=fill_lists(middles, nearest, means.__getitem__),
            centers=fill_lists(means, group, centers.__getitem__),
        )


def _every(n_rows: int, n: int) -> IntArray:
    """Return the numbers from 0 to n - 1 for every row."""
    return np.tile(np.arange(n, dtype=np.int32), (n_rows, 1))


def find_centers(
    n_rows: int,
    rows_of: Callable[[IntArray], FloatArray],
    n_centers: int,
    rng: np.random.RandomState,
) -> tuple[FloatArray, IntArray]:
    """Return about `n_centers` centers from a sample of the rows, and the group of each."""
    size = min(n_rows, SAMPLE_PER_CENTER * n_centers)
    sample = np.sort(rng.choice(n_rows, size, replace=False))
    rows = rows_of(sample)
    _, labels = divide_rows(rows, round(float(np.sqrt(n_centers))), rng)
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    found = [
        divide_rows(rows[inside], max(1, round(n_centers * len(inside) / size)), rng)[0]
        for inside in np.split(order, np.cumsum(sizes)[:-1])
    ]
    group = np.repeat(np.arange(len(found)), [len(centers) for centers in found])
    return np.concatenate(found), group


def split_large(
    labels: IntArray,
    centers: FloatArray,
    rows_of: Callable[[IntArray], FloatArray],
    *,
    size: int,
    most: int,
    rng: np.random.RandomState,
) -> tuple[IntArray, FloatArray, IntArray]:
    """Split lists of more than `most` rows into lists of about `size`.

    Returns the list of every row, the centers, and from which of the given lists each came.
    """
    labels, origin = labels.copy(), np.arange(len(centers))
    while True:
        sizes = np.bincount(labels, minlength=len(centers))
        large = np.flatnonzero(sizes > most)
        if not len(large):
            return labels, centers, origin
        order, ends = np.argsort(labels, kind="stable"), np.cumsum(sizes)
        added = [centers]
        for label in large:
            members = order[ends[label] - sizes[label] : ends[label]]
            part, means = _split(members, rows_of, size=size, rng=rng)
            # The first part keeps the label, the others get new ones.
            n_known = sum(map(len, added))
            labels[members] = np.where(part == 0, label, n_known + part - 1)
            centers[label] = means[0]
            added.append(means[1:])
            origin = np.append(origin, np.full(len(means) - 1, origin[label]))
        centers = np.concatenate(added)


def _split(
    members: IntArray,
    rows_of: Callable[[IntArray], FloatArray],
    *,
    size: int,
    rng: np.random.RandomState,
) -> tuple[IntArray, FloatArray]:
    """Return the part of every member of a list, and the means of the parts."""
    n_parts = min(MOST_PARTS, -(-len(members) // size))
    rows = rows_of(members)
    means, part = divide_rows(rows, n_parts, rng)
    if np.bincount(part).max() > UNSPLIT * len(members):
        # In the order of their numbers: rows that are equal have no other.
        part = np.arange(len(members)) * n_parts // len(members)
        means = group_means(rows, part)
    return part, means
