"""Faces of a sculpture (Figure 2.4) and of persons (Figure 2.5), with the linear kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA, KernelPCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import NearestNeighbors

from experiments import peers
from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save, show_map, thumbnails
from experiments.unfolding import paper
from experiments.unfolding.eat_methods import Placed, WithWeights, place, quartiles
from experiments.unfolding.tessera_cases import Case, split
from isofold import EAT, MVU
from isofold._typing import FloatArray
from isofold.datasets import Dataset, load_isomap_faces, load_olivetti
from isofold.neighbors import build_graph, connected_components

__all__ = [
    "explained",
    "four_persons",
    "isomap_faces",
    "olivetti",
    "person_rows",
    "smallest_connecting",
]

N_DRAWS = 10
N_FACES, N_NEW_FACES = paper.POINTS["isomap_faces"]
PERSONS_AT_ONCE = 4
FULL_NEIGHBORS = 6
"""Neighbors of Isomap on all images, as in its first publication."""

Methods = Mapping[str, Callable[[int, int], Any]]

FACE_METHODS: Methods = {
    "EAT": lambda k, r: EAT(kernel="linear", n_neighbors=k, n_components=r, random_state=0),
    "PCA": lambda _, r: PCA(r),
    "Isomap, barycentric": lambda k, r: WithWeights(peers.isomap(k, r)),
    "MVU, barycentric": lambda k, r: MVU(n_neighbors=k, n_components=r, random_state=0),
}
PERSON_METHODS: Methods = {
    **FACE_METHODS,
    "RBF KPCA": lambda _, r: KernelPCA(r, kernel="rbf"),
    "LLE, barycentric": lambda k, _: WithWeights(peers.lle(k)),
}
FACE_DIMENSIONS = (2, 3)
"""Of maps: as in the thesis, and as many as the images have degrees of freedom."""


def isomap_faces(folder: Path, size: Size = FULL) -> None:
    """Learn from 35 of 698 renderings and compare the map of the others with the pose."""
    say(f"thesis: {paper.CLAIMS['isomap_faces']}")
    faces = load_isomap_faces()
    rows: list[Row] = []
    for r in FACE_DIMENSIONS:
        scores: dict[str, list[dict[str, float]]] = {name: [] for name in FACE_METHODS}
        for seed in range(size.repeats(N_DRAWS)):
            case = split(faces, N_FACES, size.points(N_NEW_FACES), seed=seed)
            k = smallest_connecting(case.points)
            say(f"draw {seed}: {k} neighbors")
            for name, make in FACE_METHODS.items():
                placed = place(name, make(k, r), case.points, case.new_points)
                scores[name].append(explained(placed.test, case))
                if seed == 0 and name == "EAT" and r == FACE_DIMENSIONS[0]:
                    _draw_faces(case, placed, folder / "eat_isomap_faces.png")
        rows += _summary(scores, dimensions=r)
        everything = Case(faces, np.arange(len(faces.X)), np.arange(len(faces.X)))
        all_faces = peers.isomap(FULL_NEIGHBORS, r).fit_transform(faces.X)
        rows += _summary({"Isomap of all": [explained(all_faces, everything)]}, dimensions=r)
    write_table(rows, folder / "eat_isomap_faces")


def olivetti(folder: Path, size: Size = FULL) -> None:
    """Learn from three persons and place a fourth, for all forty persons in fours."""
    say(f"thesis: {paper.CLAIMS['olivetti']}")
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in PERSON_METHODS}
    cases = list(four_persons(load_olivetti()))
    for number, case in enumerate(cases[: size.repeats(len(cases))]):
        k = smallest_connecting(case.points)
        say(f"persons {np.unique(case.data.labels)}: {k} neighbors")
        maps = [
            place(name, make(k, 2), case.points, case.new_points)
            for name, make in PERSON_METHODS.items()
        ]
        for each in maps:
            rows[each.name].append(person_rows(each, case))
        if number == 0:
            _draw_persons(case, maps, folder / "eat_olivetti.png")
    write_table(_summary(rows, dimensions=2), folder / "eat_olivetti")


def smallest_connecting(X: FloatArray, least: int = 4) -> int:
    """Return the least number of neighbors whose graph holds all points together."""
    for k in range(least, len(X)):
        if connected_components(build_graph(X, n_neighbors=k)).n_components == 1:
            return k
    return len(X) - 1


def explained(Y: FloatArray, case: Case) -> dict[str, float]:
    """Return how much of pan, tilt, light and brightness of test images the map explains."""
    targets = case.data.targets
    wanted = {
        "pan": targets["pose"][case.test, 0],
        "tilt": targets["pose"][case.test, 1],
        "light": targets["light"][case.test],
        "brightness": case.new_points.mean(axis=1),
    }
    return {key: LinearRegression().fit(Y, goal).score(Y, goal) for key, goal in wanted.items()}


def four_persons(data: Dataset) -> Iterator[Case]:
    """Yield the persons in fours, the last of each to be placed."""
    for first in range(0, len(np.unique(data.labels)), PERSONS_AT_ONCE):
        rows = np.flatnonzero((data.labels >= first) & (data.labels < first + PERSONS_AT_ONCE))
        four = Dataset(
            data.name,
            data.X[rows] / data.X.max(),
            labels=data.labels[rows] - first,
            image_shape=data.image_shape,
        )
        is_new = four.labels == PERSONS_AT_ONCE - 1
        yield Case(four, np.flatnonzero(~is_new), np.flatnonzero(is_new))


def person_rows(placed: Placed, case: Case) -> dict[str, float]:
    """Return whether persons are apart from each other, and the new one from the others."""
    Y = np.concatenate((placed.train, placed.test))
    labels = case.data.labels[np.concatenate((case.train, case.test))]
    nearest = NearestNeighbors(n_neighbors=1).fit(Y).kneighbors(return_distance=False)[:, 0]
    same = labels[nearest] == labels
    known = labels < PERSONS_AT_ONCE - 1
    return {
        "next to own, three": float(same[known].mean()),
        "next to own, new": float(same[~known].mean()),
        "silhouette, three": float(silhouette_samples(Y[known], labels[known]).mean()),
        "silhouette, new": float(silhouette_samples(Y, labels)[~known].mean()),
    }


def _summary(
    found: Mapping[str, list[dict[str, float]]], *, dimensions: int
) -> list[dict[str, Any]]:
    """Return a row for every method, with medians over the draws."""
    return [
        {
            "dimensions": dimensions,
            "method": name,
            **{key: quartiles(one[key] for one in same) for key in same[0]},
        }
        for name, same in found.items()
    ]


def _draw_faces(case: Case, placed: Placed, path: Path) -> None:
    Y = np.concatenate((placed.train, placed.test))
    rows = np.concatenate((case.train, case.test))
    images = case.data.X[rows].reshape(-1, *case.data.image_shape)
    pose = case.data.targets["pose"]
    figure, panels = plt.subplots(1, 3, figsize=(18, 6), layout="constrained")
    frame = ["tab:blue"] * len(case.train) + ["0.7"] * len(case.test)
    show_map(panels[0], Y, "0.85", "EAT; training images framed in blue")
    thumbnails(panels[0], Y, images, n_across=14, color=frame)
    for axes, column, name in zip(panels[1:], pose.T, ("pan", "tilt"), strict=True):
        show_map(axes, placed.test, column[case.test], f"test images, {name}", s=14)
        axes.scatter(*placed.train.T, facecolors="none", edgecolors="k", s=20, linewidths=0.6)
    save(figure, path)


def _draw_persons(case: Case, maps: list[Placed], path: Path) -> None:
    figure, panels = plt.subplots(2, 3, figsize=(15, 9), layout="constrained")
    colors = ("tab:red", "tab:green", "tab:purple", "tab:blue")
    rows = np.concatenate((case.train, case.test))
    frames = [colors[person] for person in case.data.labels[rows]]
    images = case.data.X[rows].reshape(-1, *case.data.image_shape)
    for axes, each in zip(panels.ravel(), maps, strict=True):
        Y = np.concatenate((each.train, each.test))
        show_map(axes, Y, frames, f"{each.name} (new person: blue)", s=30)
        thumbnails(axes, Y, images, n_across=12, color=frames)
    save(figure, path)
