"""Unfold: the method that suits, the dimension that suits, the time there is, and words for it."""

import logging
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap
from sklearn.neighbors import kneighbors_graph

from isofold import IPA, NeighborMap, Unfold, assess, datasets
from isofold.embedding.unfold import measuring
from isofold.embedding.unfold import trials as _trials
from isofold.embedding.unfold.budget import Clock
from isofold.embedding.unfold.rehearsal import HeldOut, judge, nearest_points
from isofold.embedding.unfold.trials import CLEAR_LEAD, FAR_WORTH
from isofold.exceptions import DoubtfulMapWarning
from isofold.quality import procrustes_error, summary, trustworthiness
from isofold.survey import data, recognize_shapes
from support.helpers import assert_embedder_contract, assert_equal_up_to_rigid_motion
from support.unfold_cases import assert_told, model, sheet

# A projection on axes of size one, or distances turned into points.
EXACT = 1e-9

DIGITS = load_digits().data[:200] / 16.0


def arc(n=80):
    angle = np.linspace(0.0, 4.0, n)
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)]), angle[:, None]


@pytest.fixture(autouse=True)
def no_shapes(monkeypatch):
    # They have tests of their own, and take most of the time of so small fits.
    monkeypatch.setattr(data, "recognize_shapes", lambda *_, **__: ())


class Covered(Unfold):
    """Unfold as the contract wants it: `estimator_` has the graph or the cover."""

    cover_ = None


@cache
def unfolded_roll():
    roll = datasets.swiss_roll(300, width=8.0, uniform=True, random_state=0)
    return roll, model().fit(roll.X)


@cache
def unfolded_digits():
    with pytest.warns(DoubtfulMapWarning) as caught:
        unfold = model().fit(DIGITS)
    return unfold, [str(warning.message) for warning in caught]


# The method that suits


def test_a_roll_is_unfolded_by_ipa():
    roll, unfold = unfolded_roll()
    decision = unfold.decision_
    assert decision.method == "ipa"
    assert isinstance(unfold.estimator_, IPA)
    assert procrustes_error(unfold.embedding_, roll.truth) < 0.01
    # Nothing is added to or taken from what IPA gives.
    alone = IPA(random_state=unfold.random_state, n_jobs=1).fit(roll.X)
    assert unfold.embedding_.tobytes() == alone.embedding_.tobytes()
    np.testing.assert_array_equal(unfold.distortion_, alone.distortion_)
    np.testing.assert_array_equal(unfold.fitted_samples_, np.arange(300))
    assert_told(unfold)
    assert "the data are a sheet of 2 dimensions, which was unfolded" in decision.summary()


def test_a_sheet_is_stitched_before_anything_is_rehearsed():
    assert unfolded_roll()[1].decision_.candidates == ()
    assert unfolded_roll()[1].survey_.shapes == ()
    # Where all time is short, stitching is rehearsed first.
    hurried = model(max_seconds=1.0).fit(unfolded_roll()[0].X)
    assert "ipa" in {candidate.method for candidate in hurried.decision_.candidates}


def test_a_million_samples_are_stitched_first_if_there_is_time():
    # Stitching works on a sample of them, so that it takes hardly longer than 10,000.
    assert Clock.started(300.0).is_ample(1_000_000, 3)
    assert not Clock.started(300.0).is_ample(1_000_000, 5_000)
    assert not Clock.started(60.0).is_ample(1_000_000, 3)


def test_a_sheet_is_measured_by_lists_as_by_all_distances(monkeypatch):
    monkeypatch.setattr(measuring, "LISTED", 60)
    roll = datasets.swiss_roll(400, width=8.0, uniform=True, random_state=0)
    Y = roll.truth + 0.1 * np.random.RandomState(1).normal(size=roll.truth.shape)
    found = measuring._by_lists(roll.X, Y, 50, 3, 1)
    expected = summary(roll.X, Y, n_samples=50, random_state=3)
    assert found == expected
    assert 0.0 < found.neighbor_error < 1.0 > found.trustworthiness
    # Strangers side by side have ranks that lists do not hold.
    assert measuring._by_lists(roll.X, Y[::-1], 50, 3, 1) is None


