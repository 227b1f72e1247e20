"""MVU keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from isofold import MVU
from isofold.neighbors import Bridged, Enhanced


# The checks' data are small clouds of noise, some of them in two pieces. No map of two dimensions
# is true to them, few steps do not certify all, and pieces must be joined: "knn" refuses them.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        MVU(graph=Bridged(), random_state=0),
        MVU(n_components=1, graph=Enhanced(), lengths="at_most", n_neighbors=6, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
