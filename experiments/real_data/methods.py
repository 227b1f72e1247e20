"""The methods by name, and their maps; those of peers are kept, since they do not change."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import MDS, LocallyLinearEmbedding

import isofold
from experiments import peers
from experiments.harness import fit, say
from isofold._typing import FloatArray

__all__ = ["METHODS", "OURS", "Map", "available", "embed"]

N_NEIGHBORS = 10
"""Neighbors of Isomap, LLE and LTSA; other methods take their own defaults."""
OURS = ("IPA", "LocalMDS", "NeighborMap", "Unfold")
COMPILED = ("UMAP", "densMAP", "PaCMAP", "TriMap", "PHATE", "openTSNE")
"""Methods that compile or import more when they first run, which is not counted."""
EXACT_UP_TO = 4_096
"""Points up to which UMAP compares all pairs; beyond, other parts of it are compiled."""


@dataclass(frozen=True, eq=False)
class Map:
    """What a method made of a data set.

    Attributes
    ----------
    Y : ndarray of shape (n_samples, n_components)
        The points of the map.
    seconds : float
        Processor time of the fit.
    words : str
        What the method said about it: warnings, and the decision of `Unfold`.
    is_kept : bool
        Whether it comes from a file.
    """

    Y: FloatArray
    seconds: float
    words: str
    is_kept: bool = False


def _locally_linear(r: int, method: str) -> LocallyLinearEmbedding:
    return LocallyLinearEmbedding(
        n_neighbors=N_NEIGHBORS, n_components=r, eigen_solver="dense", method=method
    )


def _ours(name: str) -> Callable[[int], Any]:
    return lambda r: getattr(isofold, name)(n_components=r, random_state=0, n_jobs=1)


METHODS: dict[str, Callable[[int], Any]] = {
    "PCA": lambda r: PCA(r, svd_solver="full"),
    "Isomap": lambda r: peers.isomap(N_NEIGHBORS, r),
    "LLE": lambda r: _locally_linear(r, "standard"),
    "LTSA": lambda r: _locally_linear(r, "ltsa"),
    "MDS": lambda r: MDS(r, n_init=1, init="classical_mds", random_state=0),
    "PaCMAP": peers.pacmap,
    "UMAP": lambda r: peers.umap(n_components=r),
    "densMAP": lambda _: peers.densmap(),
    "TriMap": lambda _: peers.trimap(),
    "PHATE": lambda _: peers.phate(),
    "t-SNE": lambda _: peers.tsne(),
    "openTSNE": lambda _: peers.opentsne(),
    **{name: _ours(name) for name in OURS},
}


def available(names: Iterable[str]) -> Iterator[str]:
    """Yield the methods that are installed, and say which are not."""
    for name in names:
        try:
            METHODS[name](2)
        except (ImportError, AttributeError):
            say(f"{name} is left out: it is not installed.")
        else:
            yield name


def embed(name: str, X: FloatArray, r: int, *, label: str, folder: Path, **parameters: Any) -> Map:
    """Return the map of a method; that of a peer from its file if there is one for these data.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    X : ndarray of shape (n_samples, n_features)
        The data.
    r : int
        Number of components.
    label : str
        A name of the data, for the file.
    folder : Path
        Where files are kept, in a folder ``peers``.
    **parameters
        Parameters of the method that are not to be its defaults.

    Returns
    -------
    Map
        The map, what it cost, and what was said.
    """
    model = METHODS[name](r).set_params(**parameters)
    if name in OURS:
        return _fitted(name, model, X)
    path = folder / "peers" / f"{label}-{name}-{r}.npz".replace(" ", "_")
    key = _key(model, X)
    if path.exists():
        with np.load(path) as kept:
            if str(kept["key"]) == key:
                return Map(kept["Y"], float(kept["seconds"]), str(kept["words"]), is_kept=True)
    if name in COMPILED:
        _warm_up(name, r, 300 if len(X) < EXACT_UP_TO else EXACT_UP_TO + 1)
    made = _fitted(name, model, X)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, Y=made.Y, seconds=made.seconds, words=made.words, key=key)
    return made


def _fitted(name: str, model: Any, X: FloatArray) -> Map:
    outcome = fit(name, model, X)
    decision = getattr(model, "decision_", None)
    words = [*outcome.warnings, *([] if decision is None else [str(decision)])]
    return Map(outcome.embedding, outcome.seconds, "\n".join(words))


@cache
def _warm_up(name: str, r: int, n: int) -> None:
    fit(f"{name}, to be compiled", METHODS[name](r), np.random.RandomState(0).rand(n, 20))


def _key(model: Any, X: FloatArray) -> str:
    """Return what a map depends on: the data, the parameters, and the version of the package."""
    package = importlib.import_module(type(model).__module__.partition(".")[0])
    version = getattr(package, "__version__", "")
    digest = hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest()
    parameters = {key: str(value) for key, value in sorted(model.get_params().items())}
    return json.dumps([digest, type(model).__name__, str(version), parameters])
