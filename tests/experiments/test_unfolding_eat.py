"""Experiments with EAT: the data they rest on, their measures, and small runs."""

import numpy as np
import pytest
from experiments.unfolding import paper
from experiments.unfolding.__main__ import EXPERIMENTS
from experiments.unfolding.eat_faces import PERSON_METHODS, four_persons, person_rows
from experiments.unfolding.eat_globe import globe_errors, mesh_pairs, zones
from experiments.unfolding.eat_kernels import kernel_cases, kernel_row
from experiments.unfolding.eat_labels import Lesson, draw_lesson, first_error, label_pairs
from experiments.unfolding.eat_methods import (
    Placed,
    WithWeights,
    beyond_hull,
    n_shortcuts,
    place,
    quartiles,
    roll_with_room,
    sheet_errors,
    spread_split,
)
from experiments.unfolding.eat_sheets import ROLL_METHODS, across_fold, fold_rows
from experiments.unfolding.tessera_cases import Case
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA

from isofold import EAT
from isofold.datasets import Dataset, half_globe, v_shape
from isofold.neighbors import build_graph

ROUNDING = 1e-10
"""Errors of maps that are exact but for rounding of coordinates of size one."""

EMPTY = 0.01
"""Share of the variance on the third axis below which it holds nothing: what is to be shown."""


def sheet_case(n: int = 40, n_train: int = 30) -> Case:
    truth = np.random.RandomState(0).uniform(size=(n, 2))
    data = Dataset("sheet", np.column_stack((truth, np.zeros(n))), truth)
    return Case(data, np.arange(n_train), np.arange(n_train, n))


def test_every_claim_has_an_experiment():
    assert set(paper.CLAIMS) <= set(EXPERIMENTS)
    assert set(paper.POINTS) <= set(paper.CLAIMS)
    studied = {name for name, _ in kernel_cases(1.0)}
    assert set(paper.KERNELS) <= studied


def test_training_points_are_spread_and_apart_from_test_points():
    data = v_shape(300, random_state=0)
    case = spread_split(data, 28)
    assert len(case.train) + len(case.test) == 300
    assert not set(case.train) & set(case.test)
    farthest = cdist(case.new_points, case.points).min(axis=1).max()
    drawn = cdist(data.X[28:], data.X[:28]).min(axis=1).max()
    assert farthest < drawn


@pytest.mark.parametrize(("n_train", "turns"), [(50, 1.0), (102, 1.5)])
def test_rolls_have_room(n_train, turns):
    roll = roll_with_room(600, n_train=n_train, turns=turns, seed=0)
    case = spread_split(roll, n_train)
    graph = build_graph(case.points, n_neighbors=5)
    assert n_shortcuts(case.points, case.truth, graph.edges) == 0


def test_short_cuts_are_seen():
    truth = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert n_shortcuts(X, truth, np.array([[0, 1], [0, 2], [1, 2]])) == 2


def test_errors_of_a_true_sheet_are_zero():
    case = sheet_case()
    placed = place("PCA", PCA(2), case.points, case.new_points)
    assert max(sheet_errors(placed, case).values()) < ROUNDING
    moved = Placed("", None, placed.train, placed.test + np.array([1.0, 0.0]), 0.0, ())
    errors = sheet_errors(moved, case)
    spread = np.sqrt(case.new_truth.var(axis=0).sum())
    assert errors["test"] == pytest.approx(1 / spread)
    assert errors["border"] == pytest.approx(1 / spread)
    assert 0 < beyond_hull(case).sum() < len(case.test)


def test_weights_place_new_points_of_a_flat_sheet():
    case = sheet_case()
    placed = place("", WithWeights(PCA(2)), case.points, case.new_points)
    assert sheet_errors(placed, case)["test"] < ROUNDING


def test_a_free_fold_opens():
    case = spread_split(v_shape(200, random_state=0), 28)
    linear = EAT(n_components=3, n_neighbors=4, kernel="linear")
    straddling = across_fold(case)
    assert len(straddling) > 0
    opened = place("free", linear, case.points, case.new_points, free=straddling)
    folded = place("PCA", PCA(3), case.points, case.new_points)
    open_row, folded_row = fold_rows(case, [opened, folded])
    assert open_row["third axis"] < EMPTY < folded_row["third axis"]
    assert open_row["error"] < EMPTY < folded_row["error"]


def test_eat_places_test_points_of_a_roll_better_than_isomap():
    case = spread_split(roll_with_room(600, n_train=50, turns=1.0, seed=0), 50)
    errors = {}
    for name in ("EAT", "Isomap, barycentric"):
        model = ROLL_METHODS[name](case.points)
        errors[name] = sheet_errors(place(name, model, case.points, case.new_points), case)
    for key in ("test", "border"):
        assert errors["EAT"][key] < errors["Isomap, barycentric"][key]


