"""A scorecard by blocks: the figures of the ordinary one, whatever the blocks, with intervals."""

from dataclasses import astuple

import numpy as np
import pytest

from isofold import quality, read_blocks
from isofold.datasets import swiss_roll
from isofold.exceptions import InvalidInputError
from isofold.quality import block_scorecard, scorecard
from isofold.quality.block_scorecard import BlockRules

# Lengths are roots of sums in another order.
ROUNDING = 1e-12


def bent(n, seed=0):
    """Return a roll and a map of it with honest errors: bent, noisy, and torn in one corner."""
    roll = swiss_roll(n, random_state=seed)
    noise = np.random.RandomState(seed).normal(size=roll.truth.shape)
    Y = roll.truth + 0.02 * roll.truth[:, ::-1] + 0.3 * noise
    Y[roll.truth[:, 0] > np.quantile(roll.truth[:, 0], 0.95)] += 100.0
    return roll.X, Y


def figures(card):
    return {name: (float(score), score.interval) for name, score in card.items()}


def test_agrees_with_the_exact_measures():
    X, Y = bent(1500)
    card = block_scorecard(read_blocks(X, rows=350), read_blocks(Y, rows=226), n_samples=1500)
    near, shown = (quality.local_isometry(X, Y, neighbors_of=s) for s in ("input", "embedding"))
    short = quality.summary(X, Y)
    exact = {
        "trustworthiness": quality.trustworthiness(X, Y),
        "continuity": quality.continuity(X, Y),
        "neighbor_error": quality.neighbor_error(X, Y),
        "mrre_input": quality.mean_relative_rank_error(X, Y),
        "mrre_embedding": quality.mean_relative_rank_error(X, Y, neighbors_of="embedding"),
        "length_ratio": near.ratio,
        "length_error_median": near.median,
        "length_error_p95": near.p95,
        "length_error_worst": near.worst,
        "length_error_scaled": short.scaled_length_error,
        "shown_length_error_median": shown.median,
        "shown_length_error_scaled": short.scaled_shown_length_error,
    }
    assert set(card) == set(exact)
    for name, score in card.items():
        assert score.exact
        assert float(score) == pytest.approx(float(exact[name]), rel=ROUNDING), name
    assert card.isometry.per_point == pytest.approx(near.per_point, rel=ROUNDING)
    assert astuple(card.summary) == pytest.approx(astuple(short), rel=ROUNDING)
    assert card.title == "1,500 points in 2-D, 12 neighbors, all points"


@pytest.mark.parametrize("columns", [3, 30])
def test_neighbors_are_those_among_all_rows(columns):
    rng = np.random.RandomState(1)
    X = rng.normal(size=(2000, columns))
    Y = X[:, :2] + 0.1 * rng.normal(size=(2000, 2))
    # Rows that are drawn beside the queries are few, so that radii are far too large at first.
    rules = BlockRules(n_drawn=100)
    card = block_scorecard(read_blocks(X, rows=300), Y, n_neighbors=5, n_samples=50, rules=rules)
    own = card.sample.indices
    for table, neighborhoods in ((X, card.near), (Y, card.shown)):
        squared = ((table[own][:, None] - table) ** 2).sum(axis=2)
        squared[np.arange(50), own] = np.inf
        order = np.argsort(squared, axis=1)
        assert np.array_equal(neighborhoods.indices, order[:, :5])
    # The ranks of true neighbors on the map, counted in the sorted rows.
    rows = zip(squared, card.near.indices, strict=True)
    ranks = [np.searchsorted(np.sort(row), row[near]) + 1 for row, near in rows]
    excess = np.maximum(np.array(ranks) - 5, 0).sum(axis=1)
    assert card["continuity"].per_point == pytest.approx(1 - excess * 2 / (5 * (4000 - 16)))


def test_does_not_depend_on_the_blocks():
    X, Y = bent(1500)
    known = figures(block_scorecard(X, Y, n_samples=40))
    cuts = [np.arange(0, 1500, 37), [200, 201, 900], []]
    for cut, rows in zip(cuts, (1500, 64, 999), strict=True):
        blocks = read_blocks(np.split(X, cut))
        again = block_scorecard(blocks, read_blocks(Y, rows=rows), n_samples=40, n_jobs=2)
        assert figures(again) == known
    assert figures(block_scorecard(X, Y, n_samples=40, random_state=1)) != known


