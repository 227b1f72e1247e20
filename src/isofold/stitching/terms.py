"""Further terms of the stitching: a pull for variance, and distances that are known or bounded.

A placed point is linear in the rows of all motions, y_x = f_x Y with f_x the weighted charts of x
(thesis, eq. 5.18). So its squared distance from another is ⟨(f_a - f_b)ᵀ(f_a - f_b), G⟩, and the
variance of all points is ⟨F_cᵀF_c, G⟩/n with F_c = F - mean: linear in the Gram matrix G = YYᵀ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError, UnboundedProblemError
from isofold.patches import Memberships
from isofold.sdp import Constraints, GramSDP, LowRankSDP, Phase, SDPSolution, square_constraints
from isofold.stitching.overlaps import Overlaps

__all__ = ["NodeTerms", "StitchTerms", "pose", "solve"]


@dataclass(frozen=True, eq=False)
class StitchTerms:
    """What the stitching should heed beside fitting patches.

    Parameters
    ----------
    variance : float, default=0.0
        Weight λ of the variance of the map: mean misfit - λ·variance is minimized. Patches that
        hang together by few points are pulled apart, as by maximum variance unfolding.
    pairs : array-like of int of shape (n_pairs, 2) or None, default=None
        Pairs of samples whose distances are known or bounded.
    lower, upper : array-like of shape (n_pairs,), float or None, default=None
        Bounds on these distances; equal for known ones, None for none.
    penalty : float or None, default=None
        Weight of the squared violation of the squared distances, in units of the mean misfit and
        of the extent of a typical patch; None if they must be met.

    Examples
    --------
    >>> from isofold.stitching import StitchTerms
    >>> StitchTerms(pairs=[[0, 1]], upper=[2.5]).pairs
    [[0, 1]]
    """

    variance: float = 0.0
    pairs: Any = None
    lower: Any = None
    upper: Any = None
    penalty: float | None = None

    def named(self, n_samples: int) -> IntArray:
        """Return the samples that pairs name, checked.

        Parameters
        ----------
        n_samples : int
            Number of samples.

        Returns
        -------
        ndarray of int
            The samples, pair after pair.

        Raises
        ------
        InvalidInputError
            If `pairs` are no pairs of samples.
        """
        pairs = np.asarray([] if self.pairs is None else self.pairs)
        if pairs.size == 0:
            return np.empty(0, dtype=np.intp)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            msg = f"terms.pairs has shape {pairs.shape}: pass one row of two sample numbers a pair."
            raise InvalidInputError(msg)
        wrong = pairs[(pairs < 0) | (pairs >= n_samples)]
        if len(wrong):
            msg = f"terms.pairs names sample {wrong[0]}, but samples are 0 to {n_samples - 1}."
            raise InvalidInputError(msg)
        return np.asarray(pairs.ravel(), dtype=np.intp)

    def on_nodes(self, node_of_sample: IntArray) -> NodeTerms:
        """Return the terms for the nodes at which samples sit.

        Parameters
        ----------
        node_of_sample : ndarray of int of shape (n_samples,)
            The node of every sample, negative for those that are at none.

        Returns
        -------
        NodeTerms
            The terms, checked.

        Raises
        ------
        InvalidInputError
            If a pair names no sample of the fit, or the numbers make no sense.
        """
        variance = self.variance
        if not isinstance(variance, Real) or not 0.0 <= float(variance) < np.inf:
            msg = f"terms.variance={variance!r} must be a number that is not negative."
            raise InvalidInputError(msg)
        nodes = node_of_sample[self.named(len(node_of_sample))].reshape(-1, 2)
        lower = _distances(self.lower, len(nodes), name="lower")
        upper = _distances(self.upper, len(nodes), name="upper")
        if len(nodes) and lower is None and upper is None:
            msg = f"terms names {len(nodes)} pairs, but neither lower nor upper distances of them."
            raise InvalidInputError(msg)
        if lower is not None and upper is not None and (lower > upper).any():
            first = int(np.flatnonzero(lower > upper)[0])
            msg = (
                f"terms.lower exceeds terms.upper for pair {first} ({np.sqrt(lower[first]):g} > "
                f"{np.sqrt(upper[first]):g}): no distance is between them. Swap or widen them."
            )
            raise InvalidInputError(msg)
        return NodeTerms(float(variance), nodes, lower, upper, self.penalty)


@dataclass(frozen=True, eq=False)
class NodeTerms:
    """Terms for the points of a cover; distances are squared."""

    variance: float
    pairs: IntArray
    lower: FloatArray | None
    upper: FloatArray | None
    penalty: float | None

    def within(self, nodes: IntArray, *, n_nodes: int) -> NodeTerms:
        """Return the terms of a component with given nodes."""
        number = np.full(n_nodes, -1)
        number[nodes] = np.arange(len(nodes))
        pairs = number[self.pairs]
        inside = (pairs >= 0).all(axis=1)
        if (inside != (pairs >= 0).any(axis=1)).any():
            msg = (
                "terms.pairs names a sample that is an outlier, or two samples in different "
                "components of the data, which are mapped one by one. Leave such pairs out, see "
                "outliers_ and component_ of a fit without terms; a larger n_neighbors may join "
                "the components."
            )
            raise InvalidInputError(msg)
        lower, upper = (
            None if bound is None else bound[inside] for bound in (self.lower, self.upper)
        )
        return NodeTerms(self.variance, pairs[inside], lower, upper, self.penalty)


def pose(
    matrix: sp.csr_array,
    blocks: IntArray,
    placement: sp.csr_array,
    overlaps: Overlaps,
    terms: NodeTerms,
    unit: float,
) -> GramSDP:
    """Return the stitching with further terms."""
    objective: Any = matrix / overlaps.weights.sum()
    if terms.variance:
        mean = np.asarray(placement.mean(axis=0)).ravel()
        scatter = (placement.T @ placement).toarray() / placement.shape[0] - np.outer(mean, mean)
        objective = objective.toarray() - terms.variance * scatter
    constraints: Constraints | None = None
    if len(terms.pairs):
        factors = placement[terms.pairs[:, 0]] - placement[terms.pairs[:, 1]]
        constraints = square_constraints(
            factors,
            lower=None if terms.lower is None else terms.lower / unit**2,
            upper=None if terms.upper is None else terms.upper / unit**2,
            penalty=terms.penalty,
        )
    return GramSDP(matrix.shape[0], objective, constraints=constraints, blocks=blocks)


def solve(
    solver: LowRankSDP,
    problem: GramSDP,
    start: FloatArray | None,
    terms: NodeTerms | None,
    budget: Mapping[Phase, int] | None = None,
) -> SDPSolution:
    """Solve a stitching; too strong a pull for variance is named as such."""
    try:
        return solver.solve(problem, start=start, budget=budget)
    except UnboundedProblemError as error:
        if terms is None or not terms.variance:
            raise
        msg = (
            f"terms.variance={terms.variance:g} pulls patches apart without end: it outweighs "
            f"their misfit. Try a tenth of it."
        )
        raise InvalidInputError(msg) from error


def placement_matrix(
    memberships: Memberships, coordinates: FloatArray, begin: IntArray, dims: IntArray
) -> sp.csr_array:
    """Return F: each point as the weighted mean of its charts, linear in all motions."""
    points, patches = memberships.points, memberships.patches
    n_points = len(memberships.indptr) - 1
    total = np.bincount(points, memberships.weights, minlength=n_points)
    fractions = memberships.weights / total[points]
    u = coordinates[memberships.entries]
    rows: list[IntArray] = [points]
    columns: list[IntArray] = [begin[patches] + dims[patches]]
    values: list[FloatArray] = [fractions]
    for k in range(u.shape[1]):
        has = dims[patches] > k
        rows.append(points[has])
        columns.append(begin[patches[has]] + k)
        values.append(fractions[has] * u[has, k])
    shape = (n_points, int(begin[-1] + dims[-1] + 1))
    entries = (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array((np.concatenate(values), entries), shape=shape)


def _distances(bound: Any, n_pairs: int, *, name: str) -> FloatArray | None:
    """Return squared bounds on distances, one a pair."""
    if bound is None:
        return None
    try:
        lengths = np.broadcast_to(np.asarray(bound, dtype=np.float64), (n_pairs,))
    except (TypeError, ValueError) as error:
        msg = f"terms.{name}={bound!r} must be a number, or one number for each of {n_pairs} pairs."
        raise InvalidInputError(msg) from error
    if not (lengths >= 0.0).all():
        msg = f"terms.{name} holds distances: they cannot be negative or NaN."
        raise InvalidInputError(msg)
    return np.asarray(lengths**2)
