"""What the thesis and its papers print of PLML and of the methods beside it.

H. Strange, Piecewise-Linear Manifold Learning: A Heuristic Approach to Non-Linear Dimensionality
Reduction, PhD thesis, Aberystwyth University, 2011, chapter 4, with H. Strange and R. Zwiggelaar,
Parallel projections for manifold learning, ICMLA, 2010, appended. Lines are those of the text
version of the thesis that was read.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "IMAGE_TRUST",
    "STARTS",
    "TABLE_4_1",
    "TABLE_4_2",
    "TABLE_I",
    "Printed",
]


@dataclass(frozen=True)
class Printed:
    """A row of Tables 4.1 to 4.3, means over the size of the measure and, but for 4.3, over k.

    Attributes
    ----------
    trust : float
        Trustworthiness.
    local_error : float
        Procrustes error of neighborhoods, in 1e-4 (Table 4.3: 1e-6) of an unknown unit.
    residual : float
        Residual variance, called RMSE.
    """

    trust: float
    local_error: float
    residual: float


TABLE_4_1 = {
    250: {
        "Isomap": Printed(0.792, 1.525, 0.482),
        "LLE": Printed(0.823, 1.168, 0.408),
        "LTSA": Printed(0.810, 1.591, 0.445),
        "PCA": Printed(0.889, 0.750, 0.229),
        "PLML": Printed(0.869, 1.124, 0.469),
    },
    500: {
        "Isomap": Printed(0.915, 0.982, 0.362),
        "LLE": Printed(0.854, 1.181, 0.441),
        "LTSA": Printed(0.818, 1.464, 0.560),
        "PCA": Printed(0.903, 0.627, 0.314),
        "PLML": Printed(0.927, 0.746, 0.499),
    },
    1000: {
        "Isomap": Printed(0.924, 1.322, 0.358),
        "LLE": Printed(0.896, 1.488, 0.473),
        "LTSA": Printed(0.795, 1.688, 0.729),
        "PCA": Printed(0.886, 0.545, 0.548),
        "PLML": Printed(0.961, 0.291, 0.440),
    },
    2000: {
        "Isomap": Printed(0.966, 0.865, 0.156),
        "LLE": Printed(0.909, 1.321, 0.506),
        "LTSA": Printed(0.836, 1.640, 0.443),
        "PCA": Printed(0.884, 0.453, 0.688),
        "PLML": Printed(0.993, 0.122, 0.257),
    },
}
"""Table 4.1 (lines 1629 to 1650): number of points, no noise."""

TABLE_4_2 = {
    0.0: TABLE_4_1[2000],
    0.25: {
        "Isomap": Printed(0.903, 1.226, 0.375),
        "LLE": Printed(0.857, 1.171, 0.710),
        "LTSA": Printed(0.788, 1.914, 0.669),
        "PCA": Printed(0.877, 0.631, 0.677),
        "PLML": Printed(0.972, 0.384, 0.259),
    },
    0.5: {
        "Isomap": Printed(0.916, 1.224, 0.475),
        "LLE": Printed(0.865, 1.262, 0.601),
        "LTSA": Printed(0.773, 2.281, 0.695),
        "PCA": Printed(0.884, 0.872, 0.573),
        "PLML": Printed(0.951, 0.863, 0.404),
    },
    1.0: {
        "Isomap": Printed(0.902, 1.668, 0.279),
        "LLE": Printed(0.852, 1.706, 0.442),
        "LTSA": Printed(0.682, 2.546, 0.604),
        "PCA": Printed(0.878, 1.101, 0.194),
        "PLML": Printed(0.862, 1.596, 0.548),
    },
}
"""Table 4.2 (lines 1708 to 1729): standard deviation of the noise, 2,000 points."""

STARTS = {
    "TL": Printed(0.999, 2.967, 0.100),
    "ML": Printed(0.999, 2.437, 0.099),
    "BL": Printed(0.999, 2.855, 0.100),
    "TCL": Printed(1.000, 2.889, 0.100),
    "MCL": Printed(0.999, 2.525, 0.100),
    "BCL": Printed(0.999, 8.198, 0.101),
    "TC": Printed(0.999, 2.496, 0.100),
    "MC": Printed(1.000, 2.037, 0.100),
    "BC": Printed(0.999, 4.667, 0.100),
    "TCR": Printed(0.999, 3.349, 0.101),
    "MCR": Printed(0.999, 3.717, 0.100),
    "BCR": Printed(0.999, 2.274, 0.100),
    "TR": Printed(0.999, 2.823, 0.101),
    "MR": Printed(1.000, 2.351, 0.100),
    "BR": Printed(0.999, 3.205, 0.100),
}
"""Table 4.3 (lines 1799 to 1816): 15 starts, n = 2,000, no noise, k = 9."""


TABLE_I = {
    "Isomap": (0.939, 0.940, 0.848, 0.845),
    "Kernel PCA": (0.625, 0.627, 0.769, 0.768),
    "Laplacian eigenmaps": (0.811, 0.814, 0.757, 0.748),
    "LLE": (0.783, 0.784, 0.866, 0.865),
    "LTSA": (0.856, 0.858, 0.898, 0.897),
    "MVU": (0.822, 0.823, 0.899, 0.898),
    "parallel projections": (0.982, 0.983, 0.992, 0.992),
}
"""Table I of the paper (lines 2876 to 2887): trustworthiness and continuity of the Swiss roll, then
of the Möbius strip. Diffusion maps, local linear coordination and charting are left out here."""

IMAGE_TRUST = {2: 0.851, 6: 0.953}
"""Trustworthiness of the Isomap faces by the dimension of the map (line 1929)."""
