"""A Swiss roll of width 20: 30,000 points to learn from, 20,000 to place (Figure 3.3)."""

from __future__ import annotations

import cProfile
import multiprocessing
import pstats
import resource
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from experiments.harness import FULL, Size, say, write_table
from experiments.pictures import save, show_map
from experiments.unfolding.paper_tessera import ROLL_WIDTH, TABLE_3_1, printed_time
from experiments.unfolding.tessera_cases import (
    Case,
    Placed,
    Strip,
    align,
    describe_sdp,
    place,
    rms_error,
    split,
)
from isofold import FastMVU, TesseraMap
from isofold._typing import FloatArray
from isofold.datasets import swiss_roll
from isofold.sdp import Soft

__all__ = ["large_roll", "peak_memory", "stage_seconds"]

WIDTH = 20.0
ROLL = "Swiss roll"
N_MOST = 50_000
"""Points whose objective is to fit into memory."""

N_TESSERAE = 108

STAGES = {
    "neighbors": "_neighbors",
    "cover": "_labels",
    "objective": "pose_tesserae",
    "solver": "stretch",
    "map": "_regression",
}
"""Functions whose time is listed."""


def large_roll(folder: Path, size: Size = FULL) -> None:
    """Unfold the roll, measure how wide it is and how long that takes."""
    printed = TABLE_3_1[ROLL]
    n_train, n_test = size.points(printed.n_train), size.points(printed.n_test)
    data = swiss_roll(n_train + n_test, width=WIDTH, random_state=0)
    case = split(data, n_train, n_test)
    n_tesserae = size.groups(N_TESSERAE)
    methods = _methods(n_tesserae)
    placed = [place(name, make, case) for name, make in methods.items()]
    write_table([_row(one, case) for one in placed], folder / "tessera_roll")
    _draw(case, placed, folder / "tessera_roll.png")
    ours = {name: make for name, make in methods.items() if name.startswith("TesseraMap")}
    stages = [stage_seconds(name, make(), case.points) for name, make in ours.items()]
    write_table(stages, folder / "tessera_roll_stages")
    n_most = size.points(N_MOST)
    say(f"{n_most} points: {peak_memory(n_most, n_tesserae):.2f} GB at most")


def _methods(n_tesserae: int) -> Mapping[str, Callable[[], Any]]:
    return {
        "TesseraMap": lambda: TesseraMap(random_state=0),
        f"TesseraMap, {n_tesserae} of k-means": lambda: by_kmeans(n_tesserae),
        "Fast MVU, not refined": lambda: FastMVU(lengths=Soft(4.0), random_state=0),
    }


def by_kmeans(n_clusters: int) -> TesseraMap:
    """Return TesseraMap with clusters of k-means."""
    return TesseraMap(cover=("kmeans", n_clusters), random_state=0)


def stage_seconds(name: str, model: Any, X: FloatArray) -> dict[str, Any]:
    """Return the processor time of each stage of a fit."""
    profile = cProfile.Profile(time.process_time)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        profile.runcall(model.fit, X)
    spent: dict[str, float] = {}
    for (_, _, function), (_, _, _, seconds, _) in pstats.Stats(profile).stats.items():
        spent[function] = max(seconds, spent.get(function, 0.0))
    stages = {stage: spent.get(function, 0.0) for stage, function in STAGES.items()}
    total = spent["fit"]
    return {"method": name, **stages, "other": total - sum(stages.values()), "all": total}


def peak_memory(n_points: int, n_tesserae: int = N_TESSERAE) -> float:
    """Return the most memory, in gigabytes, that a process with a fit of so many points takes."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_fit_and_measure, (n_points, n_tesserae))


def _fit_and_measure(n_points: int, n_tesserae: int) -> float:
    by_kmeans(n_tesserae).fit(swiss_roll(n_points, width=WIDTH, random_state=0).X)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _row(placed: Placed, case: Case) -> dict[str, Any]:
    Y, new = align(placed, case)
    labels = getattr(placed.model, "labels_", None)
    return {
        "method": placed.name,
        "tesserae": "-" if labels is None else int(labels.max()) + 1,
        "width": str(Strip.of(placed.places, case.truth)),
        "of test points": str(Strip.of(placed.new_places, case.new_truth)),
        "width, thesis": ROLL_WIDTH.get(placed.name.split(",")[0], "-"),
        "error": rms_error(Y, case.truth),
        "error of test points": rms_error(new, case.new_truth),
        "processor seconds": placed.outcome.seconds,
        "seconds": placed.elapsed,
        "thesis": printed_time(ROLL, placed.name),
        "seconds of test points": placed.elapsed_new,
        "solution": describe_sdp([placed.model]),
    }


def _draw(case: Case, placed: list[Placed], path: Path) -> None:
    figure, panels = plt.subplots(
        len(placed), 2, figsize=(15, 3.4 * len(placed)), layout="constrained", squeeze=False
    )
    for row, one in zip(panels, placed, strict=True):
        Y, new = align(one, case)
        labels = getattr(one.model, "labels_", None)
        color = case.truth[:, 0] if labels is None else labels % 20
        style = {"s": 0.8, "cmap": "viridis" if labels is None else "tab20"}
        title = f"{one.name}: {len(Y)} training points, {one.elapsed:.1f} s"
        show_map(row[0], Y, color, title, **style)
        title = f"{len(new)} test points, {one.elapsed_new:.1f} s"
        show_map(row[1], new, case.new_truth[:, 0], title, s=0.8)
    save(figure, path)
