"""Synthetic bounds of NMR, structures from them, and comparisons."""

import numpy as np
import pytest

from isofold.exceptions import InvalidInputError
from isofold.structure import StructureFromBounds, protein
from support.peptides import peptide


@pytest.fixture(scope="module")
def chain():
    """Return a short peptide at random torsions."""
    return peptide("GASVLG")


def _distances(molecule, bounds):
    first, second = molecule.coordinates[bounds.pairs.T]
    return np.linalg.norm(first - second, axis=1)


def test_all_near_hydrogens_outside_of_groups(chain):
    bounds = chain.nmr_bounds(cutoff=5.0, keep=1.0, noise=0.0, random_state=0)
    assert np.allclose(bounds.upper, _distances(chain, bounds))
    assert chain.is_hydrogen[bounds.pairs].all()
    hydrogens = np.flatnonzero(chain.is_hydrogen)
    where = chain.coordinates[hydrogens]
    near = np.linalg.norm(where[:, None] - where[None], axis=2) < 5.0
    n_near = (near.sum() - len(hydrogens)) // 2
    groups = [set(group) & set(hydrogens.tolist()) for group in chain.groups("structure")]
    n_held = len({(a, b) for group in groups for a in group for b in group if a < b})
    assert len(bounds) == n_near - n_held


@pytest.mark.parametrize("law", ["half", "two_sided", "class"])
def test_laws_of_errors(chain, law):
    bounds = chain.nmr_bounds(noise=0.1, law=law, random_state=1)
    ratio = bounds.upper / _distances(chain, bounds)
    if law == "two_sided":
        # About as many are too short as too long: within four standard deviations.
        assert abs((ratio < 1).mean() - 0.5) < 2 / np.sqrt(len(ratio))
    else:
        assert (ratio >= 1).all()
    if law == "class":
        assert set(bounds.upper) <= {2.7, 3.5, 5.0, 6.0}
    again = chain.nmr_bounds(noise=0.1, law=law, random_state=1)
    assert np.array_equal(again.pairs, bounds.pairs)
    assert np.array_equal(again.upper, bounds.upper)


@pytest.mark.parametrize(
    ("options", "text"),
    [({"cutoff": 0.0}, "cutoff"), ({"keep": 1.5}, "keep"), ({"noise": -1.0}, "noise"),
     ({"law": "normal"}, "law"), ({"law": "class", "cutoff": 7.0}, "last distance class")],
)  # fmt: skip
def test_strange_options_are_refused(chain, options, text):
    with pytest.raises(InvalidInputError, match=text):
        chain.nmr_bounds(**options)


def test_a_peptide_is_found_from_its_bounds(chain):
    bounds = chain.nmr_bounds(keep=1.0, noise=0.0, random_state=0)
    problem = chain.problem(geometry="structure", bounds=bounds)
    solver = StructureFromBounds(random_state=0).fit(problem)
    found = protein.compare(solver.coordinates_, chain)
    # Exact upper bounds alone leave side chains some room, the hand none.
    assert found.backbone < 0.6
    assert found.has_right_hand
    assert np.allclose(found.coordinates.mean(axis=0), chain.coordinates.mean(axis=0), atol=1.0)


def test_comparisons_do_not_mind_motions(chain):
    where = chain.coordinates
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    found = protein.compare(where @ turn + [5.0, 0.0, 1.0], chain, core="2-4")
    assert max(found.all_atoms, found.backbone, found.core) < 1e-9
    assert np.allclose(found.coordinates, where)
    assert found.has_right_hand
    mirror = protein.compare(where * [1, 1, -1], chain)
    assert mirror.mirror < 1e-9 < mirror.all_atoms
    assert not mirror.has_right_hand
    atoms = np.isin(chain.residue_of, [1, 2, 3])
    moved = where + 0.1 * np.random.default_rng(1).normal(size=where.shape)
    by_name, by_atom = (protein.compare(moved, chain, core=core) for core in ("A/2-4", atoms))
    assert by_name.core == by_atom.core != by_name.backbone


@pytest.mark.parametrize(
    ("core", "text"),
    [("90-99", "0 atoms of the backbone"), ("two", "not understood"), ([1, 2], "must name")],
)
def test_a_core_that_is_not_there_is_refused(chain, core, text):
    with pytest.raises(InvalidInputError, match=text):
        protein.compare(chain.coordinates, chain, core=core)


def test_coordinates_are_needed():
    bare = protein.from_sequence("GA")
    for act in (bare.nmr_bounds, lambda: bare.groups("structure"),
                lambda: protein.compare(np.zeros((bare.n_atoms, 3)), bare)):  # fmt: skip
        with pytest.raises(InvalidInputError, match="has no coordinates"):
            act()
