"""What can be proved of bounds on distances: a lower bound on the energy in any dimension.

The relaxation minimizes Φ(G) = Σ φ_e(⟨A_e, G⟩) over Gram matrices G ⪰ 0, with φ_e convex in the
squared distance ⟨A_e, G⟩ (`isofold.structure.energy`). By Fenchel's inequality

    Φ(G) ≥ Σ s_e ⟨A_e, G⟩ - φ_e*(s_e) ≥ -Σ φ_e*(s_e)   for all s with L_s = Σ s_e A_e ⪰ 0,

and L_s is a graph Laplacian with the multipliers s as weights. At a minimum the slopes s = φ'(g)
give equality. Elsewhere they are repaired: with the least θ for which L_s + θ L_w ⪰ 0, w the
weights of intervals with an upper bound, s + θw is admissible. The
bound holds for every dimension, so for three as well.

Without stretch, Φ is the weighted sum of squared violations. If its bound is positive, no structure
in any dimension meets all that was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from isofold._memory import require_memory
from isofold._progress.stages import interrupted
from isofold._typing import FloatArray, IntArray
from isofold.structure.energy import Intervals, Stretch, descend
from isofold.structure.given import DistanceBounds
from isofold.structure.problem import StructureProblem
from isofold.structure.result import RelaxationBound
from isofold.structure.rules import StructureRules
from isofold.structure.start import begin, group_lengths, known_reach
from isofold.structure.terms import Terms

__all__ = ["broken_triangles", "prove", "relaxation_bound"]

MOST_NAMED = 20
"""Pairs of a contradiction that are named."""

MOST_SOURCES = 2000
"""Points from which shortest paths are computed to look for broken triangles: half a second."""

CONSISTENT = 1e-7
"""Energy per point below which a relaxation meets everything: nothing can be refuted."""

ROUNDING = 1e-9
"""Part of the bound, relative to the size of its terms, that rounding may have made."""


def prove(
    problem: StructureProblem,
    terms: Terms,
    unit: float,
    strength: float,
    rng: np.random.Generator,
    rules: StructureRules,
) -> RelaxationBound:
    """Relax with enough columns and steps for a proof; return value and bound in given units.

    Anchors enter by their distances from each other, which can only lower the optimum.
    """
    n = problem.n_points
    require_memory(
        4 * 8 * n**2,
        what=f"A certificate of {n} points",
        instead="Fit without certify, or certify parts of the structure.",
    )
    soft = [terms.lengths, terms.bounds, _between_anchors(terms, rules)]
    beginning = begin(problem, unit, rules.certified_columns, rng, rules)
    pull = beginning.pull.scaled(strength)
    relaxed = beginning.places
    for _ in range(rules.certified_rounds):
        relaxed, _ = descend([*soft, pull], relaxed, rules.certified_steps, tol=1e-13)
        value, bound, _ = relaxation_bound(soft, relaxed, pull)
        found = RelaxationBound(value * unit**2, bound * unit**2)
        if found.gap <= rules.certified_gap / 2.0 or interrupted():
            break
    penalty, pairs = _refutation(soft, relaxed, rules)
    return replace(found, penalty_bound=penalty * unit**2, pairs=pairs)


def relaxation_bound(
    intervals: Sequence[Intervals], Y: FloatArray, pull: Stretch | None = None
) -> tuple[float, float, FloatArray]:
    """Return the energy of points in any number of columns, a bound, and its multipliers.

    The bound is minus infinity if no multiple of the weights repairs the slopes.
    """
    joined = _joined(intervals)
    slopes = joined.slopes(Y)
    laplacian = _laplacian(joined.pairs, slopes, len(Y))
    # A pair without an upper bound can carry no push: only others repair.
    repair = np.where(np.isfinite(joined.upper), joined.weights, 0.0)
    weights = _laplacian(joined.pairs, repair, len(Y))
    value = joined.add(Y, np.zeros_like(Y))
    if pull is not None:
        value += pull.add(Y, np.zeros_like(Y))
        laplacian = laplacian + _laplacian(pull.pairs, pull.slopes(Y), len(Y))
    theta = _least_repair(laplacian, weights)
    slopes = slopes + theta * repair
    bound = -joined.conjugate(slopes).sum()
    if pull is not None:
        bound -= pull.conjugate(pull.slopes(Y)).sum()
    return float(value), float(bound), slopes


def broken_triangles(problem: StructureProblem) -> tuple[IntArray, FloatArray]:
    """Return pairs whose least distance exceeds a path of upper bounds, and by how much.

    Such bounds contradict each other in any dimension: a straight line is no longer than a path.
    """
    n = problem.n_points
    given = problem.bounds.joined(problem.angles)
    if n <= MOST_SOURCES:
        given = group_lengths(problem).joined(given)
    pairs, lower = given.pairs[given.lower > 0.0], given.lower[given.lower > 0.0]
    sources, which = np.unique(pairs[:, 0], return_inverse=True)
    if not len(pairs) or len(sources) > MOST_SOURCES:
        return np.empty((0, 2), dtype=np.intp), np.empty(0)
    shortest = dijkstra(known_reach(problem), directed=False, indices=sources)
    excess = lower - shortest[which, pairs[:, 1]]
    broken = np.flatnonzero(excess > 1e-9 * lower)
    broken = broken[np.argsort(-excess[broken], kind="stable")]
    return pairs[broken], excess[broken]


def _refutation(
    soft: Sequence[Intervals], Y: FloatArray, rules: StructureRules
) -> tuple[float, IntArray]:
    """Return a bound on the violations in any dimension, and the pairs that carry it."""
    nothing = np.empty((0, 2), dtype=np.intp)
    for _ in range(rules.certified_rounds):
        Y, energy = descend(soft, Y, rules.certified_steps, tol=1e-15)
        if energy <= CONSISTENT * len(Y) or interrupted():
            return 0.0, nothing
        value, bound, slopes = relaxation_bound(soft, Y)
        if bound > ROUNDING * value:
            given = _joined(soft)
            # Who gives bounds wants to hear of these, and not of the groups that they strain.
            strain = np.abs(slopes / given.weights)[len(soft[0].pairs) :]
            pairs = given.pairs[len(soft[0].pairs) :]
            return bound, pairs[np.argsort(-strain, kind="stable")[:MOST_NAMED]]
    return 0.0, nothing


def _joined(intervals: Sequence[Intervals]) -> Intervals:
    """Return several terms as one."""
    return Intervals(
        np.concatenate([term.pairs for term in intervals]),
        np.concatenate([term.lower for term in intervals]),
        np.concatenate([term.upper for term in intervals]),
        np.concatenate([term.weights for term in intervals]),
    )


def _between_anchors(terms: Terms, rules: StructureRules) -> Intervals:
    """Return the distances of anchors from each other, from some of them if there are many."""
    n = len(terms.anchors)
    first, second = np.triu_indices(n, 1)
    kept = first < rules.certified_columns
    first, second = first[kept], second[kept]
    apart = np.linalg.norm(terms.positions[first] - terms.positions[second], axis=1)
    pairs = np.column_stack([terms.anchors[first], terms.anchors[second]])
    bounds = DistanceBounds(pairs, apart, apart, np.ones(len(pairs)))
    return Intervals.of(bounds, weight=rules.group_weight)


def _laplacian(pairs: IntArray, weights: FloatArray, n: int) -> sp.csr_array:
    """Return Σ w_e A_e, A_e the matrix of the squared distance of a pair."""
    first, second = pairs.T
    rows = np.concatenate([first, second, first, second])
    columns = np.concatenate([first, second, second, first])
    values = np.concatenate([weights, weights, -weights, -weights])
    return sp.csr_array((values, (rows, columns)), shape=(n, n))


def _least_repair(laplacian: sp.csr_array, weights: sp.csr_array) -> float:
    """Return the least θ ≥ 0, a little rounded up, with L + θ W ⪰ 0; W has the null space of L."""
    n = laplacian.shape[0]
    scale = float(weights.diagonal().mean())
    # The constant vector is in both null spaces: put it out of the way.
    ones = np.full((n, n), scale / n)
    lowest = scipy.linalg.eigh(
        laplacian.toarray() + ones,
        weights.toarray() + ones,
        eigvals_only=True,
        subset_by_index=[0, 0],
        overwrite_a=True,
        overwrite_b=True,
    )[0]
    return max(0.0, -float(lowest)) * (1.0 + 1e-9) + 1e-12
