"""Samples and statistics: uniform, and the same whatever the blocks."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from isofold import read_blocks
from isofold.blocks import Block, ColumnStatistics, KeyedSample, draw_sample
from isofold.blocks.sample import LARGEST_KEY, key_ceiling, row_keys
from isofold.exceptions import InvalidInputError
from support.hypothesis_profiles import examples

X = np.random.default_rng(0).normal(size=(2000, 2))
cuts = st.lists(st.integers(0, len(X)), max_size=8).map(lambda c: sorted({0, *c, len(X)}))


def blocks_at(at):
    return [Block(a, X[a:b]) for a, b in pairwise(at)]


@examples(30)
@given(cuts, st.randoms(use_true_random=False), st.integers(0, 2**32 - 1))
def test_a_sample_does_not_depend_on_blocks(at, random, seed):
    pieces = [KeyedSample.of(block, 50, seed) for block in blocks_at(at)]
    random.shuffle(pieces)
    total = pieces[0]
    for piece in pieces[1:]:
        total = total.merged(piece, 50)
    whole = KeyedSample.of(Block(0, X), 50, seed)
    np.testing.assert_array_equal(total.rows, whole.rows)
    np.testing.assert_array_equal(total.points, X[whole.rows])
    assert total.n_seen == len(X)


def test_a_sample_is_uniform():
    # Each of 2,000 rows is drawn with probability 1/20 in each of 400 samples: counts are
    # binomial, and their chi-square statistic has 2,000 - 1 degrees of freedom, about.
    counts = np.zeros(len(X))
    for seed in range(400):
        counts[draw_sample(read_blocks(X), 100, seed=seed).rows] += 1
    mean, variance = 400 / 20, 400 / 20 * (1 - 1 / 20)
    statistic = ((counts - mean) ** 2).sum() / variance
    assert stats.chi2.sf(statistic, len(X) - 1) > 1e-3
    # Neighbors in the table are drawn independently.
    drawn = np.zeros(len(X))
    drawn[draw_sample(read_blocks(X), 1000, seed=0).rows] = 1
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / np.sqrt(len(X))


def test_ranks_give_samples_that_share_no_row():
    sample = draw_sample(read_blocks(X), 300)
    first, second = sample.ranked(0, 200), sample.ranked(200, 300)
    np.testing.assert_array_equal(first.rows, draw_sample(read_blocks(X), 200).rows)
    assert len(np.intersect1d(first.rows, second.rows)) == 0
    assert len(second.rows) == 100


def test_the_ceiling_of_keys_loses_no_row():
    blocks = read_blocks(X)
    for size in (1, 10, 500):
        assert key_ceiling(size, blocks) < LARGEST_KEY
        for seed in range(20):
            free = KeyedSample.of(Block(0, X), size, seed)
            held = draw_sample(blocks, size, seed=seed)
            np.testing.assert_array_equal(free.rows, held.rows)
    assert key_ceiling(1990, blocks) == LARGEST_KEY
    assert key_ceiling(10, read_blocks(X, missing="drop")) == LARGEST_KEY


def test_keys_of_different_rows_differ():
    assert len(np.unique(row_keys(np.arange(10**5), 0))) == 10**5


def test_fewer_rows_than_requested_are_all_drawn():
    np.testing.assert_array_equal(draw_sample(read_blocks(X), 10**6).rows, np.arange(len(X)))
    with pytest.raises(InvalidInputError, match="no rows"):
        draw_sample(read_blocks([np.empty((0, 2))]), 10)


@examples(30)
@given(cuts, st.randoms(use_true_random=False))
def test_statistics_do_not_depend_on_blocks(at, random):
    pieces = [ColumnStatistics.of(block) for block in blocks_at(at) if len(block.rows)]
    random.shuffle(pieces)
    total = pieces[0]
    for piece in pieces[1:]:
        total = total.merged(piece)
    whole = ColumnStatistics.of(Block(0, X))
    assert total.mean().tobytes() == whole.mean().tobytes()
    assert total.standard_deviation().tobytes() == whole.standard_deviation().tobytes()
    np.testing.assert_array_equal(total.low, X.min(axis=0))
    np.testing.assert_array_equal(total.high, X.max(axis=0))


@examples(50)
@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=30))
def test_sums_are_exact(values):
    rows = np.array(values)[:, None]
    exact = sum((Fraction(value) for value in values), Fraction(0)) / len(values)
    assert ColumnStatistics.of(Block(0, rows)).mean()[0] == float(exact)


def test_gaps_are_counted_and_do_not_count():
    gaps = X.copy()
    gaps[:5, 0] = np.nan
    gaps[4, 1] = np.nan
    for missing in ("keep", "drop"):
        blocks = read_blocks(gaps, rows=300, missing=missing)
        seen = blocks.reduce(ColumnStatistics.of, ColumnStatistics.merged)
        assert seen.n_rows == len(X)
        assert seen.n_incomplete == 5
    kept = ColumnStatistics.of(Block(0, gaps))
    np.testing.assert_array_equal(kept.n_missing, [5, 1])
    # Rounding of the squares: n terms of size one, each rounded once.
    np.testing.assert_allclose(kept.standard_deviation(), np.nanstd(gaps, axis=0), rtol=1e-12)
    empty = ColumnStatistics.of(Block(0, np.full((2, 1), np.nan)))
    assert empty.mean()[0] == empty.standard_deviation()[0] == 0.0
    with pytest.raises(InvalidInputError, match="out of range"):
        ColumnStatistics.of(Block(0, np.array([[1e200]])))
