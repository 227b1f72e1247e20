"""LocalMDS keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest

from isofold import LocalMDS
from support.estimator_checks import checks_of_forms


# Some of the checks' data are clouds in two pieces, which must be joined.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@checks_of_forms(
    LocalMDS(random_state=0),
    LocalMDS(n_components=1, n_neighbors=3, n_epochs=5, metric="precomputed", random_state=0),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
