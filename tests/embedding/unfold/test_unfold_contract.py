"""Unfold keeps scikit-learn's conventions and the house's."""

from __future__ import annotations

import pytest

from isofold import Unfold
from isofold.survey import data
from support.estimator_checks import checks_of_forms


@pytest.mark.filterwarnings("ignore::isofold.exceptions.DoubtfulMapWarning")
@checks_of_forms(
    Unfold(random_state=0),
    Unfold(n_components="auto", random_state=0),
    Unfold(n_components=1, metric="precomputed", random_state=0),
)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    # The checks' data are small clouds of noise: of these the map must be doubtful.
    if estimator.n_components != 2:
        # Shapes take most of the time, and are the same for all.
        monkeypatch.setattr(data, "recognize_shapes", lambda *_, **__: ())
    check(estimator)
