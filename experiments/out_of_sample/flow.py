"""Flow diagrams: lines from where points were placed to where they belong (Figure 5.5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from experiments.out_of_sample.cases import rms
from experiments.pictures import save
from isofold._typing import FloatArray

__all__ = ["draw_flow"]

N_COLUMNS = 3


def draw_flow(
    path: Path, panels: Mapping[str, FloatArray], expected: FloatArray, train: FloatArray
) -> None:
    """Draw the places that several methods give to the same points, beside each other."""
    n_rows = -(-len(panels) // N_COLUMNS)
    figure, all_axes = plt.subplots(
        n_rows, N_COLUMNS, figsize=(6 * N_COLUMNS, 3 * n_rows), layout="constrained"
    )
    for axes in all_axes.ravel()[len(panels) :]:
        axes.axis("off")
    for axes, (title, placed) in zip(all_axes.ravel(), panels.items(), strict=False):
        axes.scatter(*train.T, s=2, c="0.85", linewidths=0)
        axes.plot(*np.stack((placed, expected)).transpose(2, 0, 1), c="tab:red", linewidth=0.7)
        axes.scatter(*placed.T, s=3, c="k", linewidths=0)
        axes.set_title(f"{title}: e = {rms(placed, expected):.3g}", fontsize=9)
        axes.set_aspect("equal")
        axes.set(xticks=[], yticks=[])
    save(figure, path)
