"""Properties of LDLC and its extremes; bad input and degenerate data are in test_ldlc_inputs."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

from isofold import LDLC, VQPCA, GeodesicKMedoids
from isofold._parallel import ordered_map
from isofold.clustering.connectivity import count_fragments
from isofold.clustering.localized import base as localized_base
from isofold.clustering.localized import restarts
from isofold.clustering.localized.medoids import MOST_EXACT
from isofold.clustering.localized.restarts import RHOS
from isofold.datasets import sinusoid, spiral, swiss_roll
from isofold.exceptions import DisconnectedGraphWarning
from isofold.neighbors import GraphPaths, build_graph, build_search, connected_components
from isofold.quality import is_localized, reconstruction_error
from support.hypothesis_profiles import examples
from support.ldlc_cases import KINDS, geodesics, naive_costs, rounding_of, some_points

RELATIVE = 1e-9
"""Sums of some dozen squares of size one, computed in another order or in other units."""

CLASSES = (LDLC, VQPCA, GeodesicKMedoids)


def fit_quietly(model, X):
    """Fit a model to data that may be in pieces."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return model.fit(X)


def sizes_for(X, seed):
    """Return numbers of clusters, dimensions and neighbors for some points."""
    rng = np.random.RandomState(seed)
    n_distinct = len(np.unique(X, axis=0))
    n_clusters = rng.randint(1, min(n_distinct, 9) + 1)
    n_components = rng.randint(0, min(X.shape[1], 3) + 1)
    return {
        "n_clusters": int(n_clusters),
        "n_components": int(n_components),
        "n_neighbors": int(rng.randint(1, 9)),
        "max_iter": int(rng.choice([1, 2, 100])),
    }


@parametrize_with_checks(
    [
        LDLC(n_clusters=2, n_components=1, n_init=2, random_state=0),
        VQPCA(n_clusters=2, n_components=1, n_init=2, random_state=0),
        GeodesicKMedoids(n_clusters=2, n_components=1, n_init=2, random_state=0),
    ]
)
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
def test_estimator_checks(estimator, check):
    check(estimator)


@examples(120)
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**31 - 1),
    rho=st.sampled_from([0.0, 1e-300, 1e-12, 1e-6, 1e-3, 0.01, 0.3, 1.0, "auto"]),
    single=st.booleans(),
)
def test_training_points_get_their_labels(kind, seed, rho, single):
    X = some_points(kind, seed)
    X = X.astype(np.float32) if single else X
    model = LDLC(rho=rho, n_init=1, random_state=0, n_jobs=1, **sizes_for(X, seed))
    fit_quietly(model, X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert np.unique(model.labels_).tolist() == list(range(model.n_clusters_))
    # Each row by itself, and in any order.
    some = np.random.RandomState(seed).permutation(len(X))[:5]
    np.testing.assert_array_equal(model.predict(X[some]), model.labels_[some])
    for i in some[:2]:
        assert model.predict(X[i : i + 1]).tolist() == [model.labels_[i]]


@examples(60)
@given(
    kind=st.sampled_from(["lattice", "ring", "line", "whole"]),
    seed=st.integers(0, 2**31 - 1),
    rho=st.sampled_from([0.0, 1e-12, 1e-4, 0.01, 0.3, 1.0]),
    unit=st.sampled_from([0.1, 1.0, 1e-30, 1e30]),
)
def test_training_points_get_their_labels_where_many_are_equally_near(kind, seed, rho, unit):
    X = some_points(kind, seed) * unit
    model = LDLC(rho=rho, n_init=1, random_state=0, n_jobs=1, **sizes_for(X, seed))
    fit_quietly(model, X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    alone = [int(model.predict(x[None])[0]) for x in X[:4]]
    assert alone == model.labels_[:4].tolist()


@examples(40)
@given(
    kind=st.sampled_from(["blob", "curve", "copies", "pieces", "wide"]),
    seed=st.integers(0, 2**31 - 1),
    rho=st.sampled_from([0.0, 1e-4, 0.01, 0.3, 1.0]),
)
def test_new_points_get_the_cheapest_cluster(kind, seed, rho):
    X = some_points(kind, seed)
    sizes = {**sizes_for(X, seed), "n_neighbors": 4}
    model = fit_quietly(LDLC(rho=rho, n_init=1, random_state=0, n_jobs=1, **sizes), X)
    rng = np.random.RandomState(seed)
    new = X[rng.randint(len(X), size=12)] + 0.3 * rng.standard_normal((12, X.shape[1]))
    new[-1] *= 5.0
    # The best way through the nearest of the different points.
    points = X[model.graph_.sample_of_node]
    straight = cdist(new, points)
    k = min(4, len(points))
    rows = geodesics(model.graph_)
    nodes = model.graph_.node_of_sample[model.medoids_]
    through = np.full((len(new), len(nodes)), np.inf)
    for i, near in enumerate(np.argsort(straight, axis=1)[:, :k]):
        through[i] = (straight[i, near, None] + rows[np.ix_(near, nodes)]).min(axis=0)
    costs = naive_costs(new, through, np.arange(len(nodes)), model.subspaces_, rho)
    found = model.predict(new)
    own = costs[np.arange(len(new)), found]
    rounding = rounding_of(np.concatenate([X, new]), np.ones(1))
    assert (own <= costs.min(axis=1) * (1.0 + RELATIVE) + rounding).all()
    for i in range(len(new)):
        assert model.predict(new[i : i + 1])[0] == found[i]


@examples(40)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**31 - 1), by_seeds=st.booleans())
def test_the_extremes_are_vqpca_and_geodesic_k_medoids(kind, seed, by_seeds):
    X = some_points(kind, seed)
    sizes = sizes_for(X, seed)
    chosen = {"n_init": 2, "random_state": seed, "n_jobs": 1}
    if by_seeds:
        _, first = np.unique(X, axis=0, return_index=True)
        sizes["n_neighbors"] = len(X)
        chosen["init"] = first[: sizes["n_clusters"]]
    k = sizes.pop("n_neighbors")
    pairs = [
        (LDLC(rho=0, n_neighbors=k, **sizes, **chosen), VQPCA(**sizes, **chosen)),
        (
            LDLC(rho=1, n_neighbors=k, **sizes, **chosen),
            GeodesicKMedoids(n_neighbors=k, **sizes, **chosen),
        ),
    ]
    for pair in pairs:
        ldlc, other = (fit_quietly(model, X) for model in pair)
        for name in ("labels_", "medoids_", "objective_path_", "n_iter_", "reconstruction_error_"):
            np.testing.assert_array_equal(getattr(ldlc, name), getattr(other, name), err_msg=name)
        np.testing.assert_array_equal(ldlc.subspaces_.bases, other.subspaces_.bases)
        np.testing.assert_array_equal(ldlc.predict(X + 0.1), other.predict(X + 0.1))


