"""Ways to merge pieces on the Swiss roll and the Möbius strip (Table I of the paper), and to cut.

The paper gives no number of points. The merges are "parallel" (minimal rotations and hinges between
the pieces), "parallel_projections" (as in the paper, turned about the previous mean) and
"orthogonal" (plain projection, as in its forerunner).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from experiments import peers
from experiments.harness import FULL, Row, Size, fit, say, write_table
from experiments.pictures import save, show_map, show_surface
from experiments.piecewise.measures import Scores, Yardstick, spread
from experiments.piecewise.methods import attempt, kernel_pca, laplacian, plml
from experiments.piecewise.paper import TABLE_I
from isofold._typing import FloatArray
from isofold.datasets import Dataset, moebius_strip, swiss_roll
from isofold.quality import continuity, procrustes_error, trustworthiness

__all__ = ["parallel_projections", "variants"]

SIZES = (8, 10, 12, 14, 16)
"""Numbers of neighbors, sizes of pieces and sizes of the measures, as in the paper."""
MVU_NEIGHBORS = 8
N_POINTS = 2000
SETS: Mapping[str, Callable[[], Dataset]] = {
    "Swiss roll": partial(swiss_roll, N_POINTS, random_state=0),
    "Möbius strip": partial(moebius_strip, 1000, random_state=0),
}
PRINTED_AS = {
    "PLML, parallel_projections": "parallel projections",
    f"MVU, k = {MVU_NEIGHBORS}": "MVU",
}

WITH_K: Mapping[str, Callable[[int], Any]] = {
    "Isomap": peers.isomap,
    "Laplacian eigenmaps": laplacian,
    "LLE": peers.lle,
    "LTSA": peers.ltsa,
    "PLML": plml,
    "PLML, parallel_projections": partial(plml, merge="parallel_projections"),
    "PLML, orthogonal": partial(plml, merge="orthogonal"),
}

VARIANTS: Mapping[str, dict[str, Any]] = {
    "as it comes": {},
    "k = 9": {"cell_size": 9},
    "k = 9, parallel_projections": {"cell_size": 9, "merge": "parallel_projections"},
    "k = 9, orthogonal": {"cell_size": 9, "merge": "orthogonal"},
    "k = 9, isomap": {"cell_size": 9, "merge": "isomap"},
    "k = 9, gmm": {"cell_size": 9, "clustering": "gmm"},
    "k = 9, mst": {"cell_size": 9, "clustering": "mst"},
    "k = 60, gmm": {"cell_size": 60, "clustering": "gmm"},
    "k = 60, gmm, orthogonal": {"cell_size": 60, "clustering": "gmm", "merge": "orthogonal"},
}
"""The forerunner of the paper let a mixture of 32 Gaussians at first make pieces of 60 points."""
N_DRAWS = 3


def parallel_projections(folder: Path, size: Size = FULL) -> None:
    """Table I: trustworthiness and continuity over k and over the size of the measure."""
    sets = {name: size.part(make()) for name, make in SETS.items()}
    judged = {name: _judge(data.X, size.few(SIZES)) for name, data in sets.items()}
    rows = []
    for method in next(iter(judged.values())):
        row: dict[str, Any] = {"method": method}
        printed = TABLE_I.get(PRINTED_AS.get(method, method), ("",) * 4)
        for place, (name, found) in enumerate(judged.items()):
            row[f"T, {name}"] = spread([s.trust for s in found[method]], ".4f")
            row[f"T, {name}, paper"] = printed[2 * place]
            row[f"C, {name}"] = spread([s.continuity for s in found[method]], ".4f")
            row[f"C, {name}, paper"] = printed[2 * place + 1]
        rows.append(row)
    write_table(rows, folder / "parallel_projections")
    _draw_strip(sets["Möbius strip"], folder / "moebius_strip.png")


def variants(folder: Path, size: Size = FULL) -> None:
    """Other clusterings and merges on the Swiss roll, medians over draws."""
    n, seeds = size.points(N_POINTS), range(size.repeats(N_DRAWS))
    rolls = [swiss_roll(n, random_state=seed) for seed in seeds]
    write_table([_variant(name, rolls) for name in VARIANTS], folder / "variants")


def _judge(X: FloatArray, sizes: Sequence[int]) -> dict[str, list[Scores]]:
    yardstick = Yardstick(X, tuple(sizes))
    trials = [(name, make(k)) for name, make in WITH_K.items() for k in sizes]
    trials += [
        ("Kernel PCA", kernel_pca(X)),
        (f"MVU, k = {MVU_NEIGHBORS}", peers.mvu(MVU_NEIGHBORS)),
        ("PLML, untouched", plml()),
    ]
    found: dict[str, list[Scores]] = {name: [] for name, _ in trials}
    for name, model in trials:
        tried = attempt(model, X)
        if tried.trouble:
            say(f"{model}: {', '.join(tried.trouble)}")
        if tried.embedding is not None:
            found[name].append(yardstick.score(tried.embedding))
    return found


def _variant(name: str, rolls: list[Dataset]) -> Row:
    figures, trouble = [], []
    n_pieces = 0
    for roll in rolls:
        tried = attempt(plml(**VARIANTS[name]), roll.X)
        trouble += tried.trouble
        if tried.embedding is None:
            continue
        n_pieces = int(tried.model.labels_.max()) + 1
        Y = tried.embedding
        figures.append(
            [
                float(trustworthiness(roll.X, Y)),
                float(continuity(roll.X, Y)),
                float(procrustes_error(Y, roll.truth)),
            ]
        )
    trust, kept, error = np.median(figures, axis=0) if figures else (np.nan,) * 3
    return {
        "PLML": name,
        "pieces": n_pieces,
        "T": f"{trust:.4f}",
        "C": f"{kept:.4f}",
        "error of sheet": float(error),
        "no map": f"{len(rolls) - len(figures)} of {len(rolls)}",
        "warned": ", ".join(dict.fromkeys(trouble)) or "no",
    }


def _draw_strip(strip: Dataset, path: Path) -> None:
    around = strip.truth[:, 0]
    figure = plt.figure(figsize=(15, 4.5), layout="constrained")
    show_surface(figure.add_subplot(1, 4, 1, projection="3d"), strip.X, around, "data")
    outcomes = [
        fit("PLML, untouched", plml(), strip.X),
        fit("PLML, k = 10", plml(10), strip.X),
        fit("Isomap, k = 10", peers.isomap(10), strip.X),
    ]
    for place, outcome in enumerate(outcomes, start=2):
        trust = float(trustworthiness(strip.X, outcome.embedding))
        axes = figure.add_subplot(1, 4, place)
        show_map(axes, outcome.embedding, around, f"{outcome.name}: T = {trust:.3f}")
    save(figure, path)
