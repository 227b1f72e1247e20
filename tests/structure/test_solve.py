"""Structures whose coordinates or motions are known."""

import numpy as np
import pytest
from sklearn.base import clone

from isofold._progress.stages import interrupt, progress
from isofold.exceptions import (
    DisconnectedGraphWarning,
    DoubtfulMapWarning,
    InputTypeError,
    InterruptedFitWarning,
    InvalidInputError,
)
from isofold.linalg import procrustes
from isofold.structure import RigidGroup, StructureFromBounds, StructureProblem, free_motions
from support.frameworks import (
    flexible_frameworks,
    framework,
    near_pairs,
    rigid_frameworks,
    scattered,
)
from support.helpers import assert_equal_up_to_rigid_motion

RIGID, FLEXIBLE = rigid_frameworks(), flexible_frameworks()


def name(case):
    return case.name


def solved(problem, d, **settings):
    return StructureFromBounds(d, random_state=0, **settings).fit(problem)


@pytest.mark.parametrize("case", RIGID, ids=name)
def test_exact_rigid_frameworks_come_back(case):
    model = solved(case.problem, case.n_components)
    # A hand is only known where bodies fill the space.
    has_hand = any(len(group) > case.n_components for group in case.problem.groups)
    if len(case.problem.anchors):
        assert model.coordinates_ == pytest.approx(case.coordinates, abs=1e-6)
    assert_equal_up_to_rigid_motion(
        model.coordinates_, case.coordinates, atol=1e-6, reflection=not has_hand
    )
    assert model.free_motions_.n_motions == case.n_motions
    assert model.violations_.worst < 1e-6
    assert model.diagnosis_.is_sound


@pytest.mark.parametrize("case", FLEXIBLE, ids=name)
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_motions_of_flexible_frameworks_are_counted(case):
    model = solved(case.problem, case.n_components)
    assert model.violations_.worst < 1e-6
    assert model.free_motions_.n_motions == case.n_motions
    assert free_motions(case.problem, case.coordinates).n_motions == case.n_motions
    # Whatever moves is a doubt; it may also end in several ways, and says so.
    codes = model.diagnosis_.codes
    assert ("undetermined_motions" in codes) == (case.n_motions > 0)
    assert codes <= {"undetermined_motions", "hand_undecided", "several_structures"}


def bonded_chain(n=14, seed=0):
    """Return a chain of tetrahedra with hands, and bounds that fix its fold."""
    X = np.cumsum(scattered(n, 3, seed) * 0.4 + [0.5, 0.3, 0.1], axis=0)
    bodies = [tuple(range(k, k + 4)) for k in range(0, n - 3, 2)]
    case = framework("chain", X, None, bodies=bodies)
    pairs = np.array(near_pairs(X, 8))
    apart = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    return case.problem.with_bounds(pairs, upper=1.001 * apart, lower=0.999 * apart), X


def test_the_hand_of_groups_is_that_of_the_structure():
    problem, X = bonded_chain()
    model = solved(problem, 3)
    assert model.violations_.worst < 1e-3
    right = procrustes(model.coordinates_, X, reflection=False).residual
    mirrored = procrustes(model.coordinates_ * [1, 1, -1], X, reflection=False).residual
    assert right < 0.1 * mirrored
    assert model.structure_.vote > 0


def test_centers_decide_the_hand_without_groups():
    X = scattered(10, 3, 4)
    case = framework("bars", X, 0, bars=near_pairs(X, 9))
    corners = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    edges = X[corners[:, 1:]] - X[corners[:, :1]]
    volumes = np.linalg.det(edges) / 6
    for sign in (1.0, -1.0):
        model = solved(case.problem.with_centers(corners, sign * volumes), 3)
        assert_equal_up_to_rigid_motion(
            model.coordinates_, X * [1, 1, sign], atol=1e-6, reflection=False
        )
    assert "hand_unknown" in solved(case.problem, 3).diagnosis_


def test_results_scale_with_the_unit_of_length():
    problem, _ = bonded_chain()
    big = StructureProblem(problem.n_points).with_groups(
        RigidGroup.of(group.points, 1024 * group.coordinates) for group in problem.groups
    )
    bounds = problem.bounds
    big = big.with_bounds(bounds.pairs, lower=1024 * bounds.lower, upper=1024 * bounds.upper)
    small, large = solved(problem, 3), solved(big, 3)
    # A power of two leaves all digits as they are.
    assert (large.coordinates_ == 1024 * small.coordinates_).all()
    assert large.structure_.energy == 1024**2 * small.structure_.energy


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_jobs():
    problem, _ = bonded_chain()
    first = solved(problem, 3, n_init=3)
    again = solved(problem, 3, n_init=3, n_jobs=2)
    assert first.ensemble_.tobytes() == again.ensemble_.tobytes()
    assert first.spread_.shape == (problem.n_points,)
    assert (np.diff(first.energies_) >= 0).all()


def test_anchors_stay_where_they_are():
    X = scattered(14, 2, 3)
    case = framework("anchored", X, 0, bars=near_pairs(X, 6), anchors=(3, 8))
    model = solved(case.problem, 2)
    assert (model.coordinates_[[3, 8]] == X[[3, 8]]).all()
    # Two anchors leave the mirror image in their line.
    along = (X[8] - X[3]) / np.linalg.norm(X[8] - X[3])
    mirrored = X[3] + 2 * np.outer((X - X[3]) @ along, along) - (X - X[3])
    errors = [np.abs(model.coordinates_ - where).max() for where in (X, mirrored)]
    assert min(errors) < 1e-6


