"""What is known of a structure, and what is refused."""

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.structure import RigidGroup, StructureProblem

TRIANGLE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]


def test_every_step_returns_a_new_problem():
    empty = StructureProblem(4)
    full = (
        empty.with_groups([RigidGroup.of([0, 1, 2], TRIANGLE)])
        .with_distances([[2, 3]], 1.0)
        .with_bounds([[0, 3]], upper=2.0)
        .with_anchors([0], [[0.0, 0.0, 0.0]])
        .with_contacts(0.1)
    )
    assert (len(empty.groups), len(empty.bounds), empty.contacts) == (0, 0, None)
    assert (len(full.groups), len(full.bounds), len(full.anchors)) == (1, 2, 1)
    assert full.bounds.lower.tolist() == [1.0, 0.0]
    assert full.bounds.upper.tolist() == [1.0, 2.0]


def test_problems_keep_copies():
    pairs, upper, where = np.array([[0, 1]]), np.array([2.0]), np.array(TRIANGLE)
    group = RigidGroup.of([0, 1, 2], where)
    problem = StructureProblem(3).with_bounds(pairs, upper=upper)
    pairs[0], upper[0], where[0] = [1, 2], 9.0, 7.0
    assert problem.bounds.pairs.tolist() == [[0, 1]]
    assert problem.bounds.upper.tolist() == [2.0]
    assert group.coordinates.tolist() == TRIANGLE


def test_groups_of_distances_have_them_and_no_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 3))
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    group = RigidGroup.of_distances(range(5), distances)
    assert group.dimension == 3
    assert not group.has_hand
    assert group.pairs()[1] == pytest.approx(distances[np.triu_indices(5, 1)], abs=1e-12)
    with pytest.raises(InvalidInputError, match="No points have the distances"):
        RigidGroup.of_distances(range(3), [[0, 1, 3], [1, 0, 1], [3, 1, 0]])


@pytest.mark.parametrize(("axes", "dimension"), [(1, 1), (2, 2), (3, 3)])
def test_the_dimension_of_a_group_is_what_it_fills(axes, dimension):
    rng = np.random.default_rng(axes)
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    where = rng.normal(size=(6, axes)) @ rotation[:axes]
    group = RigidGroup.of(range(6), where)
    assert group.dimension == dimension
    seen = group.in_axes(dimension)
    assert np.linalg.norm(seen[0] - seen[4]) == pytest.approx(np.linalg.norm(where[0] - where[4]))


def test_angles_are_distances_of_the_ends_of_their_legs():
    problem = StructureProblem(3).with_angles(
        [[0, 1, 2]], legs=[3.0, 4.0], lower=np.pi / 2, upper=np.pi
    )
    assert problem.angles.lower == pytest.approx([5.0])
    assert problem.angles.upper == pytest.approx([7.0])
    assert problem.angles.pairs.tolist() == [[0, 2]]


def test_a_restricted_problem_keeps_what_is_inside():
    problem = (
        StructureProblem(6, names=tuple("abcdef"))
        .with_groups([RigidGroup.of([1, 3, 5], TRIANGLE), RigidGroup.of([0, 1], [[0.0], [1.0]])])
        .with_bounds([[1, 5], [0, 5]], upper=[2.0, 3.0])
        .with_centers([[1, 3, 5, 2], [0, 1, 2, 3]], [1.0, -1.0])
        .with_anchors([3, 0], [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
        .with_contacts(np.arange(6.0), exempt=[[1, 2], [0, 1]])
    )
    part = problem.restricted(np.array([1, 2, 3, 5]))
    assert part.names == ("b", "c", "d", "f")
    assert [group.points.tolist() for group in part.groups] == [[0, 2, 3]]
    assert part.bounds.pairs.tolist() == [[0, 3]]
    assert part.centers.corners.tolist() == [[0, 2, 3, 1]]
    assert part.anchors.points.tolist() == [2]
    assert part.contacts.radii.tolist() == [1.0, 2.0, 3.0, 5.0]
    assert part.contacts.exempt.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda p: StructureProblem(0), "n_points=0"),
        (lambda p: StructureProblem(2.5), "n_points=2.5"),
        (lambda p: StructureProblem(2, names=("a",)), "1 names for 2 points"),
        (lambda p: p.with_bounds([[0, 9]], upper=1.0), "name point 9, but points are 0 to 3"),
        (lambda p: p.with_bounds([[0, 0]], upper=1.0), "names a point twice"),
        (lambda p: p.with_bounds([[0.5, 1]], upper=1.0), "whole numbers"),
        (lambda p: p.with_bounds([0, 1], upper=1.0), "whole numbers of shape"),
        (lambda p: p.with_bounds([[0, 1]]), "neither lower nor upper"),
        (lambda p: p.with_bounds([[0, 1]], upper=-1.0), "negative"),
        (lambda p: p.with_bounds([[0, 1]], upper=np.nan), "NaN"),
        (lambda p: p.with_bounds([[0, 1]], upper="far"), "must be a number"),
        (lambda p: p.with_bounds([[0, 1]], upper=[1.0, 2.0]), "must be a number"),
        (lambda p: p.with_bounds([[0, 1]], lower=2.0, upper=1.0), "exceeds the upper bound 1"),
        (lambda p: p.with_bounds([[0, 1]], lower=np.inf), "infinite"),
        (lambda p: p.with_bounds([[0, 1]], upper=1.0, weights=0.0), "positive"),
        (lambda p: p.with_angles([[0, 1, 2]], legs=0.0, upper=1.0), "legs of an angle"),
        (lambda p: p.with_angles([[0, 1, 2]], legs=1.0, upper=90.0), "radians"),
        (lambda p: p.with_centers([[0, 1, 2, 3]], [np.inf]), "NaN or infinite"),
        (lambda p: p.with_anchors([0], [[np.nan, 0.0]]), "NaN or infinite"),
        (lambda p: p.with_anchors([0, 1], [[0.0, 0.0]]), "2 anchors"),
        (lambda p: p.with_anchors([0, 0], np.zeros((2, 2))), "anchor twice"),
        (lambda p: p.with_contacts(-1.0), "negative"),
        (lambda p: p.with_contacts([1.0, 2.0]), "must be a number"),
        (lambda p: p.with_groups([RigidGroup.of([0, 7], [[0.0], [1.0]])]), "name point 7"),
        (lambda p: RigidGroup.of([0], [[0.0]]), "at least two"),
        (lambda p: RigidGroup.of([0, 0], [[0.0], [1.0]]), "each only once"),
        (lambda p: RigidGroup.of([0, 1], [[0.0], [np.inf]]), "NaN or infinite"),
        (lambda p: RigidGroup.of([0, 1, 2], [[0.0], [1.0]]), "one row for every point"),
        (lambda p: RigidGroup.of_distances([0, 1], [[0, 1]]), "finite square"),
    ],
)
def test_nonsense_is_refused_with_words(make, match):
    with pytest.raises(InvalidInputError, match=match):
        make(StructureProblem(4))
