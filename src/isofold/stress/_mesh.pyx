# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""Points on a mesh: spread them on its nodes, and read a potential and its gradient at them.

Cubic B-splines carry the points. A mesh has three axes; those that a map does not use have one
node. Points come in the order of their slice (their cell along the first axis), and a thread writes
only to the slices that it owns. So every node adds up its points in one order, whatever the number
of threads.
"""


cdef inline void _weights(double t, double* w) noexcept nogil:
    """Write the cubic B-spline weights of an offset within a cell."""
    cdef double s = 1.0 - t
    w[0] = s * s * s / 6.0
    w[1] = (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0
    w[2] = (3.0 * s * s * s - 6.0 * s * s + 4.0) / 6.0
    w[3] = t * t * t / 6.0


cdef inline void _slopes(double t, double* g) noexcept nogil:
    """Write the derivatives of the weights."""
    cdef double s = 1.0 - t
    g[0] = -s * s / 2.0
    g[1] = (3.0 * t * t - 4.0 * t) / 2.0
    g[2] = (-3.0 * s * s + 4.0 * s) / 2.0
    g[3] = t * t / 2.0


def spread(Py_ssize_t low, Py_ssize_t high, const double[:, ::1] cells,
           const long long[::1] order, const long long[::1] starts, float[:, :, ::1] grid):
    """Add points to slices `low` to `high` of the mesh; those of slice i begin at `starts[i]`.

    `cells` holds the coordinates in units of the mesh. Two coordinates lie on the first and the
    last axis, since the last one is contiguous.
    """
    cdef Py_ssize_t p = cells.shape[1], m = starts.shape[0] - 1, q, i, a, b, c, r, s, t
    # Splines reach three slices on.
    cdef Py_ssize_t first = starts[low - 3 if low > 3 else 0], last = starts[min(high, m)]
    cdef Py_ssize_t n_middle = 4 if p == 3 else 1, n_last = 4 if p > 1 else 1
    cdef double wa[4]
    cdef double wb[4]
    cdef double wc[4]
    cdef double u, v
    cdef float* row
    wb[0] = wc[0] = 1.0
    with nogil:
        for q in range(first, last):
            i = order[q]
            a = <Py_ssize_t>cells[i, 0]
            b = c = 0
            _weights(cells[i, 0] - a, wa)
            if p == 3:
                b = <Py_ssize_t>cells[i, 1]
                _weights(cells[i, 1] - b, wb)
            if p > 1:
                c = <Py_ssize_t>cells[i, p - 1]
                _weights(cells[i, p - 1] - c, wc)
            for r in range(4):
                if a + r < low or a + r >= high:
                    continue
                u = wa[r]
                for s in range(n_middle):
                    v = u * wb[s]
                    row = &grid[a + r, b + s, c]
                    for t in range(n_last):
                        row[t] += <float>(v * wc[t])


def gather(Py_ssize_t first, Py_ssize_t last, const double[:, ::1] cells,
           const float[:, :, ::1] potential, double[:, ::1] gradient, double[::1] value):
    """Write the potential and its gradient, in units of the mesh, at rows `first` to `last`."""
    cdef Py_ssize_t p = cells.shape[1], i, a, b, c, r, s, t
    cdef Py_ssize_t n_middle = 4 if p == 3 else 1, n_last = 4 if p > 1 else 1
    cdef double wa[4]
    cdef double wb[4]
    cdef double wc[4]
    cdef double ga[4]
    cdef double gb[4]
    cdef double gc[4]
    cdef double total, da, db, dc, line, slope, plane, plane_b, plane_c, node
    cdef const float* row
    wb[0] = wc[0] = 1.0
    gb[0] = gc[0] = 0.0
    with nogil:
        for i in range(first, last):
            a = <Py_ssize_t>cells[i, 0]
            b = c = 0
            _weights(cells[i, 0] - a, wa)
            _slopes(cells[i, 0] - a, ga)
            if p == 3:
                b = <Py_ssize_t>cells[i, 1]
                _weights(cells[i, 1] - b, wb)
                _slopes(cells[i, 1] - b, gb)
            if p > 1:
                c = <Py_ssize_t>cells[i, p - 1]
                _weights(cells[i, p - 1] - c, wc)
                _slopes(cells[i, p - 1] - c, gc)
            total = da = db = dc = 0.0
            for r in range(4):
                plane = plane_b = plane_c = 0.0
                for s in range(n_middle):
                    line = slope = 0.0
                    row = &potential[a + r, b + s, c]
                    for t in range(n_last):
                        node = row[t]
                        line += wc[t] * node
                        slope += gc[t] * node
                    plane += wb[s] * line
                    plane_b += gb[s] * line
                    plane_c += wb[s] * slope
                total += wa[r] * plane
                da += ga[r] * plane
                db += wa[r] * plane_b
                dc += wa[r] * plane_c
            value[i] = total
            gradient[i, 0] = da
            if p == 3:
                gradient[i, 1] = db
            if p > 1:
                gradient[i, p - 1] = dc
