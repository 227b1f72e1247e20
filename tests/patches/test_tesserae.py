"""Tesserae: flat rigid pieces and the matrix that places their points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from isofold.patches.tesserae import cut_tesserae
from support.hypothesis_profiles import examples

ROUNDING = 1e-12
"""Singular vectors of matrices with some tens of entries near one."""


def cloud(seed, n=40, d=4, c=5):
    rng = np.random.default_rng(seed)
    # Each label occurs, in no order.
    labels = rng.permutation(np.concatenate([np.arange(c), rng.integers(0, c, n - c)]))
    return rng.standard_normal((n, d)), labels


def poses(rng, tesserae, width):
    """Return random rotations and translations S, row by row as `first_row` says."""
    S = np.empty((tesserae.n_rows, width))
    for first, rank in zip(tesserae.first_row, tesserae.ranks, strict=True):
        frame = np.linalg.qr(rng.standard_normal((width, width)))[0]
        S[first : first + rank] = frame[:rank]
        S[first + rank] = 10 * rng.standard_normal(width)
    return S


def test_enough_axes_keep_all_distances_within():
    X, labels = cloud(0)
    tesserae = cut_tesserae(X, labels, 4)
    for number in range(5):
        own = labels == number
        np.testing.assert_allclose(pdist(tesserae.local[own]), pdist(X[own]), rtol=ROUNDING)
    assert tesserae.residual == pytest.approx(0.0, abs=ROUNDING)


def test_fewer_axes_are_those_of_the_principal_components():
    """Coordinates have the largest variances there are, and the rest is what is told to be lost."""
    X, labels = cloud(1)
    tesserae = cut_tesserae(X, labels, 2)
    kept, total = 0.0, 0.0
    for number in range(5):
        own = X[labels == number]
        spectrum = np.linalg.eigvalsh((own - own.mean(axis=0)).T @ (own - own.mean(axis=0)))[::-1]
        local = tesserae.local[labels == number]
        np.testing.assert_allclose(local.T @ local, np.diag(spectrum[:2]), atol=1e-11)
        np.testing.assert_allclose(local.mean(axis=0), 0.0, atol=ROUNDING)
        kept, total = kept + spectrum[:2].sum(), total + spectrum.sum()
    assert tesserae.residual == pytest.approx(1.0 - kept / total, rel=1e-10)
    assert tesserae.thickness == pytest.approx(np.sqrt((total - kept) / len(X)), rel=1e-10)


@examples(20)
@given(seed=st.integers(0, 2**32 - 1), r=st.integers(1, 5))
def test_any_poses_keep_distances_within_exactly(seed, r):
    """U·B·Uᵀ with identities on the diagonal blocks of B has the distances of the flat pieces."""
    X, labels = cloud(seed)
    tesserae = cut_tesserae(X, labels, r)
    rng = np.random.default_rng(seed)
    S = poses(rng, tesserae, 6)
    B = S @ S.T
    for first, size in tesserae.blocks:
        np.testing.assert_allclose(
            B[first : first + size, first : first + size], np.eye(size), atol=ROUNDING
        )
    U = tesserae.matrix.toarray()
    G = U @ B @ U.T
    squared = np.diag(G)[:, None] + np.diag(G) - 2 * G
    flat = squareform(pdist(tesserae.local)) ** 2
    within = labels[:, None] == labels
    # Entries of G are squares of translations, some hundreds each.
    np.testing.assert_allclose(
        squared[within], flat[within], rtol=0, atol=1e-14 * np.abs(G).max() * 40
    )


def test_the_matrix_places_every_point():
    X, labels = cloud(2)
    tesserae = cut_tesserae(X, labels, 3)
    S = poses(np.random.default_rng(2), tesserae, 3)
    Y = tesserae.matrix @ S
    for i, number in enumerate(labels):
        first, rank = tesserae.first_row[number], tesserae.ranks[number]
        expected = tesserae.local[i, :rank] @ S[first : first + rank] + S[first + rank]
        np.testing.assert_allclose(Y[i], expected, rtol=ROUNDING)


def test_ranks_of_small_and_flat_pieces():
    """One point, two points, three on a line, three in a plane: 0, 1, 1 and 2 axes."""
    alone, two = [[5.0, 5.0, 5.0]], [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    line = [[0.0, 0.0, 9.0], [1.0, 0.0, 9.0], [2.0, 0.0, 9.0]]
    plane = [[7.0, 0.0, 0.0], [8.0, 0.0, 0.0], [7.0, 1.0, 0.0]]
    X = np.array([*alone, *two, *line, *plane])
    tesserae = cut_tesserae(X, np.array([0, 1, 1, 2, 2, 2, 3, 3, 3]), 3)
    np.testing.assert_array_equal(tesserae.ranks, [0, 1, 1, 2])
    assert tesserae.n_tesserae == 4
    assert tesserae.n_rows == 4 + 4
    np.testing.assert_array_equal(tesserae.first_row, [0, 1, 3, 5])
    # A single point has no rotation.
    np.testing.assert_array_equal(tesserae.blocks, [[1, 1], [3, 1], [5, 2]])
    assert tesserae.matrix.shape == (9, 8)
    np.testing.assert_array_equal(tesserae.matrix.toarray()[0], np.eye(8)[0])
    # Nothing is left in axes beyond the rank.
    assert np.all(tesserae.local[0] == 0.0)
    assert np.all(tesserae.local[1:6, 1:] == 0.0)


def test_every_point_alone():
    X = np.random.default_rng(0).standard_normal((6, 2))
    tesserae = cut_tesserae(X, np.arange(6), 2)
    assert np.all(tesserae.ranks == 0)
    assert tesserae.blocks.shape == (0, 2)
    assert tesserae.residual == 0.0
    np.testing.assert_array_equal(tesserae.matrix.toarray(), np.eye(6))


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_motions_of_the_data_change_no_piece(shift):
    X, labels = cloud(3)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    plain, moved = (cut_tesserae(points, labels, 2) for points in (X, X @ rotation + shift))
    for number in range(5):
        own = labels == number
        # Points at 1e6 are rounded by 1e-10.
        np.testing.assert_allclose(pdist(moved.local[own]), pdist(plain.local[own]), atol=1e-9)


def test_input_is_left_alone_and_float32_is_computed_in_float64():
    X, labels = cloud(4)
    single = X.astype(np.float32)
    before = single.copy()
    tesserae = cut_tesserae(single, labels, 2)
    np.testing.assert_array_equal(single, before)
    assert tesserae.local.dtype == np.float64
    np.testing.assert_array_equal(
        tesserae.local, cut_tesserae(single.astype(float), labels, 2).local
    )
