"""The manifold of orthonormal blocks, and the trust region on it."""

from __future__ import annotations

import numpy as np
import pytest

from isofold.sdp.solvers.trust_region import trust_region
from isofold.sdp.stiefel import StiefelProduct

# Products of matrices of side below 10 with entries of order 1: some tens of roundings.
ROUNDING = 1e-13
BLOCKS = np.array([[0, 1], [2, 2], [4, 3], [8, 2]])
SIZE, P = 11, 4


@pytest.fixture
def manifold():
    return StiefelProduct(BLOCKS, SIZE)


@pytest.fixture
def point(manifold, rng):
    Y = manifold.random_point(P, rng)
    Y[manifold.free] = rng.standard_normal((len(manifold.free), P))
    return Y


@pytest.fixture
def rng():
    return np.random.default_rng(0)


class Quadratic:
    """⟨C, YYᵀ⟩."""

    def __init__(self, C):
        self.C = C

    def value(self, Y):
        return float(np.sum(Y * (self.C @ Y)))

    def gradient(self, Y):
        return 2 * self.C @ Y

    def hessian(self, Y):
        return lambda V: 2 * self.C @ V


def test_free_rows_and_groups_partition_the_rows(manifold):
    assert manifold.free.tolist() == [1, 7, 10]
    assert [rows.tolist() for rows in manifold.groups] == [[[0]], [[2, 3], [8, 9]], [[4, 5, 6]]]
    assert manifold.n_orthonormal_rows == 8
    assert manifold.smallest_rank == 3
    # Σ (rp − r(r+1)/2) + 3 free rows of p entries, by hand: 3 + 2·5 + 6 + 12.
    assert manifold.dimension(P) == 31


def test_polar_factors_of_square_pairs_are_those_of_the_svd(rng):
    manifold = StiefelProduct(np.array([[0, 2], [2, 2], [4, 2]]), 6)
    # A rotation, a reflection, and one whose determinant is zero.
    A = np.vstack([rng.standard_normal((4, 2)), [[1.0, 2.0], [3.0, 6.0]]])
    A[2:4] = A[[1, 0]]
    found = manifold.orthonormalize(A).reshape(3, 2, 2)
    left, _, right = np.linalg.svd(A.reshape(3, 2, 2))
    np.testing.assert_allclose(found[:2], (left @ right)[:2], atol=ROUNDING)
    # It maximizes the trace of its product with A, the sum of the singular values.
    assert np.sum(found[2] * A[4:]) == pytest.approx(np.sqrt(50.0), rel=ROUNDING)
    np.testing.assert_allclose(manifold.orthonormalize(np.zeros((6, 2)))[:2], np.eye(2))


def test_polar_factor_is_the_nearest_orthonormal_block(manifold, point, rng):
    Y = point
    moved = manifold.retract(Y, 0.3 * rng.standard_normal(Y.shape))
    for first, r in BLOCKS:
        block = moved[first : first + r]
        np.testing.assert_allclose(block @ block.T, np.eye(r), atol=ROUNDING)
    target = Y + 0.3 * np.random.default_rng(1).standard_normal(Y.shape)
    nearest = manifold.orthonormalize(target)
    distance = np.linalg.norm(nearest - target)
    np.testing.assert_array_equal(nearest[manifold.free], target[manifold.free])
    for _ in range(20):
        other = manifold.orthonormalize(nearest + 0.1 * rng.standard_normal(Y.shape))
        other[manifold.free] = target[manifold.free]
        assert np.linalg.norm(other - target) >= distance


@pytest.mark.parametrize("r", [1, 2, 3])
def test_singular_blocks_are_completed(r):
    manifold = StiefelProduct(np.array([[0, r]]), r)
    Y = manifold.orthonormalize(np.zeros((r, 3)))
    np.testing.assert_allclose(Y @ Y.T, np.eye(r), atol=ROUNDING)


def test_projection_is_orthogonal_and_agrees_with_the_basis(manifold, point, rng):
    Y = point
    V, W = rng.standard_normal((2, SIZE, P))
    projected = manifold.project(Y, V)
    np.testing.assert_allclose(manifold.project(Y, projected), projected, atol=ROUNDING)
    assert abs(np.sum((V - projected) * manifold.project(Y, W))) <= ROUNDING * SIZE * P
    for rows, basis in zip(manifold.groups, manifold.tangent_basis(Y), strict=True):
        flat = basis.reshape(len(rows), -1, basis.shape[3])
        gram = flat.swapaxes(1, 2) @ flat
        np.testing.assert_allclose(
            gram, np.broadcast_to(np.eye(gram.shape[1]), gram.shape), atol=ROUNDING
        )
        by_basis = flat @ (flat.swapaxes(1, 2) @ V[rows].reshape(len(rows), -1, 1))
        np.testing.assert_allclose(by_basis.reshape(V[rows].shape), projected[rows], atol=ROUNDING)


def test_multipliers_as_sparse_matrix(manifold, point, rng):
    Y = point
    G = rng.standard_normal(Y.shape)
    multipliers = manifold.multipliers(Y, G)
    matrix = manifold.as_sparse(multipliers)
    np.testing.assert_allclose(matrix @ Y, manifold.multiply(multipliers, Y), atol=ROUNDING)
    assert matrix.trace() == pytest.approx(manifold.trace(multipliers), rel=ROUNDING * 100)
    dense = matrix.todense()
    np.testing.assert_array_equal(dense, dense.T)
    assert not dense[manifold.free].any()


def test_trust_region_finds_a_critical_point_with_ever_lower_values(manifold, rng):
    A = rng.standard_normal((SIZE, SIZE))
    C = A @ A.T + 0.1 * np.eye(SIZE)
    inverse = np.linalg.inv(2 * C)
    for precondition in (None, lambda V: inverse @ V):
        steps = list(
            trust_region(
                manifold,
                Quadratic(C),
                manifold.random_point(P, np.random.default_rng(2)),
                precondition=precondition,
                tol=1e-9,
            )
        )
        values = np.array([step.value for step in steps])
        assert np.all(np.diff(values) <= ROUNDING * values[0])
        assert steps[-1].gradient_norm <= 1e-9 or steps[-1].stalled
        Y = steps[-1].Y
        gradient = manifold.project(Y, 2 * C @ Y)
        # Stalled means that the predicted decrease, about |gradient|²/‖C‖, is below rounding.
        assert np.linalg.norm(gradient) <= 1e-5
        np.testing.assert_allclose(gradient[manifold.free], (2 * C @ Y)[manifold.free])


def test_trust_region_stops_when_asked(manifold, rng):
    A = rng.standard_normal((SIZE, SIZE))
    steps = trust_region(manifold, Quadratic(A @ A.T), manifold.random_point(P, rng), max_iter=2)
    assert len(list(steps)) == 3
