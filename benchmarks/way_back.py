"""The way back from a map: ``inverse_transform(transform(X_new))`` beside UMAP's.

Four fifths of the samples make a map in two dimensions (not timed), the others are placed on it
(not timed) and led back. *Error*: root mean squared distance from what they were, over that from
the mean of the training samples, which a map without any information would give. *First* are the
seconds of the first call, in which isofold builds its index and chooses the number of neighbors,
and *cpu* those of the processor, which other work on the machine hardly changes; *again* those of
the processor in the second call. UMAP's code is compiled before, and each of its calls is like the
first. All run on one core with ``random_state=0``. "On UMAP's map" shows both inverses on one and
the same map.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.harness import Case
from isofold import IPA, NeighborMap, Unfold
from isofold._typing import FloatArray
from isofold.datasets import load_frey_faces, load_isomap_faces, load_mnist, swiss_roll
from isofold.extension import fit_way_back

N_MNIST = 10_000
"""New digits of MNIST; as many make the map."""


@dataclass(frozen=True, eq=False)
class Task:
    """A map, and samples that were placed on it.

    Attributes
    ----------
    inverse : callable
        The way back.
    known, new : ndarray of shape (·, n_features)
        Samples that made the map, and others.
    placed : ndarray of shape (·, 2)
        Where the others lie on the map.
    """

    inverse: Any
    known: FloatArray
    new: FloatArray
    placed: FloatArray


def samples(name: str) -> FloatArray:
    """Return the samples of a data set in random order."""
    if name == "roll":
        return np.asarray(swiss_roll(2000, random_state=0).X)
    if name == "MNIST":
        rows = np.random.RandomState(0).permutation(70_000)[: 2 * N_MNIST]
        return (load_mnist().X[rows] / 255.0).astype(np.float32)
    if name == "digits":
        X = load_digits().data
    else:
        X = (load_frey_faces() if name == "Frey faces" else load_isomap_faces()).X
    return np.asarray(X, dtype=np.float64)[np.random.RandomState(0).permutation(len(X))]


def on_map_of(make: Any, name: str) -> Task:
    """Return the way back of an embedder of isofold, not used yet."""
    known, new = _split(samples(name))
    model = make(random_state=0, n_jobs=1).fit(known)
    return Task(model.inverse_transform, known, new, model.transform(new))


def on_umap(name: str) -> Task:
    """Return the way back of UMAP, compiled."""
    known, new, model = _umap(name)
    placed = np.asarray(model.transform(new))
    model.inverse_transform(placed[:3])
    return Task(model.inverse_transform, known, new, placed)


def ours_on_umap(name: str) -> Task:
    """Return the way back of isofold on the map of UMAP."""
    known, new, model = _umap(name)
    placed = np.asarray(model.transform(new))
    return Task(_Late(known, np.asarray(model.embedding_)), known, new, placed)


def _umap(name: str) -> tuple[FloatArray, FloatArray, Any]:
    from umap import UMAP

    known, new = _split(samples(name))
    return known, new, UMAP(random_state=0, n_jobs=1).fit(known)


class _Late:
    """A way back that is built in its first call, as those of embedders are."""

    def __init__(self, X: FloatArray, Y: FloatArray) -> None:
        self.pair, self.built = (X, Y), None

    def __call__(self, placed: FloatArray) -> FloatArray:
        self.built = self.built or fit_way_back(*self.pair)
        return self.built.transform(placed)


def lead_back_once(task: Task) -> dict[str, Any]:
    """Lead the new samples back."""
    start, start_cpu = time.perf_counter(), time.process_time()
    restored = task.inverse(task.placed)
    first, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    error = _size(restored - task.new) / _size(task.new - task.known.mean(axis=0))
    return {
        "n": len(task.new),
        "error": round(error, 4),
        "first": round(first, 4),
        "cpu": round(cpu, 4),
    }


def lead_back(task: Task) -> dict[str, Any]:
    """Lead the new samples back, twice."""
    figures = lead_back_once(task)
    start = time.process_time()
    task.inverse(task.placed)
    return figures | {"again": round(time.process_time() - start, 4)}


def _split(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    n_known = N_MNIST if len(X) == 2 * N_MNIST else len(X) * 4 // 5
    return X[:n_known], X[n_known:]


def _size(apart: FloatArray) -> float:
    return float(np.sqrt((apart.astype(np.float64) ** 2).sum(axis=1).mean()))


CASES = [
    case
    for name in ("roll", "digits", "Isomap faces", "Frey faces")
    for case in (
        Case(name, "isofold Unfold", partial(on_map_of, Unfold, name), lead_back),
        Case(name, "isofold NeighborMap", partial(on_map_of, NeighborMap, name), lead_back),
        Case(name, "isofold IPA", partial(on_map_of, IPA, name), lead_back),
        Case(name, "isofold on UMAP's map", partial(ours_on_umap, name), lead_back),
        Case(name, "UMAP", partial(on_umap, name), lead_back_once),
    )
] + [
    Case("MNIST", "isofold NeighborMap", partial(on_map_of, NeighborMap, "MNIST"), lead_back),
]
