# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Inner products of neighbors, and the eigenvectors of many small matrices, each row by itself.

Matrices of ten rows are brought to tridiagonal form by reflections and diagonalized by implicit QL
steps (EISPACK's tql2), where a call of LAPACK would take more than twice as long.
"""

from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <algorithm>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <vector>

    #include "_wide.h"

    // Eight sums run side by side.
    static inline double dot(const double* a, const double* b, std::ptrdiff_t d) {
        double sums[8] = {};
        std::ptrdiff_t j = 0;
        for (; j + 8 <= d; j += 8)
            for (int l = 0; l < 8; ++l) sums[l] += a[j + l] * b[j + l];
        for (int l = 0; j < d; ++j, ++l) sums[l] += a[j] * b[j];
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
               ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }

    // Products of the offsets of k points and of a query from the first point.
    WIDE static void offset_products(const double* points, const std::int64_t* used,
                                     const double* query, std::ptrdiff_t k, std::ptrdiff_t d,
                                     double* offsets, double* products, double* along) {
        const double* const origin = points + used[0] * d;
        double* const target = offsets + k * d;
        for (std::ptrdiff_t i = 0; i < k; ++i)
            for (std::ptrdiff_t j = 0; j < d; ++j)
                offsets[i * d + j] = points[used[i] * d + j] - origin[j];
        for (std::ptrdiff_t j = 0; j < d; ++j) target[j] = query[j] - origin[j];
        for (std::ptrdiff_t i = 0; i < k; ++i) {
            along[i] = dot(offsets + i * d, target, d);
            for (std::ptrdiff_t o = 0; o <= i; ++o)
                products[i * k + o] = products[o * k + i] = dot(offsets + i * d, offsets + o * d, d);
        }
    }

    // Bring a symmetric matrix to tridiagonal form: the rows of the transposed basis in `basis`.
    static inline void tridiagonalize(double* matrix, std::ptrdiff_t k, double* basis,
                                      double* diagonal, double* beside, double* spare) {
        for (std::ptrdiff_t c = 0; c + 1 < k; ++c) {
            double* const v = matrix + c * k;
            double squares = 0.0;
            for (std::ptrdiff_t j = c + 2; j < k; ++j) squares += v[j] * v[j];
            beside[c] = v[c + 1];
            spare[c] = 0.0;
            diagonal[c] = v[c];
            if (squares == 0.0) continue;
            const double length = std::sqrt(v[c + 1] * v[c + 1] + squares);
            beside[c] = v[c + 1] > 0.0 ? -length : length;
            v[c + 1] -= beside[c];
            const double factor = spare[c] = 2.0 / (v[c + 1] * v[c + 1] + squares);
            // The columns of the rest, which is symmetric, are its rows.
            double* const w = spare + k;
            double half = 0.0;
            for (std::ptrdiff_t j = c + 1; j < k; ++j) w[j] = 0.0;
            for (std::ptrdiff_t i = c + 1; i < k; ++i)
                for (std::ptrdiff_t j = c + 1; j < k; ++j) w[j] += v[i] * matrix[i * k + j];
            for (std::ptrdiff_t j = c + 1; j < k; ++j) half += w[j] * v[j];
            half *= 0.5 * factor * factor;
            for (std::ptrdiff_t j = c + 1; j < k; ++j) w[j] = factor * w[j] - half * v[j];
            for (std::ptrdiff_t i = c + 1; i < k; ++i)
                for (std::ptrdiff_t j = c + 1; j < k; ++j)
                    matrix[i * k + j] -= v[i] * w[j] + w[i] * v[j];
        }
        diagonal[k - 1] = matrix[k * k - 1];
        beside[k - 1] = 0.0;
        std::fill(basis, basis + k * k, 0.0);
        for (std::ptrdiff_t i = 0; i < k; ++i) basis[i * k + i] = 1.0;
        for (std::ptrdiff_t c = k - 2; c >= 0; --c) {
            const double* const v = matrix + c * k;
            if (spare[c] == 0.0) continue;
            for (std::ptrdiff_t i = c + 1; i < k; ++i) {
                double* const row = basis + i * k;
                double product = 0.0;
                for (std::ptrdiff_t j = c + 1; j < k; ++j) product += row[j] * v[j];
                product *= spare[c];
                for (std::ptrdiff_t j = c + 1; j < k; ++j) row[j] -= product * v[j];
            }
        }
    }

    // Diagonalize a tridiagonal matrix; the rows of the basis become eigenvectors.
    static inline void diagonalize(std::ptrdiff_t k, double* basis, double* d, double* e) {
        const double eps = 2.220446049250313e-16;
        double shift = 0.0, largest = 0.0;
        for (std::ptrdiff_t l = 0; l < k; ++l) {
            largest = std::max(largest, std::fabs(d[l]) + std::fabs(e[l]));
            std::ptrdiff_t m = l;
            while (std::fabs(e[m]) > eps * largest) ++m;
            for (int turn = 0; m > l && turn < 60; ++turn) {
                double g = d[l], p = (d[l + 1] - g) / (2.0 * e[l]);
                double r = std::sqrt(p * p + 1.0);
                if (p < 0.0) r = -r;
                d[l] = e[l] / (p + r);
                d[l + 1] = e[l] * (p + r);
                const double next = d[l + 1], h = g - d[l], first = e[l + 1];
                for (std::ptrdiff_t i = l + 2; i < k; ++i) d[i] -= h;
                shift += h;
                p = d[m];
                double c = 1.0, c2 = 1.0, c3 = 1.0, s = 0.0, s2 = 0.0;
                for (std::ptrdiff_t i = m - 1; i >= l; --i) {
                    c3 = c2;
                    c2 = c;
                    s2 = s;
                    const double ce = c * e[i], cp = c * p;
                    r = std::sqrt(p * p + e[i] * e[i]);
                    e[i + 1] = s * r;
                    s = r > 0.0 ? e[i] / r : 0.0;
                    c = r > 0.0 ? p / r : 1.0;
                    p = c * d[i] - s * ce;
                    d[i + 1] = cp + s * (c * ce + s * d[i]);
                    double* const low = basis + i * k;
                    double* const high = low + k;
                    for (std::ptrdiff_t j = 0; j < k; ++j) {
                        const double kept = high[j];
                        high[j] = s * low[j] + c * kept;
                        low[j] = c * low[j] - s * kept;
                    }
                }
                p = next != 0.0 ? -s * s2 * c3 * first * e[l] / next : 0.0;
                e[l] = s * p;
                d[l] = c * p;
                if (!(std::fabs(e[l]) > eps * largest)) break;
            }
            d[l] += shift;
            e[l] = 0.0;
        }
    }

    // Eigenvalues in descending order, and eigenvectors as columns.
    WIDE static void decompose_one(const double* given, std::ptrdiff_t k, double* scratch,
                                   double* values, double* vectors) {
        double* const matrix = scratch;
        double* const basis = matrix + k * k;
        double* const beside = basis + k * k;
        double* const diagonal = beside + k;
        double* const spare = diagonal + k;
        double unit = 0.0;
        for (std::ptrdiff_t i = 0; i < k * k; ++i) unit = std::max(unit, std::fabs(given[i]));
        if (!(unit > 0.0)) unit = 1.0;
        for (std::ptrdiff_t i = 0; i < k * k; ++i) matrix[i] = given[i] / unit;
        tridiagonalize(matrix, k, basis, diagonal, beside, spare);
        diagonalize(k, basis, diagonal, beside);
        for (std::ptrdiff_t l = 0; l < k; ++l) {
            const std::ptrdiff_t at = std::max_element(diagonal, diagonal + k) - diagonal;
            values[l] = diagonal[at] * unit;
            for (std::ptrdiff_t i = 0; i < k; ++i) vectors[i * k + l] = basis[at * k + i];
            diagonal[at] = -INFINITY;
        }
    }
    """
    void offset_products(const double* points, const int64_t* used, const double* query,
                         Py_ssize_t k, Py_ssize_t d, double* offsets, double* products,
                         double* along) noexcept nogil
    void decompose_one(const double* given, Py_ssize_t k, double* scratch, double* values,
                       double* vectors) noexcept nogil

from libcpp.vector cimport vector


def multiply_offsets(const double[:, ::1] points, const int64_t[:, ::1] used,
                     const double[:, ::1] queries, double[:, :, ::1] products,
                     double[:, ::1] along):
    """Write the products of neighbors among themselves and with queries, all from the first."""
    cdef Py_ssize_t i, k = used.shape[1], d = points.shape[1]
    cdef vector[double] offsets
    with nogil:
        offsets.resize((k + 1) * d)
        for i in range(used.shape[0]):
            offset_products(&points[0, 0], &used[i, 0], &queries[i, 0], k, d, offsets.data(),
                            &products[i, 0, 0], &along[i, 0])


def decompose(const double[:, :, ::1] matrices, double[:, ::1] values, double[:, :, ::1] vectors):
    """Write the eigenvalues of symmetric matrices, descending, and their vectors as columns."""
    cdef Py_ssize_t i, k = matrices.shape[1]
    cdef vector[double] scratch
    with nogil:
        scratch.resize(2 * k * k + 5 * k)
        for i in range(matrices.shape[0]):
            decompose_one(&matrices[i, 0, 0], k, scratch.data(), &values[i, 0],
                          &vectors[i, 0, 0])
