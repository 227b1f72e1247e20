"""Measure a map once: all that figures and the report page show."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state, get_tags

from isofold._memory import block_rows
from isofold._progress.stages import stage
from isofold._typing import FloatArray, IntArray
from isofold._validation import check_count, check_points, check_same_rows
from isofold.assessment.assessment import (
    Assessment,
    LengthRatios,
    NearPairs,
    ShepardDensity,
    VarianceSpectrum,
)
from isofold.assessment.findings import diagnose, read_decision
from isofold.assessment.models import embedding_of, fitted_inside, is_precomputed
from isofold.assessment.origin import describe_origin
from isofold.assessment.patch_graph import find_patches
from isofold.assessment.proof import find_proof
from isofold.embedding.embedder import Embedder
from isofold.embedding.kernel_input import KernelInput
from isofold.exceptions import DisconnectedGraphWarning, InvalidInputError
from isofold.neighbors.duplicates import find_distinct
from isofold.quality import Scorecard, scorecard
from isofold.similarity.intake import distances_of

__all__ = ["assess", "compared_distances", "spectrum_of_model"]

LEAST_POINTS = 4
"""Points from which on neighborhoods of several sizes can be compared."""

ALL_PAIRS, SAMPLED_PAIRS, LEAST_PAIRS, PAIR_NUMBERS = 2000, 2 * 10**6, 10**5, 2 * 10**9
"""Points up to which all pairs are counted, pairs drawn beyond, at least, and the most coordinates
that these may have together."""

SHEPARD_BINS = 80

RATIO_STEP, USUAL_RATIOS = 0.025, (0.5, 1.5)
"""Width of the bins of length ratios, in units of the median ratio if that is far from one."""

MOST_VARIANCES, MOST_NUMBERS = 50, 5 * 10**7
"""Principal variances that are kept, and the most numbers of the table that they are taken from."""

MOST_NEIGHBOR_PAIRS = 5 * 10**7
"""Neighbors of all points that may be needed to find one that is no copy."""


def assess(
    X: Any,
    embedding: Any,
    *,
    metric: str = "euclidean",
    n_neighbors: int = 12,
    warnings: Iterable[Any] = (),
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Assessment:
    """Measure a map and gather what was found about it.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points), or objects
        The data, or their distances; or whatever the model was fitted to.
    embedding : fitted estimator or array-like of shape (n_points, n_components)
        The map: an embedder with ``embedding_``, or coordinates.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        What `X` holds. A model that was fitted to anything but points knows.
    n_neighbors : int, default=12
        Neighbors that should stay near; fewer are taken where there are few points.
    warnings : iterable, default=()
        Warnings of other libraries that were raised when the map was made, as text or as
        ``warnings.catch_warnings(record=True)`` keeps them. What isofold has found is known.
    random_state : int, RandomState or None, default=0
        Source of draws, where there are too many pairs to look at all.
    n_jobs : int or None, default=None
        Threads, by scikit-learn's convention.

    Returns
    -------
    Assessment
        Measures, distortion of every point, pairs, ratios, curve, spectrum, patches, findings,
        what is proved, and how to make the map again. Figures of `isofold.plot` take it.

    See Also
    --------
    report : The page that shows it.

    Examples
    --------
    >>> import numpy as np
    >>> from isofold import assess
    >>> grid = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=-1).reshape(-1, 2)
    >>> doubled = assess(grid, 2.0 * grid, n_neighbors=4)
    >>> doubled.ratios.median, doubled.origin.method
    (2.0, 'given coordinates')
    >>> sorted(doubled.diagnosis.codes)
    ['other_unit']
    """
    model = embedding if hasattr(embedding, "fit") else None
    Y = check_points(embedding if model is None else embedding_of(model), name="embedding")
    if metric != "precomputed":  # Else the samples were compared already.
        compared = compared_distances(model, X)
        metric = _metric_of(model, X, metric) if compared is None else "precomputed"
        X = X if compared is None else compared
    data = _read(X, metric)
    check_same_rows(data.shape[0], len(Y), names=("X", "embedding"))
    k = _fit_neighbors(data, check_count(n_neighbors, name="n_neighbors"), metric)
    with stage("measure the map"), python_warnings.catch_warnings():
        # A finding says so, see `diagnose`.
        python_warnings.simplefilter("ignore", DisconnectedGraphWarning)
        card = scorecard(
            data, Y, n_neighbors=k, metric=metric, random_state=random_state, n_jobs=n_jobs
        )
    ratios, proof = count_ratios(card), find_proof(model)
    return Assessment(
        embedding=Y,
        card=card,
        distortion=card.isometry.per_point,
        near=NearPairs(card.near.indices, card.near.before, card.near.after),
        shepard=count_pairs(data, Y, metric=metric, random_state=random_state),
        ratios=ratios,
        curve=card.curve,
        spectrum=_find_spectrum(model, data, card, metric=metric, random_state=random_state),
        patches=None if model is None else find_patches(model, data),
        origin=describe_origin(model, is_fitted_to_pairs=_is_fitted_to_pairs(model, metric)),
        proof=proof,
        diagnosis=diagnose(model, proof, card, ratios, given=warnings),
        decision=read_decision(model),
    )


def count_ratios(card: Scorecard) -> LengthRatios:
    """Count how much longer or shorter the lengths of neighbor pairs became."""
    ratio = card.near.ratio
    ratio = ratio[np.isfinite(ratio)]
    median = float(np.median(ratio))
    unit = 1.0 if USUAL_RATIOS[0] <= median <= USUAL_RATIOS[1] or median == 0.0 else median
    n_bins = 2 * round(1.0 / RATIO_STEP) + 1
    edges = unit * RATIO_STEP * (np.arange(n_bins + 1) - 0.5)
    edges[0] = 0.0
    bins = ratio / (unit * RATIO_STEP)
    bins += 0.5
    np.minimum(bins, n_bins - 1, out=bins)
    return LengthRatios(
        edges=edges,
        counts=np.bincount(bins.astype(np.intp), minlength=n_bins),
        median=median,
        within_tenth=float(np.mean(np.abs(ratio - 1.0) <= 0.1)),
    )


def count_pairs(
    X: FloatArray, Y: FloatArray, *, metric: str = "euclidean", random_state: Any = 0
) -> ShepardDensity:
    """Count pairs by their distances before and after."""
    n = len(Y)
    is_sample = n > ALL_PAIRS
    if is_sample:
        rng = check_random_state(random_state)
        n_pairs = max(LEAST_PAIRS, min(SAMPLED_PAIRS, PAIR_NUMBERS // X.shape[1]))
        first = rng.randint(n, size=n_pairs)
        # Any other point, all of them equally likely.
        second = (first + 1 + rng.randint(n - 1, size=n_pairs)) % n
    else:
        first, second = np.triu_indices(n, 1)
    if metric == "precomputed":
        before = X[first, second].astype(np.float64)
    else:
        before = _lengths(X, first, second)
    after = _lengths(Y, first, second)
    counts, before_edges, after_edges = np.histogram2d(
        before,
        after,
        bins=SHEPARD_BINS,
        range=[[0.0, before.max()], [0.0, after.max()]],
    )
    return ShepardDensity(
        before_edges, after_edges, counts.astype(np.int64), len(before), is_sample=is_sample
    )


def spectrum_of_model(model: Any, n_components: int) -> VarianceSpectrum | None:
    """Return the variances that a method found before it made its map, if it knows them."""
    for inside in fitted_inside(model):
        spectrum = getattr(inside, "spectrum_", None)
        if spectrum is None:
            continue
        variances = np.maximum(np.asarray(spectrum, dtype=np.float64).ravel(), 0.0)
        total = float(variances.sum())
        if len(variances) and np.isfinite(total) and total > 0.0:
            source = "the solution before it is projected to the map"
            if hasattr(inside, "cover_"):
                source = "the space in which patches fit best"
            fractions = np.sort(variances / total)[::-1][:MOST_VARIANCES]
            return VarianceSpectrum(fractions, n_components, source)
    return None


def _lengths(points: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return the distances of pairs of points, in blocks."""
    lengths = np.empty(len(first))
    step = block_rows(3 * 8 * points.shape[1], len(first))
    for start in range(0, len(first), step):
        some = slice(start, start + step)
        steps = np.take(points, first[some], axis=0).astype(np.float64, copy=False)
        steps -= np.take(points, second[some], axis=0)
        lengths[some] = np.sqrt(np.einsum("ij,ij->i", steps, steps))
    return lengths


