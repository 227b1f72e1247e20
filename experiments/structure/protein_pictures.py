"""Pictures of the tables of proteins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from experiments.harness import Row
from experiments.pictures import save
from experiments.structure.measures import FAILED, NOTHING
from isofold._typing import FloatArray
from isofold.structure import protein

__all__ = ["draw_harder", "draw_methods", "draw_traces"]


def draw_methods(rows: Sequence[Row], path: Path) -> None:
    """Draw the backbone of the core by protein and method, a point for each run."""
    proteins = list(dict.fromkeys(row["protein"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure, axes = plt.subplots(figsize=(7.0, 3.4), layout="constrained")
    for number, method in enumerate(methods):
        own = [row for row in rows if row["method"] == method]
        places = [proteins.index(row["protein"]) + 0.18 * (number - 1.5) for row in own]
        axes.plot(places, [row["core"] for row in own], "o", markersize=4, label=method)
    axes.set_xticks(range(len(proteins)), proteins, fontsize=8)
    _mark_distances(axes)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.14), frameon=False)
    save(figure, path)


def draw_traces(molecule: protein.Molecule, found: Mapping[str, FloatArray], path: Path) -> None:
    """Draw the backbone of structures on that of the reference, from two sides."""
    backbone = molecule.is_backbone
    reference = molecule.need_coordinates("a picture")[backbone]
    center = reference.mean(axis=0)
    axes_of = np.linalg.svd(reference - center, full_matrices=False)[2]
    figure = plt.figure(figsize=(3.1 * len(found), 2.9), layout="constrained")
    for number, (name, where) in enumerate(found.items(), start=1):
        axes = figure.add_subplot(1, len(found), number, projection="3d")
        off = where[backbone] - reference
        rmsd = np.sqrt((off**2).sum(axis=1).mean())
        for trace, color, width in ((reference, "0.65", 3.5), (where[backbone], "C0", 1.2)):
            axes.plot(*((trace - center) @ axes_of.T).T, color=color, linewidth=width)
        axes.set_box_aspect(np.ptp((reference - center) @ axes_of.T, axis=0), zoom=1.6)
        axes.set_axis_off()
        axes.set_title(f"{name}: {rmsd:.2f} Å", fontsize=9)
    save(figure, path)


def draw_harder(rows: Sequence[Row], path: Path) -> None:
    """Draw the core of runs on harder data beside their violations, flagged or not."""
    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    kinds = {
        "right hand, silent": (True, False, "o", "C0"),
        "right hand, flagged": (True, True, "o", "C1"),
        "wrong hand, flagged": (False, True, "X", "C1"),
        "wrong hand, silent": (False, False, "X", "C3"),
    }
    for name, (hand, flagged, marker, color) in kinds.items():
        own = [
            row
            for row in rows
            if row["right hand"] == hand and (row["findings"] != NOTHING) == flagged
        ]
        places = [max(row["rms violation"], 1e-3) for row in own], [row["core"] for row in own]
        axes.scatter(*places, marker=marker, c=color, s=18, label=f"{name} ({len(own)})")
    axes.axhline(FAILED, color="0.6", linewidth=0.8)
    axes.set_xscale("log")
    _mark_distances(axes)
    axes.set_xlabel("root mean squared violation of the bounds as given, Å", fontsize=8)
    axes.legend(fontsize=8)
    save(figure, path)


def _mark_distances(axes: Axes) -> None:
    """Give an axis of distances from the reference its scale and its words."""
    axes.set_yscale("log")
    marks = (0.1, 0.2, 0.5, 1, 2, 5)
    axes.set_yticks(marks, [f"{mark:g}" for mark in marks], fontsize=8)
    axes.minorticks_off()
    axes.set_ylabel("backbone of the core, RMSD in Å", fontsize=8)
