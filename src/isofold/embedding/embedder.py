"""What all methods share: samples of any kind come in by one door."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from sklearn.utils import Tags

from isofold._findings import Finding
from isofold._typing import SeenMetric
from isofold.embedding.streamed import StreamedEmbedder
from isofold.similarity.comparison import PairComparison
from isofold.similarity.intake import Intake, read_first, read_more

__all__ = ["Embedder"]


class Embedder(StreamedEmbedder):
    """Base of the methods: their parameters `metric` and `kernel` say how samples are compared.

    ``_fit(X, y)`` gets points, or, if `_takes_distances`, distances wherever samples are not points
    that are compared by straight distances. Then ``_seen_metric`` is "precomputed", and `X` is a
    square matrix of distances: dense, or a sparse graph of lengths, in which what is not stored is
    unknown and a stored zero says that two samples are copies. ``_transform(X)`` gets points, or
    distances to the training samples, accordingly.

    Attributes
    ----------
    intake_ : Intake
        How new samples come in. Set here.
    """

    _takes_distances: ClassVar[bool] = False

    metric: Any = "euclidean"
    kernel: Any = None

    def _comparison(self) -> PairComparison:
        """Return how samples are compared."""
        return PairComparison.read(self.metric, self.kernel)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Return what the method sees of samples."""
        if not reset:
            return read_more(self, X, self._intake)
        self.intake_, seen = read_first(
            self,
            X,
            self._comparison(),
            takes_distances=self._takes_distances,
            min_samples=self._min_samples,
        )
        return seen

    @property
    def _intake(self) -> Intake:
        """How new samples come in; models of older files keep none."""
        known: Intake | None = getattr(self, "intake_", None)
        return Intake(self._comparison()) if known is None else known

    @property
    def _seen_metric(self) -> SeenMetric:
        """What the rows are that the method sees."""
        return "euclidean" if self._sees_points else "precomputed"

    @property
    def _sees_points(self) -> bool:
        return self._intake.sees_points

    @property
    def _is_of_points(self) -> bool:
        return self._comparison().is_euclidean

    def _input_findings(self) -> Iterable[Finding]:
        return self._intake.findings()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        is_distances = _is_precomputed(self.metric)
        tags.input_tags.pairwise = is_distances or _is_precomputed(self.kernel)
        tags.input_tags.positive_only = is_distances
        tags.input_tags.sparse = is_distances and self._takes_distances
        tags.input_tags.allow_nan = isinstance(self.metric, str) and self.metric == "nan_euclidean"
        return tags


def _is_precomputed(value: Any) -> bool:
    return isinstance(value, str) and value == "precomputed"
