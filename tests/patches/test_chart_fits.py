"""Charts of awkward patches: strays, noise, too few points or dimensions, batches and threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

import isofold._memory
from isofold.patches import Atlas, PatchCover, fit_charts
from isofold.patches.atlas import bend, n_coefficients, sectional_curvature
from isofold.patches.charts import OUTLIER_FACTOR, OUTLIER_RADIUS_FRACTION
from support.helpers import assert_equal_up_to_rigid_motion
from support.hypothesis_profiles import examples

# Products and sums of some hundred numbers of size one.
ROUNDING = 1e-12
# The same after solves whose condition is some hundreds.
SOLVED = 1e-9

seeds = st.integers(0, 2**31 - 1)


def curvature_of(atlas):
    return sectional_curvature(atlas.coefficients, atlas.n_components)


def cover_of(patches, n_points, *, offsets=None, radii=None):
    """Return a cover by lists of points, the first of each its seed."""
    sizes = [len(patch) for patch in patches]
    return PatchCover(
        n_points=n_points,
        indptr=np.concatenate([[0], np.cumsum(sizes)]),
        members=np.concatenate(patches),
        offsets=np.zeros(sum(sizes)) if offsets is None else offsets,
        seeds=np.array([patch[0] for patch in patches]),
        radii=np.ones(len(patches)) if radii is None else radii,
    )


def dome(rng, n):
    """Return points of a surface with curvature, of size one."""
    t = rng.uniform(-1.0, 1.0, size=(n, 2))
    return np.column_stack([t, 0.3 * t[:, 0] ** 2 + 0.2 * t[:, 0] * t[:, 1] - 0.1 * t[:, 1] ** 2])


def rows_of(cover, patch):
    return slice(cover.indptr[patch], cover.indptr[patch + 1])


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def assert_same_charts(found, expected, *, atol=0.0):
    """Assert equal charts; axes may differ in sign, so that only what does not is compared."""
    np.testing.assert_array_equal(found.is_off, expected.is_off)
    np.testing.assert_array_equal(found.dimensions, expected.dimensions)
    for name in ("residual", "tangent", "spread", "beta", "normal_dimension"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=atol)
    np.testing.assert_allclose(found.atlas.shrinkage, expected.atlas.shrinkage, atol=atol)
    np.testing.assert_allclose(found.atlas.origins, expected.atlas.origins, atol=atol)


@examples(20)
@given(seeds, st.booleans())
def test_batches_do_not_matter(seed, quadratic):
    rng = np.random.RandomState(seed)
    X = dome(rng, 400) + 0.01 * rng.normal(size=(400, 3))
    # Sizes of all kinds, too small for a quadratic chart among them.
    patches = [rng.permutation(400)[:size] for size in rng.randint(1, 80, size=12)]
    offsets = [np.linspace(0.0, 0.999, len(patch)) for patch in patches]
    cover = cover_of(patches, 400, offsets=np.concatenate(offsets))
    together = fit_charts(X, cover, 2, quadratic=quadratic)
    for i, (patch, own) in enumerate(zip(patches, offsets, strict=True)):
        if len(patch) < 4:
            continue  # fewer points than axes: the tangent is free
        alone = fit_charts(X, cover_of([patch], 400, offsets=own), 2, quadratic=quadratic)
        rows = rows_of(cover, i)
        np.testing.assert_array_equal(together.is_off[rows], alone.is_off)
        np.testing.assert_allclose(
            distances(together.coordinates[rows]), distances(alone.coordinates), atol=SOLVED
        )
        for name in ("residual", "tangent", "spread", "beta", "dimensions"):
            found, expected = getattr(together, name)[i], getattr(alone, name)[0]
            assert found == pytest.approx(expected, rel=1e-6, abs=SOLVED)


def test_threads_and_blocks_do_not_matter(monkeypatch):
    rng = np.random.RandomState(0)
    X = dome(rng, 300)
    patches = [rng.permutation(300)[:size] for size in rng.randint(10, 60, size=40)]
    cover = cover_of(patches, 300)
    whole = fit_charts(X, cover, 2, n_jobs=1)
    threads = fit_charts(X, cover, 2, n_jobs=2)
    assert threads.coordinates.tobytes() == whole.coordinates.tobytes()
    assert threads.atlas.coefficients.tobytes() == whole.atlas.coefficients.tobytes()
    assert_same_charts(threads, whole)
    monkeypatch.setattr(isofold._memory, "BLOCK_BYTES", 1)
    assert_same_charts(fit_charts(X, cover, 2), whole, atol=SOLVED)


@examples(20)
@given(seeds, st.integers(1, 2), st.floats(0.3, 1.5))
def test_outliers_are_left_out(seed, n_outliers, height):
    rng = np.random.RandomState(seed)
    flat = rng.uniform(-1.0, 1.0, size=(60, 2))
    # Strays in the middle: at a corner one could bend the first chart towards itself.
    flat[:n_outliers] *= 0.5
    X = np.column_stack([flat, np.zeros(60)])
    X[:n_outliers, 2] = height
    # The seed is no stray.
    order = np.roll(np.arange(60), -n_outliers)
    cover = cover_of([order], 60, radii=np.array([1.5]))
    fit = fit_charts(X, cover, 2)
    assert fit.is_off[order < n_outliers].all()
    # The chart is that of the others, which is flat; a stray's image is where it projects to.
    assert_equal_up_to_rigid_motion(fit.coordinates, flat[order], atol=SOLVED)
    assert fit.residual[0] <= SOLVED**2


def test_nothing_is_stray_within_the_limits():
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.uniform(-1.0, 1.0, size=(80, 2)), np.zeros(80)])
    # Below a share of the radius nothing is stray, however exact the others are.
    X[5, 2] = 0.9 * OUTLIER_RADIUS_FRACTION
    assert not fit_charts(X, cover_of([np.arange(80)], 80), 2).is_off.any()
    # With noise of size one, a hundred medians of squares are out of reach: |z| > 6.7.
    noisy = X + 0.05 * np.sign(rng.normal(size=X.shape)) * [0, 0, 1]
    assert OUTLIER_FACTOR > 1.0
    assert not fit_charts(noisy, cover_of([np.arange(80)], 80), 2).is_off.any()


def test_flat_charts_leave_nothing_out():
    rng = np.random.RandomState(0)
    X = dome(rng, 60)
    X[7] += [0.0, 0.0, 5.0]
    fit = fit_charts(X, cover_of([np.arange(60)], 60), 2, quadratic=False)
    assert not fit.is_off.any()
    assert not fit.atlas.coefficients.any()
    # The projection onto the principal axes, as PCA does it.
    centered = X - X.mean(axis=0)
    axes = np.linalg.svd(centered)[2][:2]
    assert_equal_up_to_rigid_motion(fit.coordinates, centered @ axes.T, atol=ROUNDING)
    assert fit.residual[0] == pytest.approx(np.linalg.svd(centered)[1][2] ** 2 / 59)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_without_normal_directions(d):
    X = np.random.RandomState(0).rand(50, d)
    fit = fit_charts(X, cover_of([np.arange(50)], 50), d)
    assert_equal_up_to_rigid_motion(fit.coordinates, X, atol=ROUNDING)
    np.testing.assert_allclose(fit.residual, 0.0, atol=ROUNDING**2)
    assert (fit.signal > 1e20).all()
    assert fit.normal_dimension.tolist() == [1.0]
    assert not fit.atlas.shrinkage.any()


@examples(15)
@given(seeds, st.sampled_from([0.0, 0.02]))
def test_more_dimensions_than_points(seed, noise):
    # Rotated into 60 dimensions the patches of 30 points are fitted by another branch.
    rng = np.random.RandomState(seed)
    X = dome(rng, 90) + noise * rng.normal(size=(90, 3))
    lifted = X @ ortho_group.rvs(60, random_state=rng)[:3]
    cover = cover_of([np.arange(30), np.arange(30, 60), np.arange(55, 83)], 90)
    few, many = fit_charts(X, cover, 2), fit_charts(lifted, cover, 2)
    for patch in range(3):
        rows = rows_of(cover, patch)
        np.testing.assert_allclose(
            distances(many.coordinates[rows]), distances(few.coordinates[rows]), atol=SOLVED
        )
    for name in ("residual", "tangent", "spread", "beta"):
        np.testing.assert_allclose(getattr(many, name), getattr(few, name), rtol=1e-6, atol=SOLVED)
    np.testing.assert_allclose(curvature_of(many.atlas), curvature_of(few.atlas), atol=1e-6)


@pytest.mark.parametrize("quadratic", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 9, 30])
@pytest.mark.parametrize("spans", [0, 1, 2, 3])
@pytest.mark.parametrize("d", [3, 50])
def test_patches_that_span_less_have_fewer_dimensions(quadratic, n, spans, d):
    rng = np.random.RandomState(n)
    X = rng.rand(n, spans) @ rng.rand(spans, d) + rng.rand(d)
    fit = fit_charts(X, cover_of([np.arange(n)], n), 3, quadratic=quadratic)
    assert fit.dimensions.tolist() == [min(n - 1, spans)]
    for values in (fit.coordinates, fit.residual, fit.tangent, fit.beta, *arrays(fit.atlas)):
        assert np.isfinite(values).all()
    # What lies beyond the span is nothing: lengths are kept in the first coordinates.
    kept = fit.coordinates[:, : fit.dimensions[0]]
    np.testing.assert_allclose(distances(kept), distances(X), atol=1e-7)


def arrays(atlas):
    return atlas.origins, atlas.axes, atlas.coefficients, atlas.shrinkage


def test_noise_is_measured_without_bias():
    # 400 flat patches of 60 points: (60 - 6)·400 degrees of freedom in each normal direction, so
    # that the mean variance has a standard error of √(2/21600) = 1 %. Allowed: five of those.
    rng = np.random.RandomState(0)
    sigma, n, c = 0.01, 60, 400
    X = np.column_stack([rng.uniform(-1, 1, size=(n * c, 2)), sigma * rng.normal(size=(n * c, 2))])
    fit = fit_charts(X, cover_of(np.arange(n * c).reshape(c, n), n * c), 2)
    assert fit.normal_dimension.tolist() == [2.0] * c
    assert fit.noise.mean() == pytest.approx(sigma**2, rel=0.05 / np.sqrt(2))
    # A side of 2 has variance 1/3; of two principal ones the smaller is below that.
    assert 0.1 / sigma**2 < np.median(fit.signal) < 1 / 3 / sigma**2
    assert ((fit.atlas.shrinkage >= 0.0) & (fit.atlas.shrinkage < 1.0)).all()


def test_noise_hides_curvature_and_curvature_stands_out_from_noise():
    rng = np.random.RandomState(1)
    t = np.linspace(-1, 1, 60)[:, None]
    curve = np.column_stack([t, 0.2 * t**2])
    clear = fit_charts(curve + 1e-4 * rng.normal(size=(60, 2)), cover_of([np.arange(60)], 60), 1)
    # 1 - γ = σ²/m over ⟨(0.2t²)²⟩ = 0.008: 2e-8, but for the chance of a sample.
    assert 1.0 - clear.atlas.shrinkage[0] < 1e-7
    drowned = fit_charts(curve + rng.normal(size=(60, 2)), cover_of([np.arange(60)], 60), 1)
    assert drowned.signal[0] < 10.0


@examples(25)
@given(seeds, st.integers(1, 3))
def test_bending_is_the_formula(seed, r):
    rng = np.random.RandomState(seed)
    d = r + 2
    atlas = Atlas(
        origins=np.zeros((2, d)),
        axes=np.zeros((2, d, r)),
        coefficients=rng.normal(size=(2, n_coefficients(r), d)),
        shrinkage=np.array([rng.rand(), 0.0]),
    )
    t = rng.normal(size=(2, 5, r))
    B = atlas.curvature
    np.testing.assert_array_equal(B, B.swapaxes(1, 2))
    found = bend(atlas, t)
    for i in range(5):
        squares = np.einsum("k,l,kld->d", t[0, i], t[0, i], B[0])
        slopes = np.einsum("l,kld->kd", t[0, i], B[0])
        expected = t[0, i] + atlas.shrinkage[0] / 6 * slopes @ squares
        np.testing.assert_allclose(found[0, i], expected, rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_array_equal(found[1], t[1])
    # The half of B(t, t), as the coefficients say it of the features t_k²/2 and t_k t_l.
    radii = np.full((2, 1), 100.0)
    for i in range(5):
        quadratic = 0.5 * np.einsum("ck,cl,ckld->cd", t[:, i], t[:, i], B)
        linear = np.einsum("ck,ckd->cd", t[:, i], atlas.coefficients[:, 1 : 1 + r])
        expected = atlas.coefficients[:, 0] + linear + quadratic
        np.testing.assert_allclose(atlas.surface(t[:, i], radii), expected, atol=1e-11)


def test_the_surface_holds_the_points():
    rng = np.random.RandomState(0)
    X = dome(rng, 80)
    fit = fit_charts(X, cover_of([np.arange(80)], 80), 2)
    t = (X - fit.atlas.origins[0]) @ fit.atlas.axes[0]
    one = fit.atlas
    found = np.concatenate([one.surface(row[None], np.array([[9.0]])) for row in t])
    # A surface of second order over another tangent plane is not quite quadratic: the tilt of
    # the mean plane, some 0.05, times the height.
    np.testing.assert_allclose(found, X, atol=np.sqrt(fit.residual[0]) * 5 + SOLVED)
    assert np.sqrt(fit.residual[0]) < 0.05 * 0.4


def test_beyond_its_radius_a_surface_goes_straight_on():
    rng = np.random.RandomState(0)
    fit = fit_charts(dome(rng, 80), cover_of([np.arange(80)], 80), 2)
    radius = np.array([[0.5]])
    direction = np.array([[0.6, 0.8]])

    def at(length):
        return fit.atlas.surface(length * direction, radius)[0]

    # Continuous at the radius, and with constant steps beyond it.
    np.testing.assert_allclose(at(0.5 + 1e-9), at(0.5 - 1e-9), atol=1e-8)
    np.testing.assert_allclose(at(0.9) - at(0.7), at(0.7) - at(0.5), atol=ROUNDING)
    assert np.linalg.norm((at(0.5) - at(0.3)) - (at(0.3) - at(0.1))) > 1e-3
