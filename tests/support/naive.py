"""Quality measures as their definitions read: double loops, no blocks, no tricks."""

from __future__ import annotations

import numpy as np


def distances(X):
    return np.array([[np.sqrt(np.sum((a - b) ** 2)) for b in X] for a in X])


def ranks(X):
    """r[i, j] = 1 for the nearest other point of i, ties by index; r[i, i] = 0."""
    D = distances(X)
    n = len(D)
    r = np.zeros((n, n), dtype=int)
    for i in range(n):
        others = sorted((D[i, j], j) for j in range(n) if j != i)
        for position, (_, j) in enumerate(others):
            r[i, j] = position + 1
    return r


def trustworthiness(X, Y, k):
    rx, ry = ranks(X), ranks(Y)
    n = len(X)
    total = 0
    for i in range(n):
        for j in range(n):
            if j != i and ry[i, j] <= k and rx[i, j] > k:
                total += rx[i, j] - k
    return 1 - 2 / (n * k * (2 * n - 3 * k - 1)) * total


def neighbor_error(X, Y, k):
    rx, ry = ranks(X), ranks(Y)
    n = len(X)
    common = sum(
        1 for i in range(n) for j in range(n) if j != i and rx[i, j] <= k and ry[i, j] <= k
    )
    return 1 - common / (k * n)


def mrre(X, Y, k, *, neighbors_of):
    rx, ry = ranks(X), ranks(Y)
    own = rx if neighbors_of == "input" else ry
    n = len(X)
    total = 0.0
    for i in range(n):
        for j in range(n):
            if j != i and own[i, j] <= k:
                total += abs(rx[i, j] - ry[i, j]) / own[i, j]
    beta = n * sum(abs(n + 1 - 2 * a) / a for a in range(1, k + 1))
    return total / beta


def rnx(X, Y):
    """Curve R_NX(K) for K = 1 … n − 2."""
    rx, ry = ranks(X), ranks(Y)
    n = len(X)
    curve = []
    for size in range(1, n - 1):
        common = np.sum((rx >= 1) & (rx <= size) & (ry >= 1) & (ry <= size))
        curve.append(((n - 1) * common / (size * n) - size) / (n - 1 - size))
    return np.array(curve)


def procrustes_measure(X, Y, k, *, normalized):
    """Mean over points of the misfit after an explicitly constructed best motion."""
    rx = ranks(X)
    values = []
    for i in range(len(X)):
        members = [j for j in range(len(X)) if rx[i, j] <= k]
        A, B = X[members] - X[members].mean(0), Y[members] - Y[members].mean(0)
        U, _, Vt = np.linalg.svd(B.T @ A, full_matrices=False)
        misfit = sum(np.sum((a - b @ (U @ Vt)) ** 2) for a, b in zip(A, B, strict=True))
        values.append(misfit / np.sum(A**2) if normalized else misfit)
    return np.mean(values)


def upper(D):
    return D[np.triu_indices(len(D), 1)]
