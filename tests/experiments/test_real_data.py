"""What the experiment on real data measures with, on cases with a known answer."""

import numpy as np
import pytest
from experiments.real_data.choices import held_out_score
from experiments.real_data.dominance import conditions, vote
from experiments.real_data.heldout import new_points
from experiments.real_data.measures import error_at_best_scale, label_agreement, measure
from experiments.real_data.methods import METHODS, embed
from experiments.real_data.packaged import breast_cancer, standardized
from experiments.real_data.scale import kept
from experiments.real_data.sets import (
    CHOOSING,
    UNSEEN,
    RealSet,
    in_units_of_neighbors,
    loaded,
    set_named,
)
from experiments.real_data.stability import distance_of_maps, pairwise_distances, subsamples
from experiments.real_data.tables import (
    claims_at_best_scale,
    claims_in_dimension,
    claims_in_plane,
    summary,
    verdicts,
)

from isofold.datasets import Dataset

SHEET = np.random.RandomState(0).rand(60, 2) * [3.0, 1.0]
ROUNDED = 1e-7
"""Distances near 0 are roots of 1 - c², and c is rounded to 1e-16."""


def row(method, *, set_name="a set", trustworthiness=0.9, continuity=0.9, length_error=0.3):
    return {
        "set": set_name,
        "r": 2,
        "method": method,
        "trustworthiness": trustworthiness,
        "continuity": continuity,
        "lost": 0.5,
        "length_error": length_error,
        "scaled_error": length_error,
    }


def test_a_copy_has_no_error_and_a_larger_one_only_its_scale():
    figures = measure(SHEET, SHEET)
    assert figures.trustworthiness == figures.continuity == 1.0
    assert figures.lost == figures.length_error == figures.precision_error == 0.0
    larger = measure(SHEET, 3.0 * SHEET)
    assert larger.length_error == pytest.approx(2.0)
    assert larger.scaled_error == pytest.approx(0.0, abs=1e-12)


def test_precision_is_measured_on_the_map_and_recall_in_the_data():
    # Two copies of a line, far apart, lie almost on each other on the map: every neighbor in the
    # data keeps its length, but half of those on the map come from the other line.
    line = np.arange(60.0)
    X = np.column_stack([np.tile(line, 2), np.repeat([0.0, 500.0], 60)])
    Y = X * [1.0, 0.0002]
    figures = measure(X, Y)
    assert figures.scaled_error == pytest.approx(0.0, abs=1e-12)
    assert figures.precision_error > 0.9
    assert figures.lost == pytest.approx(0.5, abs=0.05)


def test_labels_agree_where_the_nearest_has_the_same():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0], [12.0, 0.0]])
    assert label_agreement(Y, np.array([0, 0, 1, 1])) == 1.0
    assert label_agreement(Y, np.array([0, 1, 1, 1])) == 0.5


def test_new_points_of_a_copy_keep_all_neighbors():
    new = SHEET[:7] + 1e-3
    trust, found, nearest = new_points(SHEET, SHEET, new, new)
    assert (trust, found) == (1.0, 1.0)
    np.testing.assert_array_equal(nearest, np.arange(7))
    trust, found, _ = new_points(SHEET, SHEET, new, new[::-1])
    assert trust < 1.0
    assert found < 1.0


def test_the_score_falls_with_neighbors_and_with_lengths():
    new = SHEET[:7] + 1e-3
    assert held_out_score(SHEET, SHEET, new, new) == pytest.approx(1.0)
    assert held_out_score(SHEET, 0.9 * SHEET, new, 0.9 * new) == pytest.approx(0.9)
    assert held_out_score(SHEET, SHEET, new, new[::-1]) < 0.5


def test_the_best_scale_is_the_best_of_many():
    ratio = np.random.RandomState(1).lognormal(1.0, 0.8, 501)
    scales = np.linspace(0.01, 3.0, 3_000)
    tried = min(np.median(np.abs(scale * ratio - 1.0)) for scale in scales)
    found = error_at_best_scale(ratio)
    # Half a step of the scale, 5e-4, times the ratios of the nearer half, all below 10.
    assert tried - 5e-3 < found <= tried


def test_maps_of_one_shape_are_at_distance_zero():
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert distance_of_maps(SHEET, -2.0 * SHEET @ turn + 5.0) < ROUNDED
    line = np.arange(8.0)[:, None] - 3.5
    assert distance_of_maps(line, line**2) == pytest.approx(1.0)


def test_only_common_points_are_compared():
    parts = subsamples(len(SHEET))
    assert len(parts) == 20
    assert all(len(np.unique(part)) == 48 for part in parts)
    maps = [SHEET[part] for part in parts]
    distances = pairwise_distances(parts, maps)
    assert len(distances) == 190
    assert distances.max() < ROUNDED


