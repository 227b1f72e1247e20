"""Embedders of tables that are read block by block: lazy tables come in by one door."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isofold._base import BaseEmbedder, Fit, one_fit
from isofold.blocks.arrays import ArrayBlocks
from isofold.blocks.protocol import Block, MappedBlocks, RowBlocks
from isofold.blocks.read import as_blocks
from isofold.blocks.sample import KeyedSample
from isofold.embedding.streaming import Look, Pass, PlaceBlock, StreamedFit, reduce_pass, seen_rows
from isofold.exceptions import InvalidInputError
from isofold.extension.row_map import RowMap

__all__ = ["StreamedEmbedder"]


# Arrays are put into the user's containers below this class; lazy tables stay as they are.
class StreamedEmbedder(BaseEmbedder, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Base of embedders that take tables in blocks as well as arrays.

    Attributes
    ----------
    stream_ : Stream
        How the map was made of a table that was read block by block; only then. `embedding_` and
        all that is known about samples are then about the rows in ``stream_.rows``.
    """

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Embed the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), RowBlocks, Dask collection, or objects
            The points. A table of `isofold.read_blocks`, and arrays and data frames of Dask or
            Zarr, are read block by block: a sample is fitted, and all rows are looked at. With
            ``metric="precomputed"`` their distances (n_samples × n_samples), a dense matrix of all
            or a sparse one of those that are known; with ``kernel="precomputed"`` their kernel.
            With a function as metric or kernel, anything that it compares.
        y : array-like, optional
            Side information of methods that use it, such as `ColoredMVU`; else ignored.
        **fit_params
            Further inputs of the method, if it has any. Tables in blocks take ``sample_size``: how
            many rows are fitted, instead of what suits the method.

        Returns
        -------
        self
            The fitted embedder.
        """
        blocks = as_blocks(X)
        if blocks is None:
            _refuse_sample_size(fit_params)
            return super().fit(X, y, **fit_params)
        self._fit_blocks(blocks, y, reduce_pass(blocks), **fit_params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Embed the points and return the embedding.

        Parameters
        ----------
        X, y, **fit_params
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components), RowBlocks or Dask collection
            `embedding_`; of a table in blocks the images of all rows, in blocks.
        """
        blocks = as_blocks(X)
        if blocks is None:
            _refuse_sample_size(fit_params)
            return super().fit_transform(X, y, **fit_params)
        is_lazy = hasattr(blocks, "reduce_and_map")
        kept = _KeptByWorkers(blocks) if is_lazy else _KeptImages(blocks)
        self._fit_blocks(blocks, y, kept.run, **fit_params)
        return kept.images(self)

    def transform(self, X: Any) -> Any:
        """Map points into the embedding, each row by itself.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), RowBlocks, Dask collection, or objects
            New or old points; with ``metric="precomputed"`` or ``kernel="precomputed"`` their
            distances to the training samples, or kernel values with these (n_new × n_samples).

        Returns
        -------
        ndarray of shape (n_new, n_components), RowBlocks or Dask collection
            Their images; of a table in blocks, blocks that are computed when they are read
            (`isofold.blocks.write_blocks` writes them to a file), and of a Dask collection a lazy
            one of the same kind.
        """
        blocks = as_blocks(X)
        if blocks is None:
            return super().transform(X)
        check_is_fitted(self, "embedding_")
        return self._transform_blocks(blocks)

    def _record(self, fit: Fit, X: Any) -> None:
        # What was a table may be an array now.
        self.__dict__.pop("stream_", None)
        super()._record(fit, X)

    def _transform_blocks(self, blocks: RowBlocks) -> Any:
        self._refuse_other_columns(blocks)
        function, names = RowMap.of(self), tuple(map(str, self.get_feature_names_out()))
        if hasattr(blocks, "mapped"):
            return blocks.mapped(function, self._n_features_out, names)
        return MappedBlocks(blocks, function, self._n_features_out, names)

    def _refuse_other_columns(self, blocks: RowBlocks) -> None:
        """Refuse a table whose columns are not those of the fit, before any block is read."""
        known = getattr(self, "feature_names_in_", None)
        if blocks.n_features != self.n_features_in_:
            msg = (
                f"X has {blocks.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
            raise InvalidInputError(msg)
        if known is None or not blocks.names or list(known) == list(blocks.names):
            return
        first = next(i for i, name in enumerate(blocks.names) if name != known[i])
        msg = (
            f"The feature names should match those that were passed during fit. Column {first} of "
            f"X is {blocks.names[first]!r}, but it was {known[first]!r}. Pass the same columns in "
            f"the same order."
        )
        raise InvalidInputError(msg)

    def _fit_blocks(
        self,
        blocks: RowBlocks,
        y: Any,
        run: Pass,
        *,
        sample_size: int | None = None,
        **fit_params: Any,
    ) -> None:
        """Fit a sample of a table, and look at all of its rows."""
        with one_fit(self):
            work = StreamedFit.of(self, sample_size=sample_size)
            sample = work.draw(blocks)
            _refuse_other_length(y, blocks.n_rows, sample)
            stream = work.fit(sample, y, **fit_params)
            stream = work.place(sample, stream, run, y, **fit_params)
            work.record(stream)
            if blocks.names:
                self.feature_names_in_ = np.array(blocks.names, dtype=object)
            self._warn()


def _refuse_sample_size(fit_params: Mapping[str, Any]) -> None:
    if "sample_size" in fit_params:
        msg = (
            "sample_size is for tables that are read block by block. Pass "
            "isofold.read_blocks(X), or leave it out: all rows of an array are fitted."
        )
        raise InvalidInputError(msg)


def _refuse_other_length(y: Any, n_rows: int | None, sample: KeyedSample) -> None:
    """Refuse labels that are not one for each row that is read, dropped ones included."""
    if y is None:
        return
    n = int(sample.rows[-1]) + 1 if n_rows is None else n_rows
    if len(y) < n or (n_rows is not None and len(y) > n):
        known = "at least " if n_rows is None else ""
        msg = (
            f"y has {len(y):,} entries, but the table has {known}{n:,} rows. Pass one for each "
            f"row, also for rows that are left out."
        )
        raise InvalidInputError(msg)


class _KeptByWorkers:
    """A pass that leaves the images where they are computed: with the workers of Dask."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._images: Any = None

    def run(self, place: PlaceBlock) -> Look:
        """Place all rows, and keep where they go; a second pass releases the first images."""
        self._images = None
        model = place.coverage.model
        names = tuple(map(str, model.get_feature_names_out()))
        merge = partial(Look.merged, size=place.n_far)
        look, self._images = self._source.reduce_and_map(
            place.pair, merge, model._n_features_out, names, name="place rows"
        )
        return seen_rows(look)

    def images(self, model: BaseEmbedder) -> Any:
        """Return the images as a collection of Dask."""
        return self._images


class _KeptImages:
    """A pass that keeps the images in a temporary file, which ends with them."""

    def __init__(self, source: RowBlocks) -> None:
        self._source = source
        self._file: Any = None
        self._n_rows = 0

    def run(self, place: PlaceBlock) -> Look:
        """Place all rows, and keep where they go; a second pass begins anew."""
        if self._file is not None:
            self._file.close()
        self._file, self._n_rows = tempfile.TemporaryFile(prefix="isofold-"), 0  # noqa: SIM115
        try:
            return reduce_pass(self._source)(replace(place, take=self._take))
        except BaseException:
            self._file.close()
            raise

    def _take(self, block: Block) -> None:
        self._file.write(np.ascontiguousarray(block.rows).tobytes())
        self._n_rows += len(block.rows)

    def images(self, model: BaseEmbedder) -> RowBlocks:
        """Return the images as blocks."""
        shape = (self._n_rows, model._n_features_out)
        with self._file:
            self._file.flush()
            images = np.memmap(self._file, dtype=self._source.dtype, mode="r", shape=shape)
        blocks = ArrayBlocks(images, name="the map")
        blocks.names = tuple(map(str, model.get_feature_names_out()))
        return blocks
