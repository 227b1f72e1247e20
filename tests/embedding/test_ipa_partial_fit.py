"""More rows for a fitted IPA: where they go, what stays, and what is refused."""

import copy
import warnings

import numpy as np
import pytest

import isofold
from isofold import IPA, Cover, StitchTerms
from isofold.datasets import swiss_roll
from isofold.embedding.ipa_update import UpdateRules, update
from isofold.exceptions import DoubtfulMapWarning, InvalidInputError
from isofold.extension.extended_map import ExtendedMap
from isofold.extension.patch_map import PatchMap
from isofold.quality import procrustes_error
from support.helpers import assert_equal_up_to_rigid_motion
from support.ipa_cases import rectangle, ring
from support.quick import quick_are

N = 500
ASIDE = np.array([0.0, 20.0, 0.0])

# Products of rotations, and a solved system, of numbers of the size of the roll.
ROUNDING = 1e-9


def model(**parameters):
    return IPA(**{"random_state": 0, "n_jobs": 1, **parameters})


def along(n=2 * N, *, noise=0.0, seed=0):
    """Return a roll and its true coordinates, from its inner end to the outer one."""
    roll = swiss_roll(n, width=21.0, uniform=True, noise=noise, random_state=seed)
    order = np.argsort(roll.truth[:, 0])
    return roll.X[order], roll.truth[order]


@pytest.fixture(scope="module")
def roll():
    return along()


@pytest.fixture(scope="module")
def fitted_half(roll):
    return model().fit(roll[0][:N])


@pytest.fixture
def half(fitted_half):
    return copy.copy(fitted_half)


@pytest.fixture(scope="module")
def extended(roll, fitted_half):
    return copy.copy(fitted_half).partial_fit(roll[0][N:])


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        yield


def state(fitted):
    return {name: value for name, value in vars(fitted).items() if name.endswith("_")}


def assert_same_attributes(fitted, before):
    assert state(fitted).keys() == before.keys()
    assert all(state(fitted)[name] is value for name, value in before.items())


# Known answers


def test_without_a_fit_it_is_one(roll):
    first = model().partial_fit(roll[0][:N])
    np.testing.assert_array_equal(first.embedding_, model().fit_transform(roll[0][:N]))
    assert isinstance(first.map_, PatchMap)


@pytest.mark.parametrize(
    ("noise", "n_steps"), quick_are([(0.0, 4)], [(0.0, 1), (0.0, 4), (0.3, 3)])
)
def test_half_a_roll_and_the_other_half(noise, n_steps):
    X, truth = along(noise=noise)
    at_once = procrustes_error(model().fit_transform(X), truth)
    steps = model().fit(X[:N])
    half_error = procrustes_error(steps.embedding_, truth[:N])
    for strip in np.array_split(X[N:], n_steps):
        steps.partial_fit(strip)
    seam = dict(steps.diagnosis_["seam"].parameters)["error"]
    # Either map is off by its own error, and the one beyond the seam by what it jumps there.
    error = procrustes_error(steps.embedding_, truth)
    assert error < np.sqrt(half_error**2 + at_once**2 + seam**2)
    assert steps.diagnosis_.is_sound
    assert len(steps.map_.maps) == n_steps + 1


def test_flat_data_are_extended_exactly():
    flat = rectangle(400, (2.0, 1.0))
    frame = np.linalg.qr(np.random.RandomState(1).normal(size=(4, 2)))[0]
    is_left = flat[:, 0] < 1.0
    left, right = (flat @ frame.T)[is_left], (flat @ frame.T)[~is_left]
    fitted = model().fit(left).partial_fit(right)
    truth = np.vstack([flat[is_left], flat[~is_left]])
    assert_equal_up_to_rigid_motion(fitted.embedding_, truth, atol=1e-12)
    assert fitted.diagnosis_["seam"].value < 1e-12


