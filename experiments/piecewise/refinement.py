"""PLML's map as the start of stitching all overlaps, beside PLML alone and IPA."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness import FULL, Row, Size, fit, write_table
from experiments.piecewise.methods import plml
from isofold import IPA
from isofold.datasets import Dataset, holed_swiss_roll, swiss_roll
from isofold.quality import procrustes_error, trustworthiness

__all__ = ["refine"]

CASES: Mapping[str, tuple[Callable[..., Dataset], int]] = {
    "roll, 2,000": (partial(swiss_roll, 2000), 5),
    "roll, 2,000, noise 0.1": (partial(swiss_roll, 2000, noise=0.1), 5),
    "roll, 2,000, noise 0.3": (partial(swiss_roll, 2000, noise=0.3), 5),
    "holed roll, 2,000": (partial(holed_swiss_roll, 2000), 5),
    "roll, 10,000": (partial(swiss_roll, 10_000), 2),
    "roll, 10,000, noise 0.1": (partial(swiss_roll, 10_000, noise=0.1), 2),
    "roll, 10,000, noise 0.3": (partial(swiss_roll, 10_000, noise=0.3), 2),
}
"""Data and number of draws."""

METHODS: Mapping[str, Callable[[], Any]] = {
    "PLML": plml,
    "PLML, refined": partial(plml, refine=True),
    "IPA": partial(IPA, random_state=0, n_jobs=1),
}
N_JUDGED = 1000
"""Points at which trustworthiness is measured."""


def refine(folder: Path, size: Size = FULL) -> None:
    """Compare errors and times."""
    rows = []
    for case in size.few(list(CASES)):
        make, n_draws = CASES[case]
        sets = [size.part(make(random_state=seed)) for seed in range(size.repeats(n_draws))]
        rows += [_row(case, name, sets) for name in METHODS]
    write_table(rows, folder / "refine")


def _row(case: str, name: str, sets: list[Dataset]) -> Row:
    outcomes = [fit(f"{case}, {name}", METHODS[name](), data.X) for data in sets]
    errors, trust = [], []
    for outcome, data in zip(outcomes, sets, strict=True):
        Y = outcome.embedding
        errors.append(100 * float(procrustes_error(Y, data.truth)))
        trust.append(
            float(trustworthiness(data.X, Y, n_samples=min(N_JUDGED, len(Y)), random_state=0))
        )
    return {
        "data": case,
        "method": name,
        "error, %": f"{np.median(errors):.3g} ({min(errors):.3g} to {max(errors):.3g})",
        "T": f"{np.median(trust):.4f}",
        "seconds": float(np.median([outcome.seconds for outcome in outcomes])),
        "warned": f"{sum(bool(outcome.warnings) for outcome in outcomes)} of {len(sets)}",
    }
