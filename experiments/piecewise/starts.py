"""Fifteen places to start the walk from (Table 4.3)."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import FULL, Row, Size, fit, say, write_table
from experiments.piecewise.measures import Yardstick, count_short_cuts, spread
from experiments.piecewise.methods import plml
from experiments.piecewise.paper import STARTS
from isofold._typing import FloatArray
from isofold.datasets import swiss_roll
from isofold.quality import procrustes_error

__all__ = ["start_places", "starts"]

N_SAMPLES, PIECE_SIZE = 2000, 9
SIZES = (5, 8, 12, 20)
N_DRAWS = 3
DOWN = {"T": 1.0, "M": 0.5, "B": 0.0}
ACROSS = {"L": 0.0, "CL": 0.25, "C": 0.5, "CR": 0.75, "R": 1.0}


def start_places(truth: FloatArray) -> dict[str, int]:
    """Return the sample next to each of the fifteen places on the true sheet."""
    low, extent = truth.min(axis=0), np.ptp(truth, axis=0)
    wanted = {
        down + across: low + extent * (x, y)
        for across, x in ACROSS.items()
        for down, y in DOWN.items()
    }
    return {
        name: int(np.argmin(np.sum((truth - place) ** 2, axis=1))) for name, place in wanted.items()
    }


def starts(folder: Path, size: Size = FULL) -> None:
    """Walk from each place and compare the maps."""
    summary: list[Row] = []
    for seed in range(size.repeats(N_DRAWS)):
        roll = swiss_roll(size.points(N_SAMPLES), random_state=seed)
        places = start_places(roll.truth)
        maps = {
            name: fit(f"start {name}", plml(PIECE_SIZE, start=start), roll.X).embedding
            for name, start in places.items()
        }
        yardstick = Yardstick(roll.X, SIZES)
        if seed == 0:
            rows = [_row(name, yardstick, Y) for name, Y in maps.items()]
            write_table(rows, folder / "starts")
        summary += _summary(seed, roll.X, roll.truth, yardstick, maps)
        say(f"draw {seed}: {len(maps)} starts")
    write_table(summary, folder / "starts_summary")


def _row(name: str, yardstick: Yardstick, Y: FloatArray) -> Row:
    scores = yardstick.score(Y)
    printed = STARTS[name]
    return {
        "start": name,
        "T": spread(scores.trust, ".6f"),
        "thesis": printed.trust,
        "PE": spread(scores.local_error, ".6g"),
        "thesis, 1e-6": printed.local_error,
        "rho": spread(scores.residual, ".6g"),
        "rho, thesis": printed.residual,
    }


def _summary(
    seed: int,
    X: FloatArray,
    truth: FloatArray,
    yardstick: Yardstick,
    maps: dict[str, FloatArray],
) -> list[Row]:
    ordered = list(maps.values())
    apart = max(float(procrustes_error(a, b)) for a, b in combinations(ordered, 2))
    scores = yardstick.score(ordered[0])
    common: dict[str, Any] = {
        "draw": seed,
        "maps apart": apart,
        "error of sheet": float(procrustes_error(ordered[0], truth)),
    }
    return [
        {
            **common,
            "k of measure": k,
            "short-cuts": count_short_cuts(X, truth, k),
            "T": f"{scores.trust[i]:.6f}",
            "rho": float(scores.residual[i]),
            "rho of true sheet": float(yardstick.score(truth).residual[i]),
        }
        for i, k in enumerate(SIZES)
    ]
