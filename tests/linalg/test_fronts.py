"""LDLᵀ by fronts against LAPACK: inertia, solutions, whether the error bound is one, and bits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from isofold.linalg.fronts import Elimination, FrontalFactor
from isofold.linalg.ldl import SingularMatrixError

SOLVE_RTOL = 1e-8
"""Rounding 1e-16 times condition numbers up to 1e6, with room for growth of the factors."""


def blocks_on_a_graph(n_units, side, seed, *, diagonal=3.0):
    """Return an indefinite matrix of blocks on the edges of a graph, the graph, and the units."""
    rng = np.random.default_rng(seed)
    half = sp.random_array((n_units, n_units), density=min(1.0, 3.0 / n_units), rng=rng)
    graph = sp.csr_array(abs(half) + abs(half.T) + sp.eye_array(n_units))
    full = sp.coo_array(sp.kron(graph, np.ones((side, side))))
    values = sp.csc_array((rng.standard_normal(full.nnz), (full.row, full.col)), full.shape)
    signs = rng.choice([-1.0, 1.0], n_units * side)
    A = sp.csc_array(values + values.T + diagonal * sp.diags_array(signs))
    return A, graph, np.repeat(np.arange(n_units), side)


def dense_product(factor, A):
    """Return A in the order of elimination and the product LDLᵀ of the computed panels."""
    n = A.shape[0]
    L = np.zeros((n, n))
    for s, start in enumerate(factor._panel_starts[:-1]):
        rows = factor._rows[factor._row_starts[s] : factor._row_starts[s + 1]]
        first, last = factor._columns[s : s + 2]
        panel = factor._panels[start : start + len(rows) * (last - first)]
        L[np.ix_(rows, range(first, last))] = panel.reshape(last - first, len(rows)).T
    L = np.tril(L, -1).astype(np.longdouble) + np.eye(n)
    D = factor.pivots.astype(np.longdouble)
    return A.toarray()[np.ix_(factor._order, factor._order)], L @ np.diag(D) @ L.T


# One front of 60 units of 3 has more columns than are eliminated at once.
@pytest.mark.parametrize(("n_units", "side"), [(1, 1), (40, 1), (40, 3), (60, 6), (300, 2)])
@pytest.mark.parametrize("diagonal", [0.5, 5.0])
def test_inertia_and_solutions_agree_with_dense(n_units, side, diagonal):
    A, graph, unit = blocks_on_a_graph(n_units, side, 0, diagonal=diagonal)
    factor = FrontalFactor(A, Elimination.of(graph), unit)
    values, bound = np.linalg.eigvalsh(A.toarray()), factor.error_bound
    assert np.sum(values < -bound) <= factor.n_negative <= np.sum(values < bound)
    dense, product = dense_product(factor, A)
    assert np.linalg.norm((dense - product).astype(np.float64), 2) <= bound
    B = np.random.default_rng(1).standard_normal((len(unit), 3))
    rtol = SOLVE_RTOL * max(1.0, bound / (1e-13 * np.abs(values).max()))
    np.testing.assert_allclose(A @ factor.solve(B), B, rtol=rtol, atol=rtol)


def test_a_right_side_alone_and_among_others_has_the_same_solution_to_the_bit():
    A, graph, unit = blocks_on_a_graph(50, 3, 2)
    factor = FrontalFactor(A, Elimination.of(graph), unit)
    B = np.random.default_rng(0).standard_normal((150, 7))
    together = factor.solve(B)
    alone = np.column_stack([factor.solve(column) for column in B.T])
    np.testing.assert_array_equal(together, alone)


def test_matrices_on_part_of_the_units_share_the_analysis():
    A, graph, unit = blocks_on_a_graph(60, 3, 3)
    elimination = Elimination.of(graph)
    kept = np.flatnonzero((unit % 4 > 0) & (np.arange(180) % 3 == 2))
    part = sp.csc_array(A[kept][:, kept])
    factor = FrontalFactor(part, elimination, unit[kept])
    assert factor.n_negative == np.sum(np.linalg.eigvalsh(part.toarray()) < 0.0)
    x = np.arange(float(len(kept)))
    np.testing.assert_allclose(factor.solve(part @ x), x, rtol=1e-9, atol=1e-9)


def test_refactoring_is_factoring_afresh():
    A, graph, unit = blocks_on_a_graph(50, 2, 4)
    shifted = sp.csc_array(A + 7.0 * sp.eye_array(100))
    elimination = Elimination.of(graph)
    factor = FrontalFactor(A, elimination, unit)
    factor.refactor(shifted)
    afresh = FrontalFactor(shifted, elimination, unit)
    np.testing.assert_array_equal(factor.pivots, afresh.pivots)
    np.testing.assert_array_equal(factor._panels, afresh._panels)


def test_a_zero_pivot_is_refused():
    graph = sp.csr_array(np.ones((2, 2)))
    with pytest.raises(SingularMatrixError):
        FrontalFactor(sp.csc_array(np.ones((2, 2))), Elimination.of(graph), np.arange(2))
