"""What `save` refuses, and that it leaves nothing half done."""

import errno
import os
import zipfile

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA

import isofold
from isofold import EAT, IPA, LocalSubspaceClassifier, OutOfSample
from isofold.exceptions import InvalidInputError
from isofold.sdp import LowRankSDP
from isofold.storage import load, load_with_notes, save
from support.storage_cases import LABELS, SHEET, SMALL, fitted


def embedded(**parameters):
    """Return the cheapest fitted model, with some parameters set afterwards."""
    return OutOfSample.from_embedding(SMALL, SMALL[:, :2]).set_params(**parameters)


def linear(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (IPA(), "This IPA is not fitted"),
        (IPA, "The class IPA is not an estimator"),
        (KMeans(2), "A KMeans is not an estimator of isofold, such as Unfold, IPA"),
        (LowRankSDP(), "LowRankSDP is not an estimator"),
        ({"a": 1}, "A dict is not an estimator"),
        (None, "A NoneType is not an estimator"),
    ],
)
def test_only_fitted_models_are_saved(model, words, tmp_path):
    with pytest.raises(InvalidInputError, match=words):
        save(model, tmp_path / "model.iso")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_functions_are_refused(tmp_path):
    model = EAT(kernel=linear, random_state=0).fit(SMALL)
    with pytest.raises(InvalidInputError, match=r"EAT.kernel is a function.*joblib.dump"):
        save(model, tmp_path / "model.iso")


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("method", linear, "OutOfSample.method is a function"),
        ("estimator", PCA(svd_solver=linear), "OutOfSample.estimator.svd_solver is a function"),
        ("estimator", AgglomerativeClustering(memory="cache"), "memory names a cache"),
        ("estimator", isofold.MVU(solver=LowRankSDP(callback=print)), "solver.callback is a func"),
        ("random_state", np.random.default_rng(0), "random_state is a value of type numpy.random"),
        ("random_state", np.random.RandomState(np.random.PCG64(0)), "RandomState"),
        ("search", np.array(["2026-01-01"], dtype="M8[D]"), "array of datetime64"),
        ("search", np.zeros(2, dtype=[("a", "f8")]), "array of"),
        ("search", np.ma.array([1.0]), "array of float64"),
        ("search", {(1, 2): 3}, "A key of OutOfSample.search is a value of type builtins.tuple"),
        ("search", slice(3), "builtins.slice"),
        ("search", b"bytes", "builtins.bytes"),
    ],
)
def test_what_a_file_cannot_hold_is_named(attribute, value, words, tmp_path):
    model = embedded()
    setattr(model, attribute, value)
    with pytest.raises(InvalidInputError, match=words):
        save(model, tmp_path / "model.iso")
    assert list(tmp_path.iterdir()) == []


def test_circles_and_endless_lists_are_refused(tmp_path):
    model = embedded()
    model.estimator = model
    with pytest.raises(InvalidInputError, match="leads back"):
        save(model, tmp_path / "model.iso")
    endless = []
    endless.append(endless)
    model = embedded(search=endless)
    with pytest.raises(InvalidInputError, match="nested"):
        save(model, tmp_path / "model.iso")


def test_numbers_too_long_for_text_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"OutOfSample\.search"):
        save(embedded(search=10**5000), tmp_path / "model.iso")
    assert list(tmp_path.iterdir()) == []


def test_fitted_estimators_of_others_are_refused_where_they_are_needed(tmp_path):
    clusterer = KMeans(4, n_init=1, random_state=0)
    model = LocalSubspaceClassifier(clusterer=clusterer).fit(SHEET, LABELS)
    with pytest.raises(InvalidInputError, match=r"clusterer_ is a fitted KMeans of another lib"):
        save(model, tmp_path / "model.iso")


def test_a_fitted_parameter_comes_back_unfitted(tmp_path):
    model = embedded(estimator=PCA(2).fit(SMALL))
    save(model, tmp_path / "model.iso")
    again = load(tmp_path / "model.iso").estimator
    assert again.n_components == 2
    assert not hasattr(again, "components_")


