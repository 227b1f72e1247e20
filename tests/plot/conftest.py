"""Maps that several tests of figures look at."""

import matplotlib.pyplot as plt
import pytest

from isofold import IPA, PLML, Unfold
from isofold.datasets import swiss_roll
from isofold.plot import find


@pytest.fixture(autouse=True)
def _no_figure_is_left():
    before = plt.get_fignums()
    yield
    for number in set(plt.get_fignums()) - set(before):
        plt.close(number)


@pytest.fixture(scope="package")
def roll():
    return swiss_roll(800, width=21.0, uniform=True, random_state=0).X


@pytest.fixture(scope="package")
def ipa(roll):
    return IPA(random_state=0).fit(roll)


@pytest.fixture(scope="package")
def plml(roll):
    return PLML(random_state=0).fit(roll)


@pytest.fixture(scope="package")
def unfold(roll):
    return Unfold(random_state=0).fit(roll)


@pytest.fixture(scope="package")
def found(roll, ipa):
    return find(roll, ipa)
