"""Tables 4.1 to 4.5 of the thesis as printed.

P. Khajehpour Tadavani, Nonlinear Dimensionality Reduction by Manifold Unfolding, PhD thesis,
University of Waterloo, 2013, chapter 4. How errors are normalized is not stated there.
"""

from __future__ import annotations

__all__ = ["FREY", "FREY_CLUSTERS", "MNIST", "MNIST_PATCHES", "SWISS_ROLL", "WINE"]

Table = dict[str, dict[str, float]]

WINE: Table = {
    "LDLC": {"error": 2.8722, "purity": 0.9045, "NMI": 0.7222},
    "MPPCA": {"error": 2.8793, "purity": 0.8202, "NMI": 0.6465},
    "VQPCA": {"error": 2.8295, "purity": 0.5618, "NMI": 0.2779},
}
"""Table 4.1."""

MNIST: Table = {
    "LDLC": {"error": 51.2, "purity": 0.972, "NMI": 0.7257},
    "MPPCA": {"error": 51.4, "purity": 0.956, "NMI": 0.6898},
    "VQPCA": {"error": 51.3, "purity": 0.908, "NMI": 0.6390},
}
"""Table 4.2."""

FREY_CLUSTERS = range(2, 11)
FREY: dict[str, tuple[int, ...]] = {
    "MPPCA": (1, 0, 1, 0, 1, 0, 1, 1, 2),
    "VQPCA": (1, 2, 0, 1, 2, 2, 0, 5, 5),
    "LDLC, rho = 0.01": (0, 0, 0, 0, 0, 1, 1, 1, 0),
    "LDLC, rho = 0.05": (0, 0, 0, 0, 0, 1, 0, 1, 0),
    "LDLC, rho = 0.1": (0, 0, 0, 0, 0, 0, 0, 0, 0),
}
"""Table 4.3: clusters in several pieces, by the number of clusters."""

_PATCH_MEASURES = ("seconds", "error", "loss", "preservation error", "stretch")

SWISS_ROLL: Table = {
    method: dict(zip(_PATCH_MEASURES, values, strict=True))
    for method, values in {
        "LDLC": (0.5458, 0.0168, 0.0001, 0.0006, 7.3329),
        "affinity propagation": (50.8374, 0.0612, 0.0002, 0.0043, 7.0606),
        "k-means": (0.0535, 0.0532, 0.0005, 0.0071, 7.0098),
        "geodesic k-medoids": (0.0128, 0.0680, 0.0007, 0.0104, 6.9612),
        "MPPCA": (8.7535, 0.0248, 0.0127, 0.0133, 4.0455),
        "VQPCA": (1.0328, 0.0072, 0.1942, 0.5979, 0.7245),
    }.items()
}
"""Table 4.4, with TesseraMap."""

MNIST_PATCHES: Table = {
    method: dict(zip((*_PATCH_MEASURES, "purity", "NMI", "rank"), values, strict=True))
    for method, values in {
        "LDLC": (3.7784, 17.4234, 0.0312, 0.7726, 3.4705, 0.9850, 0.5111, 11),
        "affinity propagation": (19.2738, 18.3383, 0.0888, 0.8305, 1.9493, 0.9577, 0.4677, 56),
        "k-means": (3.3733, 17.7434, 0.0501, 0.8060, 2.8490, 0.9740, 0.4872, 30),
        "geodesic k-medoids": (0.0419, 18.4624, 0.1544, 0.7778, 1.1596, 0.9753, 0.4985, 81),
        "MPPCA": (11.1600, 17.4607, 0.0715, 0.7906, 1.5899, 0.9547, 0.4964, 12),
        "VQPCA": (4.4502, 17.3032, 0.0652, 0.7584, 1.8359, 0.9630, 0.4921, 11),
    }.items()
}
"""Table 4.5, with TesseraMap."""
