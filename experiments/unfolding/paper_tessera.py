"""What the thesis says of TesseraMap, as printed.

P. Khajehpour Tadavani, Nonlinear Dimensionality Reduction by Manifold Unfolding, PhD thesis,
University of Waterloo, 2013, chapter 3 and section 5.2.1. Tables 4.4 and 4.5 are in
`experiments.ldlc.paper`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["TABLE_3_1", "Printed", "printed_time"]


@dataclass(frozen=True)
class Printed:
    """A row of Table 3.1.

    Attributes
    ----------
    n_train, n_test : int
        Number of points.
    n_clusters : int or None
        Number of tesserae; None: each point by itself.
    seconds : float
        TesseraMap, apparently without the clustering.
    fast_mvu : float or None
        Seconds of Fast MVU.
    """

    n_train: int
    n_test: int
    n_clusters: int | None
    seconds: float
    fast_mvu: float | None


TABLE_3_1 = {
    "dual spiral": Printed(350, 5_000, None, 57, None),
    "Swiss roll": Printed(30_000, 20_000, 108, 118, 174),
    "cities": Printed(15_000, 30_000, 84, 32, 128),
    "Frey faces": Printed(965, 1_000, 36, 4, 59),
    "digits": Printed(3_000, 20_975, 19, 6, None),
}
"""Affinity propagation with the median preference chose the numbers of tesserae."""

SPIRAL_WIDTH = {"TesseraMap": 2.0, "Isomap": 4.0}
"""Width of the dual spiral's map, truly 2 (section 3.2.1)."""

ROLL_WIDTH = {"TesseraMap": "20", "Fast MVU": "2 to 8"}
"""Width of the Swiss roll's map, truly 20 (section 3.2.2)."""


def printed_time(name: str, method: str) -> str:
    """Return the seconds that the thesis has for a method whose name begins so, or a dash."""
    row = TABLE_3_1[name]
    if method.startswith("TesseraMap"):
        return f"{row.seconds:g}"
    if method.startswith("Fast MVU") and row.fast_mvu is not None:
        return f"{row.fast_mvu:g}"
    return "-"