def test_angles_fix_a_triangle():
    legs = StructureProblem(3).with_distances([[0, 1], [1, 2]], [3.0, 2.0])
    angle = np.deg2rad(50.0)
    model = solved(legs.with_angles([[0, 1, 2]], legs=[3.0, 2.0], lower=angle, upper=angle), 2)
    a, b, c = model.coordinates_
    cosine = (a - b) @ (c - b) / 6.0
    assert np.arccos(cosine) == pytest.approx(angle, abs=1e-6)
    assert model.free_motions_.n_motions == 0


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_contacts_keep_points_apart():
    # A chain that one upper bound pulls together, but radii hold apart.
    chain = StructureProblem(5).with_distances([[k, k + 1] for k in range(4)], 1.0)
    chain = chain.with_bounds([[0, 4]], upper=1.0)
    near = solved(chain, 3).coordinates_
    model = solved(chain.with_contacts(0.6, exempt=[[k, k + 1] for k in range(4)]), 3)
    apart = np.linalg.norm(model.coordinates_[:, None] - model.coordinates_, axis=2)
    others = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) > 1
    others[0, 4] = others[4, 0] = False
    assert apart[others].min() >= 1.2 - 1e-3
    assert np.linalg.norm(near[0] - near[4]) <= 1.0 + 1e-6


def test_unconnected_parts_are_solved_one_by_one_and_named():
    X = np.vstack([scattered(6, 3, 1), scattered(5, 3, 2)])
    bars = [*near_pairs(X[:6], 5), *((i + 6, j + 6) for i, j in near_pairs(X[6:], 4))]
    problem = framework("two", np.vstack([X, [[9, 9, 9]]]), None, bars=bars).problem
    with pytest.warns(DisconnectedGraphWarning, match="3 parts of 6, 5, 1 points"):
        model = solved(problem, 3)
    assert np.isfinite(model.coordinates_).all()
    assert model.violations_.worst < 1e-6
    assert sorted(np.bincount(model.structure_.component)) == [1, 5, 6]
    for part in (slice(0, 6), slice(6, 11)):
        assert_equal_up_to_rigid_motion(model.coordinates_[part], X[part], atol=1e-6)


def test_a_point_alone_and_nothing_known():
    with pytest.warns(DisconnectedGraphWarning):
        model = solved(StructureProblem(3), 2)
    assert np.isfinite(model.coordinates_).all()
    assert solved(StructureProblem(1), 3).coordinates_.shape == (1, 3)


def test_slack_is_no_violation():
    X = scattered(12, 3, 5)
    pairs = np.array(near_pairs(X, 9))
    apart = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    problem = StructureProblem(12).with_bounds(pairs, upper=0.8 * apart, lower=0.99 * 0.8 * apart)
    model = solved(problem, 3, slack=1.3)
    assert model.diagnosis_["bounds_violated"].value < model.violations_.worst + 1e-9


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_components": 4}, "n_components=4 must be 2 or 3"),
        ({"n_components": True}, "must be 2 or 3"),
        ({"slack": 0.5}, "would tighten"),
        ({"stretch": -1.0}, "stretch"),
        ({"n_init": 0}, "n_init"),
        ({"n_init": "many"}, "n_init"),
        ({"certify": "yes"}, "certify"),
    ],
)
def test_bad_settings_are_refused(settings, match):
    with pytest.raises(InvalidInputError, match=match):
        StructureFromBounds(**settings).fit(RIGID[2].problem)


def test_bad_problems_are_refused():
    with pytest.raises(InputTypeError, match="but it takes an isofold"):
        StructureFromBounds().fit(np.eye(3))
    with pytest.raises(InvalidInputError, match="fills 3 dimensions"):
        solved(StructureProblem(4).with_groups([RigidGroup.of(range(4), np.eye(4)[:, :3])]), 2)
    with pytest.raises(InvalidInputError, match="Anchors have 2 coordinates"):
        solved(StructureProblem(4).with_anchors([0], [[1.0, 2.0]]), 3)
    with pytest.raises(InvalidInputError, match="only in space"):
        solved(StructureProblem(4).with_centers([[0, 1, 2, 3]], [1.0]), 2)


def test_a_refused_fit_keeps_the_last():
    model = solved(RIGID[0].problem, 2)
    before = model.coordinates_.copy()
    with pytest.raises(InputTypeError):
        model.fit("no problem")
    assert (model.coordinates_ == before).all()


def test_it_is_an_estimator():
    model = StructureFromBounds(2, slack=1.1, random_state=3)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert repr(copy) == "StructureFromBounds(n_components=2, random_state=3, slack=1.1)"


def test_a_wrong_distance_raises_a_doubt():
    X = scattered(12, 3, 6)
    case = framework("bars", X, 0, bars=near_pairs(X, 8))
    bounds = case.problem.bounds
    lengths = bounds.upper.copy()
    lengths[0] *= 3.0
    wrong = StructureProblem(12).with_distances(bounds.pairs, lengths)
    with pytest.warns(DoubtfulMapWarning, match="violated"):
        model = solved(wrong, 3)
    assert "bounds_violated" in model.diagnosis_.codes
    assert tuple(model.violations_.pairs[0]) == tuple(bounds.pairs[0])


def test_an_interrupted_fit_keeps_what_it_has():
    problem, _ = bonded_chain()

    def end_it(event):
        if event.stage == "refine":
            interrupt()

    with pytest.warns(InterruptedFitWarning), progress(end_it):
        model = solved(problem, 3, n_init=8)
    assert len(model.energies_) == 1
    assert np.isfinite(model.coordinates_).all()
    assert "interrupted" in model.diagnosis_.codes
