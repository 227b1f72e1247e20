"""What is to be said of a map, in plain words: how it was made, what to doubt, how to repeat it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator

from isofold._format import percent
from isofold._typing import IntArray
from isofold.assessment.findings import LengthRatios, MapWords
from isofold.assessment.models import fitted_inside, last_step, rows_inside
from isofold.assessment.proof import find_proof
from isofold.quality import Scorecard

__all__ = ["describe_method", "find_words", "model_warnings"]

POOR_LENGTHS, POOR_TAIL, POOR_NEIGHBORS = 0.1, 0.5, 0.5
"""Relative error of half of the neighbor lengths, or of one in twenty, and share of neighbors lost,
from which a reader is told."""

OTHER_UNIT = 2.0
"""Factor between lengths on the map and in the data from which distances cannot be read off it."""

LONGEST_VALUE = 120
"""Characters of a parameter that are shown."""

SUMMARIES = ("This map is not to be trusted unseen.", "See decision_.")
"""What warnings say around the doubts that are told one by one."""

PACKAGES = ("isofold", "numpy", "scipy", "scikit-learn")


def find_words(
    model: Any, card: Scorecard, ratios: LengthRatios, *, given: Iterable[Any] = ()
) -> MapWords:
    """Return what is to be said of a map."""
    proof = find_proof(model)
    doubts = () if model is None else _doubts(model)
    own = [*doubts, proof.warning, *_measured_warnings(model, card, ratios)]
    return MapWords(
        method=describe_method(model),
        decision=_decision(model),
        certificate=proof.words,
        is_certified=proof.is_certified,
        warnings=_joined(own, given, _decision(model)),
        parameters=_parameters(model),
        versions=_versions(),
    )


def describe_method(model: Any) -> str:
    """Return the name of the method that made a map."""
    if model is None:
        return "given coordinates"
    outer = last_step(model)
    name = type(outer).__name__
    if hasattr(outer, "decision_"):
        return f"{name}, which chose {type(outer.estimator_).__name__}"
    if getattr(outer, "estimator_", None) is not None:
        return f"{name} of {type(outer.estimator_).__name__}"
    return name


def model_warnings(model: Any) -> tuple[str, ...]:
    """Return what a fitted model itself says against its map, without looking at the data."""
    told = [*_doubts(model), find_proof(model).warning]
    distortion = getattr(last_step(model), "distortion_", None)
    if distortion is not None and np.median(distortion) > POOR_LENGTHS:
        told.append(
            f"Around half of the samples distances to neighbors are wrong by more than "
            f"{percent(float(np.median(distortion)))} on average."
        )
    return _joined(told)


def _doubts(model: Any) -> Iterator[str]:
    for inside, rows in rows_inside(model):
        diagnosis = getattr(inside, "diagnosis_", None)
        raised = () if diagnosis is None else diagnosis.raised
        yield from (f"{flag.message} {flag.advice}" for flag in raised)
        if not any(flag.name == "pieces" for flag in raised):
            yield from _pieces_of(inside)
        cuts = np.asarray(getattr(inside, "cuts_", ()))
        if len(cuts):
            yield (
                f"{len(cuts)} pair(s) of neighbors are torn apart in {inside.n_cuts_} place(s), "
                f"for example samples {cuts[0, 0]} and {cuts[0, 1]} (see cuts_)."
            )
        outliers = getattr(inside, "outliers_", None)
        if outliers is not None and np.any(outliers):
            n_outliers = int(np.sum(outliers))
            yield (
                f"{_count(n_outliers, 'sample')} far off the others told nothing to the map and "
                f"{'was' if n_outliers == 1 else 'were'} only placed on it."
            )
        decision = getattr(inside, "decision_", None)
        if decision is not None and decision.method != "ipa" and decision.doubts:
            yield (
                f"The data could not be confirmed to be a sheet (doubts: "
                f"{', '.join(sorted(decision.doubts))}): this map may fold or tear them."
            )
        if decision is not None and len(inside.fitted_samples_) < len(rows):
            yield (
                f"The method was fitted to {len(inside.fitted_samples_):,} of {len(rows):,} "
                f"samples, as time was short. The others were placed by its map."
            )


def _pieces_of(inside: Any) -> Iterator[str]:
    """Tell of pieces that a method put together by a few links."""
    bridges = getattr(inside, "bridges_", None)
    if bridges is None or not len(bridges):
        return
    pieces = getattr(inside, "component_", getattr(inside, "component_", None))
    n_pieces = None if pieces is None else len(np.unique(pieces))
    what = "pieces" if n_pieces is None else _count(n_pieces, "piece")
    rests = "rests on this link" if len(bridges) == 1 else "rests on these links"
    yield (
        f"The data fall into {what}, joined by {_count(len(bridges), 'link')} across the gaps. "
        f"Where pieces lie to each other {rests} alone."
    )


def _measured_warnings(model: Any, card: Scorecard, ratios: LengthRatios) -> Iterator[str]:
    """Tell of poor figures."""
    k = card.n_neighbors
    has_bridges = any(len(getattr(m, "bridges_", ())) for m in fitted_inside(model))
    sizes = _piece_sizes(card.near.indices)
    if len(sizes) > 1 and not has_bridges:
        yield (
            f"Joined by their {_count(k, 'nearest neighbor')}, the data fall into "
            f"{_count(len(sizes), 'piece')}, the largest of {sizes[0]:,} of {card.n_points:,} "
            f"points. How pieces lie to each other on the map is not told by neighbors."
        )
    if ratios.median == 0.0:
        yield "Most points lie on top of their neighbors: the map has no lengths to be read off it."
    elif not 1.0 / OTHER_UNIT < ratios.median < OTHER_UNIT:
        yield (
            f"Lengths on the map are not those of the data: between neighbors they are "
            f"{ratios.median:.3g} times as long (median). Do not read distances off it."
        )
    elif card["length_error_median"] > POOR_LENGTHS:
        yield (
            f"Half of the distances between neighbors are wrong by more than "
            f"{percent(card['length_error_median'])}; {percent(ratios.within_tenth)} of them are "
            f"true to 10%."
        )
    elif card["length_error_p95"] > POOR_TAIL:
        yield (
            f"One in twenty distances between neighbors is wrong by more than "
            f"{percent(card['length_error_p95'])}, though {percent(ratios.within_tenth)} are true "
            f"to 10%: the map is torn or squeezed in places. Color it by distortion to see where."
        )
    lost = float(card["neighbor_error"])
    if lost > POOR_NEIGHBORS:
        whose = "nearest neighbor" if k == 1 else f"{k} nearest neighbors"
        yield (
            f"{percent(lost)} of the {whose} of a point are not among its {k} nearest on the map: "
            f"do not read neighborhoods off it."
        )


def _piece_sizes(indices: IntArray) -> IntArray:
    """Return the sizes of the pieces into which neighbors join points, the largest first."""
    n, k = indices.shape
    graph = sp.csr_array(
        (np.ones(n * k, dtype=np.int8), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )
    labels = connected_components(graph, directed=True, connection="weak")[1]
    return np.sort(np.bincount(labels))[::-1]


def _decision(model: Any) -> tuple[str, ...]:
    decision = getattr(last_step(model), "decision_", None)
    return () if decision is None else tuple(str(reason) for reason in decision.reasons)


def _joined(
    own: Iterable[str], given: Iterable[Any] = (), told_elsewhere: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return all warnings once; of given ones, what is not told anyway."""
    told = [sentence for sentence in dict.fromkeys(own) if sentence]
    known = (*told, *told_elsewhere, *SUMMARIES)
    for warning in given:
        # What `warnings.catch_warnings(record=True)` keeps holds the message.
        text = str(getattr(warning, "message", warning))
        for sentence in known:
            text = text.replace(sentence, " ")
        text = " ".join(text.split())
        if text and text not in told:
            told.append(text)
    return tuple(told)


def _parameters(model: Any) -> dict[str, str]:
    outer = last_step(model)
    if not hasattr(outer, "get_params"):
        return {}
    return {name: _in_words(value) for name, value in outer.get_params(deep=False).items()}


def _in_words(value: Any) -> str:
    """Return a parameter as a short text."""
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__
    if isinstance(value, bool | str | Real) or value is None:
        text = str(value)
    elif sp.issparse(value) or (hasattr(value, "shape") and hasattr(value, "dtype")):
        return f"{type(value).__name__} of shape {tuple(value.shape)}"
    elif isinstance(value, list | tuple | set | dict) and len(value) > 10:
        return f"{type(value).__name__} of {len(value)} entries"
    elif callable(value) and not isinstance(value, BaseEstimator):
        text = getattr(value, "__name__", type(value).__name__)
    else:
        text = repr(value)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")