def test_low_degrees_need_slack():
    case = spread_split(roll_with_room(600, n_train=102, turns=1.5, seed=0), 102)
    models = dict(kernel_cases(1.0))
    rows = {
        name: kernel_row(place(name, models[name], case.points, case.new_points), case)
        for name in ("degree 1", "degree 2", "degree 2, exact")
    }
    assert rows["degree 2"]["test error"] < 0.05
    for name in ("degree 1", "degree 2, exact"):
        assert rows[name]["test error"] > 0.5
        assert rows[name]["warnings"] == "DoubtfulMapWarning"


def test_mesh_of_the_globe():
    mesh = half_globe(sampling="grid")
    pairs = mesh_pairs(mesh.truth)
    # 2·90 edges of crossings, 2·72 between centers, 4·81 from centers to corners.
    assert len(pairs) == 180 + 144 + 324
    inside = zones(half_globe(500, random_state=0).truth)
    assert sum(part.sum() for part in inside.values()) == 500


def test_globe_errors_are_degrees():
    mesh, new = half_globe(sampling="grid"), half_globe(2000, random_state=0)

    class Told:
        kernel_rank_ratio_, preservation_error_, discarded_variance_ratio_ = 1.0, 0.0, 0.0

    off = new.truth + np.radians([3.0, 4.0])
    row = globe_errors(Placed("", Told(), mesh.truth, off, 0.0, ()), mesh, new)
    assert row["mesh"] == pytest.approx(0.0, abs=1e-6)
    assert row["all"] == pytest.approx(5.0)
    assert row["middle"] == pytest.approx(5.0)


def test_persons_apart_and_on_top_of_each_other():
    labels = np.repeat(np.arange(8), 10)
    data = Dataset("persons", np.arange(160.0).reshape(80, 2), labels=labels, image_shape=(1, 2))
    cases = list(four_persons(data))
    assert [len(case.train) for case in cases] == [30, 30]
    case = cases[1]
    rng = np.random.RandomState(0)
    apart = rng.normal(size=(40, 2)) + 100 * case.data.labels[:, None]
    mixed = apart.copy()
    mixed[30:] -= 100
    rows = [person_rows(Placed("", None, Y[:30], Y[30:], 0.0, ()), case) for Y in (apart, mixed)]
    assert rows[0]["next to own, new"] == 1.0
    assert rows[0]["silhouette, new"] > 0.9
    assert rows[1]["silhouette, new"] < 0.1
    assert "EAT" in PERSON_METHODS


def test_pairs_come_from_told_labels_only():
    rng = np.random.RandomState(0)
    data = Dataset("points", rng.normal(size=(60, 3)), labels=np.repeat([0, 1, 2], 20))
    lesson = draw_lesson(data, n_train=40, n_labeled=3, seed=0)
    assert len(lesson.labeled) == 9
    keep, unlike = label_pairs(lesson)
    # Three classes of three: 3·3 pairs between each two of them.
    assert len(unlike) == 27
    assert np.all(lesson.labels[unlike[:, 0]] != lesson.labels[unlike[:, 1]])
    dense = keep.toarray()
    np.testing.assert_array_equal(dense, dense.T)
    assert np.all(dense[unlike[:, 0], unlike[:, 1]] == 0)
    for kind in range(3):
        same = lesson.labeled[lesson.labels[lesson.labeled] == kind]
        assert np.count_nonzero(dense[np.ix_(same, same)]) == 6
    other = lesson.labels.copy()
    hidden = np.setdiff1d(np.arange(40), lesson.labeled)
    other[hidden] = 7
    again, _ = label_pairs(Lesson(lesson.X, lesson.new, other, lesson.new_labels, lesson.labeled))
    np.testing.assert_array_equal(again.toarray(), dense)


def test_first_error_counts_held_out_points():
    X = np.array([[0.0], [1.0], [5.0]])
    new = np.array([[0.1], [0.9], [0.2], [1.2]])
    lesson = Lesson(X, new, np.array([0, 1, 0]), np.array([0, 1, 1, 1]), np.array([0, 1]))
    assert first_error(lesson, X, new) == 0.25


def test_pairs_pull_classes_apart():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(40, 3))
    labels = (X[:, 0] > 0).astype(int)
    lesson = Lesson(X[:30], X[30:], labels[:30], labels[30:], np.arange(12))
    keep, unlike = label_pairs(lesson)
    plain = place("", EAT(n_neighbors=6), lesson.X, lesson.new)
    guided = place("", EAT(n_neighbors=6), lesson.X, lesson.new, keep=keep, stretch=unlike)

    def contrast(Y):
        gaps = cdist(Y, Y)[np.ix_(lesson.labeled, lesson.labeled)]
        known = lesson.labels[lesson.labeled]
        alike = known[:, None] == known
        return gaps[~alike].mean() / gaps[alike].mean()

    assert contrast(guided.train) > contrast(plain.train)


def test_quartiles():
    assert quartiles([1.0, 2.0, 3.0, 4.0, 5.0]) == "3 (2 to 4)"
