"""What holds for IPA on any sheet: motions, units and the order of the rows do not matter."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from isofold import IPA
from isofold.linalg import procrustes
from isofold.quality import procrustes_error
from support.helpers import assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples
from support.ipa_cases import embed_quietly, half_cylinder, rectangle

N = 250
# Rounding may break a tie between two patches of equal weight the other way, which moves points by
# a part of the map's own error of third order, .0003 here.
TIE = 1e-4
# The same points in another order get other patches; each map is this near to the truth.
TRUE = 0.01

seeds = st.integers(0, 2**32 - 1)
few = examples(4)


def sheet(seed):
    """Return a rectangle bent to half a cylinder."""
    flat = rectangle(N, (np.pi, 1.5), seed=seed)
    return flat, half_cylinder(flat)


def embedded(X):
    ipa = IPA(random_state=0, n_jobs=1)
    return embed_quietly(ipa, X), ipa


@few
@given(seeds)
def test_sheet_is_its_rectangle(seed):
    flat, X = sheet(seed)
    Y, ipa = embedded(X)
    assert procrustes_error(Y, flat) < TRUE or not ipa.diagnosis_.is_sound


@few
@given(seeds, st.integers(3, 6))
def test_rigid_motions_do_not_matter(seed, d):
    _, X = sheet(seed)
    rng = np.random.RandomState(seed)
    turn = ortho_group.rvs(d, random_state=rng)[:3]
    moved = X @ turn + 10 * rng.normal(size=d)
    Y, ipa = embedded(X)
    other, other_ipa = embedded(moved)
    assert_equal_up_to_rigid_motion(other, Y, atol=TIE)
    new = X[:20] + 0.01
    np.testing.assert_allclose(
        other_ipa.distance_to_manifold(new @ turn + (moved[0] - X[0] @ turn)),
        ipa.distance_to_manifold(new),
        atol=TIE,
    )


@few
@given(seeds)
def test_order_of_rows_hardly_matters(seed):
    _, X = sheet(seed)
    order = np.random.RandomState(seed).permutation(N)
    Y, ipa = embedded(X)
    shuffled, other = embedded(X[order])
    if ipa.diagnosis_.is_sound and other.diagnosis_.is_sound:
        assert procrustes_error(shuffled, Y[order]) < TRUE
    assert ipa.n_components_ == other.n_components_


@few
@given(seeds, st.sampled_from([1e-6, 1e-3, 7.0, 1e6]))
def test_units_do_not_matter(seed, unit):
    _, X = sheet(seed)
    Y, ipa = embedded(X)
    other, other_ipa = embedded(unit * X)
    assert_equal_up_to_rigid_motion(other / unit, Y, atol=TIE)
    for flag in ipa.diagnosis_.findings:
        assert other_ipa.diagnosis_[flag.code].is_raised == flag.is_raised, flag


@few
@given(seeds)
def test_single_precision_is_as_good(seed):
    _, X = sheet(seed)
    Y, _ = embedded(X.astype(np.float32).astype(np.float64))
    single, _ = embedded(X.astype(np.float32))
    assert single.dtype == np.float32
    # The same numbers go in, so that only the result is rounded, and ties may be broken.
    assert_equal_up_to_rigid_motion(single, Y, atol=TIE)


@few
@given(seeds, st.integers(1, 30))
def test_transform_is_row_wise(seed, n_new):
    _, X = sheet(seed)
    _, ipa = embedded(X)
    rng = np.random.RandomState(seed)
    new = X[rng.randint(N, size=n_new)] + 0.05 * rng.normal(size=(n_new, 3))
    together = ipa.transform(new)
    for i in range(n_new):
        np.testing.assert_array_equal(ipa.transform(new[i : i + 1])[0], together[i])


@few
@given(seeds)
def test_copies_change_nothing_but_their_own_rows(seed):
    _, X = sheet(seed)
    copied = np.random.RandomState(seed).randint(N, size=60)
    Y, _ = embedded(X)
    other, _ = embedded(np.concatenate([X, X[copied]]))
    np.testing.assert_array_equal(other[N:], other[:N][copied])
    # Only the center of all images may differ, which is that of the nodes.
    assert procrustes(other[:N], Y).residual < TIE
