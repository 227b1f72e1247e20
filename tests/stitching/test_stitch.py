"""Stitching: Theorem 1, exact pieces, patches of different dimension, starts."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from isofold.linalg import procrustes
from isofold.patches import Memberships, PatchCover
from isofold.sdp import LowRankSDP, Status
from isofold.stitching.overlaps import joint_matrix, measure_overlaps
from isofold.stitching.stitch import place, stitch
from support.helpers import assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples
from support.quick import quick_first

# Exact pieces: the misfit is down to rounding, some 1e-15 of the variance; its root is a length.
EXACT = 1e-6
# Below its optimum by a relative gap g, a rotation is off by √(g f / 2σ): f, the misfit, is at most
# ten, σ, the smallest singular value of the cross-covariance, at least 0.05, g at most 1e-9.
GAP = 1e-9
ROTATION_ERROR = 3e-4

seeds = st.integers(0, 2**31 - 1)


def cover_of(patches, n_points, *, by_overlap=False, offsets=None):
    sizes = [len(own) for own in patches]
    return PatchCover(
        n_points=n_points,
        indptr=np.concatenate([[0], np.cumsum(sizes)]),
        members=np.concatenate(patches),
        offsets=np.zeros(sum(sizes)) if offsets is None else offsets,
        seeds=np.array([own[0] for own in patches]),
        radii=np.ones(len(patches)),
        by_overlap=by_overlap,
    )


def grid(*sides):
    axes = np.meshgrid(*(np.arange(float(side)) for side in sides), indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, len(sides))


def windows(points, width, step):
    """Return the points of boxes that overlap and together hold all."""
    starts = [np.arange(0.0, max(1.0, top - width + step + 1), step) for top in points.max(axis=0)]
    patches = []
    for corner in np.stack(np.meshgrid(*starts), axis=-1).reshape(-1, points.shape[1]):
        inside = ((points >= corner) & (points <= corner + width)).all(axis=1)
        if inside.any():
            patches.append(np.flatnonzero(inside))
    return patches


def moved_charts(rng, points, patches):
    """Return the points of every patch after a random rigid motion, mirrored or not."""
    r = points.shape[1]
    rotate = [
        ortho_group.rvs(r, random_state=rng) if r > 1 else [[rng.choice([-1.0, 1.0])]]
        for _ in patches
    ]
    return np.concatenate(
        [points[own] @ turn + rng.normal(size=r) for own, turn in zip(patches, rotate, strict=True)]
    )


def aligned(cover, u, **options):
    memberships = Memberships.strongest(cover, None if cover.by_overlap else 5)
    solver = LowRankSDP(tol=GAP, random_state=0)
    alignment = stitch(cover, memberships, u, **{"solver": solver, **options})
    return alignment, place(memberships, u, alignment.motions)


@examples(40)
@given(seeds, st.integers(1, 3), st.integers(0, 6), st.integers(0, 3), st.booleans())
def test_theorem_1(seed, r, spare, columns, by_overlap):
    # Charts that share r + 1 points or more but do not fit: if their cross-covariance has full
    # rank, both patches lie in one r-flat whatever p, and R_i R_jᵀ is the Procrustes rotation.
    # With one spare column for patches of one dimension the engine's trust region may creep along
    # the circle up to its iteration limit, and says so: nothing is claimed then.
    assume(not (r == 1 and columns == 1))
    rng = np.random.RandomState(seed)
    n_shared = r + 1 + spare
    first, second = np.arange(n_shared + 3), np.r_[0:n_shared, n_shared + 3 : n_shared + 6]
    cover = cover_of([first, second], n_shared + 6, by_overlap=by_overlap)
    u = rng.normal(size=(len(cover.members), r))
    P, Q = u[:n_shared], u[len(first) : len(first) + n_shared]
    unit = np.mean(u**2)
    M = (P - P.mean(axis=0)).T @ (Q - Q.mean(axis=0)) / n_shared / unit
    assume(np.linalg.svd(M)[1][-1] > 0.05)
    solver = LowRankSDP(tol=GAP, rank=r + columns, random_state=0)
    alignment, _ = aligned(cover, u, solver=solver)
    assert alignment.solution.status is Status.CERTIFIED
    R_i, R_j = alignment.motions.rotations
    np.testing.assert_allclose(R_i @ R_i.T, np.eye(r), atol=1e-12)
    np.testing.assert_allclose(R_j @ R_j.T, np.eye(r), atol=1e-12)
    expected = procrustes(P, Q)
    U, _, Vt = np.linalg.svd(M.T)
    np.testing.assert_allclose(expected.transform.rotation, Vt.T @ U.T, atol=1e-9)
    np.testing.assert_allclose(R_i @ R_j.T, expected.transform.rotation, atol=ROTATION_ERROR)
    flat = np.linalg.svd(np.concatenate([R_i, R_j]))[1]
    assert (flat[r:] < ROTATION_ERROR).all()
    # The misfit is that of the Procrustes motion; f is flat at its optimum.
    images = (
        P @ R_i + alignment.motions.translations[0] - Q @ R_j - alignment.motions.translations[1]
    )
    found = np.sqrt((images**2).sum() / n_shared)
    assert found == pytest.approx(expected.residual, rel=1e-6, abs=EXACT)
    variance = ((P - P.mean(0)) ** 2).sum() + ((Q - Q.mean(0)) ** 2).sum()
    assert alignment.misfit == pytest.approx(np.sqrt((images**2).sum() / variance), rel=1e-6)


@pytest.mark.parametrize("by_overlap", [False, True])
@pytest.mark.parametrize("seed", quick_first([0, 1]))
@pytest.mark.parametrize(
    ("sides", "width", "step"),
    [((40,), 6.0, 3.0), ((12, 9), 4.0, 2.0), ((5, 5, 5), 2.0, 1.0)],
    ids=["line", "plane", "space"],
)
def test_exact_pieces_give_back_the_grid(sides, width, step, seed, by_overlap):
    rng = np.random.RandomState(seed)
    truth = grid(*sides)
    patches = windows(truth, width, step)
    assert len(patches) > 4
    cover = cover_of(patches, len(truth), by_overlap=by_overlap)
    alignment, Y = aligned(cover, moved_charts(rng, truth, patches))
    assert alignment.solution.status is Status.CERTIFIED
    assert Y.shape == truth.shape
    assert alignment.misfit <= EXACT
    assert_equal_up_to_rigid_motion(Y, truth, atol=EXACT * max(sides))


def test_a_hole_stays_open():
    truth = grid(14, 12)
    hole = ((truth > 4.5) & (truth < 8.5)).all(axis=1)
    truth = truth[~hole]
    patches = [own for own in windows(truth, 3.0, 1.0) if len(own) >= 8]
    cover = cover_of(patches, len(truth))
    u = moved_charts(np.random.RandomState(0), truth, patches)
    alignment, Y = aligned(cover, u)
    assert alignment.solution.status is Status.CERTIFIED
    assert_equal_up_to_rigid_motion(Y, truth, atol=14 * EXACT)


def test_patches_of_different_dimension():
    # A sheet with a tail: the tail's patches are lines, of which the first two lie in the sheet.
    sheet, tail = grid(6, 5), np.column_stack([np.arange(6.0, 14.0), np.full(8, 2.0)])
    truth = np.concatenate([sheet, tail])
    on_axis = np.flatnonzero(truth[:, 1] == 2.0)
    lines = [on_axis[start : start + 5] for start in (2, 4, 6, 8, 9)]
    assert np.unique(np.concatenate(lines)).tolist() == on_axis[2:].tolist()
    patches = [np.flatnonzero(sheet[:, 0] <= 3), np.flatnonzero(sheet[:, 0] >= 2), *lines]
    rng = np.random.RandomState(0)
    u = moved_charts(rng, truth, patches)
    cover = cover_of(patches, len(truth))
    dimensions = np.array([2, 2] + [1] * len(lines))
    for patch in range(2, len(patches)):
        rows = slice(cover.indptr[patch], cover.indptr[patch + 1])
        u[rows] = np.column_stack([rng.choice([-1, 1]) * truth[patches[patch], 0] + 3, [0.0] * 5])
    alignment, Y = aligned(cover, u, dimensions=dimensions)
    assert alignment.solution.status is Status.CERTIFIED
    assert_equal_up_to_rigid_motion(Y, truth, atol=14 * EXACT)
    lengths = np.linalg.norm(alignment.motions.rotations, axis=2)
    np.testing.assert_allclose(lengths, [[1, 1], [1, 1]] + [[1, 0]] * len(lines), atol=1e-12)


def test_a_patch_of_one_point_is_put_where_the_point_is():
    truth = grid(8, 4)
    patches = [np.flatnonzero(truth[:, 0] <= 4), np.flatnonzero(truth[:, 0] >= 3), np.array([5])]
    u = moved_charts(np.random.RandomState(0), truth, patches)
    u[-1] = 0.0
    cover = cover_of(patches, len(truth))
    alignment, Y = aligned(cover, u, dimensions=np.array([2, 2, 0]))
    assert_equal_up_to_rigid_motion(Y, truth, atol=8 * EXACT)
    np.testing.assert_allclose(alignment.motions.translations[2], Y[5], atol=8 * EXACT)


@examples(10)
@given(seeds, st.floats(0.0, 0.3), st.sampled_from([1e-6, 1.0, 1e6]))
def test_from_any_good_start_to_the_same_optimum(seed, noise, unit):
    rng = np.random.RandomState(seed)
    truth = grid(10, 8)
    patches = windows(truth, 4.0, 2.0)
    cover = cover_of(patches, 80)
    u = unit * moved_charts(rng, truth, patches)
    u += unit * 0.02 * rng.normal(size=u.shape)
    spectral, Y = aligned(cover, u)
    start = (
        unit * (truth + noise * rng.normal(size=truth.shape)) @ ortho_group.rvs(2, random_state=rng)
    )
    begun, Z = aligned(cover, u, start=start)
    assert spectral.solution.status is Status.CERTIFIED
    assert begun.solution.status is Status.CERTIFIED
    # Both values are within the gap of the same optimum.
    assert begun.solution.primal == pytest.approx(spectral.solution.primal, rel=2 * GAP)
    assert begun.misfit == pytest.approx(spectral.misfit, rel=1e-6)
    # Misfits of the size of the noise determine the map to √gap of it, times the size.
    assert_equal_up_to_rigid_motion(Z / unit, Y / unit, atol=0.02 * np.sqrt(GAP) * 100)


def test_a_start_of_lines():
    truth = grid(20)
    patches = windows(truth, 6.0, 3.0)
    cover = cover_of(patches, 20)
    u = moved_charts(np.random.RandomState(0), truth, patches)
    _, Y = aligned(cover, u, start=truth)
    assert_equal_up_to_rigid_motion(Y, truth, atol=20 * EXACT)


def test_a_single_patch_needs_no_stitching():
    u = np.random.RandomState(0).normal(size=(7, 2))
    cover = cover_of([np.arange(7)], 7)
    alignment, Y = aligned(cover, u)
    assert alignment.solution is None
    assert alignment.overlaps is None
    assert alignment.misfit == 0.0
    np.testing.assert_array_equal(Y, u)


def test_units_do_not_matter():
    rng = np.random.RandomState(0)
    truth = grid(10, 8)
    patches = windows(truth, 4.0, 2.0)
    cover = cover_of(patches, 80)
    u = moved_charts(rng, truth, patches) + 0.05 * rng.normal(size=(sum(map(len, patches)), 2))
    one, Y = aligned(cover, u)
    for unit in (2.0**-30, 2.0**30):
        # Powers of two change no digit.
        other, Z = aligned(cover, unit * u)
        np.testing.assert_array_equal(Z, unit * Y)
        assert other.misfit == one.misfit


def test_the_solution_is_the_minimum_of_the_form():
    # Random motions nearby are never better.
    rng = np.random.RandomState(0)
    truth = grid(8, 8)
    patches = windows(truth, 4.0, 2.0)
    cover = cover_of(patches, 64)
    u = moved_charts(rng, truth, patches) + 0.1 * rng.normal(size=(sum(map(len, patches)), 2))
    alignment, _ = aligned(cover, u)
    c = cover.n_patches
    form = joint_matrix(measure_overlaps(cover, Memberships.strongest(cover, 5), u), np.full(c, 2))

    def value(R, t):
        rows = np.concatenate([R, t[:, None, :]], axis=1).reshape(3 * c, -1)
        return np.sum(rows * (form @ rows))

    best = value(alignment.motions.rotations, alignment.motions.translations)
    for size in (1e-3, 1e-2, 0.1):
        angle = size * rng.normal(size=c)
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        R = alignment.motions.rotations @ turn.transpose(2, 0, 1)
        t = alignment.motions.translations + size * rng.normal(size=(c, 2))
        assert value(R, t) > best


def test_points_are_placed_at_the_weighted_mean_of_their_images():
    rng = np.random.RandomState(0)
    truth = grid(8, 8)
    patches = windows(truth, 4.0, 2.0)
    offsets = rng.rand(sum(map(len, patches)))
    cover = cover_of(patches, 64, offsets=offsets)
    u = moved_charts(rng, truth, patches) + 0.1 * rng.normal(size=(len(offsets), 2))
    memberships = Memberships.strongest(cover, 3)
    alignment = stitch(cover, memberships, u, solver=LowRankSDP(random_state=0))
    Y = place(memberships, u, alignment.motions)
    for point in range(64):
        rows = range(memberships.indptr[point], memberships.indptr[point + 1])
        images = [
            u[memberships.entries[m]] @ alignment.motions.rotations[memberships.patches[m]]
            + alignment.motions.translations[memberships.patches[m]]
            for m in rows
        ]
        expected = np.average(images, axis=0, weights=memberships.weights[list(rows)])
        np.testing.assert_allclose(Y[point], expected, atol=1e-12)
