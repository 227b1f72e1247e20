"""Fitted estimators, ours and others': their maps, and the models inside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from isofold._typing import FloatArray

__all__ = [
    "component_of_samples",
    "embedding_of",
    "fitted_inside",
    "is_precomputed",
    "last_step",
    "rows_inside",
    "steps_inside",
]

PRECOMPUTED = ("precomputed", "precomputed_nearest_neighbors")
"""Values of parameters which say that X is a table of pairs."""


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
        inside = last_step(getattr(inside, "estimator_", None))


def steps_inside(model: Any) -> Iterator[Any]:
    """Yield all fitted models of a pipeline and inside of its steps, the last step first."""
    if isinstance(model, Pipeline):
        for _, step in reversed(model.steps):
            yield from steps_inside(step)
    elif model is not None:
        yield model
        yield from steps_inside(getattr(model, "estimator_", None))


def rows_inside(model: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a model and those inside it, each with the samples of the map that it was fitted to."""
    rows = np.arange(len(embedding_of(model)))
    for inside in fitted_inside(model):
        yield inside, rows
        # `Unfold` fits some of the samples where time is short; others see them all.
        if hasattr(inside, "decision_"):
            rows = rows[inside.fitted_samples_]


def component_of_samples(model: Any) -> Any:
    """Return the component of every sample, if a model knows of several; else None."""
    n_points = len(embedding_of(model))
    found = (getattr(inside, "component_", None) for inside in fitted_inside(model))
    components = next((c for c in found if c is not None and len(c) == n_points), None)
    return None if components is None or len(np.unique(components)) < 2 else components


def is_precomputed(model: Any, *names: str) -> bool:
    """Return whether one of the named parameters says that X is a table of pairs."""
    inside = last_step(model)
    while hasattr(inside, "get_params"):
        given = inside.get_params(deep=False)
        values = [given.get(name) for name in names]
        if any(isinstance(value, str) and value in PRECOMPUTED for value in values):
            return True
        # A loaded model may lack the fitted estimator inside, but has its parameters.
        fitted = getattr(inside, "estimator_", None)
        inside = last_step(given.get("estimator") if fitted is None else fitted)
    return False
