# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""LDLᵀ of a sparse symmetric matrix by dense fronts (multifrontal), without pivoting.

Columns that are eliminated together share their rows: a panel, stored column by column, with the
pivots on its diagonal and unit lower L below. What a panel leaves to later columns is its update,
a dense lower triangle that the parent panel adds to its own. Every entry is summed in an order that
the tree alone decides, whatever registers the processor has: no step is fused.
"""

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <algorithm>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <vector>

    #include "_wide.h"

    static const std::ptrdiff_t LANES = 8;
    static const std::ptrdiff_t COLUMNS = 4;
    static const std::ptrdiff_t BLOCK = 48;

    // T -= B D B' for the lower triangle of so many columns: rows and columns of T start where
    // those of B do, and D lies on the diagonal of the columns of B.
    WIDE static void subtract(const double* B, const double* D, std::ptrdiff_t m,
                              std::ptrdiff_t terms, double* T, std::ptrdiff_t ld,
                              std::ptrdiff_t n_rows, std::ptrdiff_t n_columns) {
        double factors[BLOCK * COLUMNS];
        for (std::ptrdiff_t j = 0; j < n_columns; j += COLUMNS) {
            const std::ptrdiff_t used = std::min(COLUMNS, n_columns - j);
            for (std::ptrdiff_t k = 0; k < terms; ++k)
                for (std::ptrdiff_t q = 0; q < COLUMNS; ++q)
                    factors[k * COLUMNS + q] = q < used ? D[k * (m + 1)] * B[k * m + j + q] : 0.0;
            std::ptrdiff_t i = j;
            for (; i + LANES <= n_rows; i += LANES) {
                Doubles8 sums[COLUMNS] = {};
                for (std::ptrdiff_t k = 0; k < terms; ++k) {
                    const Doubles8 rows = *(const Doubles8*)(B + k * m + i);
                    for (std::ptrdiff_t q = 0; q < COLUMNS; ++q)
                        sums[q] += rows * factors[k * COLUMNS + q];
                }
                for (std::ptrdiff_t q = 0; q < used; ++q)
                    *(Doubles8*)(T + (j + q) * ld + i) -= sums[q];
            }
            for (; i < n_rows; ++i)
                for (std::ptrdiff_t q = 0; q < used; ++q) {
                    double sum = 0.0;
                    for (std::ptrdiff_t k = 0; k < terms; ++k)
                        sum += B[k * m + i] * factors[k * COLUMNS + q];
                    T[(j + q) * ld + i] -= sum;
                }
        }
    }

    // Eliminate the columns of a panel of m rows; false if a pivot is zero.
    WIDE static bool eliminate(double* panel, std::ptrdiff_t m, std::ptrdiff_t width,
                               double* update) {
        const std::ptrdiff_t below = m - width;
        for (std::ptrdiff_t begin = 0; begin < width; begin += BLOCK) {
            const std::ptrdiff_t end = std::min(begin + BLOCK, width);
            for (std::ptrdiff_t k = begin; k < end; ++k) {
                double* column = panel + k * m;
                const double pivot = column[k];
                if (pivot == 0.0) return false;
                for (std::ptrdiff_t j = k + 1; j < end; ++j) {
                    const double factor = column[j] / pivot;
                    double* other = panel + j * m;
                    for (std::ptrdiff_t i = j; i < m; ++i) other[i] -= column[i] * factor;
                }
                for (std::ptrdiff_t i = k + 1; i < m; ++i) column[i] /= pivot;
            }
            const double* D = panel + begin * (m + 1);
            subtract(panel + begin * m + end, D, m, end - begin, panel + end * (m + 1), m, m - end,
                     width - end);
            subtract(panel + begin * m + width, D, m, end - begin, update, below, below, below);
        }
        return true;
    }

    // Add the update of a child at the places of its rows in the parent.
    static void extend(const double* child, std::ptrdiff_t n, const std::int32_t* places,
                       double* panel, std::ptrdiff_t m, std::ptrdiff_t width, double* update) {
        const std::ptrdiff_t below = m - width;
        for (std::ptrdiff_t j = 0; j < n; ++j) {
            const std::ptrdiff_t column = places[j];
            double* to = column < width ? panel + column * m
                                        : update + (column - width) * below - width;
            const double* from = child + j * n;
            for (std::ptrdiff_t i = j; i < n; ++i) to[places[i]] += from[i];
        }
    }

    // Solve with unit lower L and D, then with its transpose, for one right side in the rows of the
    // panel. Sums over rows are taken in eight fixed strands.
    WIDE static void forward(const double* panel, std::ptrdiff_t m, std::ptrdiff_t width,
                             double* x) {
        for (std::ptrdiff_t k = 0; k < width; ++k) {
            const double* column = panel + k * m;
            const double factor = x[k];
            for (std::ptrdiff_t i = k + 1; i < m; ++i) x[i] -= column[i] * factor;
        }
    }

    WIDE static void backward(const double* panel, std::ptrdiff_t m, std::ptrdiff_t width,
                              double* x) {
        for (std::ptrdiff_t k = width - 1; k >= 0; --k) {
            const double* column = panel + k * m;
            double strands[LANES] = {};
            std::ptrdiff_t i = k + 1;
            for (; i + LANES <= m; i += LANES)
                for (std::ptrdiff_t l = 0; l < LANES; ++l)
                    strands[l] += column[i + l] * x[i + l];
            double sum = 0.0;
            for (; i < m; ++i) sum += column[i] * x[i];
            for (std::ptrdiff_t l = 0; l < LANES; ++l) sum += strands[l];
            x[k] = x[k] / column[k] - sum;
        }
    }
    """
    bint eliminate(double* panel, Py_ssize_t m, Py_ssize_t width, double* update) noexcept nogil
    void extend(const double* child, Py_ssize_t n, const int32_t* places, double* panel,
                Py_ssize_t m, Py_ssize_t width, double* update) noexcept nogil
    void forward(const double* panel, Py_ssize_t m, Py_ssize_t width, double* x) noexcept nogil
    void backward(const double* panel, Py_ssize_t m, Py_ssize_t width, double* x) noexcept nogil


