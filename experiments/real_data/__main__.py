"""Command: ``python -m experiments.real_data [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.real_data import faces, mnist, stability, tables

EXPERIMENTS = {
    "tables": tables.tables,
    "stability": stability.stability,
    "seeds": stability.seeds,
    "faces": faces.faces,
    "mnist": mnist.mnist,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
