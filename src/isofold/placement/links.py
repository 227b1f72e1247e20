"""Links between components: all that is known of how they lie to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csgraph, csr_array

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_points, refuse_no_distances
from isofold.exceptions import InvalidInputError

__all__ = ["Links", "check_links", "check_shapes"]


@dataclass(frozen=True, eq=False)
class Links:
    """Links between points of different components.

    Attributes
    ----------
    owners : ndarray of int of shape (n_links, 2)
        The two components of every link.
    members : ndarray of int of shape (n_links, 2)
        The two end points, as row numbers within their components.
    lengths : ndarray of shape (n_links,)
        Distances of the end points in the data.
    """

    owners: IntArray
    members: IntArray
    lengths: FloatArray

    @classmethod
    def between(cls, components: Sequence[IntArray], edges: IntArray, lengths: FloatArray) -> Links:
        """Return edges between nodes as links between components, given by their nodes."""
        n_nodes = sum(map(len, components))
        owner, member = np.empty(n_nodes, dtype=np.intp), np.empty(n_nodes, dtype=np.intp)
        for number, own in enumerate(components):
            owner[own], member[own] = number, np.arange(len(own))
        return cls(owner[edges], member[edges], lengths.astype(np.float64))


def check_shapes(shapes: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the local embeddings of components, checked to have the same number of columns."""
    checked = [check_points(Y, name=f"shapes[{p}]", min_samples=1) for p, Y in enumerate(shapes)]
    widths = sorted({Y.shape[1] for Y in checked})
    if len(widths) != 1:
        msg = (
            f"Components have {widths or 'no'} columns, but they are to lie in one space. Pass at "
            f"least one component, all with the same number of columns; add zeros to the others."
        )
        raise InvalidInputError(msg)
    return checked


def check_links(links: Links, shapes: Sequence[FloatArray]) -> Links:
    """Return links, checked to be between points of these shapes and to connect them all."""
    owners, members = (
        np.asarray(ends, dtype=np.intp).reshape(-1, 2) for ends in (links.owners, links.members)
    )
    lengths = np.asarray(links.lengths, dtype=np.float64)
    refuse_no_distances(lengths, name="Lengths of links")
    sizes = np.array([len(Y) for Y in shapes])
    if not len(owners) == len(members) == len(lengths):
        msg = (
            f"There are {len(owners)} pairs of components, {len(members)} pairs of members and "
            f"{len(lengths)} lengths. Every link has one of each."
        )
        raise InvalidInputError(msg)
    known = bool(np.all((owners >= 0) & (owners < len(sizes))))
    if not known or np.any((members < 0) | (members >= sizes[owners])):
        msg = (
            f"A link names a point that does not exist: there are {len(sizes)} components of "
            f"{sizes.min()} to {sizes.max()} points, counted from 0."
        )
        raise InvalidInputError(msg)
    graph = csr_array(
        (np.ones(len(owners)), (owners[:, 0], owners[:, 1])), shape=(len(sizes), len(sizes))
    )
    n_groups = csgraph.connected_components(graph, directed=False)[0]
    if n_groups > 1 or np.any(owners[:, 0] == owners[:, 1]):
        msg = (
            f"{len(owners)} links leave {len(sizes)} components in {n_groups} group(s), and "
            f"{int((owners[:, 0] == owners[:, 1]).sum())} of them join a component to itself. "
            f"Groups could lie anywhere. Link every component to another one, as "
            f"isofold.neighbors.connect does."
        )
        raise InvalidInputError(msg)
    return Links(owners, members, lengths)
