# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Solutions with LDLᵀ factors for several right-hand sides: each entry of L is read once for all.

Every column sees the operations of a solution of its own, in their order, so that its bits do not
depend on the columns beside it.
"""

import numpy as np

from libc.stdint cimport int32_t

cdef extern from *:
    """
    #include <cstddef>
    #include <cstdint>

    #include "_wide.h"

    static const std::ptrdiff_t COLUMNS = 8;

    WIDE static void forward_rows(std::ptrdiff_t n, const std::int32_t* indptr,
                                  const std::int32_t* indices, const double* entries,
                                  const double* inverse, double* rows) {
        Doubles8* x = (Doubles8*)rows;
        for (std::ptrdiff_t j = 0; j < n; ++j) {
            const Doubles8 pivot = x[j];
            for (std::int32_t t = indptr[j]; t < indptr[j + 1]; ++t)
                x[indices[t]] -= entries[t] * pivot;
        }
        for (std::ptrdiff_t j = 0; j < n; ++j) x[j] = inverse[j] * x[j];
    }

    WIDE static void backward_rows(std::ptrdiff_t n, const std::int32_t* indptr,
                                   const std::int32_t* indices, const double* entries,
                                   double* rows) {
        Doubles8* x = (Doubles8*)rows;
        for (std::ptrdiff_t j = n - 1; j >= 0; --j) {
            Doubles8 sum = x[j];
            for (std::int32_t t = indptr[j]; t < indptr[j + 1]; ++t)
                sum -= entries[t] * x[indices[t]];
            x[j] = sum;
        }
    }
    """
    const Py_ssize_t COLUMNS
    void forward_rows(Py_ssize_t n, const int32_t* indptr, const int32_t* indices,
                      const double* entries, const double* inverse, double* rows) noexcept nogil
    void backward_rows(Py_ssize_t n, const int32_t* indptr, const int32_t* indices,
                       const double* entries, double* rows) noexcept nogil


def forward(const int32_t[::1] indptr, const int32_t[::1] indices, const double[::1] entries,
            const double[::1] inverse, double[:, ::1] rows):
    """Put D⁻¹L⁻¹B in the place of eight columns B, with the strict L in columns and D⁻¹."""
    if rows.shape[1] != COLUMNS or indptr.shape[0] != rows.shape[0] + 1:
        raise ValueError("eight columns, a row for every pivot")
    if indices.shape[0] == 0:
        np.multiply(rows, np.asarray(inverse)[:, None], out=np.asarray(rows))
        return
    with nogil:
        forward_rows(rows.shape[0], &indptr[0], &indices[0], &entries[0], &inverse[0],
                     &rows[0, 0])


def backward(const int32_t[::1] indptr, const int32_t[::1] indices, const double[::1] entries,
             double[:, ::1] rows):
    """Put L⁻ᵀB in the place of eight columns B."""
    if rows.shape[1] != COLUMNS or indptr.shape[0] != rows.shape[0] + 1:
        raise ValueError("eight columns, a row for every pivot")
    if indices.shape[0] == 0:
        return
    with nogil:
        backward_rows(rows.shape[0], &indptr[0], &indices[0], &entries[0], &rows[0, 0])
