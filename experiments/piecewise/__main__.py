"""Command: ``python -m experiments.piecewise [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.piecewise import (
    faces,
    helix,
    holed_roll,
    objects,
    projections,
    refinement,
    starts,
    sweeps,
)

EXPERIMENTS = {
    "density": sweeps.density,
    "noise": sweeps.noise,
    "pieces_and_noise": sweeps.pieces_and_noise,
    "starts": starts.starts,
    "parallel_projections": projections.parallel_projections,
    "variants": projections.variants,
    "helix": helix.closed_helix,
    "broken_roll": holed_roll.broken_roll,
    "frey": faces.frey,
    "sculpture": faces.sculpture,
    "turntable": objects.turntable,
    "refine": refinement.refine,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
