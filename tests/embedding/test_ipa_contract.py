"""IPA keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest

from isofold import IPA
from support.estimator_checks import checks_of_forms


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@checks_of_forms(IPA(random_state=0), IPA(n_components=1, chart="pca", random_state=0))
def test_scikit_learn_checks(estimator, check):
    # The checks' data are small clouds of noise: of these the map must be doubtful.
    check(estimator)
