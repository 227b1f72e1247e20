"""MVU keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest

from isofold import MVU
from isofold.neighbors import Bridged, Enhanced
from isofold.sdp import LowRankSDP
from support.estimator_checks import checks_of_forms


# The checks' data are small clouds of noise, some of them in two pieces. No map of two dimensions
# is true to them, few steps do not certify all, and pieces must be joined: "knn" refuses them.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@checks_of_forms(
    MVU(graph=Bridged(), solver=LowRankSDP(rank=6, max_iter=2), random_state=0),
    MVU(n_components=1, graph=Enhanced(), lengths="at_most", n_neighbors=6, random_state=0),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
