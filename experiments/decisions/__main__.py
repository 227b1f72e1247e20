"""Command: ``python -m experiments.decisions [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.decisions import run, surfaces
from experiments.harness import command

EXPERIMENTS = {
    "surfaces": surfaces.surfaces,
    "large": surfaces.large,
    "pieces": surfaces.pieces,
    "draws": run.draws,
    "fresh": run.fresh,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
