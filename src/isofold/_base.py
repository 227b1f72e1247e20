"""The one base class of all embedders: validate, embed, check; then map new points row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from isofold._cluster import sharing
from isofold._display import DisplayMixin
from isofold._findings import Diagnosis, Finding, Severity, emit, parameter, setting
from isofold._memory import require_memory
from isofold._parallel import one_blas_thread
from isofold._progress.stages import fitting, interrupted
from isofold._typing import FloatArray
from isofold._validation import (
    check_finite,
    check_flag,
    check_points,
    read_points,
    refuse_no_features,
)
from isofold.exceptions import EmbeddingError, InvalidInputError

__all__ = ["BaseEmbedder", "Fit", "one_fit", "read_samples", "unchanged_if_refused"]


@dataclass(frozen=True, eq=False)
class Fit:
    """What a method returns: the map of the samples, the map of new ones, what was found.

    `attributes` are further fitted attributes by name, without the underscore at their end.
    """

    embedding: FloatArray
    map_: Any
    findings: tuple[Finding, ...]
    attributes: tuple[tuple[str, Any], ...] = field(repr=False)

    @classmethod
    def of(
        cls, embedding: FloatArray, *, map_: Any, findings: Iterable[Finding], **attributes: Any
    ) -> Self:
        """Return a fit whose further attributes are given by name."""
        return cls(embedding, map_, tuple(findings), tuple(attributes.items()))


@contextmanager
def unchanged_if_refused(estimator: BaseEstimator) -> Iterator[None]:
    """Leave an estimator as it was if what happens inside fails: a refused fit keeps the last."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # In one step, so that not even another Ctrl-C comes between.
        estimator.__dict__ = before
        raise


@contextmanager
def one_fit(estimator: BaseEstimator) -> Iterator[None]:
    """Surround a fit: it shows its progress if `verbose`, and leaves no trace if it fails.

    BLAS has one thread inside, so that the result does not depend on how many there are.
    """
    verbose = check_flag(getattr(estimator, "verbose", False), name="verbose")
    # Whatever containers the user has set, methods inside of methods return arrays.
    arrays = config_context(transform_output="default")
    with (
        fitting(verbose=verbose),
        unchanged_if_refused(estimator),
        arrays,
        one_blas_thread(),
        sharing(),
    ):
        yield


def read_samples(
    estimator: BaseEstimator, X: Any, *, reset: bool, min_samples: int = 1
) -> FloatArray:
    """Return the finite points that an estimator is given, and record or check its features."""
    try:
        points = read_points(X, name="X")
        refuse_no_features(points, name="X")
        check_finite(points, name="X")
        refuse_few(estimator, len(points), min_samples)
        # Last, since a refused refit must leave n_features_in_ and the names alone. The names live
        # on the original; its values were checked in the lines above.
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except InvalidInputError:
        raise
    except ValueError as error:
        raise InvalidInputError(str(error)) from error
    return points


def refuse_few(estimator: BaseEstimator, n_samples: int, least: int) -> None:
    """Raise an error if an estimator is given too few samples."""
    if n_samples < least:
        msg = (
            f"X has {n_samples} sample(s), but {type(estimator).__name__} needs at least "
            f"{least}: distances exist only between points. Pass more samples."
        )
        raise InvalidInputError(msg)


def _has_inverse(embedder: BaseEmbedder) -> bool:
    """Return whether there are points to go back to; what can be known before the fit counts."""
    name = type(embedder).__name__
    if not embedder._is_of_points:
        msg = f"This {name} was not given points: there is nothing to go back to."
        raise AttributeError(msg)
    has_own = type(embedder)._inverse_transform is not BaseEmbedder._inverse_transform
    if has_own or not hasattr(embedder, "map_") or hasattr(embedder.map_, "inverse_transform"):
        return True
    msg = (
        f"The {type(embedder.map_).__name__} of this {name} has no inverse. "
        f"isofold.extension.fit_way_back(X, embedding_) makes a way back of any map of points."
    )
    raise AttributeError(msg)


