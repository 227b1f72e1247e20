"""A tree of rigid shapes pulled straight: the layout of largest variance.

Shape p rotates by R_p about its centroid m_p. A link e of length d from the end a of p to the end b
of its child c (ends relative to centroids) puts the child at

    m_c = m_p + a R_p + d u_e − b R_c,      R_p ∈ O(q), |u_e| = 1,

so every link has its length exactly, and all centroids M = B V are linear in the stacked V of
rotations and directions. The variance Σ n_p |m_p − m|² = ⟨V, FV⟩ is convex in V: its linearization
is a lower bound, and maximizing that over the blocks of V (polar factors, unit vectors) never
lowers it (generalized power method, Journée et al. 2010). A shape enters only by the span of its
ends; how it lies across that span does not change the variance and is left to `ties`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.linalg.motions import RigidMotions
from isofold.placement.rigid.link_tree import LinkTree

__all__ = ["straighten"]

MOST_STEPS, LEAST_GAIN = 2000, 1e-14
"""Power steps at most, and the relative gain of all starts together that ends them."""

SAME_VARIANCE = 1e-7
"""Starts whose variance is so near to the best count as equal: the first of them is taken."""

LEAST_END = 1e-9
"""A direction of the ends of a shape shorter than this, relative to the longest, is none."""


@dataclass(frozen=True, eq=False)
class _Blocks:
    """How rotations and directions are stacked; `spans[p]` is a basis of the ends of shape p."""

    spans: tuple[FloatArray, ...]
    begin: IntArray
    groups: tuple[IntArray, ...]


def straighten(tree: LinkTree, weights: FloatArray, directions: FloatArray) -> RigidMotions:
    """Return the motions of largest variance among those that the starts lead to."""
    blocks = _stack(tree)
    B = _centroid_map(tree, blocks)
    centered = B - (weights / weights.sum()) @ B
    F = centered.T @ (weights[:, None] * centered)
    V: FloatArray = np.zeros((len(directions), B.shape[1], directions.shape[2]))
    V[:, blocks.begin[len(tree.parent) :][tree.order[1:]]] = directions[:, tree.order[1:]]
    variance = np.zeros(len(V))
    for _ in range(MOST_STEPS):
        gradient = F @ V
        before, variance = variance, np.einsum("srq,srq->s", V, gradient)
        if np.all(variance - before <= LEAST_GAIN * variance.max()):
            break
        V = _projected(gradient, V, blocks)
    if V.shape[2] == 1:
        V = np.stack([_flipped(signs, F) for signs in V])
        variance = np.einsum("srq,srq->s", V, F @ V)
    best = int(np.argmax(variance >= (1.0 - SAME_VARIANCE) * variance.max()))
    return RigidMotions(_whole_rotations(V[best], blocks), B @ V[best])


def _stack(tree: LinkTree) -> _Blocks:
    """Return where rows of V begin: a block for every shape, then a row for every link."""
    n_shapes = len(tree.parent)
    spans = []
    for p in range(n_shapes):
        _, sizes, axes = np.linalg.svd(tree.ends_of(p), full_matrices=False)
        spans.append(axes[sizes > LEAST_END * max(tree.unit, sizes.max(initial=0.0))].T)
    sizes = np.array([span.shape[1] for span in spans] + [1] * n_shapes)
    begin = np.concatenate([[0], np.cumsum(sizes)])
    groups = [
        begin[:-1][sizes == size][:, None] + np.arange(size) for size in np.unique(sizes[sizes > 0])
    ]
    return _Blocks(tuple(spans), begin, tuple(groups))


def _centroid_map(tree: LinkTree, blocks: _Blocks) -> FloatArray:
    """Return B, which maps rotations and directions to centroids."""
    n_shapes = len(tree.parent)
    B = np.zeros((n_shapes, blocks.begin[-1]))
    for child in tree.order[1:]:
        parent = tree.parent[child]
        B[child] = B[parent]
        near, far = blocks.begin[parent], blocks.begin[child]
        B[child, near : blocks.begin[parent + 1]] += tree.near[child] @ blocks.spans[parent]
        B[child, far : blocks.begin[child + 1]] -= tree.far[child] @ blocks.spans[child]
        B[child, blocks.begin[n_shapes + child]] += tree.length[child]
    return B


def _projected(gradient: FloatArray, V: FloatArray, blocks: _Blocks) -> FloatArray:
    """Return the blocks that agree best with a gradient; where it vanishes they stay."""
    projected = V.copy()
    floor = np.finfo(np.float64).tiny
    for rows in blocks.groups:
        if rows.shape[1] == 1:
            wanted = gradient[:, rows[:, 0]]
            length = np.linalg.norm(wanted, axis=2, keepdims=True)
            unit = wanted / np.maximum(length, floor)
            projected[:, rows[:, 0]] = np.where(length > floor, unit, V[:, rows[:, 0]])
        else:
            left, _, right = np.linalg.svd(gradient[:, rows], full_matrices=False)
            projected[:, rows] = left @ right
    return projected


def _flipped(signs: FloatArray, F: FloatArray) -> FloatArray:
    """Flip single signs on the line as long as that raises the variance.

    Power steps end where s_i (Fs)_i ≥ 0; a flip gains 4 (F_ii − s_i (Fs)_i), which may still be
    positive. On the line, unlike in the plane, there are many such ends.
    """
    signs = signs.copy()
    threshold = LEAST_GAIN * float(np.trace(F))
    while True:
        gain = np.diag(F) - signs[:, 0] * (F @ signs)[:, 0]
        best = int(gain.argmax())
        if gain[best] <= threshold:
            return signs
        signs[best] *= -1.0


def _whole_rotations(V: FloatArray, blocks: _Blocks) -> FloatArray:
    """Return orthogonal matrices that rotate the spans of ends as found, the rest arbitrarily."""
    q = V.shape[1]
    rotations = np.empty((len(blocks.spans), q, q))
    for p, span in enumerate(blocks.spans):
        # Polar factor of a partial isometry: complements are matched by the decomposition.
        left, _, right = np.linalg.svd(span @ V[blocks.begin[p] : blocks.begin[p + 1]])
        rotations[p] = left @ right
    return rotations
