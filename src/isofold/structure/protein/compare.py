"""How near a structure is to a reference: root mean squared distances after superposition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isofold._typing import BoolArray, FloatArray
from isofold.exceptions import InvalidInputError
from isofold.linalg import procrustes
from isofold.structure.protein.molecule import Molecule

__all__ = ["Superposition", "compare", "core_atoms"]


@dataclass(frozen=True, eq=False)
class Superposition:
    """How near a structure is to a reference, in Å, each after its own best rotation.

    Attributes
    ----------
    all_atoms : float
        Root mean squared distance of all atoms.
    backbone : float
        The same of N, CA and C; NaN if there are none.
    core : float
        The same of the backbone of chosen residues; that of all if none were chosen.
    mirror : float
        The same of all atoms for the mirror image of the structure.
    coordinates : ndarray of shape (n_atoms, 3)
        The structure where its backbone lies best on that of the reference.
    """

    all_atoms: float
    backbone: float
    core: float
    mirror: float
    coordinates: FloatArray

    @property
    def has_right_hand(self) -> bool:
        """Whether the structure is nearer to the reference than its mirror image."""
        return self.all_atoms < self.mirror


def compare(coordinates: Any, molecule: Molecule, core: Any = None) -> Superposition:
    """Superimpose a structure on a molecule, by rotations only.

    Parameters
    ----------
    coordinates : array-like of shape (n_atoms, 3)
        The structure.
    molecule : Molecule
        The reference, with coordinates.
    core : str or array-like of bool of shape (n_atoms,), default=None
        Residues of the core, such as "3-72" or "A/3-72,B/1-20"; or which atoms belong to it.

    Returns
    -------
    Superposition
        Root mean squared distances.

    Raises
    ------
    InvalidInputError
        If the molecule has no coordinates, or the core no backbone.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold.structure import protein
    >>> molecule = protein.from_sequence("GA")
    >>> where = np.random.default_rng(0).normal(size=(molecule.n_atoms, 3))
    >>> found = protein.compare(where + 1.0, molecule.with_coordinates(where))
    >>> round(found.all_atoms, 9), found.has_right_hand
    (0.0, True)
    """
    reference = molecule.need_coordinates("a comparison")
    where = molecule.check_coordinates(coordinates)
    backbone = molecule.is_backbone
    chosen = backbone & core_atoms(core, molecule)
    if core is not None and chosen.sum() < 3:
        msg = (
            f"core={str(core)[:60]!r} has {chosen.sum()} atoms of the backbone, but three are "
            f"needed. Residues of this molecule are {molecule.residues[0]} to "
            f"{molecule.residues[-1]}."
        )
        raise InvalidInputError(msg)
    anchor = backbone if backbone.sum() >= 3 else np.ones(len(where), dtype=bool)
    motion = procrustes(where[anchor], reference[anchor], reflection=False).transform
    mirror = where * [1.0, 1.0, -1.0]
    return Superposition(
        _distance(where, reference),
        _distance(where[backbone], reference[backbone]),
        _distance(where[chosen], reference[chosen]),
        _distance(mirror, reference),
        motion.apply(where),
    )


def _distance(where: FloatArray, reference: FloatArray) -> float:
    if len(where) < 3:
        return float("nan")
    return procrustes(where, reference, reflection=False).residual


def core_atoms(core: Any, molecule: Molecule) -> BoolArray:
    """Return which atoms belong to a core that is given by residues or by atoms."""
    if core is None:
        return np.ones(molecule.n_atoms, dtype=bool)
    if isinstance(core, str):
        inside = np.array([_is_inside(core, residue) for residue in _numbered(molecule)])
        return np.asarray(inside[molecule.residue_of])
    mask = np.asarray(core)
    if mask.shape != (molecule.n_atoms,) or mask.dtype != bool:
        msg = (
            f"core must name residues, such as '3-72', or say of each of {molecule.n_atoms} atoms "
            f"whether it belongs to the core, but has shape {mask.shape} and type {mask.dtype}."
        )
        raise InvalidInputError(msg)
    return mask


def _numbered(molecule: Molecule) -> Sequence[tuple[str, int]]:
    """Return chains and numbers of residues, without insertion codes."""
    return [
        (residue.chain, int(re.sub(r"[^0-9-]", "", residue.number) or 0))
        for residue in molecule.residues
    ]


def _is_inside(core: str, residue: tuple[str, int]) -> bool:
    """Whether a residue belongs to one of the ranges of a text."""
    for part in core.split(","):
        found = re.fullmatch(r"\s*(?:(\S+)/)?(-?\d+)(?:-(-?\d+))?\s*", part)
        if found is None:
            msg = f"core={core[:60]!r} is not understood. Write ranges such as '3-72,A/80-90'."
            raise InvalidInputError(msg)
        chain, first, last = found.groups()
        inside = int(first) <= residue[1] <= int(last or first)
        if inside and chain in (None, residue[0]):
            return True
    return False
