"""Unfold says what it doubts, keeps copies together, and does not take folds or haste for truth."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from isofold import Unfold, datasets
from isofold.embedding.unfold.rehearsal import HARMLESS, distortion_of
from isofold.embedding.unfold.trials import FAR_WORTH
from isofold.exceptions import DoubtfulMapWarning
from isofold.neighbors import build_graph, edge_errors, mean_at_nodes
from isofold.quality import procrustes_error
from support.unfold_cases import assert_told, model, sheet


def test_a_folded_map_is_neither_taken_nor_hidden():
    # A ring cannot lie on a line: stitching lays one half onto the other, with all lengths kept.
    angle = np.random.RandomState(0).uniform(0.0, 2 * np.pi, 120)
    X = np.column_stack([np.cos(angle), np.sin(angle), 0.3 * np.cos(angle)])
    with pytest.warns(DoubtfulMapWarning):
        unfold = Unfold(n_components=1, random_state=0, n_jobs=1).fit(X)
    ipa = unfold.decision_.candidates[0]
    assert ipa.judgement.is_folded
    assert unfold.decision_.method != "ipa"
    assert_told(unfold)


@pytest.mark.slow  # of all cases the longest; the ring above is told by the same words
def test_doubts_of_a_stitched_map_are_told():
    # A cap of a sphere: stitched best, but no sheet.
    X = datasets.spherical_cap(300, angle=65.0, random_state=0).X
    with pytest.warns(DoubtfulMapWarning) as caught:
        unfold = Unfold(random_state=0, n_jobs=1, tolerance=0.5).fit(X)
    assert unfold.decision_.method == "ipa"
    doubts = unfold.estimator_.diagnosis_.raised
    serious = [flag.text() for flag in doubts if flag.code not in HARMLESS]
    assert serious
    for message in serious:
        assert message in unfold.decision_.reasons
        assert message in str(caught[0].message)
    scores = {c.method: c.score for c in unfold.decision_.candidates}
    assert scores["neighbor_map"] > scores["ipa"] > scores["neighbor_map"] - FAR_WORTH
    assert "It did about as well as any method" in str(unfold.decision_)
    assert_told(unfold)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_copies_given_by_distances_stay_together():
    X = np.repeat(np.random.RandomState(3).normal(size=(40, 6)), 3, axis=0)
    D = squareform(pdist(X))
    unfold = model(metric="precomputed", tolerance=0.99).fit(D)
    Y = unfold.embedding_
    np.testing.assert_array_equal(Y[::3], Y[1::3])
    np.testing.assert_array_equal(Y[::3], Y[2::3])
    np.testing.assert_array_equal(unfold.transform(D), Y)


def test_rounded_distances_are_those_of_points():
    X, flat = sheet()
    exact = squareform(pdist(X))
    unfold = model(metric="precomputed").fit(np.round(exact, 5))
    assert unfold.decision_.method == "ipa"
    assert procrustes_error(unfold.embedding_, flat) < 0.02


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_distortion_of_a_projection_is_that_of_its_neighbors():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 6))
    unfold = model(n_components=1, tolerance=0.99).fit(X)
    graph = build_graph(X, n_neighbors=10)
    expected = mean_at_nodes(edge_errors(unfold.embedding_, graph), graph)
    found = distortion_of(X, unfold.embedding_)
    np.testing.assert_array_equal(found, expected)
    assert (found > 0.0).all()
    assert (unfold.distortion_ > 0.0).any()


def test_short_time_does_not_choose_the_dimension(monkeypatch):
    X = np.random.RandomState(0).normal(size=(120, 8))
    monkeypatch.setattr("isofold.embedding.unfold.budget.Clock.is_late", lambda _: True)
    with pytest.warns(DoubtfulMapWarning):
        unfold = model(n_components="auto", tolerance=0.01).fit(X)
    assert unfold.n_components_ == unfold.survey_.suggested_dimension > 1
    words = "Time was short: no n_components up to 1 keeps distances to 1.0%;"
    assert any(sentence.startswith(words) for sentence in unfold.decision_.reasons)


def test_dimension_of_a_graph_with_equal_lengths():
    ends = np.arange(99)
    path = sp.csr_array((np.ones(99), (ends, ends + 1)), shape=(100, 100))
    unfold = model(n_components="auto", metric="precomputed").fit(path + path.T)
    assert unfold.n_components_ == 1
    assert "n_components=1 is the least that keeps distances to 10%." in unfold.decision_.reasons
    assert_told(unfold)


def test_dimension_of_a_graph_that_none_keeps():
    # A star of edges: all ends but two are too near to each other, in few dimensions.
    hub = np.zeros(60, dtype=int)
    star = sp.csr_array((np.ones(60), (hub, np.arange(1, 61))), shape=(61, 61))
    with pytest.warns(DoubtfulMapWarning):
        unfold = model(n_components="auto", metric="precomputed", tolerance=1e-6).fit(star + star.T)
    words = f"No n_components up to 12 keeps distances to 0.0001%; {unfold.n_components_} was best."
    assert words in unfold.decision_.reasons
    assert_told(unfold)