def _metric_of(model: Any, X: Any, metric: str) -> str:
    """Return what `X` holds: a model that was fitted to distances knows."""
    shape = np.shape(X)
    is_square = len(shape) == 2 and shape[0] == shape[1]
    if model is None or not is_square:
        return metric
    if is_precomputed(model, "metric", "dissimilarity"):
        return "precomputed"
    if is_precomputed(model, "kernel", "affinity") and get_tags(model).input_tags.pairwise:
        msg = (
            f"{type(model).__name__} was fitted to a table of similarities, which does not hold "
            f"distances. Pass the points that belong to it; or pass their distances with "
            f'metric="precomputed".'
        )
        raise InvalidInputError(msg)
    return metric


def compared_distances(model: Any, X: Any) -> FloatArray | None:
    """Return the distances of samples as a model of ours compares them, unless they are points."""
    is_square = np.ndim(X) == 2 and np.shape(X)[0] == np.shape(X)[1]
    if isinstance(model, KernelInput):
        is_asked = is_square or callable(model.kernel)
        return model.distances_between(X) if is_asked and not sp.issparse(X) else None
    if not isinstance(model, Embedder):
        return None
    how = model._intake.comparison
    # Instead of values of pairs, the points behind them may be given.
    if how.is_euclidean or (how.is_given and (how.kernel is None or not is_square)):
        return None
    return distances_of(how, X)


