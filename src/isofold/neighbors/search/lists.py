"""Lists of near rows around centers, and the nearest entries of the lists that a query probes.

Rows are stored relative to the center of their list in single precision: near rows that lie far
from the origin keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isofold._memory import block_rows
from isofold._typing import FloatArray, IntArray
from isofold.neighbors.search._lists import pack, scan

__all__ = ["Lists", "divide_rows", "fill_lists", "group_means"]

LANES = 16
"""Entries of a panel, as the kernel takes them."""

N_ROUNDS = 6
"""Lloyd's iterations; more make lists no better to search."""

MOST_PAIRS = 2**21
"""Pairs of row and center compared at a time: 16 MB."""


@dataclass(frozen=True, eq=False)
class Lists:
    """Rows in lists around centers.

    Attributes
    ----------
    centers : ndarray of shape (n_lists, d)
        The centers of the lists.
    starts : ndarray of int64 of shape (n_lists + 1,)
        List i holds ``entries[starts[i]:starts[i + 1]]``.
    entries : ndarray of int32 of shape (n_entries,)
        The numbers of the rows, list after list.
    first_panels : ndarray of int64 of shape (n_lists,)
        The first panel of every list.
    panels : ndarray of float32
        The rows less their centers, 16 to a panel, axis after axis.
    norms : ndarray of float32
        Their squared norms.
    """

    centers: FloatArray
    starts: IntArray
    entries: IntArray
    first_panels: IntArray
    panels: FloatArray
    norms: FloatArray

    @property
    def n_lists(self) -> int:
        """Number of lists."""
        return len(self.centers)

    @property
    def n_entries(self) -> int:
        """Number of rows in all lists."""
        return len(self.entries)

    @property
    def sizes(self) -> IntArray:
        """Number of rows in every list."""
        return np.diff(self.starts)

    def nearest(self, queries: FloatArray, probes: IntArray, n: int) -> tuple[FloatArray, IntArray]:
        """Return squared distances and numbers of about the n nearest rows in the lists probed.

        It is fastest if every row of `probes` begins with the nearest list. Rows of the result that
        hold fewer than n entries end in infinity and -1.
        """
        squares = np.full((len(queries), n), np.inf, dtype=np.float32)
        found = np.empty((len(queries), n), dtype=np.int32)
        scan(
            queries,
            probes,
            self.centers,
            self.starts,
            self.first_panels,
            self.entries,
            self.panels,
            self.norms,
            squares,
            found,
        )
        return squares, found


def fill_lists(
    centers: FloatArray, labels: IntArray, rows_of: Callable[[IntArray], FloatArray]
) -> Lists:
    """Return lists of the rows with each label; `rows_of` gives the rows of some numbers."""
    n_lists, d = centers.shape
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=n_lists)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n_panels = -(-sizes // LANES)
    ends = np.cumsum(n_panels)
    panels = np.zeros(ends[-1] * d * LANES, dtype=np.float32)
    norms = np.zeros(ends[-1] * LANES, dtype=np.float32)
    step, first = block_rows(8 * d, len(labels)), 0
    while first < n_lists:
        # As many whole lists as a block holds, at least one.
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + step, side="right")) - 1)
        rows = rows_of(order[starts[first] : starts[last]])
        begin = ends[first] - n_panels[first]
        pack(
            rows,
            centers[first:last],
            sizes[first:last],
            panels[begin * d * LANES :],
            norms[begin * LANES :],
        )
        first = last
    return Lists(centers, starts, order.astype(np.int32), ends - n_panels, panels, norms)


def divide_rows(
    rows: FloatArray, n_centers: int, rng: np.random.RandomState
) -> tuple[FloatArray, IntArray]:
    """Return at most `n_centers` centers by Lloyd's iteration, and the nearest of every row."""
    # In double precision: clusters far apart would be lumps without parts in single.
    middle = rows.mean(axis=0)
    shifted = rows - middle
    centers = shifted[np.sort(rng.choice(len(rows), min(n_centers, len(rows)), replace=False))]
    for _ in range(N_ROUNDS):
        labels = _nearest_center(shifted, centers)
        centers = group_means(shifted, labels)
    # Centers without rows have gone.
    return centers + middle, np.unique(labels, return_inverse=True)[1]


def group_means(rows: FloatArray, labels: IntArray) -> FloatArray:
    """Return the means of rows of equal label, in the order of the labels that occur."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    sums = np.add.reduceat(rows[order], np.cumsum(sizes) - sizes, axis=0)
    means: FloatArray = sums / sizes[:, None]
    return means


def _nearest_center(rows: FloatArray, centers: FloatArray) -> IntArray:
    """Return the nearest center of every row, the first of several."""
    halves = 0.5 * np.einsum("ij,ij->i", centers, centers)
    labels = np.empty(len(rows), dtype=np.int64)
    step = max(1, MOST_PAIRS // len(centers))
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        labels[block] = np.argmin(halves - rows[block] @ centers.T, axis=1)
    return labels
