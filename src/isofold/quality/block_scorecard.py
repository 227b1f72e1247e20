"""How true a map is of a table that is only seen block by block.

1. Draw rows, some of which are queries. The distances within the draw bound those in the table.
2. Find, in one pass over data and map together, the nearest rows of every query among all rows, in
   the data and on the map.
3. Count in a second pass who comes before a neighbor that was displaced. That is its rank.

So every figure at a query is exact, at the scale of the whole table, and only which rows are
queries is left to chance: this is what the intervals are about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_seed, check_units
from isofold.blocks import RowBlocks, draw_sample, pair_blocks, read_blocks
from isofold.neighbors.search.query_balls import QueryBalls
from isofold.quality import ranks
from isofold.quality.block_neighbors import (
    BlockRanks,
    BothNearest,
    FindNearest,
    RankCounts,
    first_radii,
)
from isofold.quality.isometry import isometry_of
from isofold.quality.neighborhoods import Neighborhoods, refuse_copies
from isofold.quality.score import MIN_SAMPLED, RowSample
from isofold.quality.score_table import Entry, ScoreTable, length_entries, rank_entries

__all__ = ["BlockRules", "BlockScorecard", "block_scorecard"]


@dataclass(frozen=True)
class BlockRules:
    """How much of a table is looked at.

    Attributes
    ----------
    n_drawn, drawn_bytes : int
        Rows of the draw, and their size: more rows give smaller radii, but take longer to draw.
    counted_pairs, least_ranked : int
        Pairs of a query and a row that may be compared to count ranks, and queries that are ranked
        whatever it takes. On a map that keeps nothing all pairs are compared, 8 ns each in 3
        columns: 160 seconds. On a true map of a million rows the whole pass takes 0.1 seconds.
    slow_columns : int
        Columns that make a comparison as much slower again: 20 ns in 20 and in 64 columns.
    """

    n_drawn: int = 2**18
    drawn_bytes: int = 2**25
    counted_pairs: int = 2 * 10**10
    least_ranked: int = 200
    slow_columns: int = 32

    def drawn(self, n_columns: int, n_samples: int, n_neighbors: int) -> int:
        """Return how many rows to draw."""
        fitting = min(self.n_drawn, self.drawn_bytes // (8 * n_columns))
        return max(fitting, n_samples, 2 * n_neighbors + 1)

    def ranked(self, n_rows: int, n_columns: int) -> int:
        """Return of how many queries to count ranks."""
        pairs = self.counted_pairs // (1 + n_columns // self.slow_columns)
        return max(self.least_ranked, pairs // n_rows)


RULES = BlockRules()


@dataclass(frozen=True, eq=False)
class BlockScorecard(ScoreTable):
    """Quality of a map that is read block by block, measured at a random sample of its rows.

    Parameters
    ----------
    entries : tuple of Entry
        The measures in order.
    n_points, n_components, n_neighbors : int
        What was scored, and how large neighborhoods were.
    isometry : LocalIsometry
        Distribution of length ratios; ``isometry.per_point`` is the distortion of sampled rows.
    sample : RowSample
        The rows at which measures were evaluated: ``sample.indices`` are their numbers.
    near, shown : Neighborhoods
        The nearest of the sampled rows in the data and on the map, with their row numbers and
        lengths before and after.
    """

    shown: Neighborhoods = field(repr=False)


def block_scorecard(
    X: Any,
    Y: Any,
    *,
    n_neighbors: int = 12,
    n_samples: int = 1000,
    random_state: Any = 0,
    n_jobs: int | None = None,
    rules: BlockRules = RULES,
) -> BlockScorecard:
    """Measure how well a map of a table keeps distances and neighbors, block by block.

    The neighbors of a random sample of rows are found among all rows, exactly. Memory holds blocks,
    never the table.

    Parameters
    ----------
    X : RowBlocks, or anything that `isofold.read_blocks` takes
        The rows before: files, arrays, Zarr, Dask.
    Y : RowBlocks, or anything that `isofold.read_blocks` takes
        The same rows after, in the same order, such as `transform` returns for blocks. Its blocks
        may be others than those of `X`.
    n_neighbors : int, default=12
        Size of a neighborhood, below half of the number of rows.
    n_samples : int, default=1000
        At how many random rows to measure; all rows if there are fewer.
    random_state : int, RandomState or None, default=0
        Source of the draw. The same seed gives the same figures, however the tables are cut.
    n_jobs : int, optional
        Number of threads, as in scikit-learn; Dask brings its own.
    rules : BlockRules, optional
        How much is looked at.

    Returns
    -------
    BlockScorecard
        Prints as a table; ``to_pandas()`` and ``to_html()`` export it. Every measure has a 99 %
        interval.

    Notes
    -----
    Tables are read three times: to draw, to find neighbors, and to count ranks. The last is done at
    fewer rows, at least 200, where a table is so large that it would take minutes.

    Examples
    --------
    >>> import numpy as np
    >>> import isofold
    >>> from isofold.quality import block_scorecard
    >>> X = np.random.RandomState(0).uniform(size=(2000, 2))
    >>> card = block_scorecard(isofold.read_blocks(X, rows=300), 2 * X, n_samples=100)
    >>> card["length_ratio"]
    Score(2, 99% interval [2, 2], 100 of 2000 points)
    """
    k = check_count(n_neighbors, name="n_neighbors")
    m = check_count(n_samples, name="n_samples", minimum=MIN_SAMPLED)
    seed = int(check_seed(random_state).randint(2**31 - 1))
    data, images = read_blocks(X), read_blocks(Y)
    blocks = pair_blocks(data, images)
    draw = _Draw.of(blocks, data.n_features, rules.drawn(blocks.n_features, m, k), m, seed)
    k = ranks.check_half_neighbors(k, draw.n_rows)
    found = _find_nearest(blocks, draw, k, n_jobs)
    sample = RowSample(draw.queries, draw.n_rows)
    near, shown = _neighborhoods(found, sample)
    isometry = isometry_of(near)
    n_ranked = rules.ranked(draw.n_rows, blocks.n_features)
    return BlockScorecard(
        entries=(
            *_rank_entries(blocks, draw, found, sample, n_ranked, n_jobs),
            *length_entries(isometry, near, shown),
        ),
        n_points=draw.n_rows,
        n_components=images.n_features,
        n_neighbors=k,
        isometry=isometry,
        sample=sample,
        near=near,
        shown=shown,
    )


@dataclass(frozen=True, eq=False)
class _Draw:
    """Rows that were drawn, in random order, the queries first.

    Attributes
    ----------
    spaces : tuple of ndarray
        The rows in the data and on the map.
    queries : ndarray of int
        Row numbers of the queries, ascending.
    order : ndarray of int
        Which drawn row every query is.
    n_rows : int
        Rows of the table.
    """

    spaces: tuple[FloatArray, FloatArray]
    queries: IntArray
    order: IntArray
    n_rows: int

    @classmethod
    def of(cls, blocks: RowBlocks, n_features: int, size: int, m: int, seed: int) -> _Draw:
        """Draw rows in a pass."""
        drawn = draw_sample(blocks, size, seed=seed)
        by_key = np.argsort(drawn.keys)
        points = drawn.points[by_key].astype(np.float64)
        spaces = points[:, :n_features], points[:, n_features:]
        for space, name in zip(spaces, "XY", strict=True):
            check_units(space, name=name)
        numbers = drawn.rows[by_key[:m]]
        order = np.argsort(numbers)
        return cls(spaces, numbers[order], order, drawn.n_seen)

    def balls(self, space: int, which: IntArray, squared: FloatArray) -> QueryBalls:
        """Return balls around some of the queries in one of the spaces."""
        points = self.spaces[space]
        return QueryBalls.of(points[self.order[which]], squared, points)


def _find_nearest(blocks: RowBlocks, draw: _Draw, k: int, n_jobs: int | None) -> BothNearest:
    """Return the nearest rows of every query among all rows, in a pass."""
    everyone = np.arange(len(draw.queries))
    balls = [
        draw.balls(space, everyone, first_radii(draw.spaces[space], draw.order, k, n_jobs=n_jobs))
        for space in (0, 1)
    ]
    find = FindNearest(draw.queries, k, (balls[0], balls[1]), n_jobs)
    found = blocks.reduce(find, BothNearest.merged, name="find nearest rows")
    assert found is not None  # noqa: S101 - a table without rows is refused by the draw
    return found


def _neighborhoods(found: BothNearest, sample: RowSample) -> tuple[Neighborhoods, Neighborhoods]:
    """Return the neighborhoods of the queries in the data and on the map."""
    near, shown = found.near, found.shown
    before = np.sqrt(near.squared)
    refuse_copies(before)
    order = np.arange(len(before))
    return (
        Neighborhoods(near.rows, before, np.sqrt(near.elsewhere), sample, order),
        Neighborhoods(shown.rows, np.sqrt(shown.elsewhere), np.sqrt(shown.squared), sample, order),
    )


def _rank_entries(
    blocks: RowBlocks,
    draw: _Draw,
    found: BothNearest,
    sample: RowSample,
    n_ranked: int,
    n_jobs: int | None,
) -> Iterator[Entry]:
    """Yield the measures of ranks, which a pass counts at some of the queries."""
    original = BlockRanks.of(found.shown, found.near)
    embedded = BlockRanks.of(found.near, found.shown)
    lost = ranks.loss_score(embedded.at_least, sample)
    # The first of the random order: a random sample of the sample.
    chosen = np.flatnonzero(draw.order < n_ranked)
    both = original.of_queries(chosen), embedded.of_queries(chosen)
    counts = _count_ranks(blocks, draw, chosen, both, n_jobs)
    tables = [ranks_.with_counts(count) for ranks_, count in zip(both, counts, strict=True)]
    ranked = RowSample(draw.queries[chosen], draw.n_rows)
    yield from rank_entries(tables[1], tables[0], lost, ranked)


def _count_ranks(
    blocks: RowBlocks,
    draw: _Draw,
    chosen: IntArray,
    both: tuple[BlockRanks, BlockRanks],
    n_jobs: int | None,
) -> IntArray:
    """Return how many rows are nearer than displaced neighbors; no pass if there are none."""
    radii = [displaced.radii for displaced in both]
    if all((each < 0).all() for each in radii):
        return np.zeros((2, *both[0].rows.shape), dtype=np.int64)
    balls = [draw.balls(space, chosen, radii[space]) for space in (0, 1)]
    count = RankCounts(draw.queries[chosen], both, (balls[0], balls[1]), n_jobs)
    counts = blocks.reduce(count, np.add, name="count ranks")
    assert counts is not None  # noqa: S101 - a table without rows is refused by the draw
    return counts
