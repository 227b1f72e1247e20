"""What is wrong with a map of merged planes, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from isofold._typing import IntArray
from isofold.merging.layout import Merged
from isofold.merging.tears import Tears

__all__ = ["doubts_about_planes", "doubts_about_tears"]

STEEP = np.deg2rad(80.0)
"""Angle from which planes are so far from parallel that the rotation between them is a guess."""

THICK = 0.2
"""Share of the variance of most pieces off their planes above which these say little."""

IN_SHREDS = 0.1
"""Median distortion above which a map that is torn is not merely cut somewhere."""


def doubts_about_planes(merged: Merged, size: int | None) -> Iterator[str]:
    """Yield sentences about planes that are arbitrary, say little, or do not go together."""
    planes = merged.planes
    q, pieces = (
        planes.axes.shape[2],
        "pieces" if size is None else f"pieces of about {size} samples",
    )
    n_flat = int((planes.ranks < q).sum())
    if n_flat:
        yield (
            f"{n_flat} of {planes.n_pieces} pieces span less than {q} dimensions, so that their "
            f"planes are arbitrary: use fewer n_components or larger pieces."
        )
    off = float(np.median(planes.off))
    if off > THICK:
        yield (
            f"Planes leave {off:.0%} of the variance of their pieces aside (median): {pieces} are "
            f"too large for the curvature, or the data have more than {q} dimensions."
        )
    n_steep = int((merged.angles > STEEP).sum())
    if n_steep:
        yield (
            f"{n_steep} of {len(merged.angles)} pairs of joined planes are at more than "
            f"{np.rad2deg(STEEP):.0f}° to each other, where the rotation between them is a guess: "
            f"{pieces} may be too small for the noise or too large for the curvature, or the data "
            f"have more than {q} dimensions."
        )


def doubts_about_tears(tears: Tears, cuts: IntArray) -> Iterator[str]:
    """Yield sentences about neighbors that the map tears apart."""
    if not tears.n_places:
        return
    yield (
        f"{len(cuts)} pair(s) of neighbors are torn apart in {tears.n_places} place(s), for "
        f"example samples {cuts[0, 0]} and {cuts[0, 1]} (see cuts_)."
    )
    error = float(np.median(tears.distortion))
    if error > IN_SHREDS:
        yield (
            f"With a median error of {error:.2g} in the distances of neighbors the planes do not "
            f"fit together."
        )
    else:
        yield (
            "Closed data cannot be laid flat without a cut. Else neighbors may reach across to "
            "another layer (fewer n_neighbors), or more samples or another piece_size help."
        )
