"""Components in one frame by affine maps: the global stage as Costa's thesis prints it.

Representatives and link ends of all components are unfolded together,

    max tr K,  K ⪰ 0, centered,  K_ii − 2 K_ij + K_jj = |y_i − y_j|² within components,
                                                        d² along links,

the q leading coordinates Z_p are kept, and each component is mapped back by (3.1)–(3.3)

    [A; b] = [Y_p' 1]⁺ Z_p,      z = y A + b.

The variance does not depend on how components lie across their links, so the solution may put
their widths into dimensions of their own; cutting to q dimensions then squashes components to
lines. The singular values of the maps A tell. `isofold.placement.rigid.place` has no such weakness.

References
----------
Costa, J. Maximum variance unfolding on disjoint manifolds. MSc thesis, Lisbon, equations 3.1-3.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold.exceptions import ConvergenceError, InvalidInputError
from isofold.linalg.motions import RigidMotions
from isofold.placement.links import Links, check_links, check_shapes
from isofold.placement.placement import Placement
from isofold.sdp import Constraints, GramSDP, LowRankSDP, SDPSolution, Status

__all__ = ["place_by_variance"]


def place_by_variance(
    shapes: Sequence[FloatArray],
    links: Links,
    representatives: Sequence[IntArray],
    *,
    solver: LowRankSDP | None = None,
) -> Placement:
    """Place components by affine maps onto their unfolded representatives."""
    shapes = check_shapes(shapes)
    links = check_links(links, shapes)
    if len(representatives) != len(shapes):
        msg = (
            f"There are {len(shapes)} components, but {len(representatives)} lists of "
            f"representatives. Pass one for each."
        )
        raise InvalidInputError(msg)
    rows = [
        np.union1d(own, links.members[links.owners == p]).astype(np.intp)
        for p, own in enumerate(representatives)
    ]
    chosen = [Y[own].astype(np.float64) for Y, own in zip(shapes, rows, strict=True)]
    q = shapes[0].shape[1]
    solution = None
    if len(shapes) == 1:
        layout = chosen[0]
    else:
        solver = LowRankSDP(rank=q + 6, random_state=0) if solver is None else solver
        solution = _unfolded(chosen, rows, links, solver)
        layout = np.zeros((len(solution.coordinates), q))
        kept = solution.coordinates[:, :q]
        layout[:, : kept.shape[1]] = kept
    targets = np.split(layout, np.cumsum([len(own) for own in rows])[:-1])
    maps = [_affine_map(*pair) for pair in zip(chosen, targets, strict=True)]
    motions = RigidMotions(np.stack([A for A, _ in maps]), np.stack([b for _, b in maps]))
    return Placement.of(shapes, links, motions, solution=solution)


def _unfolded(
    chosen: Sequence[FloatArray], rows: Sequence[IntArray], links: Links, solver: LowRankSDP
) -> SDPSolution:
    """Return representatives of all components, unfolded together."""
    begin = np.concatenate([[0], np.cumsum([len(own) for own in rows])])
    pairs, squares = [], []
    for first, points in zip(begin[:-1], chosen, strict=True):
        i, j = np.triu_indices(len(points), 1)
        pairs.append(first + np.stack([i, j], axis=1))
        squares.append(((points[i] - points[j]) ** 2).sum(axis=1))
    ends = [
        [begin[p] + np.searchsorted(rows[p], i) for p, i in zip(owners, members, strict=True)]
        for owners, members in zip(links.owners, links.members, strict=True)
    ]
    upper = np.concatenate([*squares, links.lengths**2])
    lower = upper.copy()
    if len(ends) >= len(chosen):
        lower[len(upper) - len(ends) :] = -np.inf
    constraints = Constraints.on_pairs(
        int(begin[-1]), np.concatenate([*pairs, np.array(ends)]), lower=lower, upper=upper
    )
    problem = GramSDP(
        n_points=constraints.forms.size,
        objective=np.eye(constraints.forms.size),
        maximize=True,
        constraints=constraints,
        centered=True,
    )
    solution = solver.solve(problem)
    if solution.status is Status.INFEASIBLE:
        msg = (
            f"{solution.message} Rigid components cannot keep {len(ends)} links within their "
            f"lengths. Use fewer links, or place components rigidly, which misses them least."
        )
        raise ConvergenceError(msg)
    return solution


def _affine_map(points: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return A and b of least squares, A the smallest of several (3.2)."""
    # About the mean, b is free of A: the smallest A alone, whatever the origin.
    mean, target = points.mean(axis=0), targets.mean(axis=0)
    A = np.linalg.pinv(points - mean, rcond=1e-6) @ (targets - target)
    return A, target - mean @ A
