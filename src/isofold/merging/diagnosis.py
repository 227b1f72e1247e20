"""The findings about merged planes: degenerate, thick or steep ones, and torn neighbors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from isofold._findings import Finding, Severity
from isofold._typing import IntArray
from isofold.merging.layout import Merged
from isofold.merging.rules import RULES, MergingRules
from isofold.merging.tears import Tears

__all__ = ["find_components", "find_planes", "find_tears_on_map"]


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


def find_planes(merged: Merged, rules: MergingRules = RULES) -> Iterator[Finding]:
    """Yield findings about planes that are arbitrary, say little, or do not go together."""
    planes = merged.planes
    q = planes.axes.shape[2]
    n_degenerate = int((planes.ranks < q).sum())
    if n_degenerate:
        yield Finding.of(
            "degenerate_planes",
            Severity.DOUBT,
            n=n_degenerate,
            n_cells=planes.n_cells,
            dimension=q,
        )
    off = float(np.median(planes.off))
    if off > rules.thick:
        yield Finding.checked("thick_cells", off, rules.thick, is_raised=True, dimension=q)
    n_steep = int((merged.angles > np.deg2rad(rules.steep)).sum())
    if n_steep:
        yield Finding.checked(
            "steep_folds",
            np.rad2deg(float(merged.angles.max())),
            rules.steep,
            is_raised=True,
            n=n_steep,
            n_folds=len(merged.angles),
            dimension=q,
        )


def find_tears_on_map(
    tears: Tears, cuts: IntArray, rules: MergingRules = RULES
) -> Iterator[Finding]:
    """Yield a finding about neighbors that the map tears apart."""
    if not tears.n_tears:
        return
    error = float(np.median(tears.distortion))
    yield Finding.checked(
        "tears",
        error,
        rules.torn_everywhere,
        is_raised=True,
        form="everywhere" if error > rules.torn_everywhere else "",
        n_pairs=len(cuts),
        n_tears=tears.n_tears,
        first=int(cuts[0, 0]),
        second=int(cuts[0, 1]),
    )
