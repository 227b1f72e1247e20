"""What the two length errors mean: a map that tears, and one that lays far points onto each other.

Run with ``python examples/length_errors.py [OUTPUT_FOLDER]``; it draws the picture of
``docs/quality.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from isofold.plot.palette import ACCENT, BAD
from isofold.quality import summary

N_NEIGHBORS = 12
WRONG = 0.5
"""Relative error from which on a distance is drawn as wrong."""


def main(folder: Path) -> None:
    """Draw two maps beside their data, with the neighbors of one point."""
    folder.mkdir(parents=True, exist_ok=True)
    group = np.random.RandomState(3).rand(60, 2)
    together = np.vstack([group, np.random.RandomState(4).rand(60, 2)])
    apart = together + np.repeat([[0.0, 0.0], [1.6, 0.0]], 60, axis=0)
    point = int(np.argmin(np.linalg.norm(group - 0.5, axis=1)))

    # The same bytes wherever and whenever it is drawn, and text that can be searched.
    mpl.rcParams.update({"svg.hashsalt": "isofold", "svg.fonttype": "none", "font.size": 9})
    figure, axes = plt.subplots(2, 2, figsize=(7.6, 4.6), layout="constrained")
    for row, (X, Y, neighbors_of, what) in enumerate(
        [
            (together, apart, "in the data", "The map tears neighbors apart"),
            (apart, together, "on the map", "The map lays far points onto each other"),
        ]
    ):
        near = nearest(X if row == 0 else Y, point)
        for ax, points, name in zip(axes[row], (X, Y), ("Data", "Map"), strict=True):
            draw(ax, points, (X, Y), point, near)
            ax.set_title(name, loc="left", fontweight="bold")
        axes[row, 0].set_xlabel(f"a point and its {N_NEIGHBORS} neighbors {neighbors_of}")
        found = summary(X, Y, n_neighbors=N_NEIGHBORS)
        recall, precision = found.length_error, found.shown_length_error
        errors = f"length_error {recall:.2f}, shown_length_error {precision:.2f}"
        axes[row, 1].set_xlabel(f"{what}:\n{errors}")
        print(f"{what}: {errors}")
    figure.savefig(folder / "length-errors.svg", metadata={"Date": None})
    plt.close(figure)


def nearest(points: np.ndarray, point: int) -> np.ndarray:
    """Return the nearest neighbors of one point."""
    return np.argsort(np.linalg.norm(points - points[point], axis=1))[1 : N_NEIGHBORS + 1]


def draw(
    ax: plt.Axes,
    points: np.ndarray,
    spaces: tuple[np.ndarray, np.ndarray],
    point: int,
    near: np.ndarray,
) -> None:
    """Draw points in their two groups, and lines to the neighbors of one of them."""
    before, after = (np.linalg.norm(space[near] - space[point], axis=1) for space in spaces)
    for other, ratio in zip(near, after / before, strict=True):
        color = BAD if abs(ratio - 1.0) > WRONG else ACCENT
        ax.plot(*points[[point, other]].T, color=color, linewidth=1.2, zorder=2)
    half = len(points) // 2
    for members, mark in ((slice(half), "o"), (slice(half, None), "^")):
        ax.scatter(*points[members].T, s=13, marker=mark, color="0.72", linewidths=0, zorder=1)
    ax.scatter(*points[point], s=46, color="black", zorder=3)
    ax.set(aspect="equal", xlim=(-0.1, 2.7), ylim=(-0.1, 1.1), xticks=[], yticks=[])


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
