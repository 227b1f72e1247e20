"""Half a globe laid flat with distances of longitude and latitude (Figure 2.6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.spatial.distance import cdist

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save, show_map
from experiments.unfolding import paper
from experiments.unfolding.eat_methods import Placed, place
from isofold import EAT
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.datasets import Dataset, load_world_cities
from isofold.datasets import half_globe as draw_half_globe
from isofold.datasets._sphere import sphere_points
from isofold.linalg import SimilarityTransform, procrustes

__all__ = ["front_cities", "globe_errors", "half_globe", "mesh_pairs", "zones"]

N_MESH, N_TEST = paper.POINTS["half_globe"]
THESIS_SIGMA = 0.3
MESH_STEP = np.radians(20.0)
"""Distance of two meridians of the mesh. Pairs up to this distance are kept: neighbors on meridians
(18 degrees) and parallels, and the centers of cells with the corners and with each other."""

MIDDLE_LONGITUDE = np.radians(20.0)
"""Middle of the half globe that is drawn: Africa and Europe."""


def half_globe(folder: Path, size: Size = FULL) -> None:
    """Lay 181 points of a mesh flat and place 30,000 others."""
    say(f"thesis: {paper.CLAIMS['half_globe']}")
    mesh = draw_half_globe(N_MESH, sampling="grid")
    new = draw_half_globe(size.points(N_TEST), random_state=0)
    targets, keep = cdist(mesh.truth, mesh.truth), mesh_pairs(mesh.truth)
    rows: list[Row] = []
    maps: list[Placed] = []
    for name, gamma in {
        f"sigma = {THESIS_SIGMA}": THESIS_SIGMA**-2,
        "default": "auto",
    }.items():
        model = EAT(gamma=gamma, random_state=0)
        maps.append(place(name, model, mesh.X, new.X, keep=keep, targets=targets))
        rows.append(globe_errors(maps[-1], mesh, new))
    write_table(rows, folder / "eat_half_globe")
    _draw(maps, mesh, size.part(front_cities()), folder / "eat_half_globe.png")


def mesh_pairs(truth: FloatArray) -> IntArray:
    """Return the pairs of the mesh whose distances are kept."""
    near = np.triu(cdist(truth, truth) < MESH_STEP * (1 + 1e-9), 1)
    return np.argwhere(near)


def zones(truth: FloatArray) -> dict[str, BoolArray]:
    """Return which points lie deep in the mesh, in its outermost cells and near the poles."""
    longitude, latitude = np.degrees(np.abs(truth)).T
    polar = latitude > 81
    rim = ~polar & ((longitude > 70) | (latitude > 63))
    return {"middle": ~polar & ~rim, "outermost cells": rim, "polar caps": polar}


def globe_errors(placed: Placed, mesh: Dataset, new: Dataset) -> Row:
    """Return distances from true longitude and latitude in degrees, and what the method says."""
    motion = procrustes(placed.train, mesh.truth).transform
    off = np.degrees(np.linalg.norm(motion.apply(placed.test) - new.truth, axis=1))
    on_mesh = np.degrees(np.linalg.norm(motion.apply(placed.train) - mesh.truth, axis=1))
    row: dict[str, Any] = {"kernel": placed.name, "mesh": _rms(on_mesh), "all": _rms(off)}
    row |= {name: _rms(off[inside]) for name, inside in zones(new.truth).items()}
    return row | {
        "largest": float(off.max()),
        "kernel rank": placed.model.kernel_rank_ratio_,
        "preservation error": placed.model.preservation_error_,
        "beyond 2-D": placed.model.discarded_variance_ratio_,
        "seconds": placed.seconds,
        "warnings": "; ".join(words.split(":")[0] for words in placed.warnings),
    }


def front_cities(min_population: int = 15_000) -> Dataset:
    """Return the cities of the half globe around Africa, with longitudes from its middle."""
    cities = load_world_cities(min_population=min_population)
    turned = (cities.truth[:, 0] - MIDDLE_LONGITUDE + np.pi) % (2 * np.pi) - np.pi
    front = np.abs(turned) <= np.pi / 2
    truth = np.column_stack((turned, cities.truth[:, 1]))[front]
    return Dataset(
        "cities",
        sphere_points(*truth.T),
        truth,
        cities.labels[front],
        target_names=cities.target_names,
    )


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _draw(maps: list[Placed], mesh: Dataset, cities: Dataset, path: Path) -> None:
    colors = plt.get_cmap("tab10")(cities.labels)
    figure, panels = plt.subplots(1, 2 + len(maps), figsize=(18, 5), layout="constrained")
    # Seen from the front: the axis of the middle meridian points to the reader.
    show_map(panels[0], cities.X[:, 1:], colors, "the half globe and its mesh", s=2)
    panels[0].scatter(*mesh.X[:, 1:].T, c="k", s=6)
    show_map(panels[1], cities.truth, colors, "longitude and latitude", s=2)
    _graticule(panels[1], None, SimilarityTransform(np.eye(2), np.zeros(2)))
    for axes, each in zip(panels[2:], maps, strict=True):
        motion = procrustes(each.train, mesh.truth).transform
        places = motion.apply(each.model.transform(cities.X))
        show_map(axes, places, colors, f"EAT, {each.name}", s=2)
        _graticule(axes, each.model, motion)
    save(figure, path)


def _graticule(axes: Axes, model: Any, motion: SimilarityTransform) -> None:
    """Draw meridians and parallels 15 degrees apart."""
    steps, fine = np.radians(np.arange(-90, 91, 15)), np.radians(np.linspace(-90, 90, 181))
    for step in steps:
        for line in ((np.full_like(fine, step), fine), (fine, np.full_like(fine, step))):
            truth = np.column_stack(line)
            places = (
                truth if model is None else motion.apply(model.transform(sphere_points(*truth.T)))
            )
            axes.plot(*places.T, color="0.5", linewidth=0.4)
