"""What comes in: points, distances and counts, checked once with messages that help."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from isofold._findings import Value, parameter, setting, worded
from isofold._memory import block_rows
from isofold._typing import FloatArray
from isofold.exceptions import InputTypeError, InvalidInputError

LARGEST_UNIT = 1e70
"""Beyond it (or below its inverse) products of two squared distances leave the range."""

SOME_ROWS = 1000
"""Rows that mostly show that data have an extent."""

SYMMETRY_ULPS = 64.0
"""Allowed asymmetry in units of eps·max|A|·√n: rounding in sums of n terms, with room."""

FEWEST_TERMS = 64
"""Entries of a small matrix are sums as well, over features: at least so many terms count."""

MOST_REPEATS = 100_000
"""Repetitions that may be asked for; a few milliseconds each add up to minutes."""

POINT_ADVICE = Value(
    "Distances to such a point are undefined. Drop the rows or fill the gaps, for example "
    "with sklearn.impute.SimpleImputer.",
    "Distances to such a point are undefined. Remove or correct such rows of the file.",
)


def check_points(X: Any, *, name: str = "X", min_samples: int = 2) -> FloatArray:
    """Return `X` as a finite dense float array, float32 and float64 kept as they are.

    Data frames, lists, integers and read-only memory maps are accepted; nothing is copied
    that need not be.
    """
    array = _as_table(X, name=name)
    refuse_no_features(array, name=name)
    if array.shape[0] < min_samples:
        msg = (
            f"{name} has {array.shape[0]} row(s), but at least {min_samples} are needed here: "
            f"distances exist only between points. Pass more samples."
        )
        raise InvalidInputError(msg)
    check_finite(array, name=name)
    return array


def refuse_extreme_units(X: FloatArray) -> None:
    """Refuse data whose curvature, a fourth power of lengths, would overflow or vanish."""
    # Columns one by one take ten times as long. Together they bound the largest spread, and some
    # rows of ordinary data show that there is one.
    widest, some = float(X.max()) - float(X.min()), float(np.ptp(X[:SOME_ROWS], axis=0).max())
    if widest <= LARGEST_UNIT and some >= 1.0 / LARGEST_UNIT:
        return
    spread = float(np.ptp(X, axis=0).max())
    if spread > LARGEST_UNIT or 0.0 < spread < 1.0 / LARGEST_UNIT:
        msg = (
            f"X extends over {spread:.3g}: fourth powers of such lengths are out of range. Express "
            f"the data in other units."
        )
        raise InvalidInputError(msg)


def read_points(X: Any, *, name: str) -> FloatArray:
    """Return a table of float32 or float64 as scikit-learn reads it, with its own errors."""
    refuse_sparse(X, name=name)
    refuse_lookalikes(X, name=name)
    refuse_masked(X, name=name)
    try:
        points: FloatArray = check_array(
            X,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name=name,
        )
    except TypeError as error:
        kind = f"a {type(X).__name__}"
        msg = (
            f"{name}, {kind}, cannot be read as a table of numbers: {error}. Pass an array of two "
            f"dimensions, one row a sample; encode text and categories as numbers first."
        )
        raise InputTypeError(msg) from error
    return points


def refuse_sparse(X: Any, *, name: str) -> None:
    """Raise an error if the points come as a sparse matrix."""
    if sp.issparse(X):
        msg = (
            f"{name} is a sparse matrix, but distances between points need "
            f"dense rows. Pass {name}.toarray(), or reduce it first with "
            f"sklearn.decomposition.TruncatedSVD."
        )
        raise InvalidInputError(msg)


def refuse_lookalikes(X: Any, *, name: str) -> None:
    """Raise an error if the points come as something that only looks like a table of numbers."""
    names = getattr(getattr(X, "dtype", None), "names", None)
    if isinstance(X, np.matrix):
        seen, do = "a np.matrix, whose products are not those of arrays", f"np.asarray({name})"
    elif names is not None:
        seen = f"a structured array with the fields {', '.join(names)}, not a table"
        do = f"numpy.lib.recfunctions.structured_to_unstructured({name})"
    elif isinstance(X, Mapping):
        seen, do = f"a {type(X).__name__}, which has no rows", f"pandas.DataFrame({name})"
    elif isinstance(X, Iterable) and not hasattr(X, "__len__") and not hasattr(X, "__array__"):
        seen, do = f"a {type(X).__name__}, which can be read only once", f"list({name})"
    else:
        return
    msg = f"{name} is {seen}. Rows of numbers are needed, one a sample. Pass {do}."
    raise InputTypeError(msg)


def refuse_masked(X: Any, *, name: str) -> None:
    """Raise an error if entries are masked: what is stored below the mask is no data."""
    n_masked = int(np.ma.count_masked(X)) if isinstance(X, np.ma.MaskedArray) else 0
    if n_masked:
        msg = f"{name} is a masked array with {n_masked} masked value(s). {worded(POINT_ADVICE)}"
        raise InvalidInputError(msg)


def _as_table(X: Any, *, name: str) -> FloatArray:
    try:
        return read_points(X, name=name)
    except InvalidInputError:
        raise
    except (TypeError, ValueError) as error:
        # scikit-learn quotes the whole array after its first line.
        reason = str(error).partition("\n")[0].rstrip(":. ")
        msg = (
            f"{name} cannot be read as a table of numbers with one row a point: {reason}. Pass an "
            f"array of two dimensions; encode text and categories as numbers first."
        )
        raise InvalidInputError(msg) from error


def refuse_no_features(array: FloatArray, *, name: str) -> None:
    """Raise an error if a table has no columns."""
    if array.shape[1] == 0:
        msg = (
            f"{name} has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required. "
            f"Without features every point is the same. Pass at least one column."
        )
        raise InvalidInputError(msg)


def check_finite(
    array: FloatArray, *, name: str, advice: str | Value = POINT_ADVICE, start: int = 0
) -> None:
    """Raise an error that names the first NaN or infinite entry, if there is one.

    `start` is the number of the first row, where the array is part of a table.
    """
    # The sum is NaN or infinite whenever an entry is: one pass without a temporary.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    bad = ~np.isfinite(array)
    if not bad.any():
        return
    row, *rest = (int(i) for i in np.argwhere(bad)[0])
    first = (start + row, *rest)
    n_nan = int(np.isnan(array).sum())
    n_inf = int(bad.sum()) - n_nan
    msg = (
        f"{name} contains {n_nan} NaN and {n_inf} infinite value(s), the first at index {first}. "
        f"{advice if isinstance(advice, str) else worded(advice)}"
    )
    raise InvalidInputError(msg)


def check_square(shape: tuple[int, ...], *, name: str) -> int:
    """Return the side of a square matrix that has at least one row."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        msg = (
            f"{name} has shape {shape}, but it must be square and not empty: one row and one "
            f"column a sample."
        )
        raise InvalidInputError(msg)
    return shape[0]


