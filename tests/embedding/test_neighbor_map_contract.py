"""NeighborMap keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest

from isofold import NeighborMap
from support.estimator_checks import checks_of_forms


# Some of the checks' data are clouds in two pieces, or have no neighbors to keep.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@checks_of_forms(
    NeighborMap(random_state=0),
    NeighborMap(n_components=1, n_neighbors=3, metric="precomputed", random_state=0),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
