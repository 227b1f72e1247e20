"""The findings about merged planes: degenerate, thick or steep ones, and torn neighbors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from isofold._findings import Finding, Severity
from isofold._typing import IntArray
from isofold.merging.layout import Merged
from isofold.merging.tears import Tears

__all__ = ["find_components", "find_planes", "find_tears_on_map"]

STEEP = 80.0
"""Degrees from which planes are so far from parallel that the rotation between them is a guess."""

THICK = 0.2
"""Fraction of the variance of most cells off their planes above which these say little."""

TORN_EVERYWHERE = 0.1
"""Median distortion above which a map that is torn is not merely cut somewhere."""


def find_components(
    components: IntArray, n_bridges: int, *, n_outliers: int, least: int
) -> Iterator[Finding]:
    """Yield findings about separate components, and samples in groups too small for a plane."""
    sizes = np.bincount(components)
    if len(sizes) > 1:
        yield Finding.of(
            "components",
            Severity.DOUBT,
            form="merged",
            n_components=len(sizes),
            smallest=int(sizes.min()),
            n_bridges=n_bridges,
        )
    if n_outliers:
        yield Finding.of("outliers", Severity.DOUBT, form="merged", n=n_outliers, least=least)


def find_planes(merged: Merged) -> Iterator[Finding]:
    """Yield findings about planes that are arbitrary, say little, or do not go together."""
    planes = merged.planes
    q = planes.axes.shape[2]
    n_degenerate = int((planes.ranks < q).sum())
    if n_degenerate:
        yield Finding.of(
            "degenerate_planes",
            Severity.DOUBT,
            n=n_degenerate,
            n_cells=planes.n_pieces,
            dimension=q,
        )
    off = float(np.median(planes.off))
    if off > THICK:
        yield Finding.checked("thick_cells", off, THICK, is_raised=True, dimension=q)
    n_steep = int((merged.angles > np.deg2rad(STEEP)).sum())
    if n_steep:
        yield Finding.checked(
            "steep_folds",
            np.rad2deg(float(merged.angles.max())),
            STEEP,
            is_raised=True,
            n=n_steep,
            n_folds=len(merged.angles),
            dimension=q,
        )


def find_tears_on_map(tears: Tears, cuts: IntArray) -> Iterator[Finding]:
    """Yield a finding about neighbors that the map tears apart."""
    if not tears.n_places:
        return
    error = float(np.median(tears.distortion))
    yield Finding.checked(
        "tears",
        error,
        TORN_EVERYWHERE,
        is_raised=True,
        form="everywhere" if error > TORN_EVERYWHERE else "",
        n_pairs=len(cuts),
        n_tears=tears.n_places,
        first=int(cuts[0, 0]),
        second=int(cuts[0, 1]),
    )
