"""TesseraMap's experiments: what they measure with, and small runs."""

import numpy as np
import pytest
from experiments.ldlc.methods import Setting, cluster, kmeans
from experiments.ldlc.patches import lay_tesserae
from experiments.unfolding import paper_tessera as paper
from experiments.unfolding.tessera_cases import (
    Case,
    Strip,
    align,
    place,
    rms_error,
    split,
)
from experiments.unfolding.tessera_cities import Lambert, arc_error
from experiments.unfolding.tessera_images import accuracies
from experiments.unfolding.tessera_roll import STAGES, by_kmeans, stage_seconds
from experiments.unfolding.tessera_spiral import HOLE, share_in_hole
from experiments.unfolding.tessera_star import third_share
from sklearn.decomposition import PCA

from isofold.datasets import Dataset, dual_spiral, swiss_roll

FEW = 200
ROUNDING = 1e-9
"""Sums of a few hundred terms of size ten lose fewer digits than that."""


def test_printed_numbers():
    assert sum(row.n_train for row in paper.TABLE_3_1.values()) == 49_315
    assert paper.printed_time("Swiss roll", "TesseraMap, 108 of k-means") == "118"
    assert paper.printed_time("Swiss roll", "Fast MVU, not refined") == "174"
    assert paper.printed_time("digits", "Fast MVU") == "-"
    assert paper.printed_time("cities", "PCA") == "-"


def test_training_and_test_points_differ():
    case = split(swiss_roll(FEW, random_state=0), 50, 30)
    assert case.points.shape == (50, 3)
    assert case.new_truth.shape == (30, 2)
    assert not set(case.train) & set(case.test)


def test_width_of_a_bent_strip_is_measured_across():
    truth = np.random.RandomState(0).uniform((0, 0), (20, 2), size=(500, 2))
    width = Strip.of(truth @ [[0.6, 0.8], [-0.8, 0.6]], truth)
    assert width.median == pytest.approx(np.ptp(truth[:, 1]), rel=ROUNDING)
    wide_in_the_middle = np.column_stack((truth[:, 0], truth[:, 1] - 1))
    wide_in_the_middle[:, 1] *= 1 + (np.abs(truth[:, 0] - 10) < 5)
    width = Strip.of(wide_in_the_middle, truth)
    assert width.widest == pytest.approx(2 * width.narrowest, rel=ROUNDING)


def test_errors_of_new_points_count_the_place():
    data = swiss_roll(FEW, random_state=0)
    flat = Dataset("sheet", data.truth, data.truth)
    case = split(flat, 150, 50)
    placed = place("PCA", lambda: PCA(2), case)
    Y, new = align(placed, case)
    assert rms_error(Y, case.truth) < ROUNDING
    assert rms_error(new, case.new_truth) < ROUNDING
    spread = np.sqrt(case.new_truth.var(axis=0).sum())
    assert rms_error(new + np.array([spread, 0]), case.new_truth) == pytest.approx(1)


def test_hole_of_the_true_sheet_is_empty():
    truth = dual_spiral(FEW, hole=HOLE, random_state=0).truth
    assert share_in_hole(truth, truth) == 0
    assert share_in_hole(np.broadcast_to(truth.mean(axis=0), truth.shape), truth) == 1


def test_lambert_keeps_areas_and_short_arcs():
    rng = np.random.RandomState(0)
    cap = np.column_stack((0.01 * rng.normal(size=(FEW, 2)), np.ones(FEW)))
    cap /= np.linalg.norm(cap, axis=1, keepdims=True)
    Y = Lambert().fit_transform(cap)
    # Arcs of 0.03 are bent by a few 1e-4 of their length.
    assert arc_error(cap, Y) < 1e-3
    assert arc_error(cap, 2 * Y) == pytest.approx(1, abs=1e-2)


def test_training_images_do_not_vote_for_themselves():
    labels = np.repeat([3, 6, 9], 20)
    Y = 10.0 * labels[:, None] + np.random.RandomState(0).normal(size=(60, 2))
    case = Case(Dataset("groups", Y, labels=labels), np.arange(0, 60, 2), np.arange(60))
    found = dict(accuracies(Y[case.train], Y, case))
    assert found == {"training": 1.0, "test": 1.0, "held out": 1.0}
    alone = Case(case.data, np.array([0, *range(20, 60)]), np.arange(60))
    assert dict(accuracies(Y[alone.train], Y, alone))["training"] < 1


def test_third_share():
    class Fitted:
        spectrum_ = np.array([3.0, 1.0])

    assert third_share(Fitted()) == 0


def test_stages_add_up():
    X = swiss_roll(FEW, random_state=0).X
    row = stage_seconds("", by_kmeans(6), X)
    # So few points need no regression.
    assert all(row[stage] > 0 for stage in STAGES if stage != "map")
    assert row["all"] >= sum(row[stage] for stage in STAGES)


def test_tesserae_of_given_clusters():
    data = swiss_roll(FEW, random_state=0)
    found = cluster("k-means", kmeans(Setting(6, 2, n_init=1)), data.X)
    row, Y = lay_tesserae(data, found, n_components=2)
    assert Y.shape == (FEW, 2)
    assert 0 <= row["loss"] < 1
