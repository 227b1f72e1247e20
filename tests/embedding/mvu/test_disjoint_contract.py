"""DisjointMVU keeps scikit-learn's conventions and the house's."""

import pytest

from isofold import DisjointMVU
from isofold.sdp import LowRankSDP
from support.estimator_checks import checks_of_forms


# The checks' data are small clouds of noise: of these a map in the plane must be doubtful. Steps
# are few to save time.
@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@checks_of_forms(DisjointMVU(solver=LowRankSDP(rank=6, max_iter=2), random_state=0))
def test_scikit_learn_checks(estimator, check):
    check(estimator)
