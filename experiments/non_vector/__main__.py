"""Command: ``python -m experiments.non_vector [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.non_vector.run import digits, doors, molecules, proteins, texts, zeros_and_ones

EXPERIMENTS = {
    "proteins": proteins,
    "molecules": molecules,
    "digits": digits,
    "zeros_and_ones": zeros_and_ones,
    "texts": texts,
    "doors": doors,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
