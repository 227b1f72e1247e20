"""Components are placed rigidly, as far apart as their links allow, and oriented as in the data."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import ortho_group

from isofold.exceptions import InvalidInputError
from isofold.linalg import procrustes
from isofold.placement.affine import place_by_variance
from isofold.placement.links import Links
from isofold.placement.placement import mixed_fraction
from isofold.placement.representatives import choose_representatives
from isofold.placement.rigid.place import place_rigidly
from isofold.sdp import LowRankSDP
from support.helpers import assert_equal_up_to_rigid_motion
from support.quick import quick_first

# A chain of some ten rotations and sums of numbers up to a hundred.
ROUNDING = 1e-9

# Power steps end when the variance gains 1e-14: rotations are then right to its root, 1e-7, times
# the condition of the problem.
CONVERGED = 1e-5


def rotation(q, seed):
    return ortho_group.rvs(q, random_state=seed) if q > 1 else np.array([[-1.0]])


def random_tree(n_shapes, q, seed, n_points=(3, 30)):
    """Return random shapes, a random tree of links between them, and all distances."""
    rng = np.random.RandomState(seed)
    shapes = [rng.normal(size=(rng.randint(*n_points), q)) for _ in range(n_shapes)]
    owners = np.array([[rng.randint(c), c] for c in range(1, n_shapes)])
    members = np.array([[rng.randint(len(shapes[p])) for p in pair] for pair in owners])
    links = Links(owners, members, rng.uniform(0.5, 2.0, size=n_shapes - 1))
    rows = [choose_representatives(Y) for Y in shapes]
    points = rng.normal(size=(sum(map(len, rows)), q + 1))
    return shapes, links, rows, cdist(points, points)


def cut_sheet(seed=0, n=120):
    """Return points of a flat sheet with a gap, as two components linked where they are nearest."""
    rng = np.random.RandomState(seed)
    sheet = rng.uniform(size=(n, 2)) * [4.0, 3.0]
    left = sheet[:, 0] < 2.0
    parts = [sheet[left], sheet[~left] + [0.5, 0.0]]
    gaps = cdist(*parts)
    ends = np.unravel_index(gaps.argmin(), gaps.shape)
    links = Links(np.array([[0, 1]]), np.array([ends]), np.array([gaps.min()]))
    rows = [choose_representatives(Y) for Y in parts]
    chosen = np.concatenate([Y[own] for Y, own in zip(parts, rows, strict=True)])
    return parts, links, rows, cdist(chosen, chosen)


def spread(shapes, placement):
    points = np.concatenate(placement.apply(shapes))
    return float(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("keep_apart", [False, True])
@pytest.mark.parametrize("q", [1, 2, 3, 5])
def test_maps_are_rigid_and_links_of_a_tree_exact(q, keep_apart):
    shapes, links, rows, distances = random_tree(6, q, seed=q)
    placement = place_rigidly(shapes, links, rows, distances, keep_apart=keep_apart, random_state=0)
    np.testing.assert_allclose(placement.singular_values, 1.0, atol=ROUNDING)
    placed = placement.apply(shapes)
    for before, after in zip(shapes, placed, strict=True):
        np.testing.assert_allclose(pdist(after), pdist(before), atol=ROUNDING)
    reached = [
        np.linalg.norm(placed[p][i] - placed[r][j])
        for (p, r), (i, j) in zip(links.owners, links.members, strict=True)
    ]
    np.testing.assert_allclose(placement.link_lengths, reached, atol=ROUNDING)
    if not keep_apart:
        np.testing.assert_allclose(placement.link_lengths, links.lengths, atol=ROUNDING)
    else:
        assert np.all(placement.link_lengths >= links.lengths - ROUNDING)
    assert placement.variance == pytest.approx(spread(shapes, placement))


@pytest.mark.parametrize("q", [1, 2, 4])
def test_two_components_lie_straight(q):
    shapes, links, rows, distances = random_tree(2, q, seed=10 + q)
    placement = place_rigidly(shapes, links, rows, distances, keep_apart=False, random_state=0)
    means = [Z.mean(axis=0) for Z in placement.apply(shapes)]
    (i, j), d = links.members[0], links.lengths[0]
    expected = (
        np.linalg.norm(shapes[0][i] - shapes[0].mean(axis=0))
        + d
        + np.linalg.norm(shapes[1][j] - shapes[1].mean(axis=0))
    )
    assert np.linalg.norm(means[0] - means[1]) == pytest.approx(expected, abs=ROUNDING)


def test_a_chain_of_segments_is_a_line():
    segment = np.linspace(0.0, 1.0, 5)[:, None]
    shapes = [segment, -segment, segment]
    links = Links(np.array([[0, 1], [1, 2]]), np.array([[4, 0], [4, 0]]), np.array([0.5, 2.0]))
    rows = [np.array([0, 4])] * 3
    line = np.array([0.0, 1.0, 1.5, 2.5, 4.5, 5.5])
    placement = place_rigidly(shapes, links, rows, abs(line[:, None] - line), random_state=0)
    placed = np.concatenate([Z[[0, 4]] for Z in placement.apply(shapes)])
    assert_equal_up_to_rigid_motion(placed, line[:, None], atol=ROUNDING)


@pytest.mark.parametrize("seed", quick_first(range(4)))
def test_signs_on_a_line_are_the_best_of_all(seed):
    shapes, links, rows, distances = random_tree(5, 1, seed)
    found = place_rigidly(shapes, links, rows, distances, keep_apart=False, random_state=0)
    sizes = np.array([len(Y) for Y in shapes])
    best = 0.0
    for signs in itertools.product([-1.0, 1.0], repeat=9):
        rotations, signs_of_links, means = signs[:5], signs[5:], np.zeros(5)
        for (p, c), (i, j), d, sign in zip(
            links.owners, links.members, links.lengths, signs_of_links, strict=True
        ):
            a = shapes[p][i, 0] - shapes[p].mean()
            b = shapes[c][j, 0] - shapes[c].mean()
            means[c] = means[p] + rotations[p] * a + sign * d - rotations[c] * b
        best = max(best, float(np.cov(means, fweights=sizes, ddof=0)))
    within = sum(float(((Y - Y.mean(axis=0)) ** 2).sum()) for Y in shapes) / sizes.sum()
    assert found.variance == pytest.approx(best + within)


@pytest.mark.parametrize("q", [2, 3])
def test_no_other_start_does_better(q):
    shapes, links, rows, distances = random_tree(8, q, seed=4)
    variances = [
        place_rigidly(
            shapes, links, rows, distances, keep_apart=False, n_starts=n, random_state=seed
        ).variance
        for n, seed in ((1, 0), (8, 1), (40, 2))
    ]
    np.testing.assert_allclose(variances, variances[0], rtol=CONVERGED)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("keep_apart", [False, True])
def test_the_parts_of_a_cut_sheet_are_oriented_as_in_the_sheet(seed, keep_apart):
    parts, links, rows, distances = cut_sheet(seed)
    mirrored = [parts[0], parts[1] * [1.0, -1.0]]
    placement = place_rigidly(
        mirrored, links, rows, distances, keep_apart=keep_apart, random_state=0
    )
    # One part was given as its mirror image; in the map both are seen from the same side again.
    motions = [
        procrustes(Y, Z).transform.rotation
        for Y, Z in zip(parts, placement.apply(mirrored), strict=True)
    ]
    assert np.linalg.det(motions[0]) * np.linalg.det(motions[1]) > 0
    if keep_apart:
        assert placement.mixed == 0.0
        np.testing.assert_allclose(placement.link_lengths, links.lengths, atol=ROUNDING)


@pytest.mark.parametrize("q", [1, 2, 3])
def test_motions_of_the_shapes_do_not_matter(q):
    shapes, links, rows, distances = random_tree(5, q, seed=20)
    moved = [Y @ rotation(q, seed) + seed for seed, Y in enumerate(shapes)]
    results = [
        np.concatenate(
            place_rigidly(each, links, rows, distances, keep_apart=False, random_state=0).apply(
                each
            )
        )
        for each in (shapes, moved)
    ]
    assert_equal_up_to_rigid_motion(results[0], results[1], atol=100 * CONVERGED)


def test_the_order_of_components_does_not_matter():
    shapes, links, rows, distances = random_tree(5, 2, seed=30)
    order = np.array([3, 0, 4, 1, 2])
    rank = np.argsort(order)
    begin = np.concatenate([[0], np.cumsum([len(own) for own in rows])])
    flat = np.concatenate([np.arange(begin[p], begin[p + 1]) for p in order])
    first = place_rigidly(shapes, links, rows, distances, keep_apart=False, random_state=0)
    second = place_rigidly(
        [shapes[p] for p in order],
        Links(rank[links.owners], links.members, links.lengths),
        [rows[p] for p in order],
        distances[np.ix_(flat, flat)],
        keep_apart=False,
        random_state=0,
    )
    again = second.apply([shapes[p] for p in order])
    assert_equal_up_to_rigid_motion(
        np.concatenate([again[r] for r in rank]),
        np.concatenate(first.apply(shapes)),
        atol=100 * CONVERGED,
    )


def test_the_same_seed_gives_the_same_bytes():
    shapes, links, rows, distances = random_tree(6, 2, seed=5)
    first, second = (
        place_rigidly(shapes, links, rows, distances, random_state=3) for _ in range(2)
    )
    np.testing.assert_array_equal(first.motions.rotations, second.motions.rotations)
    np.testing.assert_array_equal(first.motions.translations, second.motions.translations)


def test_one_component_stays_as_it_is():
    Y = np.random.RandomState(0).normal(size=(20, 2)).astype(np.float32)
    none = Links(np.empty((0, 2), dtype=int), np.empty((0, 2), dtype=int), np.empty(0))
    for placement in (
        place_rigidly([Y], none, [np.arange(3)], cdist(Y[:3], Y[:3])),
        place_by_variance([Y], none, [np.arange(3)]),
    ):
        (placed,) = placement.apply([Y])
        assert placed.dtype == np.float32
        assert_equal_up_to_rigid_motion(placed, Y, atol=1e-5)
        assert placement.link_lengths.shape == (0,)


def test_single_points_on_a_string():
    shapes = [np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 0.0]]), np.full((1, 2), 7.0)]
    links = Links(np.array([[0, 1], [2, 1]]), np.array([[0, 0], [0, 1]]), np.array([2.0, 3.0]))
    line = np.array([0.0, 2.0, 3.0, 6.0])
    rows = [np.arange(len(Y)) for Y in shapes]
    placement = place_rigidly(shapes, links, rows, abs(line[:, None] - line), random_state=0)
    np.testing.assert_allclose(placement.singular_values, 1.0, atol=ROUNDING)
    assert_equal_up_to_rigid_motion(
        np.concatenate(placement.apply(shapes)), line[:, None], atol=CONVERGED
    )
    assert placement.mixed == 0.0


def two_bars(lengths, far_end):
    """Return two bars linked at both ends; the second one reaches to `far_end`."""
    shapes = [np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0], [far_end, 0.0]])]
    links = Links(np.array([[0, 1], [0, 1]]), np.array([[0, 0], [1, 1]]), lengths)
    rows = [np.array([0, 1])] * 2
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [far_end, 1.0]])
    return shapes, links, rows, cdist(corners, corners)


def test_two_links_of_one_pair_make_a_rectangle():
    shapes, links, rows, distances = two_bars(np.array([1.0, 1.0]), far_end=1.0)
    placement = place_rigidly(shapes, links, rows, distances, random_state=0)
    np.testing.assert_allclose(placement.link_lengths, 1.0, atol=1e-6)
    np.testing.assert_allclose(placement.singular_values, 1.0, atol=ROUNDING)


def test_contradictory_links_are_reported():
    # The far bar is 10 long: no layout has both ends within 1 of a bar of length 1.
    shapes, links, rows, distances = two_bars(np.array([1.0, 1.0]), far_end=10.0)
    placement = place_rigidly(shapes, links, rows, distances, keep_apart=False, random_state=0)
    # Least squares of the violation share it: bars in one line, (10 - 1) / 2 on either side.
    np.testing.assert_allclose(placement.link_lengths, 4.5, atol=1e-3)
    np.testing.assert_allclose(placement.singular_values, 1.0, atol=ROUNDING)


def test_children_of_a_crowded_component_are_kept_apart():
    rng = np.random.RandomState(0)
    large, small = rng.uniform(size=(200, 2)) * 4.0, rng.uniform(size=(40, 2))
    shapes = [large, small, small, small]
    # All three hang on nearly the same corner.
    corner = np.argsort(large.sum(axis=1))[:3]
    owners = np.array([[0, 1], [0, 2], [0, 3]])
    members = np.stack([corner, [int(small.sum(axis=1).argmin())] * 3], axis=1)
    links = Links(owners, members, np.full(3, 0.3))
    rows = [choose_representatives(Y) for Y in shapes]
    points = rng.normal(size=(sum(map(len, rows)), 3))
    loose, apart = (
        place_rigidly(
            shapes, links, rows, cdist(points, points), keep_apart=keep_apart, random_state=0
        )
        for keep_apart in (False, True)
    )
    assert loose.mixed > 0.0
    assert apart.mixed == 0.0
    placed = apart.apply(shapes)
    for p, r in itertools.combinations(range(4), 2):
        assert cdist(placed[p], placed[r]).min() >= 0.94 * 0.3


def test_mixed_fraction():
    near = np.array([[0.0], [1.0]])
    assert mixed_fraction([near, near + 10.0]) == 0.0
    assert mixed_fraction([near, near + 0.5]) == 1.0
    assert mixed_fraction([near, np.array([[-0.1]])]) == 0.5
    assert mixed_fraction([near[:1], near[1:]]) == 0.0


def squashed_pair(seed):
    rng = np.random.RandomState(seed)
    shapes = [rng.normal(size=(30, 2)) for _ in range(2)]
    links = Links(np.array([[0, 1]]), np.array([[3, 5]]), np.array([1.0]))
    return shapes, links, [choose_representatives(Y) for Y in shapes]


def test_affine_maps_squash_and_say_so():
    least = []
    for seed in range(4):
        shapes, links, rows = squashed_pair(seed)
        placement = place_by_variance(shapes, links, rows)
        least.append(placement.singular_values.min())
        for Y, Z, values in zip(
            shapes, placement.apply(shapes), placement.singular_values, strict=True
        ):
            # The stretch of any distance lies between the singular values, and nearly reaches them.
            ratio = pdist(Z) / pdist(Y)
            assert values[1] - ROUNDING <= ratio.min() <= values[1] + 0.05
            assert values[0] - 0.05 <= ratio.max() <= values[0] + ROUNDING
        # The program itself, before the cut to two dimensions, keeps all lengths.
        assert placement.solution.status.name == "CERTIFIED"
    # Where the widths go is left to chance by the program; most often not into the plane.
    assert np.median(least) < 0.9


def test_affine_maps_on_a_line_are_isometric():
    shapes, links, rows, distances = random_tree(2, 1, seed=7)
    solver = LowRankSDP(tol=1e-5, violation_tol=1e-5, random_state=0)
    placement = place_by_variance(shapes, links, rows, solver=solver)
    rigid = place_rigidly(shapes, links, rows, distances, keep_apart=False, random_state=0)
    # Two linked lines unfold to one: nothing is cut. Lengths as accurate as the solver's.
    np.testing.assert_allclose(placement.singular_values, 1.0, atol=1e-2)
    assert placement.variance == pytest.approx(rigid.variance, rel=1e-2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"owners": np.array([[0, 1], [0, 1]]), "members": np.zeros((2, 2), dtype=int)},
            r"leave 3 components in 2 group",
        ),
        ({"owners": np.array([[0, 1], [2, 5]])}, "does not exist"),
        ({"members": np.array([[0, 0], [0, 999]])}, "does not exist"),
        ({"lengths": np.array([1.0, -1.0])}, "Negative"),
        ({"lengths": np.array([1.0, np.nan])}, "NaN"),
        ({"lengths": np.array([1.0])}, "1 lengths"),
    ],
)
def test_bad_links(change, words):
    shapes, links, rows, distances = random_tree(3, 2, seed=0)
    bad = Links(**{**vars(links), **change})
    with pytest.raises(InvalidInputError, match=words):
        place_rigidly(shapes, bad, rows, distances)


def test_bad_shapes_and_representatives():
    shapes, links, rows, distances = random_tree(3, 2, seed=0)
    with pytest.raises(InvalidInputError, match="columns"):
        place_rigidly([*shapes[:2], shapes[2][:, :1]], links, rows, distances)
    with pytest.raises(InvalidInputError, match="representative"):
        place_rigidly(shapes, links, rows[:2], distances)
    with pytest.raises(InvalidInputError, match="representative"):
        place_rigidly(shapes, links, rows, distances[1:, 1:])
    with pytest.raises(InvalidInputError, match="representatives"):
        place_by_variance(shapes, links, rows[:2])


@pytest.mark.parametrize("keep_apart", [False, True])
def test_a_ring_of_squares_that_fits_keeps_all_links(keep_apart):
    rng = np.random.RandomState(0)
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    squares = [rng.uniform(size=(30, 2)) + corner for corner in corners]
    owners = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    gaps = [cdist(squares[p], squares[r]) for p, r in owners]
    members = np.array([np.unravel_index(gap.argmin(), gap.shape) for gap in gaps])
    links = Links(owners, members, np.array([gap.min() for gap in gaps]))
    rows = [np.arange(0, 30, 5)] * 4
    chosen = np.concatenate([Y[::5] for Y in squares])
    placement = place_rigidly(
        [Y @ rotation(2, seed) for seed, Y in enumerate(squares)],
        links,
        rows,
        cdist(chosen, chosen),
        keep_apart=keep_apart,
        random_state=0,
    )
    # Bounds from below are met to 1e-4 of the squared size of the layout, links with them.
    assert np.all(placement.link_lengths <= links.lengths * (1.0 + 1e-2))


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_units_do_not_matter(unit):
    shapes, links, rows, distances = random_tree(4, 2, seed=6)
    first = place_rigidly(shapes, links, rows, distances, random_state=0)
    scaled = Links(links.owners, links.members, unit * links.lengths)
    second = place_rigidly(
        [unit * Y for Y in shapes], scaled, rows, unit * distances, random_state=0
    )
    # Branches are pushed in steps, so that rounding may add a small part to a link.
    np.testing.assert_allclose(second.link_lengths / unit, first.link_lengths, rtol=0.02)
    np.testing.assert_allclose(second.singular_values, 1.0, atol=ROUNDING)


def test_coinciding_components():
    shapes = [np.zeros((3, 2)), np.zeros((2, 2)), np.ones((1, 2))]
    links = Links(np.array([[0, 1], [1, 2]]), np.zeros((2, 2), dtype=int), np.zeros(2))
    placement = place_rigidly(shapes, links, [np.array([0])] * 3, np.zeros((3, 3)))
    assert np.all(np.isfinite(np.concatenate(placement.apply(shapes))))
    np.testing.assert_allclose(placement.link_lengths, 0.0, atol=ROUNDING)
