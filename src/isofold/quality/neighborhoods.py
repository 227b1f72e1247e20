"""The k nearest pairs, in the input and in the embedding: their lengths before and after."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_n_neighbors
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_search
from isofold.neighbors.search.build import neighbors_in_order
from isofold.neighbors.search.protocol import drop_own
from isofold.quality.distances import Comparison, DistanceRows, nearest
from isofold.quality.score import RowSample

INHERITED_STEPS = 3
"""How many steps from neighbor to neighbor evidence of loss is passed on, halved each time."""


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """Every evaluated point with its k nearest in one of the two spaces.

    Parameters
    ----------
    indices : ndarray of shape (n_sampled, n_neighbors)
        The neighbors, nearest first.
    before, after : ndarray of shape (n_sampled, n_neighbors)
        Lengths of these pairs in the input and in the embedding.
    sample : RowSample
        Which points the rows are.
    order : ndarray of shape (n_sampled,)
        The rows, those of near points one after the other as far as that is known.
    """

    indices: IntArray
    before: FloatArray
    after: FloatArray
    sample: RowSample
    order: IntArray

    @cached_property
    def ratio(self) -> FloatArray:
        """Embedded over original length; NaN where copies of a point have none."""
        return _ratio(self.after, self.before, otherwise=np.nan)


def neighborhoods_of(comparison: Comparison, n_neighbors: int) -> Neighborhoods:
    """Find the k nearest pairs of the input and measure them before and after."""
    return _neighborhoods_in(comparison.input, comparison, n_neighbors)


def shown_neighborhoods_of(comparison: Comparison, n_neighbors: int) -> Neighborhoods:
    """Find the k nearest pairs of the embedding and measure them before and after.

    Never refused where `neighborhoods_of` is not: of a point with fewer than k copies, one of the
    k nearest on any map is no copy.
    """
    return _neighborhoods_in(comparison.embedding, comparison, n_neighbors)


def evidence_of_loss(near: Neighborhoods, shown: Neighborhoods) -> FloatArray:
    """How far the neighborhood of every point was torn or invaded, in units of its own radius.

    A true neighbor that the embedding puts farther away than the k-th embedded neighbor is lost;
    an embedded neighbor that was farther away than the k-th true one has intruded. Either ratio
    grows with the displaced rank. Pairs beyond the k-th suffer around the same points, so points
    inherit a part of their neighbors' evidence.
    """
    torn = _ratio(near.after.max(axis=1), shown.after[:, -1], otherwise=np.inf)
    invaded = _ratio(shown.before.max(axis=1), near.before[:, -1], otherwise=np.inf)
    evidence = np.maximum(torn, invaded)
    for _ in range(INHERITED_STEPS):
        evidence = np.maximum(evidence, 0.5 * evidence[near.indices].max(axis=1))
    return evidence


def nearest_in_space(
    comparison: Comparison, space: DistanceRows, k: int
) -> tuple[IntArray, IntArray]:
    """Return the k nearest of every evaluated point in one of the two spaces, and `order`."""
    rows = comparison.sample.indices
    as_given = np.arange(len(rows))
    if space.points is None:
        # Rows of given distances are cheaper to scan than to index.
        parts = comparison.map_blocks(
            lambda block: np.stack([nearest(row, k) for row in space.others(block)])
        )
        return np.concatenate(list(parts)), as_given
    if comparison.sample.exact:
        near, order = neighbors_in_order(space.points, k, n_jobs=comparison.n_jobs)
        return near.indices, order
    search = build_search(space.points, n_jobs=comparison.n_jobs)
    return drop_own(search.query(space.points[rows], k + 1), rows).indices, as_given


def _neighborhoods_in(
    space: DistanceRows, comparison: Comparison, n_neighbors: int
) -> Neighborhoods:
    rows = comparison.sample.indices
    k = check_n_neighbors(n_neighbors, comparison.sample.n_points)
    indices, order = nearest_in_space(comparison, space, k)
    before, after = (
        each.between(rows, indices, order, n_jobs=comparison.n_jobs)
        for each in (comparison.input, comparison.embedding)
    )
    refuse_copies(before)
    return Neighborhoods(indices, before, after, comparison.sample, order)


def refuse_copies(before: FloatArray) -> None:
    """Refuse neighborhoods in which all neighbors are copies."""
    if not (before > 0).any():
        msg = (
            f"All {before.shape[1]} nearest neighbors of every evaluated point are copies of it, "
            f"so no length can be compared. Drop repeated rows."
        )
        raise InvalidInputError(msg)


def _ratio(above: FloatArray, below: FloatArray, *, otherwise: float) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, otherwise)
