"""LocalMDS keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from isofold import LocalMDS


# Some of the checks' data are clouds in two pieces, which must be joined.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@parametrize_with_checks(
    [
        LocalMDS(random_state=0),
        LocalMDS(n_components=1, n_neighbors=3, n_epochs=5, metric="precomputed", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
