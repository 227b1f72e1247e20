"""The patch graph: where patches lie on the map, which are joined, and how well they fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.assessment.assessment import PatchGraph
from isofold.assessment.models import embedding_of, rows_inside
from isofold.exceptions import InvalidInputError
from isofold.extension.extended_map import ExtendedMap
from isofold.linalg import procrustes

__all__ = ["find_patches"]

MOST_LINKS = 3000
"""Links that are kept; of more the worst."""

MOST_SHARED = 8
"""Patches of a point between which links are sought: those in which it is most central."""


def find_patches(model: Any, X: FloatArray | None = None) -> PatchGraph | None:
    """Return the patches of a model on its map, if it has any."""
    embedding = np.asarray(embedding_of(model), dtype=np.float64)
    for inside, rows in rows_inside(model):
        # By attributes, so that loaded models and subclasses count, too.
        if hasattr(inside, "cover_") and hasattr(inside, "patch_error_"):
            return _of_cover(inside, embedding[rows])
        if hasattr(inside, "planes_") and hasattr(inside, "misfit_"):
            return _of_planes(inside, embedding[rows])
        if hasattr(inside, "tesserae_") and hasattr(inside, "links_"):
            return _of_tesserae(inside, embedding[rows], None if X is None else X[rows])
    return None


def _of_cover(ipa: Any, embedding: FloatArray) -> PatchGraph | None:
    """Return the overlapping patches of IPA."""
    cover, patch_map = ipa.cover_, ExtendedMap.of(ipa.map_).latest
    at_nodes = embedding[ipa.node_samples_]
    points = getattr(patch_map.search, "points", None)
    if points is None:
        return None
    links, errors = _overlaps(patch_map, points, cover.n_patches)
    return PatchGraph(
        kind="patch",
        centers=_means(at_nodes[cover.members], cover.patches, cover.n_patches),
        sizes=cover.sizes,
        patch_error=np.asarray(ipa.patch_error_, dtype=np.float64),
        **_worst(links, errors),
    )


def _overlaps(patch_map: Any, points: FloatArray, n_patches: int) -> tuple[IntArray, FloatArray]:
    """Return pairs of patches that share points, and how far apart they put these.

    The distance of the two images of a shared point (root mean square) over the extent of the
    shared points. Pairs that share too few points to extend in all directions are not linked.
    """
    members = patch_map.memberships
    placed = patch_map.placed_by(points[members.points], members.patches)
    n_components = placed.shape[1]
    keys, gaps, middles = [], [], []
    for first, second in _pairs_at_points(members.indptr):
        low = np.minimum(members.patches[first], members.patches[second])
        high = np.maximum(members.patches[first], members.patches[second])
        keys.append(low.astype(np.int64) * n_patches + high)
        gaps.append(((placed[first] - placed[second]) ** 2).sum(axis=1))
        middles.append(0.5 * (placed[first] + placed[second]))
    if not keys:
        return np.empty((0, 2), dtype=np.intp), np.empty(0)
    key, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    n_shared = np.bincount(inverse)
    gap = np.bincount(inverse, np.concatenate(gaps)) / n_shared
    middle = np.concatenate(middles)
    offsets = middle - _means(middle, inverse, len(key))[inverse]
    extent = np.bincount(inverse, (offsets**2).sum(axis=1)) / n_shared
    kept = (n_shared > n_components) & (extent > 0.0)
    links = np.column_stack([key // n_patches, key % n_patches])[kept]
    return links.astype(np.intp), np.sqrt(gap[kept] / extent[kept])


def _pairs_at_points(indptr: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of memberships of the same point, all of one kind at a time."""
    counts = np.minimum(np.diff(indptr), MOST_SHARED)
    for second in range(1, int(counts.max(initial=0))):
        begin = indptr[:-1][counts > second]
        for first in range(second):
            yield begin + first, begin + second


def _of_planes(plml: Any, embedding: FloatArray) -> PatchGraph:
    """Return the cells of PLML, joined along its tree.

    A cell is wrong where its points lie off its plane; a joint where the edge of samples across
    it has another length.
    """
    n_cells = plml.planes_.n_cells
    return PatchGraph(
        kind="cell",
        centers=_means(embedding, plml.labels_, n_cells),
        sizes=np.bincount(plml.labels_, minlength=n_cells),
        patch_error=np.sqrt(plml.planes_.off),
        **_worst(np.asarray(plml.tree_).reshape(-1, 2), np.asarray(plml.misfit_)),
    )


def _of_tesserae(tessera_map: Any, embedding: FloatArray, X: FloatArray | None) -> PatchGraph:
    """Return the tesserae of TesseraMap, joined by links between samples.

    A tessera is wrong where the map has bent or squashed it; a joint where its links have other
    lengths (root mean square of relative errors).
    """
    if X is None:
        msg = (
            "The links between tesserae can only be measured against the data. Pass X, for "
            'example model.plot(X, kind="patch_graph").'
        )
        raise InvalidInputError(msg)
    labels, links = tessera_map.labels_, tessera_map.links_
    n_tesserae = tessera_map.tesserae_.n_tesserae
    ends = np.sort(labels[links], axis=1).astype(np.int64)
    wanted = np.linalg.norm(X[links[:, 0]] - X[links[:, 1]], axis=1)
    seen = np.linalg.norm(embedding[links[:, 0]] - embedding[links[:, 1]], axis=1)
    key, inverse = np.unique(ends[:, 0] * n_tesserae + ends[:, 1], return_inverse=True)
    squares = (seen / np.maximum(wanted, np.finfo(float).tiny) - 1.0) ** 2
    error = np.sqrt(np.bincount(inverse, squares) / np.bincount(inverse))
    return PatchGraph(
        kind="tessera",
        centers=_means(embedding, labels, n_tesserae),
        sizes=np.bincount(labels, minlength=n_tesserae),
        patch_error=_misfits(tessera_map, embedding),
        **_worst(np.column_stack([key // n_tesserae, key % n_tesserae]).astype(np.intp), error),
    )


def _misfits(tessera_map: Any, embedding: FloatArray) -> FloatArray:
    """Return how far every tessera is from a rigid copy of itself on the map, by its extent."""
    tesserae = tessera_map.tesserae_
    at_nodes = embedding[tessera_map.graph_.sample_of_node]
    order = np.argsort(tesserae.labels, kind="stable")
    ends = np.cumsum(np.bincount(tesserae.labels, minlength=tesserae.n_tesserae))
    misfits = np.zeros(tesserae.n_tesserae)
    for number, members in enumerate(np.split(order, ends[:-1])):
        local = tesserae.local[members]
        extent = float(((local - local.mean(axis=0)) ** 2).sum())
        if extent > 0.0:
            images = at_nodes[members]
            motion = procrustes(local, images).transform
            misfits[number] = np.sqrt(((motion.apply(local) - images) ** 2).sum() / extent)
    return misfits


def _means(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Return the mean row of every group; zero of an empty one."""
    counts = np.maximum(np.bincount(groups, minlength=n_groups), 1)
    columns = [np.bincount(groups, column, minlength=n_groups) / counts for column in values.T]
    return np.column_stack(columns)


def _worst(links: IntArray, errors: FloatArray) -> dict[str, Any]:
    """Return the links with the largest errors, in their old order, and how many there are."""
    n_links = len(links)
    if n_links > MOST_LINKS:
        kept = np.sort(np.argsort(errors, kind="stable")[-MOST_LINKS:])
        links, errors = links[kept], errors[kept]
    return {"links": links, "link_error": errors, "n_links": n_links}