def test_new_points_beyond_the_first_half(roll, extended):
    unseen, truth = along(400, seed=7)
    motion = isofold.linalg.procrustes(extended.embedding_, roll[1]).transform
    moved = motion.apply(extended.transform(unseen))
    extent = np.sqrt(((truth - truth.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert np.sqrt(((moved - truth) ** 2).sum(axis=1).mean()) < 0.01 * extent
    assert isofold.is_outside(extended, unseen).mean() < 0.02
    # Spacing is 1.4, and the smallest radius 5: a quadratic leaves a hundredth of it at the rim.
    back = extended.inverse_transform(extended.transform(unseen))
    assert np.median(np.linalg.norm(back - unseen, axis=1)) < 0.05
    assert np.median(extended.distance_to_manifold(unseen)) < 0.05


# What stays


def test_old_rows_stay_to_the_last_bit(roll, half, quiet):
    X = roll[0]
    embedding, images = half.embedding_.copy(), half.transform(X[:N])
    back = half.inverse_transform(embedding)
    half.partial_fit(X[N:])
    assert half.embedding_[:N].tobytes() == embedding.tobytes()
    assert half.transform(X[:N]).tobytes() == images.tobytes()
    assert half.inverse_transform(embedding).tobytes() == back.tobytes()
    again = half.embedding_.copy()
    half.partial_fit(X[:N:7] + 3.0 * ASIDE)
    assert half.embedding_[: 2 * N].tobytes() == again.tobytes()
    assert half.transform(X).tobytes() == again.tobytes()


def test_new_rows_are_where_transform_puts_them(roll, extended):
    np.testing.assert_array_equal(extended.transform(roll[0]), extended.embedding_)
    alone = np.vstack([extended.transform(roll[0][i : i + 1]) for i in range(0, 2 * N, 97)])
    assert alone.tobytes() == extended.embedding_[::97].tobytes()


def test_covered_rows_change_nothing(roll, half):
    X = roll[0]
    other = half.transform(X)
    fitted_map, diagnosis = half.map_, half.diagnosis_
    half.partial_fit(X[:N:3])
    assert half.map_ is fitted_map
    assert [f.value for f in half.diagnosis_] == [f.value for f in diagnosis]
    np.testing.assert_array_equal(half.transform(X), other)
    np.testing.assert_array_equal(half.embedding_[N:], other[:N:3])


def test_covered_rows_may_come_at_any_time(roll, half, extended):
    X = roll[0]
    half.partial_fit(X[100:400:3]).partial_fit(X[N:])
    assert half.transform(X).tobytes() == extended.transform(X).tobytes()


def test_precision_stays(roll):
    X = roll[0]
    single = model().fit(X[:N].astype(np.float32))
    images = single.transform(X[:N].astype(np.float32))
    single.partial_fit(X[N:])
    assert single.embedding_.dtype == np.float32
    assert single.transform(X[:N].astype(np.float32)).tobytes() == images.tobytes()


def test_threads_do_not_matter(roll, extended):
    two = model(n_jobs=2).fit(roll[0][:N]).partial_fit(roll[0][N:])
    assert two.embedding_.tobytes() == extended.embedding_.tobytes()


# Rows of other kinds


def test_few_rows_wait_for_more(roll, half):
    X = roll[0]
    few = np.arange(N + 200, 2 * N, 97)
    assert len(few) < half.n_components_ + UpdateRules().spare
    half.partial_fit(X[few])
    assert half.outliers_[N:].all()
    np.testing.assert_array_equal(half.map_.waiting, X[few])
    guesses = half.embedding_.copy()
    half.partial_fit(np.delete(X, few, axis=0)[N:])
    # Charts have reached them: they have moved, and all others have not.
    assert not half.outliers_.any()
    np.testing.assert_array_equal(half.embedding_[:N], guesses[:N])
    assert np.linalg.norm(half.embedding_[N : N + len(few)] - guesses[N:], axis=1).min() > 1.0
    np.testing.assert_array_equal(half.transform(X[few]), half.embedding_[N : N + len(few)])


def test_scattered_outliers_extend_nothing(roll, half):
    X = roll[0]
    sides = np.random.RandomState(0).choice([-1.0, 1.0], size=(4, 3))
    half.partial_fit(X[:4] + 300.0 * sides)
    assert half.outliers_.sum() == 4
    assert len(half.map_.maps) == 1
    assert half.diagnosis_["placed_outliers"].message().startswith("4 outliers were")
    assert np.isfinite(half.embedding_).all()


def test_a_separate_sheet_is_another_component(roll, half):
    X = roll[0]
    with pytest.warns(DoubtfulMapWarning, match="2 components"):
        half.partial_fit(X[:N] + 5.0 * ASIDE)
    np.testing.assert_array_equal(half.component_, np.repeat([0, 1], N))
    assert (half.bridges_ >= N).any(axis=1).all()
    first, second = half.embedding_[:N], half.embedding_[N:]
    # The same sheet, stitched with another one beside it.
    assert_equal_up_to_rigid_motion(second, first, atol=0.02 * np.abs(first).max())
    # Beside the first: no point of one is nearer to the other than the gap is wide.
    gaps = np.linalg.norm(first[:, None] - second[None], axis=2)
    assert gaps.min() > 10.0


def test_a_gap_that_closes_between_components_is_torn(roll, quiet):
    X = roll[0]
    apart = np.concatenate([X[:350], X[650:]])
    fitted = model().fit(apart)
    before = fitted.embedding_.copy()
    fitted.partial_fit(X[350:650])
    assert fitted.diagnosis_["seam"].is_raised
    np.testing.assert_array_equal(fitted.embedding_[: len(apart)], before)


def test_a_circle_cannot_be_closed():
    circle = ring(400)
    arc = model(n_components=1).fit(circle[:250])
    assert arc.diagnosis_.is_sound
    with pytest.warns(DoubtfulMapWarning):
        arc.partial_fit(circle[250:])
    assert "seam" in arc.diagnosis_.codes


def test_the_dimension_stays(half, quiet):
    line = np.column_stack([np.zeros(40), np.linspace(30, 60, 40), np.zeros(40)])
    half.set_params(n_components="auto").partial_fit(line)
    assert half.n_components_ == half.embedding_.shape[1] == 2


def test_patches_that_are_found_in_the_data(roll, quiet):
    X, truth = roll
    half, whole = (model(cover="kmeans").fit(rows) for rows in (X[:N], X))
    errors = [
        procrustes_error(half.embedding_, truth[:N]),
        procrustes_error(whole.embedding_, truth),
        dict(half.partial_fit(X[N:]).diagnosis_["seam"].parameters)["error"],
    ]
    assert procrustes_error(half.embedding_, truth) < np.linalg.norm(errors)


def test_directions_of_noise_are_left_out_again(roll):
    X, truth = roll
    rng = np.random.RandomState(0)
    wide = np.hstack([X, 0.05 * rng.normal(size=(2 * N, 20))])
    fitted = model().fit(wide[:N])
    assert fitted.map_.reduction is not None
    assert procrustes_error(fitted.partial_fit(wide[N:]).embedding_, truth) < 0.01


def test_of_many_rows_some_make_patches(roll, half):
    X, truth = roll
    rules = UpdateRules(most_new=300, most_nodes=700)
    fit = update(half, X[N:], np.random.RandomState(0), rules)
    # One of them is an outlier among so few.
    assert fit.map_.latest.search.n_points in (699, 700)
    assert procrustes_error(fit.embedding, truth) < 0.01


# Attributes, storage, reports


def test_attributes_describe_all_samples(roll, extended):
    n, nodes = 2 * N, extended.node_samples_
    for name in ("embedding_", "component_", "distortion_", "outliers_"):
        assert len(getattr(extended, name)) == n, name
    assert isinstance(extended.map_, ExtendedMap)
    assert extended.graph_.n_nodes == extended.cover_.n_points == len(nodes)
    assert len(extended.patch_error_) == extended.cover_.n_patches
    np.testing.assert_allclose(extended.map_.latest.node_points, roll[0][nodes], atol=ROUNDING)
    assert not extended.outliers_.any()
    assert extended.estimated_error_ < 0.05


def test_a_fit_forgets_what_came_before(roll, extended):
    fitted = copy.copy(extended).fit(roll[0][:N])
    assert isinstance(fitted.map_, PatchMap)
    assert "seam" not in fitted.diagnosis_
    assert len(fitted.embedding_) == N


def test_a_stored_model_goes_on(roll, half, tmp_path):
    X = roll[0]
    half.partial_fit(X[N : N + 250])
    isofold.save(half, tmp_path / "model.iso")
    loaded = isofold.load(tmp_path / "model.iso")
    assert loaded.transform(X).tobytes() == half.transform(X).tobytes()
    half.partial_fit(X[N + 250 :])
    loaded.partial_fit(X[N + 250 :])
    assert loaded.embedding_.tobytes() == half.embedding_.tobytes()


def test_it_is_assessed_and_reported(roll, extended, tmp_path):
    found = isofold.assess(roll[0], extended)
    assert found.card["length_error_median"] < 0.01
    assert len(found.patches.centers) == extended.cover_.n_patches
    assert found.diagnosis["seam"].value == extended.diagnosis_["seam"].value
    isofold.report(roll[0], extended, path=tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000


# What is refused


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"metric": "cosine"}, "metric"),
        ({"kernel": "precomputed"}, "kernel"),
        ({"cover": Cover.labels(np.arange(100) // 10)}, "cover"),
        ({"terms": StitchTerms(pairs=[[0, 1]], upper=9.0), "n_patches": 8}, "terms"),
    ],
)
def test_maps_that_cannot_be_extended(parameters, reason, roll, quiet):
    X = roll[0][:100]
    given = X @ X.T if "kernel" in parameters else X
    fitted = model(**parameters).fit(given)
    before = state(fitted)
    with pytest.raises(InvalidInputError, match=rf"cannot be extended: .*{reason}.* Call fit"):
        fitted.partial_fit(given)
    assert_same_attributes(fitted, before)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (np.zeros((9, 2)), "2 features"),
        (np.full((9, 3), np.nan), "NaN"),
        (np.empty((0, 3)), "0 sample"),
        (1e75 * np.random.RandomState(0).normal(size=(9, 3)), "units"),
    ],
)
def test_rows_that_cannot_be_used(rows, reason, half):
    before = state(half)
    with pytest.raises(InvalidInputError, match=reason):
        half.partial_fit(rows)
    assert_same_attributes(half, before)


def test_another_dimension_is_refused(roll, half):
    before = state(half)
    half.set_params(n_components=3)
    with pytest.raises(InvalidInputError, match="n_components=3, but the map has 2"):
        half.partial_fit(roll[0][N:])
    assert_same_attributes(half, before)
