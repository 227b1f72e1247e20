import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.exceptions import InvalidInputError
from isofold.quality import (
    one_nn_error,
    out_of_sample_error,
    procrustes_error,
    purity,
    reconstruction_error,
    spectrum,
    variance_loss,
)
from support.hypothesis_profiles import examples


@examples(25)
@given(st.integers(0, 10_000), st.floats(0.2, 5.0))
def test_procrustes_error_is_zero_for_moved_truth_and_known_for_scaled(seed, factor):
    rng = np.random.RandomState(seed)
    truth = rng.standard_normal((20, 3))
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    moved = factor * truth @ rotation + rng.standard_normal(3)
    # Best rigid motion undoes the rotation; what remains is (factor − 1) times the spread.
    assert procrustes_error(moved, truth) == pytest.approx(abs(factor - 1), abs=1e-9)
    assert procrustes_error(moved, truth, scale=True) < 1e-9


def test_procrustes_error_counts_missing_dimensions():
    rng = np.random.RandomState(0)
    truth = rng.standard_normal((500, 2)) * [3.0, 1.0]
    # Keeping only the first axis loses the variance of the second.
    lost = np.sqrt(truth[:, 1].var() / (truth[:, 0].var() + truth[:, 1].var()))
    assert procrustes_error(truth[:, :1], truth) == pytest.approx(lost, rel=1e-2)
    assert procrustes_error(np.pad(truth, ((0, 0), (0, 1))), truth) < 1e-12


def test_procrustes_error_names_the_displaced_point():
    truth = np.random.RandomState(0).standard_normal((30, 2))
    Y = truth.copy()
    Y[4] += 5
    score = procrustes_error(Y, truth)
    assert score.per_point.argmax() == 4
    assert float(score) == pytest.approx(np.sqrt(np.mean(score.per_point**2)))


def test_out_of_sample_error_by_hand_and_after_alignment():
    rng = np.random.RandomState(0)
    old, new = rng.standard_normal((20, 2)), rng.standard_normal((5, 2))
    rotation = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    assert out_of_sample_error(new, new + np.array([3.0, 4.0])) == pytest.approx(5.0)
    assert out_of_sample_error(
        new @ rotation + 1, new, reference=(old, old @ rotation + 1)
    ) == pytest.approx(0, abs=1e-12)


def test_spectrum_and_variance_loss():
    Y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.5], [0.0, -0.5]]) @ np.array(
        [[0.6, 0.8], [-0.8, 0.6]]
    )
    np.testing.assert_allclose(spectrum(Y), [0.8, 0.2], atol=1e-12)
    assert variance_loss(Y, 1) == pytest.approx(0.2)
    assert variance_loss(Y, 2) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(spectrum(np.ones((3, 2))), [0, 0])


def test_one_nn_error_agrees_with_a_loop():
    rng = np.random.RandomState(0)
    Y, labels = rng.standard_normal((60, 2)), rng.choice(["a", "b", "c"], 60)
    D = ((Y[:, None] - Y) ** 2).sum(-1)
    np.fill_diagonal(D, np.inf)
    expected = labels[D.argmin(1)] != labels
    score = one_nn_error(Y, labels)
    np.testing.assert_array_equal(score.per_point, expected)
    sampled = one_nn_error(Y, labels, n_samples=20, random_state=0)
    np.testing.assert_array_equal(sampled.per_point, expected[sampled.rows])


def test_purity_by_hand():
    assert purity([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"]) == pytest.approx(4 / 5)
    assert purity(np.zeros(5), [1, 1, 1, 2, 3]) == pytest.approx(3 / 5)


def test_reconstruction_error_is_the_distance_from_flats():
    rng = np.random.RandomState(0)
    flat = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 5))
    line = rng.standard_normal((30, 1)) @ rng.standard_normal((1, 5)) + 20
    X = np.vstack([flat, line])
    clusters = np.repeat(["flat", "line"], [40, 30])
    assert reconstruction_error(X, clusters, n_components=2) < 1e-24
    rank_one = reconstruction_error(X, clusters, n_components=1)
    np.testing.assert_allclose(rank_one.per_point[40:], 0, atol=1e-24)
    singular = np.linalg.svd(flat - flat.mean(0), compute_uv=False)
    assert rank_one == pytest.approx(singular[1] ** 2 / 70)
    means = reconstruction_error(X, clusters, n_components=0)
    assert means == pytest.approx(
        sum(((part - part.mean(0)) ** 2).sum() for part in (flat, line)) / 70
    )


def test_reconstruction_with_more_axes_than_points_is_exact():
    X = np.random.RandomState(0).standard_normal((6, 10))
    assert reconstruction_error(X, [0, 0, 0, 1, 1, 2], n_components=4) < 1e-24


@pytest.mark.parametrize("labels", [[0, 1], np.zeros((3, 1)), []])
def test_labels_of_wrong_shape_are_named(labels):
    with pytest.raises(InvalidInputError, match="one entry a point"):
        one_nn_error(np.eye(3), labels)


def test_labels_of_mixed_kinds_are_named():
    with pytest.raises(InvalidInputError, match="Convert them to text"):
        one_nn_error(np.eye(3), np.array([1, "a", 2], dtype=object))


def test_constant_truth_is_named():
    with pytest.raises(InvalidInputError, match="coincide"):
        procrustes_error(np.eye(3), np.ones((3, 2)))


def test_out_of_sample_tables_must_agree():
    with pytest.raises(InvalidInputError, match="they must agree"):
        out_of_sample_error(np.eye(3), np.eye(3)[:, :2])
