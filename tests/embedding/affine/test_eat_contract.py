"""EAT keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest

from isofold import EAT
from isofold.exceptions import InvalidInputError
from isofold.sdp import DenseSDP
from support.estimator_checks import checks_of_forms


# The checks' data are small clouds of noise, some of them in two pieces. No map of two dimensions
# is true to them, a linear kernel least of all, and pieces must be joined.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DisconnectedGraphWarning")
@checks_of_forms(
    EAT(random_state=0),
    EAT(kernel="linear", random_state=0),
    EAT(kernel="poly", n_neighbors=3, solver=DenseSDP(tol=1e-2), random_state=0),
    EAT(kernel="precomputed", random_state=0),
)
def test_scikit_learn_checks(estimator, check):
    if estimator.kernel == "precomputed" and check.func.__name__ == "check_estimators_dtypes":
        # Rounded to whole numbers, the check's kernel is none, and must be refused.
        with pytest.raises(InvalidInputError, match="not positive semidefinite"):
            check(estimator)
        return
    check(estimator)