def symmetry_tolerance(n: int, largest: float, *, eps: float) -> float:
    """Return by how much entries of a matrix of side n may differ from their mirror images."""
    terms = max(n, FEWEST_TERMS)
    return SYMMETRY_ULPS * eps * largest * float(terms**0.5)


def check_symmetric(A: FloatArray, *, name: str) -> None:
    """Raise an error if an entry of a finite matrix is not its mirror image up to rounding."""
    n = check_square(A.shape, name=name)
    largest = max(float(A.max()), -float(A.min()))
    tolerance = symmetry_tolerance(n, largest, eps=float(np.finfo(A.dtype).eps))
    step = block_rows(2 * A.itemsize * n, n)
    for start in range(0, n, step):
        block = slice(start, start + step)
        with np.errstate(over="ignore"):
            difference = np.abs(A[block] - A[:, block].T)
        worst = int(difference.argmax())
        if difference.flat[worst] > tolerance:
            row, column = divmod(worst, n)
            row += start
            msg = (
                f"{name} is not symmetric: entry ({row}, {column}) is {A[row, column]:.6g}, and "
                f"({column}, {row}) differs by {difference.flat[worst]:.3g}. Pass "
                f"({name} + {name}.T) / 2 if both measure the same thing."
            )
            raise InvalidInputError(msg)


