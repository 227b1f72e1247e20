"""What is found about a map: by its model and those inside, by its measures, by other libraries."""

import warnings

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isofold import IPA, MVU, PLML, LocalMDS, OutOfSample, Unfold, assess
from isofold._findings import Diagnosis, Finding, Severity
from isofold._format import percent
from isofold.assessment.findings import component_sizes, find_in_model, find_without_data
from isofold.assessment.proof import find_proof
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning
from isofold.sdp import LowRankSDP


@pytest.mark.parametrize("spread", [3, 10, 200])
@pytest.mark.parametrize("n_neighbors", [1, 3, 7])
def test_components_are_those_of_all_neighbors(spread, n_neighbors):
    steps = np.random.default_rng(spread).integers(1, spread, (1000, n_neighbors))
    # Neighbors within blocks of ten, hundreds or all, so that some blocks stay apart.
    first = np.arange(1000)[:, None] // (5 * spread) * (5 * spread)
    indices = np.minimum(first + (np.arange(1000)[:, None] + steps) % (5 * spread), 999)
    graph = coo_array(
        (np.ones(indices.size), (np.repeat(np.arange(1000), n_neighbors), indices.ravel()))
    )
    labels = connected_components(graph.tocsr(), directed=False)[1]
    expected = np.sort(np.bincount(labels))[::-1]
    np.testing.assert_array_equal(component_sizes(indices), expected)


def codes(findings):
    return [finding.code for finding in findings]


def fit_quietly(model, X):
    """Return a fitted model and the warnings of its fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return model.fit(X), caught


@pytest.fixture(scope="module")
def cloud():
    return np.random.RandomState(0).normal(size=(200, 3))


@pytest.fixture(scope="module")
def doubtful(cloud):
    return fit_quietly(IPA(random_state=0), cloud)


class TestOfModels:
    def test_doubts_of_a_fit_are_found_once(self, cloud, doubtful):
        model, caught = doubtful
        assert caught
        raised = model.diagnosis_.raised
        assert raised
        found = assess(cloud, model, warnings=caught).diagnosis
        assert found.raised[: len(raised)] == raised
        assert len(codes(found.raised)) == len(found.codes)

    def test_models_inside_are_asked_and_nothing_is_repeated(self, cloud, doubtful):
        raised = codes(doubtful[0].diagnosis_.raised)
        for outer in (
            OutOfSample(IPA(random_state=0)),
            make_pipeline(StandardScaler(with_std=False), IPA(random_state=0)),
        ):
            model, _ = fit_quietly(outer, cloud)
            assert codes(Diagnosis(find_in_model(model)).raised) == raised

    def test_an_outer_model_comes_first(self, ipa, doubtful):
        outer = OutOfSample(IPA())
        outer.estimator_ = doubtful[0]
        code = doubtful[0].diagnosis_.raised[0].code
        outer.diagnosis_ = Diagnosis((Finding.of(code, Severity.NOTE),))
        found = find_in_model(outer)
        assert codes(found).count(code) == 1
        assert found[0].severity is Severity.NOTE

    def test_all_steps_of_a_pipeline_are_asked(self, cloud, doubtful):
        model, _ = fit_quietly(make_pipeline(IPA(random_state=0), PLML(random_state=0)), cloud)
        assert set(doubtful[0].diagnosis_.codes) <= set(codes(find_in_model(model)))

    def test_an_unproved_solution_is_a_doubt_once(self, roll):
        model, _ = fit_quietly(MVU(solver=LowRankSDP(max_iter=1), random_state=0), roll[:60])
        known = assess(roll[:60], model)
        assert known.proof.is_certified is False
        assert known.proof.doubt
        assert {"not_certified", "unproved"} & known.diagnosis.codes == {"not_certified"}
        model.diagnosis_ = Diagnosis()
        assert "unproved" in assess(roll[:60], model).diagnosis.codes

    def test_a_sound_model_has_no_doubts(self, ipa):
        assert find_without_data(ipa, find_proof(ipa)).is_sound

    def test_distortion_is_a_doubt_without_data(self, ipa):
        wrong = OutOfSample(IPA())
        wrong.embedding_, wrong.distortion_ = ipa.embedding_, np.full(len(ipa.embedding_), 0.3)
        (finding,) = find_without_data(wrong, find_proof(wrong)).raised
        assert "wrong by more than 30%" in finding.text()


class TestOfOtherLibraries:
    def test_they_are_kept_as_they_are(self, roll, ipa):
        given = ["The file had 3 empty rows.", UserWarning("odd"), "odd"]
        raised = assess(roll, ipa, warnings=given).diagnosis.raised
        assert [finding.text() for finding in raised] == ["The file had 3 empty rows.", "odd"]

    def test_own_warnings_are_not_repeated(self, roll, ipa):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for category in (DoubtfulMapWarning, DisconnectedGraphWarning, ConvergenceWarning):
                warnings.warn("what a finding says", category, stacklevel=1)
        # Only other libraries warn of convergence if the model has no such finding.
        assert len(assess(roll, ipa, warnings=caught[:2]).diagnosis.raised) == 0
        assert len(assess(roll, ipa, warnings=caught).diagnosis.raised) == 1


class TestOfMeasures:
    def test_poor_lengths(self, roll):
        (finding,) = assess(roll, 0.7 * roll).diagnosis.raised
        assert "wrong by more than 30%; 0% of them are true to 10%" in finding.text()

    def test_few_bad_lengths_are_tears(self, roll):
        # Flattened along an axis: most lengths are true, but not where the roll stands upright.
        known = assess(roll, roll[:, :2])
        within = f"although {percent(known.ratios.within_tenth)} are true to 10%"
        assert within in known.diagnosis["torn_lengths"].text()

    def test_components_of_the_model_are_found_once(self, roll):
        X = np.concatenate([roll[:100], roll[:100] + 1000.0])
        with pytest.warns(DisconnectedGraphWarning):
            model = LocalMDS(n_epochs=5, random_state=0).fit(X)
        found = assess(X, model).diagnosis
        assert "bridges" in found.codes
        assert "separate_points" not in found

    @pytest.mark.slow
    def test_lengths_that_a_decision_has_measured_are_not_said_twice(self, cloud):
        model, _ = fit_quietly(Unfold(n_components=1, random_state=0), cloud)
        found = assess(cloud, model).diagnosis
        assert "lost_distances" in found.codes
        assert "poor_lengths" not in found.codes


def test_tears_are_found_with_their_advice(roll):
    # So few points are torn where neighbors reach from one layer to the next.
    model, caught = fit_quietly(PLML(random_state=0), roll[:400])
    assert len(model.cuts_)
    found = assess(roll[:400], model, warnings=caught).diagnosis
    assert "torn apart" in found["tears"].message()
    assert found["tears"].advice().startswith("Closed data cannot be laid flat")
    assert codes(find_without_data(model, find_proof(model)).raised) == codes(
        model.diagnosis_.raised
    )


def test_the_decision_is_kept(roll, unfold):
    known = assess(roll, unfold)
    assert known.decision.findings == unfold.decision_.findings
    assert known.proof.is_certified
    assert len(assess(roll, roll).decision) == 0
