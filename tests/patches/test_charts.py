"""Charts: known surfaces, invariances, and agreement with one patch at a time."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from isofold.patches import PatchCover, fit_charts
from isofold.patches.atlas import n_coefficients, sectional_curvature
from isofold.patches.charts import RIDGE
from support.helpers import assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples

# Products and sums of some hundred numbers of size one.
ROUNDING = 1e-12
# A coefficient of unit features is off by the ridge over the smallest variance of the features,
# some 0.02 for points spread evenly; bending takes its square, times lengths below one.
RIDGE_ERROR = 100 * RIDGE

seeds = st.integers(0, 2**31 - 1)


def curvature_of(atlas):
    return sectional_curvature(atlas.coefficients, atlas.n_components)


def one_patch(n_points, offsets=None, radius=1.0, seed=0):
    return PatchCover(
        n_points=n_points,
        indptr=np.array([0, n_points]),
        members=np.arange(n_points),
        offsets=np.zeros(n_points) if offsets is None else offsets,
        seeds=np.array([seed]),
        radii=np.array([radius]),
    )


def random_cover(rng, points, sizes):
    """Return patches of the nearest points of random seeds, with their distances as offsets."""
    chosen = rng.choice(len(points), len(sizes))
    members, offsets, radii = [], [], []
    for seed, size in zip(chosen, sizes, strict=True):
        distances = np.linalg.norm(points - points[seed], axis=1)
        nearest = np.argsort(distances, kind="stable")[:size]
        radius = 1.0001 * distances[nearest[-1]] or 1.0
        members.append(nearest)
        offsets.append(distances[nearest] / radius)
        radii.append(radius)
    return PatchCover(
        n_points=len(points),
        indptr=np.concatenate([[0], np.cumsum(sizes)]),
        members=np.concatenate(members),
        offsets=np.concatenate(offsets),
        seeds=chosen,
        radii=np.array(radii),
    )


def disk(n, h):
    """Return points spread evenly over a disk (Vogel's spiral), the first near its center."""
    k = np.arange(n) + 0.5
    radius, angle = h * np.sqrt(k / n), np.pi * (3.0 - np.sqrt(5.0)) * k
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def naive_features(t):
    r = len(t)
    pairs = combinations_with_replacement(range(r), 2)
    return [1.0, *t, *((0.5 if i == j else 1.0) * t[i] * t[j] for i, j in pairs)]


def naive_fit(T, N, w, scale):
    """Return the coefficients, by lstsq with a row for the ridge of every scaled coefficient."""
    r = T.shape[1]
    degree = np.array([0] + [1] * r + [2] * (r * (r + 1) // 2))
    A = np.array([naive_features(t) for t in T]) / scale**degree
    rows = np.concatenate([np.sqrt(w)[:, None] * A, np.sqrt(RIDGE * w.sum()) * np.eye(len(degree))])
    right = np.concatenate([np.sqrt(w)[:, None] * N, np.zeros((len(degree), N.shape[1]))])
    return np.linalg.lstsq(rows, right)[0] / (scale**degree)[:, None]


def naive_chart(X, w, r):
    """Return coordinates u and the residual variance of a quadratic chart of one patch."""
    mean = w @ X / w.sum()
    values, vectors = np.linalg.eigh((w[:, None] * (X - mean)).T @ (X - mean) / w.sum())
    V, scale, origin = vectors[:, ::-1][:, :r], np.sqrt(values[-r]), mean
    for turn in range(2):
        T = (X - origin) @ V
        N = X - origin - T @ V.T
        beta = naive_fit(T, N, w, scale)
        if turn == 0:
            origin = origin + beta[0]
            left, _, right = np.linalg.svd(V + beta[1 : 1 + r].T, full_matrices=False)
            V = left @ right
    F = np.array([naive_features(t) for t in T])
    q, m = F.shape[1], len(X)
    residual = w @ ((N - F @ beta) ** 2).sum(axis=1) / w.sum() * m / (m - q)
    explained = w @ ((F[:, 1 + r :] @ beta[1 + r :]) ** 2).sum(axis=1) / w.sum()
    gamma = max(0.0, 1.0 - residual * (q - 1 - r) / m / explained)
    B = np.zeros((r, r, X.shape[1]))
    for (i, j), value in zip(
        combinations_with_replacement(range(r), 2), beta[1 + r :], strict=True
    ):
        B[i, j] = B[j, i] = value
    U = []
    for t in T:
        slopes = np.einsum("j,ijd->id", t, B)
        U.append(t + gamma / 6 * slopes @ (t @ slopes))
    return np.array(U), residual, gamma


def bent_cloud(rng, n, r, d, *, noise=0.0):
    """Return points of a random quadratic surface of curvature one."""
    t = rng.uniform(-1.0, 1.0, size=(n, r))
    B = rng.normal(size=(d - r, r, r))
    z = 0.5 * np.einsum("nk,akl,nl->na", t, B + B.swapaxes(1, 2), t) / r
    return np.column_stack([t, z]) + noise * rng.normal(size=(n, d))


@examples(25)
@given(seeds, st.sampled_from([(1, 2), (1, 4), (2, 3), (2, 5), (3, 4)]), st.floats(0.0, 0.05))
def test_as_one_patch_after_the_other(seed, shape, noise):
    rng = np.random.RandomState(seed)
    r, d = shape
    X = 0.5 * bent_cloud(rng, 300, r, d, noise=noise)
    sizes = rng.randint(n_coefficients(r) + 10, 60, size=6)
    cover = random_cover(rng, X, sizes)
    fit = fit_charts(X, cover, r)
    for patch in range(cover.n_patches):
        rows = slice(cover.indptr[patch], cover.indptr[patch + 1])
        w = 1.0 - cover.offsets[rows] ** 2
        u, residual, gamma = naive_chart(X[cover.members_of(patch)], np.where(w > 0.05, w, 0.05), r)
        if fit.is_off[rows].any():
            continue
        # The condition of the fit is at most 1/RIDGE; its square root enters by lstsq.
        np.testing.assert_allclose(distances(fit.coordinates[rows]), distances(u), atol=1e-9)
        assert fit.residual[patch] == pytest.approx(residual, rel=1e-6, abs=1e-15)
        assert fit.atlas.shrinkage[patch] == pytest.approx(gamma, abs=1e-6)


@examples(20)
@given(seeds, st.sampled_from([(1, 1), (1, 3), (2, 2), (2, 3), (2, 6), (3, 5)]), st.booleans())
def test_flat_patches_are_exact(seed, shape, quadratic):
    rng = np.random.RandomState(seed)
    r, d = shape
    flat = rng.rand(200, r)
    frame = ortho_group.rvs(d, random_state=rng)[:r] if d > 1 else np.ones((1, 1))
    X = flat @ frame + rng.normal(size=d)
    cover = random_cover(rng, X, np.array([40, 12, 41, 25]))
    fit = fit_charts(X, cover, r, quadratic=quadratic)
    for patch in range(4):
        rows = slice(cover.indptr[patch], cover.indptr[patch + 1])
        assert_equal_up_to_rigid_motion(
            fit.coordinates[rows], flat[cover.members_of(patch)], atol=ROUNDING
        )
    assert (fit.residual <= ROUNDING**2).all()
    assert (fit.beta <= ROUNDING).all()
    assert not fit.is_off.any()
    np.testing.assert_array_equal(fit.dimensions, r)


# Arc length. A chart over |t| ≤ h has u = t + B²t³/6, arcs of constant curvature 1/R = 1 have
# s = asin t = t + t³/6 + 3t⁵/40 + …. With weights 1 - (t/h)² on [-h, h] the fit takes t⁴/8, the
# next term of the height, for h²/6 · t²/2 (its projection onto 1 and t²), so that B = 1 + h²/6 and
# u - s = h²t³/18 - 3t⁵/40, largest at t = h: 7/360 h⁵. Further terms are smaller by h².
ARC_ERROR = 7.0 / 360.0


def arc(h, n=401):
    s = np.linspace(-1.0, 1.0, n) * np.arcsin(h)
    return s, np.column_stack([np.sin(s), 1.0 - np.cos(s)])


def chart_of_arc(h):
    s, X = arc(h)
    cover = one_patch(len(s), np.abs(s) / (1.0001 * s[-1]), 1.0001 * s[-1], len(s) // 2)
    u = fit_charts(X, cover, 1).coordinates[:, 0]
    return s, np.sign(u[-1]) * u


@pytest.mark.parametrize("h", [0.4, 0.2, 0.1])
def test_a_circular_arc_has_its_length_up_to_the_fifth_power(h):
    s, u = chart_of_arc(h)
    # Beside the next term, (1 + h²): the ridge, and a grid instead of an integral.
    assert np.abs(u - s).max() == pytest.approx(ARC_ERROR * h**5, rel=h**2 + 0.1)


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_cylinder_unrolls(turn):
    # On a disk of radius h the error is that of arcs; the weights of a disk change its constant,
    # but t⁴/8 still stands for a multiple of t² that is between 0 and h²/8 · 2.
    errors = []
    for h in (0.4, 0.2):
        flat = disk(600, h)
        turned = flat @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        X = np.column_stack([np.sin(turned[:, 0]), turned[:, 1], 1.0 - np.cos(turned[:, 0])])
        cover = one_patch(600, np.linalg.norm(flat, axis=1) / (1.0001 * h), h)
        fit = fit_charts(X, cover, 2)
        errors.append(np.abs(distances(fit.coordinates) - distances(flat)).max())
    # Two points may be off to either side by 3h⁵/40.
    assert errors[0] <= 2 * 0.075 * 0.4**5
    # Halving h divides by 2⁵ = 32; the next order is smaller by h² = 0.16.
    assert 32 * (1 - 0.16) <= errors[0] / errors[1] <= 32 * (1 + 0.16)


def parabola_length(x):
    return 0.5 * (x * np.sqrt(1.0 + x**2) + np.arcsinh(x))


def test_a_parabola_at_its_vertex():
    # z = x²/2 is what a quadratic chart fits exactly: u = x + x³/6, while the arc is
    # s = x + x³/6 - x⁵/40 + x⁷/112 - …: u - s lies between x⁵/40 - x⁷/112 and x⁵/40.
    h, n = 0.5, 301
    x = np.linspace(-h, h, n)
    fit = fit_charts(np.column_stack([x, x**2 / 2]), one_patch(n, np.abs(x) / (1.01 * h), h), 1)
    u = fit.coordinates[:, 0] * np.sign(fit.coordinates[-1, 0])
    error = u[n // 2 :] - parabola_length(x[n // 2 :])
    limit = x[n // 2 :] ** 5 / 40
    assert (error <= limit + RIDGE_ERROR * h**3).all()
    assert (error >= limit - x[n // 2 :] ** 7 / 112 - RIDGE_ERROR * h**3).all()


def test_a_parabolic_sheet_away_from_its_vertex():
    # There the curvature changes: C = B' ≠ 0 and u is off by the fourth power, BCt⁴/8 + …
    errors = []
    for h in (0.2, 0.1, 0.05):
        flat = disk(600, h)
        x = 0.6 + flat[:, 0]
        fit = fit_charts(
            np.column_stack([x, flat[:, 1], x**2 / 2]),
            one_patch(600, np.linalg.norm(flat, axis=1) / (1.0001 * h), 1.2 * h),
            2,
        )
        truth = np.column_stack([parabola_length(x), flat[:, 1]])
        errors.append(np.abs(distances(fit.coordinates) - distances(truth)).max() / h)
    # Relative to h by the third power: eightfold. The next order is h times smaller.
    assert 8 * (1 - 0.2) <= errors[0] / errors[1] <= 8 * (1 + 0.2)
    assert 8 * (1 - 0.2) <= errors[1] / errors[2] <= 8 * (1 + 0.2)


def test_a_helix_has_its_length():
    # Constant curvature 1/2 (radius 1, pitch 2π): the third derivative is normal to the second, so
    # that the error is of the fifth power again.
    errors = []
    for h in (0.8, 0.4):
        s = np.linspace(-h, h, 301)
        a = s / np.sqrt(2.0)
        X = np.column_stack([np.cos(a), np.sin(a), a])
        fit = fit_charts(X, one_patch(301, np.abs(s) / (1.0001 * h), h, 150), 1)
        errors.append(np.abs(distances(fit.coordinates) - distances(s[:, None])).max())
    assert 32 * (1 - 0.2) <= errors[0] / errors[1] <= 32 * (1 + 0.2)


# Sphere of radius one over a disk |t| ≤ h: z = t²/2 + t⁴/8 + …, and the projection of t⁴ onto 1 and
# t² under weights 1 - (t/h)² is 0.8 h²t². So B = 1 + h²/5, and the curvature B² = 1 + 2h²/5.
SPHERE_EXCESS = 0.4


@pytest.mark.parametrize("radius", [1.0, 25.0])
def test_the_curvature_of_a_sphere(radius):
    h = 0.2
    t = disk(1500, h)
    X = radius * np.column_stack([t, 1.0 - np.sqrt(1.0 - (t**2).sum(axis=1))])
    cover = one_patch(1500, np.linalg.norm(t, axis=1) / (1.0001 * h), radius * h)
    found = curvature_of(fit_charts(X, cover, 2).atlas)[0]
    # Next order: h² = 0.04 of the excess; a tenth for points instead of an integral.
    assert found * radius**2 == pytest.approx(1.0 + SPHERE_EXCESS * h**2, abs=0.14 * 0.4 * h**2)


def test_the_curvature_of_a_ball_of_dimension_three():
    h, rng = 0.2, np.random.RandomState(0)
    t = rng.uniform(-h, h, size=(800, 3))
    t = t[np.linalg.norm(t, axis=1) < h]
    X = np.column_stack([t, 1.0 - np.sqrt(1.0 - (t**2).sum(axis=1))])
    # The excess of any weighting is between 0 and 2·2h²/8·2: t⁴/8 stands for at most h²t²/4.
    found = curvature_of(fit_charts(X, one_patch(len(t), radius=h), 3).atlas)[0]
    assert -RIDGE_ERROR <= found - 1.0 <= h**2


def test_what_can_be_unrolled_has_no_curvature():
    # On a grid with equal weights the fit of t₁⁴ has no share in t₂², and Gauss' equation has
    # only products of the two.
    side = np.linspace(-0.3, 0.3, 17)
    a, b = (g.ravel() for g in np.meshgrid(side, side))
    cylinder = np.column_stack([np.sin(a), b, 1.0 - np.cos(a)])
    torus = np.column_stack([np.sin(a), 1.0 - np.cos(a), np.sin(b), 1.0 - np.cos(b)])
    saddle = np.column_stack([a, b, 0.5 * (a**2 - b**2)])
    values = [
        curvature_of(fit_charts(X, one_patch(289, seed=144), 2).atlas)[0]
        for X in (cylinder, torus, saddle)
    ]
    np.testing.assert_allclose(values, [0.0, 0.0, -1.0], atol=RIDGE_ERROR)
    curve = fit_charts(cylinder[:17], one_patch(17, seed=8), 1)
    assert curvature_of(curve.atlas).tolist() == [0.0]


def test_beta_of_an_arc():
    # β = 2.5 ⟨(Bt²/2)²⟩/⟨t²⟩ = 2.5 (h⁴/20)/(h²/3) = 3h²/8 for points spread evenly, to first order.
    h = 0.1
    _, X = arc(h)
    fit = fit_charts(X, one_patch(len(X), seed=200), 1)
    # Next order: h² times a constant below 4; 401 points stand for an integral up to 1/401.
    assert fit.beta[0] == pytest.approx(0.375 * h**2, rel=4 * h**2 + 1 / 401)
    assert fit_charts(X, one_patch(len(X)), 1, quadratic=False).beta[0] == 0.0


@examples(20)
@given(seeds, st.floats(-5.0, 5.0), st.floats(0.0, 0.05))
def test_motions_and_units_do_not_matter(seed, exponent, noise):
    rng = np.random.RandomState(seed)
    X = bent_cloud(rng, 120, 2, 4, noise=noise)
    cover = random_cover(rng, X, np.array([30, 50, 120]))
    fit = fit_charts(X, cover, 2)
    factor = 10.0**exponent
    moved = factor * (X @ ortho_group.rvs(4, random_state=rng) + rng.normal(size=4))
    scaled = PatchCover(**{**vars_of(cover), "radii": factor * cover.radii})
    again = fit_charts(moved, scaled, 2)
    np.testing.assert_array_equal(again.is_off, fit.is_off)
    # Rounding grows by the condition of the fits, at most some hundreds here.
    for patch in range(3):
        rows = slice(cover.indptr[patch], cover.indptr[patch + 1])
        np.testing.assert_allclose(
            distances(again.coordinates[rows]) / factor,
            distances(fit.coordinates[rows]),
            atol=1e-9,
        )
    for name, power in (("residual", 2), ("tangent", 2), ("spread", 2), ("beta", 0)):
        expected = factor**power * getattr(fit, name)
        np.testing.assert_allclose(
            getattr(again, name), expected, rtol=1e-7, atol=1e-20 * factor**2
        )
    curvature = curvature_of(fit.atlas) / factor**2
    np.testing.assert_allclose(
        curvature_of(again.atlas), curvature, rtol=1e-6, atol=1e-9 / factor**2
    )
    np.testing.assert_array_equal(again.dimensions, fit.dimensions)


def vars_of(cover):
    names = ("n_points", "indptr", "members", "offsets", "seeds", "radii")
    return {name: getattr(cover, name) for name in names}
