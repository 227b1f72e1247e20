"""Model files of earlier versions load in this one, and place points where they did then."""

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from isofold.similarity import ObjectDistance, ObjectKernel
from isofold.storage import load_with_notes
from isofold.storage.registry import KINDS

SIMILARITIES = (ObjectDistance, ObjectKernel)
DATA = Path(__file__).parent / "data"
FILES = sorted(DATA.glob("*.iso"))

ROUNDING = 1e-9
"""Relative to the largest coordinate: other processors and versions of NumPy round otherwise, and
kernel maps amplify that by 1e7 at most (see `isofold.embedding.affine.span.RANK_TOLERANCE`)."""

SETTLED = 1e-6
"""The same where a point goes to the minimum of an objective: that falls by less than 1e-12 of
itself in the end (`isofold.extension.twin_kernel_map.TOLERANCE`), which leaves the square root of
it to the coordinates."""

# These need packages that are not everywhere, or no estimator makes them by itself.
NOT_STORED = {"ConicSDP", "FunctionRows", "HNSWSearch", "WalkRows"}
# Parameters that came later than the stored files; `test_choices_that_are_objects` saves them.
NOT_STORED |= {"Bridged", "Cover", "Enhanced", "Knn", "Lengths", "Mutual", "Radius", "Soft"}
NOT_STORED |= {"InvertedListSearch"}
# Kernels and distances of objects are parameters, too; `test_similarities` saves them.
NOT_STORED |= {name for name, kind in KINDS.items() if issubclass(kind.load(), SIMILARITIES)}
# The objects of a kernel function, which no file holds.
NOT_STORED |= {"RawObjects"}


def kinds_in(path):
    """Return the names of all classes in a model file."""
    with zipfile.ZipFile(path) as archive:
        return set(re.findall(r'"kind":"(\w+)"', archive.read("model.json").decode()))


def test_a_stored_model_holds_every_class_to_its_promise():
    stored = set().union(*map(kinds_in, FILES))
    missing = KINDS.keys() - stored - NOT_STORED
    assert missing == set(), "write a file with each, see tests/storage/write_stored.py"
    assert not stored & NOT_STORED


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_model_gives_the_same_answers(path):
    model, notes = load_with_notes(path)
    rows = np.load(f"{path.parent / path.stem}-rows.npy")
    expected = np.load(f"{path.parent / path.stem}-expected.npy")
    assert path.stem.endswith(notes["name"])
    if hasattr(model, "transform"):
        found = model.transform(rows)
        assert found.dtype == expected.dtype
        precision = SETTLED if path.stem == "format-1-twin-kernel" else ROUNDING
        np.testing.assert_allclose(found, expected, rtol=0, atol=precision * np.abs(expected).max())
    else:
        np.testing.assert_array_equal(model.predict(rows), expected)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_model_tells_about_its_fit(path):
    model, _ = load_with_notes(path)
    clone(model).get_params()
    learned = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert "n_features_in_" in learned
    if "embedding_" in learned:
        assert len(model.embedding_) == len(model.distortion_)
        assert all(finding.text() for finding in model.diagnosis_.raised)
        assert str(type(model).__name__) in repr(model)


def test_figures_that_were_not_measured_then_are_unknown():
    model, _ = load_with_notes(DATA / "format-1-unfold.iso")
    quality = model.decision_.quality
    assert np.isfinite((quality.trustworthiness, quality.length_error)).all()
    assert np.isnan((quality.shown_length_error, quality.neighbor_error)).all()
