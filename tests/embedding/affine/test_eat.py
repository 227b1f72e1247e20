"""EAT: maps that are known, what is reported, invariances, and what is promised of embedders."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from isofold import EAT, datasets
from isofold._format import count
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning
from isofold.neighbors import build_graph
from isofold.quality import preservation_error, procrustes_error, stretch
from isofold.sdp import ConicSDP, DenseSDP, LowRankSDP, Status
from support.helpers import assert_embedder_contract, assert_equal_up_to_rigid_motion
from support.mvu_cases import grid
from support.quick import quick_first
from support.sdp_problems import path_edges

# The gap of the default solver, and of a tight one for answers that are known.
DEFAULT_GAP, GAP = 1e-4, 1e-6
TIGHT = DenseSDP(tol=GAP)
# What two answers to the same program may differ by. The penalty of errors, weight λ of some
# hundred, leaves √(1e-4/λ) = 1e-3 for the errors of kept squares; across a sheet of ten links these
# add up to some percent of its size, which is about one here.
SAME = 1e-2
# Hard equalities are kept to a gap of 1e-6, whose root is what may lie off the optimal axes.
PLACE = 2e-3
# What the axes beyond the map may hold of the variance: the gap itself, since it counts squares.
EMPTY = 10 * GAP
# The slack allowed, and how nearly it is met, as in the code.
SLACK, NEAR = 0.01, 1.1
# Kernel rows times coefficients: rounding is amplified by the condition of a kernel, at most 1e9.
REPRODUCED = 1e-6
# A clean sheet of some fifty samples: neighbors reach a third across it, where chords are shorter
# than arcs by (1/2)²/24 = 1 %, and with few of them the sheet bends a little at its rims.
SEEN = 0.05
# Two ways to the same sum of some ten numbers of size one.
ROUNDING = 1e-10


def model(**parameters):
    return EAT(**{"random_state": 0, "n_jobs": 1, **parameters})


def cylinder(n, seed=0):
    """Return points of an arc of a cylinder and the rectangle that they come from."""
    flat = np.random.RandomState(seed).rand(n, 2) * [3.0, 1.5]
    angle = flat[:, 0] / 2
    return np.column_stack([2 * np.cos(angle), 2 * np.sin(angle), flat[:, 1]]), flat


def bent_in_two(n, degrees, seed):
    """Return points of a sheet with one fold and the rectangle that it comes from."""
    rng = np.random.RandomState(seed)
    flat = np.column_stack([rng.uniform(-1, 1, size=n), rng.uniform(0, 1.5, size=n)])
    half = np.deg2rad(degrees) / 2
    across = np.abs(flat[:, 0]) * np.cos(half)
    return np.column_stack([across, flat[:, 0] * np.sin(half), flat[:, 1]]), flat


def other_pairs(n, edges):
    """Return all pairs that are not among some edges."""
    left = np.triu(np.ones((n, n), dtype=bool), k=1)
    left[edges[:, 0], edges[:, 1]] = left[edges[:, 1], edges[:, 0]] = False
    return np.argwhere(left)


SHEET, FLAT = cylinder(45)
AWAY = np.array([20.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def fitted():
    return model().fit(SHEET)


# Maps that are known


def arc(n, step=0.3):
    angle = step * np.arange(n)
    return np.column_stack([np.cos(angle), np.sin(angle)]), 2 * np.sin(step / 2)


def test_arc_unfolds_to_a_line():
    points, chord = arc(15)
    eat = model(n_components=1, slack=0.0, solver=TIGHT).fit(points, keep=path_edges(15))
    line = chord * np.arange(15.0)[:, None]
    assert_equal_up_to_rigid_motion(eat.embedding_, line, atol=PLACE)
    assert np.ptp(eat.embedding_) == pytest.approx(14 * chord, rel=PLACE)
    assert eat.discarded_variance_ratio_ < EMPTY
    assert eat.solution_.status is Status.CERTIFIED
    # Points between the samples, an end apart: an interpolant of a line in fifteen points.
    between = arc(29, step=0.15)[0][1:-1:2]
    placed = eat.transform(between)[2:-2]
    halfway = (eat.embedding_[:-1] + eat.embedding_[1:])[2:-2] / 2
    np.testing.assert_allclose(placed, halfway, atol=chord / 10)


def test_slack_lengthens_an_arc_by_no_more_than_it():
    points, chord = arc(15)
    eat = model(n_components=1, slack=SLACK).fit(points, keep=path_edges(15))
    # The mean relative error of squares is at most its root mean square, and lengths have half.
    length = np.ptp(eat.embedding_) / (14 * chord)
    assert 1.0 < length <= 1.0 + NEAR * SLACK / 2
    assert np.sqrt(eat.preservation_error_) <= NEAR * SLACK


@pytest.mark.parametrize("seed", quick_first(range(2)))
@pytest.mark.parametrize("degrees", [40, 90])
def test_folded_sheet_is_flattened_by_a_matrix(degrees, seed):
    points, flat = bent_in_two(40, degrees, seed)
    near = build_graph(points, n_neighbors=4).edges
    straddling = near[(flat[near] > 0)[:, 0, 0] != (flat[near] > 0)[:, 1, 0]]
    eat = model(n_components=3, n_neighbors=4, kernel="linear", slack=0.0, solver=TIGHT)
    eat.fit(points, free=straddling)
    assert eat.spectrum_[2] < EMPTY * eat.spectrum_[0]
    new, new_flat = bent_in_two(200, degrees, seed + 100)
    placed = eat.transform(new)
    assert placed.var(axis=0)[2] < EMPTY * placed.var(axis=0)[0]
    assert_equal_up_to_rigid_motion(placed[:, :2], new_flat, atol=PLACE)
    assert eat.solution_.status is Status.CERTIFIED
    assert eat.coef_.shape == (3, 3)


def test_pairs_across_the_fold_lock_a_matrix():
    # Pairs within wings fix five of six entries, pairs across the fold the last: nothing moves.
    points, _ = bent_in_two(40, 90, 0)
    eat = model(n_components=3, kernel="linear", slack=0.0, solver=TIGHT).fit(points)
    assert_equal_up_to_rigid_motion(eat.embedding_, points, atol=PLACE)
    assert eat.stretch_ == pytest.approx(1.0, abs=PLACE)


@pytest.mark.parametrize("n_neighbors", [12, 29])
@pytest.mark.parametrize("slack", [0.0, SLACK])
def test_targets_of_latitude_and_longitude_give_a_map(n_neighbors, slack):
    plane = np.random.RandomState(0).rand(30, 2) * [2.0, 1.0]
    east, north = plane.T
    globe = np.column_stack(
        [np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)]
    )
    eat = model(n_neighbors=n_neighbors, gamma=20.0, slack=slack, solver=TIGHT)
    eat.fit(globe, targets=cdist(plane, plane))
    assert eat.kernel_rank_ratio_ == pytest.approx(29 / 30)
    # Errors of squares of the size of the slack, at most, all of the same sign.
    assert procrustes_error(eat.embedding_, plane) < PLACE + NEAR * slack
    assert eat.solution_.status is Status.CERTIFIED


def test_any_layout_of_the_plane_is_learned():
    # Twenty samples that have nothing to do with the grid that they are to form.
    points = np.random.RandomState(0).normal(size=(20, 6))
    plane = grid(4, 5)
    distances = cdist(plane, plane)
    keep = np.argwhere(np.triu(distances < 2.5, k=1))
    eat = model(slack=0.0, gamma=0.2, solver=TIGHT).fit(points, keep=keep, targets=distances)
    assert_equal_up_to_rigid_motion(eat.embedding_, plane, atol=PLACE * distances.max())


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_complete_graph_is_classical_scaling():
    points = np.random.RandomState(0).normal(size=(12, 3)) * [3.0, 2.0, 1.0]
    eat = model(n_neighbors=11, slack=0.0, solver=TIGHT).fit(points)
    centered = points - points.mean(axis=0)
    expected = centered @ np.linalg.svd(centered)[2][:2].T
    assert_equal_up_to_rigid_motion(eat.embedding_, expected, atol=PLACE)
    assert eat.solution_.status is Status.CERTIFIED


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_samples_are_themselves(n):
    points = np.random.RandomState(n).normal(size=(n, 4))
    eat = model(n_components=3, solver=TIGHT).fit(points)
    np.testing.assert_allclose(
        cdist(eat.embedding_, eat.embedding_), cdist(points, points), atol=PLACE
    )
    assert np.isfinite(eat.transform(points + 0.1)).all()


def test_sheet_is_flat(fitted):
    assert procrustes_error(fitted.embedding_, FLAT) < SEEN
    assert fitted.solution_.status is Status.CERTIFIED
    assert fitted.solution_.gap <= DEFAULT_GAP
    assert fitted.discarded_variance_ratio_ < SLACK


def test_a_little_slack_lets_a_polynomial_unroll():
    # Polynomials of degree two have 45 degrees of freedom. The roll itself keeps all distances and
    # nothing else does: without slack it stays rolled up.
    roll = datasets.swiss_roll(102, width=10.0, uniform=True, random_state=0)
    keep = build_graph(roll.truth, n_neighbors=5).edges
    poly = model(kernel="poly", kernel_params={"degree": 2})
    unrolled = clone(poly).fit(roll.X, keep=keep)
    assert procrustes_error(unrolled.embedding_, roll.truth) < 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        rolled = clone(poly).set_params(slack=0.0).fit(roll.X, keep=keep)
    assert procrustes_error(rolled.embedding_, roll.truth) > 0.5
    assert rolled.stretch_ < unrolled.stretch_ / 2


# What is reported


def test_errors_and_stretch_are_those_of_the_quality_room(fitted):
    graph, Y = fitted.graph_, fitted.embedding_
    kept = preservation_error(SHEET, Y, pairs=graph.edges)
    assert fitted.preservation_error_ == pytest.approx(float(kept), rel=ROUNDING)
    pulled = stretch(SHEET, Y, pairs=other_pairs(45, graph.edges))
    assert fitted.stretch_ == pytest.approx(float(pulled), rel=ROUNDING)


def test_errors_and_stretch_of_given_pairs_and_targets():
    distances = cdist(FLAT, FLAT)
    keep = build_graph(FLAT, n_neighbors=7).edges
    pulled = other_pairs(45, keep)[::3]
    eat = model().fit(SHEET, keep=keep, stretch=pulled, targets=distances)
    first, second = keep.T
    error = preservation_error(SHEET, eat.embedding_, pairs=keep, targets=distances[first, second])
    assert eat.preservation_error_ == pytest.approx(float(error), rel=1e-6)
    first, second = pulled.T
    score = stretch(SHEET, eat.embedding_, pairs=pulled, targets=distances[first, second])
    assert eat.stretch_ == pytest.approx(float(score), rel=ROUNDING)


def test_what_is_reported_is_what_is_seen(fitted):
    graph, Y = fitted.graph_, fitted.embedding_
    assert fitted.discarded_variance_ratio_ == pytest.approx(
        fitted.spectrum_[2:].sum() / fitted.spectrum_.sum()
    )
    np.testing.assert_allclose(Y.mean(axis=0), 0.0, atol=ROUNDING)
    np.testing.assert_allclose((Y**2).mean(axis=0), fitted.spectrum_[:2], rtol=1e-9)
    assert np.all(np.diff(fitted.spectrum_) <= 0.0)
    first, second = graph.edges.T
    errors = np.abs(np.linalg.norm(Y[first] - Y[second], axis=1) / graph.lengths - 1)
    at_zero = (graph.edges == 0).any(axis=1)
    assert fitted.distortion_[0] == pytest.approx(errors[at_zero].mean())
    assert fitted.bridges_.shape == (0, 2)
    np.testing.assert_array_equal(fitted.pairs_.keep, graph.edges)
    assert fitted.pairs_.n_stretched == 45 * 44 // 2 - graph.n_edges


def test_stretch_of_the_solution_is_not_below_that_of_the_data(fitted):
    # The data keep their own distances exactly, and a kernel of full rank can place them.
    eat = model(gamma=4.0, slack=0.0, solver=TIGHT).fit(SHEET)
    assert eat.kernel_rank_ratio_ == pytest.approx(44 / 45)
    coordinates = eat.solution_.coordinates
    assert np.vdot(coordinates, eat.pairs_.objective @ coordinates) >= 1.0 - GAP
    # And slack is more freedom.
    assert fitted.solution_.dual > 1.0


@pytest.mark.parametrize("slack", [0.0, SLACK])
def test_objective_is_that_of_another_solver(slack):
    few = SHEET[:14]
    own, other = (
        model(n_neighbors=3, gamma=4.0, slack=slack, solver=solver).fit(few)
        for solver in (TIGHT, ConicSDP())
    )
    assert own.solution_.status is Status.CERTIFIED
    # Both are within their gaps of 1e-6 of the same optimum.
    assert own.weight_ == other.weight_
    assert own.solution_.primal == pytest.approx(other.solution_.primal, rel=3 * GAP)
    assert_equal_up_to_rigid_motion(own.embedding_, other.embedding_, atol=SAME)


def test_coefficients_give_the_map_by_hand(fitted):
    new, _ = cylinder(20, seed=1)
    raw = rbf_kernel(SHEET, SHEET, gamma=fitted.gamma_)
    rows = rbf_kernel(new, SHEET, gamma=fitted.gamma_)
    centered = rows - raw.mean(axis=0) - rows.mean(axis=1, keepdims=True) + raw.mean()
    expected = centered @ fitted.dual_coef_
    # Coefficients up to 1e6 times kernel values with errors of 1e-16.
    atol = 100 * np.finfo(float).eps * np.abs(fitted.dual_coef_).sum()
    np.testing.assert_allclose(fitted.transform(new), expected, rtol=0, atol=atol)
    assert fitted.coef_ is None


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_matrix_of_a_linear_kernel_gives_the_map_by_hand():
    eat = model(kernel="linear").fit(SHEET)
    new, _ = cylinder(20, seed=1)
    expected = (new - SHEET.mean(axis=0)) @ eat.coef_
    np.testing.assert_allclose(eat.transform(new), expected, rtol=0, atol=ROUNDING)
    assert eat.kernel_rank_ratio_ == pytest.approx(3 / 45)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"gamma": 4.0},
        {"kernel": "linear"},
        {"kernel": "poly"},
        {"kernel": rbf_kernel},
    ],
    ids=["auto", "narrow", "linear", "poly", "callable"],
)
def test_training_samples_go_to_their_places(parameters):
    eat = model(**parameters).fit(SHEET)
    size = np.abs(eat.embedding_).max()
    np.testing.assert_allclose(eat.transform(SHEET), eat.embedding_, rtol=0, atol=REPRODUCED * size)


def test_precomputed_kernel_is_as_good_as_its_function():
    gamma = 0.7
    keep = build_graph(SHEET, n_neighbors=6)
    expected = model(gamma=gamma).fit(SHEET, keep=keep)
    kernel = rbf_kernel(SHEET, SHEET, gamma=gamma)
    eat = model(kernel="precomputed").fit(kernel, keep=keep, targets=cdist(SHEET, SHEET))
    assert_equal_up_to_rigid_motion(eat.embedding_, expected.embedding_, atol=SAME)
    new, _ = cylinder(10, seed=1)
    placed = eat.transform(rbf_kernel(new, SHEET, gamma=gamma))
    sign = np.sign(np.sum(eat.embedding_ * expected.embedding_, axis=0))
    np.testing.assert_allclose(placed * sign, expected.transform(new), atol=10 * SAME)


def test_distances_of_a_precomputed_kernel_are_its_own():
    kernel = SHEET @ SHEET.T
    eat = model(kernel="precomputed", n_components=3).fit(kernel)
    linear = model(kernel="linear", n_components=3).fit(SHEET)
    np.testing.assert_allclose(eat.pairs_.targets, linear.pairs_.targets, rtol=1e-6)
    assert_equal_up_to_rigid_motion(eat.embedding_, linear.embedding_, atol=SAME)


def test_new_samples_land_where_they_belong(fitted):
    new, new_flat = cylinder(200, seed=1)
    inside = np.all((new_flat > 0.2) & (new_flat < np.array([3.0, 1.5]) - 0.2), axis=1)
    joint = np.vstack([fitted.embedding_, fitted.transform(new[inside])])
    assert procrustes_error(joint, np.vstack([FLAT, new_flat[inside]])) < 0.05


# Invariances


@pytest.mark.parametrize("seed", range(2))
def test_rigid_motions_do_not_matter(fitted, seed):
    rng = np.random.RandomState(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    eat = model().fit(SHEET @ turn + rng.normal(size=3))
    assert eat.gamma_ == pytest.approx(fitted.gamma_)
    assert_equal_up_to_rigid_motion(eat.embedding_, fitted.embedding_, atol=SAME)


def test_the_order_of_samples_does_not_matter(fitted):
    order = np.random.RandomState(0).permutation(45)
    eat = model().fit(SHEET[order])
    assert_equal_up_to_rigid_motion(eat.embedding_, fitted.embedding_[order], atol=SAME)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(fitted, unit):
    eat = model().fit(unit * SHEET)
    assert eat.gamma_ * unit**2 == pytest.approx(fitted.gamma_)
    assert_equal_up_to_rigid_motion(eat.embedding_ / unit, fitted.embedding_, atol=SAME)
    assert eat.preservation_error_ == pytest.approx(fitted.preservation_error_, rel=SAME)


def test_units_do_not_matter_to_polynomials():
    one, other = (model(kernel="poly").fit(unit * SHEET) for unit in (1.0, 1e3))
    assert_equal_up_to_rigid_motion(other.embedding_ / 1e3, one.embedding_, atol=SAME)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_features_beyond_the_samples():
    # More features than samples: a linear kernel has full rank, and the sheet is unfolded.
    wide = SHEET @ np.random.RandomState(0).normal(size=(3, 60)) / np.sqrt(60)
    wide += 0.02 * np.random.RandomState(1).normal(size=wide.shape)
    eat = model(kernel="linear").fit(wide)
    assert eat.kernel_rank_ratio_ == pytest.approx(44 / 45)
    assert procrustes_error(eat.embedding_, FLAT) < procrustes_error(
        np.linalg.svd(wide - wide.mean(axis=0))[0][:, :2], FLAT
    )


# Words of warning


def test_kernel_next_to_the_identity_is_doubted():
    with pytest.warns(DoubtfulMapWarning, match="close to the identity") as caught:
        eat = model(gamma=1e3).fit(SHEET)
    assert len(caught) == 1
    # A sample that is similar to none falls to the center.
    assert np.abs(eat.transform(SHEET[:1] + 1.0)).max() < 0.1


def test_kernel_that_cannot_unfold_is_doubted():
    roll = datasets.swiss_roll(80, width=10.0, uniform=True, random_state=0)
    with pytest.warns(DoubtfulMapWarning) as caught:
        model(kernel="linear").fit(roll.X)
    told = [str(w.message) for w in caught if "The kernel cannot unfold" in str(w.message)]
    assert len(told) == 1
    assert "its rank is 3 for 80 samples" in told[0]
    assert "6 degrees of freedom" in told[0]


def test_contradictory_targets_are_doubted():
    points = np.random.RandomState(0).rand(3, 2)
    sides = [[0, 1], [1, 2], [0, 2]]
    eat = model(n_components=1, solver=TIGHT)
    with pytest.warns(DoubtfulMapWarning, match="cannot be met") as caught:
        eat.fit(points, keep=sides, targets=[1.0, 1.0, 10.0])
    assert len(caught) == 1
    # A line of squares a, a, 4a: the least of 2(a - 1)² + (4a/100 - 1)².
    a = (2 + 0.04) / (2 + 0.04**2)
    least = np.sqrt((2 * (a - 1) ** 2 + (0.04 * a - 1) ** 2) / 3)
    assert eat.least_error_ == pytest.approx(least, rel=1e-4)
    assert np.ptp(eat.embedding_) == pytest.approx(2 * np.sqrt(a), rel=1e-3)


def test_pieces_are_linked_and_told_once():
    # One link is a hinge: the map may be doubted as well.
    apart = np.concatenate([SHEET[:25], SHEET[:25] + AWAY])
    with pytest.warns((DisconnectedGraphWarning, DoubtfulMapWarning)) as caught:
        eat = model().fit(apart)
    told = [str(w.message) for w in caught if w.category is DisconnectedGraphWarning]
    assert len(told) == 1
    assert count(len(eat.bridges_), "edge") in told[0]
    assert np.all(eat.bridges_[:, 0] < 25)
    assert np.all(eat.bridges_[:, 1] >= 25)
    assert np.isfinite(eat.embedding_).all()


# The contract


@pytest.mark.parametrize(
    ("parameters", "dtype"),
    [
        ({}, np.float32),
        ({}, np.float64),
        ({"slack": 0.0, "gamma": 4.0, "n_neighbors": 3}, np.float64),
        ({"kernel": "poly"}, np.float32),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_contract(parameters, dtype):
    X = SHEET[:16].astype(dtype)
    # The map is of size two.
    atol = 2 * REPRODUCED if dtype == np.float64 else 1e-6 + 2 * REPRODUCED
    assert_embedder_contract(EAT(random_state=0, **parameters), X, atol=atol)


def test_single_precision_is_kept(fitted):
    eat = model().fit(SHEET.astype(np.float32))
    assert eat.embedding_.dtype == np.float32
    assert_equal_up_to_rigid_motion(eat.embedding_, fitted.embedding_, atol=SAME)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_a_kernel_of_single_precision_is_a_kernel():
    # Rounding makes eigenvalues of 1e-7 of the largest negative: that is no reason to refuse it.
    kernel = rbf_kernel(SHEET, SHEET, gamma=0.7).astype(np.float32)
    eat = model(kernel="precomputed").fit(kernel)
    assert eat.embedding_.dtype == np.float32
    assert eat.transform(kernel[:3]).dtype == np.float32
    size = np.abs(eat.embedding_).max()
    np.testing.assert_allclose(eat.transform(kernel), eat.embedding_, atol=1e-4 * size)


def test_pandas_and_names(fitted):
    frame = pd.DataFrame(SHEET, columns=["x", "y", "z"]).set_index(np.arange(45) + 5)
    eat = model().set_output(transform="pandas")
    result = eat.fit_transform(frame)
    assert list(result.columns) == list(eat.get_feature_names_out()) == ["eat0", "eat1"]
    assert list(eat.feature_names_in_) == ["x", "y", "z"]
    pd.testing.assert_index_equal(result.index, frame.index)
    np.testing.assert_array_equal(result.to_numpy(), fitted.embedding_)
    assert list(eat.transform(frame.iloc[:3]).columns) == ["eat0", "eat1"]


def test_fit_transform_takes_pairs():
    keep = build_graph(SHEET, n_neighbors=6).edges
    free = other_pairs(45, keep)[:9]
    eat = model().fit(SHEET, keep=keep, free=free)
    result = model().fit_transform(SHEET, keep=keep, free=free)
    np.testing.assert_array_equal(result, eat.embedding_)


def test_pickle_keeps_everything(fitted):
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.transform(SHEET), fitted.transform(SHEET))
    assert again.solution_.status is fitted.solution_.status


def test_solver_parameters_are_reached_and_the_solver_is_left_alone():
    solver = DenseSDP()
    eat = model(solver=solver).set_params(solver__tol=1e-2)
    before = solver.get_params()
    loose = eat.fit(SHEET)
    assert solver.get_params() == before
    assert clone(eat).get_params()["solver__tol"] == 1e-2
    assert loose.solution_.gap <= 1e-2
    assert loose.solution_.n_iter < model(solver=TIGHT).fit(SHEET).solution_.n_iter


def test_large_programs_give_the_same_map(fitted, monkeypatch):
    # As if these were more samples than the dense interior point takes.
    for name in ("MOST_DENSE_NODES", "MOST_FUNCTIONS"):
        monkeypatch.setattr(f"isofold.embedding.affine.program.{name}", 10)
    large = model().fit(SHEET)
    assert large.weight_ == np.inf
    assert large.solution_.status is Status.CERTIFIED
    # Lengths are kept without slack here, and then projected onto what the kernel spans.
    assert procrustes_error(large.embedding_, FLAT) < SEEN
    assert procrustes_error(large.embedding_, fitted.embedding_) < SEEN
    np.testing.assert_allclose(large.transform(SHEET), large.embedding_, atol=2 * REPRODUCED)


@pytest.mark.slow  # the solver of the test above, on the same sheet
def test_the_solver_of_large_programs_may_be_asked_for():
    asked = model(solver=LowRankSDP(tol=1e-5)).fit(SHEET)
    assert procrustes_error(asked.embedding_, FLAT) < SEEN


def test_a_refused_refit_leaves_the_map():
    eat = model().fit(SHEET)
    state = pickle.dumps(eat)
    with pytest.raises(ValueError, match="both free and keep"):
        eat.fit(SHEET[:10, :2], keep=[[0, 1]], free=[[1, 0]])
    assert pickle.dumps(eat) == state
