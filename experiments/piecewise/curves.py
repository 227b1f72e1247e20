"""Order along closed curves: what a map into one dimension cuts, and what it confuses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray

__all__ = ["Order", "is_chain", "order_of"]

TORN = 0.05
"""Neighbors on the curve are torn apart if this share of all points lies between them."""


@dataclass(frozen=True)
class Order:
    """How a line keeps the order of a closed curve.

    Attributes
    ----------
    breaks : int
        Neighbors on the curve that are not next to each other on the line. A curve that is cut
        once and otherwise in order has one.
    torn : int
        Those of them that are far apart.
    cut : ndarray of shape (torn, 2)
        The places on the curve where it is torn.
    """

    breaks: int
    torn: int
    cut: IntArray


def order_of(y: FloatArray) -> Order:
    """Compare the order on a line with that on the curve, the order of the samples."""
    n = len(y)
    rank = np.empty(n, dtype=np.intp)
    rank[np.argsort(y, kind="stable")] = np.arange(n)
    apart = np.abs(rank - np.roll(rank, -1))
    torn = np.flatnonzero(apart > TORN * n)
    return Order(int((apart > 1).sum()), len(torn), np.column_stack((torn, (torn + 1) % n)))


def is_chain(tree: IntArray) -> bool:
    """Tell whether a tree has no branches."""
    return len(tree) == 0 or int(np.bincount(np.asarray(tree).ravel()).max()) <= 2
