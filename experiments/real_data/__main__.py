"""Command: ``python -m experiments.real_data [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.real_data import (
    choices,
    dominance,
    faces,
    heldout,
    mnist,
    scale,
    sheet,
    stability,
    tables,
)

EXPERIMENTS = {
    "dominance": dominance.dominance,
    "pictures": sheet.pictures,
    "choices": choices.choices,
    "tables": tables.tables,
    "stability": stability.stability,
    "seeds": stability.seeds,
    "faces": faces.faces,
    "mnist": mnist.mnist,
    "speed": scale.speed,
    "growth": scale.growth,
    "heldout": heldout.heldout,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
