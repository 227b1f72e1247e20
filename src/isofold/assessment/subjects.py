"""What a figure is drawn from: an assessment, a fitted model, or coordinates."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold._typing import FloatArray
from isofold._validation import check_points
from isofold.assessment.assessment import Assessment, PatchGraph, VarianceSpectrum
from isofold.assessment.measure import assess, spectrum_of_model
from isofold.assessment.models import embedding_of
from isofold.assessment.origin import describe_method
from isofold.assessment.patch_graph import find_patches
from isofold.exceptions import InvalidInputError

__all__ = ["Subject"]


class Subject:
    """What is drawn: measured when a figure asks for it, and not before.

    Parameters
    ----------
    given : Assessment, fitted estimator, or array-like of shape (n_points, n_components)
        What was passed to a figure.
    X : array-like or None
        The data, if they were passed as well.
    """

    def __init__(self, given: Any, X: Any = None) -> None:
        self.X = X
        self.known = given if isinstance(given, Assessment) else None
        self.model = given if self.known is None and hasattr(given, "fit") else None
        self._given = given

    @cached_property
    def embedding(self) -> FloatArray:
        """The map."""
        if self.known is not None:
            return self.known.embedding
        Y = self._given if self.model is None else embedding_of(self.model)
        return check_points(Y, name="embedding", min_samples=1)

    @cached_property
    def assessment(self) -> Assessment:
        """All that can be measured; an error without the data."""
        if self.known is not None:
            return self.known
        if self.X is None:
            msg = (
                "This figure compares the map with the data, but X was not given. Pass it, for "
                'example model.plot(X, kind="shepard"), or pass isofold.assess(X, model).'
            )
            raise InvalidInputError(msg)
        return assess(self.X, self._given)

    @property
    def method(self) -> str:
        """Name of the method."""
        return describe_method(self.model) if self.known is None else self.known.origin.method

    @cached_property
    def distortion(self) -> FloatArray:
        """How wrong distances are around every point: measured, or what the model says."""
        if self.known is None and self.X is None:
            own = getattr(self.model, "distortion_", None)
            if own is not None:
                return np.asarray(own, dtype=np.float64)
        return self.assessment.distortion

    @cached_property
    def spectrum(self) -> VarianceSpectrum:
        """Variances along axes."""
        if self.known is None and self.model is not None:
            own = spectrum_of_model(self.model, self.embedding.shape[1])
            if own is not None:
                return own
        return self.assessment.spectrum

    @cached_property
    def patches(self) -> PatchGraph:
        """The patches; an error if there are none."""
        found = None
        if self.known is not None:
            found = self.known.patches
        elif self.model is not None:
            # Graphs of lengths say nothing that patches do not know.
            is_table = self.X is not None and not sp.issparse(self.X)
            data = check_points(self.X) if is_table else None
            found = find_patches(self.model, data)
        if found is None:
            msg = (
                f"There is no patch graph: {self.method} has no patches. IPA, PLML and TesseraMap "
                f"have, and Unfold where it chooses one of them."
            )
            raise InvalidInputError(msg)
        return found
