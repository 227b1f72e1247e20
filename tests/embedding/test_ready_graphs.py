"""A neighbor graph is built once and handed on: ready ones give the map of those built inside."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from isofold import IPA, MVU, LocalMDS, NeighborMap, Unfold
from isofold.datasets import s_curve
from isofold.embedding.unfold import trials
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph, connect
from isofold.neighbors.near_points import NearPoints
from isofold.sdp import LowRankSDP
from isofold.survey import data

pytestmark = pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")

X = s_curve(150, random_state=0).X
CLOUD = np.random.RandomState(0).normal(size=(120, 6))
WIDE = np.random.RandomState(1).normal(size=(120, 14))


def mutual(points, **options):
    return build_graph(points, n_neighbors=12, kind="mutual", **options)


def test_ipa_takes_a_ready_graph():
    alone, ready = IPA(random_state=0).fit(X), IPA(random_state=0).fit(X, graph=mutual(X))
    assert ready.embedding_.tobytes() == alone.embedding_.tobytes()
    other = IPA(random_state=0).fit(X, graph=build_graph(X, n_neighbors=20))
    assert other.graph_.n_edges > alone.graph_.n_edges


def test_local_mds_takes_ready_graphs():
    model = LocalMDS(n_epochs=20, random_state=0)
    expected = model.fit(CLOUD).embedding_.tobytes()
    graph = connect(CLOUD, build_graph(CLOUD, n_neighbors=10))
    assert model.fit(CLOUD, graph=graph).embedding_.tobytes() == expected
    assert model.fit(CLOUD, graph=graph, guide=mutual(CLOUD)).embedding_.tobytes() == expected


def test_neighbor_map_takes_ready_neighbors():
    model, wide = NeighborMap(random_state=0), np.concatenate([WIDE, WIDE[:3]])
    expected = model.fit(wide).embedding_.tobytes()
    near = NearPoints.of(wide, 29)
    assert model.fit(wide, near=near).embedding_.tobytes() == expected
    with pytest.raises(InvalidInputError, match=r"X has 120 rows, but near has 123"):
        model.fit(WIDE, near=near)
    with pytest.raises(InvalidInputError, match="at least n_neighbors=15"):
        model.fit(wide, near=NearPoints.of(wide, 9))


@pytest.mark.parametrize("kind", ["union", "mutual"])
def test_ready_neighbors_make_the_graph_that_is_built_of_points(kind):
    wide = np.concatenate([WIDE, WIDE[:3]])
    ready = NearPoints.of(wide, 29).graph(12, kind=kind)
    built = build_graph(wide, n_neighbors=12, kind=kind)
    for name in ("edges", "lengths", "node_of_sample", "sample_of_node"):
        np.testing.assert_array_equal(getattr(ready, name), getattr(built, name))
    alone = NearPoints.of(wide[:1], 29)
    assert alone.graph(12, kind=kind).n_edges == 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_mvu_takes_a_ready_graph():
    graph = build_graph(X, n_neighbors=12)
    # The bytes of a few steps tell as much as those of all.
    options = {"solver": LowRankSDP(max_iter=5), "random_state": 0}
    alone, ready = MVU(**options).fit(X), MVU(graph=graph, **options).fit(X)
    assert ready.embedding_.tobytes() == alone.embedding_.tobytes()


@pytest.mark.parametrize("model", [IPA(), LocalMDS()])
def test_a_graph_of_other_samples_is_refused(model):
    with pytest.raises(InvalidInputError, match=r"X has 150 rows, but the graph .* 60 samples"):
        model.fit(X, graph=mutual(X[:60]))


def test_a_graph_of_more_samples_than_make_patches_is_refused(monkeypatch):
    monkeypatch.setattr("isofold.embedding.ipa.SAMPLE_SIZES", (100, 200))
    with pytest.raises(InvalidInputError, match="a ready graph of all cannot be used"):
        IPA().fit(X, graph=mutual(X))


@pytest.mark.parametrize(
    ("points", "metric"),
    [(X, "euclidean"), (CLOUD, "euclidean"), (WIDE, "euclidean"), (CLOUD, "precomputed")],
)
def test_unfold_builds_the_graph_of_all_samples_once(points, metric, monkeypatch):
    """The survey and the chosen method share it; without sharing the map has the same bytes."""
    monkeypatch.setattr(data, "recognize_shapes", lambda *_, **__: ())
    given = points if metric == "euclidean" else squareform(pdist(points)) ** 0.9
    model = Unfold(metric=metric, max_seconds=1e6, random_state=0)
    shared = model.fit(given).embedding_.tobytes()
    monkeypatch.setattr(trials.Trials, "_shared_graph", lambda *_: {})
    assert model.fit(given).embedding_.tobytes() == shared
