"""Command: ``python -m experiments.unfolding [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.unfolding import (
    eat_faces,
    eat_globe,
    eat_kernels,
    eat_labels,
    eat_sheets,
    eat_thousand,
    tessera_cities,
    tessera_images,
    tessera_roll,
    tessera_spiral,
    tessera_star,
)

EXPERIMENTS = {
    "v_shape": eat_sheets.v_shape,
    "swiss_roll": eat_sheets.swiss_roll,
    "half_globe": eat_globe.half_globe,
    "isomap_faces": eat_faces.isomap_faces,
    "olivetti": eat_faces.olivetti,
    "kernels": eat_kernels.kernels,
    "semi_supervised": eat_labels.semi_supervised,
    "thousand": eat_thousand.thousand,
    "dual_spiral": tessera_spiral.dual_spiral,
    "tessera_roll": tessera_roll.large_roll,
    "cities": tessera_cities.cities,
    "frey": tessera_images.faces,
    "mnist": tessera_images.digits,
    "star": tessera_star.star,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
