"""Command: ``python -m experiments.ldlc [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.ldlc import curves, few_patches, frey, patches, recognition, toys, twin_peaks

EXPERIMENTS = {
    "toys": toys.toys,
    "twin_peaks": twin_peaks.twin_peaks,
    "olive_oil": curves.olive_oil,
    "wine_quality": curves.wine_quality,
    "wine_type": recognition.wine_type,
    "mnist_recognition": recognition.mnist_recognition,
    "frey_locality": frey.frey_locality,
    "swiss_roll": patches.swiss_roll,
    "mnist_patches": patches.mnist_patches,
    "few_patches": few_patches.few_patches,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
