"""Summaries of tables: those of parts merge to that of the whole, which agrees with NumPy."""

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest

from isofold.blocks.protocol import Block
from isofold.blocks.summary import TableSummary


@pytest.mark.parametrize("drops", [True, False])
def test_parts_merge_to_the_whole(drops):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=500), np.arange(500.0), rng.integers(9, size=500)])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    cuts = [0, 3, 100, 260, 500]
    parts = [
        TableSummary.of(Block(a, rows[a:b]), drops=drops, size=40, seed=1)
        for a, b in pairwise(cuts)
    ]
    found = reduce(lambda one, other: one.merged(other, 40), parts)
    whole = TableSummary.of(Block(0, rows), drops=drops, size=40, seed=1)
    used = rows[~np.isnan(rows).any(axis=1)] if drops else rows
    assert found.n_rows == 500
    assert (found.n_missing == np.isnan(rows).sum(axis=0)).all()
    assert (found.low == np.nanmin(rows, axis=0)).all()
    assert (found.high == np.nanmax(rows, axis=0)).all()
    assert found.n_fractions.tolist() == [np.isfinite(rows[:, 0]).sum(), 0, 0]
    assert found.sample.n_seen == len(used)
    assert (found.sample.rows == whole.sample.rows).all()
    assert np.array_equal(found.sample.points, rows[found.sample.rows], equal_nan=True)
    # Sums are exact, so that only those of NumPy round, by some units in the last place.
    np.testing.assert_allclose(found.statistics.mean(), np.nanmean(used, axis=0), rtol=1e-13)
    assert (found.statistics.mean() == whole.statistics.mean()).all()


def test_block_without_complete_rows():
    summary = TableSummary.of(Block(0, np.full((3, 2), np.nan)), drops=True, size=5, seed=0)
    assert summary.statistics.n_rows == 0
    assert len(summary.sample.rows) == 0
