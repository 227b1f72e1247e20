"""Small peptides with coordinates, made by turning ideal groups about their bonds."""

import numpy as np

from isofold.linalg import procrustes
from isofold.structure import protein


def folded(molecule, seed=0):
    """Return a molecule without rings between groups at random torsions."""
    rng = np.random.default_rng(seed)
    where, waiting = {}, list(molecule.groups())
    while waiting:
        group = next(
            (g for g in waiting if len(where.keys() & set(g)) >= 2 or not where), waiting[0]
        )
        waiting.remove(group)
        shape = group.in_axes(3)
        shared = [k for k, atom in enumerate(group) if atom in where]
        if shared:
            shape = _hinged(shape, shared, np.array([where[group.points[k]] for k in shared]), rng)
        for atom, place in zip(group, shape, strict=True):
            where.setdefault(atom, place)
    return molecule.with_coordinates([where[atom] for atom in range(molecule.n_atoms)])


def _hinged(shape, shared, target, rng):
    """Return a group on its two shared atoms, turned about their bond."""
    a, b = shape[shared[:2]]
    axis = (b - a) / np.linalg.norm(b - a)
    turn = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    angle = rng.uniform(-np.pi, np.pi)
    rotation = np.eye(3) + np.sin(angle) * turn + (1 - np.cos(angle)) * turn @ turn
    shape = (shape - a) @ rotation.T
    side = np.cross(shape[shared[1]], [0.3, 0.5, 0.8])
    bond = target[1] - target[0]
    other = np.cross(bond, [0.3, 0.5, 0.8])
    fit = procrustes(
        np.array([np.zeros(3), shape[shared[1]], side / np.linalg.norm(side)]),
        np.array([target[0], target[1], target[0] + other / np.linalg.norm(other)]),
        reflection=False,
    )
    return fit.transform.apply(shape)


def peptide(sequence, seed=0, **named):
    """Return a peptide at random torsions."""
    return folded(protein.from_sequence(sequence, **named), seed)


def pdb_lines(molecule, folder):
    """Return the lines of a PDB file of a molecule."""
    path = folder / "peptide.pdb"
    protein.write(path, molecule, overwrite=True)
    return path.read_text().splitlines()


NEF = """data_test
save_nef_molecular_system
  _nef_molecular_system.sf_category nef_molecular_system
  loop_
    _nef_sequence.index
    _nef_sequence.chain_code
    _nef_sequence.sequence_code
    _nef_sequence.residue_name
    _nef_sequence.linking
    _nef_sequence.cis_peptide
{sequence}
  stop_
save_
save_nef_distance_restraint_list_1
  _nef_distance_restraint_list.sf_category nef_distance_restraint_list
  loop_
    _nef_distance_restraint.index
    _nef_distance_restraint.restraint_id
    _nef_distance_restraint.restraint_combination_id
    _nef_distance_restraint.chain_code_1
    _nef_distance_restraint.sequence_code_1
    _nef_distance_restraint.residue_name_1
    _nef_distance_restraint.atom_name_1
    _nef_distance_restraint.chain_code_2
    _nef_distance_restraint.sequence_code_2
    _nef_distance_restraint.residue_name_2
    _nef_distance_restraint.atom_name_2
    _nef_distance_restraint.target_value
    _nef_distance_restraint.target_value_uncertainty
    _nef_distance_restraint.lower_limit
    _nef_distance_restraint.upper_limit
{restraints}
  stop_
save_
{rest}
"""


def nef_text(residues, restraints, rest="", first=1):
    """Return a NEF file; restraints are (id, combination, place, atom, place, atom, low, high)."""
    sequence = [f"    {k + 1} A {k + first} {name} middle ." for k, name in enumerate(residues)]
    rows = [
        f"    {n + 1} {name} {combination} A {a + first} {residues[a]} {one} A {b + first} "
        f"{residues[b]} {other} . . {low} {high}"
        for n, (name, combination, a, one, b, other, low, high) in enumerate(restraints)
    ]
    return NEF.format(sequence="\n".join(sequence), restraints="\n".join(rows), rest=rest)
