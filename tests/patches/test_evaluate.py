"""Evaluation of aligned charts: the compiled loops against plain ones, and continuity."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.neighbors import build_search
from isofold.patches import Atlas, Memberships, PatchCover, fit_charts
from isofold.patches._evaluate import blend, distances_from_charts, evaluate
from isofold.patches.atlas import n_coefficients
from support.hypothesis_profiles import examples

# Some dozen products of numbers of size one to ten.
ROUNDING = 1e-11

seeds = st.integers(0, 2**31 - 1)


def random_memberships(rng, n_nodes, n_patches):
    """Return patches and weights of nodes, as rows."""
    rows = [rng.permutation(n_patches)[: rng.randint(1, n_patches + 1)] for _ in range(n_nodes)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    weights = 1e-6 + rng.rand(indptr[-1])
    total = np.add.reduceat(weights, indptr[:-1])
    return indptr, np.concatenate(rows), weights / np.repeat(total, np.diff(indptr))


def naive_blend(near, distances, indptr, patches, weights, n_patches):
    """Return the shares of all patches at every point, from (1/d - 1/d_k)²."""
    shares = np.zeros((len(near), n_patches))
    for i, (nodes, lengths) in enumerate(zip(near, distances, strict=True)):
        if lengths[0] == 0.0:
            omega = (lengths == 0.0).astype(float)
        elif lengths[0] == lengths[-1]:
            omega = np.ones(len(nodes))
        else:
            omega = (1.0 / lengths - 1.0 / lengths[-1]) ** 2
        for node, value in zip(nodes, omega, strict=True):
            rows = slice(indptr[node], indptr[node + 1])
            shares[i, patches[rows]] += value * weights[rows] / weights[rows].sum()
    return shares / shares.sum(axis=1, keepdims=True)


def as_table(row_ends, chosen, shares, n_patches):
    table = np.zeros((len(row_ends) - 1, n_patches))
    for i in range(len(table)):
        rows = slice(row_ends[i], row_ends[i + 1])
        assert len(set(chosen[rows])) == row_ends[i + 1] - row_ends[i]
        table[i, chosen[rows]] = shares[rows]
    return table


@examples(60)
@given(seeds, st.integers(1, 8), st.integers(1, 6), st.sampled_from(["any", "tied", "at a node"]))
def test_shares_are_the_formula(seed, n_patches, k, kind):
    rng = np.random.RandomState(seed)
    nodes = random_memberships(rng, 9, n_patches)
    near = np.array([rng.permutation(9)[:k] for _ in range(20)])
    distances = np.sort(0.1 + rng.rand(20, k), axis=1)
    if kind == "tied":
        distances[:] = distances[:, :1]
    if kind == "at a node":
        distances[:, 0] = 0.0
    found = as_table(*blend(near, distances, *nodes, n_patches), n_patches)
    expected = naive_blend(near, distances, *nodes, n_patches)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)


def test_shares_do_not_depend_on_units_even_extreme_ones():
    rng = np.random.RandomState(0)
    nodes = random_memberships(rng, 9, 5)
    near = np.array([rng.permutation(9)[:4] for _ in range(20)])
    distances = np.sort(0.1 + rng.rand(20, 4), axis=1)
    one = blend(near, distances, *nodes, 5)
    for factor in (2.0**-1000, 2.0**1000):
        other = blend(near, factor * distances, *nodes, 5)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def random_atlas(rng, c, r, d):
    axes = np.linalg.qr(rng.normal(size=(c, d, d)))[0][:, :, :r]
    return Atlas(
        origins=rng.normal(size=(c, d)),
        axes=np.ascontiguousarray(axes),
        coefficients=rng.normal(size=(c, n_coefficients(r), d)),
        shrinkage=rng.rand(c),
    )


def naive_image(x, atlas, radius, patch, motions):
    """Return image and squared distance of one point by one chart."""
    t = (x - atlas.origins[patch]) @ atlas.axes[patch]
    inner = t * min(1.0, radius / np.linalg.norm(t))
    B = atlas.curvature[patch]
    slopes = np.einsum("l,kld->kd", inner, B)
    u = t + atlas.shrinkage[patch] / 6 * slopes @ (inner @ slopes)
    a, g = atlas.coefficients[patch, 0], atlas.coefficients[patch, 1 : 1 + len(t)]
    surface = atlas.origins[patch] + atlas.axes[patch] @ t + a + t @ g + 0.5 * inner @ slopes
    rotations, translations = (part[patch] for part in motions)
    return u @ rotations + translations, ((x - surface) ** 2).sum()


@examples(60)
@given(seeds, st.integers(1, 3), st.integers(0, 3), st.integers(0, 2))
def test_images_and_distances_are_the_formula(seed, r, more, spare):
    rng = np.random.RandomState(seed)
    d, p, c, n = r + more, r + spare, 4, 12
    atlas, radii, limits = random_atlas(rng, c, r, d), 0.5 + rng.rand(c), rng.rand(c)
    motions = rng.normal(size=(c, r, p)), rng.normal(size=(c, p))
    counts = rng.randint(1, c + 1, size=n)
    chosen = np.concatenate([rng.permutation(c)[:count] for count in counts])
    shares = rng.rand(len(chosen))
    ends = np.concatenate([[0], np.cumsum(counts)])
    points = rng.normal(size=(n, d))
    blended = points, ends, chosen, shares, atlas.origins, atlas.axes, radii
    images = evaluate(*blended, atlas.cubics(motions[0]), motions)
    squares, allowed = distances_from_charts(*blended, atlas.coefficients, limits)
    for i in range(n):
        y, square, limit = np.zeros(p), 0.0, 0.0
        for e in range(ends[i], ends[i + 1]):
            patch, share = chosen[e], shares[e]
            image, distance = naive_image(points[i], atlas, radii[patch], patch, motions)
            y, square = y + share * image, square + share * distance
            limit += share * limits[patch]
        np.testing.assert_allclose(images[i], y, atol=ROUNDING, rtol=ROUNDING)
        assert squares[i] == pytest.approx(square, rel=ROUNDING)
        assert allowed[i] == pytest.approx(limit, rel=ROUNDING)


def test_the_surface_is_where_the_distance_vanishes():
    rng = np.random.RandomState(0)
    atlas, radii = random_atlas(rng, 5, 2, 4), 0.5 + rng.rand(5)
    # The normal part is normal to the axes, as in fitted charts, so that t is the projection.
    normal = atlas.coefficients - (atlas.coefficients @ atlas.axes) @ atlas.axes.swapaxes(1, 2)
    atlas = replace(atlas, coefficients=normal)
    points = atlas.surface(rng.normal(size=(5, 2)), radii[:, None])
    rows = np.arange(6), np.arange(5), np.ones(5)
    squares, _ = distances_from_charts(
        points, *rows, atlas.origins, atlas.axes, radii, atlas.coefficients, radii
    )
    np.testing.assert_allclose(squares, 0.0, atol=ROUNDING**2)


def test_single_precision_points_are_taken_as_they_are():
    rng = np.random.RandomState(0)
    atlas, radii = random_atlas(rng, 2, 2, 3), np.ones(2)
    motions = rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2))
    points = rng.normal(size=(5, 3)).astype(np.float32)
    rest = np.arange(6), np.array([0, 1, 0, 1, 1]), np.ones(5), atlas.origins, atlas.axes, radii
    cubics = atlas.cubics(motions[0])
    single = evaluate(points, *rest, cubics, motions)
    double = evaluate(points.astype(np.float64), *rest, cubics, motions)
    np.testing.assert_array_equal(single, double)
    single = distances_from_charts(points, *rest, atlas.coefficients, radii)
    double = distances_from_charts(points.astype(np.float64), *rest, atlas.coefficients, radii)
    np.testing.assert_array_equal(single, double)


def test_no_points():
    rng = np.random.RandomState(0)
    atlas, nodes = random_atlas(rng, 2, 1, 2), random_memberships(rng, 3, 2)
    blended = blend(np.empty((0, 2), dtype=np.int64), np.empty((0, 2)), *nodes, 2)
    motions = np.ones((2, 1, 1)), np.ones((2, 1))
    charts = np.empty((0, 2)), *blended, atlas.origins, atlas.axes, np.ones(2)
    assert evaluate(*charts, atlas.cubics(motions[0]), motions).shape == (0, 1)
    squares, limits = distances_from_charts(*charts, atlas.coefficients, np.ones(2))
    assert len(squares) == len(limits) == 0


@pytest.fixture
def placed():
    """Return a bumpy sheet with charts and random motions: neighboring charts do not agree."""
    rng = np.random.RandomState(0)
    n, c = 150, 12
    flat = rng.rand(n, 2)
    X = np.column_stack([flat, 0.2 * np.sin(4 * flat[:, 0])])
    chosen = rng.choice(n, c, replace=False)
    distances = np.linalg.norm(X[:, None] - X[chosen], axis=2)
    members = [np.argsort(column)[:60] for column in distances.T]
    radii = np.array([1.0001 * distances[own[-1], i] for i, own in enumerate(members)])
    missing = np.setdiff1d(np.arange(n), np.concatenate(members))
    members[0] = np.concatenate([members[0], missing])
    radii[0] = max(radii[0], 1.0001 * distances[members[0], 0].max())
    offsets = [distances[own, i] / radii[i] for i, own in enumerate(members)]
    cover = PatchCover(
        n_points=n,
        indptr=np.concatenate([[0], np.cumsum([len(own) for own in members])]),
        members=np.concatenate(members),
        offsets=np.concatenate(offsets),
        seeds=chosen,
        radii=radii,
    )
    fit = fit_charts(X, cover, 2)
    motions = rng.normal(size=(c, 2, 2)), rng.normal(size=(c, 2))
    return X, cover, fit, motions


def mapped(placed, points, k=4):
    X, cover, fit, motions = placed
    memberships = Memberships.strongest(cover, 5, fit.is_off)
    near = build_search(X).query(points, k)
    total = np.add.reduceat(memberships.weights, memberships.indptr[:-1])
    blended = blend(
        near.indices.astype(np.int64),
        near.distances,
        memberships.indptr,
        memberships.patches,
        memberships.weights / total[memberships.points],
        cover.n_patches,
    )
    # Around the seed, members are within the radius; around the origin they may be beyond.
    charts = fit.atlas.origins, np.ascontiguousarray(fit.atlas.axes), 2 * cover.radii
    return evaluate(points, *blended, *charts, fit.atlas.cubics(motions[0]), motions)


def test_nodes_go_where_their_patches_put_them(placed):
    X, cover, fit, (rotations, translations) = placed
    memberships = Memberships.strongest(cover, 5, fit.is_off)
    patches = memberships.patches
    images = np.einsum("ek,ekp->ep", fit.coordinates[memberships.entries], rotations[patches])
    images = memberships.weights[:, None] * (images + translations[patches])
    total = np.add.reduceat(memberships.weights, memberships.indptr[:-1])
    expected = np.add.reduceat(images, memberships.indptr[:-1]) / total[:, None]
    np.testing.assert_allclose(mapped(placed, X), expected, atol=ROUNDING)


def test_the_map_is_continuous(placed):
    # A jump stays when steps become shorter; what is continuous (and has slopes, as this map)
    # moves by a tenth if steps are a tenth. Motions of neighbors differ by numbers of size one.
    begin, direction = np.array([0.05, 0.1, 0.0]), np.array([0.9, 0.75, 0.1])

    def largest_step(n_steps):
        walk = begin + np.linspace(0.0, 1.0, n_steps + 1)[:, None] * direction
        return np.linalg.norm(np.diff(mapped(placed, walk), axis=0), axis=1).max()

    coarse, fine = largest_step(20_000), largest_step(200_000)
    assert fine <= 0.2 * coarse
    # Near a node the map comes to its image.
    node = placed[0][7]
    gaps = [
        np.linalg.norm(mapped(placed, node[None] + step) - mapped(placed, node[None]))
        for step in (1e-4, 1e-5, 1e-6)
    ]
    assert gaps[1] < 0.2 * gaps[0]
    assert gaps[2] < 0.2 * gaps[1]
