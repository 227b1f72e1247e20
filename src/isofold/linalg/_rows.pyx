# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Products of rows with a matrix, in which every entry is summed from the first term to the last.

BLAS adds up in an order that depends on how many rows come together, on its threads and on where a
row lies in a block. Here tiles of rows and columns only decide what stays in registers: the sums of
an entry are the same in every tile, so that a row alone and a row among others agree to the bit.
"""

cdef extern from *:
    """
    #include <cstddef>

    #include "_wide.h"

    // A panel holds four columns of the matrix, term after term.
    static const std::ptrdiff_t COLUMNS = 4;

    template <int ROWS>
    static inline void tile_product(const double* rows, std::ptrdiff_t m, const double* panel,
                                    std::ptrdiff_t width, std::ptrdiff_t used, double* out) {
        Doubles4 sums[ROWS] = {};
        for (std::ptrdiff_t j = 0; j < m; ++j) {
            const Doubles4 terms = *(const Doubles4*)(panel + j * COLUMNS);
            for (int i = 0; i < ROWS; ++i) sums[i] += rows[i * m + j] * terms;
        }
        for (int i = 0; i < ROWS; ++i)
            for (std::ptrdiff_t k = 0; k < used; ++k) out[i * width + k] = sums[i][k];
    }

    WIDE_AVX2 static void panel_product(const double* rows, std::ptrdiff_t n, std::ptrdiff_t m,
                                        const double* panel, std::ptrdiff_t width,
                                        std::ptrdiff_t used, double* out) {
        std::ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4)
            tile_product<4>(rows + i * m, m, panel, width, used, out + i * width);
        for (; i < n; ++i)
            tile_product<1>(rows + i * m, m, panel, width, used, out + i * width);
    }
    """
    const Py_ssize_t COLUMNS
    void panel_product(const double* rows, Py_ssize_t n, Py_ssize_t m, const double* panel,
                       Py_ssize_t width, Py_ssize_t used, double* out) noexcept nogil


def multiply(const double[:, ::1] rows, const double[:, :, ::1] panels, double[:, ::1] out):
    """Write the products of rows (n × m) with panels (n_panels × m × 4) of a matrix to `out`."""
    cdef Py_ssize_t n = rows.shape[0], m = rows.shape[1], width = out.shape[1]
    cdef Py_ssize_t first, begin, end, p, used
    if n == 0 or m == 0 or width == 0:
        return
    # So many rows at a time stay in the cache while all panels pass by.
    cdef Py_ssize_t block = max(4, 32768 // m // 4 * 4)
    with nogil:
        begin = 0
        while begin < n:
            end = begin + block if begin + block < n else n
            for p in range(panels.shape[0]):
                first = p * COLUMNS
                used = COLUMNS if first + COLUMNS <= width else width - first
                panel_product(&rows[begin, 0], end - begin, m, &panels[p, 0, 0], width, used,
                              &out[begin, first])
            begin = end
