"""Rigid motions: recovered when planted, optimal when not, finite when undetermined."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.spatial
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from scipy.stats import ortho_group

from isofold.exceptions import InvalidInputError
from isofold.linalg import SimilarityTransform, procrustes
from support.helpers import assert_equal_up_to_rigid_motion

# Coordinates of size about 10 after products of a few terms.
ATOL = 1e-12
# Residuals of two motions that may both be optimal differ by rounding of coordinates only.
RESIDUAL_TOL = ATOL
# A planted rotation is known to rounding times the squared condition of d + 5 normal points,
# which stays below 1e3.
PLANTED_TOL = 1e3 * ATOL
# Between unrelated sets the least gap of singular values of Sᵀ T decides instead. Hypothesis may
# find the worst of 2^16 seeds, so a relative gap of about 1e-5; a factor of ten as room.
ROTATION_TOL = 1e6 * ATOL

seeds = st.integers(0, 2**16)


def random_motion(rng, d, *, proper=False):
    rotation = ortho_group.rvs(d, random_state=rng) if d > 1 else np.array([[1.0]])
    if proper and np.linalg.det(rotation) < 0:
        rotation[0] *= -1
    return SimilarityTransform(rotation, rng.normal(size=d) * 3)


@given(seeds, st.integers(1, 4), st.booleans())
def test_a_planted_rigid_motion_is_recovered(seed, d, proper):
    rng = np.random.RandomState(seed)
    motion = random_motion(rng, d, proper=proper)
    points = rng.normal(size=(d + 5, d))
    fit = procrustes(points, motion.apply(points), reflection=not proper)
    np.testing.assert_allclose(fit.transform.rotation, motion.rotation, rtol=0, atol=PLANTED_TOL)
    np.testing.assert_allclose(fit.transform.apply(points), motion.apply(points), rtol=0, atol=ATOL)
    assert fit.residual <= ATOL
    assert fit.transform.scale == 1.0


@given(seeds, st.integers(1, 4), st.floats(0.01, 100))
def test_a_planted_scale_is_recovered(seed, d, factor):
    rng = np.random.RandomState(seed)
    motion = random_motion(rng, d)
    planted = SimilarityTransform(motion.rotation, motion.translation, factor)
    points = rng.normal(size=(d + 5, d))
    fit = procrustes(points, planted.apply(points), scale=True)
    assert fit.transform.scale == pytest.approx(factor)
    assert fit.residual <= ATOL * (1 + factor)


@given(seeds, st.integers(1, 4))
def test_without_reflection_the_determinant_is_one_and_no_rotation_is_better(seed, d):
    rng = np.random.RandomState(seed)
    source, target = rng.normal(size=(2, 7, d))
    fit = procrustes(source, target, reflection=False)
    assert np.linalg.det(fit.transform.rotation) == pytest.approx(1.0)
    assert fit.residual >= procrustes(source, target).residual - RESIDUAL_TOL
    for _ in range(20):
        other = random_motion(rng, d, proper=True).rotation
        assert rms_centered(source, target, other) >= fit.residual - RESIDUAL_TOL


def rms_centered(source, target, rotation):
    gaps = (source - source.mean(axis=0)) @ rotation - (target - target.mean(axis=0))
    return np.sqrt((gaps**2).sum(axis=1).mean())


@given(seeds)
def test_without_reflection_it_agrees_with_scipy_rotations(seed):
    rng = np.random.RandomState(seed)
    source, target = rng.normal(size=(2, 8, 3))
    weights = rng.uniform(0.1, 2.0, size=8)
    fit = procrustes(source, target, reflection=False, weights=weights)
    shares = weights / weights.sum()
    expected, _ = Rotation.align_vectors(
        target - shares @ target, source - shares @ source, weights=weights
    )
    # align_vectors acts on columns, our rotation on rows.
    np.testing.assert_allclose(
        fit.transform.rotation, expected.as_matrix().T, rtol=0, atol=ROTATION_TOL
    )


@given(seeds, st.integers(1, 5))
def test_it_agrees_with_scipy_orthogonal_procrustes(seed, d):
    rng = np.random.RandomState(seed)
    source, target = rng.normal(size=(2, 9, d))
    source -= source.mean(axis=0)
    target -= target.mean(axis=0)
    expected, strength = scipy.linalg.orthogonal_procrustes(source, target)
    fit = procrustes(source, target, scale=True)
    np.testing.assert_allclose(
        source @ fit.transform.rotation, source @ expected, rtol=0, atol=ROTATION_TOL
    )
    assert fit.transform.scale == pytest.approx(strength / (source**2).sum())


@given(seeds)
def test_residual_agrees_with_scipy_disparity(seed):
    rng = np.random.RandomState(seed)
    source, target = rng.normal(size=(2, 9, 3))
    standard_target, _, disparity = scipy.spatial.procrustes(target, source)
    fit = procrustes(source, standard_target, scale=True)
    assert 9 * fit.residual**2 == pytest.approx(disparity)


@given(seeds, st.integers(1, 3), st.integers(1, 3))
def test_a_flat_is_placed_in_a_larger_space(seed, d, extra):
    rng = np.random.RandomState(seed)
    points = rng.normal(size=(8, d))
    placed = random_motion(rng, d + extra).apply(np.pad(points, ((0, 0), (0, extra))))
    for reflection in (True, False):
        fit = procrustes(points, placed, reflection=reflection)
        rotation = fit.transform.rotation
        assert rotation.shape == (d, d + extra)
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(d), rtol=0, atol=ATOL)
        np.testing.assert_allclose(fit.transform.apply(points), placed, rtol=0, atol=10 * ATOL)


@given(seeds)
def test_integer_weights_mean_repeated_points(seed):
    rng = np.random.RandomState(seed)
    source, target = rng.normal(size=(2, 6, 2))
    counts = rng.randint(0, 4, size=6)
    counts[:3] += 1
    weighted = procrustes(source, target, weights=counts, scale=True)
    repeated = procrustes(
        np.repeat(source, counts, axis=0), np.repeat(target, counts, axis=0), scale=True
    )
    np.testing.assert_allclose(
        weighted.transform.apply(source),
        repeated.transform.apply(source),
        rtol=0,
        atol=ROTATION_TOL,
    )
    assert weighted.residual == pytest.approx(repeated.residual)


def test_without_reflection_no_positive_scale_helps_a_mirrored_line():
    fit = procrustes(
        np.array([[-1.0], [1.0]]), np.array([[1.0], [-1.0]]), scale=True, reflection=False
    )
    assert fit.transform.scale == 0.0
    assert fit.residual == 1.0
    np.testing.assert_array_equal(fit.transform.apply(np.array([[-1.0], [1.0]])), 0.0)


@pytest.mark.parametrize("source_size", [1e-160, 1.0, 1e140])
@pytest.mark.parametrize("target_size", [1e-160, 1.0, 1e140])
def test_sets_in_any_units(source_size, target_size):
    rng = np.random.RandomState(0)
    points = rng.normal(size=(8, 3))
    placed = random_motion(rng, 3).apply(points)
    fit = procrustes(points * source_size, placed * target_size, scale=True)
    assert fit.transform.scale == pytest.approx(target_size / source_size, rel=ATOL)
    assert fit.residual <= ATOL * target_size


@pytest.mark.parametrize("size", [1e-170, 1e154, 1e160, 1e300])
def test_rigid_motions_in_any_units(size):
    rng = np.random.RandomState(0)
    points = rng.normal(size=(8, 3))
    placed = random_motion(rng, 3).apply(points)
    rigid = procrustes(points * size, placed * size)
    assert rigid.residual <= ATOL * size
    moved = rigid.transform.apply(points * size) / size
    np.testing.assert_allclose(moved, placed, rtol=0, atol=10 * ATOL)


@pytest.mark.parametrize("sizes", [(1e-170, 1e300), (1e300, 1e-170)])
def test_a_scale_out_of_range_is_refused(sizes):
    with pytest.raises(InvalidInputError, match="other units"):
        procrustes(np.eye(3) * sizes[0], np.eye(3) * sizes[1], scale=True)


def test_a_mirror_image_needs_a_reflection():
    corner = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    mirrored = corner * [1.0, -1.0]
    assert procrustes(corner, mirrored).residual <= ATOL
    assert procrustes(corner, mirrored, reflection=False).residual > 0.1


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("reflection", [False, True])
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (np.ones((4, 2)), np.full((4, 2), 7.0)),  # all points equal, in both
        (np.ones((4, 2)), np.arange(8.0).reshape(4, 2)),  # all points equal in the source
        (np.arange(8.0).reshape(4, 2) ** 2, np.ones((4, 2))),  # all points equal in the target
        (np.ones((1, 3)), np.zeros((1, 3))),  # one point
        (np.eye(2, 5), -np.eye(2, 5)),  # fewer points than dimensions
        (np.outer(np.arange(5.0), [1, 1, 0]), np.outer(np.arange(5.0), [0, 0, 1])),  # lines
    ],
)
def test_undetermined_motions_are_finite_and_orthogonal(source, target, scale, reflection):
    fit = procrustes(source, target, scale=scale, reflection=reflection)
    rotation = fit.transform.rotation
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(len(rotation)), rtol=0, atol=ATOL)
    assert np.isfinite(fit.transform.apply(source)).all()
    assert np.isfinite(fit.residual)
    if not reflection:
        assert np.linalg.det(rotation) == pytest.approx(1.0)


def test_fewer_points_than_dimensions_still_fit_exactly():
    rng = np.random.RandomState(0)
    points = rng.normal(size=(3, 5))
    assert_equal_up_to_rigid_motion(points, random_motion(rng, 5).apply(points), atol=ATOL)


@given(seeds, st.integers(1, 4), st.floats(0.1, 10))
def test_inverse_undoes_the_transform(seed, d, factor):
    rng = np.random.RandomState(seed)
    motion = random_motion(rng, d)
    transform = SimilarityTransform(motion.rotation, motion.translation, factor)
    points = rng.normal(size=(5, d))
    back = transform.inverse().apply(transform.apply(points))
    np.testing.assert_allclose(back, points, rtol=0, atol=100 * ATOL)


@pytest.mark.parametrize(
    "transform",
    [
        SimilarityTransform(np.eye(2, 3), np.zeros(3)),
        SimilarityTransform(np.eye(2), np.zeros(2), 0.0),
    ],
)
def test_without_an_inverse_it_says_so(transform):
    with pytest.raises(InvalidInputError, match="no inverse"):
        transform.inverse()


def test_float32_points_stay_float32():
    points = np.random.RandomState(0).normal(size=(5, 2)).astype(np.float32)
    assert procrustes(points, points).transform.apply(points).dtype == np.float32


@pytest.mark.parametrize(
    ("source", "target", "weights", "words"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), None, "3 rows.*4"),
        (np.ones((0, 2)), np.ones((0, 2)), None, "at least one"),
        (np.ones((3, 3)), np.ones((3, 2)), None, "fewer dimensions"),
        (np.full((3, 2), np.nan), np.ones((3, 2)), None, "source contains 6 NaN"),
        (np.ones((3, 2)), np.ones((3, 2)), [1, 1], "weights"),
        (np.ones((3, 2)), np.ones((3, 2)), [1, -1, 1], "nonnegative"),
        (np.ones((3, 2)), np.ones((3, 2)), [0, 0, 0], "positive sum"),
        (np.ones((3, 2)), np.ones((3, 2)), [1, np.nan, 1], "weights contains 1 NaN"),
        (np.ones((3, 2)), np.ones((3, 2)), [1e308, 1e308, 1e308], "finite"),
        (np.ones((3, 2)), np.ones((3, 2)), "abc", "weights must be real"),
        (np.ones((3, 2)), np.ones((3, 2)), [1j, 1, 1], "weights must be real"),
        (sp.csr_array(np.ones((3, 2))), np.ones((3, 2)), None, "source is a sparse"),
    ],
)
def test_bad_input_is_refused(source, target, weights, words):
    with pytest.raises(InvalidInputError, match=words):
        procrustes(source, target, weights=weights)


def test_points_of_another_dimension_are_refused():
    with pytest.raises(InvalidInputError, match=r"3 columns.*maps 2 dimensions to 2"):
        procrustes(np.eye(2), np.eye(2)).transform.apply(np.ones((1, 3)))


def test_the_shared_helper_catches_a_difference():
    points = np.random.RandomState(0).normal(size=(10, 2))
    assert_equal_up_to_rigid_motion(np.pad(points, ((0, 0), (0, 1))), points, atol=ATOL)
    with pytest.raises(AssertionError, match="after the best rigid motion"):
        assert_equal_up_to_rigid_motion(points, 1.1 * points, atol=1e-3)
    with pytest.raises(AssertionError, match="rows"):
        assert_equal_up_to_rigid_motion(points, points[1:], atol=1.0)
    with pytest.raises(AssertionError, match="best rigid motion"):
        assert_equal_up_to_rigid_motion(points, points * [1, -1], atol=1e-3, reflection=False)
