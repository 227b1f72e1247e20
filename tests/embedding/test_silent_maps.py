"""No wrong map goes out without a word: cases that once did."""

import warnings

import numpy as np
import pytest

from isofold import IPA, Cover, Unfold, assess
from isofold.exceptions import DoubtfulMapWarning
from isofold.quality import procrustes_error
from support.quick import quick_first


def fold(n, gap, length=6.0, height=4.0, seed=0):
    """Return a sheet folded in two, the gap in sample spacings, and its true coordinates."""
    rng = np.random.default_rng(seed)
    g = gap * np.sqrt(2 * length * height / n)
    bend = np.pi * g / 2
    along, across = rng.random(n) * (2 * length + bend), rng.random(n) * height
    angle = np.clip((along - length) / bend, 0, 1) * np.pi
    back = np.where(
        along < length + bend, length + g / 2 * np.sin(angle), 2 * length + bend - along
    )
    x = np.where(along < length, along, back)
    return np.c_[x, across, g / 2 * (1 - np.cos(angle))], np.c_[along, across]


def flags_of(X, **parameters):
    """Return IPA and the names of the doubts that it raises."""
    ipa = IPA(random_state=0, **parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ipa.fit(X)
    names = {flag.code for flag in ipa.diagnosis_.raised}
    assert bool(caught) == bool(names)
    return ipa, names


@pytest.mark.parametrize("seed", quick_first([0, 1]))
@pytest.mark.parametrize("gap", [0.6, 1.0, 1.3])
def test_near_layers_are_not_taken_for_a_noisy_sheet(gap, seed):
    X, truth = fold(1500, gap, seed=seed)
    ipa, names = flags_of(X)
    assert procrustes_error(ipa.embedding_, truth) > 0.5
    assert "layers" in names


@pytest.mark.parametrize("seed", quick_first([0, 1]))
@pytest.mark.parametrize("noise", [0.05, 0.2])
def test_a_noisy_sheet_is_not_taken_for_layers(noise, seed):
    rng = np.random.default_rng(seed)
    X = np.pad(rng.random((1500, 2)) * 40.0, ((0, 0), (0, 1)))
    assert "layers" not in flags_of(X + noise * rng.standard_normal(X.shape))[1]


# Sheets that are not confirmed have a quick test in `unfold/test_unfold.py`.
@pytest.mark.slow
def test_unfold_tells_of_a_fold_that_it_projects():
    X, truth = fold(1000, 2.2)
    with pytest.warns(DoubtfulMapWarning, match="could not confirm a sheet"):
        unfold = Unfold(random_state=0).fit(X)
    assert procrustes_error(unfold.embedding_, truth) > 0.5
    assert unfold.decision_.doubts
    # A page that is made of the model later on tells it, too.
    found = assess(X, unfold, random_state=0).diagnosis
    assert "may fold or tear" in found["unconfirmed"].text()
    assert "unconfirmed" in found.codes


@pytest.mark.parametrize("turned", [False, True])
def test_unfold_tells_of_pieces(turned):
    rng = np.random.default_rng(0)
    one, other = np.pad(rng.random((2, 250, 2)) * 5.0, ((0, 0), (0, 0), (0, 1)))
    other = other[:, [2, 0, 1]] if turned else other
    far = np.array([0.0, 0.0, 30.0])
    with pytest.warns(DoubtfulMapWarning, match="2 components"):
        unfold = Unfold(random_state=0).fit(np.concatenate([one, other + far]))
    assert "components" in unfold.decision_.doubts


def peptide(n_planes, seed=0):
    """Return a chain of flat groups of six atoms, each hinged to the next by a shared bond."""
    rng = np.random.default_rng(seed)
    atoms = [np.zeros(3), np.array([1.0, 0.0, 0.0])]
    groups = []
    for _ in range(n_planes):
        origin, along = atoms[-2], atoms[-1] - atoms[-2]
        normal = np.cross(along, rng.standard_normal(3))
        across = np.cross(normal / np.linalg.norm(normal), along)
        flat = rng.uniform(0.5, 2.5, size=(4, 2))
        begin = len(atoms)
        atoms += list(origin + flat @ np.array([along, across]))
        groups.append([begin - 2, begin - 1, *range(begin, begin + 4)])
    return np.array(atoms), groups


def test_groups_of_atoms_that_turn_about_bonds_are_told():
    X, groups = peptide(8)
    ipa, names = flags_of(X, n_components=3, cover=Cover.patches(groups), chart="pca")
    assert "hinges" in names
    found = ipa.diagnosis_["hinges"]
    assert found.value == len(groups)
    assert dict(found.parameters)["n_motions"] == len(groups) - 1
    assert "7 free motions" in found.message()
    assert len(found.patches) == len(groups) - 1


def test_groups_that_share_one_atom_turn_three_ways():
    X, groups = peptide(5)
    # Every group without the first atom that it shares with the one before.
    apart = [groups[0], *(group[1:] for group in groups[1:])]
    ipa, names = flags_of(X, n_components=3, cover=Cover.patches(apart), chart="pca")
    assert "hinges" in names
    assert dict(ipa.diagnosis_["hinges"].parameters)["n_motions"] == 3 * 4


def test_plates_in_the_plane_flip_but_do_not_turn():
    X = np.random.default_rng(0).random((14, 2))
    ipa, names = flags_of(X, cover=Cover.patches([range(8), range(6, 14)]), chart="pca")
    assert "hinges" in names
    assert "mirror image" in ipa.diagnosis_["hinges"].message()


@pytest.mark.parametrize("chart", ["pca", "quadratic"])
def test_given_groups_keep_atoms_that_are_far_from_all_others(chart):
    # Without its last atom, which no other has for a neighbor, the second group is a rod as the
    # first one is, and the map a line.
    rod = np.column_stack([np.linspace(0.0, 1.0, 8), np.zeros(8)])
    X = np.vstack([rod, [0.4, 2.0]])
    groups = [range(8), [0, 7, 8]]
    ipa, names = flags_of(X, n_components=2, cover=Cover.patches(groups), chart=chart)
    assert len(ipa.node_samples_) == len(X)
    assert names == set()
    assert procrustes_error(ipa.embedding_, X) < 1e-6


def test_flat_groups_in_one_plane_do_not_turn():
    # Patches of dimension two again, but each shares five points in general position with the next.
    X = np.pad(np.random.default_rng(0).random((26, 2)), ((0, 0), (0, 1)))
    groups = [list(range(k, min(k + 9, 26))) for k in range(0, 21, 4)]
    assert "hinges" not in flags_of(X, n_components=3, cover=Cover.patches(groups), chart="pca")[1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_samples_beyond_the_end_of_a_roll_are_told(seed):
    # Three samples on the spiral, so far from its end that the layer within is nearer.
    rng = np.random.default_rng(seed)
    t = np.linspace(1.5 * np.pi, 4.5 * np.pi, 5001)
    steps = np.linalg.norm(np.diff(np.c_[t * np.cos(t), t * np.sin(t)], axis=0), axis=1)
    length = np.r_[0.0, np.cumsum(steps)]
    arc = np.r_[rng.uniform(0.0, 0.8, 600), [0.96, 0.97, 0.98]] * length[-1]
    angle, height = np.interp(arc, length, t), np.r_[rng.uniform(0.0, 12.0, 600), [2.0, 6.0, 10.0]]
    X, truth = np.c_[angle * np.cos(angle), angle * np.sin(angle), height], np.c_[arc, height]
    ipa, names = flags_of(X)
    assert procrustes_error(ipa.embedding_[:600], truth[:600]) < 0.01
    assert procrustes_error(ipa.embedding_, truth) > 0.05
    assert ipa.outliers_[600:].all()
    assert "outliers" in names


@pytest.mark.parametrize("seed", quick_first(range(4)))
def test_a_closed_curve_that_is_cut_at_a_gap_is_told(seed):
    angle = np.random.default_rng(seed).uniform(0.0, 2 * np.pi, 3000)
    _, names = flags_of(np.c_[np.cos(angle), np.sin(angle)], n_components=1)
    assert "closure" in names