@examples(40)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**31 - 1))
def test_auto_gives_clusters_in_one_piece(kind, seed):
    X = some_points(kind, seed)
    sizes = sizes_for(X, seed)
    graph = build_graph(
        X - X.mean(axis=0, dtype=np.float64),
        n_neighbors=min(sizes["n_neighbors"], max(1, len(np.unique(X, axis=0)) - 1)),
    )
    n_pieces = connected_components(graph).n_components
    model = LDLC(n_init=2, random_state=0, n_jobs=1, **sizes)
    if n_pieces > sizes["n_clusters"]:
        with pytest.warns(DisconnectedGraphWarning, match=f"has {n_pieces} components"):
            model.fit(X)
        assert model.n_clusters_ == n_pieces
    else:
        model.fit(X)
        assert model.n_clusters_ == sizes["n_clusters"]
    assert model.rho_ in RHOS
    assert len(model.nonlocal_clusters_) == 0
    assert is_localized(model.labels_, graph)
    assert (count_fragments(model.labels_, graph) == 1).all()


@examples(30)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**31 - 1))
def test_geodesic_clusters_are_in_one_piece_whatever_the_flats(kind, seed):
    X = some_points(kind, seed)
    sizes = sizes_for(X, seed)
    found = []
    for r in {0, min(2, X.shape[1])}:
        sizes["n_components"] = r
        model = GeodesicKMedoids(n_init=1, random_state=seed, n_jobs=1, **sizes)
        found.append(fit_quietly(model, X))
        assert len(model.nonlocal_clusters_) == 0
        # At the share of 1 each medoid is nearest to itself.
        np.testing.assert_array_equal(model.labels_[model.medoids_], range(model.n_clusters_))
        nodes = model.graph_.node_of_sample
        rows = geodesics(model.graph_)[nodes][:, nodes[model.medoids_]]
        own = rows[np.arange(len(X)), model.labels_]
        np.testing.assert_allclose(own, rows.min(axis=1), rtol=RELATIVE)
        np.testing.assert_allclose(model.objective_path_[-1], (own**2).sum(), rtol=RELATIVE)
    np.testing.assert_array_equal(found[0].labels_, found[-1].labels_)
    np.testing.assert_array_equal(found[0].medoids_, found[-1].medoids_)


