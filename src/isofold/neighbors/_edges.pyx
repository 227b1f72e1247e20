# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Directed edges become edges, edges a matrix or components: a few passes over all of them."""

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <cstdint>

    // The other end of a directed edge, and where it is listed.
    struct Arrow {
        std::int32_t end;
        std::int32_t forward;
        std::int64_t at;
    };
    static inline bool operator<(const Arrow& a, const Arrow& b) {
        return a.end < b.end || (a.end == b.end && a.at < b.at);
    }
    """
    cppclass Arrow:
        int32_t end
        int32_t forward
        int64_t at

cdef extern from "<algorithm>" namespace "std" nogil:
    void sort(Arrow* first, Arrow* last)

ctypedef fused Real:
    float
    double


def merge(Py_ssize_t n_nodes, const int64_t[::1] tails, const int64_t[::1] heads,
          const Real[::1] lengths, int64_t[:, ::1] edges, Real[::1] shortest,
          unsigned char[::1] in_both):
    """Write every edge once, in order, with its shortest length; return how many there are."""
    cdef Py_ssize_t i, j, first, last, n = tails.shape[0], found = 0
    cdef int64_t low
    cdef bint forward, back
    cdef vector[int64_t] ends
    cdef vector[Arrow] arrows
    cdef Arrow arrow
    with nogil:
        ends.assign(n_nodes + 1, 0)
        arrows.resize(n)
        for i in range(n):
            low = tails[i] if tails[i] < heads[i] else heads[i]
            ends[low + 1] += 1
        for i in range(n_nodes):
            ends[i + 1] += ends[i]
        for i in range(n):
            arrow.forward = tails[i] < heads[i]
            low, arrow.end = tails[i], <int32_t> heads[i]
            if not arrow.forward:
                low, arrow.end = heads[i], <int32_t> tails[i]
            arrow.at = i
            arrows[ends[low]] = arrow
            ends[low] += 1
        # Each end has moved to that of its node.
        for i in range(n_nodes):
            first = ends[i - 1] if i > 0 else 0
            last = ends[i]
            sort(arrows.data() + first, arrows.data() + last)
            while first < last:
                edges[found, 0], edges[found, 1] = i, arrows[first].end
                shortest[found] = lengths[arrows[first].at]
                forward = back = False
                j = first
                while j < last and arrows[j].end == arrows[first].end:
                    forward = forward or arrows[j].forward
                    back = back or not arrows[j].forward
                    if lengths[arrows[j].at] < shortest[found]:
                        shortest[found] = lengths[arrows[j].at]
                    j += 1
                in_both[found] = forward and back
                found += 1
                first = j
    return found


def symmetric(const int64_t[:, ::1] edges, const Real[::1] values, int64_t[::1] starts,
              int64_t[::1] columns, Real[::1] both):
    """Write the matrix with a value at (i, j) and (j, i) for every edge i < j, in order, row by row."""
    cdef Py_ssize_t i, side, n_nodes = starts.shape[0] - 1, n = edges.shape[0]
    cdef int64_t row, column, at
    cdef vector[int64_t] ends
    with nogil:
        ends.assign(n_nodes + 1, 0)
        for i in range(n):
            ends[edges[i, 0] + 1] += 1
            ends[edges[i, 1] + 1] += 1
        for i in range(n_nodes):
            ends[i + 1] += ends[i]
        for i in range(n_nodes + 1):
            starts[i] = ends[i]
        # The smaller ends of a row come first: edges in order list each kind in order.
        for side in range(2):
            for i in range(n):
                row, column = edges[i, 1 - side], edges[i, side]
                at = ends[row]
                ends[row] += 1
                columns[at], both[at] = column, values[i]


def components(const int64_t[:, ::1] edges, int64_t[::1] labels):
    """Write the connected component of every node, numbered by first node; return their number."""
    cdef Py_ssize_t i, n_nodes = labels.shape[0], count = 0
    cdef int64_t a, b
    cdef vector[int64_t] parents
    with nogil:
        parents.resize(n_nodes)
        for i in range(n_nodes):
            parents[i] = i
        for i in range(edges.shape[0]):
            a, b = edges[i, 0], edges[i, 1]
            while parents[a] != a:
                parents[a] = parents[parents[a]]
                a = parents[a]
            while parents[b] != b:
                parents[b] = parents[parents[b]]
                b = parents[b]
            # A root is the first node of its component.
            if a < b:
                parents[b] = a
            else:
                parents[a] = b
        for i in range(n_nodes):
            if parents[i] == i:
                labels[i] = count
                count += 1
            else:
                labels[i] = labels[parents[i]]
    return count
