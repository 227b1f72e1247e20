"""Further terms of the stitching: variance, and distances or angles that are known or bounded.

A placed point is linear in the rows of all motions, y_x = f_x Y with f_x the weighted charts of x
(thesis, eq. 5.18). So its squared distance from another is ⟨(f_a - f_b)ᵀ(f_a - f_b), G⟩, and the
variance of all points is ⟨F_cᵀF_c, G⟩/n with F_c = F - mean: linear in the Gram matrix G = YYᵀ.
So is the inner product (f_a - f_b)G(f_c - f_b)ᵀ = l_ab l_cb cos θ of two legs of known lengths, and
with it their angle θ. It enters as the distance d² = l_ab² + l_cb² - 2 l_ab l_cb cos θ of their
ends: the same by the law of cosines, a square, and well scaled where the product is zero.
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
from isofold.sdp import (
    ConicSDP,
    Constraints,
    DenseSDP,
    GramSDP,
    LowRankSDP,
    Phase,
    SDPSolution,
    square_constraints,
)
from isofold.stitching.overlaps import Overlaps

__all__ = ["NodeTerms", "StitchTerms", "end_distances", "pose", "solve"]

AT_BOUND = 1e-3
"""Difference of a squared distance from its bound, relative to it, up to which it is held there."""


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

    corners : array-like of int of shape (n_corners, 3) or None, default=None
        Corners a, b, c of samples, whose angles at b between a and c are known or bounded.
    legs : array-like of shape (n_corners, 2), (2,) or float or None, default=None
        The lengths from b to a and to c along the sheet. An angle is linear in the program only
        between legs of known lengths: those of samples of one patch, bonds, or distances that are
        fixed by `pairs` as well.
    lower_angle, upper_angle : array-like of shape (n_corners,), float or None, default=None
        Bounds on the angles, in radians from 0 to π; equal for known ones, None for none.

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
    corners: Any = None
    legs: Any = None
    lower_angle: Any = None
    upper_angle: Any = None

    def named(self, n_samples: int) -> IntArray:
        """Return the samples that pairs and corners name, checked.

        Parameters
        ----------
        n_samples : int
            Number of samples.

        Returns
        -------
        ndarray of int
            The samples, pair after pair and corner after corner.

        Raises
        ------
        InvalidInputError
            If `pairs` are no pairs of samples, or `corners` no triples.
        """
        pairs = _samples(self.pairs, 2, n_samples, name="pairs")
        corners = _samples(self.corners, 3, n_samples, name="corners")
        return np.concatenate([pairs.ravel(), corners.ravel()])

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
            If a pair or corner names no sample of the fit, or the numbers make no sense.
        """
        variance = self.variance
        if not isinstance(variance, Real) or not 0.0 <= float(variance) < np.inf:
            msg = f"terms.variance={variance!r} must be a number that is not negative."
            raise InvalidInputError(msg)
        n_samples = len(node_of_sample)
        pairs = node_of_sample[_samples(self.pairs, 2, n_samples, name="pairs")]
        lower, upper = self._bounds("lower", "upper", len(pairs), what="pair")
        corners = node_of_sample[_samples(self.corners, 3, n_samples, name="corners")]
        if len(corners):
            near, far = self._ends_of_legs(corners)
            pairs = np.concatenate([pairs, corners[:, ::2]])
            lower, upper = np.concatenate([lower, near]), np.concatenate([upper, far])
        return NodeTerms(float(variance), pairs, lower**2, upper**2, self.penalty)

    def _bounds(
        self, lowest: str, highest: str, n: int, *, what: str
    ) -> tuple[FloatArray, FloatArray]:
        """Return the bounds on n distances or angles: 0 and infinity for none."""
        lower = _numbers(getattr(self, lowest), (n,), name=lowest)
        upper = _numbers(getattr(self, highest), (n,), name=highest)
        if n and lower is None and upper is None:
            msg = f"terms names {n} {what}s, but neither {lowest} nor {highest} bounds of them."
            raise InvalidInputError(msg)
        lower = np.zeros(n) if lower is None else lower
        upper = np.full(n, np.inf) if upper is None else upper
        crossed = np.flatnonzero(lower > upper)
        if len(crossed):
            first = int(crossed[0])
            msg = (
                f"terms.{lowest} exceeds terms.{highest} for {what} {first} ({lower[first]:g} > "
                f"{upper[first]:g}): nothing is between them. Swap or widen them."
            )
            raise InvalidInputError(msg)
        return lower, upper

    def _ends_of_legs(self, corners: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds on the distances between the ends of legs, by the law of cosines."""
        same = np.flatnonzero((corners[:, 1:2] == corners[:, ::2]).any(axis=1))
        if len(same):
            msg = (
                f"terms.corners names the same point twice in corner {same[0]}, or two equal ones: "
                f"a leg of no length has no direction. Leave such corners out."
            )
            raise InvalidInputError(msg)
        legs = _numbers(self.legs, (len(corners), 2), name="legs")
        if legs is None or not (np.isfinite(legs) & (legs > 0.0)).all():
            msg = (
                "terms.legs must hold the two lengths of every corner, positive and finite: an "
                "angle is linear in the program only between legs of known lengths. Pass the "
                "distances from the middle sample to the other two."
            )
            raise InvalidInputError(msg)
        least, most = self._bounds("lower_angle", "upper_angle", len(corners), what="corner")
        wide = np.concatenate([least, most[np.isfinite(most)]])
        if wide.max() > np.pi:
            msg = (
                f"terms holds the angle {wide.max():g}, but angles are radians from 0 to π. "
                f"Convert degrees by numpy.deg2rad."
            )
            raise InvalidInputError(msg)
        ends = [end_distances(legs, theta) for theta in (least, np.minimum(most, np.pi))]
        # What may be straight may also be longer: legs are known but to the misfit of patches.
        return ends[0], np.where(most < np.pi, ends[1], np.inf)


@dataclass(frozen=True, eq=False)
class NodeTerms:
    """Terms for the points of a cover; distances are squared, and angles are distances."""

    variance: float
    pairs: IntArray
    lower: FloatArray
    upper: FloatArray
    penalty: float | FloatArray | None

    def held(self, placed: FloatArray) -> IntArray:
        """Return the pairs whose distance is known or at its bound."""
        squares = ((placed[self.pairs[:, 0]] - placed[self.pairs[:, 1]]) ** 2).sum(axis=1)
        is_low = squares <= (1.0 + AT_BOUND) * self.lower
        is_high = squares >= (1.0 - AT_BOUND) * self.upper
        return np.asarray(self.pairs[is_low | is_high | (self.lower == self.upper)])

    def within(self, nodes: IntArray, *, n_nodes: int) -> NodeTerms:
        """Return the terms of a component with given nodes."""
        number = np.full(n_nodes, -1)
        number[nodes] = np.arange(len(nodes))
        pairs = number[self.pairs]
        inside = (pairs >= 0).all(axis=1)
        if (inside != (pairs >= 0).any(axis=1)).any():
            msg = (
                "terms.pairs or terms.corners names a sample that is an outlier, or samples in "
                "different components of the data, which are mapped one by one. Leave them out, "
                "see outliers_ and component_ of a fit without terms; a larger n_neighbors may "
                "join the components."
            )
            raise InvalidInputError(msg)
        bounds = self.lower[inside], self.upper[inside]
        return NodeTerms(self.variance, pairs[inside], *bounds, self.penalty)


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
            # No square is below zero: such a bound would only be one more to keep.
            lower=np.where(terms.lower > 0.0, terms.lower / unit**2, -np.inf),
            upper=terms.upper / unit**2,
            penalty=terms.penalty,
        )
    return GramSDP(matrix.shape[0], objective, constraints=constraints, blocks=blocks)


def solve(
    solver: LowRankSDP | DenseSDP | ConicSDP,
    problem: GramSDP,
    start: FloatArray | None,
    terms: NodeTerms | None,
    budget: Mapping[Phase, int] | None = None,
) -> SDPSolution:
    """Solve a stitching; too strong a pull for variance is named as such."""
    try:
        if not isinstance(solver, LowRankSDP):
            # An interior point has neither start nor phases.
            return solver.solve(problem)
        return solver.solve(problem, start=start, budget=budget)
    except UnboundedProblemError as error:
        if terms is None or not terms.variance:
            raise
        msg = (
            f"terms.variance={terms.variance:g} pulls patches apart without end: it outweighs "
            f"their misfit. Try a tenth of it."
        )
        raise InvalidInputError(msg) from error


def end_distances(legs: FloatArray, angles: FloatArray) -> FloatArray:
    """Return the distances between the ends of legs (two columns) with given angles."""
    first, second = legs.T
    # |l - m|² + 4lm sin²(θ/2): nothing cancels where the angle is small.
    return np.asarray(np.hypot(first - second, 2.0 * np.sqrt(first * second) * np.sin(angles / 2)))


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


def _samples(named: Any, width: int, n_samples: int, *, name: str) -> IntArray:
    """Return pairs or corners of samples, checked."""
    samples = np.asarray([] if named is None else named)
    if samples.size == 0:
        return np.empty((0, width), dtype=np.intp)
    if samples.ndim != 2 or samples.shape[1] != width or samples.dtype.kind not in "iu":
        row = {2: "two sample numbers a pair", 3: "three sample numbers a corner"}[width]
        msg = f"terms.{name} has shape {samples.shape}: pass one row of {row}."
        raise InvalidInputError(msg)
    wrong = samples[(samples < 0) | (samples >= n_samples)]
    if len(wrong):
        msg = f"terms.{name} names sample {wrong[0]}, but samples are 0 to {n_samples - 1}."
        raise InvalidInputError(msg)
    return np.asarray(samples, dtype=np.intp)


def _numbers(values: Any, shape: tuple[int, ...], *, name: str) -> FloatArray | None:
    """Return distances or angles in a given shape, checked."""
    if values is None:
        return None
    try:
        numbers = np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
    except (TypeError, ValueError) as error:
        msg = f"terms.{name}={values!r} must be a number, or an array of shape {shape}."
        raise InvalidInputError(msg) from error
    if not (numbers >= 0.0).all():
        msg = f"terms.{name} holds distances or angles: they cannot be negative or NaN."
        raise InvalidInputError(msg)
    return np.asarray(numbers)
