"""Kernel functions beside their formulas."""

import numpy as np

from isofold.similarity.kernel_function import KernelFunction

KERNELS = {
    "rbf": (KernelFunction("rbf", gamma=0.7), lambda x, y: np.exp(-0.7 * np.sum((x - y) ** 2))),
    "poly": (
        KernelFunction("poly", gamma=0.5, degree=3, coef0=2.0),
        lambda x, y: (0.5 * x @ y + 2.0) ** 3,
    ),
    "linear": (KernelFunction("linear"), lambda x, y: x @ y),
    "callable": (
        KernelFunction(lambda X, Y: np.tanh(X @ Y.T)),
        lambda x, y: np.tanh(x @ y),
    ),
}


def points(seed, n=12, d=3):
    return np.random.default_rng(seed).standard_normal((n, d))
