"""Patches that the user chose are stitched; those that IPA finds may not be, and it says so."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from isofold import IPA, Cover
from isofold.exceptions import DoubtfulMapWarning

BLOB = np.random.RandomState(0).normal(size=(200, 6))

# The method of the thesis, and other ways to choose patches.
CHOICES = {
    "thesis": {"cover": "kmeans", "chart": "pca", "n_patches": 10},
    "number": {"n_patches": 10},
    "ldlc": {"cover": "ldlc", "n_patches": 6},
    "clusterer": {"cover": KMeans(6, n_init=1, random_state=0), "chart": "pca"},
    "labels": {"cover": Cover.labels(KMeans(6, n_init=1, random_state=0).fit_predict(BLOB))},
}


def digits():
    return load_digits().data[:250]


@pytest.mark.parametrize("choice", CHOICES)
def test_patches_that_were_chosen_are_stitched_where_there_is_no_sheet(choice):
    model = IPA(**CHOICES[choice], random_state=0)
    with pytest.warns(DoubtfulMapWarning):
        model.fit(BLOB)
    assert model.layout_ == "stitched"
    assert model.solution_ is not None
    assert not model.diagnosis_["unstitched"].is_raised
    assert not model.diagnosis_["projected"].is_raised
    # It is done as asked, but not without a word.
    assert model.diagnosis_["misfit"].is_raised or model.diagnosis_["noise"].is_raised


def test_the_method_of_the_thesis_stitches_digits():
    model = IPA(cover="kmeans", chart="pca", random_state=0)
    with pytest.warns(DoubtfulMapWarning):
        model.fit(digits())
    assert model.layout_ == "stitched"
    assert model.solution_ is not None
    assert np.isfinite(model.solution_.primal)


def test_by_default_the_layout_along_paths_is_told_of():
    model = IPA(random_state=0)
    with pytest.warns(DoubtfulMapWarning, match="laid out along shortest paths, not stitched"):
        model.fit(digits())
    assert model.layout_ == "paths"
    assert model.solution_ is None
    assert model.diagnosis_["unstitched"].is_raised
    assert "n_patches" in model.diagnosis_["unstitched"].advice()


def test_a_projection_is_called_by_its_name():
    flat = np.random.RandomState(0).uniform(size=(100, 1)) * np.ones((1, 4))
    assert IPA(random_state=0).fit(flat).layout_ == "projection"


def test_a_sheet_is_stitched_in_any_case():
    angle, height = np.random.RandomState(0).uniform(size=(2, 300))
    sheet = np.column_stack([np.cos(2 * angle), np.sin(2 * angle), height])
    assert IPA(random_state=0).fit(sheet).layout_ == "stitched"