def check_distances(D: Any, *, name: str = "X") -> FloatArray:
    """Return a dense distance matrix after checking that it can be one."""
    if sp.issparse(D):
        msg = (
            f"{name} is a sparse matrix, but all distances are needed here, and what is not stored "
            f"is unknown rather than zero. Pass a dense matrix of all distances."
        )
        raise InvalidInputError(msg)
    distances = _as_table(D, name=name)
    refuse_no_distances(distances, name=name)
    if distances.shape[0] != distances.shape[1] or distances.size == 0:
        msg = (
            f"{name} has shape {distances.shape}, but precomputed distances hold one row and "
            f'one column a sample. Pass a square matrix, or use metric="euclidean" for points.'
        )
        raise InvalidInputError(msg)
    diagonal = float(distances.diagonal().max())
    if diagonal > 0:
        msg = (
            f"{name} has {diagonal:.3g} on its diagonal, but a sample's distance to itself is 0. "
            f"Similarities are not distances; convert them first."
        )
        raise InvalidInputError(msg)
    check_symmetric(distances, name=name)
    return distances


def refuse_no_distances(distances: FloatArray, *, name: str) -> None:
    """Raise an error if an entry is negative, NaN or infinite."""
    check_finite(
        distances,
        name=name,
        advice=(
            "Every distance must be known. If some are not, pass a sparse matrix that stores only "
            "the known ones: a graph of lengths."
        ),
    )
    smallest = float(distances.min(initial=0.0))
    if smallest < 0:
        msg = (
            f"Negative values in data passed as distances: {name} contains "
            f"{int((distances < 0).sum())} negative entries, down to {smallest:.3g}. Similarities "
            f"are not distances; convert them first."
        )
        raise InvalidInputError(msg)


def check_graph(W: Any, *, name: str = "X", square: bool = True) -> sp.coo_array:
    """Return a sparse matrix of lengths, its stored entries checked.

    Stored zeros are kept: they say that two samples are copies. What is not stored
    is no edge.
    """
    if W.ndim != 2 or 0 in W.shape or (square and W.shape[0] != W.shape[1]):
        msg = (
            f"{name} has shape {W.shape}, but a graph of lengths has one row and one column a "
            f"sample. Pass a square matrix."
        )
        raise InvalidInputError(msg)
    graph = sp.coo_array(W)
    if graph.dtype.kind not in "fiub":
        msg = f"{name} holds {graph.dtype} entries, but lengths are real numbers."
        raise InvalidInputError(msg)
    if graph.dtype not in (np.float32, np.float64):
        graph = graph.astype(np.float64)
    refuse_no_distances(graph.data, name=f"{name} (its stored entries)")
    return graph


def check_units(
    array: FloatArray, *, name: str, tiny: bool = True, given: str | None = None
) -> None:
    """Raise an error if squares of the entries overflow or, unless `tiny` is False, vanish.

    What a user can change is called `given` if that is not the array itself.
    """
    largest = max(float(array.max()), -float(array.min()))
    if largest > LARGEST_UNIT or (tiny and 0 < largest < 1 / LARGEST_UNIT):
        msg = (
            f"The largest entry of {name} is {largest:.3g} in size. Squared distances leave the "
            f"range of numbers beyond {LARGEST_UNIT:.0e} and below {1 / LARGEST_UNIT:.0e}. Express "
            f"{given or name} in other units."
        )
        raise InvalidInputError(msg)