def test_an_existing_file_is_kept_unless_told(tmp_path):
    path = tmp_path / "model.iso"
    path.write_text("precious")
    with pytest.raises(InvalidInputError, match=r"exists and is not.*overwrite=True"):
        save(embedded(), path)
    assert path.read_text() == "precious"
    save(embedded(), path, overwrite=True)
    assert zipfile.is_zipfile(path)
    assert [each.name for each in tmp_path.iterdir()] == ["model.iso"]


def test_a_failure_leaves_everything_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "model.iso"
    path.write_text("precious")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInputError, match="No space"):
        save(embedded(), path, overwrite=True)
    assert path.read_text() == "precious"
    assert [each.name for each in tmp_path.iterdir()] == ["model.iso"]


@pytest.mark.parametrize("path", [None, 3, "", "a\0b", b"model.iso"])
def test_a_path_is_text(path):
    with pytest.raises(InvalidInputError, match="no name of a file"):
        save(embedded(), path)


def test_folders_must_be_there(tmp_path):
    with pytest.raises(InvalidInputError, match="no folder"):
        save(embedded(), tmp_path / "missing" / "model.iso")
    with pytest.raises(InvalidInputError, match="is a folder"):
        save(embedded(), tmp_path, overwrite=True)


@pytest.mark.parametrize(
    "notes",
    [[], {1: 2}, {"a": np.nan}, {"a": (1, 2)}, {"a": {3}}, {"a": np.float64(1.0) * 1j}, "words"],
)
def test_notes_are_plain(notes, tmp_path):
    with pytest.raises(InvalidInputError, match="plain JSON"):
        save(embedded(), tmp_path / "model.iso", notes=notes)


def test_long_notes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("isofold.storage.header.MOST_JSON", 10_000)
    with pytest.raises(InvalidInputError, match="a model file holds"):
        save(embedded(), tmp_path / "model.iso", notes={"words": "a" * 10_000})
    assert list(tmp_path.iterdir()) == []


def test_notes_of_very_many_values_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("isofold.storage.header.SPARE_VALUES", 10_000)
    zeros = [0] * 100_000
    with pytest.raises(InvalidInputError, match=r"values, and a model file holds .* as arrays"):
        save(embedded(), tmp_path / "model.iso", notes={"zeros": zeros})
    assert list(tmp_path.iterdir()) == []
    # Marks in a text are no values, and numbers that take their place in the file are welcome.
    notes = {"words": '[,{\\"[,' * 20_000, "numbers": list(range(100_000))}
    save(embedded(), tmp_path / "model.iso", notes=notes)
    assert load_with_notes(tmp_path / "model.iso")[1] == notes


def test_arrays_can_be_read_with_numpy(tmp_path):
    save(fitted("mvu"), tmp_path / "model.iso")
    with np.load(tmp_path / "model.iso", allow_pickle=False) as content:
        arrays = [content[name] for name in content.files if name.startswith("arrays/")]
    embedding = fitted("mvu").embedding_
    assert any(np.array_equal(array, embedding) for array in arrays)


def test_the_same_model_makes_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        save(fitted("unfold cloud"), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_full_disk_is_said(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("isofold.storage.archive._write_zip", full)
    with pytest.raises(InvalidInputError, match=r"model.iso: the file cannot be written: No space"):
        save(embedded(), tmp_path / "model.iso")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "words"),
    [("header.MOST_MEMBERS", "3 arrays or more"), ("encode.MOST_OBJECTS", "more than 3 parts")],
)
def test_more_than_load_takes_is_refused(limit, words, tmp_path, monkeypatch):
    monkeypatch.setattr(f"isofold.storage.{limit}", 3)
    with pytest.raises(InvalidInputError, match=words):
        save(embedded(), tmp_path / "model.iso")
    assert list(tmp_path.iterdir()) == []
