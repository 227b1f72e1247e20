"""Command: ``python -m experiments.out_of_sample [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.out_of_sample import (
    border,
    faces,
    neighborhoods,
    scalings,
    spectral,
    strangers,
    tables,
    unfolded,
)

EXPERIMENTS = {
    "table51": tables.table51,
    "neighbors_curve": neighborhoods.neighbors_curve,
    "scalings": scalings.scalings,
    "bengio": spectral.bengio,
    "faces": faces.faces,
    "border": border.border,
    "mvu": unfolded.mvu,
    "tsne": strangers.tsne,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
