"""Overlaps: quadratic forms against sums over points, and the matrices of the thesis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.patches import Memberships, PatchCover
from isofold.stitching._moments import group_moments
from isofold.stitching.overlaps import joint_matrix, measure_overlaps
from support.hypothesis_profiles import examples

# Sums of some hundred products of numbers of size one.
ROUNDING = 1e-11

covers = {
    "seed": st.integers(0, 2**31 - 1),
    "c": st.integers(2, 6),
    "r": st.integers(1, 3),
    "share": st.floats(0.0, 1.0),
    "by_overlap": st.booleans(),
}


def random_case(seed, c, r, share, by_overlap, n_points=20):
    """Return a random cover with coordinates that do not fit, and who is in which patch."""
    rng = np.random.RandomState(seed)
    table = rng.rand(c, n_points) < share
    table[rng.randint(c, size=n_points), np.arange(n_points)] = True
    table[:, 0] = True
    members = [rng.permutation(np.flatnonzero(row)) for row in table]
    cover = PatchCover(
        n_points=n_points,
        indptr=np.concatenate([[0], np.cumsum([len(own) for own in members])]),
        members=np.concatenate(members),
        offsets=rng.rand(table.sum()),
        seeds=np.array([own[0] for own in members]),
        radii=np.ones(c),
        by_overlap=by_overlap,
    )
    memberships = Memberships.strongest(cover, None if by_overlap else rng.choice([2, 5]))
    return rng, cover, memberships, rng.normal(size=(len(cover.members), r))


def shared(memberships):
    """Yield (point, i, entry of i, weight of i, j, entry of j, weight of j), patches i < j."""
    for point in range(len(memberships.indptr) - 1):
        rows = range(memberships.indptr[point], memberships.indptr[point + 1])
        held = sorted(
            (memberships.patches[m], memberships.entries[m], memberships.weights[m]) for m in rows
        )
        for a, first in enumerate(held):
            for second in held[a + 1 :]:
                yield point, *first, *second


def naive_counts(memberships):
    counts = {}
    for _, i, _, _, j, _, _ in shared(memberships):
        counts[i, j] = counts.get((i, j), 0) + 1
    return counts


def naive_weight(cover, memberships, row, counts):
    point, i, _, first, j, _, second = row
    if cover.by_overlap:
        return 1.0 / counts[i, j]
    total = memberships.weights[memberships.points == point].sum()
    return first * second / total


@examples(80)
@given(**covers)
def test_the_form_is_the_sum_over_points_and_pairs(seed, c, r, share, by_overlap):
    rng, cover, memberships, u = random_case(seed, c, r, share, by_overlap)
    overlaps = measure_overlaps(cover, memberships, u)
    dimensions = rng.randint(1, r + 1, size=c)
    matrix = joint_matrix(overlaps, dimensions).toarray()
    assert len(matrix) == (dimensions + 1).sum()
    np.testing.assert_allclose(matrix, matrix.T, atol=ROUNDING)
    p = r + 1
    R = [rng.normal(size=(k, p)) for k in dimensions]
    t = rng.normal(size=(c, p))
    counts = naive_counts(memberships)
    kept = {tuple(pair) for pair in overlaps.pairs}
    assert kept <= set(counts)
    for pair, count in zip(overlaps.pairs, overlaps.counts, strict=True):
        assert counts[tuple(pair)] == count
    expected = 0.0
    for row in shared(memberships):
        _, i, a, _, j, b, _ = row
        if (i, j) in kept:
            gap = u[a, : dimensions[i]] @ R[i] + t[i] - u[b, : dimensions[j]] @ R[j] - t[j]
            expected += naive_weight(cover, memberships, row, counts) * gap @ gap
    Y = np.concatenate([np.vstack([R[i], t[i]]) for i in range(c)])
    assert np.sum(Y * (matrix @ Y)) == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


@examples(40)
@given(**{**covers, "by_overlap": st.just(False), "share": st.just(1.0)})
def test_consensus_is_the_scatter_around_the_mean(seed, c, r, share, by_overlap):
    rng, cover, memberships, u = random_case(seed, c, r, share, by_overlap, n_points=60)
    overlaps = measure_overlaps(cover, memberships, u)
    if len(overlaps.pairs) < len(naive_counts(memberships)):
        return  # small overlaps were dropped, and with them terms of the sum
    Y = rng.normal(size=(c, r + 1, r))
    images = np.einsum("ek,ekp->ep", u[memberships.entries], Y[memberships.patches, :r])
    images += Y[memberships.patches, r]
    scatter = 0.0
    for point in range(60):
        rows = slice(memberships.indptr[point], memberships.indptr[point + 1])
        w, y = memberships.weights[rows], images[rows]
        scatter += w @ ((y - w @ y / w.sum()) ** 2).sum(axis=1)
    Y = Y.reshape(-1, r)
    value = np.sum(Y * (joint_matrix(overlaps, np.full(c, r)) @ Y))
    assert value == pytest.approx(scatter, rel=ROUNDING, abs=ROUNDING)


@examples(40)
@given(**{**covers, "by_overlap": st.just(True)})
def test_by_overlap_the_blocks_are_those_of_the_thesis(seed, c, r, share, by_overlap):
    _, cover, memberships, u = random_case(seed, c, r, share, by_overlap)
    overlaps = measure_overlaps(cover, memberships, u)
    L_X, Z, L_G = np.zeros((r * c, r * c)), np.zeros((r * c, c)), np.zeros((c, c))
    for i, j in overlaps.pairs:
        # D_ij has P_ij in column block i and -P_ji in block j; v_ij = e_i - e_j (eq. 5.5 to 5.7).
        points = np.intersect1d(cover.members_of(i), cover.members_of(j))
        D, v = np.zeros((len(points), r * c)), np.zeros(c)
        for patch, sign in ((i, 1.0), (j, -1.0)):
            own = {x: cover.indptr[patch] + k for k, x in enumerate(cover.members_of(patch))}
            D[:, r * patch : r * (patch + 1)] = sign * u[[own[x] for x in points]]
            v[patch] = sign
        L_X += D.T @ D / len(points)
        Z += np.outer(D.mean(axis=0), v)
        L_G += np.outer(v, v)
    matrix = joint_matrix(overlaps, np.full(c, r)).toarray()
    is_translation = np.arange(c * (r + 1)) % (r + 1) == r
    np.testing.assert_allclose(matrix[~is_translation][:, ~is_translation], L_X, atol=ROUNDING)
    np.testing.assert_allclose(matrix[~is_translation][:, is_translation], Z, atol=ROUNDING)
    np.testing.assert_allclose(matrix[is_translation][:, is_translation], L_G, atol=ROUNDING)
    # A common motion costs nothing.
    np.testing.assert_allclose(L_G.sum(axis=1), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(Z.sum(axis=1), 0.0, atol=ROUNDING)


@examples(40)
@given(**covers)
def test_variance_and_weights_overlap_by_overlap(seed, c, r, share, by_overlap):
    _, cover, memberships, u = random_case(seed, c, r, share, by_overlap)
    overlaps = measure_overlaps(cover, memberships, u)
    counts = naive_counts(memberships)
    rows = list(shared(memberships))
    variance, weights = 0.0, []
    for pair in overlaps.pairs:
        own = [row for row in rows if (row[1], row[4]) == tuple(pair)]
        w = np.array([naive_weight(cover, memberships, row, counts) for row in own])
        P, Q = u[[row[2] for row in own]], u[[row[5] for row in own]]
        P, Q = P - w @ P / w.sum(), Q - w @ Q / w.sum()
        variance += w @ ((P**2).sum(axis=1) + (Q**2).sum(axis=1))
        weights.append(w.sum())
    np.testing.assert_allclose(overlaps.weights, weights, rtol=ROUNDING)
    assert overlaps.variance == pytest.approx(variance, abs=ROUNDING)


def cover_of(patches, n_points):
    return PatchCover(
        n_points=n_points,
        indptr=np.concatenate([[0], np.cumsum([len(own) for own in patches])]),
        members=np.concatenate(patches),
        offsets=np.zeros(sum(len(own) for own in patches)),
        seeds=np.array([own[0] for own in patches]),
        radii=np.ones(len(patches)),
    )


def overlaps_of(patches, n_points, r):
    cover = cover_of(patches, n_points)
    u = np.random.RandomState(0).rand(len(cover.members), r)
    return measure_overlaps(cover, Memberships.strongest(cover, None), u)


@pytest.mark.parametrize(("r", "kept"), [(1, True), (2, False)])
def test_small_overlaps_are_dropped_if_the_others_suffice(r, kept):
    # Three patches; the first and the last share three points only: r + 2 for r = 1.
    patches = [np.arange(10), np.arange(5, 15), np.r_[10:18, 0:3]]
    pairs = overlaps_of(patches, 18, r).pairs.tolist()
    assert pairs == ([[0, 1], [0, 2], [1, 2]] if kept else [[0, 1], [1, 2]])


def test_a_small_overlap_that_closes_a_ring_stays():
    # Four patches in a ring; the last and the first share a single point, and no third patch
    # overlaps both.
    patches = [np.arange(10), np.arange(5, 15), np.arange(10, 20), np.r_[15:25, 0]]
    overlaps = overlaps_of(patches, 25, 2)
    assert overlaps.pairs.tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert overlaps.counts.tolist() == [5, 1, 5, 5]


def test_small_overlaps_stay_where_nothing_else_connects():
    # A chain whose second link is a single point.
    patches = [np.arange(10), np.arange(5, 15), np.arange(14, 20)]
    overlaps = overlaps_of(patches, 20, 2)
    assert overlaps.pairs.tolist() == [[0, 1], [1, 2]]
    assert overlaps.counts.tolist() == [5, 1]


def test_patches_that_share_nothing():
    overlaps = overlaps_of([np.arange(4), np.arange(4, 9)], 9, 2)
    assert len(overlaps.pairs) == 0
    assert overlaps.variance == 0.0
    assert not joint_matrix(overlaps, np.array([2, 2])).toarray().any()
    assert overlaps.rigid_groups(at_rest(2, 2), np.array([2, 2])).tolist() == [0, 1]


def at_rest(c, r):
    """Return motions that leave patches where they are."""
    return np.tile(np.pad(np.eye(r), ((0, 1), (0, 0))), (c, 1, 1))


def groups_of(patches, points, dimensions):
    """Return the rigid groups of patches whose charts are the points themselves."""
    cover = cover_of(patches, len(points))
    memberships = Memberships.strongest(cover, None)
    overlaps = measure_overlaps(cover, memberships, points[cover.members])
    motions = at_rest(len(patches), points.shape[1])
    return len(set(overlaps.rigid_groups(motions, np.array(dimensions))))


@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("second", [1, 2, 3])
@pytest.mark.parametrize("n_shared", [1, 2, 3, 4])
def test_an_overlap_ties_patches_if_it_spans_the_smaller(first, second, n_shared):
    # Shared points in general position span n - 1 dimensions, but no more than either patch.
    spanned, rng = min(n_shared - 1, first, second), np.random.RandomState(0)
    points = np.zeros((n_shared + 6, 3))
    points[:n_shared, :spanned] = rng.rand(n_shared, spanned)
    for dimension, own in ((first, slice(-6, -3)), (second, slice(-3, None))):
        points[own, :dimension] = rng.rand(3, dimension)
    numbers = np.arange(n_shared + 6)
    patches = [numbers[:-3], np.r_[numbers[:n_shared], numbers[-3:]]]
    tied = spanned == min(first, second)
    assert groups_of(patches, points, [first, second]) == (1 if tied else 2)


def test_a_patch_on_two_hinges_of_a_rigid_group_is_held():
    # The last of three patches in the plane shares a point with each of two others, which are tied:
    # either point alone is a hinge, and both together still leave it free to flip.
    points = np.random.RandomState(0).rand(20, 2)
    tied = [np.r_[0:10], np.r_[5:15]]
    assert groups_of([*tied, np.r_[0, 15:20]], points, [2, 2, 2]) == 2
    assert groups_of([*tied, np.r_[0, 14, 15:20]], points, [2, 2, 2]) == 2
    assert groups_of([*tied, np.r_[0, 1, 14, 15:20]], points, [2, 2, 2]) == 1
    # A bar cannot flip.
    assert groups_of([*tied, np.r_[0, 14]], points, [2, 2, 1]) == 1


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0]])
def test_plates_turn_about_the_bar_between_them(order):
    # A plate, two bars in a row, and another plate: each bar lies within a plate, but both plates
    # can flip about the bars. With one more point in common they cannot.
    points = np.random.RandomState(0).rand(24, 2)
    points[6:18, 1] = 0.5
    patches = [np.r_[0:10], np.r_[7:14], np.r_[11:17], np.r_[14:24]]
    dimensions = np.array([2, 1, 1, 2])
    apart = [patches[k] for k in order]
    assert groups_of(apart, points, dimensions[order]) == 2
    patches[3] = np.r_[0, patches[3]]
    held = [patches[k] for k in order]
    assert groups_of(held, points, dimensions[order]) == 1
    # A plate with bars on it is one.
    alone = [k for k in order if k < 3]
    assert groups_of([patches[k] for k in alone], points, dimensions[alone]) == 1


@pytest.mark.parametrize("r", [2, 3])
def test_a_chain_of_triangles_turns_about_every_edge(r):
    # Patches of dimension two: in space every shared edge is a hinge, in the plane a mirror.
    points = np.random.RandomState(0).rand(7, r)
    triangles = [np.arange(k, k + 3) for k in range(5)]
    assert groups_of(triangles, points, [2] * 5) == 5


def test_moments_of_groups_are_sums_of_products():
    rng = np.random.RandomState(0)
    rows, groups = rng.normal(size=(30, 3)), rng.randint(5, size=200)
    left, right = rng.randint(30, size=(2, 200))
    weights = rng.rand(200)
    found = group_moments(rows, left, right, weights, groups, 6)
    for group in range(6):
        of = groups == group
        expected = np.einsum("e,ea,eb->ab", weights[of], rows[left[of]], rows[right[of]])
        # Sums of some forty products of numbers of size one.
        np.testing.assert_allclose(found[group], expected, atol=1e-13)