def check_pair(
    first: Any, second: Any, *, names: tuple[str, str] = ("X", "Y"), min_samples: int = 2
) -> tuple[FloatArray, FloatArray]:
    """Return two tables that describe the same points row by row."""
    first = check_points(first, name=names[0], min_samples=min_samples)
    second = check_points(second, name=names[1], min_samples=min_samples)
    check_same_rows(len(first), len(second), names=names)
    check_units(first, name=names[0])
    check_units(second, name=names[1])
    return first, second


def check_width(points: FloatArray, n_features: int, *, name: str = "X_new") -> None:
    """Raise an error if new points are not as wide as those before."""
    if points.shape[1] != n_features:
        msg = (
            f"{name} has {points.shape[1]} column(s), but the training points have {n_features}: "
            f"each column must mean the same in both. Pass points of the same {n_features} columns."
        )
        raise InvalidInputError(msg)


def check_same_rows(n_first: int, n_second: int, *, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise an error if two tables of the same points have different lengths."""
    if n_first != n_second:
        msg = (
            f"{names[0]} has {n_first} rows and {names[1]} has {n_second}: row i of both must be "
            f"the same point. Pass both tables for exactly the same samples, in the same order."
        )
        raise InvalidInputError(msg)


def check_n_neighbors(
    n_neighbors: Any, n_samples: int, *, name: str = "n_neighbors", what: str = "points"
) -> int:
    """Return a neighbor count between 1 and ``n_samples - 1``; `what` names the samples."""
    k = check_count(n_neighbors, name=name)
    if k >= n_samples:
        msg = (
            f"{setting(name, k)} but there are only {n_samples} {what}, so a point has at most "
            f"{n_samples - 1} neighbors. Pass {parameter(name)} <= {n_samples - 1}."
        )
        raise InvalidInputError(msg)
    return k


def check_count(value: Any, *, name: str, minimum: int = 1) -> int:
    """Return a whole number not below `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        msg = f"{setting(name, value)} must be a whole number of at least {minimum}."
        raise InvalidInputError(msg)
    return int(value)


def check_repeats(value: Any, *, name: str) -> int:
    """Return how often work is repeated that no test of convergence ends."""
    count = check_count(value, name=name)
    if count > MOST_REPEATS:
        msg = (
            f"{setting(name, count)} is how often the work is repeated: nothing ends it earlier, "
            f"and the result no longer gets better. Pass at most {MOST_REPEATS}."
        )
        raise InvalidInputError(msg)
    return count


def check_positive(value: Any, *, name: str) -> float:
    """Return a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        msg = f"{setting(name, value)} must be a positive number."
        raise InvalidInputError(msg)
    return float(value)


def check_fraction(value: Any, *, name: str, is_closed: bool = False) -> float:
    """Return a number between zero and one, which may be either of them if that is closed."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    is_end = is_closed and is_number and value in (0, 1)
    if not is_number or not (0 < float(value) < 1 or is_end):
        ends = "both included" if is_closed else "both excluded"
        msg = f"{setting(name, value)} must be a number between 0 and 1, {ends}."
        raise InvalidInputError(msg)
    return float(value)


def check_seed(random_state: Any) -> np.random.RandomState:
    """Return the source of random numbers that a seed stands for."""
    try:
        return check_random_state(random_state)
    except ValueError as error:
        msg = (
            f"{setting('random_state', random_state)} must be a whole number, for the same result "
            f"every time, a RandomState, or None."
        )
        raise InvalidInputError(msg) from error


def check_choice(value: Any, choices: Iterable[str], *, name: str) -> str:
    """Return a name that is one of the choices."""
    names = tuple(choices)
    if not isinstance(value, str) or value not in names:
        msg = f"{setting(name, value)} is unknown. Choose one of {', '.join(names)}."
        raise InvalidInputError(msg)
    return value


def check_flag(value: Any, *, name: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        msg = f"{setting(name, value)} must be True or False."
        raise InvalidInputError(msg)
    return bool(value)
