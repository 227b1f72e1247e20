"""Data that come inside packages, so that they need no download of their own.

None of them was looked at when a constant of isofold was chosen. Where a package is missing, its
loader raises `ImportError`, and `RealSet.package` names what to install. The list was fixed before
any map of `NeighborMap` was scored on it.
"""

from __future__ import annotations

import importlib
import tarfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets

from isofold._typing import FloatArray
from isofold.datasets import Dataset

__all__ = [
    "blood_cells",
    "breast_cancer",
    "counties",
    "cultivars",
    "diabetes",
    "diamonds",
    "faces_or_not",
    "leaves",
    "penguins",
    "personality",
    "power_demand",
    "pressure",
    "standardized",
    "vowels",
]

MOST_ROWS = 2_000
"""Rows drawn from tables that have more."""
FRAMES = 16
"""Frames to which every utterance is stretched."""
WINDOW, STEP = 100, 5
"""Samples of a window of a series, and from one window to the next."""


def standardized(X: FloatArray) -> FloatArray:
    """Return the columns of a table in units of their standard deviation."""
    X = np.asarray(X, dtype=np.float64)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def breast_cancer() -> Dataset:
    """Return 569 tumors in 30 measurements of their cell nuclei; benign or malignant."""
    return _of_sklearn("breast cancer", sklearn_datasets.load_breast_cancer())


def cultivars() -> Dataset:
    """Return 178 wines in 13 chemical measurements; three cultivars."""
    return _of_sklearn("cultivars", sklearn_datasets.load_wine())


def diabetes() -> Dataset:
    """Return 442 patients in 10 measurements."""
    bunch = sklearn_datasets.load_diabetes(scaled=False)
    return Dataset("diabetes", standardized(bunch.data), targets={"progression": bunch.target})


def blood_cells() -> Dataset:
    """Return 700 blood cells in the 50 components that scanpy's file carries; ten kinds."""
    path = _folder("scanpy") / "datasets" / "10x_pbmc68k_reduced.h5ad"
    cells = importlib.import_module("anndata").read_h5ad(path)
    X = np.asarray(cells.obsm["X_pca"], dtype=np.float64)
    return _labeled("blood cells", X, cells.obs["bulk_labels"])


def power_demand() -> Dataset:
    """Return 1,096 days of Italy's demand for electricity, an hour a column; summer or winter."""
    X, season = _of_aeon("load_italy_power_demand")
    return _labeled("power demand", X[:, 0], season)


def leaves() -> Dataset:
    """Return the outlines of 442 leaves, the curve at 427 points each; six kinds of maple."""
    X, kind = _of_aeon("load_osuleaf")
    return _labeled("leaves", X[:, 0], kind)


def vowels() -> Dataset:
    """Return 640 utterances of a vowel pair, 12 coefficients in 16 frames; nine speakers."""
    utterances, speaker = _of_aeon("load_japanese_vowels")
    X = np.stack([_stretched(utterance).ravel() for utterance in utterances])
    return _labeled("vowels", X, speaker)


def pressure() -> Dataset:
    """Return 1,481 windows of 100 samples of an arterial blood pressure."""
    series, _ = _of_aeon("load_kdd_tsad_135", split="test")
    windows = np.lib.stride_tricks.sliding_window_view(np.ravel(series), WINDOW)
    return Dataset("pressure", np.array(windows[::STEP], dtype=np.float64))


def diamonds() -> Dataset:
    """Return 2,000 of 53,940 diamonds: weight, price and five measures; five grades of cut."""
    table = _table("ggplot2/diamonds")
    rows = np.sort(np.random.RandomState(0).permutation(len(table))[:MOST_ROWS])
    columns = ["carat", "depth", "table", "price", "x", "y", "z"]
    return _labeled("diamonds", standardized(table[columns].to_numpy())[rows], table["cut"][rows])


def personality() -> Dataset:
    """Return the 2,436 people who gave all 25 answers, from 1 to 6, about their personality."""
    table = _table("psych/bfi")
    answers = [f"{trait}{item}" for trait in "ACENO" for item in range(1, 6)]
    table = table.dropna(subset=answers)
    return _labeled("personality", standardized(table[answers].to_numpy()), table["gender"])


def counties() -> Dataset:
    """Return 437 counties in 23 numbers of a census; five states of the Midwest."""
    table = _table("ggplot2/midwest")
    numbers = table.select_dtypes("number").drop(columns=["Unnamed: 0", "PID", "inmetro"])
    return _labeled("counties", standardized(numbers.to_numpy()), table["state"])


def penguins() -> Dataset:
    """Return 342 penguins in four measures; three species."""
    table = importlib.import_module("palmerpenguins").load_penguins()
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    table = table.dropna(subset=columns)
    return _labeled("penguins", standardized(table[columns].to_numpy()), table["species"])


def faces_or_not() -> Dataset:
    """Return 200 images of 25 by 25 pixels; a half are faces."""
    images = importlib.import_module("skimage.data").lfw_subset()
    X = images.reshape(len(images), -1).astype(np.float64)
    is_face = np.arange(len(X)) < len(X) // 2
    return _labeled("faces or not", X, is_face)


def _of_sklearn(name: str, bunch: Any) -> Dataset:
    return _labeled(name, standardized(bunch.data), bunch.target)


def _of_aeon(loader: str, **options: Any) -> Any:
    return getattr(importlib.import_module("aeon.datasets"), loader)(**options)


def _table(name: str) -> Any:
    """Return a table of pydataset, read from its archive: the package unpacks it at home."""
    pandas = importlib.import_module("pandas")
    with tarfile.open(_folder("pydataset") / "resources.tar.gz") as archive:
        return pandas.read_csv(archive.extractfile(f"resources/rdata/csv/{name}.csv"))


def _folder(package: str) -> Path:
    """Return the folder of a package without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        msg = f"The package {package} is not installed."
        raise ImportError(msg)
    return Path(spec.origin).parent


def _stretched(utterance: FloatArray) -> FloatArray:
    """Return every coefficient of an utterance at equally spaced times, by linear interpolation."""
    length = utterance.shape[1]
    times = np.linspace(0, length - 1, FRAMES)
    return np.stack([np.interp(times, np.arange(length), row) for row in utterance])


def _labeled(name: str, X: FloatArray, classes: Any) -> Dataset:
    names, labels = np.unique(np.asarray(classes), return_inverse=True)
    return Dataset(name, X, labels=labels, target_names=tuple(map(str, names)))
