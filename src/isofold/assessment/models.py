"""Fitted estimators, ours and others': their maps, and the models inside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from isofold._typing import FloatArray

__all__ = ["embedding_of", "fitted_inside", "is_precomputed", "rows_inside"]


def embedding_of(model: Any) -> FloatArray:
    """Return the map of a fitted estimator."""
    embedding = getattr(last_step(model), "embedding_", None)
    if embedding is None:
        msg = (
            f"{type(model).__name__} has no embedding_, so that there is no map to look at. Fit it "
            f"first; if it keeps its map elsewhere, pass the coordinates as an array."
        )
        raise NotFittedError(msg)
    return np.asarray(embedding)


def last_step(model: Any) -> Any:
    """Return the last step of a pipeline, or the model itself if it is none."""
    return model[-1] if isinstance(model, Pipeline) else model


def fitted_inside(model: Any) -> Iterator[Any]:
    """Yield a model and those that it was made of, the outermost first."""
    inside = last_step(model)
    while inside is not None:
        yield inside
        inside = getattr(inside, "estimator_", None)


def rows_inside(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a model and those inside it, each with the samples of the map that it was fitted to."""
    rows = np.arange(len(embedding_of(model)))
    for inside in fitted_inside(model):
        yield inside, rows
        # `Unfold` fits a part where time is short; others are their own business.
        if hasattr(inside, "decision_"):
            rows = rows[inside.fitted_samples_]


def is_precomputed(model: Any, *names: str) -> bool:
    """Return whether one of the named parameters says that X is a table of pairs."""
    for inside in fitted_inside(model):
        if not hasattr(inside, "get_params"):
            continue
        given = inside.get_params(deep=False)
        if any(str(given.get(name, "")).startswith("precomputed") for name in names):
            return True
    return False
