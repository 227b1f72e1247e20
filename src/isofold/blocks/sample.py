"""A uniform random sample of rows in one pass, the same whatever the blocks.

Every row has a random key, a hash of its number and the seed; the sample is the rows with the least
keys. So it depends neither on the size of blocks nor on the order in which they arrive, and samples
of parts of a table can be merged in any order. The rows with the next larger keys are a second
sample that is independent of the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
import numpy.typing as npt

from isofold._typing import BoolArray, FloatArray, IntArray
from isofold.blocks.protocol import Block, BlockMemory, RowBlocks
from isofold.exceptions import InvalidInputError

__all__ = ["KeyedSample", "draw_sample", "key_ceiling"]

MARGIN = 8.0
"""Standard deviations by which more rows than needed lie below the ceiling of keys: fewer than
needed would be seen once in 10^15 tables."""

LARGEST_KEY = 2**64 - 1


@dataclass(frozen=True, eq=False)
class KeyedSample:
    """The rows with the least keys, ascending by row number.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Their numbers in the table.
    points : ndarray of shape (n, n_features)
        The rows.
    keys : ndarray of uint64 of shape (n,)
        Their keys.
    n_seen : int
        Rows from which they were drawn.
    """

    rows: IntArray
    points: FloatArray
    keys: npt.NDArray[np.uint64]
    n_seen: int

    @classmethod
    def of(
        cls,
        block: Block,
        size: int,
        seed: int,
        *,
        ceiling: int = LARGEST_KEY,
        chosen: BoolArray | None = None,
    ) -> Self:
        """Return the sample of one block, of all its rows or of chosen ones."""
        numbers = block.numbers
        where = np.arange(len(numbers)) if chosen is None else np.flatnonzero(chosen)
        keys = row_keys(numbers[where], seed)
        below = np.flatnonzero(keys <= np.uint64(ceiling))
        kept = below[_least(keys[below], size)]
        rows = where[kept]
        return cls(numbers[rows], block.rows[rows], keys[kept], len(where))

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays, too: schedulers reckon with them."""
        arrays = (self.rows, self.points, self.keys)
        return super().__sizeof__() + sum(array.nbytes for array in arrays)

    def merged(self, other: Self, size: int) -> Self:
        """Return the sample of two parts of a table."""
        rows = np.concatenate([self.rows, other.rows])
        order = np.argsort(rows, kind="stable")
        keys = np.concatenate([self.keys, other.keys])[order]
        kept = _least(keys, size)
        chosen = order[kept]
        points = np.concatenate([self.points, other.points])[chosen]
        return type(self)(rows[chosen], points, keys[kept], self.n_seen + other.n_seen)

    def ranked(self, first: int, last: int) -> Self:
        """Return the rows whose keys have these ranks: independent samples of ranks that differ."""
        rank = np.empty(len(self.keys), dtype=np.intp)
        rank[np.argsort(self.keys)] = np.arange(len(self.keys))
        kept = np.flatnonzero((rank >= first) & (rank < last))
        return type(self)(self.rows[kept], self.points[kept], self.keys[kept], self.n_seen)


def draw_sample(
    blocks: RowBlocks, size: int, *, seed: int = 0, memory: BlockMemory | None = None
) -> KeyedSample:
    """Return a uniform random sample of rows, without replacement, in one pass.

    Parameters
    ----------
    blocks : RowBlocks
        The table.
    size : int
        Rows to draw; all rows if there are fewer.
    seed : int, default=0
        Seed. The same seed draws the same rows, however the table is cut into blocks.
    memory : BlockMemory or None, default=None
        What an earlier run of this pass left.

    Returns
    -------
    KeyedSample
        The rows with their numbers.
    """
    blocks = blocks.counted()
    ceiling = key_ceiling(size, blocks)
    sample: KeyedSample | None = blocks.reduce(
        partial(KeyedSample.of, size=size, seed=seed, ceiling=ceiling),
        partial(KeyedSample.merged, size=size),
        memory=memory,
        name="draw a sample",
    )
    if sample is None:
        msg = "X has no rows in any of its blocks. Pass a table with rows."
        raise InvalidInputError(msg)
    return sample


def key_ceiling(size: int, blocks: RowBlocks) -> int:
    """Return a key that the least keys of a table of known length stay below.

    Blocks then hand on about the rows that the sample will have, not each as many as it needs.
    """
    # Dropped rows leave fewer than are counted.
    n = None if blocks.rules.missing == "drop" else blocks.n_rows
    return LARGEST_KEY if n is None else ceiling_of(size, n)


def ceiling_of(size: int, n_rows: int) -> int:
    """Return a key that the least keys of so many rows stay below."""
    wanted = size + MARGIN * size**0.5 + MARGIN**2
    return LARGEST_KEY if wanted >= n_rows else int(LARGEST_KEY * (wanted / n_rows))


def row_keys(numbers: IntArray, seed: int) -> npt.NDArray[np.uint64]:
    """Return a random key for every row number: SplitMix64, which maps them one to one."""
    start = np.random.SeedSequence(seed).generate_state(1, dtype=np.uint64)[0]
    with np.errstate(over="ignore"):
        z = start + numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def _least(keys: npt.NDArray[np.uint64], size: int) -> IntArray:
    """Return where the least keys are, ascending. Keys of different rows are different."""
    if len(keys) <= size:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, size)[:size])
