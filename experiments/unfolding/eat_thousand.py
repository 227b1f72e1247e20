"""How long a thousand training points take, which the thesis calls the limit."""

from __future__ import annotations

import time
from pathlib import Path

from experiments.harness import FULL, Row, Size, say, write_table
from experiments.unfolding import paper
from experiments.unfolding.eat_methods import Placed, n_shortcuts, place, sheet_errors
from experiments.unfolding.tessera_cases import Case, split
from isofold import EAT
from isofold.datasets import swiss_roll

__all__ = ["thousand"]

SIZES = (500, 1000)
N_TEST = 5000
WIDTH_OF_POINT = 0.021
"""Width of the roll over the number of training points: at this density 12 neighbors of random
points make no short-cut (checked for four draws of 1,000)."""


def thousand(folder: Path, size: Size = FULL) -> None:
    """Unroll 500 and 1,000 points, with the time of the clock and of the processor."""
    say(f"thesis: {paper.CLAIMS['thousand']}")
    rows = []
    n_test = size.points(N_TEST)
    for n in map(size.points, SIZES):
        roll = swiss_roll(n + n_test, width=WIDTH_OF_POINT * n, uniform=True, random_state=0)
        case = split(roll, n, n_test)
        begin = time.perf_counter()
        placed = place(f"{n} points", EAT(random_state=0), case.points, case.new_points)
        rows.append(_row(placed, case, time.perf_counter() - begin))
    write_table(rows, folder / "eat_thousand")


def _row(placed: Placed, case: Case, elapsed: float) -> Row:
    model, errors = placed.model, sheet_errors(placed, case)
    return {
        "training points": len(case.train),
        "kept pairs": len(model.pairs_.keep),
        "short-cuts": n_shortcuts(case.points, case.truth, model.pairs_.keep),
        "seconds, clock, with the new points": elapsed,
        "seconds, processor": placed.seconds,
        "training error": errors["training"],
        "test error": errors["test"],
        "status": model.solution_.status.name,
        "gap": model.solution_.gap,
        "preservation error": model.preservation_error_,
        "warnings": "; ".join(words.split(":")[0] for words in placed.warnings),
    }
