"""What section 2.2 of the thesis reports of EAT; it prints no tables, only figures and remarks.

P. Khajehpour Tadavani, Nonlinear Dimensionality Reduction by Manifold Unfolding, PhD thesis,
University of Waterloo, 2013. The numbers of points are also in P. Khajehpour Tadavani and
A. Ghodsi, Learning an affine transformation for non-linear dimensionality reduction, ECML PKDD,
2010.
"""

from __future__ import annotations

__all__ = ["CLAIMS", "KERNELS", "POINTS"]

POINTS = {
    "v_shape": (28, 972),
    "swiss_roll": (50, 950),
    "isomap_faces": (35, 663),
    "half_globe": (181, 30_000),
    "kernels": (102, 1000),
}
"""Training and test points; how many images of Olivetti there were is not stated."""

CLAIMS = {
    "v_shape": "the third axis of Y carries no information; PCA and KPCA do not unfold",
    "swiss_roll": "test points of MVU and Isomap are not faithful, especially at the border",
    "isomap_faces": "the axes are pan and tilt; dark images are together",
    "olivetti": "chains of three persons; only EAT puts the fourth apart",
    "half_globe": "the pattern is kept, with distortion at the sides (sigma = 0.3)",
    "kernels": "degree 1 fails; sigma > 10 fails on training, sigma < 1 on test points",
    "thousand": "about 1,000 points are the limit",
}
"""Figures 2.2 to 2.8 and the conclusion, in words."""

KERNELS = {
    "degree 1": "not unfolded",
    **{f"degree {degree}": "both proper" for degree in range(2, 11)},
    "degree 2": "both proper (paper: not satisfactory)",
    "degree 3": "both proper (paper: not satisfactory)",
    **dict.fromkeys(("sigma 0.33", "sigma 0.5", "sigma 0.7"), "training proper, test fails"),
    **dict.fromkeys(("sigma 1", "sigma 2", "sigma 3", "sigma 5", "sigma 10"), "both proper"),
    **dict.fromkeys(("sigma 20", "sigma 50"), "not unfolded"),
}
"""Figures 2.7 and 2.8: training and test points by kernel, widths in mean distances of neighbors.

"Paper" is the article of 2010, which contradicts the thesis on degrees 2 and 3.
"""
