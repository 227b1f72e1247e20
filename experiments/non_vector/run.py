"""Tables and pictures: every method on every kind of object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import orthogonal_procrustes
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import StratifiedKFold

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.non_vector import cases
from experiments.non_vector.cases import Case, Comparison
from experiments.non_vector.methods import METHODS, Matrices, Method, on_matrices, on_objects
from experiments.pictures import save, show_map
from isofold._typing import FloatArray, IntArray
from isofold.exceptions import InvalidInputError
from isofold.quality import continuity, purity, trustworthiness

__all__ = ["digits", "doors", "molecules", "proteins", "texts", "zeros_and_ones"]

N_FOLDS = 5
N_NEIGHBORS = 10
"""Size of a neighborhood for trustworthiness and continuity."""
ALONE = "the comparison alone"
NOTHING = "-"
N_AT_THE_DOOR = 40
"""Objects that every method gets as they are, and as a matrix."""
N_OUTSIDE = 10

Maps = dict[tuple[str, str], FloatArray]


def _case(make: Any, folder: Path, size: Size = FULL) -> None:
    """Write the table and the pictures of a case."""
    case = make(size)
    rows: list[Row] = []
    maps: Maps = {}
    for comparison in case.comparisons:
        matrices = Matrices.of(comparison)
        say(f"{case.name}, {comparison.name}: compared in {matrices.seconds:.1f} s")
        rows.append(_row(case, comparison, ALONE, _of_distances(matrices, case.labels)))
        for name, method in METHODS.items():
            found, embedding = _scores(method, matrices, case.labels, size)
            rows.append(_row(case, comparison, name, found))
            say(f"{name}: {found}")
            if embedding is not None:
                maps[comparison.name, name] = embedding
    write_table(rows, folder / f"non_vector_{case.name}")
    for comparison in case.comparisons:
        own = {name: Y for (which, name), Y in maps.items() if which == comparison.name}
        _draw(case, comparison.name, own, folder)


proteins = partial(_case, cases.proteins)
molecules = partial(_case, cases.molecules)
digits = partial(_case, cases.digits)
zeros_and_ones = partial(_case, cases.zeros_and_ones)
texts = partial(_case, cases.texts)


def doors(folder: Path, size: Size = FULL) -> None:
    """Write how far maps of objects as they are differ from maps of their matrices."""
    rows: list[Row] = []
    for make in (cases.proteins, cases.molecules, cases.digits, cases.texts):
        case = make(Size(size.points(N_AT_THE_DOOR)))
        for comparison in case.comparisons:
            matrices = Matrices.of(comparison)
            order = np.random.RandomState(0).permutation(len(case.labels))
            others, inside = order[:N_OUTSIDE], order[N_OUTSIDE:]
            for name, method in METHODS.items():
                if method.takes_objects and (matrices.is_kernel or method.only != "kernel"):
                    found = _differences(method, comparison, matrices, inside, others)
                    named = {"objects": case.name, "similarity": comparison.name, "method": name}
                    rows.append({**named, "n": len(inside), **found})
    write_table(rows, folder / "non_vector_doors")


def _differences(
    method: Method,
    comparison: Comparison,
    matrices: Matrices,
    inside: IntArray,
    others: IntArray,
) -> dict[str, Any]:
    """Return how far apart both maps and the new objects on them are, relative to their size."""
    try:
        by_matrix = on_matrices(method, matrices, inside, others)
        by_objects = on_objects(
            method,
            comparison.similarity,
            [comparison.objects[row] for row in inside],
            [comparison.objects[row] for row in others],
        )
    except InvalidInputError as error:
        return {"map": NOTHING, "new objects": NOTHING, "failure": _words(error)}
    # Up to a rigid motion: rounding may exchange or mirror axes.
    one, other = (placed.embedding for placed in (by_objects, by_matrix))
    motion = orthogonal_procrustes(one - one.mean(axis=0), other - other.mean(axis=0))[0]
    size = float(np.abs(other - other.mean(axis=0)).max())

    def apart(own: Any, wanted: Any) -> float:
        moved = (own - one.mean(axis=0)) @ motion + other.mean(axis=0)
        return float(np.abs(moved - wanted).max() / size)

    return {
        "map": apart(one, other),
        "new objects": apart(by_objects.new, by_matrix.new),
        "failure": NOTHING,
    }


def _row(case: Case, comparison: Comparison, method: str, found: Mapping[str, Any]) -> Row:
    columns = ("1-NN error", "purity", "T", "C", "held-out error", "seconds")
    scores = {column: found.get(column, NOTHING) for column in columns}
    return {
        "similarity": comparison.name,
        "method": method,
        "n": len(case.labels),
        **scores,
        "failure": found.get("failure", NOTHING),
    }


def _of_distances(matrices: Matrices, labels: IntArray) -> dict[str, Any]:
    """Return the scores of the distances themselves, which no map is behind."""
    error = _nearest_error(matrices.distances, labels)
    return {"1-NN error": error, "seconds": matrices.seconds}


def _scores(
    method: Method, matrices: Matrices, labels: IntArray, size: Size
) -> tuple[dict[str, Any], FloatArray | None]:
    """Return the scores of a method, with the reason where it fails, and its map."""
    try:
        placed = on_matrices(method, matrices, np.arange(len(labels)))
    except Exception as error:  # whatever it is, it goes into the table
        return {"failure": _words(error)}, None
    found = {**_map_scores(placed.embedding, matrices, labels), "seconds": placed.seconds}
    try:
        wrong = _held_out_error(method, matrices, labels, size.repeats(N_FOLDS))
    except Exception as error:
        return {**found, "failure": f"held out: {_words(error)}"}, placed.embedding
    return {**found, "held-out error": wrong}, placed.embedding


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}".replace("|", "/")


def _map_scores(Y: FloatArray, matrices: Matrices, labels: IntArray) -> dict[str, float]:
    n_classes = int(labels.max()) + 1
    clusters = KMeans(n_classes, n_init=10, random_state=0).fit_predict(Y)
    of_distances = {"metric": "precomputed", "n_neighbors": N_NEIGHBORS}
    return {
        "1-NN error": _nearest_error(pairwise_distances(Y), labels),
        "purity": purity(clusters, labels),
        "T": float(trustworthiness(matrices.distances, Y, **of_distances)),
        "C": float(continuity(matrices.distances, Y, **of_distances)),
    }


def _nearest_error(D: FloatArray, labels: IntArray) -> float:
    """Return how often the nearest other object is of another class."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    return float(np.mean(labels[D.argmin(axis=1)] != labels))


