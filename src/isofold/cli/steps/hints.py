"""Whether a map was made of the data as they are now read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray, IntArray
from isofold.cli.steps.inputs import ReadOptions, prepare_table
from isofold.cli.steps.scores import measure
from isofold.exceptions import InvalidInputError

if TYPE_CHECKING:
    from isofold.tables import Prepared, Table

__all__ = ["scale_hint"]

LOOKED_AT = 1000
"""Rows that are compared both ways."""

FAR_BETTER, GOOD = 0.5, 0.5
"""Fraction of the error that the other scale may leave, and the largest error that it may have."""


def scale_hint(
    table: Table,
    prepared: Prepared,
    options: ReadOptions,
    *,
    Y: FloatArray,
    which: slice | IntArray,
    seed: int,
) -> str | None:
    """Return a question if a map fits the data far better with the other ``--scale``.

    A map does not know how its columns were scaled. Measured against others, its figures are
    wrong, and nothing about them looks so.
    """
    used, other = options.scale, "none" if options.scale == "standard" else "standard"
    rows = np.arange(len(prepared.X))[which]
    chosen = np.random.default_rng(seed).permutation(len(rows))[:LOOKED_AT]
    try:
        errors = [
            measure(X[rows[chosen]], Y[chosen], seed=seed, jobs=1).length_error
            for X in (prepared.X, prepare_table(table, replace(options, scale=other)).X)
        ]
    except InvalidInputError:
        return None
    # Not where one of them is NaN.
    if not (errors[1] < FAR_BETTER * errors[0] and errors[1] < GOOD):
        return None
    return (
        f"Was the map made with --scale {other}? Then its neighbor distances are off by "
        f"{percent(errors[1])}; with --scale {used} they are off by {percent(errors[0])}. Pass the "
        f"options that it was made with."
    )