class BaseEmbedder(
    DisplayMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """Base class of all embedders.

    A subclass keeps its parameters in a keyword-only ``__init__`` of plain assignments and
    provides

    ``_fit(X, y, **fit_params)``
        Returns a `Fit`; sets nothing. `X` is a finite float32 or float64 array that may be
        read-only: it must not be written to.
    ``_transform(X)``, unless ``map_.transform(X)`` is right
        Maps new points, *each row by itself*: what row i becomes may not depend on the other
        rows of the call. On the training points it should return `embedding_`; a method whose
        map cannot do this says so in its docstring.
    ``_inverse_transform(Y)``, unless ``map_.inverse_transform(Y)`` is right
        Maps embedded points back to the input space, each row by itself. Without either, and with
        precomputed distances, there is no ``inverse_transform``.

    `fit` records what `_fit` returns, all at once, so that a refused fit leaves an earlier one as
    it was. It alone warns of the doubts in `diagnosis_`, once for each kind of warning.

    Results must not depend on anything but the input, the parameters and `random_state`: same
    seed, same bytes, whatever `n_jobs` and the threads of BLAS. ``transform(X)[i]`` and
    ``transform(X[i : i + 1])[0]`` are the same bytes, in whatever layout `X` is stored: products go
    through `isofold.linalg.rows.row_product`, or through stacks of small matrices, one a row.

    Methods of isofold are subclasses of `isofold.embedding.embedder.Embedder`, which takes samples
    of any kind.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedded training points, in the dtype of the input. Set here.
    map_ : object
        The map behind `transform`. Set here.
    diagnosis_ : Diagnosis
        What the fit has found: doubts, notes, and what was checked. Set here.
    n_features_in_ : int
        Number of features seen in `fit`. Set here.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the input had any. Set here.
    distortion_ : ndarray of shape (n_samples,)
        How untrue the embedding is around each point; zero is perfect. Set by the subclass.
    graph_ or cover_ : NeighborGraph or PatchCover
        What the embedding was built from. Set by the subclass.
    """

    _min_samples: ClassVar[int] = 2

    @abstractmethod
    def _fit(self, X: Any, y: Any) -> Fit:
        """Return the map of `X` with everything that is known about it."""

    def _transform(self, X: Any) -> FloatArray:
        """Return the images of new points, each computed from its own row alone."""
        return np.asarray(self.map_.transform(X))

    def _inverse_transform(self, Y: FloatArray) -> FloatArray:
        """Return points of the input space, each computed from its own row of the map alone."""
        return np.asarray(self.map_.inverse_transform(Y))

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Embed the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or collection of objects
            The points. With ``metric="precomputed"`` their distances (n_samples × n_samples), a
            dense matrix of all or a sparse one of those that are known; with
            ``kernel="precomputed"`` their kernel. With a function as metric or kernel, anything
            that it compares.
        y : array-like, optional
            Side information of methods that use it, such as `ColoredMVU`; else ignored.
        **fit_params
            Further inputs of the method, if it has any.

        Returns
        -------
        self
            The fitted embedder.
        """
        with one_fit(self):
            self._fit_samples(X, y, self._fit, **fit_params)
            self._warn()
        return self

    def _fit_samples(self, X: Any, y: Any, method: Callable[..., Fit], **fit_params: Any) -> None:
        """Read samples, let a method embed them, and set the fitted attributes."""
        X = self._validate(X, reset=True)
        self._refuse_wide_map(X.shape[0])
        self._record(method(X, y, **fit_params), X)

    def _record(self, fit: Fit, X: Any) -> None:
        """Set the fitted attributes."""
        embedding = self._checked("_fit", fit.embedding, X)
        for name, value in fit.attributes:
            setattr(self, f"{name}_", value)
        findings = (*fit.findings, *self._input_findings())
        if interrupted():
            findings = (*findings, Finding.of("interrupted", Severity.DOUBT))
        self.map_, self.diagnosis_ = fit.map_, Diagnosis(findings)
        self.embedding_ = embedding

    def _warn(self) -> None:
        """Warn of the doubts of the last fit."""
        emit(self.diagnosis_.findings)

    def _is_helped_by_samples(self) -> bool:
        """Return whether doubts of the last fit are left that more samples would clear."""
        return False

    def _input_findings(self) -> Iterable[Finding]:
        """Return what is to be said about the input, whatever the method."""
        return ()

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> FloatArray:
        """Embed the points and return the embedding.

        Parameters
        ----------
        X, y, **fit_params
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            `embedding_`.
        """
        return self.fit(X, y, **fit_params).embedding_

    def transform(self, X: Any) -> FloatArray:
        """Map points into the embedding, each row by itself.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or collection of objects
            New or old points; with ``metric="precomputed"`` or ``kernel="precomputed"`` their
            distances to the training samples, or kernel values with these (n_new × n_samples).

        Returns
        -------
        ndarray of shape (n_new, n_components)
            Their images.
        """
        check_is_fitted(self, "embedding_")
        X = self._validate(X, reset=False)
        if isinstance(X, np.ndarray):
            # In one layout: the order of a sum follows that of the memory.
            X = np.ascontiguousarray(X)
        with one_blas_thread():
            images = self._transform(X)
        return self._checked("_transform", images, X, width=self._n_features_out)

    @available_if(_has_inverse)
    def inverse_transform(self, X: Any) -> FloatArray:
        """Map embedded points back to the input space, each row by itself.

        `IPA` and `PLML` go back onto the surface that they describe; other methods by local weights
        among the neighbors on the map (`isofold.extension.fit_way_back`), so that embedded training
        samples lead back to these. There is no way back from a map of distances.

        Parameters
        ----------
        X : array-like of shape (n_new, n_components)
            Points of the embedding. Where it has no data the answer is a guess:
            ``isofold.is_outside(model, X, space="map")`` tells where that is.

        Returns
        -------
        ndarray of shape (n_new, n_features)
            Points of the input space.
        """
        check_is_fitted(self, "embedding_")
        X = check_points(X, min_samples=1)
        if X.shape[1] != self._n_features_out:
            msg = (
                f"X has {X.shape[1]} columns, but the embedding has {self._n_features_out}. "
                f"Pass what `transform` returned."
            )
            raise InvalidInputError(msg)
        X = np.ascontiguousarray(X)
        with one_blas_thread():
            points = self._inverse_transform(X)
        return self._checked("_inverse_transform", points, X, width=self.n_features_in_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    @property
    def _is_of_points(self) -> bool:
        """Whether samples are points, compared by straight distances."""
        return True

    @property
    def _sees_points(self) -> bool:
        """Whether the method sees rows of points, and not of distances."""
        return True

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Return what the subclass may rely on: finite points, unless it sees something else."""
        return read_samples(self, X, reset=reset, min_samples=self._min_samples if reset else 1)

    def _refuse_wide_map(self, n_samples: int) -> None:
        """Refuse a map that would not fit into memory, before any work is done for it."""
        r = getattr(self, "n_components", None)
        if isinstance(r, Integral):
            # The map, its padded columns, and a copy in principal axes.
            require_memory(
                3 * 8 * n_samples * int(r),
                what=f"A map of {n_samples} samples with {setting('n_components', r)}",
                instead=f"{n_samples} samples span at most {n_samples - 1} dimensions; pass no "
                f"larger {parameter('n_components')} than that.",
            )

    def _checked(self, source: str, result: Any, X: Any, *, width: int | None = None) -> FloatArray:
        """Return what a subclass computed for the rows of `X`, or refuse it."""
        n_samples = X.shape[0]
        array = np.asarray(result)
        is_table = array.ndim == 2 and len(array) == n_samples and array.shape[1] > 0
        if not is_table or width not in (None, array.shape[1]) or array.dtype.kind not in "fiub":
            msg = (
                f"{type(self).__name__}.{source} returned an array of shape {array.shape} and "
                f"dtype {array.dtype} for {n_samples} samples, where real numbers of shape "
                f"({n_samples}, {width or 'n_components'}) were expected. This is an error of the "
                f"method, not of the data: please report it."
            )
            raise EmbeddingError(msg)
        # A float64 result may leave the range of float32: cast first, then look.
        with np.errstate(over="ignore"):
            array = array.astype(X.dtype, copy=False)
        bad_rows = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad_rows):
            msg = (
                f"{type(self).__name__}.{source} returned NaN or infinite coordinates for "
                f"{len(bad_rows)} of {n_samples} samples, the first in row {bad_rows[0]}. The "
                f"numbers may be too large or too small: scale X to unit variance and try again. "
                f"If that does not help, please report it."
            )
            raise EmbeddingError(msg)
        # The result is ours: the caller may write to X without changing the embedding.
        given = X if isinstance(X, np.ndarray) else X.data
        return array.copy() if np.may_share_memory(array, given) else array