def test_claims_are_counted_where_they_fail():
    rows = [
        row("PCA", trustworthiness=0.8),
        row("Isomap", trustworthiness=0.95, length_error=0.2),
        row("UMAP", continuity=0.95, length_error=0.6),
        row("t-SNE", length_error=0.5),
        row("Unfold"),
    ]
    plane = list(claims_in_plane(rows, "Unfold"))
    failed = {(c["figure"], c["wanted"]) for c in plane if c["holds"] == "no"}
    assert failed == {
        ("trustworthiness", "above Isomap"),
        ("length_error", "at most half of t-SNE"),
        ("continuity", "UMAP less .01"),
    }
    assert [c["holds"] for c in claims_in_dimension(rows, "Unfold")] == ["no", "no"]
    at_best_scale = claims_at_best_scale(rows, "Unfold")
    assert [c["holds"] for c in at_best_scale] == ["yes", "yes", "yes", "no"]
    (line,) = verdicts(plane)
    assert line["trustworthiness above Isomap"] == "no: .900 (.950)"
    assert line["length_error at most half of UMAP"] == "yes: .300 (.300)"
    assert list(claims_in_plane(rows, "LocalMDS")) == []


def test_claims_about_peers_that_were_not_run_are_left_out():
    rows = [row("PCA"), row("Isomap"), row("t-SNE"), row("Unfold")]
    wanted = [claim["wanted"] for claim in claims_in_plane(rows, "Unfold")]
    assert wanted == ["above Isomap", "above PCA", "at most half of t-SNE"]
    at_best_scale = claims_at_best_scale(rows, "Unfold")
    assert [c["wanted"] for c in at_best_scale] == ["below t-SNE", "at most half of t-SNE"]


def test_a_map_dominates_only_where_all_conditions_hold():
    peers = [
        row("openTSNE", trustworthiness=0.98, length_error=0.5),
        row("UMAP", trustworthiness=0.97, continuity=0.95, length_error=0.4),
    ]
    ours = row("NeighborMap", trustworthiness=0.9785, length_error=0.27)
    worse = [{**one, "set": "another"} for one in [*peers, {**ours, "lost": 0.51}]]
    claims = list(conditions([*peers, ours, *worse], "NeighborMap"))
    assert len(claims) == 2 * 4
    assert vote(claims) == {"a set": True, "another": False}
    (failed,) = (one for one in claims if one["holds"] == "no")
    assert (failed["figure"], failed["bound"]) == ("lost", 0.505)
    assert list(conditions(peers, "NeighborMap")) == []


def test_the_summary_has_one_line_a_set():
    lines = summary([row("PCA"), row("Isomap"), row("PCA", set_name="another")])
    assert [line["set"] for line in lines] == ["a set", "another"]
    assert lines[0]["Isomap"] == ".900 / .900 / .50 / .30 / .30"


def test_maps_of_peers_are_kept_until_the_data_change(tmp_path, monkeypatch):
    first = embed("PCA", SHEET, 1, label="sheet", folder=tmp_path)
    fits = []
    monkeypatch.setattr("experiments.real_data.methods.fit", lambda *_: fits.append(1))
    again = embed("PCA", SHEET, 1, label="sheet", folder=tmp_path)
    np.testing.assert_array_equal(first.Y, again.Y)
    assert (first.seconds, first.words) == (again.seconds, again.words)
    monkeypatch.undo()
    other = embed("PCA", SHEET[:30], 1, label="sheet", folder=tmp_path)
    assert len(other.Y) == 30
    assert not fits


def test_sets_and_methods_have_names_of_their_own():
    names = {one.name for one in CHOOSING + UNSEEN}
    assert len(names) == len(CHOOSING) + len(UNSEEN) == 8 + 14
    assert set_named("Frey").dimension == 5
    assert all(one.package for one in UNSEEN)
    assert {"UMAP", "openTSNE", "densMAP", "TriMap", "PHATE", "NeighborMap"} <= set(METHODS)


def test_neighbors_are_at_distance_one():
    line = Dataset("line", 7.0 * np.arange(200.0)[:, None])
    # From the middle of a line neighbors are at 1, 1, 2, 2, 3, 3, 4, 4, 5, 5 steps.
    np.testing.assert_allclose(in_units_of_neighbors(line).X, line.X / 21.0)


def test_columns_of_tables_have_one_unit():
    X = breast_cancer().X
    assert X.shape == (569, 30)
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    np.testing.assert_allclose(standardized(3.0 * X + 1.0), X, atol=1e-9)


def test_sets_that_are_not_there_are_named(capsys):
    def read():
        raise ImportError

    there = RealSet("there", breast_cancer)
    found = list(loaded([RealSet("absent", read, package="a-package"), there]))
    assert [one for one, _ in found] == [there]
    assert capsys.readouterr().out == "absent is left out: pip install a-package\n"


def test_what_is_noted_is_not_made_again(tmp_path):
    made = iter([1.5, 2.5])
    assert kept(tmp_path, "a fit", lambda: next(made)) == 1.5
    assert kept(tmp_path, "a fit", lambda: next(made)) == 1.5
    assert kept(tmp_path, "another", lambda: next(made)) == 2.5
