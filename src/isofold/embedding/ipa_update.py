"""More rows for a fitted IPA: what is new is stitched with the old nodes, moved and added.

    rows on the charts, within reach of a node   → placed
    all others, with the nodes of the map        → stitched once more, as `fit` does
    that stitching, by one rigid motion          → into the frame of the map
    the map                                      → the old one where it knows a point, else the new

Of the rows of earlier calls only those are kept at which patches were made, and those that wait at
the edge of the charts or beyond it: too few for charts, or known to the edge only by extrapolation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.random import sample_without_replacement

from isofold._base import Fit
from isofold._findings import Diagnosis, Finding, parameter, setting
from isofold._progress.stages import stage
from isofold._typing import BoolArray, FloatArray, IntArray
from isofold._validation import refuse_extreme_units
from isofold.exceptions import InvalidInputError
from isofold.extension.extended_map import ExtendedMap, PlacedPoints
from isofold.extension.seam import JointNodes, Seam, align, find_seam, measure_seam
from isofold.neighbors import NeighborGraph, connected_components, subgraph
from isofold.neighbors.edge_errors import edge_errors, mean_at_nodes
from isofold.patches.choices import Cover
from isofold.stitching.diagnosis import find_many_outliers

if TYPE_CHECKING:
    from isofold.embedding.ipa import IPA

__all__ = ["UpdateRules", "refuse_update", "update"]


@dataclass(frozen=True)
class UpdateRules:
    """What a stitching of old nodes and new rows may hold.

    Attributes
    ----------
    most_new, most_nodes : int
        New rows from which patches are made, as in a first fit, and all of its nodes, as in the
        second sample of one.
    spare : int
        Points of a new region beyond the dimension of the map: a chart needs as many.
    edge : float
        Remoteness from which on a row waits, though it is on the charts: of rows between the nodes
        .3 % do, of those beyond the edge most. A roll of 2,000 points, half of it added in 16
        strips, would tear at the seams by up to .9 of the reach without them, and does by .14.
    """

    most_new: int = 20_000
    most_nodes: int = 80_000
    spare: int = 3
    edge: float = 0.7


RULES = UpdateRules()


def refuse_update(ipa: IPA) -> None:
    """Refuse to extend a map whose parameters name samples, or that is no map of points."""
    reason = ""
    if not ipa._is_of_points:
        reason = (
            f"samples are compared by another {parameter('metric')} or a {parameter('kernel')}, "
            f"which turns them into points of a frame that new samples would change"
        )
    elif ipa.terms is not None:
        reason = f"{parameter('terms')} are about the samples of the first fit"
    elif isinstance(ipa.cover, Cover):
        reason = f"{parameter('cover')} gives the patches of the samples of the first fit"
    elif not isinstance(ipa.n_components, str) and ipa.n_components != ipa.n_components_:
        reason = (
            f"{setting('n_components', ipa.n_components)}, but the map has {ipa.n_components_} "
            f"dimension(s)"
        )
    if reason:
        msg = f"This map cannot be extended: {reason}. Call fit with all samples instead."
        raise InvalidInputError(msg)


@dataclass(frozen=True, eq=False)
class _MoreRows:
    """New rows, after those that wait.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The rows.
    samples : ndarray of int of shape (n,)
        Their samples, of all that the model has seen.
    is_fresh : ndarray of bool of shape (n,)
        Which have come now.
    placed : PlacedPoints
        Where the map puts them, and whether it knows them.
    """

    points: FloatArray
    samples: IntArray
    is_fresh: BoolArray
    placed: PlacedPoints

    @classmethod
    def of(cls, ipa: IPA, known: ExtendedMap, X: FloatArray) -> _MoreRows:
        """Return the rows that wait and those that have come."""
        n_waiting, n_seen = len(known.waiting), len(ipa.embedding_)
        points = np.concatenate([known.waiting, X]) if n_waiting else X
        return cls(
            points,
            np.concatenate([known.waiting_samples, n_seen + np.arange(len(X))]),
            np.arange(len(points)) >= n_waiting,
            known.place(points, n_jobs=ipa.n_jobs),
        )

    @property
    def is_new(self) -> BoolArray:
        """Which rows the charts do not know."""
        return ~self.placed.is_covered

    def waiting(self, rules: UpdateRules) -> IntArray:
        """Return the rows at the edge of the charts or beyond it; of too many, the last."""
        is_waiting = self.is_new | (self.placed.remoteness > rules.edge)
        return np.flatnonzero(is_waiting)[-rules.most_new :]


def update(ipa: IPA, X: FloatArray, rng: np.random.RandomState, rules: UpdateRules = RULES) -> Fit:
    """Return the map of all samples, the new ones last, and what changes with them."""
    known = ExtendedMap.of(ipa.map_)
    rows = _MoreRows.of(ipa, known, X)
    joint = _joint_rows(ipa, known, rows, rng, rules)
    extension = None if joint is None else _extension(ipa, known, rows, joint, rng, rules)
    if joint is not None and extension is not None:
        return _described(ipa, extension, rows, joint, rules)
    nodes = ipa.node_samples_
    nearest = known.latest.map_points(X, with_distances=False, n_jobs=ipa.n_jobs).nearest
    outliers = np.concatenate([ipa.outliers_, rows.is_new[rows.is_fresh]])
    waiting = rows.waiting(rules)
    return Fit.of(
        _embedding(ipa, rows, rows.placed),
        map_=_with_waiting(known, rows, waiting) if len(waiting) else ipa.map_,
        findings=_with_outliers(ipa.diagnosis_, outliers),
        outliers=outliers,
        component=np.concatenate([ipa.component_, ipa.component_[nodes][nearest]]),
        distortion=np.concatenate([ipa.distortion_, ipa.distortion_[nodes][nearest]]),
    )


def _embedding(ipa: IPA, rows: _MoreRows, placed: PlacedPoints) -> FloatArray:
    """Return the map of all samples; of those that were seen before, outliers may move."""
    known = ipa.embedding_
    embedding = np.empty((len(known) + int(rows.is_fresh.sum()), known.shape[1]), known.dtype)
    embedding[: len(known)] = known
    moves = rows.is_fresh | rows.is_new
    # Numbers beyond single precision are found, and refused, with the embedding.
    with np.errstate(over="ignore"):
        embedding[rows.samples[moves]] = placed.mapped.images[moves]
    return embedding


def _with_waiting(found: ExtendedMap, rows: _MoreRows, waiting: IntArray) -> ExtendedMap:
    """Return a map that remembers some rows."""
    return replace(found, waiting=rows.points[waiting], waiting_samples=rows.samples[waiting])


@dataclass(frozen=True, eq=False)
class _JointRows:
    """Old nodes and new rows, which are stitched together.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The old nodes, then the new rows.
    samples : ndarray of int of shape (n,)
        Their samples, of all that the model has seen.
    images : ndarray of shape (n_old, r)
        Where the old nodes are on the map.
    labels : ndarray of int of shape (n_old,)
        Their components.
    """

    points: FloatArray
    samples: IntArray
    images: FloatArray
    labels: IntArray

    @property
    def n_old(self) -> int:
        """Number of old nodes."""
        return len(self.images)


def _joint_rows(
    ipa: IPA,
    known: ExtendedMap,
    rows: _MoreRows,
    rng: np.random.RandomState,
    rules: UpdateRules,
) -> _JointRows | None:
    """Return the old nodes with the rows that hang together where there are no charts."""
    least = ipa.n_components_ + rules.spare
    if rows.is_new.sum() < least or not (rows.is_new & rows.is_fresh).any():
        return None
    chosen = np.flatnonzero(rows.is_new | (rows.placed.remoteness > rules.edge))
    chosen = chosen[_drawn(len(chosen), rules.most_new, rng)]
    points, images = known.training_pairs()
    kept = _drawn(len(points), rules.most_nodes - len(chosen), rng)
    points, images, nodes = points[kept], images[kept], ipa.node_samples_[kept]
    joint = np.concatenate([points, rows.points[chosen]])
    refuse_extreme_units(joint)
    chosen = chosen[_hang_together(ipa._neighbors(joint), rows, chosen, least)]
    if not len(chosen):
        return None
    return _JointRows(
        points=np.concatenate([points, rows.points[chosen]]),
        samples=np.concatenate([nodes, rows.samples[chosen]]),
        images=images,
        labels=ipa.component_[nodes],
    )


def _drawn(n: int, most: int, rng: np.random.RandomState) -> IntArray:
    """Return all of n numbers, or as many as may be, ascending."""
    if n <= most:
        return np.arange(n)
    return np.sort(sample_without_replacement(n, most, random_state=rng)).astype(np.intp)


def _hang_together(
    graph: NeighborGraph, rows: _MoreRows, chosen: IntArray, least: int
) -> BoolArray:
    """Return which rows are in groups of neighbors that have enough points for a new chart.

    `graph` is that of old nodes, then the chosen rows. A group without a row that has come now was
    too small, or of outliers, before.
    """
    n_old = graph.n_samples - len(chosen)
    nodes = np.flatnonzero(graph.sample_of_node >= n_old)
    row = chosen[graph.sample_of_node[nodes] - n_old]
    labels = connected_components(subgraph(graph, nodes)).labels
    n_new = np.bincount(labels, rows.is_new[row])
    n_fresh = np.bincount(labels, rows.is_new[row] & rows.is_fresh[row])
    is_used = np.zeros(graph.n_nodes, dtype=bool)
    is_used[nodes] = ((n_new >= least) & (n_fresh > 0))[labels]
    return is_used[graph.node_of_sample[n_old:]]


@dataclass(frozen=True, eq=False)
class _Extension:
    """A stitching of old nodes and new rows, beside the map that it extends.

    Attributes
    ----------
    fit : Fit
        The stitching by itself.
    whole : ExtendedMap
        The map with it.
    placed : PlacedPoints
        Where that puts the rows.
    continued : ndarray of int
        The component that each of its components continues; -1 of a new one.
    seam : Seam or None
        How well both agree.
    """

    fit: Fit
    whole: ExtendedMap
    placed: PlacedPoints
    continued: IntArray
    seam: Seam | None


def _extension(
    ipa: IPA,
    known: ExtendedMap,
    rows: _MoreRows,
    joint: _JointRows,
    rng: np.random.RandomState,
    rules: UpdateRules,
) -> _Extension | None:
    """Return the extension; None if too few rows gain by it."""
    every = np.arange(len(joint.points))
    fit = ipa._fit_sample(joint.points, every, rng, n_components=ipa.n_components_)
    found: dict[str, Any] = dict(fit.attributes)
    at_nodes = found["node_samples"]
    nodes = JointNodes(
        images=fit.map_.image_search.points,
        component=found["component"][at_nodes],
        old=np.where(at_nodes < joint.n_old, at_nodes, -1),
        cover=found["cover"],
    )
    continued = nodes.old_labels(joint.labels)
    if (continued < 0).all():
        return None
    with stage("extend the map"):
        newer = align(fit.map_, nodes, joint.images, joint.labels)
        whole = known.extended(newer)
        placed = whole.place(rows.points, n_jobs=ipa.n_jobs)
        if (placed.is_covered & rows.is_new).sum() < ipa.n_components_ + rules.spare:
            return None
        beside = joint.points[nodes.old[nodes.is_beside_new]]
        seam = measure_seam(known, newer, rows.points, rows.placed, beside)
    return _Extension(fit, whole, placed, continued, seam)


def _described(
    ipa: IPA, extension: _Extension, rows: _MoreRows, joint: _JointRows, rules: UpdateRules
) -> Fit:
    """Return what is known about the extended map: of all samples, and of the last stitching."""
    fit, whole = extension.fit, extension.whole
    found: dict[str, Any] = dict(fit.attributes)
    graph, at_nodes = found["graph"], found["node_samples"]
    embedding = _embedding(ipa, rows, extension.placed)
    node_images = embedding[joint.samples[at_nodes]].astype(np.float64)
    distortion = mean_at_nodes(edge_errors(node_images, graph), graph)
    numbers = _numbered(ipa, extension.continued)[found["component"][at_nodes]]
    nearest = whole.latest.map_points(rows.points, with_distances=False, n_jobs=ipa.n_jobs).nearest
    n_seams = len(whole.maps) - 1
    about_seam = find_seam(extension.seam, embedding, ipa.diagnosis_, n_seams)
    outliers = _replaced(ipa.outliers_, ~extension.placed.is_covered, rows)
    findings = _with_outliers(Diagnosis(fit.findings), outliers)
    if about_seam is not None:
        findings = (*findings, about_seam)
        error = dict(about_seam.parameters)["error"]
        found["estimated_error"] = float(np.hypot(found["estimated_error"], error))
    bridges = joint.samples[found["bridges"]]
    is_new = np.isin(bridges, joint.samples[joint.n_old :]).any(axis=1)
    after = replace(rows, placed=extension.placed)
    own = {
        "node_samples": joint.samples[at_nodes],
        "bridges": np.concatenate([ipa.bridges_, bridges[is_new]]),
        "outliers": outliers,
        "component": _replaced(ipa.component_, numbers[nearest], rows),
        "distortion": _replaced(ipa.distortion_, distortion[nearest], rows),
    }
    whole = _with_waiting(whole, after, _still_waiting(after, joint, rules))
    return Fit.of(embedding, map_=whole, findings=findings, **(found | own))


def _still_waiting(after: _MoreRows, joint: _JointRows, rules: UpdateRules) -> IntArray:
    """Return the rows at the edge that are not among the nodes that were stitched."""
    waiting = after.waiting(rules)
    return waiting[~np.isin(after.samples[waiting], joint.samples) | after.is_new[waiting]]


def _replaced(known: Any, values: Any, rows: _MoreRows) -> Any:
    """Return values of all samples: new ones, and those of outliers which have been placed anew."""
    result = np.concatenate([known, values[rows.is_fresh]])
    moves = rows.is_new & ~rows.is_fresh
    result[rows.samples[moves]] = values[moves]
    return result


def _numbered(ipa: IPA, continued: IntArray) -> IntArray:
    """Return the number of every component; new ones follow those that are known."""
    is_new = continued < 0
    numbers = continued.copy()
    numbers[is_new] = int(ipa.component_.max()) + 1 + np.arange(is_new.sum())
    return numbers


def _with_outliers(known: Diagnosis, outliers: BoolArray) -> tuple[Finding, ...]:
    """Return findings with those about outliers as they are among all samples."""
    is_between = known["outliers"].form == "between"
    about = known["outliers"] if is_between else find_many_outliers(float(outliers.mean()))
    others = [f for f in known if f.code not in ("outliers", "placed_outliers", "interrupted")]
    if outliers.any() and not about.is_raised:
        others.append(Finding.of("placed_outliers", n=int(outliers.sum())))
    return (*others, about)
