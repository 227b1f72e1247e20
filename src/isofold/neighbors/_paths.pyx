# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""Shortest paths that end where they no longer matter, by Dijkstra's algorithm.

Compiled, since a search settles a few hundred nodes only, of a hundred thousand. Nodes are numbered
anew, so that those near to each other along the graph are near in memory. The queue sorts only the
nearest of its entries: the others wait in buckets, and many are out of date before their turn.
Neither changes a length: each is the least over all paths, added up from the source.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

import numpy as np

cdef extern from *:
    """
    #include <algorithm>
    #include <cstddef>
    #include <cstdint>
    #include <vector>

    struct Entry {
        double key;
        std::int32_t node;
    };

    // Of two entries the later is less: the heaps of the library have the greatest on top.
    static inline bool operator<(const Entry& a, const Entry& b) {
        return a.key > b.key || (a.key == b.key && a.node > b.node);
    }

    // Entries by key, then node; none may be pushed before the last that was popped. Those of the
    // current bucket are a heap. Of odd widths (0, infinite) only the speed suffers.
    class BucketQueue {
        static const int BUCKETS = 64;
        std::vector<Entry> heap, later[BUCKETS], far;
        double begin, per_width;
        int current;
        std::size_t count;

        void put(const Entry& entry) {
            double bucket = (entry.key - begin) * per_width;
            if (!(bucket >= current + 1)) {
                heap.push_back(entry);
                std::push_heap(heap.begin(), heap.end());
            } else if (bucket < BUCKETS) {
                later[static_cast<int>(bucket)].push_back(entry);
            } else {
                far.push_back(entry);
            }
        }

        void advance() {
            if (++current < BUCKETS) {
                heap.swap(later[current]);
                std::make_heap(heap.begin(), heap.end());
                return;
            }
            std::vector<Entry> waiting;
            waiting.swap(far);
            begin = std::max_element(waiting.begin(), waiting.end())->key;
            current = 0;
            for (const Entry& entry : waiting) put(entry);
        }

    public:
        BucketQueue() : begin(0.0), per_width(0.0), current(0), count(0) {}

        void set_width(double width) { per_width = 1.0 / width; }

        bool empty() const { return count == 0; }

        void clear() {
            if (count) {
                heap.clear();
                far.clear();
                for (std::vector<Entry>& bucket : later) bucket.clear();
            }
            begin = 0.0;
            current = 0;
            count = 0;
        }

        void push(double key, std::int32_t node) {
            put(Entry{key, node});
            ++count;
        }

        Entry pop() {
            while (heap.empty()) advance();
            std::pop_heap(heap.begin(), heap.end());
            Entry first = heap.back();
            heap.pop_back();
            --count;
            return first;
        }
    };
    """
    cdef struct Entry:
        double key
        int32_t node

    cdef cppclass BucketQueue:
        void set_width(double width) nogil
        bint empty() nogil
        void clear() nogil
        void push(double key, int32_t node) nogil
        Entry pop() nogil


cdef struct NodeState:
    double length  # of the shortest path so far
    int32_t reached_in  # the search in which it is: nothing is cleared between searches
    int32_t wanted_in


