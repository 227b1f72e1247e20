"""Whether a map was made of the data as they are now read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from isofold._format import percent
from isofold._typing import FloatArray, IntArray
from isofold.cli.scores import measure
from isofold.cli.steps.inputs import prepare_table
from isofold.exceptions import InvalidInputError

if TYPE_CHECKING:
    from isofold.tables import Prepared, Table

__all__ = ["scale_hint"]

LOOKED_AT = 1000
"""Rows that are compared both ways."""

FAR_BETTER, GOOD = 0.5, 0.5
"""Share of the error that the other scale must leave, and the error that it must not pass."""


def scale_hint(
    table: Table,
    prepared: Prepared,
    options: Mapping[str, Any],
    *,
    Y: FloatArray,
    which: slice | IntArray,
) -> str | None:
    """Return a question if a map fits the data far better with the other ``--scale``.

    A map does not know how its columns were scaled. Measured against others, its figures are
    wrong, and nothing about them looks so.
    """
    used, other = options["scale"], "none" if options["scale"] == "standard" else "standard"
    rows = np.arange(len(prepared.X))[which]
    chosen = np.random.default_rng(options["seed"]).permutation(len(rows))[:LOOKED_AT]
    try:
        errors = [
            measure(X[rows[chosen]], Y[chosen], seed=options["seed"], jobs=1).length_error
            for X in (prepared.X, prepare_table(table, {**options, "scale": other}).X)
        ]
    except InvalidInputError:
        return None
    # Not where one of them is NaN.
    if not (errors[1] < FAR_BETTER * errors[0] and errors[1] < GOOD):
        return None
    return (
        f"Was the map made with --scale {other}? So read, its neighbor distances are off by "
        f"{percent(errors[1])}, and with --scale {used} by {percent(errors[0])}. Pass the options "
        f"that it was made with."
    )
