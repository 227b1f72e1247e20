"""Evidence, before and after a stitching, that data are a sheet of this dimension."""

from __future__ import annotations

import numpy as np

from isofold._typing import BoolArray
from isofold.patches import ChartFit, PatchCover, ScaleRules

__all__ = ["is_large", "is_weak", "unsure_share", "weak_share"]

WEAK_SIGNAL, WEAK_CERTAINTY = 6.0, 50.0
"""λ_r over the noise of one direction, and points times λ_r over that of all, below which the
tangent of a patch is not to be trusted: it may be turned by some eight degrees."""

HOPELESS = 0.5
"""Share of points in patches without a trustworthy tangent above which stitching is pointless; and
in patches without a sure one, if patches do not fit either."""

LARGEST_WEAK = 0.1
"""Share of such points from which on noise matters."""

LARGEST_MISFIT = 0.1
"""Misfit over variance in the overlaps: rolls have .006 to .055, faces and digits .2 and more."""

CERTIFIED_DIMENSION, MOST_UNKNOWNS = 3, 2500
"""Dimension up to which the factors of the stitching stay sparse; beyond, entries of all motions up
to which a step of Newton's method takes no more than a second."""


def weak_share(cover: PatchCover, charts: ChartFit) -> float:
    """Return the share of points in patches whose tangent does not stand out from the noise."""
    return float(cover.sizes[is_weak(charts)].sum() / cover.sizes.sum())


def is_weak(charts: ChartFit) -> BoolArray:
    """Return which patches have a tangent that does not stand out from the noise."""
    return np.asarray((charts.signal < WEAK_SIGNAL) | (charts.certainty < WEAK_CERTAINTY))


def unsure_share(cover: PatchCover, charts: ChartFit) -> float:
    """Return the share of points in patches whose tangent is not sure enough to tell curvature."""
    rules = ScaleRules()
    is_unsure = (charts.signal < rules.secure_signal) | (charts.certainty < rules.secure_certainty)
    return float(cover.sizes[is_unsure].sum() / cover.sizes.sum())


def is_large(cover: PatchCover, charts: ChartFit) -> bool:
    """Return whether a stitching in many dimensions would take too long."""
    r = charts.coordinates.shape[1]
    unknowns = cover.n_patches * r * (r + 1) // 2
    return r > CERTIFIED_DIMENSION and unknowns > MOST_UNKNOWNS
