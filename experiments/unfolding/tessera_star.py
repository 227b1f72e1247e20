"""A star of four twisted strips: how much variance is on the third axis? (Figure 5.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from experiments.harness import FULL, Outcome, Size, fit, write_table
from experiments.ipa_thesis.methods import certificate, first_axes, ours, thesis, with_room
from experiments.ipa_thesis.twisted_star import arms, strip_lengths
from experiments.ldlc.methods import spread
from experiments.pictures import save, show_map
from isofold import MVU, TesseraMap
from isofold.datasets import Dataset
from isofold.datasets import star as make_star
from isofold.linalg import procrustes
from isofold.neighbors import Bridged
from isofold.quality import procrustes_error

__all__ = ["star", "third_share"]

N_POINTS = 1000
N_PATCHES = 30
N_DRAWS = 5


def _methods(c: int) -> Mapping[str, Callable[[], Any]]:
    return {
        "IPA": lambda: ours(solver=with_room(2)),
        f"IPA, {c} of k-means": lambda: thesis(c, solver=with_room(2)),
        "TesseraMap": lambda: TesseraMap(random_state=0),
        f"TesseraMap, {c} of k-means": lambda: TesseraMap(cover=("kmeans", c), random_state=0),
        f"TesseraMap, {c} of LDLC": lambda: TesseraMap(cover=("ldlc", c), random_state=0),
        "MVU, k = 4": lambda: bridged_mvu(4),
        "MVU, k = 6": lambda: bridged_mvu(6),
        "MVU, k = 12": lambda: bridged_mvu(12),
    }


def bridged_mvu(n_neighbors: int) -> MVU:
    """Return MVU; four neighbors leave some stars in pieces, which are bridged."""
    return MVU(n_neighbors=n_neighbors, graph=Bridged(), random_state=0)


def star(folder: Path, size: Size = FULL) -> None:
    """Unfold stars by three methods and compare what is beyond the second axis."""
    n, seeds = size.points(N_POINTS), range(size.repeats(N_DRAWS))
    draws = [make_star(n, random_state=seed) for seed in seeds]
    rows, first = [], []
    for name, make in _methods(size.groups(N_PATCHES)).items():
        outcomes = [first_axes(fit(name, make(), data.X), 2) for data in draws]
        rows.append(_row(name, outcomes, draws))
        first.append(outcomes[0])
    write_table(rows, folder / "tessera_star")
    _draw(draws[0], first, folder / "tessera_star.png")


def third_share(model: Any) -> float:
    """Return the share of the variance along the third axis."""
    return float(np.append(model.spectrum_, 0.0)[2] / model.spectrum_.sum())


def _row(name: str, outcomes: list[Outcome], draws: list[Dataset]) -> dict[str, Any]:
    pairs = list(zip(outcomes, draws, strict=True))
    lengths = [strip_lengths(one.embedding, data.truth) for one, data in pairs]
    errors = [float(procrustes_error(one.embedding, data.truth)) for one, data in pairs]
    return {
        "method": name,
        "third share of variance": spread((third_share(one.model) for one in outcomes), digits=2),
        "shortest strip": min(length.shortest for length in lengths),
        "longest strip": max(length.longest for length in lengths),
        "error of map": spread(errors, digits=2),
        "seconds": spread((one.seconds for one in outcomes), digits=2),
        "certified": sum(certificate(one.model) == "CERTIFIED" for one in outcomes),
    }


def _draw(data: Dataset, outcomes: list[Outcome], path: Path) -> None:
    figure, panels = plt.subplots(2, 4, figsize=(16, 8), layout="constrained")
    color = np.full(len(data.X), "0.6", dtype=object)
    for shade, arm in enumerate(arms(data.truth)):
        color[arm] = f"C{shade}"
    for axes, outcome in zip(panels.flat, outcomes, strict=True):
        Y = procrustes(outcome.embedding, data.truth).transform.apply(outcome.embedding)
        title = f"{outcome.name}: third axis {third_share(outcome.model):.1g}"
        show_map(axes, Y, color, title, s=6)
    save(figure, path)
