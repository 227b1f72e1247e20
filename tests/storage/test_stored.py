"""Model files of earlier versions load in this one, and place points where they did then."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from isofold.storage import load_with_notes

DATA = Path(__file__).parent / "data"
FILES = sorted(DATA.glob("*.iso"))

ROUNDING = 1e-9
"""Relative to the largest coordinate: other processors and versions of NumPy round otherwise, and
kernel maps amplify that by 1e7 at most (see `isofold.linalg.kernels.RANK_TOLERANCE`)."""


def test_the_first_format_is_there():
    names = {path.stem for path in FILES}
    assert {f"format-1-{name}" for name in ("ipa", "unfold", "eat", "mvu", "local-mds")} <= names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_model_gives_the_same_answers(path):
    model, notes = load_with_notes(path)
    rows = np.load(f"{path.parent / path.stem}-rows.npy")
    expected = np.load(f"{path.parent / path.stem}-expected.npy")
    assert path.stem.endswith(notes["name"])
    if hasattr(model, "transform"):
        found = model.transform(rows)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=0, atol=ROUNDING * np.abs(expected).max())
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
        assert str(type(model).__name__) in repr(model)
