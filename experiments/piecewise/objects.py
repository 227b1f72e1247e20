"""COIL-20: objects on a turntable, each a closed curve of 72 images (Figures 4.32 to 4.34)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from experiments import peers
from experiments.harness import FULL, Row, Size, write_table
from experiments.pictures import save
from experiments.piecewise.curves import Order, is_chain, order_of
from experiments.piecewise.methods import Attempt, attempt, plml
from isofold._typing import FloatArray
from isofold.datasets import load_coil20
from isofold.quality import trustworthiness

__all__ = ["turntable"]

SHRINK = 4
"""The thesis has 32 by 32 pixels; it does not tell which object."""
SHOWN = 4
"""Of these many images of a turn each is drawn."""
METHODS = {
    "PCA": lambda: PCA(1),
    "Isomap, k = 4": lambda: peers.isomap(4, 1),
    "PLML, k = 4": lambda: plml(4, n_components=1),
    "PLML, untouched": lambda: plml(n_components=1),
}
BY_THESIS = "PLML, k = 4"


def turntable(folder: Path, size: Size = FULL) -> None:
    """Lay every object's turn on a line."""
    objects = _objects()
    objects = {label: objects[label] for label in size.few(list(objects))}
    fitted = {
        name: {label: attempt(make(), X) for label, X in objects.items()}
        for name, make in METHODS.items()
    }
    orders = {
        name: {label: order_of(one.embedding[:, 0]) for label, one in found.items()}
        for name, found in fitted.items()
    }
    rows = [_row(name, objects, fitted[name], orders[name]) for name in METHODS]
    write_table(rows, folder / "turntable")
    write_table([_object_row(label, orders, fitted) for label in objects], folder / "objects")
    _draw(objects, fitted, orders, folder / "turntable.png")


def _objects() -> dict[int, FloatArray]:
    """Return the images of each object in the order of their angles, made smaller."""
    coil = load_coil20()
    side = (coil.image_shape or (1, 1))[0] // SHRINK
    small = coil.X.reshape(-1, side, SHRINK, side, SHRINK).mean(axis=(2, 4), dtype=np.float64)
    small = small.reshape(len(coil.X), -1)
    order = np.lexsort((coil.targets["angle"], coil.labels))
    return {
        int(label): small[order][coil.labels[order] == label] for label in np.unique(coil.labels)
    }


def _row(
    name: str,
    objects: dict[int, FloatArray],
    found: dict[int, Attempt],
    orders: dict[int, Order],
) -> Row:
    trust = [trustworthiness(objects[label], one.embedding) for label, one in found.items()]
    return {
        "method": name,
        "in order": sum(order.breaks == 1 for order in orders.values()),
        "cut once": sum(order.torn == 1 for order in orders.values()),
        "breaks": _middle([order.breaks for order in orders.values()]),
        "torn": _middle([order.torn for order in orders.values()]),
        "chains": _chains(found),
        "T": f"{np.median(trust):.3f}",
        "warned": sum(bool(one.trouble) for one in found.values()),
    }


def _object_row(
    label: int, orders: dict[str, dict[int, Order]], fitted: dict[str, dict[int, Attempt]]
) -> Row:
    model = fitted[BY_THESIS][label].model
    row: dict[str, Any] = {"object": label}
    for name, found in orders.items():
        row[f"{name}: breaks, torn"] = f"{found[label].breaks}, {found[label].torn}"
    return row | {"chain": is_chain(model.tree_), "cuts reported": model.n_cuts_}


def _chains(found: dict[int, Attempt]) -> int | str:
    trees = [one.model.tree_ for one in found.values() if hasattr(one.model, "tree_")]
    return sum(map(is_chain, trees)) if trees else "-"


def _middle(values: list[int]) -> str:
    return f"{np.median(values):g} ({min(values)} to {max(values)})"


def _draw(
    objects: dict[int, FloatArray],
    fitted: dict[str, dict[int, Attempt]],
    orders: dict[str, dict[int, Order]],
    path: Path,
) -> None:
    chosen = sorted(objects, key=lambda label: orders[BY_THESIS][label].breaks)
    chosen = [chosen[0], chosen[len(chosen) // 2], chosen[-1]]
    figure, panels = plt.subplots(len(chosen), 1, figsize=(15, 4.2), layout="constrained")
    for axes, label in zip(panels, chosen, strict=True):
        order = orders[BY_THESIS][label]
        by_map = np.argsort(fitted[BY_THESIS][label].embedding[:, 0])[::SHOWN]
        side = round(objects[label].shape[1] ** 0.5)
        images = objects[label][by_map].reshape(-1, side, side)
        axes.imshow(np.concatenate(list(images), axis=1), cmap="gray")
        steps = ", ".join(f"{5 * i}°" for i in by_map)
        title = f"object {label}, {BY_THESIS}: breaks {order.breaks}, torn {order.torn}: {steps}"
        axes.set_title(title, fontsize=8)
        axes.set_axis_off()
    save(figure, path)
