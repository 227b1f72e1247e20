"""Tables of the thesis on LDLC: the printed numbers, and small runs of ours."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.ldlc import paper
from experiments.ldlc.curves import measure_starts
from experiments.ldlc.few_patches import CHARTS, RHOS, summaries
from experiments.ldlc.methods import (
    Clustering,
    Ready,
    Setting,
    cluster,
    kmeans,
    ldlc,
    medoids,
    mppca,
    n_astray,
    single_starts,
    spread,
    vqpca,
)
from experiments.ldlc.patches import affinity_propagation, map_clusters
from experiments.ldlc.recognition import accuracy, measure
from experiments.ldlc.toys import TOYS, describe

from isofold.datasets import swiss_roll
from isofold.neighbors import build_graph

FEW = 200


def test_printed_numbers():
    assert paper.WINE["LDLC"] == {"error": 2.8722, "purity": 0.9045, "NMI": 0.7222}
    assert paper.MNIST["VQPCA"]["purity"] == 0.908
    assert {len(row) for row in paper.FREY.values()} == {len(paper.FREY_CLUSTERS)}
    assert paper.FREY["VQPCA"][paper.FREY_CLUSTERS.index(9)] == 5
    assert paper.SWISS_ROLL["VQPCA"]["loss"] == 0.1942
    assert paper.MNIST_PATCHES["geodesic k-medoids"]["rank"] == 81
    assert set(paper.SWISS_ROLL) == set(paper.MNIST_PATCHES)


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_clusters_of_toys(toy):
    setting = replace(toy.setting, n_init=2)
    data = toy.make(random_state=0)
    for make in (kmeans, lambda chosen: ldlc(chosen, rho="auto")):
        found = cluster("", make(setting), data.X)
        row = describe([data], setting, [[found]])
        assert row["without any"] == ("0 of 1" if make is kmeans else "1 of 1")


@pytest.mark.parametrize("make", [kmeans, ldlc, medoids, mppca, vqpca])
def test_starts_are_as_many_as_asked_for(make):
    X = swiss_roll(FEW, random_state=0).X
    setting = Setting(4, 2, n_init=2)
    starts = single_starts(make, setting, X)
    assert len(starts) == setting.n_init
    again = single_starts(make, setting, X)
    np.testing.assert_array_equal(starts[1].labels, again[1].labels)
    measured = measure_starts(make, X, setting)
    assert measured["lowest error"] <= measured["mean error"]


@pytest.mark.slow
def test_maps_from_clusters():
    data = swiss_roll(FEW, random_state=0)
    rows = list(summaries("roll", [data], 6))
    assert len(rows) == len(CHARTS) * (2 + len(RHOS))
    found = cluster("k-means", kmeans(Setting(6, 2)), data.X)
    row, Y = map_clusters(data, found, n_components=2, chart="pca")
    assert Y.shape == (FEW, 2)
    assert 0 <= row["loss"] < 1


def test_affinity_propagation_is_tuned():
    X = np.random.RandomState(0).normal(size=(FEW, 2))
    assert abs(len(np.unique(affinity_propagation(X, 5).labels)) - 5) <= 1


def test_few_labels_name_clusters():
    X = np.concatenate([np.arange(20.0), np.arange(100.0, 120.0)])[:, None]
    labels = np.repeat([0, 1], 20)
    found = Clustering("", None, np.repeat([1, 0], 20), 0.0)
    assert accuracy(X, labels, found, share=0.5, seed=0) == 1.0
    assert measure(X, labels, found, n_components=1)["purity"] == 1.0
    np.testing.assert_array_equal(Ready(X, found.labels).fit_predict(X[5:30]), found.labels[5:30])


def test_spread_of_equal_values_is_one_number():
    assert spread([1.0, 1.0]) == "1"
    assert spread([1.0, 3.0]) == "2 (1 to 3)"


def test_points_off_the_largest_piece_are_astray():
    graph = build_graph(np.arange(6.0)[:, None], n_neighbors=2)
    assert n_astray(np.array([0, 0, 0, 1, 1, 1]), graph) == 0
    assert n_astray(np.array([0, 0, 1, 1, 1, 0]), graph) == 1
