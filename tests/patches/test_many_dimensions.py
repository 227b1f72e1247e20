"""Charts of many dimensions: flat ones take no coefficients, bent ones are handled in blocks."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from isofold import IPA, _memory, load, save
from isofold.exceptions import DoubtfulMapWarning, MemoryLimitError
from isofold.linalg.motions import RigidMotions
from isofold.patches import Atlas, Memberships, PatchCover, fit_charts
from isofold.patches._evaluate import distances_from_charts, evaluate
from isofold.patches.atlas import joined, n_coefficients
from isofold.stitching.overlaps import measure_overlaps
from isofold.stitching.stitch import _cross_moments, images_of


def atlas_of(rng, c, r, d, *, is_flat=False):
    axes = np.ascontiguousarray(np.linalg.qr(rng.normal(size=(c, d, d)))[0][:, :, :r])
    q = n_coefficients(r)
    return Atlas(
        origins=rng.normal(size=(c, d)),
        axes=axes,
        coefficients=np.zeros((c, 0, d)) if is_flat else rng.normal(size=(c, q, d)),
        shrinkage=np.zeros(c) if is_flat else rng.rand(c),
    )


def overlapping(rng, n, size, step):
    """Return a cover by runs of points, with weights."""
    starts = np.arange(0, n - size + 1, step)
    return PatchCover(
        n_points=n,
        indptr=size * np.arange(len(starts) + 1),
        members=(starts[:, None] + np.arange(size)).ravel(),
        offsets=rng.rand(len(starts) * size),
        seeds=starts,
        radii=np.ones(len(starts)),
    )


def test_flat_charts_without_coefficients_are_those_with_zeros():
    rng = np.random.RandomState(0)
    c, r, d, n = 4, 3, 5, 30
    flat = atlas_of(rng, c, r, d, is_flat=True)
    zeros = replace(flat, coefficients=np.zeros((c, n_coefficients(r), d)))
    assert flat.is_flat
    assert not zeros.is_flat
    points, radii = rng.normal(size=(n, d)), 0.5 + rng.rand(c)
    motions = rng.normal(size=(c, r, r)), rng.normal(size=(c, r))
    rows = np.arange(n + 1), rng.randint(c, size=n), rng.rand(n)
    charts = flat.origins, flat.axes, radii
    places, values = flat.cubics(motions[0])
    assert (places == -1).all()
    assert len(values) == 0
    one = evaluate(points, *rows, *charts, flat.cubics(motions[0]), motions)
    np.testing.assert_array_equal(
        one, evaluate(points, *rows, *charts, zeros.cubics(motions[0]), motions)
    )
    for a, b in zip(
        distances_from_charts(points, *rows, *charts, flat.coefficients, radii),
        distances_from_charts(points, *rows, *charts, zeros.coefficients, radii),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    t = rng.normal(size=(c, r))
    np.testing.assert_array_equal(flat.surface(t, radii[:, None]), zeros.surface(t, radii[:, None]))


def test_atlases_of_flat_and_bent_charts_are_joined():
    rng = np.random.RandomState(0)
    flat, bent = atlas_of(rng, 2, 2, 4, is_flat=True), atlas_of(rng, 3, 2, 4)
    both = joined([flat, bent])
    np.testing.assert_array_equal(both.coefficients[2:], bent.coefficients)
    assert not both.coefficients[:2].any()
    np.testing.assert_array_equal(both.shrinkage, np.r_[0.0, 0.0, bent.shrinkage])
    assert joined([flat, flat]).is_flat
    places, values = both.cubics(np.ones((5, 2, 2)))
    assert places.tolist() == [-1, -1, 0, 1, 2]
    assert len(values) == 3


def test_blocks_change_no_byte(monkeypatch):
    rng = np.random.RandomState(0)
    n, r = 60, 4
    atlas, rotations = atlas_of(rng, 7, r, 6), rng.normal(size=(7, r, r))
    cover = overlapping(rng, n, 12, 5)
    memberships = Memberships.strongest(cover, None)
    u, y = rng.normal(size=(len(cover.members), r)), rng.normal(size=(len(cover.members), r))
    c = cover.n_patches
    motions = RigidMotions(rng.normal(size=(c, r, r)), rng.normal(size=(c, r)))

    def everything():
        overlaps = measure_overlaps(cover, memberships, u)
        return (
            atlas.cubics(rotations)[1],
            overlaps.cross,
            overlaps.own,
            images_of(memberships, u, motions),
            _cross_moments(u, y, cover),
        )

    whole = everything()
    monkeypatch.setattr(_memory, "BLOCK_BYTES", 1000)
    for one, other in zip(whole, everything(), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
def test_a_map_of_many_dimensions_takes_no_fourth_power_of_them():
    """The tensors of the bending alone, r⁴ numbers a patch, would take more than all of it."""
    X = np.random.default_rng(0).standard_normal((160, 30))
    r = 16
    IPA(n_components=2, random_state=0).fit(X)  # loads what is imported late
    tracemalloc.start()
    try:
        ipa = IPA(n_components=r, random_state=0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    n_patches = ipa.cover_.n_patches
    assert n_patches > 20
    assert peak < 8 * n_patches * r**4


def test_charts_are_refused_before_they_are_made(monkeypatch):
    rng = np.random.RandomState(0)
    points, cover = rng.normal(size=(60, 6)), overlapping(rng, 60, 30, 5)
    bent = atlas_of(rng, 5, 4, 6)
    monkeypatch.setattr(_memory, "available_bytes", lambda: 4000)
    with pytest.raises(MemoryLimitError, match="charts of 7 patches in 2 dimensions"):
        fit_charts(points, cover, 2)
    with pytest.raises(MemoryLimitError, match="bending of 5 charts in 4 dimensions"):
        bent.cubics(np.ones((5, 4, 4)))
    with pytest.raises(MemoryLimitError, match="fewer n_components"):
        measure_overlaps(cover, Memberships.strongest(cover, None), points[cover.members])


def test_a_flat_map_is_saved_and_loaded(tmp_path):
    X = np.random.default_rng(0).standard_normal((120, 8))
    with pytest.warns(DoubtfulMapWarning):
        ipa = IPA(n_components=6, chart="pca", random_state=0).fit(X)
    assert ipa.map_.atlas.is_flat
    save(ipa, tmp_path / "map.isofold")
    again = load(tmp_path / "map.isofold")
    np.testing.assert_array_equal(again.transform(X), ipa.transform(X))
