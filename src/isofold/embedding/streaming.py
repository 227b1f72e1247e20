"""Maps of tables that are read block by block: sample, fit, place the blocks, look at the rest.

1. Draw a sample of rows, and beside it rows that are held out, in one pass.
2. Fit the method to the sample; while held-out rows are placed less well than fitted ones, or
   doubts are left that more samples would clear, fit it to a larger one, up to the method's size.
3. Place all rows, block by block, and collect those that are far from the map.
4. Where far rows keep company they are a component that the sample has missed: it is fitted, too,
   and rows are placed once more. Others are outliers, which are placed and counted.

Samples are chosen by keys of row numbers, so that nothing depends on how rows are cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from isofold._base import BaseEmbedder
from isofold._findings import Diagnosis, Finding
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_seed
from isofold.blocks.protocol import Block, BlockMemory, RowBlocks
from isofold.blocks.sample import KeyedSample, draw_sample
from isofold.embedding.catalog import BY_CLASS
from isofold.exceptions import InvalidInputError
from isofold.extension.coverage import Coverage
from isofold.extension.row_map import RowMap
from isofold.neighbors import build_search

__all__ = ["Look", "PlaceBlock", "Stream", "StreamRules", "StreamedFit", "stream_kept"]

STREAM_CODES = ("streamed", "held_out", "joined_rows", "far_rows")
"""Findings about how a map was made of a table in blocks."""

S = TypeVar("S")


@dataclass(frozen=True)
class StreamRules:
    """How tables are sampled and looked at.

    Attributes
    ----------
    growth : int
        How many times larger the next sample is.
    n_held_out, n_neighbors : int
        Rows that are held out, as many fitted ones that they are compared with, and neighbors.
    worse, negligible : float
        Held-out rows are placed as well as fitted ones if the error of their lengths is at most so
        many times larger, plus this.
    n_far : int
        Far rows that are kept for a second look.
    company, least_group : int
        A far row keeps company if so many others lie as near as samples do; so many rows that keep
        company are fitted.
    """

    growth: int = 4
    n_held_out: int = 1000
    n_neighbors: int = 10
    worse: float = 1.25
    negligible: float = 0.005
    n_far: int = 20_000
    company: int = 5
    least_group: int = 20


RULES = StreamRules()


@dataclass(frozen=True, eq=False)
class Look:
    """What a pass over all rows has seen; those of parts of a table can be merged.

    Attributes
    ----------
    n_rows : int
        Rows that were placed.
    far : KeyedSample
        Rows far from the map: a sample of them, and in `n_seen` how many there are.
    """

    n_rows: int
    far: KeyedSample

    def __sizeof__(self) -> int:
        """Return the bytes of the far rows, too: schedulers reckon with them."""
        return super().__sizeof__() + self.far.__sizeof__()

    def merged(self, other: Self, size: int = RULES.n_far) -> Self:
        """Return what was seen in two parts of a table."""
        return type(self)(self.n_rows + other.n_rows, self.far.merged(other.far, size))


@dataclass(frozen=True, eq=False)
class Stream:
    """How a map was made of a table that was read block by block.

    Attributes
    ----------
    n_rows : int
        Rows of the table, without those that were dropped for missing values.
    rows : ndarray of int of shape (n_fitted,)
        Numbers of the rows that the map was fitted to, in the order of `embedding_`.
    n_far : int
        Rows far from all of these; they were placed, but not used to fit the map.
    far_rows : ndarray of int
        Numbers of far rows: of all, or of a random sample if there are more than 20,000.
    n_joined : int
        Far rows that kept company, so that they were fitted after all; they are in `rows`.
    fitted_error, held_out_error : float
        Median relative error of the distances to the nearest fitted rows, at fitted rows and at
        others.
    """

    n_rows: int
    rows: IntArray
    n_far: int
    far_rows: IntArray
    n_joined: int
    fitted_error: float
    held_out_error: float


@dataclass(frozen=True, eq=False)
class PlaceBlock:
    """Places the rows of a block, gives them away, and returns what was seen.

    Attributes
    ----------
    coverage : Coverage
        The fitted model, and what it covers.
    seed : int
        Seed of the sample of far rows.
    take : callable or None
        Called with every block of images.
    n_far : int
        Far rows to keep.
    """

    coverage: Coverage
    seed: int
    take: Callable[[Block], Any] | None = None
    n_far: int = RULES.n_far

    def __call__(self, block: Block) -> Look:
        """Return what was seen in a block."""
        look, images = self.pair(block)
        if self.take is not None:
            self.take(replace(block, rows=images))
        return look

    def pair(self, block: Block) -> tuple[Look, FloatArray]:
        """Return what was seen in a block, and its images."""
        images, is_far = self.coverage.place(block.rows)
        far = KeyedSample.of(block, self.n_far, self.seed, chosen=is_far)
        return Look(len(block.rows), far), images


class Pass(Protocol):
    """A pass over all rows, which ends with what was seen."""

    def __call__(self, place: PlaceBlock) -> Look:
        """Place all rows."""
        ...


@dataclass(frozen=True, eq=False)
class StreamedFit:
    """One fit of an embedder to a table.

    Attributes
    ----------
    embedder : BaseEmbedder
        The embedder.
    sizes : tuple of int
        Rows of the samples that are fitted, one after the other while they are too small.
    seed : int
        Seed of the samples.
    rules : StreamRules
        What decides.
    """

    embedder: BaseEmbedder
    sizes: tuple[int, ...]
    seed: int
    rules: StreamRules = RULES

    @classmethod
    def of(
        cls, embedder: BaseEmbedder, *, sample_size: int | None = None, rules: StreamRules = RULES
    ) -> Self:
        """Plan the fit of an embedder, to a sample of a given size or of one that suits it."""
        if embedder.__sklearn_tags__().input_tags.pairwise:
            msg = (
                f"This {type(embedder).__name__} takes distances or kernel values of all pairs, "
                f"which a table in blocks does not hold. Pass rows of numbers, and another metric."
            )
            raise InvalidInputError(msg)
        if sample_size is None:
            method = BY_CLASS[type(embedder).__name__]
            sizes = tuple(_growing(method.first_sample, method.most_sampled, rules.growth))
        else:
            sizes = (check_count(sample_size, name="sample_size", minimum=2),)
        # Methods without random numbers have the same sample every time, too.
        known = getattr(embedder, "random_state", 0)
        rng = check_seed(known)
        seed = int(known) if isinstance(known, int | np.integer) else int(rng.randint(2**31 - 1))
        return cls(embedder, sizes, seed, rules)

    def draw(self, blocks: RowBlocks, memory: BlockMemory | None = None) -> KeyedSample:
        """Draw all rows that a fit may need, in one pass."""
        size = self.sizes[-1] + self.rules.n_held_out
        return draw_sample(blocks, size, seed=self.seed, memory=memory)

    def fit(self, sample: KeyedSample, y: Any, **fit_params: Any) -> Stream:
        """Fit the embedder to a sample that is large enough."""
        stream: Stream | None = None
        for size in self.sizes:
            fitted = sample.ranked(0, size)
            others = sample.ranked(size, size + self.rules.n_held_out)
            self._fit_rows(fitted, y, fit_params)
            errors = self._errors(fitted, others)
            stream = Stream(sample.n_seen, fitted.rows, 0, fitted.rows[:0], 0, *errors)
            is_enough = self._is_even(stream) and not self.embedder._is_helped_by_samples()
            if is_enough or len(fitted.rows) < size:
                break
        assert stream is not None  # noqa: S101 - there is at least one size
        return stream

    def place(
        self, sample: KeyedSample, stream: Stream, run: Pass, y: Any, **params: Any
    ) -> Stream:
        """Place all rows in a pass, and once more if it finds a component that was missed."""
        fitted = _at(sample, stream.rows)
        coverage = Coverage.of(self.embedder, fitted.points)
        look = run(PlaceBlock(coverage, self.seed, n_far=self.rules.n_far))
        joined = self._in_company(look.far, coverage)
        if len(joined.rows) >= self.rules.least_group:
            both = fitted.merged(joined, len(fitted.rows) + len(joined.rows))
            self._fit_rows(both, y, params)
            stream = replace(stream, rows=both.rows, n_joined=len(joined.rows))
            again = Coverage.of(self.embedder, both.points)
            look = run(PlaceBlock(again, self.seed, n_far=self.rules.n_far))
        return replace(stream, n_far=look.far.n_seen, far_rows=look.far.rows, n_rows=look.n_rows)

    def record(self, stream: Stream) -> None:
        """Note on the embedder how its map was made, with what is to be said about it."""
        self.embedder.stream_ = stream
        findings = (*self.embedder.diagnosis_.findings, *self._findings(stream))
        self.embedder.diagnosis_ = Diagnosis(findings)

    def _fit_rows(self, fitted: KeyedSample, y: Any, fit_params: dict[str, Any]) -> None:
        own_y = None if y is None else np.asarray(y)[fitted.rows]
        method = getattr(self.embedder, "_fit_all", self.embedder._fit)
        self.embedder._fit_samples(fitted.points, own_y, method, **fit_params)

    def _errors(self, fitted: KeyedSample, others: KeyedSample) -> tuple[float, float]:
        """Return the errors of lengths at fitted rows and at held-out ones."""
        points, images = fitted.points.astype(np.float64), self.embedder.embedding_
        k = min(self.rules.n_neighbors, len(points) - 1)
        search = build_search(points, method="fast", n_jobs=1)
        some = fitted.ranked(0, self.rules.n_held_out).rows
        own = np.searchsorted(fitted.rows, some)
        ratios = _ratios(search, images, points[own], images[own], k + 1)
        scale = float(np.median(ratios[ratios > 0])) if (ratios > 0).any() else 1.0
        error = _error(ratios / scale)
        if not len(others.rows):
            return error, error
        placed = RowMap.of(self.embedder)(others.points)
        new = _ratios(search, images, others.points.astype(np.float64), placed, k)
        return error, _error(new / scale)

    def _is_even(self, stream: Stream) -> bool:
        return stream.held_out_error <= self._limit(stream)

    def _limit(self, stream: Stream) -> float:
        return self.rules.worse * stream.fitted_error + self.rules.negligible

    def _in_company(self, far: KeyedSample, coverage: Coverage) -> KeyedSample:
        """Return the far rows that have others around them, as near as samples are."""
        k = self.rules.company
        if len(far.rows) < self.rules.least_group:
            return far.ranked(0, 0)
        points = far.points.astype(np.float64)
        near = build_search(points, method="fast", n_jobs=1).query(points, k + 1)
        kept = np.flatnonzero(near.distances[:, -1] <= coverage.spacing)
        return replace(far, rows=far.rows[kept], points=far.points[kept], keys=far.keys[kept])

    def _findings(self, stream: Stream) -> Iterator[Finding]:
        yield Finding.of("streamed", n=stream.n_rows, n_fitted=len(stream.rows))
        yield Finding.checked(
            "held_out",
            stream.held_out_error,
            self._limit(stream),
            is_raised=not self._is_even(stream),
            fitted=stream.fitted_error,
            n_fitted=len(stream.rows),
        )
        if stream.n_joined:
            yield Finding.of("joined_rows", n=stream.n_joined)
        if stream.n_far:
            fraction = stream.n_far / stream.n_rows
            yield Finding.of("far_rows", value=fraction, n=stream.n_far, n_rows=stream.n_rows)


@contextmanager
def stream_kept(embedder: BaseEmbedder) -> Iterator[None]:
    """Keep what was found in a table when its map is extended: it stays true of these samples."""
    stream = vars(embedder).get("stream_")
    found = [each for each in embedder.diagnosis_ if each.code in STREAM_CODES]
    yield
    if stream is not None:
        embedder.stream_ = stream
        others = [each for each in embedder.diagnosis_ if each.code not in STREAM_CODES]
        embedder.diagnosis_ = Diagnosis((*others, *found))


def _growing(first: int, most: int, growth: int) -> Iterator[int]:
    """Yield sizes that grow by a factor up to a largest one."""
    size = first
    while size < most:
        yield size
        size *= growth
    yield most


def _at(sample: KeyedSample, rows: IntArray) -> KeyedSample:
    """Return the part of a sample that has these row numbers."""
    where = np.searchsorted(sample.rows, rows)
    return KeyedSample(rows, sample.points[where], sample.keys[where], sample.n_seen)


def _ratios(search: Any, images: FloatArray, X: FloatArray, Y: FloatArray, k: int) -> FloatArray:
    """Return map over data of the distances to the nearest samples, where these are not zero."""
    near = search.query(X, min(k, search.n_points))
    on_map = np.linalg.norm(images[near.indices].astype(np.float64) - Y[:, None], axis=2)
    apart = near.distances > 0
    return np.asarray(on_map[apart] / near.distances[apart])


def _error(ratios: FloatArray) -> float:
    """Return the median relative error of lengths."""
    return float(np.median(np.abs(ratios - 1.0))) if len(ratios) else 0.0


def reduce_pass(blocks: RowBlocks, memory: BlockMemory | None = None) -> Pass:
    """Return a pass that places all rows, and keeps nothing but what was seen."""

    def run(place: PlaceBlock) -> Look:
        merge = partial(Look.merged, size=place.n_far)
        return seen_rows(blocks.reduce(place, merge, memory=memory, name="place rows"))

    return run


def seen_rows(look: Look | None) -> Look:
    """Return what a pass has seen; refuse a table without rows."""
    if look is None:
        msg = "X has no rows in any of its blocks any more. It must not change during a fit."
        raise InvalidInputError(msg)
    return look
