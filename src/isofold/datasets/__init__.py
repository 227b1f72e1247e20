"""Data sets: synthetic ones with their true coordinates, and loaders of real ones.

Each generator and loader returns a `Dataset`; `lift` takes one to a higher dimension, with noise
if wanted. The mathematics of the synthetic sets is in the modules of `isofold.datasets.synthetic`,
the folders where real data are looked for in `isofold.datasets.real`.

Two sets of the papers are left out, since the papers do not say enough: the 20,000 points of
Figure 5.1 in Tadavani's thesis (the shape is not given) and the 30,000 points of the Earth with
elevation on the half globe of the EAT paper (the source is not given).
"""

from __future__ import annotations

from isofold.datasets._dataset import Dataset
from isofold.datasets._lift import lift
from isofold.datasets.real import (
    load_coil20,
    load_frey_faces,
    load_isomap_faces,
    load_mnist,
    load_olive_oil,
    load_olivetti,
    load_wine_quality_red,
    load_world_cities,
)
from isofold.datasets.synthetic import (
    ISOMETRIC,
    SYNTHETIC,
    arched_sheet,
    broken_s_curve,
    broken_swiss_roll,
    circle,
    cone,
    corrugated_sheet,
    cylinder,
    dual_spiral,
    fishbowl,
    flat_torus,
    four_moons,
    half_globe,
    helix,
    helix_arc,
    holed_swiss_roll,
    moebius_strip,
    parallel_swiss_rolls,
    rolled_block,
    rotated_swiss_rolls,
    s_curve,
    sinusoid,
    spherical_cap,
    spiral,
    star,
    swiss_roll,
    twin_peaks,
    v_shape,
)

__all__ = [
    "ISOMETRIC",
    "SYNTHETIC",
    "Dataset",
    "arched_sheet",
    "broken_s_curve",
    "broken_swiss_roll",
    "circle",
    "cone",
    "corrugated_sheet",
    "cylinder",
    "dual_spiral",
    "fishbowl",
    "flat_torus",
    "four_moons",
    "half_globe",
    "helix",
    "helix_arc",
    "holed_swiss_roll",
    "lift",
    "load_coil20",
    "load_frey_faces",
    "load_isomap_faces",
    "load_mnist",
    "load_olive_oil",
    "load_olivetti",
    "load_wine_quality_red",
    "load_world_cities",
    "moebius_strip",
    "parallel_swiss_rolls",
    "rolled_block",
    "rotated_swiss_rolls",
    "s_curve",
    "sinusoid",
    "spherical_cap",
    "spiral",
    "star",
    "swiss_roll",
    "twin_peaks",
    "v_shape",
]
