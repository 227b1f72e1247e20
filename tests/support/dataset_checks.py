"""What the tests of single data sets share."""

import numpy as np

# Points satisfy the equation of their surface up to rounding. Coordinates and lengths are below 100
# and at most 15 times as steep in an angle below 30, so that an operation costs at most
# 15 · 30 · 2⁻⁵³ = 5e-14; a formula has a handful of them.
ON_SURFACE = 1e-12


def assert_uniform(values, low, high):
    """Compare with the uniform distribution; fails by chance with probability 1e-9.

    The bound on sup|F_n − F| is that of Dvoretzky, Kiefer and Wolfowitz.
    """
    share = np.sort((values - low) / (high - low))
    assert share[0] >= -ON_SURFACE
    assert share[-1] <= 1 + ON_SURFACE
    steps = np.arange(share.size) / share.size
    deviation = np.sqrt(np.log(2 / 1e-9) / (2 * share.size))
    assert np.abs(share - steps).max() <= deviation + 1 / share.size