def factor(const double[::1] data, const int32_t[::1] indices, const int32_t[::1] indptr,
           const int32_t[::1] order, const int32_t[::1] place, const int32_t[::1] columns,
           const int32_t[::1] rows, const int64_t[::1] row_starts, const int32_t[::1] parent,
           const int64_t[::1] panel_starts, double[::1] panels):
    """Write the panels of LDLᵀ; return whether no pivot was zero.

    Panel s eliminates columns[s] to columns[s + 1], and its rows begin with these.
    """
    cdef Py_ssize_t n_panels = parent.shape[0], n = order.shape[0]
    cdef Py_ssize_t s, i, j, k, m, width, below, child, row, n_child
    cdef double* panel
    cdef bint fits = True
    cdef vector[vector[double]] updates
    cdef vector[int32_t] first_child, next_child, local, places
    with nogil:
        updates.resize(n_panels)
        first_child.assign(n_panels, -1)
        next_child.assign(n_panels, -1)
        local.assign(n, 0)
        places.assign(n, 0)
        # Backwards, so that children are added in ascending order.
        for s in range(n_panels - 1, -1, -1):
            if parent[s] >= 0:
                next_child[s] = first_child[parent[s]]
                first_child[parent[s]] = <int32_t> s
        for s in range(n_panels):
            m = row_starts[s + 1] - row_starts[s]
            width = columns[s + 1] - columns[s]
            below = m - width
            panel = &panels[panel_starts[s]]
            for i in range(m * width):
                panel[i] = 0.0
            for i in range(m):
                local[rows[row_starts[s] + i]] = <int32_t> i
            for j in range(width):
                k = order[columns[s] + j]
                for i in range(indptr[k], indptr[k + 1]):
                    row = place[indices[i]]
                    if row >= columns[s] + j:
                        panel[j * m + local[row]] += data[i]
            updates[s].assign(below * below, 0.0)
            child = first_child[s]
            while child >= 0:
                k = row_starts[child] + columns[child + 1] - columns[child]
                n_child = row_starts[child + 1] - k
                for i in range(n_child):
                    places[i] = local[rows[k + i]]
                extend(updates[child].data(), n_child, places.data(), panel, m, width,
                       updates[s].data())
                vector[double]().swap(updates[child])
                child = next_child[child]
            if not eliminate(panel, m, width, updates[s].data()):
                fits = False
                break
    return fits


def solve(const double[::1] panels, const int32_t[::1] columns, const int32_t[::1] rows,
          const int64_t[::1] row_starts, const int64_t[::1] panel_starts, double[:, ::1] right):
    """Solve in place for every row of `right`, in the order of elimination."""
    cdef Py_ssize_t n_panels = columns.shape[0] - 1, n_right = right.shape[0]
    cdef Py_ssize_t s, c, i, m, width, begin, step
    cdef vector[double] x
    with nogil:
        x.resize(right.shape[1] + 1)
        for step in range(2 * n_panels):
            s = step if step < n_panels else 2 * n_panels - 1 - step
            begin = row_starts[s]
            m = row_starts[s + 1] - begin
            width = columns[s + 1] - columns[s]
            for c in range(n_right):
                for i in range(m):
                    x[i] = right[c, rows[begin + i]]
                if step < n_panels:
                    forward(&panels[panel_starts[s]], m, width, x.data())
                    for i in range(m):
                        right[c, rows[begin + i]] = x[i]
                else:
                    backward(&panels[panel_starts[s]], m, width, x.data())
                    for i in range(width):
                        right[c, rows[begin + i]] = x[i]


def row_sums(const double[::1] panels, const int32_t[::1] columns, const int32_t[::1] rows,
             const int64_t[::1] row_starts, const int64_t[::1] panel_starts, double[::1] sums):
    """Write the row sums of |L||D||Lᵀ|."""
    cdef Py_ssize_t s, i, k, m, width, begin
    cdef const double* column
    cdef double inner
    with nogil:
        for s in range(columns.shape[0] - 1):
            begin = row_starts[s]
            m = row_starts[s + 1] - begin
            width = columns[s + 1] - columns[s]
            for k in range(width):
                column = &panels[panel_starts[s] + k * m]
                inner = 1.0
                for i in range(k + 1, m):
                    inner += column[i] if column[i] >= 0.0 else -column[i]
                inner *= column[k] if column[k] >= 0.0 else -column[k]
                sums[rows[begin + k]] += inner
                for i in range(k + 1, m):
                    sums[rows[begin + i]] += inner * (column[i] if column[i] >= 0.0 else -column[i])
