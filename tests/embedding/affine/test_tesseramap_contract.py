"""TesseraMap keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest

from isofold import TesseraMap
from isofold.sdp import DenseSDP
from support.estimator_checks import checks_of_forms


# The checks' data are small clouds of noise, some of them in two pieces. They are not flat, no map
# of two dimensions is true to them, and pieces must be joined.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@checks_of_forms(
    TesseraMap(random_state=0),
    TesseraMap(cover="kmeans", n_components=1, random_state=0),
    TesseraMap(cover=None, n_neighbors=3, solver=DenseSDP(tol=1e-2), random_state=0),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
