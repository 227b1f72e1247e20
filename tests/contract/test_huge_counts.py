"""Counts beyond all reason are refused at once, or change nothing: nothing hangs, nothing dies."""

import numpy as np
import pytest

import isofold
from isofold._parallel import n_workers
from isofold.exceptions import InvalidInputError, MemoryLimitError

HUGE = 10**9
X = np.random.default_rng(0).standard_normal((40, 3))

WIDE = ["MVU", "LandmarkMVU", "FastMVU", "DisjointMVU", "EAT", "TesseraMap", "LocalMDS", "IPA"]
WIDE += ["NeighborMap", "PLML", "Unfold", "KernelLaplacianEigenmaps", "TwinKernelEmbedding"]


@pytest.mark.parametrize("name", WIDE)
def test_maps_wider_than_memory_are_refused_before_any_work(name, monkeypatch):
    model = getattr(isofold, name)(n_components=HUGE)
    monkeypatch.setattr(model, "_fit", pytest.fail)
    with pytest.raises(MemoryLimitError, match="span at most 39 dimensions"):
        model.fit(X)


def test_colored_maps_too():
    with pytest.raises(MemoryLimitError, match="n_components=1000000000"):
        isofold.ColoredMVU(n_components=HUGE).fit(X, np.arange(40) % 2)


def test_epochs_and_restarts_without_end_are_refused():
    with pytest.raises(InvalidInputError, match=r"n_epochs=1000000000 .* at most 100000"):
        isofold.LocalMDS(n_epochs=HUGE).fit(X)
    with pytest.raises(InvalidInputError, match=r"max_iter=1000000000 .* at most 100000"):
        isofold.TwinKernelEmbedding(max_iter=HUGE).fit(X)
    for name in ("LDLC", "VQPCA", "GeodesicKMedoids", "MPPCA"):
        with pytest.raises(InvalidInputError, match=r"n_init=1000000000 .* at most 100000"):
            getattr(isofold, name)(n_clusters=2, n_init=HUGE).fit(X)


def test_workers_are_as_many_as_can_be_of_use():
    assert n_workers(HUGE) < 1000
    assert n_workers(2) == 2
