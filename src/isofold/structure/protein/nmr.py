"""Upper bounds between hydrogens as NMR gives them, made from a structure."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_choice, check_fraction, check_positive, check_seed
from isofold.exceptions import InvalidInputError
from isofold.structure.given import DistanceBounds
from isofold.structure.protein.geometry import geometry_of
from isofold.structure.protein.molecule import Law, Molecule

__all__ = ["CLASSES", "bounds_between_hydrogens"]

CLASSES = (2.7, 3.5, 5.0, 6.0)
"""Upper bounds of strong, medium, weak and very weak signals, in Å."""


def bounds_between_hydrogens(
    molecule: Molecule, *, cutoff: float, keep: float, noise: float, law: Law, random_state: Any
) -> DistanceBounds:
    """Return upper bounds on distances of hydrogens; `Molecule.nmr_bounds` says which."""
    where = molecule.need_coordinates("making bounds from it")
    check_positive(cutoff, name="cutoff")
    check_fraction(keep, name="keep", is_closed=True)
    check_choice(law, ["half", "two_sided", "class"], name="law")
    if not np.isfinite(noise) or noise < 0:
        msg = f"noise={noise!r} must be a number of at least 0: it is a relative error."
        raise InvalidInputError(msg)
    if law == "class" and cutoff > CLASSES[-1]:
        msg = (
            f"cutoff={cutoff:g} is beyond the last distance class, {CLASSES[-1]:g} Å. Use a "
            f'smaller cutoff, or law="half".'
        )
        raise InvalidInputError(msg)
    pairs = _pairs_of_hydrogens(molecule, where, cutoff)
    rng = check_seed(random_state)
    pairs = pairs[rng.uniform(size=len(pairs)) < keep]
    distances = np.linalg.norm(where[pairs[:, 0]] - where[pairs[:, 1]], axis=1)
    upper = _upper(distances, rng.standard_normal(len(pairs)), noise, law)
    return DistanceBounds(pairs, np.zeros(len(pairs)), upper, np.ones(len(pairs)))


def _pairs_of_hydrogens(molecule: Molecule, where: FloatArray, cutoff: float) -> IntArray:
    """Return near pairs of hydrogens that no rigid group holds, sorted."""
    hydrogens = np.flatnonzero(molecule.is_hydrogen)
    if not len(hydrogens):
        msg = (
            f"The molecule has {molecule.n_atoms} atoms, but no hydrogens: bounds are made between "
            f"hydrogens. Add them to the file with a program such as reduce or PDB2PQR, or use a "
            f"structure from NMR or neutron diffraction."
        )
        raise InvalidInputError(msg)
    near = cKDTree(where[hydrogens]).query_pairs(cutoff, output_type="ndarray")
    pairs = np.sort(hydrogens[near], axis=1).reshape(-1, 2)
    held = [group.pairs()[0] for group in geometry_of(molecule, "structure").groups]
    keys = np.concatenate([np.sort(each, axis=1) for each in held]) @ [molecule.n_atoms, 1]
    pairs = pairs[~np.isin(pairs @ [molecule.n_atoms, 1], keys)]
    return np.asarray(pairs[np.lexsort(pairs.T[::-1])], dtype=np.intp)


def _upper(distances: FloatArray, errors: FloatArray, noise: float, law: Law) -> FloatArray:
    """Return the bounds on distances by one of the laws."""
    if law == "class":
        classes = np.array(CLASSES)
        return classes[np.searchsorted(classes, distances)]
    if law == "half":
        errors = np.abs(errors)
    return np.asarray(distances * np.maximum(1.0 + noise * errors, 0.0))