def _held_out_error(
    method: Method, matrices: Matrices, labels: IntArray, n_folds: int
) -> float | str:
    """Return how often the nearest to a held-out object on the map is of another class.

    Every object is held out once, and placed by `transform`.
    """
    wrong = np.zeros(len(labels), dtype=bool)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    for inside, outside in folds.split(labels, labels):
        placed = on_matrices(method, matrices, inside, outside)
        if placed.new is None:
            return NOTHING
        nearest = pairwise_distances(placed.new, placed.embedding).argmin(axis=1)
        wrong[outside] = labels[inside[nearest]] != labels[outside]
    return float(wrong.mean())


def _draw(case: Case, similarity: str, maps: Mapping[str, FloatArray], folder: Path) -> None:
    """Draw the maps of one similarity beside each other."""
    n_columns = 6
    n_rows = -(-len(maps) // n_columns)
    figure, grid = plt.subplots(
        n_rows, n_columns, figsize=(1.8 * n_columns, 1.95 * n_rows + 0.5), layout="constrained"
    )
    cells: Sequence[Any] = np.ravel(grid)
    for axes in cells[len(maps) :]:
        axes.set_axis_off()
    for axes, (name, Y) in zip(cells, maps.items(), strict=False):
        show_map(axes, Y, case.labels, name, s=9, cmap="tab10", vmin=0, vmax=9)
    handles = [
        plt.Line2D([], [], marker="o", linestyle="", color=plt.get_cmap("tab10")(i / 9), label=one)
        for i, one in enumerate(case.classes)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    figure.suptitle(f"{case.name.replace('_', ' ')}: {similarity}", fontsize=10)
    words = similarity.lower().replace(" ", "_").replace("-", "_")
    save(figure, folder / f"non_vector_{case.name}_{words}.png")
