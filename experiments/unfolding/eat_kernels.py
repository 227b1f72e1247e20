"""What the kernel does: polynomials and widths on a Swiss roll (Figures 2.7 and 2.8)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.pictures import save, show_map
from experiments.unfolding import paper
from experiments.unfolding.eat_methods import (
    Placed,
    n_shortcuts,
    place,
    roll_with_room,
    sheet_errors,
    spread_split,
)
from experiments.unfolding.eat_sheets import mean_length
from experiments.unfolding.tessera_cases import Case
from isofold import EAT
from isofold.linalg import procrustes
from isofold.neighbors import build_graph

__all__ = ["kernel_cases", "kernel_row", "kernels"]

N_TRAIN, N_TEST = paper.POINTS["kernels"]
N_NEIGHBORS, TURNS = 5, 1.5
DEGREES = range(1, 11)
WIDTHS = (1 / 3, 0.5, 0.7, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
"""Widths of the kernel over the mean distance of neighbors; the thesis has ten from 1/3 to 50."""

EXACT_DEGREES, EXACT_WIDTHS = (2, 3, 4, 5), (10.0, 20.0, 50.0)
"""What is also tried without slack: the paper and the thesis contradict each other there."""

RAW_DEGREES = (5, 10)
"""Degrees that are also tried with gamma = 1, in the units of the data."""


def kernels(folder: Path, size: Size = FULL) -> None:
    """Unroll 102 points with twenty kernels and place 1,000 others."""
    say(f"thesis: {paper.CLAIMS['kernels']}")
    n_train, n_test = size.points(N_TRAIN), size.points(N_TEST)
    roll = roll_with_room(n_train + n_test, n_train=n_train, turns=TURNS, seed=0)
    case = spread_split(roll, n_train)
    graph = build_graph(case.points, n_neighbors=N_NEIGHBORS)
    shortcuts = n_shortcuts(case.points, case.truth, graph.edges)
    say(f"{shortcuts} short-cuts in {graph.n_edges} pairs")
    maps = [
        place(name, model, case.points, case.new_points)
        for name, model in kernel_cases(mean_length(case.points, N_NEIGHBORS), size)
    ]
    write_table([kernel_row(each, case) for each in maps], folder / "eat_kernels")
    _draw(case, maps, folder / "eat_kernels.png", size)


def kernel_cases(mean: float, size: Size = FULL) -> Iterator[tuple[str, EAT]]:
    """Yield models with all kernels of the study."""

    def eat(**options: Any) -> EAT:
        return EAT(n_neighbors=N_NEIGHBORS, random_state=0, **options)

    for degree in size.few(DEGREES):
        yield f"degree {degree}", eat(kernel="poly", kernel_params={"degree": degree})
    for width in size.few(WIDTHS):
        yield f"sigma {width:.2g}", eat(gamma=(width * mean) ** -2)
    for degree in size.few(EXACT_DEGREES):
        yield (
            f"degree {degree}, exact",
            eat(kernel="poly", kernel_params={"degree": degree}, slack=0.0),
        )
    for width in size.few(EXACT_WIDTHS):
        yield f"sigma {width:.2g}, exact", eat(gamma=(width * mean) ** -2, slack=0.0)
    for degree in RAW_DEGREES:
        yield (
            f"degree {degree}, gamma 1",
            eat(kernel="poly", kernel_params={"degree": degree}, gamma=1.0),
        )
    yield "default", eat()


def kernel_row(placed: Placed, case: Case) -> Row:
    """Return errors of a kernel and what the method says about itself."""
    errors = sheet_errors(placed, case)
    model = placed.model
    return {
        "kernel": placed.name,
        "rank / n": model.kernel_rank_ratio_,
        "training error": errors["training"],
        "test error": errors["test"],
        "border error": errors["border"],
        "preservation error": model.preservation_error_,
        "stretch": model.stretch_,
        "beyond 2-D": model.discarded_variance_ratio_,
        "status": model.solution_.status.name,
        "seconds": placed.seconds,
        "warnings": "; ".join(dict.fromkeys(words.split(":")[0] for words in placed.warnings)),
        "thesis": paper.KERNELS.get(placed.name.split(",")[0], ""),
    }


def _draw(case: Case, maps: list[Placed], path: Path, size: Size) -> None:
    degrees, widths = size.few(DEGREES), size.few(WIDTHS)
    by_name = {each.name: each for each in maps}
    figure, panels = plt.subplots(4, len(degrees), figsize=(22, 4.6), layout="constrained")
    for column, degree in enumerate(degrees):
        _draw_pair(panels[:2, column], case, by_name[f"degree {degree}"])
    for column, width in enumerate(widths):
        _draw_pair(panels[2:, column], case, by_name[f"sigma {width:.2g}"])
    save(figure, path)


def _draw_pair(panels: Any, case: Case, placed: Placed) -> None:
    motion = procrustes(placed.train, case.truth).transform
    rank = placed.model.kernel_rank_ratio_
    title = f"{placed.name}, rank/n {rank:.2f}"
    show_map(panels[0], motion.apply(placed.train), case.truth[:, 0], title, s=8)
    show_map(panels[1], motion.apply(placed.test), case.new_truth[:, 0], "test", s=3)
