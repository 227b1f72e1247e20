"""Images: Frey's face (Figure 3.5) and the digits 3, 6 and 9 (Figures 3.7 and 3.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from experiments import peers
from experiments.harness import FULL, Size, write_table
from experiments.pictures import save, show_map, thumbnails
from experiments.unfolding.paper_tessera import TABLE_3_1, printed_time
from experiments.unfolding.tessera_cases import Case, Placed, describe_sdp, place, split
from isofold import FastMVU, TesseraMap
from isofold._typing import FloatArray, IntArray
from isofold.datasets import Dataset, load_frey_faces, load_mnist
from isofold.quality import neighbor_error, trustworthiness
from isofold.sdp import Soft

__all__ = ["accuracies", "digits", "faces", "three_six_nine"]

FREY, MNIST = "Frey faces", "digits"
DIGITS = (3, 6, 9)
N_EACH = 1000
COLORS = {3: "C0", 6: "C1", 9: "C2"}
N_VOTERS = 5
"""Training points on the map whose majority tells the digit of another."""
DIMENSIONS = (2, 3)
N_OF_FACES, N_OF_DIGITS = 36, 19
"""Tesserae, as many as in the thesis."""


def faces(folder: Path, size: Size = FULL) -> None:
    """Map half of the faces and place the others, by a linear map of the pixels."""
    printed = TABLE_3_1[FREY]
    case = split(load_frey_faces(), size.points(printed.n_train), size.points(printed.n_test))
    methods = _face_methods(size.groups(N_OF_FACES))
    placed = [place(name, make, case) for name, make in methods.items()]
    write_table([_face_row(one, case) for one in placed], folder / "tessera_frey")
    _draw_faces(case, placed[:2], folder / "tessera_frey.png")


def digits(folder: Path, size: Size = FULL) -> None:
    """Map 3,000 digits and place all 20,975, the training images among them."""
    case = three_six_nine(size.points(N_EACH))
    case = replace(case, test=case.test[size.rows(len(case.test))])
    rows, flat = [], []
    for r in DIMENSIONS:
        for name, make in _digit_methods(r, size.groups(N_OF_DIGITS)).items():
            one = place(name, make, case)
            rows.append(_digit_row(one, case, r))
            if r == min(DIMENSIONS):
                flat.append(one)
    write_table(rows, folder / "tessera_mnist")
    _draw_digits(case, flat, folder / "tessera_mnist.png")


def three_six_nine(n_each: int = N_EACH, seed: int = 0) -> Case:
    """Return random training images of each digit; all images of the three are to be placed."""
    mnist = load_mnist()
    rng = np.random.RandomState(seed)
    chosen = np.flatnonzero(np.isin(mnist.labels, DIGITS))
    labels = mnist.labels[chosen]
    data = Dataset(
        "three_six_nine", mnist.X[chosen] / 255, labels=labels, image_shape=mnist.image_shape
    )
    train = [rng.choice(np.flatnonzero(labels == digit), n_each, replace=False) for digit in DIGITS]
    return Case(data, np.concatenate(train), np.arange(len(chosen)))


def accuracies(Y: FloatArray, new: FloatArray, case: Case) -> Iterator[tuple[str, float]]:
    """Yield how many digits their neighbors on the map tell: training, all, and held-out images.

    A training image does not vote for itself.
    """
    labels = case.data.labels
    vote = KNeighborsClassifier(N_VOTERS + 1).fit(Y, labels[case.train])
    yield "training", float(np.mean(_others(vote, labels[case.train]) == labels[case.train]))
    right = vote.set_params(n_neighbors=N_VOTERS).predict(new) == labels[case.test]
    yield "test", float(right.mean())
    yield "held out", float(right[~np.isin(case.test, case.train)].mean())


def _others(vote: KNeighborsClassifier, labels: IntArray) -> IntArray:
    near = vote.kneighbors(return_distance=False, n_neighbors=N_VOTERS)
    counts = np.stack([(labels[near] == digit).sum(axis=1) for digit in DIGITS], axis=1)
    return np.array(DIGITS)[counts.argmax(axis=1)]


def _face_methods(c: int) -> Mapping[str, Callable[[], Any]]:
    return {
        f"TesseraMap, linear, {c} of LDLC": lambda: TesseraMap(
            kernel="linear", cover=("ldlc", c), random_state=0
        ),
        f"TesseraMap, {c} of LDLC": lambda: TesseraMap(cover=("ldlc", c), random_state=0),
        "TesseraMap": lambda: TesseraMap(random_state=0),
        "Fast MVU, not refined": lambda: FastMVU(lengths=Soft(4.0), random_state=0),
        "Isomap": lambda: peers.isomap(12),
        "PCA": lambda: PCA(2),
    }


def _digit_methods(r: int, c: int) -> Mapping[str, Callable[[], Any]]:
    return {
        "TesseraMap": lambda: TesseraMap(n_components=r, random_state=0),
        f"TesseraMap, {c} of k-means": lambda: TesseraMap(
            n_components=r, cover=("kmeans", c), random_state=0
        ),
        f"TesseraMap, {c} of LDLC": lambda: TesseraMap(
            n_components=r, cover=("ldlc", c), random_state=0
        ),
        "Isomap": lambda: peers.isomap(12, r),
        "PCA": lambda: PCA(r),
    }


def _shared(placed: Placed, name: str) -> dict[str, Any]:
    labels = getattr(placed.model, "labels_", None)
    return {
        "tesserae": "-" if labels is None else int(labels.max()) + 1,
        "cut off": getattr(placed.model, "discarded_variance_ratio_", "-"),
        "processor seconds": placed.outcome.seconds,
        "seconds": placed.elapsed,
        "thesis": printed_time(name, placed.name),
        "seconds of test points": placed.elapsed_new,
        "solution": describe_sdp([placed.model]) or "-",
    }


def _face_row(placed: Placed, case: Case) -> dict[str, Any]:
    row: dict[str, Any] = {"method": placed.name}
    for side, X, Y in (
        ("training", case.points, placed.places),
        ("test", case.new_points, placed.new_places),
    ):
        row[f"neighbors kept, {side}"] = 1 - float(neighbor_error(X, Y))
        row[f"trustworthiness, {side}"] = float(trustworthiness(X, Y))
    return row | _shared(placed, FREY)


def _digit_row(placed: Placed, case: Case, r: int) -> dict[str, Any]:
    found = dict(accuracies(placed.places, placed.new_places, case))
    row = {"r": r, "method": placed.name}
    return row | {f"told, {side}": value for side, value in found.items()} | _shared(placed, MNIST)


def _draw_faces(case: Case, placed: list[Placed], path: Path) -> None:
    figure, panels = plt.subplots(2, len(placed), figsize=(17, 19), layout="constrained")
    for column, one in zip(panels.T, placed, strict=True):
        for axes, kind, rows, Y in (
            (column[0], "training", case.train, one.places),
            (column[1], "test", case.test, one.new_places),
        ):
            show_map(axes, Y, rows, f"{one.name}: {len(Y)} {kind} images, colors by time", s=6)
            images = case.data.X[rows].reshape(-1, *(case.data.image_shape or ()))
            thumbnails(axes, Y, images, n_across=13)
    save(figure, path)


def _draw_digits(case: Case, placed: list[Placed], path: Path) -> None:
    figure, panels = plt.subplots(
        2, len(placed), figsize=(6 * len(placed), 12), layout="constrained"
    )
    color = np.array([COLORS[int(digit)] for digit in case.data.labels])
    for column, one in zip(panels.T, placed, strict=True):
        show_map(column[0], one.places, color[case.train], f"{one.name}: training images", s=5)
        images = case.points.reshape(-1, *(case.data.image_shape or ()))
        thumbnails(column[0], one.places, images, n_across=8, color=color[case.train])
        held_out = ~np.isin(case.test, case.train)
        points = one.new_places[held_out]
        show_map(column[1], points, color[case.test][held_out], "held-out images", s=1.5)
    save(figure, path)
