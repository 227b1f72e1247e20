"""The scale of patches: rules, and covers that follow them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isofold.neighbors import balls_around, build_graph
from isofold.patches import Atlas, ChartFit, ScaleRules, charted_balls
from isofold.patches.scale import PATCHES_PER_SIZE, PER_POINTS, as_cover
from support.hypothesis_profiles import examples

# Sums of some hundred numbers of size one.
ROUNDING = 1e-12


def plane(n, *, noise=0.0, seed=0, d=3):
    rng = np.random.RandomState(seed)
    flat = rng.rand(n, 2)
    return np.column_stack([flat, np.zeros((n, d - 2))]) + noise * rng.normal(size=(n, d))


def cover_plane(X, *, n_patches=None, rules=None, quadratic=True, seed=0, n_jobs=None, r=2):
    return charted_balls(
        X,
        build_graph(X, n_neighbors=12, kind="mutual"),
        r,
        rules=rules or ScaleRules(),
        n_patches=n_patches,
        quadratic=quadratic,
        rng=np.random.RandomState(seed),
        n_jobs=n_jobs,
    )


def assert_covers(cover, n):
    """Assert a cover of n points by balls: each begins at its seed, in order of distance."""
    assert cover.n_points == n
    assert np.isin(np.arange(n), cover.members).all()
    np.testing.assert_array_equal(cover.members[cover.indptr[:-1]], cover.seeds)
    assert (cover.offsets >= 0.0).all()
    assert (cover.offsets < 1.0).all()
    for patch in range(cover.n_patches):
        rows = slice(cover.indptr[patch], cover.indptr[patch + 1])
        assert (np.diff(cover.offsets[rows]) >= 0.0).all()
        assert len(set(cover.members[rows])) == cover.sizes[patch]


def fit_with(*, signal, beta, shrinkage):
    """Return what a fit would say of patches with given figures."""
    signal = np.asarray(signal, dtype=float)
    n = len(signal)
    atlas = Atlas(np.zeros((n, 3)), np.zeros((n, 3, 2)), np.zeros((n, 6, 3)), np.asarray(shrinkage))
    return ChartFit(
        atlas=atlas,
        coordinates=np.zeros((0, 2)),
        is_off=np.zeros(0, dtype=bool),
        is_far=np.zeros(0, dtype=bool),
        residual=np.ones(n),
        normal_dimension=np.ones(n),
        tangent=signal,
        spread=signal,
        beta=np.asarray(beta),
        curvature=np.zeros(n),
        sizes=np.full(n, 24.0),
        dimensions=np.full(n, 2),
    )


def test_when_a_patch_is_large_enough():
    fit = fit_with(
        signal=[30.0, 29.9, 29.9, 4.1, 4.0, 29.9],
        beta=[0.0, 0.1, 0.16, 0.16, 0.16, 0.16],
        shrinkage=[0.0, 1.0, 0.68, 0.68, 0.68, 0.66],
    )
    accepted = ScaleRules().accept(fit)
    # Clear of the noise; not yet; bent and secure; the same at the limit; too noisy; all noise.
    assert accepted.tolist() == [True, False, True, True, False, False]
    # Twice the size: twice the signal and twice the bending are asked for.
    assert ScaleRules().doubled().accept(fit).tolist() == [False] * 6
    twice = fit_with(signal=[60.0, 29.9], beta=[0.0, 0.31], shrinkage=[0.0, 1.0])
    assert ScaleRules().doubled().accept(twice).all()


def test_without_noise_every_patch_is_large_enough():
    fit = fit_with(signal=[1.0], beta=[0.0], shrinkage=[0.0])
    exact = ChartFit(**{**vars(fit), "residual": np.zeros(1)})
    assert ScaleRules().accept(exact).all()


@pytest.mark.parametrize(("r", "expected"), [(1, 24), (2, 24), (3, 40)])
def test_the_least_size(r, expected):
    # Four points a coefficient; 6 (on curves as well), 6 and 10 of them. In more points, 5.5 n/m =
    # most_patches, or an eighth of it on curves.
    rules = ScaleRules(most_patches=1000)
    most = 125 if r == 1 else 1000
    assert rules.least_size(500, r) == expected
    assert rules.doubled().least_size(500, r) == 2 * expected
    assert rules.least_size(PER_POINTS, r) == int(5.5 * PER_POINTS / most)
    assert rules.doubled().least_size(PER_POINTS, r) == int(11.0 * PER_POINTS / most)
    # From there on patches keep their size, and their number grows.
    assert rules.least_size(100 * PER_POINTS, r) == rules.least_size(PER_POINTS, r)


@examples(15)
@given(st.integers(0, 2**31 - 1), st.integers(2, 60), st.integers(1, 2))
def test_few_points_are_covered_too(seed, n, r):
    rng = np.random.RandomState(seed)
    X = rng.rand(n, 3)
    graph = build_graph(X, n_neighbors=min(12, n - 1), kind="mutual")
    for n_patches in (None, 1, 3, n):
        cover, fit = charted_balls(
            X,
            graph,
            r,
            rules=ScaleRules(),
            n_patches=n_patches,
            quadratic=True,
            rng=np.random.RandomState(0),
            n_jobs=1,
        )
        assert_covers(cover, n)
        assert np.isfinite(fit.coordinates).all()


def test_pieces_that_nothing_connects():
    X = np.concatenate([plane(80), plane(50, seed=1) + 10.0, [[99.0, 0.0, 0.0]]])
    # A graph within a radius leaves the last point alone.
    graph = build_graph(X, radius=0.4)
    cover, fit = charted_balls(
        X,
        graph,
        2,
        rules=ScaleRules(),
        n_patches=None,
        quadratic=True,
        rng=np.random.RandomState(0),
        n_jobs=1,
    )
    assert_covers(cover, 131)
    alone = int(np.flatnonzero(cover.seeds == 130)[0])
    assert cover.sizes[alone] == 1
    assert cover.radii[alone] > 0.0
    assert fit.dimensions[alone] == 0
    assert np.isfinite(fit.coordinates).all()


@pytest.mark.parametrize("n_patches", [1, 5, 30, 200])
def test_about_as_many_patches_as_asked_for(n_patches):
    n = 1000
    cover, _ = cover_plane(plane(n), n_patches=n_patches)
    assert_covers(cover, n)
    size = min(n, max(4, round(PATCHES_PER_SIZE * n / n_patches)))
    np.testing.assert_array_equal(cover.sizes, size)
    if size == n:
        assert cover.n_patches == 1
    else:
        # The constant 5.5 is that of large covers; borders change it, by less than half.
        assert n_patches / 2 <= cover.n_patches <= 2 * n_patches


def test_clean_data_have_the_smallest_patches():
    X = plane(1500)
    cover, fit = cover_plane(X)
    assert_covers(cover, 1500)
    np.testing.assert_array_equal(cover.sizes, 24)
    np.testing.assert_allclose(fit.residual, 0.0, atol=ROUNDING**2)


@pytest.mark.parametrize("noise", [0.01, 0.013])
def test_noise_makes_patches_larger(noise):
    # Weights 1 - (d/h)² over a disk give tangent variances h²/6. They are 30 times σ² at
    # h² = 180 σ², where a ball holds n π h² points.
    n = 3000
    cover, fit = cover_plane(plane(n, noise=noise))
    assert_covers(cover, n)
    needed = n * np.pi * 180 * noise**2
    # Sizes grow by factors of 1.5, start anywhere, and paths along the graph are a tenth longer
    # than straight ones; balls at the border are cut and grow once or twice more.
    assert needed / 1.5 <= np.median(cover.sizes) <= 1.5**2 * needed
    assert np.median(fit.signal) >= 30.0 / 1.5
    # Points off the height of their seed are farther along the graph, and so count less.
    assert 0.8 * noise**2 <= np.median(fit.noise) <= 1.05 * noise**2


def test_balls_stop_at_a_sixth_of_the_points():
    cover, _ = cover_plane(plane(600, noise=0.5))
    assert_covers(cover, 600)
    assert cover.sizes.max() <= 100


def test_threads_do_not_matter_and_the_seed_is_the_only_chance():
    X = plane(800, noise=0.02)
    first, second = cover_plane(X, n_jobs=1), cover_plane(X, n_jobs=2)
    assert first[0].members.tobytes() == second[0].members.tobytes()
    assert first[1].coordinates.tobytes() == second[1].coordinates.tobytes()


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**20])
def test_units_do_not_matter(factor):
    # Powers of two change no digit.
    X = plane(800, noise=0.02)
    one, other = cover_plane(X), cover_plane(factor * X)
    np.testing.assert_array_equal(one[0].members, other[0].members)
    np.testing.assert_array_equal(one[0].offsets, other[0].offsets)
    np.testing.assert_allclose(other[1].residual, factor**2 * one[1].residual, rtol=1e-9)


def test_balls_as_a_cover():
    graph = build_graph(plane(100), n_neighbors=6)
    balls = balls_around(graph, np.array([3, 50]), np.array([10, 20]))
    cover = as_cover(balls, 100)
    assert (cover.radii > balls.radii).all()
    np.testing.assert_allclose(
        cover.offsets * np.repeat(cover.radii, [10, 20]), balls.distances, rtol=ROUNDING
    )
    # The last point has some weight left, in charts and in the stitching.
    assert (cover.chart_weights > 0.0).all()
    assert (cover.stitch_weights > 0.0).all()
