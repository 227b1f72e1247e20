"""The base of the embedders whose map is linear in the feature space of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import pdist, squareform

from isofold._findings import Finding, Severity, setting
from isofold._memory import require_memory
from isofold._typing import FloatArray, IntArray
from isofold._validation import (
    check_count,
    check_positive,
    check_symmetric,
    check_units,
)
from isofold.embedding.affine.pairs import DistinctSamples
from isofold.embedding.affine.span import KernelSpan, span_of_kernel
from isofold.embedding.embedder import Embedder
from isofold.exceptions import InvalidInputError
from isofold.extension import CorrectedMap, KernelMap
from isofold.linalg import KernelCentering, center
from isofold.neighbors.duplicates import find_distinct, from_labels
from isofold.neighbors.spanning import component_labels
from isofold.similarity.comparison import PairComparison, kernel_squares
from isofold.similarity.intake import read_first, read_more, read_pair_rows, read_pairs
from isofold.similarity.kernel_function import KERNELS, KernelFunction
from isofold.similarity.objects import is_table

__all__ = ["KernelEmbedder", "find_kernel", "find_kernel_map", "fitted_map", "preservation"]

AUTO_WIDTHS = (4.0, 3.0, 2.0, 1.5)
"""Widths of an automatic kernel in units of the mean kept distance: the first one is used with
which the distances can be kept. On rolls of fifty samples four times the mean maps new samples
better than barycentric weights do, at the border as well, three times only inside, and once the
mean is ten times worse; digits, wines, faces and oils like two to three times, with little
difference."""

FAR = 3.0
"""Lengths above this many times the median are links to outliers or across gaps."""

STRANGERS = 0.25
"""Similarity to the most similar other sample, on the median, below which a kernel is next to the
identity: samples have nothing in common, and a new one between them has little in common with any.
On rolls half of the mean kept distance as width gives 0.3 to 0.5, a third of it 0.1."""

REPRODUCED, N_REPRODUCED = 1e-6, 100
"""How far the map may take training samples from their coordinates, in units of its size (a few
times the rounding of numbers over the least eigenvalue that counts, 2e-7), and samples looked
at."""


class KernelEmbedder(Embedder):
    """Base of embedders with parameters `kernel` and `gamma`, perhaps `kernel_params`."""

    gamma: Any
    kernel_params: dict[str, Any] | None = None

    _takes_kernel: ClassVar[bool] = True

    @property
    def _is_given(self) -> bool:
        """Whether the method sees kernel values instead of points."""
        intake = self._intake
        return intake.comparison.kernel is not None and intake.frame is None

    @property
    def _sees_points(self) -> bool:
        return not self._is_given

    @property
    def _map_kernel(self) -> Any:
        """The kernel of the map: of points in the space of a given kernel, their products."""
        intake = self._intake
        is_inside = intake.comparison.kernel is not None and intake.frame is not None
        return "linear" if is_inside else self.kernel

    def _comparison(self) -> PairComparison:
        """Return how points are compared; `kernel` is that of the map, unless it is given."""
        is_given = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return PairComparison.read(self.metric, self.kernel if is_given else None)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if not reset:
            if self._is_given:
                return read_pair_rows(self, X, self._intake)[0]
            return read_more(self, X, self._intake)
        of_objects = callable(self.kernel) and not is_table(X)
        comparison = (
            PairComparison.read(self.metric, self.kernel) if of_objects else self._comparison()
        )
        least = self._min_samples
        if comparison.kernel is not None and self._takes_kernel:
            self.intake_, seen = read_pairs(self, X, comparison, min_samples=least)
        else:
            self.intake_, seen = read_first(
                self, X, comparison, takes_distances=False, min_samples=least
            )
        return seen

    def _distinct(self, X: FloatArray) -> DistinctSamples:
        """Return the distinct samples with their squared distances."""
        n = len(X)
        require_memory(
            6 * 8 * n**2,
            what=f"The kernel of {n} samples, their distances and the program",
            instead="Fit a sample of the data, and transform the rest.",
        )
        if self._is_given:
            squared = kernel_squares(X)
            distinct = from_labels(component_labels(n, np.argwhere(squared == 0.0)))
            squared = squared[np.ix_(distinct.sample_of_node, distinct.sample_of_node)]
        else:
            check_units(X, name="X")
            distinct = find_distinct(X)
            squared = squareform(pdist(X[distinct.sample_of_node].astype(np.float64))) ** 2
        if distinct.n_nodes < 2:
            msg = (
                f"All {n} samples are the same, so that there are no distances. Pass at least two "
                f"different samples."
            )
            raise InvalidInputError(msg)
        np.fill_diagonal(squared, 0.0)
        return DistinctSamples(distinct.node_of_sample, distinct.sample_of_node, squared)

    def _kernel_function(
        self, centered: FloatArray, kept: FloatArray, width: float
    ) -> KernelFunction:
        """Return the kernel, with γ from the kept distances or the size of the data."""
        kind = self._map_kernel
        if not callable(kind) and not (isinstance(kind, str) and kind in KERNELS):
            msg = (
                f"{setting('kernel', kind)} must be a function of two tables or one of "
                f"{', '.join(KERNELS)}."
            )
            raise InvalidInputError(msg)
        gamma = self.gamma
        if isinstance(gamma, str) and gamma == "auto":
            if isinstance(kind, str) and kind == "poly":
                gamma = 1.0 / float(np.mean(np.sum(centered.astype(np.float64) ** 2, axis=1)))
            else:
                gamma = 1.0 / (width * usual_length(kept)) ** 2
        elif isinstance(gamma, str) or gamma is None:
            msg = f"{setting('gamma', gamma)} must be 'auto' or a positive number."
            raise InvalidInputError(msg)
        else:
            gamma = check_positive(gamma, name="gamma")
        degree, coef0 = self._polynomial()
        is_number = isinstance(coef0, int | float | np.integer | np.floating)
        if isinstance(coef0, bool) or not is_number or not 0.0 <= coef0 < np.inf:
            msg = f"coef0={coef0!r} must be a number of at least 0, or it is not a kernel."
            raise InvalidInputError(msg)
        return KernelFunction(kind, gamma, check_count(degree, name="degree"), float(coef0))

    def _polynomial(self) -> tuple[Any, Any]:
        """Return degree and constant of the polynomial kernel, as they are given or by default."""
        given = {} if self.kernel_params is None else self.kernel_params
        if not isinstance(given, Mapping) or not set(given) <= {"degree", "coef0"}:
            msg = f"kernel_params={given!r} must be a dict with 'degree', 'coef0' or both, or None."
            raise InvalidInputError(msg)
        return given.get("degree", 3), given.get("coef0", 1.0)

    def _at_origin(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return centered points and their mean; a user's function gets points as they are."""
        if callable(self._map_kernel):
            return points, np.zeros(points.shape[1])
        return center(points)

    def _spans(
        self, values: FloatArray, kept: FloatArray, columns: IntArray | None = None
    ) -> Iterator[tuple[KernelSpan, KernelMap]]:
        """Yield the span of the training kernel, and a map that has yet to get coefficients.

        An automatic kernel comes in several widths, the widest first. Those whose map has no more
        degrees of freedom than there are kept distances are left out (the rank condition).
        """
        points: FloatArray = np.empty((0, 0))
        origin: FloatArray = np.empty(0)
        if columns is None:
            points, origin = self._at_origin(values.astype(np.float64))
        kind = self._map_kernel
        is_automatic = isinstance(self.gamma, str) and isinstance(kind, str) and kind == "rbf"
        for width in AUTO_WIDTHS if is_automatic else AUTO_WIDTHS[:1]:
            function = self._kernel_function(points, kept, width)
            raw = values if columns is not None else function.matrix(points, points)
            raw = raw.astype(np.float64)
            if columns is None:
                function = function.reduced_if_constant(raw)
                raw = function.matrix(points, points) if function.is_reduced else raw
            check_symmetric(raw, name="The kernel of X")
            raw = (raw + raw.T) / 2.0
            given = np.float64 if columns is None else values.dtype
            span = span_of_kernel(raw, eps=float(np.finfo(given).eps))
            _refuse_indefinite(span)
            is_narrowest = not is_automatic or span.is_full or width == AUTO_WIDTHS[-1]
            if is_narrowest or span.freedom > len(kept):
                yield (
                    span,
                    KernelMap(
                        kernel=function,
                        points=points,
                        origin=origin,
                        centering=KernelCentering.from_kernel(raw),
                        coefficients=np.empty((len(values), 0)),
                        columns=columns,
                    ),
                )
            if is_narrowest:
                return