def test_medoids_that_tie_far_away_but_not_on_the_way():
    # A fork: its arms differ by 1e-11, which is lost in the cost of the end of its long handle.
    arms = np.repeat([[-1.0, 0.0], [1.0 - 1e-11, 0.0]], 1000, axis=0)
    handle = [[0.0, y] for y in (0.0, 1.5, 4.0, 9.0, 20.0, 45.0)]
    X = np.concatenate([arms, handle])
    chosen = {"n_clusters": 2, "n_components": 1, "n_neighbors": 1, "init": [0, 1000]}
    for model in (GeodesicKMedoids(**chosen), LDLC(rho=1, **chosen), LDLC(**chosen)):
        model.fit(X)
        assert len(model.nonlocal_clusters_) == 0
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("kind", ["blob", "curve", "wide", "pieces"])
@pytest.mark.parametrize("rho", [0.0, 0.01, 1.0])
def test_rigid_motions_and_units_do_not_matter(kind, rho):
    X = some_points(kind, 2)
    d = X.shape[1]
    turn = ortho_group.rvs(d, random_state=0) if d > 1 else np.array([[-1.0]])
    seeds = np.random.RandomState(0).permutation(len(X))[:4]
    model = LDLC(n_clusters=4, n_components=1, rho=rho, init=seeds, n_neighbors=len(X))
    model.fit(X)
    for moved, unit in ((X @ turn + 7.0, 1.0), (X * 1e-30, 1e-30), (X * 1e30, 1e30)):
        again = LDLC(n_clusters=4, n_components=1, rho=rho, init=seeds, n_neighbors=len(X))
        again.fit(moved)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        np.testing.assert_array_equal(again.medoids_, model.medoids_)
        np.testing.assert_allclose(
            again.objective_path_, model.objective_path_ * unit**2, rtol=RELATIVE
        )


@pytest.mark.parametrize("kind", ["blob", "curve", "wide"])
@pytest.mark.parametrize("rho", [0.0, 0.01, 1.0])
def test_the_order_of_samples_does_not_matter(kind, rho):
    X = some_points(kind, 4)
    rng = np.random.RandomState(1)
    order, seeds = rng.permutation(len(X)), rng.permutation(len(X))[:4]
    place = np.argsort(order)
    sizes = {"n_clusters": 4, "n_components": 1, "n_neighbors": 8, "rho": rho}
    model = LDLC(init=seeds, **sizes).fit(X)
    shuffled = LDLC(init=place[seeds], **sizes).fit(X[order])
    np.testing.assert_array_equal(shuffled.labels_, model.labels_[order])
    np.testing.assert_array_equal(order[shuffled.medoids_], model.medoids_)
    np.testing.assert_allclose(shuffled.objective_path_, model.objective_path_, rtol=RELATIVE)


