"""A wave and a spiral cut into straight pieces (Figures 4.3 and 4.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.ldlc.methods import (
    Clustering,
    Setting,
    cluster,
    kmeans,
    ldlc,
    mppca,
    single_starts,
    spread,
    vqpca,
)
from experiments.pictures import save, show_map
from isofold._typing import FloatArray
from isofold.datasets import Dataset, sinusoid, spiral
from isofold.neighbors import build_graph
from isofold.quality import nonlocal_clusters, reconstruction_error

__all__ = ["METHODS", "TOYS", "Toy", "describe", "toys"]

N_SEEDS = 20
FEW_RESTARTS = 10
"""Restarts of MPPCA and LDLC: 100 of them on all draws of the data take an hour."""


@dataclass(frozen=True)
class Toy:
    """Data and what is asked for.

    Attributes
    ----------
    make : callable
        Draws the data from a seed.
    setting : Setting
        Number of clusters and so on.
    """

    make: Callable[..., Dataset]
    setting: Setting


TOYS = {
    "sinusoid": Toy(partial(sinusoid, 600, amplitude=12.0), Setting(6, 1)),
    "spiral": Toy(spiral, Setting(4, 1)),
}

METHODS: dict[str, Callable[[Setting], Any]] = {
    "k-means": kmeans,
    "MPPCA": lambda setting: mppca(_fewer_restarts(setting)),
    "LDLC, rho = 0.01": lambda setting: ldlc(_fewer_restarts(setting)),
    "LDLC, rho = auto": lambda setting: ldlc(_fewer_restarts(setting), rho="auto"),
}


def toys(folder: Path, size: Size = FULL) -> None:
    """Count clusters in several pieces."""
    rows: list[Row] = []
    for name, toy in TOYS.items():
        seeds = range(size.repeats(N_SEEDS))
        draws = [size.part(toy.make(random_state=seed)) for seed in seeds]
        setting = replace(toy.setting, n_init=size.repeats(toy.setting.n_init))
        found = {key: [] for key in ("VQPCA", "VQPCA, single starts", *METHODS)}
        for draw in draws:
            starts = single_starts(vqpca, setting, draw.X)
            best = min(starts, key=lambda start: start.model.reconstruction_error_)
            found["VQPCA, single starts"].append(starts)
            found["VQPCA"].append([best])
            for key, method in METHODS.items():
                found[key].append([cluster(key, method(setting), draw.X)])
        for key, same in found.items():
            rows.append({"data": name, "method": key, **describe(draws, setting, same)})
            say(str(rows[-1]))
        first = {key: same[0][0] for key, same in found.items() if "single" not in key}
        _draw(draws[0].X, first, folder / f"ldlc_{name}.png")
    write_table(rows, folder / "ldlc_toys")


def _fewer_restarts(setting: Setting) -> Setting:
    return replace(setting, n_init=min(FEW_RESTARTS, setting.n_init))


def describe(draws: list[Dataset], setting: Setting, found: list[list[Clustering]]) -> Row:
    """Return figures of a method from its clusters, some for every draw."""
    split, errors = [], []
    for draw, same in zip(draws, found, strict=True):
        graph = build_graph(draw.X, n_neighbors=setting.n_neighbors)
        for each in same:
            split.append(len(nonlocal_clusters(each.labels, graph)))
            error = reconstruction_error(draw.X, each.labels, n_components=setting.n_components)
            errors.append(float(error))
    return {
        "clusters in pieces": spread(split),
        "without any": f"{split.count(0)} of {len(split)}",
        "error a point": spread(errors),
    }


def _draw(X: FloatArray, found: dict[str, Clustering], path: Path) -> None:
    figure, panels = plt.subplots(1, len(found), figsize=(3 * len(found), 4), layout="constrained")
    for axes, (name, each) in zip(panels, found.items(), strict=True):
        show_map(axes, X, plt.get_cmap("tab10")(each.labels), name, s=8)
    save(figure, path)
