"""Each kind of bad or unusual input: the right result, or an error that says what to do."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from isofold import quality
from isofold.exceptions import InvalidInputError

PAIR_MEASURES = [
    quality.trustworthiness,
    quality.continuity,
    quality.neighbor_error,
    quality.mean_relative_rank_error,
    quality.coranking_curve,
    quality.local_isometry,
    quality.preservation_error,
    quality.stretch,
    quality.procrustes_measure,
    quality.normalized_stress,
    quality.shepard_correlation,
    quality.residual_variance,
    quality.scorecard,
]


def numbers(result):
    """The figures in whatever a measure returns."""
    if isinstance(result, quality.Scorecard):
        return [float(score) for score in result.values()]
    if isinstance(result, quality.CoRankingCurve):
        return [*result.above_chance, float(result.area)]
    if isinstance(result, quality.LocalIsometry):
        return [float(result.ratio), float(result.worst), *result.per_point]
    return [float(result)]


@pytest.fixture
def pair():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((60, 4))
    return X, X[:, :2] + 0.1 * rng.standard_normal((60, 2))


@pytest.fixture(params=PAIR_MEASURES, ids=lambda measure: measure.__name__)
def measure(request):
    return request.param


def taking(parameter):
    """The measures that have a parameter."""
    found = [m for m in PAIR_MEASURES if parameter in inspect.signature(m).parameters]
    return pytest.mark.parametrize("measure", found, ids=lambda measure: measure.__name__)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(measure, pair, value):
    X, Y = pair
    X[5, 2] = value
    with pytest.raises(InvalidInputError, match=r"X contains .* first at index \(5, 2\)"):
        measure(X, Y)
    X[5, 2] = 0.0
    Y[7, 1] = value
    with pytest.raises(InvalidInputError, match=r"Y contains .* first at index \(7, 1\)"):
        measure(X, Y)


def test_one_sample(measure):
    with pytest.raises(InvalidInputError, match="row"):
        measure(np.ones((1, 3)), np.ones((1, 2)))


@taking("n_neighbors")
def test_too_many_neighbors(measure, pair):
    with pytest.raises(InvalidInputError, match="n_neighbors"):
        measure(*pair, n_neighbors=60)


@pytest.mark.parametrize("n_neighbors", [0, -3, 2.5, "12", None, True])
@taking("n_neighbors")
def test_neighbors_that_are_no_count(measure, pair, n_neighbors):
    with pytest.raises(InvalidInputError, match="n_neighbors"):
        measure(*pair, n_neighbors=n_neighbors)


def test_constant_columns(measure, pair):
    X, Y = pair
    plain = numbers(measure(X, Y))
    wide = numbers(measure(np.hstack([X, np.full((60, 2), 3.0)]), Y))
    np.testing.assert_allclose(wide, plain, atol=1e-9)


def test_duplicated_rows(measure, pair):
    X, Y = (np.vstack([table, table[:20]]) for table in pair)
    assert np.isfinite(numbers(measure(X, Y))).all()


def test_strings(measure, pair):
    X, Y = pair
    with pytest.raises(InvalidInputError, match="numbers"):
        measure(X.astype(str).astype(object), np.full((60, 2), "a", dtype=object))
    with pytest.raises(InvalidInputError, match="numbers"):
        measure([["a", "b"]] * 60, Y)


def test_sparse(measure, pair):
    X, Y = pair
    with pytest.raises(InvalidInputError, match="toarray"):
        measure(sp.csr_matrix(X), Y)


def test_float32(measure, pair):
    X, Y = pair
    single = numbers(measure(X.astype(np.float32), Y.astype(np.float32)))
    double = numbers(
        measure(X.astype(np.float32).astype(float), Y.astype(np.float32).astype(float))
    )
    # Distances are taken in double precision; only neighbor lengths keep the input's precision.
    np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-6)


def test_read_only_memory_map(measure, pair, tmp_path):
    X, Y = pair
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "Y.npy", Y)
    mapped = [np.load(tmp_path / name, mmap_mode="r") for name in ("X.npy", "Y.npy")]
    assert numbers(measure(*mapped)) == numbers(measure(X, Y))


def test_data_frames_and_lists(measure, pair):
    X, Y = pair
    expected = numbers(measure(X, Y))
    assert numbers(measure(pd.DataFrame(X), pd.DataFrame(Y))) == expected
    assert numbers(measure(pl.DataFrame(X), pl.DataFrame(Y))) == expected
    assert numbers(measure(X.tolist(), Y.tolist())) == expected


def test_different_lengths(measure, pair):
    X, Y = pair
    with pytest.raises(InvalidInputError, match="X has 60 rows and Y has 59"):
        measure(X, Y[:59])


def test_wrong_dimensions(measure, pair):
    X, Y = pair
    with pytest.raises(InvalidInputError, match="X cannot be read"):
        measure(X[:, 0], Y)
    with pytest.raises(InvalidInputError, match="0 feature"):
        measure(X[:, :0], Y)


@taking("metric")
def test_unknown_metric(measure, pair):
    with pytest.raises(InvalidInputError, match="precomputed"):
        measure(*pair, metric="cosine")


@taking("metric")
def test_bad_precomputed_distances(measure, pair):
    X, Y = pair
    with pytest.raises(InvalidInputError, match="square"):
        measure(np.abs(X), Y, metric="precomputed")
    with pytest.raises(InvalidInputError, match="unknown rather than zero"):
        measure(sp.csr_matrix(np.eye(60)), Y, metric="precomputed")
    with pytest.raises(InvalidInputError, match="negative"):
        measure(-np.ones((60, 60)), Y, metric="precomputed")


# Ranks are defined even among equal points (by index); whatever divides by a distance is not.
RANK_MEASURES = PAIR_MEASURES[:5]


@pytest.mark.parametrize("measure", RANK_MEASURES)
def test_all_points_equal_have_ranks(measure, pair):
    assert np.isfinite(numbers(measure(np.ones((60, 3)), pair[1]))).all()


@pytest.mark.parametrize("measure", PAIR_MEASURES[5:])
def test_all_points_equal_have_no_lengths(measure, pair):
    with pytest.raises(InvalidInputError, match=r"coincide|copies|distinct|stretch"):
        measure(np.ones((60, 3)), pair[1])


def test_input_is_left_alone(measure, pair):
    X, Y = pair
    before = X.copy(), Y.copy()
    measure(X, Y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(Y, before[1])
