# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Sums of products of rows by groups: a few products an entry, so compiled."""

from libc.stdint cimport int64_t

import numpy as np


def group_moments(
    const double[:, ::1] rows,
    const int64_t[::1] left,
    const int64_t[::1] right,
    const double[::1] weights,
    const int64_t[::1] groups,
    Py_ssize_t n_groups,
):
    """Return Σ w pᵢpⱼᵀ over the entries of every group, added in their order.

    Parameters
    ----------
    rows : ndarray of shape (n, side)
        The rows p.
    left, right : ndarray of shape (n_entries,)
        The rows i and j of every entry.
    weights, groups : ndarray of shape (n_entries,)
        The weight of every entry, and the group to which it counts.
    n_groups : int
        How many groups there are.
    """
    cdef Py_ssize_t side = rows.shape[1], e, a, b
    cdef double[:, :, ::1] moments = np.zeros((n_groups, side, side))
    cdef const double* p
    cdef const double* q
    cdef double* sums
    with nogil:
        for e in range(left.shape[0]):
            p, q = &rows[left[e], 0], &rows[right[e], 0]
            sums = &moments[groups[e], 0, 0]
            for a in range(side):
                for b in range(side):
                    sums[a * side + b] += weights[e] * (p[a] * q[b])
    return np.asarray(moments)