cdef class PathSearch:
    """Searches along one graph; holds the workspace that all of them share.

    Parameters
    ----------
    indptr, indices : ndarray of int32
        Rows and columns of the symmetric adjacency matrix, in the order below.
    lengths : ndarray of float64
        Its values.
    order : ndarray of int64
        The caller's number of every row. All methods take and return these numbers.
    width : float
        Difference of path lengths that one bucket holds: a fraction of an edge.
    """

    cdef const int32_t[::1] indptr
    cdef const int32_t[::1] indices
    cdef const double[::1] lengths
    cdef const int64_t[::1] order
    cdef vector[int32_t] row_of
    cdef vector[NodeState] states
    cdef BucketQueue queue
    cdef int32_t turn
    cdef vector[int32_t] settled

    def __init__(self, const int32_t[::1] indptr, const int32_t[::1] indices,
                 const double[::1] lengths, const int64_t[::1] order, double width):
        cdef Py_ssize_t row, n_nodes = order.shape[0]
        cdef NodeState unreached = NodeState(0.0, 0, 0)
        self.indptr, self.indices, self.lengths, self.order = indptr, indices, lengths, order
        self.row_of.resize(n_nodes)
        for row in range(n_nodes):
            self.row_of[order[row]] = <int32_t> row
        self.states.assign(n_nodes, unreached)
        self.queue.set_width(width)
        self.turn = 0

    cdef void _search(self, int32_t source, const double* reach, int64_t n_wanted) noexcept nogil:
        """Settle nodes by their distance from a source, until so many wanted ones are.

        With `reach` all are wanted, and no path leads to a node farther than its entry.
        """
        cdef int32_t other
        cdef int64_t entry
        cdef double longer
        cdef Entry first
        cdef NodeState* state
        self.settled.clear()
        self.queue.clear()
        if reach != NULL and reach[source] < 0.0:
            return
        self.states[source].length = 0.0
        self.states[source].reached_in = self.turn
        self.queue.push(0.0, source)
        while n_wanted > 0 and not self.queue.empty():
            first = self.queue.pop()
            state = &self.states[first.node]
            if first.key > state.length:
                continue
            if reach != NULL or state.wanted_in == self.turn:
                self.settled.push_back(first.node)
                n_wanted -= 1
            for entry in range(self.indptr[first.node], self.indptr[first.node + 1]):
                other = self.indices[entry]
                longer = first.key + self.lengths[entry]
                if reach != NULL and longer > reach[other]:
                    continue
                state = &self.states[other]
                if state.reached_in != self.turn or longer < state.length:
                    state.reached_in = self.turn
                    state.length = longer
                    self.queue.push(longer, other)

    def within(self, const int64_t[::1] sources, const double[::1] reach,
               const double[::1] limits, size_t most):
        """Return the nodes no farther from sources than their limits, nearest first, and how far.

        A path ends at the first node beyond its reach: see `reach`, in whose order both arrays are.
        Result i belongs to source i and is ``[indptr[i]:indptr[i + 1]]``. With `most` nodes or more
        the following sources are left to the next call.
        """
        cdef Py_ssize_t i
        cdef size_t k
        cdef int32_t row
        cdef vector[int64_t] indptr, nodes
        cdef vector[double] distances
        with nogil:
            indptr.push_back(0)
            for i in range(sources.shape[0]):
                self.turn += 1
                self._search(self.row_of[sources[i]], &reach[0], self.order.shape[0])
                for k in range(self.settled.size()):
                    row = self.settled[k]
                    if self.states[row].length <= limits[row]:
                        nodes.push_back(self.order[row])
                        distances.push_back(self.states[row].length)
                indptr.push_back(<int64_t> nodes.size())
                if nodes.size() >= most:
                    break
        return _integers(indptr), _integers(nodes), _numbers(distances)

    def to(self, const int64_t[::1] sources, const int64_t[::1] groups,
           const int64_t[::1] targets, const int64_t[::1] begins):
        """Return the distances from source i to the nodes of group ``groups[i]``, one after another.

        Group g is ``targets[begins[g]:begins[g + 1]]``. Where no path leads they are infinite.
        """
        cdef Py_ssize_t i
        cdef int64_t k, begin, end
        cdef int32_t row
        cdef NodeState* state
        cdef vector[double] distances
        with nogil:
            for i in range(sources.shape[0]):
                begin, end = begins[groups[i]], begins[groups[i] + 1]
                self.turn += 1
                for k in range(begin, end):
                    self.states[self.row_of[targets[k]]].wanted_in = self.turn
                self._search(self.row_of[sources[i]], NULL, end - begin)
                for k in range(begin, end):
                    state = &self.states[self.row_of[targets[k]]]
                    distances.push_back(
                        state.length if state.reached_in == self.turn else INFINITY
                    )
        return _numbers(distances)

    def reach(self, const double[::1] limits):
        """Return how long a path may be at every node and still matter to one beyond it.

        It matters to node i if its length there is at most ``limits[i]``; so at node u it may be
        at most the largest ``limits[i] - d(u, i)``. Limits and result are in the order of rows.
        """
        cdef Py_ssize_t n = limits.shape[0]
        cdef int64_t entry
        cdef int32_t row, other
        cdef double rest
        cdef double[::1] found = np.array(limits, dtype=np.float64)
        cdef vector[int32_t] waiting, raised
        cdef vector[char] is_waiting
        cdef size_t i
        with nogil:
            is_waiting.assign(n, 1)
            for row in range(n):
                waiting.push_back(row)
            while not waiting.empty():
                raised.clear()
                for i in range(waiting.size()):
                    row = waiting[i]
                    is_waiting[row] = 0
                    for entry in range(self.indptr[row], self.indptr[row + 1]):
                        other = self.indices[entry]
                        rest = found[row] - self.lengths[entry]
                        if rest > found[other]:
                            found[other] = rest
                            if not is_waiting[other]:
                                is_waiting[other] = 1
                                raised.push_back(other)
                waiting.swap(raised)
        return np.asarray(found)


cdef _integers(const vector[int64_t]& values):
    cdef int64_t[::1] out = np.empty(values.size(), dtype=np.int64)
    cdef size_t i
    for i in range(values.size()):
        out[i] = values[i]
    return np.asarray(out)


cdef _numbers(const vector[double]& values):
    cdef double[::1] out = np.empty(values.size(), dtype=np.float64)
    cdef size_t i
    for i in range(values.size()):
        out[i] = values[i]
    return np.asarray(out)
