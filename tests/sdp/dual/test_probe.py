"""The test of the dual slack against all eigenvalues of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from isofold.sdp.certificate import Certificate, relative_gap
from isofold.sdp.dual.probe import DENSE_SIDE, lowest_pairs, probe_slack, spectrum_off_gauge
from support.quick import quick_first

LARGE = DENSE_SIDE + 40
"""A side at which sparse matrices are factored rather than diagonalized."""

VALUE_TOL = 1e-9
"""Lanczos values of well-separated eigenvalues of size one; LAPACK is far better."""

KINDS = ["dense", "small sparse", "large sparse", "operator"]


def laplacian(n, seed):
    """Return a Laplacian with some negative weights: indefinite, its null vector the ones."""
    rng = np.random.default_rng(seed)
    i = np.concatenate([np.arange(n), rng.integers(0, n, 2 * n)])
    j = np.concatenate([(np.arange(n) + 1) % n, rng.integers(0, n, 2 * n)])
    weights = rng.uniform(0.2, 1.0, 3 * n) * rng.choice([1.0, -1.0], 3 * n, p=[0.9, 0.1])
    W = sp.coo_array((np.where(i == j, 0.0, weights), (i, j)), shape=(n, n)).tocsr()
    W = W + W.T
    return sp.csr_array(sp.diags_array(np.asarray(W.sum(axis=1)).ravel()) - W)


def posed(kind, seed):
    S = laplacian(LARGE if kind == "large sparse" else 60, seed)
    if kind == "dense":
        return S.toarray(), S.toarray()
    return (aslinearoperator(S) if kind == "operator" else S), S.toarray()


def gauges(n):
    ones = np.full(n, 1.0 / np.sqrt(n))
    other = np.random.default_rng(7).standard_normal(n)
    return {"none": None, "eigenvector": ones, "other": other / np.linalg.norm(other)}


def naive_spectrum(S, gauge):
    """Return the eigenvalues of PSP with the gauge's own zero taken out."""
    if gauge is None:
        return np.linalg.eigvalsh(S)
    n = len(S)
    P = np.eye(n) - np.outer(gauge, gauge)
    lifted = P @ S @ P + 1e3 * np.outer(gauge, gauge)
    return np.linalg.eigvalsh(lifted)[: n - 1]


@pytest.mark.parametrize("gauge_kind", ["none", "eigenvector", "other"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", quick_first([0, 1, 2]))
def test_the_probe_agrees_with_all_eigenvalues(kind, gauge_kind, seed):
    S, dense = posed(kind, seed)
    gauge = gauges(len(dense))[gauge_kind]
    values = naive_spectrum(dense, gauge)
    lowest = values[0]
    assert lowest < 0, "the example is meant to be indefinite"
    for shift in (-2.0 * lowest, -1.01 * lowest):
        probe = probe_slack(S, gauge=gauge, shift=shift)
        assert probe.is_positive
        assert probe.n_negative == 0
        assert probe.is_exact == (kind != "operator")
        # Rounding of the test, far below what it decides.
        assert probe.margin <= 1e-8
    for shift in (0.0, -0.99 * lowest, -1.5):
        # Away from eigenvalues the count is certain; zero is an eigenvalue without a gauge.
        probe = probe_slack(S, gauge=gauge, shift=shift + 1e-6)
        assert not probe.is_positive
        expected = int(np.sum(values < -(shift + 1e-6)))
        assert probe.n_negative == (min(expected, 1) if kind == "operator" else expected)


def test_a_gauge_lost_in_rounding_excuses_nothing():
    """A negative eigenvalue must not hide behind the null vector of a Laplacian."""
    S = laplacian(LARGE, 3)
    gauge = gauges(LARGE)["eigenvector"]
    lowest = naive_spectrum(S.toarray(), gauge)
    gap = (lowest[0] + lowest[1]) / 2  # exactly one eigenvalue lies below it
    # Lift the whole spectrum so that one eigenvalue stays negative, and the gauge with it to
    # within rounding of zero, on either side.
    lifted = S - gap * sp.eye_array(LARGE, format="csr")
    ones = sp.csr_array(np.ones((LARGE, LARGE)) / LARGE)
    for along in (-1e-17, 0.0, 1e-17):
        matrix = sp.csr_array(lifted + (gap + along) * ones)
        probe = probe_slack(matrix, gauge=gauge, shift=0.0)
        assert not probe.is_positive


def test_singular_matrices_are_not_called_positive():
    S = sp.csr_array((LARGE, LARGE))
    probe = probe_slack(S, gauge=None, shift=0.0)
    assert not probe.is_positive
    assert probe.n_negative == -1
    assert probe_slack(S, gauge=None, shift=1e-9).is_positive


def test_the_margin_of_a_dense_probe_knows_the_gauge():
    gauge = gauges(30)["other"]
    S = np.eye(30) + 1e12 * np.outer(gauge, gauge)
    probe = probe_slack(S, gauge=gauge, shift=0.0)
    worst = np.abs(spectrum_off_gauge(S, gauge) - 1.0).max()
    assert worst <= probe.margin


@pytest.mark.parametrize("gauge_kind", ["none", "eigenvector", "other"])
@pytest.mark.parametrize("kind", KINDS)
def test_lowest_pairs_are_those_off_the_gauge(kind, gauge_kind):
    S, dense = posed(kind, 4)
    gauge = gauges(len(dense))[gauge_kind]
    values, vectors = lowest_pairs(S, gauge, 3)
    np.testing.assert_allclose(values, naive_spectrum(dense, gauge)[:3], atol=VALUE_TOL)
    image = dense @ vectors
    if gauge is not None:
        np.testing.assert_allclose(gauge @ vectors, 0.0, atol=1e-7)
        image -= np.outer(gauge, gauge @ image)
    np.testing.assert_allclose(image, vectors * values, atol=1e-6)


def test_one_point_has_nothing_off_its_gauge():
    assert len(spectrum_off_gauge(np.array([[-5.0]]), np.ones(1))) == 0
    assert probe_slack(np.array([[-5.0]]), gauge=np.ones(1), shift=0.0).is_positive


def test_relative_gap():
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(-1.0, 1.0) == 2.0


@pytest.mark.parametrize(("floor", "holds"), [(0.0, False), (0.2, True)])
def test_a_certificate_allows_for_the_rounding_floor(floor, holds):
    certificate = Certificate(
        multipliers=np.empty(0),
        block_multipliers=None,
        primal=1.0,
        dual=0.9,
        gap=0.1,
        min_eigenvalue=0.0,
        eigenvalue_error=0.0,
        shift=0.0,
        max_violation=0.0,
        rounding_floor=floor,
        is_exact=True,
    )
    assert certificate.holds(1e-3) is holds
    assert certificate.holds(0.11)
