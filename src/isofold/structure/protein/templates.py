"""Ideal geometry of rigid groups: backbone by Engh and Huber, the rest from the dictionary.

Peptide planes, the star of the alpha carbon, both ends of a chain and disulfides are made of bond
lengths and angles [1]_, because the dictionary has free amino acids. All other groups have the
ideal coordinates of the Chemical Component Dictionary, with side-chain angles of [1]_ where two
heavy atoms are bonded to a tetrahedral carbon.

References
----------
.. [1] R. A. Engh and R. Huber, "Accurate bond and angle parameters for X-ray protein structure
   refinement", Acta Crystallographica A47, 1991.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isofold._typing import FloatArray
from isofold.structure.protein.bonds import neighbors_of
from isofold.structure.protein.components import Component, component_of
from isofold.structure.protein.groups import AtomGroup, is_flat_around
from isofold.structure.protein.molecule import Molecule

__all__ = ["Templates"]

# Lengths in Å, angles in degrees.
PEPTIDE_CN, CARBONYL, CA_C, N_CA, N_H = 1.329, 1.231, 1.525, 1.458, 1.01
CA_C_N, O_C_N, C_N_CA, C_N_H, C_N_CD = 116.6, 123.0, 121.7, 119.2, 125.6
PROLINE_CN, PROLINE_NCA, PROLINE_NCD = 1.341, 1.466, 1.473
PROLINE_CA_C_N, PROLINE_O_C_N, PROLINE_C_N_CA = 116.9, 122.0, 122.6
CIS_CA_C_N, CIS_C_N_CA, CIS_C_N_CD, CIS_C_N_H = 119.0, 127.0, 120.6, 116.0
CARBOXYLATE_CO, CA_C_OXT, C_H = 1.25, 117.5, 1.09
DISULFIDE, CB_SG, CB_SG_SG = 2.033, 1.808, 103.8
AMMONIUM_NH, AMMONIUM_NCA, CA_N_H = 1.03, 1.49, 109.5
TETRAHEDRAL = 109.5

# Around the alpha carbon: length to the beta carbon, angles N-CA-C, N-CA-CB and C-CA-CB.
ALPHA = {
    "ALA": (1.521, 111.2, 110.4, 110.5), "PRO": (1.530, 111.8, 103.0, 110.1),
    "ILE": (1.540, 111.2, 111.5, 109.1), "THR": (1.540, 111.2, 111.5, 109.1),
    "VAL": (1.540, 111.2, 111.5, 109.1),
}  # fmt: skip
ALPHA_OTHERS = (1.530, 111.2, 110.5, 110.1)
GLYCINE_N_CA_C = 112.5

# Angles between two heavy atoms at a tetrahedral carbon that carries hydrogens.
SIDE_ANGLES = {
    ("ARG", "CB"): 114.1, ("ARG", "CG"): 111.3, ("ARG", "CD"): 112.0, ("ASN", "CB"): 112.6,
    ("ASP", "CB"): 112.6, ("CYS", "CB"): 114.4, ("GLN", "CB"): 114.1, ("GLN", "CG"): 112.6,
    ("GLU", "CB"): 114.1, ("GLU", "CG"): 112.6, ("HIS", "CB"): 113.8, ("ILE", "CG1"): 113.8,
    ("LEU", "CB"): 116.3, ("LYS", "CB"): 114.1, ("LYS", "CG"): 111.3, ("LYS", "CD"): 111.3,
    ("LYS", "CE"): 111.9, ("MET", "CB"): 114.1, ("MET", "CG"): 112.7, ("PHE", "CB"): 113.8,
    ("PRO", "CB"): 104.5, ("PRO", "CG"): 106.1, ("PRO", "CD"): 103.2, ("SER", "CB"): 111.1,
    ("TRP", "CB"): 113.6, ("TYR", "CB"): 113.8,
}  # fmt: skip

# Guanidinium of arginine; the dictionary's is bent in its plane, and has NH1 far from CD.
CZ_NE, CZ_NH, NE_CD, CZ_NE_CD, CZ_NE_HE = 1.329, 1.326, 1.460, 124.2, 117.9

# Carboxylates of side chains: their carbon, its neighbor in the chain, the oxygens.
CARBOXYLATES = {"ASP": ("CG", "CB", "OD1", "OD2"), "GLU": ("CD", "CG", "OE1", "OE2")}
CARBOXYLATE_CC, C_C_CARBOXYLATE = 1.516, 118.4

# Hydrogens of one carbon or nitrogen whose ideal coordinates in the dictionary do not follow the
# order of IUPAC.
_SWAPS = {
    "ARG": (("HB2", "HB3"), ("HG2", "HG3")),
    "GLN": (("HE21", "HE22"),),
    "ILE": (("HG12", "HG13"),),
    "LEU": (("HB2", "HB3"),),
    "MET": (("HB2", "HB3"), ("HG2", "HG3")),
}
SWAPPED = {
    (residue, one): other
    for residue, pairs in _SWAPS.items()
    for first, second in pairs
    for one, other in ((first, second), (second, first))
}


class Templates:
    """Ideal geometry of the groups of one molecule.

    Parameters
    ----------
    molecule : Molecule
        The molecule; its coordinates are not looked at.
    """

    def __init__(self, molecule: Molecule) -> None:
        self.molecule = molecule
        self.neighbors = neighbors_of(molecule.n_atoms, molecule.bonds)
        self.components: list[Component | None] = [
            component_of(residue.name) for residue in molecule.residues
        ]
        self.names = self._dictionary_names()
        self._cis = {tuple(sorted(pair)) for pair in molecule.cis.tolist()}

    def component(self, atom: int) -> Component | None:
        """Return the component of an atom's residue."""
        return self.components[int(self.molecule.residue_of[atom])]

    def is_planar(self, atom: int) -> bool | None:
        """Whether the bonds of an atom lie in a plane by its chemistry; None if that is unknown."""
        component, name = self.component(atom), self.names[atom]
        if component is None or not name:
            return None
        if component.kind == "peptide" and name == "N":
            return self._links(atom) > 0
        around = component.neighbors(name)
        if len(around) != 3:
            return False if len(self.neighbors[atom]) <= len(around) else None
        if component.elements[component.index(name)] == "N" and not self._has_flat_carbon(atom):
            return False
        return is_flat_around(_ideal(component, [name])[0], _ideal(component, around))

    def geometry(self, group: AtomGroup) -> FloatArray | None:
        """Return ideal coordinates of a group's atoms, or None if there are none."""
        peptide = self._peptide_bond(group)
        made: dict[int, FloatArray] | None
        if peptide is not None:
            made = self._peptide_plane(*peptide)
        elif len(group.centers) == 1 and self._is_peptide(group.centers[0]):
            made = self._star(group.centers[0])
        elif {self.names[atom] for atom in group.centers} == {"NE", "CZ", "NH1", "NH2"}:
            made = self._guanidinium(group.atoms)
        else:
            made = self._from_dictionary(group.atoms)
        if made is None or not set(group.atoms) <= set(made):
            return None
        return np.array([made[atom] for atom in group.atoms])

    def _dictionary_names(self) -> list[str]:
        """Return the dictionary's names of all atoms; empty for atoms that it does not have."""
        molecule, names = self.molecule, [""] * self.molecule.n_atoms
        for atom, given in enumerate(molecule.atom_names):
            component = self.component(atom)
            known = component is not None and component.canonical(given)
            if component is not None and known in component.atom_names:
                names[atom] = str(known)
        for center in range(molecule.n_atoms):
            component = self.component(center)
            if component is None or molecule.elements[center] == "H" or not names[center]:
                continue
            hydrogens = [a for a in self.neighbors[center] if molecule.elements[a] == "H"]
            known_ones = component.hydrogens_of(names[center])
            # A hydrogen's name may belong to another atom in the dictionary.
            for atom in hydrogens:
                if names[atom] not in known_ones:
                    names[atom] = ""
            free = [name for name in known_ones if name not in {names[a] for a in hydrogens}]
            unnamed = [atom for atom in hydrogens if not names[atom]]
            for atom, name in zip(unnamed, free, strict=False):
                names[atom] = name
        return names

    def _links(self, atom: int) -> int:
        """Return how many neighbors of an atom belong to other residues."""
        home = self.molecule.residue_of[atom]
        return sum(self.molecule.residue_of[other] != home for other in self.neighbors[atom])

    def _carries_hydrogen(self, atom: int) -> bool:
        """Whether an oxygen carries a hydrogen."""
        elements = self.molecule.elements
        around = self.neighbors[atom]
        return elements[atom] == "O" and any(elements[other] == "H" for other in around)

    def _is_peptide(self, atom: int) -> bool:
        component = self.component(atom)
        return component is not None and component.kind == "peptide"

    def _has_flat_carbon(self, atom: int) -> bool:
        """Whether a carbon beside a nitrogen is planar."""
        return any(
            self.molecule.elements[other] == "C" and self.is_planar(other)
            for other in self.neighbors[atom]
        )

    def _from_dictionary(self, atoms: Sequence[int]) -> dict[int, FloatArray] | None:
        """Return the dictionary's coordinates of atoms of one residue."""
        if len({self.molecule.residue_of[atom] for atom in atoms}) != 1:
            return None
        component = self.component(atoms[0])
        if component is None or not all(self.names[atom] for atom in atoms):
            return None
        return dict(zip(atoms, _ideal(component, [self.names[a] for a in atoms]), strict=True))

    def _guanidinium(self, atoms: Sequence[int]) -> dict[int, FloatArray] | None:
        """Return the flat end of arginine: CZ at the origin, NE on the first axis."""
        amide, first, second = _flat(CZ_NE, 0.0), _polar(CZ_NH, 120.0), _polar(CZ_NH, -120.0)
        places = {
            "CZ": _flat(0.0, 0.0), "NE": amide, "NH1": first, "NH2": second,
            "CD": amide + _polar(NE_CD, 180.0 - CZ_NE_CD),
            "HE": amide + _polar(N_H, CZ_NE_HE - 180.0),
            "HH11": first + _polar(N_H, 60.0), "HH12": first + _polar(N_H, 180.0),
            "HH21": second + _polar(N_H, -60.0), "HH22": second + _polar(N_H, 180.0),
        }  # fmt: skip
        if not all(self.names[atom] in places for atom in atoms):
            return None
        return {atom: places[self.names[atom]] for atom in atoms}

    def _peptide_bond(self, group: AtomGroup) -> tuple[int, int] | None:
        """Return the atoms C and N of a peptide bond that a group turns with."""
        names, home = self.names, self.molecule.residue_of
        for carbon in group.centers:
            if names[carbon] == "C":
                for nitrogen in self.neighbors[carbon]:
                    if names[nitrogen] == "N" and home[nitrogen] != home[carbon]:
                        return carbon, nitrogen
        return None

    def _peptide_plane(self, carbon: int, nitrogen: int) -> dict[int, FloatArray] | None:
        """Return a flat peptide group, trans unless it is known to be cis."""
        names = self.names
        before = {names[atom]: atom for atom in self.neighbors[carbon]}
        after = {names[atom]: atom for atom in self.neighbors[nitrogen]}
        if not (set(before) <= {"CA", "O", "N"} and set(after) <= {"C", "CA", "H", "CD"}):
            return None
        is_proline = "CD" in after
        is_cis = tuple(sorted((carbon, nitrogen))) in self._cis
        # C at the origin, N on the first axis, CA and O on its two sides.
        length = PROLINE_CN if is_proline else PEPTIDE_CN
        angle = CIS_CA_C_N if is_cis else PROLINE_CA_C_N if is_proline else CA_C_N
        made = {carbon: _flat(0.0, 0.0), nitrogen: _flat(length, 0.0)}
        angle_oxygen = PROLINE_O_C_N if is_proline else O_C_N
        for name, reach, turn in (("CA", CA_C, angle), ("O", CARBONYL, -angle_oxygen)):
            if name in before:
                made[before[name]] = _polar(reach, turn)
        # The next CA lies on the side of O, unless the bond is cis.
        far, side = _flat(length, 0.0), -1.0 if is_cis else 1.0
        angle = CIS_C_N_CA if is_cis else PROLINE_C_N_CA if is_proline else C_N_CA
        for name, reach, turn in (
            ("CA", PROLINE_NCA if is_proline else N_CA, angle - 180.0),
            ("H", N_H, 180.0 - (CIS_C_N_H if is_cis else C_N_H)),
            ("CD", PROLINE_NCD, 180.0 - (CIS_C_N_CD if is_cis else C_N_CD)),
        ):
            if name in after:
                made[after[name]] = far + _polar(reach, side * turn)
        return made

    def _star(self, center: int) -> dict[int, FloatArray] | None:
        """Return the star of an atom of an amino acid."""
        name = self.names[center]
        around = {self.names[atom]: atom for atom in self.neighbors[center]}
        if name == "N" and not self._links(center):
            return self._amino_end(center)
        if name == "C" and not self._links(center):
            return self._carboxylate(center, around, ("CA", "O", "OXT"), (CA_C, CA_C_OXT))
        if name == "SG" and self._links(center):
            return self._disulfide(center)
        if self._links(center) or not all(around):
            return None
        if name == "CA":
            made = self._alpha(center, around)
            if made is not None:
                return made
        return self._side_chain(center, around)

    def _amino_end(self, center: int) -> dict[int, FloatArray] | None:
        """Return the charged first nitrogen of a chain: a tetrahedron, or what is there of it."""
        heavy = [a for a in self.neighbors[center] if self.molecule.elements[a] != "H"]
        hydrogens = [a for a in self.neighbors[center] if self.molecule.elements[a] == "H"]
        if len(heavy) != 1 or len(hydrogens) > 3:
            return self._amino_ring(center, heavy, hydrogens)
        made = {center: np.zeros(3), heavy[0]: np.array([AMMONIUM_NCA, 0.0, 0.0])}
        tilt = np.deg2rad(CA_N_H)
        for k, atom in enumerate(hydrogens):
            turn = 2 * np.pi * k / 3
            made[atom] = AMMONIUM_NH * np.array(
                [np.cos(tilt), np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn)]
            )
        return made

    def _amino_ring(
        self, center: int, heavy: list[int], hydrogens: list[int]
    ) -> dict[int, FloatArray] | None:
        """Return the first nitrogen of a chain that begins with proline."""
        if len(heavy) != 2 or len(hydrogens) > 2:
            return None
        made = _methylene(N_CA, PROLINE_NCD, 112.0, AMMONIUM_NH)
        order = sorted(heavy, key=lambda atom: self.names[atom] != "CA")
        placed = zip((center, *order, *hydrogens), made, strict=False)
        return dict(placed)

    def _carboxylate(
        self,
        center: int,
        around: dict[str, int],
        labels: Sequence[str],
        shape: tuple[float, float],
    ) -> dict[int, FloatArray] | None:
        """Return a charged carboxyl group: its carbon, the neighbor, two oxygens alike."""
        if not set(around) <= set(labels) or labels[0] not in around:
            return None
        made = {center: _flat(0.0, 0.0), around[labels[0]]: _flat(shape[0], 0.0)}
        for name, side in zip(labels[1:], (1.0, -1.0), strict=True):
            if name in around:
                made[around[name]] = _polar(CARBOXYLATE_CO, side * shape[1])
        return made

    def _disulfide(self, center: int) -> dict[int, FloatArray] | None:
        """Return a sulfur that is bonded to another one."""
        home = self.molecule.residue_of[center]
        own = [a for a in self.neighbors[center] if self.molecule.residue_of[a] == home]
        other = [a for a in self.neighbors[center] if self.molecule.residue_of[a] != home]
        if len(own) != 1 or len(other) != 1 or self.names[other[0]] != "SG":
            return None
        return {
            center: _flat(0.0, 0.0),
            own[0]: _flat(CB_SG, 0.0),
            other[0]: _polar(DISULFIDE, CB_SG_SG),
        }

    def _alpha(self, center: int, around: dict[str, int]) -> dict[int, FloatArray] | None:
        """Return the star of an alpha carbon."""
        component = self.component(center)
        if component is None or not {"N", "C"} <= set(around):
            return None
        name, n_ca = component.name, PROLINE_NCA if component.name == "PRO" else N_CA
        known = set(component.neighbors("CA"))
        if known == {"N", "C", "HA2", "HA3"}:
            places = _methylene(n_ca, CA_C, GLYCINE_N_CA_C, C_H)
            labels = ("CA", "N", "C", "HA2", "HA3")
        elif known == {"N", "C", "CB", "HA"}:
            c_b, tau, at_n, at_c = ALPHA.get(name, ALPHA_OTHERS)
            places = _methine((n_ca, CA_C, c_b), (tau, at_n, at_c), C_H)
            labels = ("CA", "N", "C", "CB", "HA")
        else:
            return None
        made = dict(zip(labels, _of_same_hand(places, component, labels), strict=True))
        return {atom: made[label] for label, atom in (*around.items(), ("CA", center))}

    def _side_chain(self, center: int, around: dict[str, int]) -> dict[int, FloatArray] | None:
        """Return the star of an atom of a side chain, with better angles where they are known."""
        component, name = self.component(center), self.names[center]
        if component is None or not name:
            return None
        acid = CARBOXYLATES.get(component.name, ("",))
        if name == acid[0] and not any(self._carries_hydrogen(a) for a in around.values()):
            shape = (CARBOXYLATE_CC, C_C_CARBOXYLATE)
            return self._carboxylate(center, around, acid[1:], shape)
        angle = SIDE_ANGLES.get((component.name, name))
        heavy = [a for a in component.neighbors(name) if a not in component.hydrogens_of(name)]
        hydrogens = component.hydrogens_of(name)
        if angle is None or len(heavy) != 2 or len(hydrogens) != 2:
            return self._from_dictionary((center, *around.values()))
        middle, *ends = _ideal(component, [name, *heavy])
        lengths = [float(np.linalg.norm(end - middle)) for end in ends]
        places = _methylene(lengths[0], lengths[1], angle, C_H)
        labels = (name, *heavy, *hydrogens)
        made = dict(zip(labels, _of_same_hand(places, component, labels), strict=True))
        if not set(around) <= set(made):
            return None
        return {atom: made[label] for label, atom in (*around.items(), (name, center))}


