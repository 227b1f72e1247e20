# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Parts of a network that a mirror at a line or a plane hardly disturbs.

A mirror is given by d nodes, its hinge. If node i is mirrored and its neighbor j is not, their
squared distance changes by 4 h_i h_j, with h their heights above the hinge. Ranges that this
changes little hold nothing. A flap is what is joined, without such ranges, to a neighbor of the
hinge, if that is a small part without anchors. Compiled, since there are many hinges and most
parts are found to be large.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t
from libcpp.vector cimport vector

import numpy as np

cdef enum:
    SMALL = 1
    LARGE = 2


cdef class FlapSearch:
    """Flaps of one layout.

    Parameters
    ----------
    places : ndarray of shape (n_nodes, 2) or (n_nodes, 3)
        The layout.
    indptr, indices : ndarray of int64
        Rows and columns of the symmetric adjacency matrix.
    ranges, weights : ndarray of float64
        Its values, and the weights of their squared errors.
    is_fixed : ndarray of uint8
        Whether each node is an anchor.
    """

    cdef const double[:, ::1] places
    cdef const int64_t[::1] indptr
    cdef const int64_t[::1] indices
    cdef const double[::1] ranges
    cdef const double[::1] weights
    cdef const unsigned char[::1] is_fixed
    cdef vector[int64_t] seen_in
    cdef vector[unsigned char] kind
    cdef vector[int64_t] members
    cdef int64_t turn
    cdef double origin[3]
    cdef double normal[3]
    cdef double cost

    def __init__(self, const double[:, ::1] places, const int64_t[::1] indptr,
                 const int64_t[::1] indices, const double[::1] ranges, const double[::1] weights,
                 const unsigned char[::1] is_fixed):
        self.places, self.indptr, self.indices = places, indptr, indices
        self.ranges, self.weights, self.is_fixed = ranges, weights, is_fixed
        self.seen_in.assign(places.shape[0], -1)
        self.kind.assign(places.shape[0], 0)

    cdef bint _set_mirror(self, const int64_t* hinge, double least) noexcept nogil:
        """Set the mirror through the nodes of a hinge; refuse one that is too short."""
        cdef int64_t d = self.places.shape[1], k
        cdef double a[3]
        cdef double b[3]
        cdef double length = 0.0
        for k in range(d):
            self.origin[k] = self.places[hinge[0], k]
            a[k] = self.places[hinge[1], k] - self.origin[k]
            b[k] = self.places[hinge[2], k] - self.origin[k] if d == 3 else 0.0
        if d == 2:
            self.normal[0], self.normal[1] = -a[1], a[0]
        else:
            self.normal[0] = a[1] * b[2] - a[2] * b[1]
            self.normal[1] = a[2] * b[0] - a[0] * b[2]
            self.normal[2] = a[0] * b[1] - a[1] * b[0]
        for k in range(d):
            length += self.normal[k] * self.normal[k]
        length = sqrt(length)
        if length < (least if d == 2 else least * least):
            return False
        for k in range(d):
            self.normal[k] /= length
        return True

    cdef double _height(self, int64_t node) noexcept nogil:
        cdef double height = 0.0
        cdef int64_t k
        for k in range(self.places.shape[1]):
            height += (self.places[node, k] - self.origin[k]) * self.normal[k]
        return height

    cdef double _price(self, int64_t node, double height, int64_t entry) noexcept nogil:
        """Return what the energy of a range grows by if only its first node is mirrored."""
        cdef int64_t other = self.indices[entry], k
        cdef double square = 0.0, step, before, after
        for k in range(self.places.shape[1]):
            step = self.places[node, k] - self.places[other, k]
            square += step * step
        before = sqrt(square) - self.ranges[entry]
        square += 4.0 * height * self._height(other)
        after = sqrt(square if square > 0.0 else 0.0) - self.ranges[entry]
        return self.weights[entry] * (after * after - before * before)

    cdef bint _flood(self, int64_t start, double cheap, double low, size_t most) noexcept nogil:
        """Collect what is joined to a node by ranges that are not cheap; return if it is small."""
        cdef size_t begin = self.members.size(), at = begin
        cdef int64_t node, other, entry
        cdef double height, price
        cdef bint is_small = True
        self.cost = 0.0
        self.members.push_back(start)
        self.seen_in[start], self.kind[start] = self.turn, SMALL
        while at < self.members.size() and is_small:
            node = self.members[at]
            at += 1
            height = self._height(node)
            if self.members.size() - begin > most or (self.is_fixed[node] and fabs(height) > low):
                is_small = False
                break
            for entry in range(self.indptr[node], self.indptr[node + 1]):
                other = self.indices[entry]
                price = self._price(node, height, entry)
                if price <= cheap:
                    self.cost += price
                    continue
                if self.seen_in[other] == self.turn:
                    if self.kind[other] == LARGE:
                        is_small = False
                        break
                    continue
                self.seen_in[other], self.kind[other] = self.turn, SMALL
                self.members.push_back(other)
        if not is_small:
            for at in range(begin, self.members.size()):
                self.kind[self.members[at]] = LARGE
            self.members.resize(begin)
        return is_small

    def find(self, const int64_t[:, ::1] hinges, double cheap, double low, int64_t most):
        """Return the flaps of hinges: begin of each, members, its hinge, and its raw cost.

        Ranges whose energy grows by at most `cheap` hold nothing, nodes lower than `low` hardly
        move, and a part of more than `most` nodes is no flap.
        """
        cdef int64_t row, k, entry, start, d = self.places.shape[1]
        cdef vector[int64_t] begins, rows
        cdef vector[double] costs
        self.members.clear()
        self.turn = 0
        with nogil:
            for row in range(hinges.shape[0]):
                if not self._set_mirror(&hinges[row, 0], low):
                    continue
                self.turn += 1
                for k in range(d):
                    for entry in range(self.indptr[hinges[row, k]],
                                       self.indptr[hinges[row, k] + 1]):
                        start = self.indices[entry]
                        if self.seen_in[start] == self.turn or fabs(self._height(start)) <= low:
                            continue
                        begin = self.members.size()
                        if self._flood(start, cheap, low, most):
                            begins.push_back(begin)
                            rows.push_back(row)
                            costs.push_back(self.cost)
        begins.push_back(self.members.size())
        return (np.array(begins, dtype=np.int64), np.array(self.members, dtype=np.int64),
                np.array(rows, dtype=np.int64), np.array(costs, dtype=np.float64))
