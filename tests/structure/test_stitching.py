"""Rigid groups stitched with bounds: known structures, an independent solver, refused input."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from isofold.exceptions import DoubtfulMapWarning, InvalidInputError
from isofold.linalg import procrustes
from isofold.sdp import ConicSDP, LowRankSDP
from isofold.structure import (
    GroupStitching,
    RigidGroup,
    StructureProblem,
    free_motions,
    gram_rows,
)

TRIANGLE = [[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]]

# Peptides and hydrocarbons of up to 36 atoms.
MOLECULES = {
    "ethane": ("CC", 1),
    "butane": ("CCCC", 3),
    "alanine dipeptide": ("CC(=O)NC(C)C(=O)NC", 5),
    "capped Gly-Ala-Gly": ("CC(=O)NCC(=O)NC(C)C(=O)NCC(=O)NC", 9),
}


def molecule(smiles):
    """Return coordinates and the rigid groups: stars of bonds, joined where bonds cannot turn."""
    Chem = pytest.importorskip("rdkit.Chem")
    AllChem = pytest.importorskip("rdkit.Chem.AllChem")
    found = Chem.AddHs(Chem.MolFromSmiles(smiles))
    AllChem.EmbedMolecule(found, randomSeed=1)
    amides = found.GetSubstructMatches(Chem.MolFromSmarts("[CX3](=O)-[NX3]"))
    stiff = {frozenset((c, n)) for c, _, n in amides}
    stiff |= {
        frozenset((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        for bond in found.GetBonds()
        if bond.IsInRing() or bond.GetBondTypeAsDouble() > 1.0
    }
    groups = [
        {atom.GetIdx(), *(other.GetIdx() for other in atom.GetNeighbors())}
        for atom in found.GetAtoms()
        if atom.GetDegree() > 1
    ]
    for bond in stiff:
        holders = [group for group in groups if bond <= group]
        if len(holders) > 1:
            groups = [group for group in groups if group not in holders]
            groups.append(set.union(*holders))
    return found.GetConformer().GetPositions(), [sorted(group) for group in groups]


def grouped(X, groups):
    return StructureProblem(len(X)).with_groups(RigidGroup.of(own, X[own]) for own in groups)


def near_pairs(X, groups, reach=5.0):
    """Return pairs outside of groups that are near, and their distances."""
    D = squareform(pdist(X))
    outside = np.triu(reach > D, 1)
    for own in groups:
        outside[np.ix_(own, own)] = False
    pairs = np.argwhere(outside)
    return pairs, D[tuple(pairs.T)]


def assert_found(problem, X, **parameters):
    """Check that a structure comes back, certified, with its hand and nothing undetermined."""
    found = GroupStitching(random_state=0, **parameters).fit(problem)
    # Rotations only: the hand is that of the groups.
    assert procrustes(found.coordinates_, X, reflection=False).residual < 1e-6
    assert found.certificate_.gap < 1e-4
    assert found.structure_.vote > 0.9
    assert found.structure_.undetermined_motions.is_rigid


@pytest.mark.parametrize("name", MOLECULES)
def test_torsions_that_distances_fix_come_back_exactly(name):
    smiles, n_hinges = MOLECULES[name]
    X, groups = molecule(smiles)
    problem = grouped(X, groups)
    assert free_motions(problem, X).n_motions == n_hinges
    rows = gram_rows(problem)
    assert rows.groups - rows.shared == n_hinges
    assert_found(problem.with_distances(*near_pairs(X, groups)), X)


@pytest.mark.parametrize("name", ["ethane", "butane"])
def test_torsions_that_upper_bounds_fix_come_back_exactly(name):
    X, groups = molecule(MOLECULES[name][0])
    pairs, lengths = near_pairs(X, groups)
    assert_found(grouped(X, groups).with_bounds(pairs, upper=lengths), X)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alanine dipeptide", "capped Gly-Ala-Gly"])
def test_larger_molecules_from_upper_bounds_by_an_interior_point(name):
    pytest.importorskip("cvxpy")
    X, groups = molecule(MOLECULES[name][0])
    pairs, lengths = near_pairs(X, groups)
    problem = grouped(X, groups).with_bounds(pairs, upper=lengths)
    assert_found(problem, X, solver=ConicSDP(tol=1e-4))


def test_angles_fix_a_torsion_as_distances_do():
    X, groups = molecule("CC")
    pairs, _ = near_pairs(X, groups)
    ends = pairs[0]
    # The angle at a carbon between its other neighbor's hydrogen and its own.
    corner = next(a for a in groups[0] if a not in ends and np.linalg.norm(X[a] - X[ends[1]]) > 2)
    legs = np.linalg.norm(X[ends] - X[corner], axis=1)
    u, v = X[ends] - X[corner]
    angle = np.arccos(u @ v / legs.prod())
    problem = grouped(X, groups).with_angles(
        [[ends[0], corner, ends[1]]], legs=legs, lower=angle, upper=angle
    )
    found = GroupStitching(random_state=0).fit(problem)
    assert found.violations_.worst < 1e-9
    assert found.free_motions_.n_motions == 0


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_a_hinge_without_bounds_opens_and_is_counted():
    problem = StructureProblem(4).with_groups(
        [RigidGroup.of([0, 1, 2], TRIANGLE), RigidGroup.of([0, 1, 3], TRIANGLE)]
    )
    found = GroupStitching(random_state=0).fit(problem)
    assert found.free_motions_.n_motions == 1
    codes = {each.code for each in found.diagnosis_.findings}
    assert {"undetermined_motions", "hand_unknown"} <= codes
    # The widest of all structures is flat.
    assert np.isclose(np.linalg.norm(found.coordinates_[2] - found.coordinates_[3]), 1.8)


def test_bounds_that_leave_more_dimensions_are_told():
    X, groups = molecule("CC")
    pairs, lengths = near_pairs(X, groups)
    problem = grouped(X, groups).with_bounds(pairs, lower=0.95 * lengths, upper=1.05 * lengths)
    found = GroupStitching(random_state=0).fit(problem)
    assert found.structure_.variance_fraction < 0.999
    finding = found.diagnosis_["relaxation_rank"]
    assert not finding.is_raised
    assert "dimensions" in finding.message()
    assert found.violations_.worst < 1e-9


def noisy_chain(seed=0):
    """Return three flat groups that share bonds of which each has another length."""
    rng = np.random.default_rng(seed)
    members = [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7]]
    shapes = [rng.standard_normal((4, 2)) for _ in members]
    problem = StructureProblem(8).with_groups(
        RigidGroup.of(own, shape) for own, shape in zip(members, shapes, strict=True)
    )
    return problem, members, shapes


def thesis_forms(members, shapes):
    """Return L_X, Z and L_G of the thesis, entry by entry."""
    c, side = len(members), sum(shape.shape[1] for shape in shapes)
    begin = np.cumsum([0] + [shape.shape[1] for shape in shapes])
    L_X, Z, L_G = np.zeros((side, side)), np.zeros((side, c)), np.zeros((c, c))
    for i in range(c):
        for j in range(i + 1, c):
            both = [x for x in members[i] if x in members[j]]
            for x in both:
                row, v = np.zeros(side), np.zeros(c)
                row[begin[i] : begin[i + 1]] = shapes[i][members[i].index(x)]
                row[begin[j] : begin[j + 1]] = -shapes[j][members[j].index(x)]
                v[i], v[j] = 1.0, -1.0
                L_X += np.outer(row, row) / len(both)
                Z += np.outer(row, v) / len(both)
                L_G += np.outer(v, v) / len(both)
    return L_X, Z, L_G, begin


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_without_bounds_the_optimum_is_that_of_the_thesis():
    cp = pytest.importorskip("cvxpy")
    problem, members, shapes = noisy_chain()
    found = GroupStitching(variance=0.0, solver=LowRankSDP(tol=1e-8), random_state=0).fit(problem)
    L_X, Z, L_G, begin = thesis_forms(members, shapes)
    K = L_X - Z @ np.linalg.pinv(L_G) @ Z.T
    A = cp.Variable(K.shape, PSD=True)
    units = [A[a:b, a:b] == np.eye(b - a) for a, b in pairwise(begin)]
    # Two overlaps: the mean over them is minimized.
    optimum = cp.Problem(cp.Minimize(cp.trace(A @ K) / 2), units).solve(solver="CLARABEL")
    assert found.certificate_.value == pytest.approx(optimum, rel=1e-5)
    assert found.certificate_.bound == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_with_bounds_the_optimum_is_that_of_an_interior_point(kind):
    cp = pytest.importorskip("cvxpy")
    problem, members, shapes = noisy_chain(1)
    pairs, upper = np.array([[0, 6], [1, 7]]), np.array([0.6, 0.9])
    penalty = None if kind == "hard" else 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        found = GroupStitching(
            variance=0.0, penalty=penalty, solver=LowRankSDP(tol=1e-7), random_state=0
        ).fit(problem.with_bounds(pairs, upper=upper))
    L_X, Z, L_G, begin = thesis_forms(members, shapes)
    M = np.block([[L_X, Z], [Z.T, L_G]])
    G = cp.Variable(M.shape, PSD=True)
    conditions = [G[a:b, a:b] == np.eye(b - a) for a, b in pairwise(begin)]
    objective = cp.trace(G @ M) / 2
    # The unit of the stitching, in which the penalty of squared distances counts.
    unit = np.sqrt(np.mean([(shape - shape.mean(axis=0)) ** 2 for shape in shapes]))
    for (a, b), limit in zip(pairs, upper, strict=True):
        f = np.zeros(len(M))
        for point, sign in ((a, 1.0), (b, -1.0)):
            (group,) = (k for k, own in enumerate(members) if point in own)
            f[begin[group] : begin[group + 1]] += sign * shapes[group][members[group].index(point)]
            f[begin[-1] + group] += sign
        excess = cp.trace(G @ np.outer(f, f)) - limit**2
        if penalty is None:
            conditions.append(excess <= 0.0)
        else:
            objective = objective + penalty / 2 * cp.square(cp.pos(excess)) / unit**2
    optimum = cp.Problem(cp.Minimize(objective), conditions).solve(solver="CLARABEL")
    assert found.certificate_.value == pytest.approx(optimum, rel=1e-4)


def indole():
    """Return the 16 atoms of an indole, all in one plane."""
    return np.random.default_rng(0).standard_normal((16, 2))


def test_rows_of_an_indole():
    ring = RigidGroup.of(range(16), indole())
    alone = gram_rows(StructureProblem(16).with_groups([ring]))
    assert (alone.points, alone.groups, alone.shared) == (16, 2, 2)
    # A carbon outside of the ring, with three more atoms of its own, shares its bond to the ring.
    bond = indole()[:2] - indole()[0]
    star = np.vstack([np.pad(bond, ((0, 0), (0, 1))), np.eye(3)])
    carbon = RigidGroup.of([0, 1, 16, 17, 18], star)
    both = gram_rows(StructureProblem(19).with_groups([ring, carbon]))
    assert (both.points, both.groups, both.shared) == (19, 5, 4)


@pytest.mark.parametrize(("shared", "rows"), [(1, 12), (2, 9), (3, 6)])
def test_rows_of_a_chain_of_tetrahedra(shared, rows):
    groups = [np.arange(k, k + 4) for k in range(0, 4 * (4 - shared), 4 - shared)]
    X = np.random.default_rng(0).standard_normal((groups[-1][-1] + 1, 3))
    found = gram_rows(grouped(X, groups))
    assert (found.groups, found.shared) == (12, rows)


def test_rows_of_points_in_no_group():
    problem = StructureProblem(5).with_groups([RigidGroup.of([0, 1, 2], TRIANGLE)])
    found = gram_rows(problem.with_distances([[0, 3], [3, 4]], 1.0))
    assert (found.points, found.groups, found.shared) == (5, 4, 4)


def test_single_points_and_anchors_are_placed():
    X = np.random.default_rng(3).standard_normal((8, 3))
    problem = (
        grouped(X, [[0, 1, 2, 3, 4]])
        .with_anchors([0, 1, 5], X[[0, 1, 5]])
        .with_distances(*near_pairs(X, [[0, 1, 2, 3, 4]], reach=np.inf))
    )
    found = GroupStitching(random_state=0).fit(problem)
    np.testing.assert_allclose(found.coordinates_, X, atol=1e-6)
    assert found.free_motions_.is_rigid


def test_plates_in_the_plane():
    X = np.random.default_rng(0).standard_normal((7, 2))
    problem = grouped(X, [[0, 1, 2, 3], [3, 4, 5, 6]]).with_distances(
        [[0, 5], [1, 6]], [np.linalg.norm(X[0] - X[5]), np.linalg.norm(X[1] - X[6])]
    )
    found = GroupStitching(2, random_state=0).fit(problem)
    assert found.coordinates_.shape == (7, 2)
    assert found.violations_.worst < 1e-9


def test_a_single_group_is_itself():
    X = np.random.default_rng(0).standard_normal((5, 3))
    found = GroupStitching().fit(grouped(X, [range(5)]))
    assert procrustes(found.coordinates_, X, reflection=False).residual < 1e-12


def test_the_same_seed_gives_the_same_bytes():
    X, groups = molecule("CC")
    pairs, lengths = near_pairs(X, groups)
    problem = grouped(X, groups).with_bounds(pairs, upper=1.1 * lengths)
    first, second = (GroupStitching(random_state=1).fit(problem) for _ in range(2))
    assert first.coordinates_.tobytes() == second.coordinates_.tobytes()


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"variance": -1.0}, "variance"),
        ({"penalty": 0.0}, "penalty"),
        ({"solver": "conic"}, "LowRankSDP"),
    ],
)
def test_parameters_without_sense_are_refused(parameters, match):
    problem, *_ = noisy_chain()
    with pytest.raises(InvalidInputError, match=match):
        GroupStitching(**parameters).fit(problem)


def test_problems_without_sense_are_refused():
    with pytest.raises(InvalidInputError, match="no rigid groups"):
        GroupStitching().fit(StructureProblem(2).with_distances([[0, 1]], 1.0))
    apart = StructureProblem(6).with_groups(
        [RigidGroup.of([0, 1, 2], TRIANGLE), RigidGroup.of([3, 4, 5], TRIANGLE)]
    )
    with pytest.raises(InvalidInputError, match="joins the 2 parts of 3, 3 points"):
        GroupStitching().fit(apart)


def test_contradictions_are_told():
    problem = StructureProblem(4).with_groups(
        [RigidGroup.of([0, 1, 2], TRIANGLE), RigidGroup.of([0, 1, 3], TRIANGLE)]
    )
    # The far corners are at most 1.8 apart.
    with pytest.warns(DoubtfulMapWarning, match="contradict"):
        found = GroupStitching(penalty=1.0, random_state=0).fit(
            problem.with_distances([[2, 3]], [3.0])
        )
    assert found.violations_.worst > 0.1
