"""Words: certificates, warnings, decisions and parameters in plain text."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.manifold import Isomap

from isofold import IPA, MVU, PLML, Cover, LocalMDS, OutOfSample, Unfold
from isofold._format import percent
from isofold.assessment.proof import find_proof
from isofold.assessment.text import model_warnings
from isofold.exceptions import DisconnectedGraphWarning, DoubtfulMapWarning
from isofold.plot import find
from isofold.sdp import Status


class TestCertificates:
    def test_a_proof_says_what_it_is_about_and_what_not(self, ipa):
        proof = find_proof(ipa)
        assert proof.is_certified
        assert proof.words.startswith("Proved: no other way to lay these patches")
        assert "not about your data" in proof.words
        assert proof.warning == ""

    def test_a_projection_of_the_solution_is_told(self, roll):
        X = roll[:150]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulMapWarning)
            mvu = MVU(n_components=1, random_state=0).fit(X)
        assert mvu.discarded_variance_ratio_ > 0.01
        assert "nothing is proved about the map itself" in find_proof(mvu).words

    @pytest.mark.parametrize("status", [s for s in Status if s is not Status.CERTIFIED])
    def test_what_is_not_proved_is_not_claimed(self, ipa, status):
        model = SimpleNamespace(solution_=replace(ipa.solution_, status=status))
        proof = find_proof(model)
        assert proof.is_certified is False
        assert not proof.words.startswith("Proved")
        # Estimated eigenvalues are no reason for doubt, the others are.
        assert bool(proof.warning) == (status is not Status.INEXACT_CERTIFICATE)

    def test_one_unproved_piece_leaves_all_unproved(self, ipa):
        good = ipa.solution_
        bad = replace(good, status=Status.STATIONARY)
        assert find_proof(SimpleNamespace(solutions_=[good, None, good])).is_certified
        assert find_proof(SimpleNamespace(solutions_=[good, bad])).is_certified is False

    @pytest.mark.parametrize("model", [None, Isomap(), SimpleNamespace(solution_=None)])
    def test_where_there_is_nothing_to_prove_nothing_is_said(self, model):
        assert find_proof(model).is_certified is None
        assert find_proof(model).words == ""


class TestWarnings:
    def test_raised_doubts_are_told_once(self, roll):
        X = np.random.RandomState(0).normal(size=(200, 3))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ipa = IPA(random_state=0).fit(X)
        assert ipa.diagnosis_.raised
        told = find(X, ipa, warnings=caught).words.warnings
        for flag in ipa.diagnosis_.raised:
            assert sum(flag.message in warning for warning in told) == 1
        assert not any(warning.startswith("This map is not to be trusted") for warning in told)

    def test_given_warnings_are_kept(self, roll, ipa):
        told = find(roll, ipa, warnings=["The file had 3 empty rows.", UserWarning("odd")]).words
        assert told.warnings == ("The file had 3 empty rows.", "odd")

    def test_poor_lengths_are_told_in_shares(self, roll):
        (warning,) = find(roll, 0.7 * roll).words.warnings
        assert "wrong by more than 30%; 0% of them are true to 10%" in warning

    def test_few_bad_lengths_are_told_as_tears(self, roll):
        # Flattened along an axis: most lengths are true, but not where the roll stands upright.
        found = find(roll, roll[:, :2])
        shares = f"though {percent(found.ratios.within_tenth)} are true to 10%"
        assert any(shares in warning for warning in found.words.warnings)

    def test_pieces_of_the_model_are_told_once(self, roll):
        X = np.concatenate([roll[:100], roll[:100] + 1000.0])
        with pytest.warns(DisconnectedGraphWarning):
            model = LocalMDS(n_epochs=5, random_state=0).fit(X)
        told = find(X, model).words.warnings
        assert sum("pieces" in warning for warning in told) == 1

    def test_a_sound_model_has_none(self, ipa):
        assert model_warnings(ipa) == ()


class TestMethodAndParameters:
    def test_the_decision_is_told(self, roll, unfold):
        words = find(roll, unfold).words
        assert words.method == "Unfold, which chose IPA"
        assert words.decision == unfold.decision_.reasons
        assert words.is_certified

    def test_samples_placed_by_the_map_are_told(self, roll, ipa):
        unfold = Unfold()
        unfold.embedding_, unfold.fitted_samples_ = ipa.embedding_, np.arange(500)
        unfold.estimator_ = Isomap()
        unfold.decision_ = SimpleNamespace(reasons=(), method="pca", doubts=frozenset())
        told = find(roll, unfold).words.warnings
        assert any("fitted to 500 of 800 samples" in warning for warning in told)

    def test_a_wrapped_model_is_named(self, roll):
        wrapped = OutOfSample(Isomap(n_neighbors=8)).fit(roll)
        words = find(roll, wrapped).words
        assert words.method == "OutOfSample of Isomap"
        assert words.parameters["estimator"] == "Isomap(n_neighbors=8)"

    def test_long_parameters_are_abbreviated(self, roll, ipa):
        labels = IPA(
            cover=Cover.labels(np.zeros(800, dtype=int)), random_state=np.random.RandomState(0)
        )
        labels.embedding_ = ipa.embedding_
        words = find(roll, labels).words
        assert words.parameters["cover"] == "ndarray of shape (800,)"
        assert words.parameters["random_state"] == "RandomState"
        labels.set_params(cover=Cover.labels("x" * 500))
        assert len(find(roll, labels).words.parameters["cover"]) == 120

    def test_versions_are_told(self, roll, ipa):
        versions = find(roll, ipa).words.versions
        assert set(versions) == {"python", "isofold", "numpy", "scipy", "scikit-learn"}
        assert versions["numpy"] == np.__version__


def test_cuts_are_told_and_advice_is_kept(roll):
    # So few points are cut where neighbors reach from one layer to the next.
    roll = roll[:400]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plml = PLML(random_state=0).fit(roll)
    assert len(plml.cuts_)
    told = find(roll, plml, warnings=caught).words.warnings
    assert sum("torn apart" in warning for warning in told) == 1
    assert any(warning.startswith("Closed data cannot be laid flat") for warning in told)
    assert model_warnings(plml) == told[:1]
