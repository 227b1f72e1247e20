"""Semi-supervised maps: a few labels say which pairs are alike and which are not (section 2.3).

The thesis suggests this use and shows none. From the labels of a few training points follow pairs
that are alike and pairs that are not. Alike pairs are kept as if they were neighbors, at the mean
distance of neighbors. Unlike pairs are taken out of the neighbors and stretched. Either all other
pairs are stretched as well, or they are left free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save, show_map
from experiments.unfolding.eat_methods import Placed, place
from isofold import EAT
from isofold._typing import FloatArray, IntArray
from isofold.datasets import Dataset
from isofold.neighbors import build_graph

__all__ = ["Lesson", "draw_lesson", "first_error", "label_pairs", "semi_supervised"]

N_SPLITS = 20
N_TRAIN = 100
N_NEIGHBORS = 6
LABELS = (3, 6)
"""Labelled training points of every class."""
VARIANTS = ("without pairs", "with pairs", "with pairs, others free")


@dataclass(frozen=True, eq=False)
class Lesson:
    """Training points of which some have labels, and points that are held out.

    Attributes
    ----------
    X, new : ndarray of shape (n, n_features)
        Training points and points to place.
    labels, new_labels : ndarray of int
        Their classes; of the training points only those in `labeled` may be used.
    labeled : ndarray of int
        Training points whose class is known to the method.
    """

    X: FloatArray
    new: FloatArray
    labels: IntArray
    new_labels: IntArray
    labeled: IntArray


def semi_supervised(folder: Path, size: Size = FULL) -> None:
    """Compare errors of one nearest neighbor on maps with and without pairs."""
    rows: list[Row] = []
    for data in map(size.part, (_wine(), _digits())):
        n_train = min(N_TRAIN, len(data.X) // 2)
        for n_labeled in LABELS:
            errors: dict[str, list[float]] = {name: [] for name in ("all features", *VARIANTS)}
            for seed in range(size.repeats(N_SPLITS)):
                lesson = draw_lesson(data, n_train=n_train, n_labeled=n_labeled, seed=seed)
                errors["all features"].append(first_error(lesson, lesson.X, lesson.new))
                maps = _learn(lesson)
                for each in maps:
                    errors[each.name].append(first_error(lesson, each.train, each.test))
                if seed == 0 and n_labeled == LABELS[-1]:
                    _draw(lesson, maps, folder / f"eat_labels_{data.name}.png")
            for name in errors:
                rows.append({"data": data.name, "labels": n_labeled, **_row(name, errors)})
                say(str(rows[-1]))
    write_table(rows, folder / "eat_semi_supervised")


def draw_lesson(data: Dataset, *, n_train: int, n_labeled: int, seed: int) -> Lesson:
    """Draw training points, `n_labeled` of every class with labels; all others are held out."""
    order = np.random.RandomState(seed).permutation(len(data.X))
    train, test = order[:n_train], order[n_train:]
    labels = data.labels[train]
    labeled = [np.flatnonzero(labels == kind)[:n_labeled] for kind in np.unique(data.labels)]
    return Lesson(data.X[train], data.X[test], labels, data.labels[test], np.concatenate(labeled))


def label_pairs(lesson: Lesson) -> tuple[sp.csr_array, IntArray]:
    """Return the distances to keep, and the pairs that are known to be unlike."""
    graph = build_graph(lesson.X, n_neighbors=N_NEIGHBORS)
    near = graph.sample_of_node[graph.edges]
    n = len(lesson.X)
    lengths = np.zeros((n, n))
    lengths[near[:, 0], near[:, 1]] = lengths[near[:, 1], near[:, 0]] = graph.lengths
    labeled = lesson.labeled
    alike = lesson.labels[labeled][:, None] == lesson.labels[labeled]
    np.fill_diagonal(alike, val=False)
    block = lengths[np.ix_(labeled, labeled)]
    # Neighbors that are alike keep their own distance.
    lengths[np.ix_(labeled, labeled)] = np.where(
        alike & (block == 0), graph.lengths.mean(), block * alike
    )
    unlike = np.argwhere(np.triu(lesson.labels[labeled][:, None] != lesson.labels[labeled]))
    return sp.csr_array(lengths), labeled[unlike]


def first_error(lesson: Lesson, Y: FloatArray, new: FloatArray) -> float:
    """Return how many held-out points have another class than the next labelled point."""
    nearest = KNeighborsClassifier(1).fit(Y[lesson.labeled], lesson.labels[lesson.labeled])
    return float(1 - nearest.score(new, lesson.new_labels))


def _learn(lesson: Lesson) -> list[Placed]:
    keep, unlike = label_pairs(lesson)
    options: Mapping[str, dict[str, Any]] = {
        "without pairs": {},
        "with pairs": {"keep": keep},
        "with pairs, others free": {"keep": keep, "stretch": unlike},
    }
    return [
        place(
            name,
            EAT(n_neighbors=N_NEIGHBORS, random_state=0),
            lesson.X,
            lesson.new,
            **options[name],
        )
        for name in VARIANTS
    ]


def _row(name: str, errors: Mapping[str, list[float]]) -> Row:
    own, plain = np.array(errors[name]), np.array(errors["without pairs"])
    gain = plain - own
    return {
        "map": name,
        "error": float(own.mean()),
        "lower by": float(gain.mean()),
        "standard error": float(gain.std(ddof=1) / np.sqrt(len(gain))),
        "better": f"{int((gain > 0).sum())} of {len(gain)}",
        "p": float(ttest_rel(plain, own).pvalue) if np.any(gain) else 1.0,
    }


def _wine() -> Dataset:
    wine = load_wine()
    return Dataset("wine", StandardScaler().fit_transform(wine.data), labels=wine.target)


def _digits() -> Dataset:
    """Return the digits 3, 5 and 8, which look alike."""
    digits = load_digits()
    rows = np.flatnonzero(np.isin(digits.target, (3, 5, 8)))
    return Dataset("digits", digits.data[rows] / 16, labels=digits.target[rows])


def _draw(lesson: Lesson, maps: list[Placed], path: Path) -> None:
    figure, panels = plt.subplots(1, len(maps), figsize=(5 * len(maps), 5), layout="constrained")
    for axes, each in zip(panels, maps, strict=True):
        show_map(axes, each.test, plt.get_cmap("tab10")(lesson.new_labels), each.name, s=12)
        labelled = each.train[lesson.labeled]
        colors = plt.get_cmap("tab10")(lesson.labels[lesson.labeled])
        axes.scatter(*labelled.T, c=colors, s=60, marker="*", edgecolors="k", linewidths=0.5)
    save(figure, path)
