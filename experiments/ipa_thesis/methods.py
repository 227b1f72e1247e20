"""The IPA of the thesis and ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from experiments.harness import Outcome
from isofold import IPA, MVU
from isofold.sdp import LowRankSDP

__all__ = ["certificate", "first_axes", "ours", "thesis", "with_room"]


def ours(**options: Any) -> IPA:
    """Return IPA as it is by default: graph balls, charts that follow the curvature."""
    return IPA(random_state=0, **options)


def thesis(n_patches: int, **options: Any) -> IPA:
    """Return the IPA of the thesis: k-means clusters, projected on their principal axes.

    Patches that are chosen are stitched, also where the data are no sheet.
    """
    return IPA(cover="kmeans", n_patches=n_patches, chart="pca", random_state=0, **options)


def with_room(n_components: int) -> LowRankSDP:
    """Return a solver that may use more dimensions than the map has, as that of the thesis.

    By default IPA looks for a solution of n_components columns and tells whether any other is
    better. Here the solver begins with more than twice as many, which was always enough in the
    thesis, so that a low rank is found and not imposed.
    """
    return LowRankSDP(rank=2 * n_components + 1, max_rank=3 * n_components + 2)


def certificate(model: IPA | MVU) -> str:
    """Return what is proven of the solution; IPA has none where it did not stitch patches.

    With the patches that it finds itself, data that are no sheet are laid out along shortest paths
    or projected, and `layout_` says so.
    """
    return "-" if model.solution_ is None else model.solution_.status.name


def first_axes(outcome: Outcome, n_components: int) -> Outcome:
    """Return the same map on its first principal axes."""
    return replace(outcome, embedding=outcome.embedding[:, :n_components])
