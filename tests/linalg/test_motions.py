"""Stacks of rigid motions are applied, undone, composed, joined and restricted."""

import numpy as np
import pytest

from isofold.linalg import procrustes
from isofold.linalg.motions import RigidMotions

# Products of a few numbers of size one.
ROUNDING = 1e-12


def random_motions(n, r, p, seed=0):
    rng = np.random.RandomState(seed)
    rotations = np.linalg.qr(rng.normal(size=(n, p, r)))[0].swapaxes(1, 2)
    return RigidMotions(rotations, rng.normal(size=(n, p)))


@pytest.mark.parametrize(("r", "p"), [(1, 1), (2, 2), (2, 5), (3, 3)])
def test_every_row_is_moved_by_its_owner_and_back(r, p):
    motions, rng = random_motions(4, r, p), np.random.RandomState(1)
    rows, owners = rng.normal(size=(20, r)), rng.randint(4, size=20)
    images = motions.apply(rows, owners)
    for image, row, owner in zip(images, rows, owners, strict=True):
        expected = row @ motions.rotations[owner] + motions.translations[owner]
        np.testing.assert_allclose(image, expected, atol=ROUNDING)
    np.testing.assert_allclose(motions.undo(images, owners), rows, atol=ROUNDING)


def test_every_shape_is_moved_by_its_own_motion():
    motions, rng = random_motions(3, 2, 2), np.random.RandomState(1)
    shapes = [rng.normal(size=(n, 2)) for n in (1, 4, 7)]
    for number, moved in enumerate(motions.apply_each(shapes)):
        owners = np.full(len(moved), number)
        np.testing.assert_allclose(moved, motions.apply(shapes[number], owners), atol=ROUNDING)


@pytest.mark.parametrize("n_after", [1, 4])
def test_motions_follow_each_other(n_after):
    first, after = random_motions(4, 2, 3), random_motions(n_after, 3, 3, seed=1)
    rows, owners = np.random.RandomState(2).normal(size=(20, 2)), np.arange(20) % 4
    expected = after.apply(first.apply(rows, owners), owners % n_after)
    np.testing.assert_allclose(first.then(after).apply(rows, owners), expected, atol=ROUNDING)


def test_another_frame():
    motions, center = random_motions(4, 2, 3), np.array([1.0, -2.0, 0.5])
    axes = np.linalg.qr(np.random.RandomState(3).normal(size=(3, 3)))[0]
    rows, owners = np.random.RandomState(2).normal(size=(20, 2)), np.arange(20) % 4
    expected = (motions.apply(rows, owners) - center) @ axes
    found = motions.in_frame(center, axes).apply(rows, owners)
    np.testing.assert_allclose(found, expected, atol=ROUNDING)


def test_identity_changes_nothing():
    rows, owners = np.random.RandomState(0).normal(size=(6, 3)), np.arange(6) % 2
    np.testing.assert_array_equal(RigidMotions.identity(2, 3).apply(rows, owners), rows)


def test_joined_restricted_and_stacked():
    first, second = random_motions(2, 2, 2), random_motions(3, 2, 2, seed=1)
    both = RigidMotions.joined([first, second])
    assert len(both) == 5
    again = both.restrict(np.array([2, 3, 4]))
    np.testing.assert_array_equal(again.rotations, second.rotations)
    np.testing.assert_array_equal(again.translations, second.translations)
    points = np.random.RandomState(2).normal(size=(9, 2))
    moved = second.apply_each([points] * 3)
    found = RigidMotions.stacked(procrustes(points, image).transform for image in moved)
    np.testing.assert_allclose(found.rotations, second.rotations, atol=ROUNDING)
    np.testing.assert_allclose(found.translations, second.translations, atol=ROUNDING)
