"""Rigid groups of proteins, from ideal residues and from structures."""

from itertools import combinations

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.linalg import procrustes
from isofold.structure import free_motions, protein
from support.peptides import peptide

SEQUENCE = "GAWRNDCQEHILKMFSTYV"


@pytest.fixture(scope="module")
def chain():
    """Return a chain of all amino acids but proline, at random torsions."""
    return peptide(SEQUENCE)


def _place(molecule, residue, atom):
    at = [
        k
        for k, (name, home) in enumerate(zip(molecule.atom_names, molecule.residue_of, strict=True))
        if name == atom and home == residue
    ]
    return at[0]


def _between(group, molecule, first, second):
    members = group.points.tolist()
    a, b = (members.index(_place(molecule, *end)) for end in (first, second))
    shape = group.in_axes(3)
    return float(np.linalg.norm(shape[a] - shape[b]))


def _group_with(molecule, *ends, geometry="template"):
    atoms = {_place(molecule, *end) for end in ends}
    return next(group for group in molecule.groups(geometry) if atoms <= set(group))


def test_groups_share_bonds_and_cover_all_atoms(chain):
    groups = [set(group) for group in chain.groups()]
    assert set().union(*groups) == set(range(chain.n_atoms))
    bonds = {frozenset(pair) for pair in chain.bonds.tolist()}
    shared = [first & second for first, second in combinations(groups, 2)]
    assert {len(each) for each in shared} <= {0, 1, 2}
    assert all(each in bonds for each in shared if len(each) == 2)


def test_every_hinge_is_a_free_motion(chain):
    # Without rings of groups, each shared bond is one torsion.
    groups = chain.groups()
    hinges = sum(len(set(a) & set(b)) == 2 for a, b in combinations(groups, 2))
    problem = chain.problem(geometry="structure")
    assert free_motions(problem, chain.coordinates).n_motions == hinges


def test_a_structure_of_ideal_residues_has_their_groups(chain):
    ideal, own = chain.groups("template"), chain.groups("structure")
    assert [set(group) for group in ideal] == [set(group) for group in own]
    misfits = [
        procrustes(a.in_axes(3), b.in_axes(3), reflection=False).residual
        for a, b in zip(ideal, own, strict=True)
    ]
    # Shared bonds of neighboring groups have slightly different lengths: the first is kept.
    assert max(misfits) < 0.05
    assert (protein.group_dimensions(ideal) == protein.group_dimensions(own)).all()


def test_traces_follow_the_chain(chain):
    (trace,) = chain.traces
    assert [chain.residue_of[atom] for atom in trace] == list(range(len(SEQUENCE)))
    assert {chain.atom_names[atom] for atom in trace} == {"CA"}


def test_an_indole_is_one_flat_group(chain):
    group = _group_with(chain, (2, "CG"), (2, "CZ2"))
    assert len(group) == 16
    assert group.dimension == 2
    assert protein.group_dimensions([group]).tolist() == [2]


def test_peptide_planes_are_trans_unless_cis_is_told():
    trans, cis = protein.from_sequence("GA"), protein.from_sequence("GA", cis=[2])
    ends = (0, "CA"), (1, "CA")
    assert _between(_group_with(trans, *ends), trans, *ends) == pytest.approx(3.80, abs=0.02)
    assert _between(_group_with(cis, *ends), cis, *ends) == pytest.approx(2.94, abs=0.05)
    bond = (0, "C"), (1, "N")
    assert _between(_group_with(trans, *bond), trans, *bond) == pytest.approx(1.329)


def test_hydrogens_follow_the_names_of_iupac(chain):
    # Seen from the main chain outward, the second hydrogen follows the first: a positive volume.
    for residue, atoms in (
        (3, ("CA", "CB", "CG")), (11, ("CA", "CB", "CG")), (10, ("CB", "CG1", "CD1")),
        (13, ("CB", "CG", "SD")), (5, ("CA", "CB", "CG")), (0, ("N", "CA", "C")),
    ):  # fmt: skip
        toward, center, outward = (_place(chain, residue, atom) for atom in atoms)
        pair = sorted(
            (
                k for bond in chain.bonds.tolist() for k in bond
                if center in bond and chain.elements[k] == "H"
            ),
            key=lambda k: chain.atom_names[k],
        )  # fmt: skip
        where = chain.coordinates[[outward, *pair]] - chain.coordinates[toward]
        assert np.linalg.det(where) > 0
    guanidinium = _group_with(chain, (3, "NE"), (3, "NH1"))
    near, far = (_between(guanidinium, chain, (3, "CD"), (3, name)) for name in ("NH1", "NH2"))
    assert near < 3.0 < far


def test_the_hand_of_a_residue_is_that_of_its_name():
    volumes = {}
    for code in ("ALA", "DAL"):
        molecule = protein.from_sequence(["GLY", code, "GLY"])
        problem = molecule.problem()
        corners = [_place(molecule, 1, atom) for atom in ("N", "C", "CB", "HA")]
        row = [set(each) == set(corners) for each in problem.centers.corners.tolist()].index(True)
        order = problem.centers.corners[row].tolist()
        swaps = sum(order.index(a) > order.index(b) for a, b in combinations(corners, 2))
        volumes[code] = problem.centers.volumes[row] * (-1) ** swaps
    assert volumes["ALA"] == pytest.approx(-volumes["DAL"], rel=0.1)


def test_mirrored_molecules_are_told(chain):
    mirror = chain.with_coordinates(chain.coordinates * [1, 1, -1])
    (finding,) = mirror.geometry().findings
    # Alpha carbons but glycine's, and the second centers of isoleucine and threonine, at least.
    assert finding.code == "other_hand"
    assert len(finding.samples) >= len(SEQUENCE) - 1 + 2
    assert not chain.geometry().findings


def test_disulfides_join_two_sulfurs():
    bridged = protein.from_sequence("CGC", disulfides=[(1, 3)])
    assert "HG" not in bridged.atom_names
    ends = (0, "SG"), (2, "SG")
    assert _between(_group_with(bridged, *ends), bridged, *ends) == pytest.approx(2.033)
    with pytest.raises(InvalidInputError, match="not both cysteines"):
        protein.from_sequence("CGC", disulfides=[(1, 2)])


def test_contacts_exempt_atoms_within_three_bonds():
    molecule = protein.from_sequence("G")
    exempt = {tuple(pair) for pair in molecule.problem().contacts.exempt.tolist()}
    assert exempt
    assert (_place(molecule, 0, "N"), _place(molecule, 0, "O")) in exempt
    first, last = _place(molecule, 0, "H1"), _place(molecule, 0, "O")
    assert (first, last) not in exempt


@pytest.mark.parametrize(
    ("sequence", "text"),
    [("GAZ", "letters Z"), ("", "empty"), (["GLY", "QQQQQ"], "not in the Chemical"),
     (["GLY", "HOH"], "no amino acid")],
)  # fmt: skip
def test_what_is_no_sequence_is_refused(sequence, text):
    with pytest.raises(InvalidInputError, match=text):
        protein.from_sequence(sequence)
