"""Searches: stored by their points, and built again from these in the same way.

A tree or graph of another library has no format that stays, and a damaged one would crash its
compiled code. Building is deterministic; for lists and HNSW it takes seconds at a million numbers.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from isofold._validation import check_points
from isofold.neighbors.search.build import (
    BruteForceSearch,
    HNSWSearch,
    InvertedListSearch,
    KDTreeSearch,
    NeighborSearch,
)
from isofold.neighbors.search.protocol import refuse_overflow
from isofold.storage.validation import require

__all__ = ["SEARCHES", "fields_of_search", "make_search"]

SEARCHES = ("KDTreeSearch", "BruteForceSearch", "InvertedListSearch", "HNSWSearch")

WIDEST = 10_000
"""Candidates of an approximate query. faiss takes memory for as many, and ends the process if there
is none."""


def fields_of_search(search: Any) -> dict[str, Any]:
    """Return what a search was built from."""
    fields: dict[str, Any] = {"points": search._points, "workers": search._workers}
    if isinstance(search, HNSWSearch):
        fields["width"] = search._width
    return fields


def make_search(name: str, fields: dict[str, Any]) -> NeighborSearch:
    """Build a search from what `fields_of_search` returned."""
    wanted = {
        "KDTreeSearch": {"points", "workers"},
        "BruteForceSearch": {"points", "workers"},
        "InvertedListSearch": {"points", "workers"},
        "HNSWSearch": {"points", "workers", "width"},
    }[name]
    if name == "BruteForceSearch":
        # Older files do not tell.
        fields = {"workers": 1, **fields}
    require(fields.keys() == wanted, f"a {name} has other fields than it should")
    points = fields["points"]
    require(
        isinstance(points, np.ndarray) and points.dtype.kind == "f", "a search lacks its points"
    )
    checked = check_points(points, min_samples=1)
    refuse_overflow(checked)
    workers, width = fields["workers"], fields.get("width", 1)
    require(type(workers) is int and workers > 0, "a search has an invalid number of threads")
    # As many threads as were asked for, unless this machine is smaller.
    n_jobs = min(workers, os.cpu_count() or 1)
    if name == "KDTreeSearch":
        return KDTreeSearch(points, n_jobs=n_jobs)
    if name == "BruteForceSearch":
        return BruteForceSearch(points, n_jobs=n_jobs)
    if name == "InvertedListSearch":
        return InvertedListSearch(points, n_jobs=n_jobs)
    require(type(width) is int and 0 < width <= WIDEST, "a search has an invalid width")
    return HNSWSearch(points, width=width, n_jobs=n_jobs)