def test_does_not_depend_on_the_order_of_rows():
    X, Y = bent(800)
    order = np.random.RandomState(0).permutation(800)
    known = block_scorecard(X, Y, n_samples=800)
    shuffled = block_scorecard(X[order], read_blocks(Y[order], rows=90), n_samples=800)
    for name, score in shuffled.items():
        assert float(score) == pytest.approx(float(known[name]), rel=ROUNDING), name


def test_on_dask_it_is_the_same():
    array = pytest.importorskip("dask.array")
    X, Y = bent(1000)
    known = figures(block_scorecard(X, Y, n_samples=30))
    lazy = array.from_array(X, chunks=(300, -1)), array.from_array(Y, chunks=(170, -1))
    assert figures(block_scorecard(*lazy, n_samples=30)) == known


@pytest.mark.slow  # test_coverage counts how often intervals of a sample hold
def test_intervals_hold():
    X, Y = bent(2500)
    exact = block_scorecard(X, Y, n_samples=2500)
    misses = 0
    for seed in range(20):
        card = block_scorecard(X, Y, n_samples=100, random_state=seed)
        for name, score in card.items():
            low, high = score.interval
            assert low <= float(score) <= high
            # Values that all lie in an interval's end differ by rounding.
            misses += not low * (1 - ROUNDING) <= float(exact[name]) <= high * (1 + ROUNDING)
    # 240 intervals at 99 %: more than 8 misses would be seen once in 1,000 even if independent.
    assert misses <= 8


def test_ties_are_ranked_by_row_number():
    rng = np.random.RandomState(0)
    X = rng.randint(0, 5, size=(240, 2)).astype(float)  # ten copies of every point
    Y = X[:, ::-1] + 0.5 * rng.randint(0, 2, size=(240, 2))
    ranked = {
        "trustworthiness": quality.trustworthiness(X, Y),
        "continuity": quality.continuity(X, Y),
        "neighbor_error": quality.neighbor_error(X, Y),
    }
    for rows in (240, 50):
        blocks = read_blocks(X, rows=rows), read_blocks(Y, rows=41)
        card = block_scorecard(*blocks, n_samples=240)
        for name, score in ranked.items():
            assert float(card[name]) == pytest.approx(float(score), rel=ROUNDING), name
        for table, neighborhoods in ((X, card.near), (Y, card.shown)):
            squared = ((table[:, None] - table) ** 2).sum(axis=2)
            np.fill_diagonal(squared, np.inf)
            order = np.argsort(squared, axis=1, kind="stable")
            assert np.array_equal(neighborhoods.indices, order[:, :12])


def test_fewer_rows_are_ranked_where_counting_would_take_long():
    X, Y = bent(1000)
    rules = BlockRules(counted_pairs=1, least_ranked=20)
    card = block_scorecard(X, Y, n_samples=60, rules=rules)
    full = block_scorecard(X, Y, n_samples=60)
    assert card["trustworthiness"].n_sampled == card["mrre_input"].n_sampled == 20
    kept = np.isin(full["continuity"].rows, card["continuity"].rows)
    assert np.array_equal(full["continuity"].per_point[kept], card["continuity"].per_point)
    for name in ("neighbor_error", "length_error_median"):
        assert card[name].n_sampled == 60
        assert float(card[name]) == float(full[name])


def test_what_cannot_be_scored_is_refused():
    X, Y = bent(200)
    with pytest.raises(InvalidInputError, match="200 rows and Y has 199"):
        block_scorecard(X, Y[:-1])
    with pytest.raises(InvalidInputError, match="below half"):
        block_scorecard(X, Y, n_neighbors=100)
    with pytest.raises(InvalidInputError, match="copies"):
        block_scorecard(np.ones((50, 2)), np.ones((50, 2)))
    with pytest.raises(InvalidInputError, match="n_samples=5"):
        block_scorecard(X, Y, n_samples=5)
    with pytest.raises(InvalidInputError, match="other units"):
        block_scorecard(1e200 * X, Y)
    with pytest.raises(InvalidInputError, match="block_scorecard"):
        scorecard(read_blocks(X), Y)