def test_digits_are_mapped_by_neighbor_map():
    unfold, told = unfolded_digits()
    assert unfold.decision_.method == "neighbor_map"
    alone = NeighborMap(random_state=unfold.random_state, n_jobs=1).fit(DIGITS)
    np.testing.assert_array_equal(unfold.embedding_, alone.embedding_)
    ours = trustworthiness(DIGITS, unfold.embedding_)
    assert ours > trustworthiness(DIGITS, Isomap(n_neighbors=10).fit_transform(DIGITS))
    assert ours > trustworthiness(DIGITS, PCA(2).fit_transform(DIGITS))
    assert_told(unfold)
    words = unfold.decision_.summary()
    assert "cannot keep all distances in 2 dimensions; neighbors came first" in words
    assert "balance=0.8 would make distances between neighbors truer" in words
    # What was lost is told aloud, once.
    assert told == [unfold.diagnosis_.summary()]
    assert "This map does not keep distances" in told[0]


def test_the_decision_rests_on_scores():
    unfold = unfolded_digits()[0]
    decision = unfold.decision_
    # Of so many dimensions, digits are no sheet: there is nothing to stitch.
    # The method that suits such data leads projection clearly, which settles it.
    assert [candidate.method for candidate in decision.candidates] == ["neighbor_map", "pca"]
    first, second = (candidate.score for candidate in decision.candidates)
    assert decision.method == "neighbor_map"
    assert first > CLEAR_LEAD * second
    for candidate in decision.candidates:
        assert 0.0 <= candidate.kept <= 1.0
        errors = min(1.0, candidate.length_error), min(1.0, candidate.shown_error)
        assert candidate.score == pytest.approx(candidate.kept * (1.0 - np.mean(errors)))
        assert candidate.seconds > 0.0
        assert not candidate.note
    assert decision.evidence["dimension"] == unfold.survey_.dimension
    assert decision.evidence["exact"] == 0.0
    evidence = unfolded_roll()[1].decision_.evidence
    assert {"misfit", "certified", "estimated_error"} <= set(evidence)
    assert evidence["misfit"] < 0.05


def test_all_methods_are_rehearsed_where_none_leads_clearly(monkeypatch):
    monkeypatch.setattr(_trials, "CLEAR_LEAD", 100.0)
    with pytest.warns(DoubtfulMapWarning):
        decision = model().fit(DIGITS[:100]).decision_
    assert [c.method for c in decision.candidates] == ["local_mds", "neighbor_map", "pca"]
    assert decision.method == max(decision.candidates, key=lambda c: c.score).method


def test_both_length_errors_count():
    # Half of what is near on the map is far in the data: a fold, which its own neighbors hide.
    line = np.arange(40.0)[:, None]
    near = nearest_points(line, line, 2, is_same=True)

    def lengths_to(indices):
        return np.abs(line[indices][:, :, 0] - line)

    flat = judge(near, lengths_to, line, line, is_same=True)
    assert flat == HeldOut(1.0, 0.0, 0.0)
    assert flat.score == 1.0
    folded = np.minimum(line, 39.2 - line)
    found = judge(near, lengths_to, folded, folded, is_same=True)
    assert found.length_error < 0.01 < 0.5 < found.shown_error
    assert found.score == pytest.approx(found.kept * (1.0 - found.shown_error / 2), abs=0.01)
    assert HeldOut(0.5, 3.0, 0.0).score == 0.25


@pytest.mark.slow
def test_few_samples_may_not_settle_it():
    # Stars of lines go to local scaling, which keeps far distances, too.
    rng = np.random.RandomState(0)
    ends = np.linalg.qr(rng.normal(size=(7, 5)))[0].T
    X = 3.0 * ends[rng.randint(5, size=200)] * rng.uniform(size=(200, 1))
    with pytest.warns(DoubtfulMapWarning):
        unfold = model().fit(X + 0.01 * rng.normal(size=X.shape))
    scores = {c.method: c.score for c in unfold.decision_.candidates}
    assert scores[unfold.decision_.method] >= max(scores.values()) - FAR_WORTH
    assert_told(unfold)


def test_rows_of_many_columns_are_judged_by_their_distances():
    # The same points in a hundred times as many columns: the same survey and scores.
    wide = np.linalg.qr(np.random.RandomState(0).normal(size=(800, 64)))[0]
    narrow = unfolded_digits()[0]
    with pytest.warns(DoubtfulMapWarning):
        unfold = model().fit(DIGITS @ wide.T)
    assert unfold.survey_.n_features == 800
    assert unfold.survey_.dimension == pytest.approx(narrow.survey_.dimension, rel=1e-6)
    assert unfold.decision_.method == narrow.decision_.method
    quality = narrow.decision_.quality
    assert unfold.decision_.quality.length_error == pytest.approx(quality.length_error, abs=0.05)


