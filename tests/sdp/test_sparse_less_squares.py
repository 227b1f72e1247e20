import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from isofold.sdp import GramSDP, LowRankSDP, Status
from isofold.sdp.dual.probe import probe_slack, spectrum_off_gauge
from isofold.sdp.dual.spectrum import lowest_modes, proved_floor
from isofold.sdp.posing.natural_units import natural_penalty
from isofold.sdp.program import Program
from isofold.sdp.sparse_less_squares import SparseLessSquares
from support.hypothesis_profiles import examples

# Eigenvalues of matrices of side up to thirty, with norms up to a hundred.
ROUNDING = 1e-10


def drawn(seed, n, n_columns, *, centered):
    """Return a sparse A and columns F; centered if ones is to be an eigenvector of A − FFᵀ."""
    rng = np.random.RandomState(seed)
    rows, columns = rng.randint(n, size=(2, 3 * n))
    weights = sp.coo_array((rng.uniform(-0.5, 2.0, 3 * n), (rows, columns)), (n, n)).toarray()
    weights = weights + weights.T
    A = np.diag(weights.sum(axis=1)) - weights
    F = rng.normal(size=(n, n_columns)) * rng.choice([0.1, 1.0, 3.0])
    return sp.csr_array(A), F - F.mean(axis=0) * centered


differences = {
    "seed": st.integers(0, 2**31 - 1),
    "n": st.integers(3, 30),
    "n_columns": st.integers(1, 4),
    "centered": st.booleans(),
    "has_gauge": st.booleans(),
}


@examples(60)
@given(**differences)
def test_inertia_and_lowest_modes_are_those_of_the_dense_matrix(
    seed, n, n_columns, centered, has_gauge
):
    A, F = drawn(seed, n, n_columns, centered=centered)
    S, gauge = SparseLessSquares(A, F), np.full(n, n**-0.5) if has_gauge else None
    expected = spectrum_off_gauge(A.toarray() - F @ F.T, gauge)
    values, vectors = lowest_modes(S, gauge, 1, accuracy=1e-10)
    size = max(1.0, np.abs(expected).max())
    assert values[0] == pytest.approx(expected[0], abs=1e-6 * size)
    image = S @ vectors[:, 0]
    assert vectors[:, 0] @ image == pytest.approx(expected[0], abs=1e-6 * size)
    for shift in (-expected[0] + 1e-4 * size, -expected[0] - 1e-4 * size, 0.37 * size):
        if np.abs(expected + shift).min() < 1e-5 * size:
            continue
        probe = probe_slack(S, gauge=gauge, shift=shift)
        assert probe.is_exact
        assert probe.n_negative == np.sum(expected < -shift)
        assert probe.margin <= 1e-6 * size
    floor = proved_floor(S, gauge)
    assert floor.is_exact
    assert expected[0] - 1e-4 * size <= floor.value <= expected[0] + ROUNDING * size


@examples(30)
@given(seed=st.integers(0, 2**31 - 1), scale=st.sampled_from([-2.5, -1.0, 0.5, 3.0]))
def test_products_sums_and_multiples(seed, scale):
    A, F = drawn(seed, 12, 2, centered=False)
    Y = np.random.RandomState(seed).normal(size=(12, 3))
    for sign in (-1.0, 1.0):
        S = SparseLessSquares(A, F, sign=sign)
        dense = A.toarray() + sign * F @ F.T
        np.testing.assert_allclose(S @ Y, dense @ Y, atol=1e-9)
        np.testing.assert_allclose(S @ Y[:, 0], dense @ Y[:, 0], atol=1e-9)
        np.testing.assert_allclose((scale * S) @ Y, scale * dense @ Y, atol=1e-9)
        np.testing.assert_allclose(S.plus(A) @ Y, (dense + A.toarray()) @ Y, atol=1e-9)


def test_a_sum_has_no_joint_matrix_and_is_no_proof():
    A, F = drawn(0, 12, 2, centered=False)
    assert not probe_slack(SparseLessSquares(A, F, sign=1.0), gauge=None, shift=1e3).is_exact


def test_the_same_optimum_as_with_the_dense_matrix():
    """Seventy points of a sheet, soft lengths and two classes, solved both ways."""
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(70, 2)) * (3.0, 1.0)
    squares = np.square(X[:, None] - X).sum(axis=2)
    near = np.argsort(squares, axis=1)[:, 1:9]
    pairs = np.unique(np.sort([(i, j) for i in range(70) for j in near[i]], axis=1), axis=0)
    given = squares[tuple(pairs.T)]
    F = (X[:, :1] > 1.5) == [[False, True]]
    F = F - F.mean(axis=0)
    objectives = (F @ F.T, SparseLessSquares(sp.csr_array((70, 70)), F, sign=1.0))
    penalty = 16.0 * natural_penalty(70, pairs, given, objective=objectives[0])
    found = []
    for objective in objectives:
        posed = GramSDP.unfolding(70, pairs, given, penalty=penalty, objective=objective)
        assert Program.of(posed).is_dense == (objective is objectives[0])
        found.append(LowRankSDP(tol=1e-4, random_state=0).solve(posed))
        assert found[-1].status is Status.CERTIFIED
        assert found[-1].certificate.is_exact
    assert found[0].primal == pytest.approx(found[1].primal, rel=2e-4)
