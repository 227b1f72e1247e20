"""What chapter 5 of the thesis and the paper on GOoSE report.

H. Strange, Piecewise-Linear Manifold Learning, PhD thesis, Aberystwyth University, 2011;
H. Strange and R. Zwiggelaar, A generalised solution to the out-of-sample extension problem in
manifold learning, AAAI, 2011. Errors are root mean squares in the unit of each map, see
`isofold.quality.out_of_sample_error` (equation 5.13).
"""

from __future__ import annotations

__all__ = ["BEST_NEIGHBORS", "BUILT_IN", "FIGURE_5_5", "GOOSE", "PLML_FIGURES", "TABLE_5_1"]

TABLE_5_1 = {
    "Isomap": ("0.273 ± 0.01", "0.138 ± 0.01"),
    "LLE": ("0.014 ± 0.00", "0.000 ± 0.00"),
    "LTSA": ("0.022 ± 0.00", "0.000 ± 0.00"),
    "PCA": ("0.319 ± 0.03", "0.085 ± 0.01"),
    "PLML": ("0.308 ± 0.10", "0.085 ± 0.01"),
}
"""Swiss roll, ten folds: Yang (ridge 1e-4, sigma 10) and GOoSE with 10 neighbors."""

FIGURE_5_5 = {"Bengio": 0.4256, "Yang": 0.4210, "GOoSE": 0.3736}
"""Isomap with 12 neighbors, 1,500 points to learn from, 500 to place."""

PLML_FIGURES = {"Yang": 0.3303, "GOoSE": 0.0866}
"""Figures 5.6 and 5.7: PLML with k = 9; Yang with sigma 2."""

BEST_NEIGHBORS = {"thesis": "10 ± 2, on the true sheet", "paper": "7 ± 2, on a map of LTSA"}
"""1,000 points to learn from, 1,000 to place, ten runs, k = 3 to 19."""

GOOSE = {"Swiss roll": "0.0002 (sd 0.0001)", "faces": "0.0048 (sd 0.0026)"}
BUILT_IN = {"Swiss roll": "0.0043 (sd 0.0044)", "faces": "0.0144 (sd 0.0052)"}
"""The paper's means over LLE, LTSA, Laplacian eigenmaps and LGRM, ten folds; GOoSE with the best
number of neighbors in each fold."""
