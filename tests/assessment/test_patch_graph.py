"""Patch graphs: where patches lie, what they share, how badly they fit."""

import numpy as np
import pytest

from isofold import IPA, LocalMDS, OutOfSample, TesseraMap, Unfold
from isofold.assessment import patch_graph as patches
from isofold.assessment.patch_graph import find_patches
from isofold.exceptions import InvalidInputError


def test_patches_of_a_plane_fit_exactly():
    X = np.random.RandomState(0).uniform(size=(400, 2)) @ np.array([[1.0, 0, 0], [0, 0.6, 0.8]])
    graph = find_patches(IPA(chart="pca", n_patches=12, cover="kmeans", random_state=0).fit(X))
    assert len(graph.links) > 12
    # Rotations are computed to about 1e-8, the square root of the solver's tolerance.
    assert graph.patch_error.max() < 1e-6
    assert graph.link_error.max() < 1e-6


def test_links_of_ipa_are_those_of_a_double_loop(ipa):
    graph = find_patches(ipa)
    members, placed = ipa.map_.memberships, {}
    points = ipa.map_.search.points
    by_patch = [members.points[members.patches == p] for p in range(ipa.cover_.n_patches)]
    np.testing.assert_array_equal(graph.sizes, ipa.cover_.sizes)
    for number in np.random.RandomState(0).choice(len(graph.links), 20, replace=False):
        i, j = graph.links[number]
        shared = np.intersect1d(by_patch[i], by_patch[j])
        for patch in (i, j):
            placed[patch] = ipa.map_.placed_by(points[shared], np.full(len(shared), patch))
        gap = np.mean(np.sum((placed[i] - placed[j]) ** 2, axis=1))
        middle = 0.5 * (placed[i] + placed[j])
        extent = np.mean(np.sum((middle - middle.mean(axis=0)) ** 2, axis=1))
        assert graph.link_error[number] == pytest.approx(np.sqrt(gap / extent), rel=1e-9)


def test_centers_lie_among_their_points(ipa):
    graph = find_patches(ipa)
    at_nodes = ipa.embedding_[ipa.node_samples_]
    for patch in (0, 5):
        own = at_nodes[ipa.cover_.members_of(patch)]
        np.testing.assert_allclose(graph.centers[patch], own.mean(axis=0), atol=1e-9)


def test_plml_is_a_tree_of_cells(roll, plml):
    graph = find_patches(plml)
    assert graph.kind == "cell"
    np.testing.assert_array_equal(graph.links, plml.tree_)
    np.testing.assert_array_equal(graph.link_error, plml.misfit_)
    assert graph.sizes.sum() == len(roll)
    assert graph.centers.shape == (plml.planes_.n_pieces, 2)


def test_tesserae_are_joined_by_links(roll):
    tessera = TesseraMap(random_state=0).fit(roll)
    graph = find_patches(tessera, roll)
    pairs = {tuple(sorted(pair)) for pair in tessera.labels_[tessera.links_]}
    assert {tuple(link) for link in graph.links} == pairs
    first = tessera.labels_[tessera.links_]
    own = (np.sort(first, axis=1) == graph.links[0]).all(axis=1)
    i, j = tessera.links_[own].T
    wanted = np.linalg.norm(roll[i] - roll[j], axis=1)
    seen = np.linalg.norm(tessera.embedding_[i] - tessera.embedding_[j], axis=1)
    expected = np.sqrt(np.mean((seen / wanted - 1.0) ** 2))
    assert graph.link_error[0] == pytest.approx(expected, rel=1e-9)
    # Tesserae are kept rigid, but for what the kernel bends.
    assert np.median(graph.patch_error) < 0.05
    with pytest.raises(InvalidInputError, match="Pass X"):
        find_patches(tessera)


def test_a_model_inside_another_one_is_found(roll, ipa, unfold):
    wrapped = OutOfSample(IPA(random_state=0)).fit(roll)
    for model in (unfold, wrapped):
        np.testing.assert_allclose(find_patches(model).sizes.sum(), find_patches(ipa).sizes.sum())


def test_a_part_of_the_samples_is_found_on_the_whole_map(ipa):
    # As where time was short: the method inside saw every second sample only.
    n = len(ipa.embedding_)
    unfold = Unfold()
    unfold.fitted_samples_, unfold.estimator_, unfold.decision_ = 2 * np.arange(n), ipa, None
    unfold.embedding_ = np.zeros((2 * n, 2))
    unfold.embedding_[::2] = ipa.embedding_
    np.testing.assert_allclose(find_patches(unfold).centers, find_patches(ipa).centers)


def test_of_many_links_the_worst_are_kept(ipa, monkeypatch):
    everything = find_patches(ipa)
    monkeypatch.setattr(patches, "MOST_LINKS", 10)
    worst = find_patches(ipa)
    assert len(worst.links) == 10
    assert worst.n_links == len(everything.links)
    assert worst.link_error.min() >= np.sort(everything.link_error)[-10]


def test_other_methods_have_no_patches(roll):
    assert find_patches(LocalMDS(n_epochs=2, random_state=0).fit(roll[:100])) is None