def test_quality_is_that_of_the_map():
    unfold = unfolded_digits()[0]
    quality = unfold.decision_.quality
    expected = trustworthiness(DIGITS, unfold.embedding_, n_neighbors=12)
    assert quality.trustworthiness == pytest.approx(float(expected))
    assert 0.8 < quality.continuity <= 1.0
    assert quality.length_error > unfold.tolerance
    assert f"trustworthiness is {quality.trustworthiness:.3f}" in unfold.decision_.summary()


@pytest.mark.parametrize("r", [2, 3])
def test_flat_data_are_given_back(r):
    flat = np.random.RandomState(0).normal(size=(60, 2)) * [3.0, 1.0]
    X = flat @ np.linalg.qr(np.random.RandomState(1).normal(size=(5, 2)))[0].T + 7.0
    unfold = model(n_components=r).fit(X)
    assert unfold.decision_.method == "pca"
    assert unfold.decision_.candidates == ()
    assert unfold.decision_.evidence["exact"] == 1.0
    assert_equal_up_to_rigid_motion(unfold.embedding_, flat, atol=EXACT)
    np.testing.assert_array_equal(unfold.transform(X), unfold.embedding_)
    np.testing.assert_allclose(unfold.distortion_, 0.0, atol=EXACT)
    assert "The data lie in 2 dimensions: there is nothing to unfold." in unfold.decision_.reasons
    assert "score" not in str(unfold.decision_)
    assert_told(unfold)


def test_flat_data_of_single_precision_are_given_back():
    flat = np.random.RandomState(0).normal(size=(60, 2)) * [3.0, 1.0]
    X = flat @ np.linalg.qr(np.random.RandomState(1).normal(size=(5, 2)))[0].T
    unfold = model().fit(X.astype(np.float32))
    assert unfold.decision_.method == "pca"
    assert unfold.embedding_.dtype == np.float32
    assert_equal_up_to_rigid_motion(unfold.embedding_, flat, atol=1e-5)


def test_all_features_are_nothing_to_unfold():
    X = np.random.RandomState(0).normal(size=(50, 3))
    unfold = model(n_components=3).fit(X)
    assert_equal_up_to_rigid_motion(unfold.embedding_, X, atol=EXACT)


# The dimension that suits


def test_the_dimension_of_a_sheet_is_found():
    X, flat = sheet()
    unfold = model(n_components="auto").fit(X)
    assert unfold.n_components_ == 2
    assert unfold.decision_.method == "ipa"
    assert procrustes_error(unfold.embedding_, flat) < 0.02
    assert "n_components=2 is the least that keeps distances to 10%." in unfold.decision_.reasons
    assert_told(unfold)


def test_the_dimension_of_an_arc_is_found():
    X, angle = arc()
    unfold = model(n_components="auto").fit(X)
    assert unfold.n_components_ == 1
    assert procrustes_error(unfold.embedding_, angle) < 0.01
    assert_told(unfold)


def test_a_looser_tolerance_is_content_with_fewer_dimensions():
    X = np.random.RandomState(0).normal(size=(80, 3)) * [6.0, 2.0, 0.5]
    strict = model(n_components="auto", tolerance=0.01).fit(X)
    # A blob is no sheet of fewer dimensions, however content the user is.
    with pytest.warns(DoubtfulMapWarning, match="could not confirm a sheet"):
        loose = model(n_components="auto", tolerance=0.5).fit(X)
    assert strict.n_components_ == 3
    assert loose.n_components_ < 3
    assert_told(strict)
    assert_told(loose)
    # A page that is made of the model later on tells it, too.
    found = assess(X, loose, random_state=0).diagnosis
    assert "may fold or tear" in found["unconfirmed"].text()
    assert "unconfirmed" in found.codes


# Distances


def test_distances_of_points_give_the_map_of_the_points():
    X, _ = sheet()
    points, D = model().fit(X), squareform(pdist(X))
    distances = model(metric="precomputed").fit(D)
    assert distances.decision_.method == points.decision_.method == "ipa"
    # The same points in other axes; stitching is unique, up to what it was computed to.
    assert_equal_up_to_rigid_motion(distances.embedding_, points.embedding_, atol=0.01)
    assert_told(distances)
    assert "given by their distances" in distances.decision_.summary()
    np.testing.assert_allclose(distances.transform(D), distances.embedding_, atol=EXACT)
    new = sheet(5, seed=1)[0]
    np.testing.assert_allclose(distances.transform(cdist(new, X)).shape, (5, 2))


def test_distances_of_flat_points_give_them_back():
    flat = np.random.RandomState(0).normal(size=(50, 2)) * [3.0, 1.0]
    D = squareform(pdist(flat))
    for r in (2, 3):
        unfold = model(n_components=r, metric="precomputed").fit(D)
        assert_equal_up_to_rigid_motion(unfold.embedding_, flat, atol=1e-6)
    assert model(n_components="auto", metric="precomputed").fit(D).n_components_ == 2


