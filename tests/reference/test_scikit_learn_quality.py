"""Agreement with scikit-learn where it has the same measure."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness as scikit_trustworthiness
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from isofold import datasets
from isofold.quality import continuity, normalized_mutual_information, trustworthiness

# Both sum the same integers and divide once; the sets have no tied distances, whose order
# scikit-learn leaves to an unstable sort.
EQUAL = 1e-12


def _standardized(bunch):
    return StandardScaler().fit_transform(bunch.data)


DATA = {
    "swiss roll": lambda: datasets.swiss_roll(800, noise=0.1, random_state=0).X,
    "four moons": lambda: datasets.four_moons(600, noise=0.05, random_state=1).X,
    "wine": lambda: _standardized(load_wine()),
    "breast cancer": lambda: _standardized(load_breast_cancer()),
    "noise in 100 dimensions": lambda: np.random.RandomState(2).standard_normal((500, 100)),
}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("k", [1, 5, 12, 30])
def test_trustworthiness_equals_scikit_learn(name, k):
    X = DATA[name]()
    Y = PCA(2).fit_transform(X)
    assert trustworthiness(X, Y, n_neighbors=k) == pytest.approx(
        scikit_trustworthiness(X, Y, n_neighbors=k), abs=EQUAL
    )
    assert continuity(X, Y, n_neighbors=k) == pytest.approx(
        scikit_trustworthiness(Y, X, n_neighbors=k), abs=EQUAL
    )


def test_mutual_information_equals_scikit_learn():
    rng = np.random.RandomState(0)
    clusters, labels = rng.randint(0, 4, 200), rng.randint(0, 3, 200)
    assert normalized_mutual_information(clusters, labels) == pytest.approx(
        normalized_mutual_info_score(labels, clusters), abs=EQUAL
    )
