"""Whether hard constraints leave a strictly feasible Gram matrix, as far as a sample can tell.

Multipliers of a convex program exist in general only if some positive definite G meets the hard
constraints (Slater). Points forced together leave none, nor does a clique of equalities whose
points span fewer dimensions than they could: its Gram matrix is fixed and singular. Neighbor
graphs of data in d dimensions are full of cliques of d + 2 points.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray, IntArray
from isofold.sdp.forms import PairForms
from isofold.sdp.preflight.contradictions import PairBounds
from isofold.sdp.program import Program
from isofold.sdp.rules import RULES, SolverRules

__all__ = ["CliqueReport", "impossible_clique", "inspect_cliques", "strictness_warnings"]

SEEDS = 64
"""Points around which cliques are looked for: enough to meet what is common, a few milliseconds."""

LARGEST_CLIQUE = 8
"""Points of a clique at which the search ends: data in six dimensions are seen to be flat."""

FLATNESS = 1e-9
"""An eigenvalue so much smaller than the largest is zero: distances squared carry rounding of some
1e-15 relative to the largest, more where they were computed as differences of squares."""

CONSEQUENCE = (
    "No Gram matrix is then strictly feasible, so that multipliers of the hard form do not exist "
    "in general: a certificate belongs to the shifted problem that it names."
)


@dataclass(frozen=True)
class CliqueReport:
    """What was seen of the cliques of hard equalities.

    Parameters
    ----------
    n_tried : int
        Cliques of three or more points that were looked at.
    n_flat : int
        How many of them span fewer dimensions than their number of points less one.
    example : tuple of int
        The points of a flat one, if there is one.
    rank : int
        Of how many dimensions the example is.
    impossible : tuple of int
        Points of a clique whose distances are those of no points at all, if one was seen.
    """

    n_tried: int = 0
    n_flat: int = 0
    example: tuple[int, ...] = ()
    rank: int = 0
    impossible: tuple[int, ...] = ()


def inspect_cliques(bounds: PairBounds, *, rules: SolverRules = RULES) -> CliqueReport:
    """Return what a sample of the cliques of hard equalities shows."""
    equal = (bounds.lower == bounds.upper) & (bounds.upper > 0.0)
    if np.sum(equal) < 3:
        return CliqueReport()
    n = bounds.n_points
    ends, squares = (bounds.first[equal], bounds.second[equal]), bounds.upper[equal]
    half = sp.csr_array((squares, ends), shape=(n, n))
    graph = sp.csr_array(half + half.T)
    members = np.flatnonzero(np.diff(graph.indptr))
    seeds = members[np.unique(np.linspace(0, len(members) - 1, SEEDS).astype(np.intp))]
    by_size: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for seed in seeds:
        clique = _greedy_clique(graph, int(seed))
        if len(clique) >= 3:
            by_size[len(clique)].add(tuple(sorted(clique)))
    report = CliqueReport()
    for size in sorted(by_size):
        cliques = np.array(sorted(by_size[size]))
        report = _add_cliques(report, graph, cliques, rules.contradiction)
    return report


def strictness_warnings(program: Program, cliques: CliqueReport) -> tuple[str, ...]:
    """Return one sentence for each reason why no Gram matrix is strictly feasible."""
    found = []
    envelope = program.envelope
    forms = program.forms
    zero = envelope.is_hard & (envelope.upper == 0.0)
    if not isinstance(forms, PairForms):
        # Only sums of squares of one sign are forced to vanish one by one.
        squares = forms.squares()
        zero &= np.bincount(squares.owner, squares.signs < 0, minlength=forms.n_forms) == 0
    if np.any(zero):
        n_zero = int(zero.sum())
        what = (
            f"{n_zero} pair(s) must have distance zero, which forces points together. The engine "
            f"treats them as one point; merge them beforehand to save work."
            if isinstance(forms, PairForms)
            else f"{n_zero} sum(s) of squares must be zero; take their directions out of the "
            f"basis. {CONSEQUENCE}"
        )
        found.append(what)
    if cliques.n_flat:
        found.append(
            f"{cliques.n_flat} of {cliques.n_tried} cliques of equalities that were looked at are "
            f"flat (for example the {len(cliques.example)} points {_listed(cliques.example)} span "
            f"{cliques.rank} dimension(s)). {CONSEQUENCE}"
        )
    return tuple(found)


def impossible_clique(cliques: CliqueReport) -> str | None:
    """Return a sentence (without its full stop) about distances that no points have."""
    if not cliques.impossible:
        return None
    return (
        f"the distances given between points {_listed(cliques.impossible)} are those of no points "
        f"in any number of dimensions (their centered Gram matrix has a negative eigenvalue)"
    )


def _greedy_clique(graph: sp.csr_array, seed: int) -> list[int]:
    """Return a clique around a point, the nearest common neighbor added again and again."""
    near, squares = _row(graph, seed)
    candidates: list[int] = near[np.argsort(squares, kind="stable")].tolist()
    clique = [seed]
    while candidates and len(clique) < LARGEST_CLIQUE:
        clique.append(candidates[0])
        around = set(_row(graph, clique[-1])[0].tolist())
        candidates = [point for point in candidates if point in around]
    return clique


def _row(graph: sp.csr_array, i: int) -> tuple[IntArray, FloatArray]:
    part = slice(graph.indptr[i], graph.indptr[i + 1])
    return graph.indices[part], graph.data[part]


def _add_cliques(
    report: CliqueReport, graph: sp.csr_array, cliques: IntArray, tolerance: float
) -> CliqueReport:
    """Return the report with cliques of one size added: the spectra of their Gram matrices."""
    n_cliques, size = cliques.shape
    squares = np.zeros((n_cliques, size, size))
    for k, clique in enumerate(cliques):
        for a, point in enumerate(clique):
            near, given = _row(graph, int(point))
            position = np.searchsorted(near, np.delete(clique, a))
            squares[k, a, np.arange(size) != a] = given[position]
    center = np.eye(size) - 1.0 / size
    values = np.linalg.eigvalsh(-0.5 * center @ squares @ center)
    # One eigenvalue is zero by centering: it comes first unless another is negative.
    largest = values[:, -1:]
    ranks = np.sum(values > FLATNESS * largest, axis=1)
    impossible = np.flatnonzero(values[:, 0] < -tolerance * largest[:, 0])
    flat = np.flatnonzero((ranks < size - 1) & (values[:, 0] >= -tolerance * largest[:, 0]))
    if len(impossible) and not report.impossible:
        report = replace(report, impossible=tuple(cliques[impossible[0]].tolist()))
    if len(flat) and not report.example:
        example = tuple(cliques[flat[0]].tolist())
        report = replace(report, example=example, rank=int(ranks[flat[0]]))
    return replace(report, n_tried=report.n_tried + n_cliques, n_flat=report.n_flat + len(flat))


def _listed(points: tuple[int, ...]) -> str:
    return "(" + ", ".join(str(point) for point in points) + ")"