def _ideal(component: Component, names: Sequence[str]) -> FloatArray:
    """Return ideal coordinates of atoms, by the names of IUPAC."""
    right = [SWAPPED.get((component.name, name), name) for name in names]
    return component.coordinates[[component.index(name) for name in right]]


def _flat(x: float, y: float) -> FloatArray:
    return np.array([x, y, 0.0])


def _polar(length: float, degrees: float) -> FloatArray:
    """Return a vector in the plane."""
    return _flat(length * np.cos(np.deg2rad(degrees)), length * np.sin(np.deg2rad(degrees)))


def _methylene(first: float, second: float, degrees: float, hydrogen: float) -> FloatArray:
    """Return a center, two heavy neighbors at an angle, and two hydrogens."""
    one, two = _polar(first, degrees / 2), _polar(second, -degrees / 2)
    half = np.deg2rad(TETRAHEDRAL / 2)
    up = hydrogen * np.array([-np.cos(half), 0.0, np.sin(half)])
    return np.array([np.zeros(3), one, two, up, up * [1, 1, -1]])


def _methine(
    lengths: tuple[float, float, float], degrees: tuple[float, float, float], hydrogen: float
) -> FloatArray:
    """Return a center, three heavy neighbors at angles 12, 13 and 23, and one hydrogen."""
    cosines = np.cos(np.deg2rad(degrees))
    one = np.array([1.0, 0.0, 0.0])
    two = np.array([cosines[0], np.sqrt(1 - cosines[0] ** 2), 0.0])
    second = (cosines[2] - cosines[1] * cosines[0]) / two[1]
    three = np.array([cosines[1], second, np.sqrt(1 - cosines[1] ** 2 - second**2)])
    opposite = -(one + two + three)
    bonds = [length * each for length, each in zip(lengths, (one, two, three), strict=True)]
    last = hydrogen * opposite / np.linalg.norm(opposite)
    return np.array([np.zeros(3), *bonds, last])


def _of_same_hand(places: FloatArray, component: Component, labels: Sequence[str]) -> FloatArray:
    """Return a tetrahedral star, mirrored if the dictionary's is its mirror image."""
    given = _ideal(component, labels)
    if np.linalg.det(given[2:] - given[1]) * np.linalg.det(places[2:] - places[1]) < 0:
        return places * [1.0, 1.0, -1.0]
    return places
