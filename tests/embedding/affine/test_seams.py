"""Which seams have links when every two tesserae are neighbors."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from isofold import Cover, TesseraMap
from isofold.clustering import kmeans
from isofold.embedding.affine.seams import MOST_SEAMS, choose_links
from isofold.exceptions import InvalidInputError
from isofold.neighbors import build_graph


def crowd():
    """Clusters in ten dimensions: most of them touch each other."""
    X = np.random.default_rng(0).standard_normal((600, 10))
    return X, build_graph(X, n_neighbors=12), kmeans(X, 30, random_state=0).labels


def test_a_crowded_tessera_has_links_at_its_widest_seams_only():
    X, graph, labels = crowd()
    edges = np.sort(labels[graph.edges], axis=1)
    edges = edges[edges[:, 0] != edges[:, 1]]
    seams, counts = np.unique(edges, axis=0, return_counts=True)
    width = {tuple(seam): count for seam, count in zip(seams, counts, strict=True)}
    links = choose_links(X, graph, labels, 2)
    kept = {tuple(seam) for seam in np.unique(np.sort(labels[links.pairs], axis=1), axis=0)}
    assert len(kept) < len(width)
    extra = set()
    for a in range(labels.max() + 1):
        own = sorted((count for seam, count in width.items() if a in seam), reverse=True)
        least = own[min(MOST_SEAMS, len(own)) - 1]
        # All that are wider than the narrowest that counts are kept, whatever ties do.
        assert {seam for seam, count in width.items() if a in seam and count > least} <= kept
        extra |= {seam for seam, count in width.items() if a in seam and count >= least}
    n_tesserae = labels.max() + 1
    # What else is kept is a part of a tree that holds all together.
    assert len(kept - extra) < n_tesserae
    ends = np.array(sorted(kept))
    joined = csr_array((np.ones(len(ends)), ends.T), shape=(n_tesserae, n_tesserae))
    assert connected_components(joined, directed=False)[0] == 1


def test_a_program_that_would_take_an_hour_is_refused(monkeypatch):
    X, _, labels = crowd()
    monkeypatch.setattr("isofold.embedding.affine.tessera_program.MOST_EQUATIONS", 100)
    with pytest.raises(
        InvalidInputError, match=r"30 tesserae with \d+ links make \d+ equations.*cover="
    ):
        TesseraMap(cover=Cover.labels(labels)).fit(X)
