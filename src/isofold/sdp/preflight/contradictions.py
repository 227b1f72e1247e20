"""Hard bounds that no points can meet, seen before any iteration.

Distances obey the triangle inequality: a pair is never further apart than the shortest path of
upper bounds between its ends, lengths being the roots √u. A lower bound √l above that, or two
bounds on one pair that exclude each other, make a program infeasible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from isofold._typing import FloatArray, IntArray
from isofold.sdp.forms import FactorForms, PairForms, to_dense
from isofold.sdp.problem import GramSDP
from isofold.sdp.program import Program
from isofold.sdp.rules import RULES, SolverRules

__all__ = ["PairBounds", "contradiction_of_lengths", "find_contradiction", "hard_pair_bounds"]

FACTOR_ROUNDING = 64 * float(np.finfo(float).eps)
"""Factors so much smaller than the largest are zero: differences of equal rows of a computed
orthonormal basis are some roundings."""

SOURCES_AT_ONCE = 256
"""Rows of path lengths computed at a time: 4 MB at the largest number of points."""

CANDIDATES_AT_ONCE = 1 << 20
"""Triangles looked at together: some 50 MB."""


@dataclass(frozen=True, eq=False)
class PairBounds:
    """Hard bounds on squared distances, each pair once and with its smaller point first."""

    first: IntArray
    second: IntArray
    lower: FloatArray
    upper: FloatArray
    n_points: int


def hard_pair_bounds(program: Program) -> PairBounds | None:
    """Return the hard bounds of a program on pairs, intersected; None if it has other forms."""
    forms, envelope = program.forms, program.envelope
    if not isinstance(forms, PairForms):
        return None
    hard = envelope.is_hard
    pairs = forms.pairs[hard]
    lower = np.maximum(envelope.lower[hard], 0.0)
    return _intersected(pairs[:, 0], pairs[:, 1], lower, envelope.upper[hard], program.size)


def _intersected(
    first: IntArray, second: IntArray, lower: FloatArray, upper: FloatArray, n: int
) -> PairBounds:
    """Return the intersection of all bounds on each pair."""
    keys = np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    if len(begins) == 0:
        nobody, nothing = np.empty(0, dtype=np.intp), np.empty(0)
        return PairBounds(nobody, nobody, nothing, nothing, n)
    smaller, larger = np.divmod(keys[begins], n)
    lowest = np.maximum.reduceat(lower[order], begins)
    return PairBounds(smaller, larger, lowest, np.minimum.reduceat(upper[order], begins), n)


def find_contradiction(
    program: Program, bounds: PairBounds | None, *, rules: SolverRules = RULES
) -> str | None:
    """Return a sentence (without its full stop) about constraints that exclude each other."""
    if bounds is None:
        forms = program.forms.squares()
        return _impossible_sum(program, forms)
    if len(bounds.first) == 0:
        return None
    return (
        _excluding_bounds(bounds, rules.contradiction)
        or _blocks_against_bounds(program, bounds, rules.contradiction)
        or _violated_path(bounds, rules)
    )


def contradiction_of_lengths(n_points: int, pairs: Any, squared_distances: Any) -> str | None:
    """Return a sentence about given distances that violate the triangle inequality."""
    program = Program.of(GramSDP.unfolding(n_points, pairs, squared_distances))
    return find_contradiction(program, hard_pair_bounds(program))


def _impossible_sum(program: Program, forms: FactorForms) -> str | None:
    """Look for sums of squares that would have to be negative, or of nothing that would not."""
    envelope = program.envelope
    absolute = abs(forms.factors).sum(axis=1) if len(forms.owner) else np.empty(0)
    absolute = np.asarray(absolute).ravel()
    counts = (forms.signs != 0) & (absolute > FACTOR_ROUNDING * absolute.max(initial=0.0))
    positive = np.bincount(forms.owner, counts & (forms.signs > 0), minlength=forms.n_forms) > 0
    negative = np.bincount(forms.owner, counts & (forms.signs < 0), minlength=forms.n_forms) > 0
    too_low = envelope.is_hard & ~negative & (envelope.upper < 0.0)
    too_high = envelope.is_hard & ~positive & (envelope.lower > 0.0)
    for bad, bound, what, why in (
        (too_low, envelope.upper, "at most", "a sum of squares is not negative"),
        (too_high, envelope.lower, "at least", "none of its squares counts as positive"),
    ):
        found = np.flatnonzero(bad)
        if len(found):
            return f"form {found[0]} must be {what} {bound[found[0]]:.6g}, but {why}"
    return None


def _excluding_bounds(bounds: PairBounds, tolerance: float) -> str | None:
    found = np.flatnonzero(_exceeds(bounds.lower, bounds.upper, bounds, tolerance))
    if len(found) == 0:
        return None
    e = found[0]
    return (
        f"{_pair(bounds, e)} is bounded more than once, and its squared distance would have to be "
        f"at least {bounds.lower[e]:.6g} and at most {bounds.upper[e]:.6g} ({len(found)} such "
        f"pair(s))"
    )


def _blocks_against_bounds(program: Program, bounds: PairBounds, tolerance: float) -> str | None:
    """Compare bounds with the distances of unit vectors: √2 in one block, at most 2 in two."""
    blocks = program.blocks
    if len(blocks) == 0:
        return None
    block = np.full(program.size, -1)
    n_rows = blocks[:, 1]
    offsets = np.arange(n_rows.sum()) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    block[np.repeat(blocks[:, 0], n_rows) + offsets] = np.repeat(np.arange(len(blocks)), n_rows)
    first, second = block[bounds.first], block[bounds.second]
    same = (first == second) & (first >= 0)
    reach = np.where(same, 2.0, np.where((first >= 0) & (second >= 0), 4.0, np.inf))
    found = np.flatnonzero(
        (bounds.lower > reach * (1.0 + tolerance))
        | (same & (bounds.upper < 2.0 * (1.0 - tolerance)))
    )
    if len(found) == 0:
        return None
    e = found[0]
    return (
        f"{_pair(bounds, e)} are rows of orthonormal blocks, whose squared distance is "
        f"{'2' if same[e] else 'at most 4'}, but it would have to lie between "
        f"{bounds.lower[e]:.6g} and {bounds.upper[e]:.6g} ({len(found)} such pair(s))"
    )


def _violated_path(bounds: PairBounds, rules: SolverRules) -> str | None:
    """Compare lower bounds with the shortest paths of upper bounds."""
    asked = np.flatnonzero(bounds.lower > 0.0)
    if len(asked) == 0 or not np.any(np.isfinite(bounds.upper)):
        return None
    n = bounds.n_points
    node = _merged_points(bounds)
    lengths = _length_graph(bounds, node)
    ends = node[bounds.first[asked]], node[bounds.second[asked]]
    wanted = np.sqrt(bounds.lower[asked])
    if n <= rules.all_paths_side:
        shortest = _shortest_paths(lengths, *ends, limit=float(wanted.max()))
    else:
        shortest = _shortest_triangles(lengths, *ends, wanted, rules.contradiction)
    shortest = np.where(ends[0] == ends[1], 0.0, shortest)
    found = np.flatnonzero(_exceeds(bounds.lower[asked], shortest**2, bounds, rules.contradiction))
    if len(found) == 0:
        return None
    worst = found[np.argmax(wanted[found] - shortest[found])]
    path = _path(lengths, int(ends[0][worst]), int(ends[1][worst]))
    return (
        f"{_pair(bounds, asked[worst])} must be at least {wanted[worst]:.6g} apart, but the upper "
        f"bounds along the path {' - '.join(map(str, path))} add up to {shortest[worst]:.6g}: the "
        f"triangle inequality is violated ({len(found)} such pair(s) seen)"
    )


def _path(lengths: sp.csr_array, first: int, second: int) -> list[int]:
    """Return the points of the shortest path between two points."""
    _, before = dijkstra(lengths, directed=True, indices=[first], return_predecessors=True)
    path = [second]
    while path[-1] != first and before[0, path[-1]] >= 0:
        path.append(int(before[0, path[-1]]))
    return path[::-1]


def _exceeds(
    lower: FloatArray, upper: FloatArray, bounds: PairBounds, tolerance: float
) -> FloatArray:
    """Tell where squared distances cannot be as asked, by more than rounding can explain."""
    finite = bounds.upper[np.isfinite(bounds.upper)]
    largest = float(max(finite.max(initial=0.0), bounds.lower.max(initial=0.0)))
    return np.asarray(lower > upper * (1.0 + tolerance) + tolerance**2 * largest)


def _merged_points(bounds: PairBounds) -> IntArray:
    """Return for every point the node that it shares with those at distance zero from it."""
    n = bounds.n_points
    zero = bounds.upper == 0.0
    if not np.any(zero):
        return np.arange(n)
    ends = (bounds.first[zero], bounds.second[zero])
    graph = sp.coo_array((np.ones(int(zero.sum())), ends), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1])


def _length_graph(bounds: PairBounds, node: IntArray) -> sp.csr_array:
    """Return the symmetric matrix of the shortest √u between two nodes, sorted by column."""
    n = bounds.n_points
    first, second = node[bounds.first], node[bounds.second]
    kept = np.isfinite(bounds.upper) & (first != second)
    upper = bounds.upper[kept]
    merged = _intersected(first[kept], second[kept], np.zeros(len(upper)), upper, n)
    half = sp.csr_array((np.sqrt(merged.upper), (merged.first, merged.second)), shape=(n, n))
    return sp.csr_array(half + half.T)


def _shortest_paths(
    lengths: sp.csr_array, first: IntArray, second: IntArray, *, limit: float
) -> FloatArray:
    """Return the shortest path for each pair of ends, infinite if it is beyond the limit."""
    out = np.empty(len(first))
    order = np.argsort(first, kind="stable")
    sources, begins = np.unique(first[order], return_index=True)
    begins = np.append(begins, len(first))
    for start in range(0, len(sources), SOURCES_AT_ONCE):
        part = sources[start : start + SOURCES_AT_ONCE]
        table = dijkstra(lengths, directed=True, indices=part, limit=limit)
        queries = order[begins[start] : begins[min(start + SOURCES_AT_ONCE, len(sources))]]
        out[queries] = table[np.searchsorted(part, first[queries]), second[queries]]
    return out


def _shortest_triangles(
    lengths: sp.csr_array,
    first: IntArray,
    second: IntArray,
    wanted: FloatArray,
    tolerance: float,
) -> FloatArray:
    """Return the shortest path of one or two steps, if it is shorter than wanted.

    One of the two steps is then shorter than half of what is wanted: only those are tried, at
    either end. Rows sorted by length give them as intervals.
    """
    n = lengths.shape[0]
    row = np.repeat(np.arange(n), np.diff(lengths.indptr))
    # Row number plus a length below 1/2: one sorted list in which all intervals are found.
    unit = 2.0 * (1.0 + tolerance) * max(float(lengths.data.max(initial=0.0)), float(wanted.max()))
    position = row + lengths.data / unit
    order = np.argsort(position)
    position, neighbor, step = position[order], lengths.indices[order], lengths.data[order]
    shortest = _entries(lengths, first, second)
    for near, far in ((first, second), (second, first)):
        begins = lengths.indptr[near]
        ends = np.searchsorted(position, near + wanted / (2.0 * unit), side="right")
        counts = np.maximum(ends - begins, 0)
        for part in _slices(counts):
            query = np.repeat(np.arange(part.start, part.stop), counts[part])
            offset = np.cumsum(counts[part]) - counts[part]
            entry = np.arange(len(query)) + np.repeat(begins[part] - offset, counts[part])
            path = step[entry] + _entries(lengths, neighbor[entry], far[query])
            shorter = path < wanted[query]
            np.minimum.at(shortest, query[shorter], path[shorter])
    return shortest


def _slices(counts: IntArray) -> Iterator[slice]:
    """Yield consecutive slices with some `CANDIDATES_AT_ONCE` counted each."""
    total = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        done = total[begin - 1] if begin else 0
        end = int(np.searchsorted(total, done + CANDIDATES_AT_ONCE, side="right"))
        end = max(begin + 1, end)
        yield slice(begin, end)
        begin = end


def _entries(lengths: sp.csr_array, rows: IntArray, columns: IntArray) -> FloatArray:
    """Return entries of a matrix of lengths, infinite where none is stored."""
    found = to_dense(lengths[rows, columns]).ravel()
    return np.where(found > 0.0, found, np.inf)


def _pair(bounds: PairBounds, e: int) -> str:
    return f"pair ({bounds.first[e]}, {bounds.second[e]})"