def _is_fitted_to_pairs(model: Any, metric: str) -> bool:
    """Return whether a model was fitted to a table of pairs other than X."""
    if metric == "precomputed" or not hasattr(model, "__sklearn_tags__"):
        return False
    return bool(get_tags(model).input_tags.pairwise)


def _read(X: Any, metric: str) -> FloatArray:
    """Return the data as an array."""
    if metric == "precomputed" and sp.issparse(X):
        msg = (
            "X is a sparse matrix of distances, but a map can only be measured against all "
            "distances: what is not stored is unknown. Pass a dense matrix of all distances; or "
            "look at the map alone with model.plot()."
        )
        raise InvalidInputError(msg)
    data = check_points(X)
    if len(data) < LEAST_POINTS:
        msg = (
            f"X has {len(data)} rows: at least {LEAST_POINTS} points are needed to see which "
            f"neighbors a map has kept. Pass more samples."
        )
        raise InvalidInputError(msg)
    return data


def _fit_neighbors(X: FloatArray, n_neighbors: int, metric: str) -> int:
    """Return a number of neighbors that these points have, enough to see past copies."""
    most = (len(X) - 1) // 2
    k = min(n_neighbors, most)
    if metric == "euclidean":
        copies = np.bincount(find_distinct(X).node_of_sample)
        fewest = int(copies.min())
        if k < fewest <= most and len(X) * fewest <= MOST_NEIGHBOR_PAIRS:
            return fewest
    return k


def _find_spectrum(
    model: Any, X: FloatArray, card: Scorecard, *, metric: str, random_state: Any
) -> VarianceSpectrum:
    """Return variances along axes: those of the model, or of the data, or of the map."""
    known = None if model is None else spectrum_of_model(model, card.n_components)
    if known is not None:
        return known
    if metric == "precomputed":
        return VarianceSpectrum(card.spectrum, card.n_components, "principal axes of the map")
    # A tenth of a second, which models that know their variances need not wait.
    from sklearn.decomposition import PCA

    rows: IntArray | slice = slice(None)
    if X.size > MOST_NUMBERS:
        n_rows = max(2 * MOST_VARIANCES, MOST_NUMBERS // X.shape[1])
        rows = check_random_state(random_state).choice(len(X), min(n_rows, len(X)), replace=False)
    table = X[rows]
    pca = PCA(n_components=min(MOST_VARIANCES, *table.shape), random_state=0).fit(table)
    fractions = np.asarray(pca.explained_variance_ratio_, dtype=np.float64)
    return VarianceSpectrum(fractions, card.n_components, "principal axes of the data")
