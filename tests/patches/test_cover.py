import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.patches import Memberships, PatchCover
from isofold.patches.cover import MIN_CHART_WEIGHT, MIN_STITCH_WEIGHT
from support.hypothesis_profiles import examples


def random_cover(rng, n_points, n_patches, share):
    """Return a cover in which every point is in some patch, with random offsets."""
    table = rng.rand(n_patches, n_points) < share
    table[rng.randint(n_patches, size=n_points), np.arange(n_points)] = True
    table[np.arange(n_patches), rng.choice(n_points, n_patches, replace=False)] = True
    members = [rng.permutation(np.flatnonzero(row)) for row in table]
    return PatchCover(
        n_points=n_points,
        indptr=np.concatenate([[0], np.cumsum([len(own) for own in members])]),
        members=np.concatenate(members),
        offsets=rng.rand(table.sum()),
        seeds=np.array([own[0] for own in members]),
        radii=np.ones(n_patches),
    )


def naive_memberships(cover, most, is_off):
    """Return (entry, patch, weight) of every point, point by point."""
    points = []
    for point in range(cover.n_points):
        entries = np.flatnonzero(cover.members == point)
        entries = sorted(entries, key=lambda e: (is_off[e], cover.offsets[e], e))[:most]
        rows = []
        for entry in entries:
            patch = np.searchsorted(cover.indptr, entry, side="right") - 1
            fading = max(1.0 - cover.offsets[entry] ** 2, MIN_STITCH_WEIGHT)
            rows.append((entry, patch, (MIN_STITCH_WEIGHT if is_off[entry] else fading) ** 2))
        points.append(rows)
    return points


@examples(60)
@given(
    seed=st.integers(0, 2**31 - 1),
    n_patches=st.integers(1, 9),
    share=st.floats(0.0, 1.0),
    most=st.sampled_from([1, 2, 5, None]),
    off=st.sampled_from([None, 0.0, 0.3, 1.0]),
)
def test_the_strongest_patches_of_every_point(seed, n_patches, share, most, off):
    rng = np.random.RandomState(seed)
    cover = random_cover(rng, 25, n_patches, share)
    is_off = None if off is None else rng.rand(len(cover.members)) < off
    found = Memberships.strongest(cover, most, is_off)
    nothing = np.zeros(len(cover.members), dtype=bool)
    expected = naive_memberships(cover, most, nothing if is_off is None else is_off)
    counts = [len(rows) for rows in expected]
    assert min(counts) >= 1
    np.testing.assert_array_equal(np.diff(found.indptr), counts)
    np.testing.assert_array_equal(found.points, np.repeat(np.arange(25), counts))
    entries, patches, weights = zip(*[row for rows in expected for row in rows], strict=True)
    np.testing.assert_array_equal(found.entries, entries)
    np.testing.assert_array_equal(found.patches, patches)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-13)  # 1 - offset² cancels


def test_what_is_off_comes_last_and_counts_next_to_nothing():
    cover = PatchCover(
        n_points=1,
        indptr=np.array([0, 1, 2]),
        members=np.array([0, 0]),
        offsets=np.array([0.0, 0.9]),
        seeds=np.array([0, 0]),
        radii=np.ones(2),
    )
    assert Memberships.strongest(cover, None).patches.tolist() == [0, 1]
    off = np.array([True, False])
    assert Memberships.strongest(cover, None, off).patches.tolist() == [1, 0]
    assert Memberships.strongest(cover, 1, off).patches.tolist() == [1]
    weights = Memberships.strongest(cover, None, off).weights
    assert 0.0 < weights[1] < 1e-4 * weights[0]
    # A point that is off everywhere still has a place.
    assert (Memberships.strongest(cover, 1, np.array([True, True])).weights > 0.0).all()


def test_patches_of_entries_and_entries_of_patches():
    cover = random_cover(np.random.RandomState(0), 40, 6, 0.3)
    assert cover.n_patches == 6
    assert cover.sizes.sum() == len(cover.members)
    for patch in range(6):
        np.testing.assert_array_equal(
            cover.members[cover.patches == patch], cover.members_of(patch)
        )
        assert cover.seeds[patch] == cover.members_of(patch)[0]


@pytest.mark.parametrize("offset", [0.0, 0.5, 0.999, 1.0])
def test_weights(offset):
    cover = PatchCover(
        n_points=1,
        indptr=np.array([0, 1]),
        members=np.array([0]),
        offsets=np.array([offset]),
        seeds=np.array([0]),
        radii=np.ones(1),
    )
    fading = 1.0 - offset**2
    assert cover.chart_weights[0] == max(fading, MIN_CHART_WEIGHT)
    assert cover.stitch_weights[0] == max(fading, MIN_STITCH_WEIGHT) ** 2
    assert cover.stitch_weights[0] > 0.0
