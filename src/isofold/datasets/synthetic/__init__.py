"""Synthetic data sets, those of the papers and some more, each with its true coordinates.

Every generator takes `n_samples`, and by keyword `noise` and `random_state`; sheets and rolls
also take `imbalance`. `SYNTHETIC` lists them all by name, `ISOMETRIC` those whose `truth` is
isometric to the surface or curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from isofold.datasets._dataset import Dataset
from isofold.datasets.synthetic.curves import (
    circle,
    four_moons,
    helix,
    helix_arc,
    sinusoid,
    spiral,
)
from isofold.datasets.synthetic.flat import cone, flat_torus, rolled_block
from isofold.datasets.synthetic.rolls import (
    broken_swiss_roll,
    holed_swiss_roll,
    parallel_swiss_rolls,
    rotated_swiss_rolls,
    swiss_roll,
)
from isofold.datasets.synthetic.sheets import (
    arched_sheet,
    broken_s_curve,
    corrugated_sheet,
    dual_spiral,
    s_curve,
    v_shape,
)
from isofold.datasets.synthetic.stars import star
from isofold.datasets.synthetic.surfaces import (
    cylinder,
    fishbowl,
    half_globe,
    moebius_strip,
    spherical_cap,
    twin_peaks,
)

_TRUE_TO_LENGTH: tuple[Callable[..., Dataset], ...] = (
    swiss_roll,
    holed_swiss_roll,
    broken_swiss_roll,
    rotated_swiss_rolls,
    parallel_swiss_rolls,
    s_curve,
    broken_s_curve,
    v_shape,
    dual_spiral,
    arched_sheet,
    corrugated_sheet,
    star,
    flat_torus,
    cone,
    rolled_block,
    sinusoid,
    spiral,
    helix_arc,
    four_moons,
)
_CLOSED_OR_CURVED: tuple[Callable[..., Dataset], ...] = (
    circle,
    helix,
    cylinder,
    half_globe,
    spherical_cap,
    twin_peaks,
    fishbowl,
    moebius_strip,
)

SYNTHETIC: Mapping[str, Callable[..., Dataset]] = MappingProxyType(
    {generator.__name__: generator for generator in (*_TRUE_TO_LENGTH, *_CLOSED_OR_CURVED)}
)
"""All generators by name."""

ISOMETRIC: frozenset[str] = frozenset(generator.__name__ for generator in _TRUE_TO_LENGTH)
"""Names of the generators whose `truth` is isometric to the surface or curve, component by
component.

Circle, helix and cylinder are not among them, although their `truth` holds arc lengths: they are
closed, so that the last point is next to the first and its arc length is not. The flat torus is
listed for its default extent; with 2π it is closed as well.
"""

__all__ = [
    "ISOMETRIC",
    "SYNTHETIC",
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
