"""Maps of tables that are read block by block."""

import warnings

import numpy as np
import pytest

import isofold
from isofold import IPA, MVU, NeighborMap, Unfold, read_blocks
from isofold.datasets import holed_swiss_roll
from isofold.embedding.catalog import CATALOG
from isofold.embedding.streaming import StreamedFit
from isofold.exceptions import DoubtfulMapWarning, InvalidInputError
from isofold.quality import procrustes_error

ROLL = holed_swiss_roll(3000, random_state=0)
X = ROLL.X
SAMPLES = {"IPA": 1000, "Unfold": 1000, "NeighborMap": 500, "LocalMDS": 500, "PLML": 1000}


def fitted(model, table, **how):
    """Fit a model, whatever doubts it has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, **how)


def with_rows(more, seed=0):
    """Return the roll and more rows, shuffled, with the numbers of the latter."""
    order = np.random.default_rng(seed).permutation(len(X) + len(more))
    return np.vstack([X, more])[order], np.flatnonzero(order >= len(X))


@pytest.mark.parametrize("method", [m.name for m in CATALOG if m.is_public])
def test_every_embedder_takes_blocks_and_does_not_depend_on_them(method):
    if method == "OutOfSample":
        make = lambda: isofold.OutOfSample(estimator=IPA(random_state=0), random_state=0)  # noqa: E731
    else:
        kind = getattr(isofold, method)
        known = kind().get_params()
        make = lambda: kind(**({"random_state": 0} if "random_state" in known else {}))  # noqa: E731
    table = X if method in SAMPLES else X[::6]
    size = SAMPLES.get(method, 60)
    y = (table[:, 1] > 10.0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = make()
        images = whole.fit_transform(read_blocks(table), y, sample_size=size)
        pieces = make().fit(
            read_blocks([table[:7], table[7:350], table[350:]]), y, sample_size=size
        )
    assert (
        images.to_array().tobytes()
        == whole.transform(read_blocks(table, rows=211)).to_array().tobytes()
    )
    assert pieces.embedding_.tobytes() == whole.embedding_.tobytes()
    assert pieces.transform(table).tobytes() == images.to_array().tobytes()
    assert len(whole.embedding_) == len(whole.stream_.rows) == size
    assert whole.stream_.n_rows == len(table)
    assert {"streamed", "held_out"} <= {finding.code for finding in whole.diagnosis_}


def test_a_sheet_is_unfolded_from_its_sample():
    model = IPA(random_state=0)
    images = model.fit_transform(read_blocks(X, rows=1000), sample_size=1000)
    assert images.names == ("ipa0", "ipa1")
    # What a fit to these rows alone has as its error, at rows that it has not seen.
    alone = IPA(random_state=0).fit(X[model.stream_.rows])
    limit = procrustes_error(alone.transform(X), ROLL.truth)
    assert procrustes_error(images.to_array(), ROLL.truth) <= limit * 1.001
    assert model.stream_.n_far == 0
    assert model.diagnosis_.is_sound


def test_a_table_is_read_twice():
    reads = []

    def table():
        reads.append(1)
        yield from np.array_split(X, 4)

    blocks = read_blocks(table)
    reads.clear()
    images = IPA(random_state=0).fit_transform(blocks, sample_size=500)
    assert len(reads) == 2
    images.to_array()
    assert len(reads) == 2


def test_the_sample_grows_while_others_are_placed_less_well():
    # Sixty points of a cloud are too few to place others between them.
    cloud = np.random.default_rng(0).normal(size=(2000, 4))
    work = StreamedFit(NeighborMap(random_state=0), (60, 240, 960), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream = work.fit(work.draw(read_blocks(cloud)), None)
        alone = StreamedFit(NeighborMap(random_state=0), (60,), seed=0)
        small = alone.fit(alone.draw(read_blocks(cloud)), None)
    assert small.held_out_error > 1.25 * small.fitted_error + 0.005
    assert len(stream.rows) > len(small.rows) == 60


def test_a_sample_that_is_too_small_is_a_doubt():
    with pytest.warns(DoubtfulMapWarning):
        model = NeighborMap(random_state=0).fit(
            read_blocks(np.random.default_rng(0).normal(size=(2000, 8))), sample_size=60
        )
    finding = model.diagnosis_["held_out"]
    assert finding.is_raised
    assert finding.value > finding.limit
    assert "sample_size" in finding.text()


def test_a_rare_component_is_fitted():
    rng = np.random.default_rng(1)
    flat = np.column_stack([rng.uniform(0, 1, (25, 2)), np.zeros(25)])
    table, rare = with_rows(flat + 60.0)
    # Of 25 rows the sample has one or two, which it takes for outliers.
    model = fitted(IPA(random_state=0), read_blocks(table, rows=500), sample_size=200)
    stream = model.stream_
    assert np.isin(rare, stream.rows).all()
    assert stream.n_joined > 20
    assert stream.n_far == 0
    assert "joined_rows" in {finding.code for finding in model.diagnosis_.notes}
    # It keeps its shape: distances within it are those of the data.
    placed = model.transform(table[rare])
    apart = np.linalg.norm(placed[:, None] - placed[None], axis=2)
    true = np.linalg.norm(table[rare][:, None] - table[rare][None], axis=2)
    np.testing.assert_allclose(apart, true, atol=1e-6)


def test_outliers_are_counted_and_placed_but_not_fitted():
    far = np.random.default_rng(1).uniform(-1, 1, (30, 3))
    far *= 300.0 / np.linalg.norm(far, axis=1, keepdims=True)
    table, rare = with_rows(far)
    model = IPA(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        images = model.fit_transform(read_blocks(table, rows=500), sample_size=1000).to_array()
    stream = model.stream_
    np.testing.assert_array_equal(stream.far_rows, rare)
    assert stream.n_far == len(rare)
    assert stream.n_joined == 0
    assert np.isfinite(images).all()
    finding = model.diagnosis_["far_rows"]
    assert "30 rows of 3,030" in finding.text()


def test_a_refused_fit_leaves_the_last_one():
    model = IPA(random_state=0).fit(X[:500])
    before = model.embedding_
    bad = np.vstack([X, [[np.nan, 0.0, 0.0]]])
    with pytest.raises(InvalidInputError, match=r"block 1, rows 3,000 to 3,000"):
        model.fit(read_blocks([X, bad[-1:]]))
    assert model.embedding_ is before
    assert not hasattr(model, "stream_")
    with pytest.raises(InvalidInputError, match="2 columns"):
        model.transform(read_blocks([X, X[:, :2]])).to_array()


def test_arrays_after_blocks_are_arrays():
    model = IPA(random_state=0).fit(read_blocks(X), sample_size=500)
    assert hasattr(model, "stream_")
    with pytest.raises(InvalidInputError):
        model.fit(np.full((5, 3), np.nan))
    assert hasattr(model, "stream_")
    model.fit(X[:500])
    assert not hasattr(model, "stream_")


def test_streamed_models_are_stored(tmp_path):
    model = Unfold(random_state=0).fit(read_blocks(X), sample_size=600)
    isofold.save(model, tmp_path / "model.iso")
    again = isofold.load(tmp_path / "model.iso")
    np.testing.assert_array_equal(again.stream_.rows, model.stream_.rows)
    assert again.transform(X).tobytes() == model.transform(X).tobytes()
    assert str(again.diagnosis_) == str(model.diagnosis_)


def test_precision_and_names_are_kept(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b", "c"])
    frame.to_parquet(tmp_path / "rows.parquet")
    model = IPA(random_state=0)
    images = model.fit_transform(read_blocks(tmp_path / "rows.parquet"), sample_size=500)
    assert images.to_array().dtype == np.float32
    assert list(model.feature_names_in_) == ["a", "b", "c"]


def test_blocks_without_rows_change_nothing():
    model = fitted(IPA(random_state=0), read_blocks([X[:10], X[:0], X[10:]]), sample_size=1000)
    blocks = read_blocks([X[:10], X[:0], X[10:30]])
    np.testing.assert_array_equal(model.transform(blocks).to_array(), model.transform(X[:30]))


def test_labels_must_be_those_of_all_rows():
    for y in (np.zeros(10), np.zeros(len(X) + 1)):
        with pytest.raises(InvalidInputError, match=f"{len(y):,} entries, .* {len(X):,} rows"):
            IPA().fit(read_blocks(X), y, sample_size=500)
    with pytest.raises(InvalidInputError, match=r"10 entries, .* at least [\d,]+ rows"):
        IPA().fit(read_blocks(lambda: iter([X])), np.zeros(10), sample_size=500)


def test_a_size_of_the_sample_is_for_tables_in_blocks():
    for name in ("fit", "fit_transform"):
        with pytest.raises(InvalidInputError, match="sample_size is for tables"):
            getattr(IPA(), name)(X, sample_size=100)


def test_a_map_of_a_table_is_extended():
    below, above = X[X[:, 1] < 10.0], X[X[:, 1] >= 10.0]
    model = fitted(IPA(random_state=0), read_blocks(below))
    known = fitted(IPA(random_state=0), read_blocks(below)).partial_fit(above)
    model.partial_fit(read_blocks(above, rows=100))
    np.testing.assert_array_equal(model.embedding_, known.embedding_)
    # What was found in the table is still true of the first samples.
    assert "streamed" in {finding.code for finding in model.diagnosis_}
    assert len(model.stream_.rows) == len(below)


def test_blocks_of_pairs_are_refused():
    with pytest.raises(InvalidInputError, match="all pairs"):
        MVU(metric="precomputed").fit(read_blocks(np.zeros((5, 5))))
    with pytest.raises(InvalidInputError, match="sample_size=1 must be"):
        IPA().fit(read_blocks(X), sample_size=1)


def test_rows_with_gaps_are_dropped_on_request():
    gaps = X.copy()
    gaps[::10, 0] = np.nan
    blocks = read_blocks(gaps, rows=700, missing="drop")
    model = IPA(random_state=0)
    images = model.fit_transform(blocks, sample_size=500)
    assert model.stream_.n_rows == images.n_rows == len(X) - len(X[::10])
    again = model.transform(blocks)
    numbers = np.concatenate([block.numbers for block in again])
    np.testing.assert_array_equal(
        np.setdiff1d(np.arange(len(X)), numbers), np.arange(0, len(X), 10)
    )
    assert again.to_array().tobytes() == images.to_array().tobytes()


@pytest.mark.slow
def test_a_component_of_a_ten_thousandth_and_outliers_of_a_hundredth_are_found():
    n, rng = 1_000_000, np.random.default_rng(1)
    roll = holed_swiss_roll(n, random_state=0)
    flat = np.column_stack([rng.uniform(0, 1, (100, 2)), np.full(100, 80.0)])
    outliers = rng.normal(size=(10_000, 3))
    outliers *= rng.uniform(100, 400, (10_000, 1)) / np.linalg.norm(outliers, axis=1, keepdims=True)
    order = rng.permutation(n + 10_100)
    where = np.argsort(order)
    table = np.vstack([roll.X, flat, outliers])[order].astype(np.float32)
    model = IPA(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        images = model.fit_transform(read_blocks(table)).to_array()
    assert np.isin(where[n : n + 100], model.stream_.rows).all()
    np.testing.assert_array_equal(model.stream_.far_rows, np.sort(where[n + 100 :]))
    assert {"components", "outliers"} <= model.diagnosis_.codes
    assert np.isfinite(images).all()
    # As true as without them: a sample of 20,000 has an error of 2e-6.
    assert procrustes_error(images[where[:n]], roll.truth) < 1e-5
