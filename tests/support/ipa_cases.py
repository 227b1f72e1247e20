"""Sheets with known maps, and the steps from points to a stitched map, for tests of IPA."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from isofold.exceptions import DoubtfulMapWarning
from isofold.linalg import procrustes
from isofold.neighbors import build_graph
from isofold.neighbors.point_set import PointSet
from isofold.sdp import LowRankSDP
from isofold.stitching.components import StitchedMap, stitch_components
from isofold.stitching.covers import CoverMaker, read_cover
from isofold.stitching.levels import StitchingPlan


@dataclass(frozen=True, eq=False)
class Stitched:
    """A stitched map with the points at its nodes and the plan behind it."""

    points: np.ndarray
    map: StitchedMap
    plan: StitchingPlan


def stitched(X, r=2, *, n_neighbors=12, cover="balls", n_patches="auto", chart="quadratic"):
    """Return the stitched map of points, all different, by the rooms below IPA."""
    graph = build_graph(X, n_neighbors=n_neighbors, kind="mutual")
    rng = np.random.RandomState(0)
    cover = read_cover(cover, len(X), np.arange(len(X)))
    covers = CoverMaker(cover, n_patches, chart, r, rng=rng, n_jobs=1)
    plan = StitchingPlan(covers, LowRankSDP(max_iter=30, max_rank=r, random_state=0), n_jobs=1)
    found = stitch_components(PointSet.whole(X, graph), plan, n_components=r, n_jobs=1)
    return Stitched(X[found.used], found, plan)


def embed_quietly(model, X):
    """Fit a model whose doubts are not what is tested, and return the embedding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulMapWarning)
        return model.fit_transform(X)


def motion_onto(Y, truth):
    """Return the rigid motion that takes a map onto the true coordinates."""
    return procrustes(np.asarray(Y, dtype=np.float64), truth).transform


def grid(n_rows=15, n_columns=20):
    """Return the nodes of a flat grid of unit spacing."""
    rows, columns = np.mgrid[:n_rows, :n_columns]
    return np.column_stack([columns.ravel(), rows.ravel()]).astype(float)


def half_cylinder(flat):
    """Return points of a strip bent to half a cylinder, as long along its arc as it was."""
    radius = np.ptp(flat[:, 0]) / np.pi
    angle = (flat[:, 0] - flat[:, 0].min()) / radius
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), flat[:, 1]])


def rectangle(n, sides, seed=0):
    """Return random points of a flat box."""
    return np.random.RandomState(seed).uniform(size=(n, len(sides))) * sides


def ring(n, seed=0):
    """Return a closed circle of radius one, each point somewhere in its share of the arc."""
    angle = 2 * np.pi * (np.arange(n) + np.random.RandomState(seed).uniform(size=n)) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


def torus(n, seed=0):
    """Return random points of the flat torus: a circle times a circle."""
    a, b = np.random.RandomState(seed).uniform(0, 2 * np.pi, size=(2, n))
    return np.column_stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)])
