"""Faces: Frey's film (Figures 4.24 to 4.28) and the rendered sculpture (Figures 4.29 to 4.31)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from experiments import peers
from experiments.harness import FULL, Outcome, Row, Size, fit, say, write_table
from experiments.pictures import save, show_map, thumbnails
from experiments.piecewise.curves import is_chain
from experiments.piecewise.methods import plml
from experiments.piecewise.paper import IMAGE_TRUST
from isofold._typing import FloatArray
from isofold.datasets import Dataset, load_frey_faces, load_isomap_faces
from isofold.quality import continuity, procrustes_measure, trustworthiness

__all__ = ["frey", "mosaic", "sculpture"]

N_CELLS = 30
"""Cells across the map, each with the mean of its faces, as in the paper."""
SHOWN = ("PLML, k = 7", "PLML, untouched")


def frey(folder: Path, size: Size = FULL) -> None:
    """Map the film into the plane."""
    faces = size.part(load_frey_faces())
    X = faces.X.astype(np.float64)
    methods = {
        "PCA": PCA(2),
        "Isomap, k = 12": peers.isomap(12),
        "PLML, k = 7": plml(7),
        "PLML, k = 10": plml(10),
        "PLML, k = 30": plml(30),
        "PLML, untouched": plml(),
        "PLML, k = 7, orthogonal": plml(7, merge="orthogonal"),
    }
    outcomes = [fit(name, model, X) for name, model in methods.items()]
    write_table([_row(outcome, X) for outcome in outcomes], folder / "frey")
    _tell(outcomes)
    chosen = [outcome for outcome in outcomes if outcome.name in SHOWN]
    figure, panels = plt.subplots(1, len(chosen), figsize=(20, 11), layout="constrained")
    for axes, outcome in zip(panels, chosen, strict=True):
        _show_mosaic(axes, outcome, faces)
    save(figure, folder / "frey.png")


def sculpture(folder: Path, size: Size = FULL) -> None:
    """Map the sculpture into two and six dimensions and tell what the axes explain."""
    faces = size.part(load_isomap_faces())
    X = faces.X.astype(np.float64)
    rows, flat = [], []
    for q, printed in IMAGE_TRUST.items():
        methods = {
            "PCA": PCA(q),
            "Isomap, k = 6": peers.isomap(6, q),
            "PLML, k = 5": plml(max(5, q + 1), n_components=q),
            "PLML, untouched": plml(n_components=q),
        }
        outcomes = [fit(name, model, X) for name, model in methods.items()]
        _tell(outcomes)
        for outcome in outcomes:
            thesis = printed if outcome.name == "PLML, k = 5" else ""
            rows.append(
                {"q": q, **_row(outcome, X), "T, thesis": thesis, **_explained(outcome, faces)}
            )
        if q == 2:
            flat = [outcome for outcome in outcomes if outcome.name != "PCA"]
    write_table(rows, folder / "sculpture")
    figure, panels = plt.subplots(1, len(flat), figsize=(20, 7.5), layout="constrained")
    for axes, outcome in zip(panels, flat, strict=True):
        pan = faces.targets["pose"][:, 0]
        show_map(axes, outcome.embedding, pan, f"{outcome.name}: colors by pan", s=6)
        thumbnails(axes, outcome.embedding, _images(faces), n_across=13)
    save(figure, folder / "sculpture.png")


def mosaic(Y: FloatArray, images: FloatArray, n_cells: int = N_CELLS) -> FloatArray:
    """Return a picture of the mean image in every cell of the map, white where there is none."""
    low, extent = Y.min(axis=0), np.ptp(Y, axis=0).max()
    place = np.minimum((Y - low) / extent * n_cells, n_cells - 1e-9).astype(int)
    height, width = images.shape[1:]
    n_across, n_down = place.max(axis=0) + 1
    picture = np.full((n_down * height, n_across * width), images.max())
    for column, row in np.unique(place, axis=0):
        here = (place == (column, row)).all(axis=1)
        top = (n_down - 1 - row) * height
        picture[top : top + height, column * width : (column + 1) * width] = images[here].mean(
            axis=0
        )
    return picture


def _row(outcome: Outcome, X: FloatArray) -> dict[str, Any]:
    Y = outcome.embedding
    row: dict[str, Any] = {
        "method": outcome.name,
        "T": f"{trustworthiness(X, Y):.4f}",
        "C": f"{continuity(X, Y):.4f}",
        "PE, normalized": float(procrustes_measure(X, Y)),
        "pieces": "-",
        "chain": "-",
        "cuts": "-",
        "seconds": outcome.seconds,
        "warned": len(outcome.warnings),
    }
    model = outcome.model
    if hasattr(model, "tree_"):
        row |= {
            "pieces": int(model.labels_.max()) + 1,
            "chain": is_chain(model.tree_),
            "cuts": model.n_cuts_,
        }
    return row


def _explained(outcome: Outcome, faces: Dataset) -> Row:
    """Return the share of pose and light that a linear function of the map explains."""
    known = {
        "pan": faces.targets["pose"][:, 0],
        "tilt": faces.targets["pose"][:, 1],
        "light": faces.targets["light"],
    }
    Y = outcome.embedding
    return {name: float(LinearRegression().fit(Y, z).score(Y, z)) for name, z in known.items()}


def _show_mosaic(axes: Axes, outcome: Outcome, faces: Dataset) -> None:
    axes.imshow(mosaic(outcome.embedding, _images(faces)), cmap="gray")
    axes.set_title(f"{outcome.name}: mean face of each cell", fontsize=10)
    axes.set_axis_off()


def _images(faces: Dataset) -> FloatArray:
    return faces.X.reshape(-1, *(faces.image_shape or ()))


def _tell(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        for words in outcome.warnings:
            say(f"{outcome.name}: {words}")
