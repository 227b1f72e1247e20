"""What is raised on real data, where nobody knows the truth, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from experiments.harness import Row, say, write_table
from experiments.ipa_real.studies import digits, standardized_oils
from experiments.shapes.run import N_NEIGHBORS
from isofold._typing import FloatArray
from isofold.datasets import (
    load_coil20,
    load_frey_faces,
    load_isomap_faces,
    load_mnist,
    load_olivetti,
    load_wine_quality_red,
)
from isofold.neighbors import build_graph
from isofold.survey import recognize_shapes

__all__ = ["REAL", "real"]


def _wine() -> FloatArray:
    X = load_wine_quality_red().X
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _coil_object(number: int) -> FloatArray:
    coil = load_coil20()
    return coil.X[coil.labels == number]


def _threes_sixes_nines() -> FloatArray:
    mnist = load_mnist()
    chosen = np.flatnonzero(np.isin(mnist.labels, (3, 6, 9)))
    return mnist.X[np.random.RandomState(0).choice(chosen, 1500, replace=False)]


REAL: Mapping[str, Callable[[], FloatArray]] = MappingProxyType(
    {
        "Frey faces": lambda: load_frey_faces().X,
        "ISOMAP faces": lambda: load_isomap_faces().X,
        "digits": lambda: digits().X,
        "MNIST 3, 6, 9": _threes_sixes_nines,
        "olive oil": lambda: standardized_oils().X,
        "red wine": _wine,
        "Olivetti": lambda: load_olivetti().X,
        "COIL-20": lambda: load_coil20().X,
    }
)
"""The data sets, each a function that returns its points."""

N_OBJECTS = 20


def real(folder: Path) -> None:
    """Write what is raised on every data set, and on the 20 objects of COIL by themselves."""
    rows = [_row(name, load()) for name, load in REAL.items()]
    rows += [_row(f"COIL object {o}", _coil_object(o)) for o in range(1, N_OBJECTS + 1)]
    write_table(rows, folder / "shapes_real")


def _row(name: str, points: FloatArray) -> Row:
    graph = build_graph(points, n_neighbors=N_NEIGHBORS, kind="mutual")
    begin = time.process_time()
    flags = recognize_shapes(points[graph.sample_of_node], graph, random_state=0)
    seconds = time.process_time() - begin
    raised = [flag for flag in flags if flag.is_raised]
    for flag in raised:
        say(f"{name}: {flag.message}")
    return {
        "data": name,
        "n": len(points),
        "d": points.shape[1],
        "raised": ", ".join(flag.name for flag in raised) or "-",
        "seconds": seconds,
    }
