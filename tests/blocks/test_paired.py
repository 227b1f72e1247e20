"""Two tables side by side: the same rows whatever the blocks; what does not fit is refused."""

import numpy as np
import pytest

from isofold import read_blocks
from isofold.blocks import pair_blocks
from isofold.exceptions import InvalidInputError

RNG = np.random.RandomState(0)
X, Y = RNG.normal(size=(103, 3)), RNG.normal(size=(103, 2)).astype(np.float32)
BOTH = np.hstack([X, Y])


def stream(table, step):
    """Return blocks whose number of rows is not known before they are read."""
    return read_blocks(lambda: (table[a : a + step] for a in range(0, len(table), step)))


@pytest.mark.parametrize(("first", "second"), [(10, 10), (10, 7), (3, 50), (50, 3), (103, 1)])
def test_rows_meet_however_both_are_cut(first, second):
    pairs = pair_blocks(read_blocks(X, rows=first), read_blocks(Y, rows=second))
    assert pairs.shape == (103, 5)
    assert np.array_equal(pairs.to_array(), BOTH)
    # Every part can be read by itself.
    parts = [np.concatenate(list(part.read())) for part in reversed(pairs.parts())]
    assert np.array_equal(np.concatenate(parts[::-1]), BOTH)
    assert len(parts) == min(-(-103 // first), -(-103 // second))


def test_parts_without_rows_are_left_out():
    cut = read_blocks([X[:0], X[:40], X[40:40], X[40:], X[:0]])
    assert np.array_equal(pair_blocks(cut, read_blocks(Y, rows=9)).to_array(), BOTH)


def test_tables_of_unknown_length_are_read_together():
    pairs = pair_blocks(stream(X, 8), stream(Y, 11))
    assert pairs.n_rows is None
    assert np.array_equal(pairs.to_array(), BOTH)


def test_dropped_rows_have_no_partner():
    gaps = X.copy()
    gaps[[3, 77], 1] = np.nan
    kept = np.delete(np.arange(103), [3, 77])
    pairs = pair_blocks(read_blocks(gaps, rows=10, missing="drop"), read_blocks(Y[kept], rows=4))
    assert np.array_equal(pairs.to_array(), BOTH[kept])


@pytest.mark.parametrize("change", [-1, 1])
def test_unequal_lengths_are_refused(change):
    n = 60 + change
    with pytest.raises(InvalidInputError, match=f"60 rows and Y has {n}"):
        pair_blocks(read_blocks(X[:60]), read_blocks(Y[:n]))
    with pytest.raises(InvalidInputError, match=f"ends after {min(60, n)} rows"):
        pair_blocks(stream(X[:60], 7), stream(Y[:n], 9)).to_array()


def test_missing_numbers_are_refused():
    gaps = Y.copy()
    gaps[5, 0] = np.nan
    with pytest.raises(InvalidInputError, match="NaN"):
        pair_blocks(read_blocks(X), read_blocks(gaps, missing="keep")).to_array()


@pytest.mark.parametrize("chunks", [(20, 20), (20, 31), (31, 20)])
def test_on_dask(chunks):
    array = pytest.importorskip("dask.array")
    first, second = (
        array.from_array(t, chunks=(n, -1)) for t, n in zip((X, Y), chunks, strict=True)
    )
    for other in (read_blocks(second), read_blocks(Y, rows=13)):
        pairs = pair_blocks(read_blocks(first), other)
        assert pairs.n_rows == 103
        assert np.array_equal(pairs.to_array(), BOTH)
        sums = pairs.reduce(lambda block: [(block.start, block.rows.sum())], lambda a, b: a + b)
        assert sum(total for _, total in sums) == pytest.approx(BOTH.sum())
        assert [start for start, _ in sums] == sorted(start for start, _ in sums)
    with pytest.raises(InvalidInputError, match="dropna"):
        pair_blocks(read_blocks(first, missing="drop"), read_blocks(Y))