def fitted_map(kernel_map: KernelMap, span: KernelSpan, values: FloatArray) -> KernelMap:
    """Return the map that takes training samples to their values."""
    return kernel_map.with_coefficients(span.coefficients(values))


def find_kernel_map(
    fitted: KernelMap | CorrectedMap, values: FloatArray, rows: FloatArray
) -> Iterator[Finding]:
    """Yield a finding if a map takes training samples, as `transform` gets them, elsewhere."""
    some = np.linspace(0, len(rows) - 1, min(len(rows), N_REPRODUCED)).astype(np.intp)
    size = float(np.abs(values).max(initial=0.0))
    missed = float(np.abs(fitted.transform(rows[some]) - values[some]).max(initial=0.0))
    if missed > REPRODUCED * size:
        yield Finding.checked("kernel_map", missed / size, REPRODUCED, is_raised=True)


def usual_length(lengths: FloatArray) -> float:
    """Return the mean of lengths, those left out that are far longer than most."""
    return float(np.mean(lengths[lengths <= FAR * np.median(lengths)], dtype=np.float64))


def preservation(
    Y: FloatArray, pairs: IntArray, targets: FloatArray, units: FloatArray | None = None
) -> float:
    """Return Err, the mean of (‖y_i − y_j‖² − τ²)²/u² over pairs; the units u are τ² if None."""
    if len(pairs) == 0:
        return 0.0
    squared = np.sum((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2, axis=1)
    wanted = targets.astype(np.float64) ** 2
    return float(np.mean(((squared - wanted) / (wanted if units is None else units)) ** 2))


def _refuse_indefinite(span: KernelSpan) -> None:
    if span.is_indefinite:
        msg = (
            f"The kernel has negative eigenvalues, down to {span.most_negative:.2g} of the "
            f"largest: it is not positive semidefinite, so that there is no feature space in "
            f"which a map could be linear. Use another kernel; or add a multiple of the identity "
            f"to a precomputed one."
        )
        raise InvalidInputError(msg)


def find_kernel(span: KernelSpan | None, *, n_kept: int, is_faithful: bool) -> Iterator[Finding]:
    """Yield findings if a kernel is close to the identity, or too poor to unfold with."""
    if span is None:
        return
    n = len(span.kernel)
    if span.similarity < STRANGERS and n > 2:
        yield Finding.checked("kernel_identity", span.similarity, STRANGERS, is_raised=True)
    if not is_faithful and span.freedom <= n_kept:
        yield Finding.of(
            "kernel_rank",
            Severity.DOUBT,
            rank=span.rank,
            n=n,
            freedom=span.freedom,
            n_kept=n_kept,
        )
