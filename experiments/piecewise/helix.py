"""The closed helix of eight coils as a line (Figures 4.6 to 4.8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import LocallyLinearEmbedding

from experiments import peers
from experiments.harness import FULL, Outcome, Row, Size, fit, write_table
from experiments.pictures import save, show_surface
from experiments.piecewise.curves import Order, is_chain, order_of
from experiments.piecewise.methods import plml
from isofold.datasets import Dataset, helix

__all__ = ["closed_helix"]

N_SAMPLES = 1000
NOISE = (0.0, 0.03)
PIECES = (4, 8, 16)


def closed_helix(folder: Path, size: Size = FULL) -> None:
    """Lay the helix on a line and count where its order is broken."""
    rows: list[Row] = []
    for noise in NOISE:
        curve = helix(size.points(N_SAMPLES), noise=noise, random_state=0)
        outcomes = [fit(name, model, curve.X) for name, model in _methods().items()]
        rows += [_row(outcome, curve, noise) for outcome in outcomes]
        if noise == 0:
            _draw(curve, outcomes, folder / "helix.png")
    write_table(rows, folder / "helix")


def _methods() -> dict[str, Any]:
    pieces = {f"PLML, k = {k}": plml(k, n_components=1) for k in PIECES}
    return {
        "PCA": PCA(1),
        "Isomap, k = 8": peers.isomap(8, 1),
        "LLE, k = 8": _lle("standard"),
        "LTSA, k = 8": _lle("ltsa"),
        **pieces,
        "PLML, untouched": plml(n_components=1),
    }


def _lle(variant: str) -> LocallyLinearEmbedding:
    return LocallyLinearEmbedding(
        n_neighbors=8, n_components=1, eigen_solver="dense", method=variant
    )


def _row(outcome: Outcome, curve: Dataset, noise: float) -> Row:
    order = order_of(outcome.embedding[:, 0])
    extent = float(np.ptp(outcome.embedding[:, 0]) / np.ptp(curve.truth[:, 0]))
    is_ours = hasattr(outcome.model, "cuts_")
    return {
        "noise": noise,
        "method": outcome.name,
        "breaks": order.breaks,
        "torn": order.torn,
        "length / true length": extent,
        "cut at": ", ".join(f"{a}-{b}" for a, b in order.cut[:3]),
        "cuts reported": _reported(outcome.model, order) if is_ours else "-",
        "chain": is_chain(outcome.model.tree_) if is_ours else "-",
        "warned": len(outcome.warnings),
    }


def _reported(model: Any, order: Order) -> str:
    """Return in how many places the method says that it cut, and whether the true one is there."""
    torn = {tuple(sorted(map(int, pair))) for pair in model.cuts_}
    cut = {tuple(sorted(map(int, pair))) for pair in order.cut}
    found = "with" if cut <= torn else "without"
    return f"{model.n_cuts_}, {len(torn)} pairs, {found} the true ones"


def _draw(curve: Dataset, outcomes: list[Outcome], path: Path) -> None:
    figure = plt.figure(figsize=(15, 8), layout="constrained")
    along = curve.truth[:, 0]
    show_surface(figure.add_subplot(3, 3, 1, projection="3d"), curve.X, along, "data")
    for place, outcome in enumerate(outcomes, start=2):
        order = order_of(outcome.embedding[:, 0])
        axes = figure.add_subplot(3, 3, place)
        axes.scatter(along, outcome.embedding[:, 0], c=along, s=3, linewidths=0)
        title = f"{outcome.name}: breaks {order.breaks}, torn {order.torn}"
        axes.set_title(title, fontsize=9)
        axes.set(xlabel="true length", ylabel="map")
    save(figure, path)
