"""Command: ``python -m experiments.hostile [NAME ...] --out FOLDER``."""

from __future__ import annotations

from functools import partial

from experiments.harness import command
from experiments.hostile.layers import layers
from experiments.hostile.run import draws_of
from experiments.hostile.summarize import tables

EXPERIMENTS = {
    "ipa": partial(draws_of, "ipa"),
    "unfold": partial(draws_of, "unfold"),
    "tables": tables,
    "layers": layers,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