@pytest.mark.parametrize("rho", [0.0, 0.01, 1.0, "auto"])
def test_repeated_rows_count_as_often(rho):
    X = some_points("curve", 6)
    seeds = np.random.RandomState(0).permutation(len(X))[:4]
    sizes = {"n_clusters": 4, "n_components": 1, "rho": rho, "init": seeds}
    once, thrice = LDLC(**sizes).fit(X), LDLC(**sizes).fit(np.tile(X, (3, 1)))
    np.testing.assert_array_equal(thrice.labels_, np.tile(once.labels_, 3))
    np.testing.assert_allclose(thrice.objective_path_, 3 * once.objective_path_, rtol=RELATIVE)
    assert thrice.reconstruction_error_ == pytest.approx(3 * once.reconstruction_error_)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    ("limit", "processes"), [("LEAST_FOR_THREADS", False), ("LEAST_FOR_PROCESSES", True)]
)
def test_workers_change_no_byte(cls, limit, processes, monkeypatch):
    used = []

    def seen(*arguments, n_jobs, processes=False, **more):
        used.append((n_jobs, processes))
        return ordered_map(*arguments, n_jobs=n_jobs, processes=processes, **more)

    # Only many points or restarts are shared out.
    monkeypatch.setattr(restarts, limit, 2)
    monkeypatch.setattr(restarts, "ordered_map", seen)
    X = some_points("curve", 1).astype(np.float64 if processes else np.float32)
    models = [
        cls(n_clusters=5, n_components=1, n_init=4, random_state=3, n_jobs=n).fit(X)
        for n in (1, 2, None)
    ]
    assert (2, processes) in used
    for other in models[1:]:
        for name in ("labels_", "medoids_", "objective_path_", "n_iter_", "reconstruction_error_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(models[0], name), name)
        assert other.subspaces_.bases.tobytes() == models[0].subspaces_.bases.tobytes()
        assert other.subspaces_.centers.tobytes() == models[0].subspaces_.centers.tobytes()


@pytest.mark.parametrize("rho", [0.003, 0.1, 1.0])
@pytest.mark.parametrize("kind", ["blob", "curve"])
def test_training_points_would_be_given_their_labels_as_new_ones(kind, rho):
    # `predict` looks them up; what it does with other points must come to the same.
    X = some_points(kind, 2)
    model = fit_quietly(LDLC(n_clusters=4, n_components=1, rho=rho, random_state=0), X).model_
    near = build_search(model.points).query(model.points, model.n_neighbors)
    found = model._cheapest(model.points, near, GraphPaths(model.graph))
    np.testing.assert_array_equal(found, model.partition.labels)


@pytest.mark.parametrize("cls", CLASSES)
def test_blocks_of_new_points_change_nothing(cls, monkeypatch):
    X = some_points("curve", 5)
    model = cls(n_clusters=5, n_components=1, random_state=0).fit(X)
    new = np.concatenate([X, X + 0.1])
    expected = model.predict(new)
    monkeypatch.setattr(localized_base, "block_rows", lambda *_: 3)
    np.testing.assert_array_equal(model.predict(new), expected)


@pytest.mark.parametrize("model", [LDLC(rho=0.01), GeodesicKMedoids()], ids=["LDLC", "geodesic"])
def test_large_clusters(model):
    # More points than the search for medoids looks at one by one.
    X = swiss_roll(900, random_state=0).X
    model.set_params(n_clusters=3, n_init=1, random_state=0).fit(X)
    assert np.bincount(model.labels_).max() > MOST_EXACT
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    path = model.objective_path_
    assert (np.diff(path) <= RELATIVE * path[0]).all()
    rows = geodesics(model.graph_)[model.medoids_[model.labels_], np.arange(len(X))]
    squares = model.subspaces_.own_squared_distances(X, model.labels_)
    rho = model.model_.rho
    expected = (1.0 - rho) * squares.sum() + rho * (rows**2).sum()
    assert path[-1] == pytest.approx(expected)


@pytest.mark.parametrize("rho", [0.0, 0.01, 0.2])
def test_what_is_told_about_the_fit(rho):
    X = some_points("curve", 8)
    model = LDLC(n_clusters=5, n_components=1, rho=rho, random_state=0).fit(X)
    error = reconstruction_error(X, model.labels_, n_components=1)
    # These flats were fitted before the last points changed clusters; the best are no worse.
    assert error <= model.reconstruction_error_ * (1.0 + RELATIVE)
    squares = model.subspaces_.own_squared_distances(X, model.labels_)
    assert model.reconstruction_error_ == pytest.approx(squares.sum())
    rows = geodesics(model.graph_)[np.arange(len(X)), model.medoids_[model.labels_]]
    objective = (1.0 - rho) * squares.sum() + rho * (rows**2).sum()
    assert model.objective_path_[-1] == pytest.approx(objective)
    pieces = count_fragments(model.labels_, model.graph_)
    np.testing.assert_array_equal(model.nonlocal_clusters_, np.flatnonzero(pieces > 1))
    assert model.rho_ == rho
    assert 1 <= model.n_iter_ <= 100


def n_localized(model, X, graph, n_starts=8):
    """Return in how many single starts all clusters are in one piece."""
    return sum(
        is_localized(model.set_params(n_init=1, random_state=seed).fit_predict(X), graph)
        for seed in range(n_starts)
    )


@pytest.mark.parametrize(
    ("data", "n_clusters"),
    [(sinusoid(600, amplitude=12.0, random_state=0), 6), (spiral(600, random_state=0), 4)],
    ids=["sinusoid", "spiral"],
)
@pytest.mark.slow  # figures of the thesis, which experiments.ldlc draws
def test_curves_of_figures_4_3_and_4_4(data, n_clusters):
    graph = build_graph(data.X, n_neighbors=8)
    order = np.argsort(data.truth[:, 0])
    for seed in range(3):
        ldlc = LDLC(n_clusters=n_clusters, n_components=1, n_init=1, random_state=seed)
        labels = ldlc.fit_predict(data.X)
        assert is_localized(labels, graph)
        # In one piece is an interval of the curve.
        assert np.count_nonzero(np.diff(labels[order])) == n_clusters - 1
    # k-means cuts through neighboring arms, and flats have no end.
    assert n_localized(KMeans(n_clusters=n_clusters, init="random"), data.X, graph) == 0
    assert n_localized(VQPCA(n_clusters=n_clusters, n_components=1), data.X, graph) <= 4