def test_points_of_a_line_by_their_distances():
    places = np.random.RandomState(0).uniform(size=(40, 1))
    unfold = model(metric="precomputed").fit(squareform(pdist(places)))
    assert_equal_up_to_rigid_motion(unfold.embedding_, places, atol=1e-6)


def test_distances_of_no_points_are_not_stitched():
    X, _flat = sheet()
    D = squareform(pdist(X, "cityblock"))
    unfold = model(metric="precomputed", tolerance=0.9).fit(D)
    methods = [candidate.method for candidate in unfold.decision_.candidates]
    assert methods == ["local_mds", "neighbor_map"]
    assert unfold.decision_.method in methods
    np.testing.assert_array_equal(unfold.transform(D), unfold.embedding_)
    assert_told(unfold)
    auto = model(n_components="auto", metric="precomputed", tolerance=0.9).fit(D)
    assert auto.n_components_ <= auto.survey_.suggested_dimension
    assert_told(auto)


def test_known_distances_are_mapped_by_local_mds():
    X, flat = sheet()
    graph = kneighbors_graph(X, 10, mode="distance")
    unfold = model(metric="precomputed").fit(graph)
    assert unfold.decision_.method == "local_mds"
    # As `LocalMDS` does; ways along the graph zigzag.
    assert procrustes_error(unfold.embedding_, flat) < 0.08
    assert np.isnan(unfold.decision_.quality.trustworthiness)
    assert_told(unfold)
    assert unfold.transform(sp.csr_array(graph)[:4]).shape == (4, 2)


# Time, threads, seeds


def test_where_time_is_short_a_part_is_fitted(monkeypatch):
    monkeypatch.setattr(_trials, "LEAST_FITTED", 120)
    X, flat = sheet(200)
    unfold = model(max_seconds=1e-3).fit(X)
    assert len(unfold.fitted_samples_) == 120
    assert (np.diff(unfold.fitted_samples_) > 0).all()
    assert unfold.embedding_.shape == (200, 2)
    assert unfold.distortion_.shape == (200,)
    assert procrustes_error(unfold.embedding_, flat) < 0.08
    np.testing.assert_array_equal(unfold.transform(X), unfold.embedding_)
    partly = unfold.diagnosis_["partly_fitted"]
    assert partly.message().startswith("The method was fitted to 120 of 200 samples")
    assert partly.text() in unfold.decision_.reasons
    assert_told(unfold)


def test_where_time_is_short_distances_do_too(monkeypatch):
    monkeypatch.setattr(_trials, "LEAST_FITTED", 100)
    X, flat = sheet(150)
    unfold = model(max_seconds=1e-3, metric="precomputed").fit(squareform(pdist(X)))
    assert len(unfold.fitted_samples_) == 100
    assert procrustes_error(unfold.embedding_, flat) < 0.08
    assert unfold.transform(squareform(pdist(X))[:3]).shape == (3, 2)


def test_contract():
    assert_embedder_contract(Covered(random_state=0), sheet(50)[0], atol=EXACT)


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_same_seed_same_decision():
    X = np.random.RandomState(0).normal(size=(60, 5))
    first, second = model().fit(X), model().fit(X)
    assert first.embedding_.tobytes() == second.embedding_.tobytes()
    assert first.decision_.reasons == second.decision_.reasons
    assert first.decision_.evidence == second.decision_.evidence


def test_shapes_are_told(monkeypatch):
    monkeypatch.setattr(data, "recognize_shapes", recognize_shapes)
    angle = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(DoubtfulMapWarning):
        unfold = model(n_components=1, tolerance=0.9).fit(ring)
    assert len(unfold.survey_.raised) == 1
    assert unfold.survey_.raised[0].code in unfold.decision_.doubts
    assert unfold.survey_.raised[0].text() in unfold.decision_.reasons


def test_neighbors_are_handed_on():
    X, _ = sheet(60)
    unfold = model(n_neighbors=9).fit(X)
    assert unfold.estimator_.n_neighbors == 9
    usual = model().fit(X)
    assert usual.estimator_.n_neighbors == type(usual.estimator_)().n_neighbors


def test_the_decision_is_logged(caplog):
    X = np.random.RandomState(0).normal(size=(20, 2))
    with caplog.at_level(logging.INFO, logger="isofold"):
        model().fit(X)
        assert caplog.text == ""
        unfold = model(verbose=True).fit(X)
    assert unfold.decision_.reasons[0] in caplog.text
