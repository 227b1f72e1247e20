"""Fixtures: fitted models of a Swiss roll, and what is known of the map of one of them."""

import pytest

from isofold import IPA, PLML, Unfold, assess
from isofold.datasets import swiss_roll


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
def known(roll, ipa):
    return assess(roll, ipa)
