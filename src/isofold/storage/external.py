"""External objects: scikit-learn's estimators as parameters, sparse matrices, and random states."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp

from isofold.storage.validation import Flaw, fail, require

__all__ = [
    "is_estimator",
    "is_fitted",
    "make_estimator",
    "make_random_state",
    "make_sparse",
    "name_of_estimator",
    "random_state_parts",
    "sparse_parts",
]

MODULES = frozenset(
    {
        "cluster",
        "compose",
        "cross_decomposition",
        "decomposition",
        "discriminant_analysis",
        "feature_selection",
        "frozen",
        "impute",
        "kernel_approximation",
        "manifold",
        "mixture",
        "neighbors",
        "pipeline",
        "preprocessing",
        "random_projection",
    }
)
"""Modules of scikit-learn whose estimators may be parameters."""

ESTIMATOR_NAME = re.compile(r"([a-z_]{1,40})\.([A-Za-z][A-Za-z0-9]{0,60})")

TWISTER_WORDS = 624
"""Length of the state of the Mersenne twister."""


def is_estimator(value: Any) -> bool:
    """Return whether a value is an estimator, ours or not."""
    return hasattr(value, "get_params") and hasattr(value, "fit") and not isinstance(value, type)


def is_fitted(estimator: Any) -> bool:
    """Return whether an estimator knows more than its parameters."""
    return bool(vars(estimator).keys() - estimator.get_params(deep=False).keys())


def name_of_estimator(estimator: Any) -> str | None:
    """Return the public name of an estimator of scikit-learn, or None if it has none."""
    cls = type(estimator)
    parts = cls.__module__.split(".")
    if parts[0] != "sklearn" or len(parts) < 2 or parts[1] not in MODULES:
        return None
    is_public = vars(import_module(f"sklearn.{parts[1]}")).get(cls.__name__) is cls
    return f"{parts[1]}.{cls.__name__}" if is_public else None


def make_estimator(name: str, parameters: dict[str, Any]) -> Any:
    """Build an unfitted estimator of scikit-learn from plain parameters."""
    match = ESTIMATOR_NAME.fullmatch(name)
    require(
        match is not None and match[1] in MODULES,
        f"{name!r:.80} is not an estimator that isofold knows",
    )
    assert match is not None  # noqa: S101 - for the type checker
    from sklearn.base import BaseEstimator

    cls = vars(import_module(f"sklearn.{match[1]}")).get(match[2])
    if not (isinstance(cls, type) and issubclass(cls, BaseEstimator)):
        msg = (
            f"It uses sklearn.{name}, which the installed scikit-learn does not have. Install the "
            f"version with which the model was saved."
        )
        raise Flaw(msg)
    # A cache is a folder of pickles, which run code when they are read.
    require(parameters.get("memory") is None, "an estimator asks for a cache on the disk")
    # Parameters that a later scikit-learn has given up are left out.
    known = signature(cls).parameters
    return cls(**{key: value for key, value in parameters.items() if key in known})


def sparse_parts(matrix: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return how a sparse matrix is stored, and its arrays."""
    if matrix.format not in ("csr", "csc", "coo"):
        matrix = matrix.tocsr()
    how = {
        "format": matrix.format,
        "is_array": isinstance(matrix, sp.sparray),
        "shape": [int(side) for side in matrix.shape],
    }
    if matrix.format == "coo":
        return how, [matrix.data, *matrix.coords]
    return how, [matrix.data, matrix.indices, matrix.indptr]


def make_sparse(form: Any, arrays: list[Any], shape: Any, *, is_array: bool) -> Any:
    """Build a sparse matrix, its indices checked: SciPy trusts them."""
    require(form in ("csr", "csc", "coo"), "a sparse matrix has an unknown format")
    require(
        all(isinstance(array, np.ndarray) for array in arrays), "a sparse matrix lacks its arrays"
    )
    require(
        isinstance(shape, list) and all(type(side) is int and side >= 0 for side in shape),
        "a sparse matrix has an invalid shape",
    )
    require(
        all(array.ndim == 1 for array in arrays), "the arrays of a sparse matrix have several axes"
    )
    require(
        all(array.dtype.kind == "i" for array in arrays[1:]),
        "the indices of a sparse matrix are not whole numbers",
    )
    cls = getattr(sp, f"{form}_{'array' if is_array else 'matrix'}")
    try:
        if form == "coo":
            return cls((arrays[0], tuple(arrays[1:])), shape=tuple(shape))
        matrix = cls(tuple(arrays), shape=tuple(shape))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        fail(f"a sparse matrix is inconsistent ({error})", error)
    return matrix


def random_state_parts(state: np.random.RandomState) -> list[Any] | None:
    """Return the numbers of a random state, or None if it is no Mersenne twister."""
    found = state.get_state(legacy=False)
    if found["bit_generator"] != "MT19937":
        return None
    words = found["state"]
    return [words["key"], words["pos"], found["has_gauss"], found["gauss"]]


def make_random_state(parts: list[Any]) -> np.random.RandomState:
    """Build a random state, its position in the sequence checked: NumPy trusts it."""
    require(len(parts) == 4, "a random state is incomplete")
    words, position, has_gauss, gauss = parts
    require(
        isinstance(words, np.ndarray)
        and words.shape == (TWISTER_WORDS,)
        and words.dtype.kind == "u"
        and type(position) is int
        and 0 <= position <= TWISTER_WORDS
        and has_gauss in (0, 1)
        and isinstance(gauss, float),
        "a random state is invalid",
    )
    state = np.random.RandomState(0)
    state.set_state(("MT19937", words.astype(np.uint32), position, has_gauss, gauss))
    return state
