"""Maps that several tests of figures look at."""

import matplotlib.pyplot as plt
import pytest

from support.maps_to_assess import ipa, known, plml, roll, unfold

__all__ = ["ipa", "known", "plml", "roll", "unfold"]


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    before = plt.get_fignums()
    yield
    for number in set(plt.get_fignums()) - set(before):
        plt.close(number)
