"""Command: ``python -m experiments.ipa_thesis [NAME ...] --out FOLDER``."""

from __future__ import annotations

from experiments.harness import command
from experiments.ipa_thesis import frey, hole, million, mnist, simple_sheet, twisted_star

EXPERIMENTS = {
    "hole": hole.shape_of_hole,
    "neighbors": hole.neighbor_curves,
    "star": twisted_star.rank_of_star,
    "simple": simple_sheet.noise_and_sampling,
    "million": million.million_points,
    "bridged": million.bridged_clusters,
    "spectra": frey.spectra,
    "frey": frey.map_of_faces,
    "mnist": mnist.map_of_digits,
}

if __name__ == "__main__":
    command(EXPERIMENTS, __doc__)
