"""Structures made by hand: a molecule, a hinge, a random chain, a sensor network."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from isofold.reports import StructureView
from isofold.structure import (
    FreeMotions,
    RelaxationBound,
    RigidGroup,
    Structure,
    StructureProblem,
    Violations,
)


def structure_of(problem, coordinates, **others):
    """Return a structure with its violations of bounds and groups measured, all else as given."""
    coordinates = np.asarray(coordinates, dtype=float)
    n = problem.n_points
    fixed = FreeMotions(0, np.zeros(n, dtype=int))
    return Structure(
        **{
            "problem": problem,
            "coordinates": coordinates,
            "energy": 0.25,
            "vote": np.nan,
            "mirror_energy": np.nan,
            "variance_fraction": 0.97,
            "violations": violations_of(problem, coordinates),
            "free_motions": fixed,
            "undetermined_motions": fixed,
            "relaxation": None,
            "component": np.zeros(n, dtype=int),
            "ensemble": coordinates[None],
            "energies": np.array([0.25]),
            **others,
        }
    )


def violations_of(problem, coordinates):
    """Return how far coordinates are from bounds and rigid groups, worst first."""
    bounds = problem.bounds
    kinds = np.where(bounds.lower == bounds.upper, "distance", "bound")
    parts = [(kinds.astype("U8"), bounds.pairs, bounds.lower, bounds.upper)]
    for group in problem.groups:
        inner = np.column_stack(np.triu_indices(len(group.points), 1))
        legs = group.coordinates[inner[:, 0]] - group.coordinates[inner[:, 1]]
        lengths = np.linalg.norm(legs, axis=1)
        parts.append((np.full(len(inner), "group"), group.points[inner], lengths, lengths))
    kinds, pairs, lower, upper = (np.concatenate(part) for part in zip(*parts, strict=True))
    found = np.linalg.norm(coordinates[pairs[:, 0]] - coordinates[pairs[:, 1]], axis=1)
    size = np.abs(found - np.clip(found, lower, upper))
    order = np.argsort(-size, kind="stable")
    return Violations(kinds[order], pairs[order], lower[order], upper[order], found[order])


def molecule_case(names=None):
    """Return bromochlorofluoromethane, which has a hand, and how to show it."""
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3.0)
    lengths = np.array([1.09, 1.35, 1.76, 1.94])
    atoms = np.concatenate([np.zeros((1, 3)), corners * lengths[:, None]])
    known = names or ("C1", "H1", "F1", "Cl1", "Br1")
    problem = (
        StructureProblem(5, names=known)
        .with_groups([RigidGroup.of(range(5), atoms)])
        .with_bounds([[1, 4]], upper=[2.0])
        .with_bounds([[2, 3]], lower=[3.0])
        .with_centers([[1, 2, 3, 4]], [0.8])
    )
    structure = structure_of(
        problem, atoms, vote=1.0, relaxation=RelaxationBound(value=-3.0, bound=-3.0001)
    )
    view = StructureView(
        bonds=[[0, k] for k in range(1, 5)],
        elements=["C", "H", "F", "CL", "BR"],
        reference=_turned(atoms, 0.4) + 7.0,
        unit="Å",
    )
    return structure, view


def hinge_case():
    """Return two triangles hinged at an edge: one motion, and no hand."""
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    problem = StructureProblem(4).with_groups(
        [RigidGroup.of([0, 1, 2], triangle), RigidGroup.of([0, 1, 3], triangle)]
    )
    places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.9, 0.0], [0.5, -0.3, 0.85]]
    moves = FreeMotions(1, np.array([0, 0, 0, 1]))
    return structure_of(problem, places, free_motions=moves, undetermined_motions=moves)


def chain_case(n=3000, *, n_bounds=9000, seed=0):
    """Return a folded random chain with a reference, elements, a ribbon and noisy bounds."""
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.normal(size=(n, 3)), axis=0)
    truth = 1.5 * np.cumsum(steps / np.linalg.norm(steps, axis=1)[:, None], axis=0)
    # Folded up into a ball of the density of a protein.
    truth = 0.55 * n ** (1 / 3) * np.sin(truth / (0.55 * n ** (1 / 3)) * 1.3)
    pairs = cKDTree(truth).query_pairs(4.0, output_type="ndarray")
    pairs = pairs[rng.permutation(len(pairs))[:n_bounds]]
    lengths = np.linalg.norm(truth[pairs[:, 0]] - truth[pairs[:, 1]], axis=1)
    problem = StructureProblem(n, names=tuple(f"A/{k // 8 + 1}/X{k % 8}" for k in range(n)))
    problem = problem.with_bounds(pairs, lower=0.8 * lengths, upper=1.1 * lengths)
    tail = np.arange(n) >= 0.9 * n
    found = truth + rng.normal(size=truth.shape) * np.where(tail, 0.6, 0.12)[:, None]
    structure = structure_of(
        problem,
        found,
        vote=0.83,
        free_motions=FreeMotions(n // 9, np.arange(n) // 9),
        undetermined_motions=FreeMotions(12, np.where(tail, 1 + np.arange(n) % 7, 0)),
        relaxation=RelaxationBound(value=-120.0, bound=-120.01),
    )
    view = StructureView(
        bonds=np.column_stack([np.arange(n - 1), np.arange(1, n)]),
        elements=np.array(["N", "C", "C", "O", "C", "H", "S", "H"])[np.arange(n) % 8].tolist(),
        reference=_turned(truth, 1.0) - 5.0,
        core=np.flatnonzero(~tail),
        traces=[np.arange(0, n // 2, 2), np.arange(n // 2, n, 2)],
        unit="Å",
    )
    return structure, view


def network_case(n=200, *, dims=2, seed=0):
    """Return sensors with noisy ranges and some anchors, and where they truly are."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(size=(n, dims))
    radius = (12.0 / n) ** (1 / dims) * (0.55 if dims == 2 else 0.62)
    pairs = cKDTree(truth).query_pairs(radius, output_type="ndarray")
    lengths = np.linalg.norm(truth[pairs[:, 0]] - truth[pairs[:, 1]], axis=1)
    anchors = np.arange(0, n, 20)
    problem = (
        StructureProblem(n)
        .with_distances(pairs, lengths * (1 + 0.05 * rng.normal(size=len(lengths))))
        .with_anchors(anchors, truth[anchors])
    )
    found = truth + 0.1 * radius * rng.normal(size=truth.shape)
    found[anchors] = truth[anchors]
    return structure_of(problem, found), StructureView(reference=truth)


def _turned(points, angle):
    """Return points rotated about two axes."""
    c, s = np.cos(angle), np.sin(angle)
    first = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    second = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])
    return points @ first @ second
