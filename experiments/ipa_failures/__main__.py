"""Command: ``python -m experiments.ipa_failures [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.ipa_failures.run import draws
from experiments.ipa_failures.summarize import tables

EXPERIMENTS = {"draws": draws, "tables": tables}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
