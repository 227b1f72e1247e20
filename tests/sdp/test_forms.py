"""Forms against their definitions: double loops over dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from isofold.sdp.forms import FactorForms, PairForms, no_forms, to_dense

RTOL = 1e-12
"""Sums of fewer than a hundred products of numbers near one, in two orders: some 1e-14."""

PAIRS = np.array([[0, 1], [1, 2], [2, 0], [1, 0], [3, 4], [0, 1], [4, 2]])
"""With (0, 1) three times, once the other way round, and point 5 in no pair."""


def pair_forms():
    return PairForms(PAIRS, 6)


def factor_forms(*, sparse):
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((8, 6)) * (rng.random((8, 6)) < 0.6)
    owner = np.array([0, 0, 1, 2, 2, 2, 4, 4])  # form 3 owns nothing
    signs = np.array([1.0, -1.0, 1.0, 2.0, 1.0, 0.5, -1.0, -3.0])
    return FactorForms(sp.csr_array(factors) if sparse else factors, signs, owner, 5)


FORMS = {
    "pairs": pair_forms(),
    "dense factors": factor_forms(sparse=False),
    "sparse factors": factor_forms(sparse=True),
    "no forms": no_forms(6),
}
each_kind = pytest.mark.parametrize("forms", FORMS.values(), ids=FORMS.keys())


def matrices(forms):
    """Return the A_e as their definition reads."""
    out = np.zeros((forms.n_forms, forms.size, forms.size))
    if isinstance(forms, PairForms):
        for e, (i, j) in enumerate(forms.pairs):
            out[e, i, i] += 1
            out[e, j, j] += 1
            out[e, i, j] -= 1
            out[e, j, i] -= 1
        return out
    factors = to_dense(forms.factors)
    for k, e in enumerate(forms.owner):
        out[e] += forms.signs[k] * np.outer(factors[k], factors[k])
    return out


@pytest.fixture
def points(rng_seed=0):
    rng = np.random.default_rng(rng_seed)
    return rng.standard_normal((6, 3)), rng.standard_normal((6, 3))


@each_kind
def test_values_and_cross_are_inner_products_with_the_matrices(forms, points):
    Y, D = points
    A = matrices(forms)
    values = [np.sum(a * (Y @ Y.T)) for a in A]
    cross = [np.sum(a * (Y @ D.T)) for a in A]
    np.testing.assert_allclose(forms.values(Y), values, rtol=RTOL, atol=RTOL)
    np.testing.assert_allclose(forms.cross(Y, D), cross, rtol=RTOL, atol=RTOL)


@each_kind
def test_the_line_search_pass_is_the_two_passes(forms, points):
    Y, D = points
    cross, values = forms.cross_and_values(Y, D)
    np.testing.assert_allclose(cross, forms.cross(Y, D), rtol=RTOL, atol=RTOL)
    np.testing.assert_allclose(values, forms.values(D), rtol=RTOL, atol=RTOL)


@each_kind
def test_the_adjoint_is_the_weighted_sum(forms):
    w = np.random.default_rng(2).standard_normal(forms.n_forms)
    expected = np.einsum("e,eij->ij", w, matrices(forms))
    np.testing.assert_allclose(to_dense(forms.adjoint(w)), expected, rtol=RTOL, atol=RTOL)


@each_kind
def test_adjoint_identity(forms, points):
    Y, _ = points
    w = np.random.default_rng(3).standard_normal(forms.n_forms)
    inner = np.sum(to_dense(forms.adjoint(w)) * (Y @ Y.T))
    assert inner == pytest.approx(w @ forms.values(Y), rel=RTOL, abs=RTOL)


@each_kind
def test_squares_are_the_same_forms(forms):
    np.testing.assert_allclose(matrices(forms.squares()), matrices(forms), atol=RTOL)


@each_kind
@pytest.mark.parametrize("sparse", [False, True])
def test_forms_in_a_basis_are_the_forms_of_the_image(forms, sparse):
    rng = np.random.default_rng(4)
    Q, Z = rng.standard_normal((6, 4)), rng.standard_normal((4, 2))
    basis = sp.csr_array(Q) if sparse else Q
    image = forms.in_basis(basis)
    assert image.size == 4
    np.testing.assert_allclose(image.values(Z), forms.values(Q @ Z), rtol=RTOL, atol=RTOL)


def test_laplacians_of_all_weights_share_one_pattern():
    forms = pair_forms()
    first, second = forms.adjoint(np.zeros(7)), forms.adjoint(np.arange(7.0))
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.indptr, second.indptr)
    assert second.has_canonical_format


def test_many_pairs():
    rng = np.random.default_rng(5)
    m = 9_000
    pairs = np.column_stack([rng.integers(0, 50, m), rng.integers(50, 99, m)])
    Y = rng.standard_normal((99, 2))
    expected = np.sum((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2, axis=1)
    np.testing.assert_allclose(PairForms(pairs, 99).values(Y), expected, rtol=RTOL)
