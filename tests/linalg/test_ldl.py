"""Sparse LDLᵀ against LAPACK: inertia, solutions, and whether the error bound is one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from isofold.linalg import ldl as factorization
from isofold.linalg.ldl import SingularMatrixError, SymmetricFactor
from support.quick import quick_first

SOLVE_RTOL = 1e-8
"""Rounding 1e-16 times condition numbers up to 1e6, with room for growth of the factors."""


@pytest.fixture(params=["qdldl", "superlu"])
def backend(request, monkeypatch):
    monkeypatch.setattr(factorization, "LIGHT_ROW", 10**9 if request.param == "qdldl" else -1)
    return request.param


def random_symmetric(n, seed, *, density=0.08, diagonal=3.0):
    rng = np.random.default_rng(seed)
    half = sp.random_array((n, n), density=density, rng=rng, data_sampler=rng.standard_normal)
    signs = rng.choice([-1.0, 1.0], n)
    return sp.csc_array(half + half.T + diagonal * sp.diags_array(signs))


def laplacian(n, seed):
    rng = np.random.default_rng(seed)
    pairs = np.column_stack([rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n)])
    W = sp.coo_array((rng.random(4 * n), pairs.T), shape=(n, n)).tocsr()
    W = W + W.T
    return sp.csc_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("diagonal", [0.5, 3.0])
def test_inertia_and_solutions_agree_with_dense(backend, seed, diagonal):
    A = random_symmetric(60, seed, diagonal=diagonal)
    factor = SymmetricFactor(A)
    values = np.linalg.eigvalsh(A.toarray())
    # Eigenvalues closer to zero than the bound may be counted either way.
    bound = factor.error_bound
    assert np.sum(values < -bound) <= factor.n_negative <= np.sum(values < bound)
    B = np.random.default_rng(seed).standard_normal((60, 3))
    growth = max(1.0, bound / (1e-13 * np.abs(values).max()))
    rtol = SOLVE_RTOL * growth
    np.testing.assert_allclose(A @ factor.solve(B), B, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(A @ factor.solve(B[:, 0]), B[:, 0], rtol=rtol, atol=rtol)


def permuted_product(factor, A, backend):
    """Return A in the order of elimination and the product LDLᵀ of the computed factors."""
    if backend == "qdldl":
        L, D, order = factor._solver.factors()
        unit = sp.csc_array(L).toarray().astype(np.longdouble) + np.eye(A.shape[0])
    else:
        order = np.argsort(factor._solver.perm_c)
        unit = factor._solver.L.toarray().astype(np.longdouble)
        D = factor._solver.U.diagonal()
    dense = A.toarray()[np.ix_(order, order)]
    return dense, unit @ np.diag(D.astype(np.longdouble)) @ unit.T


@pytest.mark.parametrize("seed", quick_first(range(10)))
@pytest.mark.parametrize("kind", ["indefinite", "unlucky", "laplacian"])
def test_the_error_bound_bounds_the_computed_error(backend, seed, kind):
    A = {
        "indefinite": lambda: random_symmetric(80, seed),
        "unlucky": lambda: random_symmetric(80, seed, diagonal=1e-3),
        "laplacian": lambda: laplacian(80, seed) - 0.3 * sp.eye_array(80, format="csc"),
    }[kind]()
    factor = SymmetricFactor(A)
    dense, product = permuted_product(factor, A, backend)
    error = np.linalg.norm((dense - product).astype(np.float64), 2)
    assert error <= factor.error_bound
    if kind == "laplacian":
        # Without pivot growth the bound is a few hundred roundings, not a blank check.
        assert factor.error_bound <= 1e-11 * np.abs(dense).max()


def test_refactoring_reuses_the_pattern(backend):
    A = laplacian(50, 0) + 0.1 * sp.eye_array(50, format="csc")
    factor = SymmetricFactor(A)
    assert factor.n_negative == 0
    other = sp.csc_array(A - 1.5 * sp.eye_array(50, format="csc"))
    factor.refactor(other)
    assert factor.n_negative == np.sum(np.linalg.eigvalsh(other.toarray()) < 0)
    b = np.arange(50.0)
    np.testing.assert_allclose(other @ factor.solve(b), b, rtol=SOLVE_RTOL, atol=SOLVE_RTOL)


@pytest.mark.parametrize(
    "A",
    [np.zeros((3, 3)), [[1.0, 1.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]], np.diag([1.0, 0.0])],
    ids=["zero", "rank one", "exchange", "diagonal"],
)
def test_singular_matrices_and_zero_pivots_are_named(backend, A):
    with pytest.raises(SingularMatrixError):
        SymmetricFactor(sp.csc_array(np.asarray(A, dtype=float)))


def test_one_by_one(backend):
    factor = SymmetricFactor(sp.csc_array([[-2.0]]))
    assert factor.n_negative == 1
    assert factor.solve(np.array([4.0])) == pytest.approx(-2.0)


@pytest.mark.parametrize("n_columns", [2, 7, 8, 9, 20])
def test_columns_together_are_columns_alone(n_columns):
    """To the bit, whatever stands beside them."""
    A = net(12) + 0.1 * sp.eye_array(144)
    factor = SymmetricFactor(A)
    B = np.random.default_rng(n_columns).standard_normal((144, n_columns))
    X = factor.solve(B)
    for k in range(n_columns):
        np.testing.assert_array_equal(X[:, k], factor.solve(B[:, k]))
    np.testing.assert_allclose(A @ X, B, atol=1e-10)


def test_negative_directions_span_all_that_is_negative():
    A = net(12) - 0.3 * sp.eye_array(144)
    factor = SymmetricFactor(A)
    V = factor.negative_directions(100)
    n_negative = int(np.sum(np.linalg.eigvalsh(A.toarray()) < 0.0))
    assert V.shape == (144, n_negative)
    products = V.T @ (A @ V)
    assert np.all(np.diag(products) < 0.0)
    # L⁻¹AL⁻ᵀ is diagonal: the directions are conjugate, up to rounding.
    scale = np.sqrt(np.outer(np.diag(products), np.diag(products)))
    np.testing.assert_allclose(products / scale, -np.eye(n_negative), atol=1e-9)
    assert factor.negative_directions(1).shape == (144, 1)


def net(side):
    """The Laplacian of a square net, with weights that break its symmetry."""
    path = sp.diags_array([-np.ones(side - 1)] * 2, offsets=[-1, 1])
    path = path - sp.diags_array(path.sum(axis=1))
    A = sp.csr_array(sp.kron(path, sp.eye_array(side)) + sp.kron(sp.eye_array(side), path))
    D = sp.diags_array(1.0 + 0.01 * np.arange(side**2) / side**2)
    return sp.csc_array(D @ A @ D)
