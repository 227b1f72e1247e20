# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Graph balls: the nearest nodes of a seed by path length, by truncated Dijkstra.

Compiled, since each ball settles a few dozen nodes only: SciPy's Dijkstra fills a row of n
distances a seed, which takes most of its time. A ball ends where it has enough nodes, where
every node's own limit has been passed, or where it holds all nodes of a cluster.
"""

from libc.math cimport ceil
from libc.stdint cimport int32_t, int64_t
from libcpp.pair cimport pair
from libcpp.queue cimport priority_queue
from libcpp.vector cimport vector

import numpy as np

ctypedef pair[double, int64_t] Reached


cdef class BallSearch:
    """Balls of one graph; holds the workspace that all balls share.

    Parameters
    ----------
    indptr, indices : ndarray of int32
        Rows and columns of the symmetric adjacency matrix.
    lengths : ndarray of float64
        Its values.
    """

    cdef const int32_t[::1] indptr
    cdef const int32_t[::1] indices
    cdef const double[::1] lengths
    cdef vector[double] best
    cdef vector[int64_t] reached_in
    cdef vector[int64_t] settled_in
    cdef int64_t turn
    cdef vector[int64_t] nodes
    cdef vector[double] distances

    def __init__(self, const int32_t[::1] indptr, const int32_t[::1] indices,
                 const double[::1] lengths):
        cdef size_t n_nodes = indptr.shape[0] - 1
        self.indptr, self.indices, self.lengths = indptr, indices, lengths
        self.best.assign(n_nodes, 0.0)
        # The turn in which a node was last reached or settled: nothing is cleared between balls.
        self.reached_in.assign(n_nodes, 0)
        self.settled_in.assign(n_nodes, 0)
        self.turn = 0

    cdef void _append_ball(self, int64_t seed, int64_t size, const double* reach,
                           const int64_t* labels, int64_t wanted) noexcept nogil:
        """Append the `size` nearest nodes of a seed, itself the first, by path length.

        No path leads on from a node that is farther than its entry of `reach`, and with `labels`
        only nodes with the label `wanted` are appended and counted. Either may be NULL.
        """
        cdef priority_queue[Reached] queue
        cdef int64_t node, other, count = 0
        cdef int32_t entry
        cdef double distance, longer
        self.turn += 1
        self.best[seed] = 0.0
        self.reached_in[seed] = self.turn
        queue.push(Reached(0.0, -seed))
        while not queue.empty() and count < size:
            # The queue gives the largest pair first: negated, the nearest, then the lowest node.
            distance, node = 0.0 - queue.top().first, -queue.top().second
            queue.pop()
            if self.settled_in[node] == self.turn:
                continue
            self.settled_in[node] = self.turn
            if reach != NULL and distance > reach[node]:
                continue
            if labels == NULL or labels[node] == wanted:
                self.nodes.push_back(node)
                self.distances.push_back(distance)
                count += 1
            for entry in range(self.indptr[node], self.indptr[node + 1]):
                other = self.indices[entry]
                if self.settled_in[other] == self.turn:
                    continue
                longer = distance + self.lengths[entry]
                if reach != NULL and longer > reach[other]:
                    continue
                if self.reached_in[other] != self.turn or longer < self.best[other]:
                    self.reached_in[other] = self.turn
                    self.best[other] = longer
                    queue.push(Reached(-longer, -other))

    def balls(self, const int64_t[::1] seeds, const int64_t[::1] sizes):
        """Return the balls of seeds as (indptr, nodes, distances)."""
        cdef Py_ssize_t i, n_seeds = seeds.shape[0]
        cdef int64_t[::1] indptr = np.zeros(n_seeds + 1, dtype=np.int64)
        self.nodes.clear()
        self.distances.clear()
        with nogil:
            for i in range(n_seeds):
                self._append_ball(seeds[i], sizes[i], NULL, NULL, 0)
                indptr[i + 1] = <int64_t> self.nodes.size()
        return np.asarray(indptr), *self._found()

    def cover(self, const int64_t[::1] order, const int64_t[::1] sizes, double core):
        """Return seeds whose balls cover the nodes in `order`, and the balls.

        The next node in `order` that is not covered becomes a seed; the share `core` of its ball
        that is nearest to it is covered. `sizes` holds the size of the ball around each node of
        the graph.
        """
        cdef Py_ssize_t i, n = order.shape[0]
        cdef int64_t seed, begin, end, entry
        cdef vector[char] covered
        cdef vector[int64_t] seeds, indptr
        covered.assign(self.best.size(), 0)
        self.nodes.clear()
        self.distances.clear()
        indptr.push_back(0)
        with nogil:
            for i in range(n):
                seed = order[i]
                if covered[seed]:
                    continue
                begin = <int64_t> self.nodes.size()
                self._append_ball(seed, sizes[seed], NULL, NULL, 0)
                end = <int64_t> self.nodes.size()
                for entry in range(begin, begin + <int64_t> ceil(core * (end - begin))):
                    covered[self.nodes[entry]] = 1
                seeds.push_back(seed)
                indptr.push_back(end)
        return _integers(seeds), _integers(indptr), *self._found()

    def within(self, int64_t seed, const double[::1] reach):
        """Return the nodes that paths from a seed meet within their `reach`, and the lengths.

        A path ends at the first node beyond its reach.
        """
        self.nodes.clear()
        self.distances.clear()
        with nogil:
            self._append_ball(seed, reach.shape[0], &reach[0], NULL, 0)
        return self._found()

    def inside(self, int64_t seed, int64_t cluster, const int64_t[::1] labels,
               const int64_t[::1] places, int64_t size):
        """Return the distances from a seed to the `size` nodes of a cluster.

        These are the nodes with ``labels == cluster``. The one at place p (``places[node] == p``)
        has entry p of the result. Nodes that no path reaches are infinitely far.
        """
        cdef size_t entry
        cdef double[::1] found = np.full(size, np.inf)
        self.nodes.clear()
        self.distances.clear()
        with nogil:
            self._append_ball(seed, size, NULL, &labels[0], cluster)
            for entry in range(self.nodes.size()):
                found[places[self.nodes[entry]]] = self.distances[entry]
        return np.asarray(found)

    def reach(self, const double[::1] limits):
        """Return how long a path may be at every node and still matter to one beyond it.

        It matters to node i if its length there is at most ``limits[i]``; so at node u it may be
        at most the largest ``limits[i] - d(u, i)``.
        """
        cdef Py_ssize_t node, other, n = limits.shape[0]
        cdef double[::1] found = np.array(limits, dtype=np.float64)
        cdef priority_queue[Reached] queue
        cdef double length, rest
        cdef int32_t entry
        with nogil:
            for node in range(n):
                queue.push(Reached(found[node], node))
            while not queue.empty():
                length, node = queue.top().first, queue.top().second
                queue.pop()
                if length < found[node]:
                    continue
                for entry in range(self.indptr[node], self.indptr[node + 1]):
                    other = self.indices[entry]
                    rest = length - self.lengths[entry]
                    if rest > found[other]:
                        found[other] = rest
                        queue.push(Reached(rest, other))
        return np.asarray(found)

    def _found(self):
        cdef double[::1] distances = np.empty(self.distances.size(), dtype=np.float64)
        cdef size_t i
        for i in range(self.distances.size()):
            distances[i] = self.distances[i]
        return _integers(self.nodes), np.asarray(distances)


cdef _integers(vector[int64_t]& values):
    cdef int64_t[::1] out = np.empty(values.size(), dtype=np.int64)
    cdef size_t i
    for i in range(values.size()):
        out[i] = values[i]
    return np.asarray(out)
