"""Points far from all samples of a fit are told apart from those among them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

import isofold
from isofold import EAT, IPA, MVU, PLML, LocalMDS, NeighborMap, OutOfSample, Unfold
from isofold.exceptions import InvalidInputError
from isofold.extension.out_of_range import OutsideRules, far_limit, find_outside


def arch(n, seed):
    """Return points of half a cylinder of radius one and length three."""
    angle, height = np.random.RandomState(seed).uniform(size=(2, n)) * [[np.pi], [3.0]]
    return np.column_stack([np.cos(angle), np.sin(angle), height])


X, NEW = arch(500, 0), arch(60, 1)
FAR = np.array([[30.0, 30.0, 30.0], [0.0, 1.0, 50.0]])


@pytest.fixture(scope="module")
def models():
    return {
        "IPA": IPA(random_state=0).fit(X),
        "PLML": PLML(random_state=0).fit(X),
        "MVU": MVU(n_neighbors=5, random_state=0).fit(X[::4]),
        "LocalMDS": LocalMDS(random_state=0).fit(X),
        "NeighborMap": NeighborMap(random_state=0).fit(X),
        "OutOfSample": OutOfSample(PCA(2)).fit(X),
        "Unfold": Unfold(random_state=0).fit(X),
    }


METHODS = ["IPA", "PLML", "MVU", "LocalMDS", "NeighborMap", "OutOfSample", "Unfold"]


@pytest.mark.parametrize("name", METHODS)
def test_far_points_are_outside_and_near_ones_are_not(models, name):
    far = isofold.is_outside(models[name], FAR)
    assert far.dtype == np.bool_
    assert far.all()
    # A thousandth of the samples is as remote; new samples of few are remote somewhat more often.
    assert isofold.is_outside(models[name], NEW).mean() <= 0.1
    assert isofold.is_outside(models[name], X[::4]).mean() <= 0.02


@pytest.mark.parametrize("name", METHODS)
def test_rows_are_judged_by_themselves(models, name):
    both = np.concatenate([NEW[:5], FAR, NEW[5:10]])
    together = isofold.is_outside(models[name], both)
    alone = [isofold.is_outside(models[name], both[i : i + 1])[0] for i in range(len(both))]
    np.testing.assert_array_equal(together, alone)
    as_single = isofold.is_outside(models[name], both.astype(np.float32).tolist())
    np.testing.assert_array_equal(together, as_single)


def test_points_on_the_surface_beyond_its_edge_are_outside(models):
    beyond = NEW + np.array([0.0, 0.0, 4.0])
    assert isofold.is_outside(models["IPA"], beyond).all()
    on_axis = np.array([[0.0, 0.0, 1.5]])
    assert models["IPA"].distance_to_manifold(on_axis) > 0.5
    assert isofold.is_outside(models["IPA"], on_axis).all()


def test_a_limit_of_the_data_replaces_that_of_the_charts(models):
    ipa = models["IPA"]
    limit = far_limit(ipa, X, seed=0)
    usual = np.quantile(ipa.distance_to_manifold(X), 0.99)
    assert limit >= 2 * usual
    assert find_outside(ipa, NEW, ipa.transform(NEW), limit=0.0).all()
    assert not find_outside(ipa, NEW, ipa.transform(NEW), limit=limit).all()
    assert far_limit(models["PLML"], X, seed=0) is None


def test_rules_set_the_level(models):
    mvu = models["LocalMDS"]
    images = mvu.transform(NEW)
    counts = [
        find_outside(mvu, NEW, images, rules=OutsideRules(level=level)).sum()
        for level in (0.001, 0.2, 0.8)
    ]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


def test_models_that_cannot_tell():
    with pytest.raises(InvalidInputError, match=r"EAT does not keep.*OutOfSample"):
        isofold.is_outside(EAT(n_neighbors=6).fit(X[::4]), NEW)
    distances = cdist(X[::4], X[::4])
    model = MVU(n_neighbors=5, metric="precomputed", random_state=0).fit(distances)
    with pytest.raises(InvalidInputError, match="MVU does not keep"):
        isofold.is_outside(model, distances)


def test_no_models():
    with pytest.raises(InvalidInputError, match="PCA is no embedder"):
        isofold.is_outside(PCA(2).fit(X), NEW)
    with pytest.raises(NotFittedError):
        isofold.is_outside(IPA(), NEW)
    with pytest.raises(InvalidInputError, match="2 features"):
        isofold.is_outside(PLML(random_state=0).fit(X), NEW[:, :2])
