"""Certificates in plain language: what is proved, and what is not."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import pytest
from sklearn.manifold import Isomap

from isofold import MVU
from isofold.assessment.proof import find_proof
from isofold.embedding.catalog import BY_CLASS
from isofold.exceptions import DoubtfulMapWarning
from isofold.sdp import Status


def test_a_proof_says_what_it_is_about_and_what_not(ipa):
    proof = find_proof(ipa)
    assert proof.is_certified
    assert proof.text.startswith(f"Proved: {BY_CLASS['IPA'].claim}")
    assert "not about your data" in proof.text
    assert proof.doubt == ""


def test_a_projection_of_the_solution_is_mentioned(roll):
    X = roll[:150]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        mvu = MVU(n_components=1, random_state=0).fit(X)
    assert mvu.discarded_variance_ratio_ > 0.01
    assert "nothing is proved about the map itself" in find_proof(mvu).text


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.CERTIFIED])
def test_what_is_not_proved_is_not_claimed(ipa, status):
    model = SimpleNamespace(solution_=replace(ipa.solution_, status=status))
    proof = find_proof(model)
    assert proof.is_certified is False
    assert not proof.text.startswith("Proved")
    # Estimated eigenvalues are no reason for doubt, the others are.
    assert bool(proof.doubt) == (status is not Status.INEXACT_CERTIFICATE)


def test_one_unproved_component_leaves_all_unproved(ipa):
    good = ipa.solution_
    bad = replace(good, status=Status.STATIONARY)
    assert find_proof(SimpleNamespace(solutions_=[good, None, good])).is_certified
    assert find_proof(SimpleNamespace(solutions_=[good, bad])).is_certified is False


@pytest.mark.parametrize("model", [None, Isomap(), SimpleNamespace(solution_=None)])
def test_where_there_is_nothing_to_prove_nothing_is_said(model):
    assert find_proof(model).is_certified is None
    assert find_proof(model).text == ""
