"""All sets as pictures: t-SNE, UMAP and ours beside each other."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from scipy.spatial.distance import pdist, squareform

from experiments.harness import FULL, Size
from experiments.pictures import save, show_map
from experiments.real_data.dominance import tsne_of
from experiments.real_data.measures import measure
from experiments.real_data.methods import available, embed
from experiments.real_data.sets import CHOOSING, UNSEEN, loaded
from experiments.real_data.tables import colors, short

__all__ = ["pictures"]

SHOWN = ("UMAP", "NeighborMap")
SETS_A_SHEET = 4
"""More would make an image too tall to look at."""
DOT = 4_000.0
"""Area of all dots of a map together, in square points; a dot is at most 12."""


def pictures(folder: Path, size: Size = FULL) -> None:
    """Draw sheets with one row a set and one column a method."""
    sets = [*CHOOSING[: size.repeats(8)], *UNSEEN[: size.repeats(len(UNSEEN))]]
    there = list(loaded(sets, size))
    methods = [*tsne_of(), *available(SHOWN)]
    for start in range(0, len(there), SETS_A_SHEET):
        part = there[start : start + SETS_A_SHEET]
        figure, panels = plt.subplots(
            len(part),
            len(methods),
            figsize=(4.0 * len(methods), 4.2 * len(part)),
            layout="constrained",
            squeeze=False,
        )
        for row, (one, data) in zip(panels, part, strict=True):
            color, shades = colors(data)
            distances = squareform(pdist(data.X))
            for axes, name in zip(row, methods, strict=True):
                made = embed(name, data.X, 2, label=one.name, folder=folder)
                figures = measure(distances, made.Y, metric="precomputed")
                title = f"{one.name}, {name}: " + ", ".join(
                    f"{word} {short(value, 3)}"
                    for word, value in (
                        ("T", figures.trustworthiness),
                        ("lost", figures.lost),
                        ("lengths", figures.scaled_error),
                    )
                )
                dot = min(12.0, DOT / len(data.X))
                show_map(axes, made.Y, color, title, s=dot, cmap=shades)
        save(figure, folder / f"real_data_sheet_{start // SETS_A_SHEET + 1}.png")
