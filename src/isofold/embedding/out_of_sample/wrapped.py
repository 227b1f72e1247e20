"""External embedders: fresh copies, their input, and their embeddings."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from isofold._typing import FloatArray
from isofold.exceptions import InvalidInputError

__all__ = ["embedding_of", "fit_embedding", "fresh_estimator", "is_precomputed"]


def fresh_estimator(estimator: Any, rng: np.random.RandomState) -> Any:
    """Return an unfitted copy of an embedder, seeded if it has no seed of its own."""
    embeds = hasattr(estimator, "fit_transform") or hasattr(estimator, "fit")
    if isinstance(estimator, type) or not embeds:
        msg = (
            f"estimator={estimator!r} is not an instance with fit_transform or fit, so that it "
            f"embeds nothing. Pass one, such as sklearn.manifold.TSNE()."
        )
        raise InvalidInputError(msg)
    if not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    copy = clone(estimator)
    for name, value in sorted(copy.get_params().items()):
        if value is None and name.split("__")[-1] == "random_state":
            copy.set_params(**{name: int(rng.randint(2**31 - 1))})
    return copy


def fit_embedding(estimator: Any, X: FloatArray, y: Any = None) -> FloatArray:
    """Fit an embedder and return its embedding."""
    given = (X,) if y is None else (X, y)
    try:
        if hasattr(estimator, "fit_transform"):
            return np.asarray(estimator.fit_transform(*given))
        return embedding_of(estimator.fit(*given))
    except (InvalidInputError, NotFittedError):
        raise
    except (TypeError, ValueError) as error:
        msg = (
            f"{type(estimator).__name__} refused X, which has {X.shape[0]} samples and "
            f"{X.shape[1]} feature(s): {error}"
        )
        raise InvalidInputError(msg) from error


def embedding_of(estimator: Any) -> FloatArray:
    """Return the embedding of a fitted estimator, or raise an error if it has none."""
    embedding = getattr(estimator, "embedding_", None)
    if embedding is None:
        msg = (
            f"{type(estimator).__name__} has no embedding_. Fit it first; if it keeps its "
            f"embedding elsewhere, use OutOfSample.from_embedding(X, Y)."
        )
        raise NotFittedError(msg)
    return np.asarray(embedding)


def is_precomputed(estimator: Any, *names: str) -> bool:
    """Return whether one of the named parameters says that X is a table of pairs."""
    if isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        return False
    given = estimator.get_params(deep=False)
    return any(str(given.get(name, "")).startswith("precomputed") for name in names)
