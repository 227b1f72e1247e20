"""Tables for runs in blocks: a roll in parts that follow each other."""

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from isofold.datasets import swiss_roll

N_ROWS, N_PARTS = 400, 5
MAKE = ("--method", "ipa")


def roll_columns():
    """Return the columns of a roll, with a label."""
    roll = swiss_roll(N_ROWS, width=21.0, uniform=True, random_state=0)
    kinds = np.where(roll.truth[:, 0] > np.median(roll.truth[:, 0]), "far", "near")
    return {"x": roll.X[:, 0], "y": roll.X[:, 1], "z": roll.X[:, 2], "kind": kinds}


def write_parts(folder, columns, n_parts=N_PARTS):
    """Write columns as Parquet files that follow each other."""
    folder.mkdir(parents=True)
    for number, rows in enumerate(np.array_split(np.arange(len(columns["x"])), n_parts)):
        table = pa.table({name: values[rows] for name, values in columns.items()})
        parquet.write_table(table, folder / f"part-{number}.parquet")
    return folder


def points_of(columns):
    """Return the points of the roll."""
    return np.column_stack([columns[name] for name in "xyz"])
