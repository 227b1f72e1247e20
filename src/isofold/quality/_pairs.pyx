# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
# distutils: language = c++
"""What a row of distances to all points says: ranks, sums, order kept, each in one pass.

The point itself, `own`, takes no part.
Every row is read alone, so that its figures do not depend on the rows beside it.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    #include <algorithm>
    #include <cmath>
    #include <cstddef>
    #include <cstdint>
    #include <cstring>
    #include <vector>

    #include "_wide.h"

    typedef std::ptrdiff_t Size;
    static const int LANES = 8;

    // Scratch of one thread.
    struct Scratch {
        std::vector<std::int32_t> sequence, parted, place;
    };

    // The members of a neighborhood, each row one of them, less their mean.
    template <typename Real>
    static void center_members(const Real* points, Size d, Size own, const std::int64_t* others,
                               Size k, double* members) {
        for (Size i = 0; i <= k; ++i) {
            const Real* point = points + (i ? others[i - 1] : own) * d;
            for (Size c = 0; c < d; ++c) members[i * d + c] = point[c];
        }
        for (Size c = 0; c < d; ++c) {
            double mean = 0.0;
            for (Size i = 0; i <= k; ++i) mean += members[i * d + c];
            mean /= (double)(k + 1);
            for (Size i = 0; i <= k; ++i) members[i * d + c] -= mean;
        }
    }

    static double sum_of_squares(const double* values, Size size) {
        double sum = 0.0;
        for (Size i = 0; i < size; ++i) sum += values[i] * values[i];
        return sum;
    }

    // Sum up the outer products of m rows of two tables.
    WIDE static void add_products(const double* a, Size wide_a, const double* b, Size wide_b, Size m,
                                  double* out) {
        std::fill(out, out + wide_a * wide_b, 0.0);
        for (Size i = 0; i < m; ++i)
            for (Size p = 0; p < wide_a; ++p)
                for (Size q = 0; q < wide_b; ++q)
                    out[p * wide_b + q] += a[i * wide_a + p] * b[i * wide_b + q];
    }

    static inline std::uint64_t bits_of(double value) {
        std::uint64_t bits;
        value += 0.0;  // no negative zero
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
    }

    // How many bits a column takes.
    static inline int column_bits(Size n) {
        int bits = 1;
        while ((n - 1) >> bits) ++bits;
        return bits;
    }

    // Numbers that sort as the values do, ties by column, but for the last digits of a value, whose
    // place the column takes. The bits of a positive number ascend with it. Own comes last.
    WIDE static void pack_row(const double* values, Size n, Size own, std::uint64_t* keys) {
        const int bits = column_bits(n);
        for (Size j = 0; j < n; ++j)
            keys[j] = (bits_of(values[j]) << 1 >> bits << bits) | (std::uint64_t)j;
        keys[own] = ~std::uint64_t(0);
    }

    // Make sorted keys columns, and put those in order that agree in all digits that were kept.
    static void settle_row(const double* values, Size n, std::uint64_t* keys) {
        const int bits = column_bits(n);
        const std::uint64_t mask = (std::uint64_t(1) << bits) - 1;
        const auto nearer = [values](std::uint64_t a, std::uint64_t b) {
            return values[a] < values[b] || (values[a] == values[b] && a < b);
        };
        for (Size first = 0, last; first < n - 1; first = last) {
            last = first + 1;
            while (last < n - 1 && (keys[last] ^ keys[first]) <= mask) keys[last++] &= mask;
            keys[first] &= mask;
            if (last - first > 1) std::sort(keys + first, keys + last, nearer);
        }
    }

    // Sums of a and b over the points at a known distance: 1, a, b, aa, bb, ab, (a - b)^2.
    struct Moments {
        double sums[7][LANES] = {};

        void add(const double* a, const double* b) {
            for (int lane = 0; lane < LANES; ++lane) {
                const bool is_known = a[lane] < INFINITY;
                const double u = is_known ? a[lane] : 0.0, v = is_known ? b[lane] : 0.0;
                sums[0][lane] += is_known;
                sums[1][lane] += u;
                sums[2][lane] += v;
                sums[3][lane] += u * u;
                sums[4][lane] += v * v;
                sums[5][lane] += u * v;
                sums[6][lane] += (u - v) * (u - v);
            }
        }
        // Whoever is no other point is unknown.
        void add_some(const double* a, const double* b, Size size) {
            double u[LANES], v[LANES];
            for (int lane = 0; lane < LANES; ++lane) {
                u[lane] = lane < size ? a[lane] : INFINITY;
                v[lane] = lane < size ? b[lane] : 0.0;
            }
            add(u, v);
        }
        void close(Size others, double* out) const {
            for (int moment = 0; moment < 7; ++moment) {
                double sum = 0.0;
                for (int lane = 0; lane < LANES; ++lane) sum += sums[moment][lane];
                out[moment] = sum / others;
            }
        }
    };

    WIDE static void moments_of_row(const double* before, const double* after, Size n, Size own,
                                    double* out) {
        Moments moments;
        for (Size part = 0; part < 2; ++part) {
            Size first = part ? own + 1 : 0;
            const Size last = part ? n : own;
            for (; first + LANES <= last; first += LANES) moments.add(before + first, after + first);
            moments.add_some(before + first, after + first, last - first);
        }
        moments.close(n - 1, out);
    }

    // The bits of a positive float ascend with its value: exponent and 12 bits of the mantissa make
    // bins of equal relative width, over seventy decades of squared distance.
    static inline std::int32_t bin_of(double squared, double unit) {
        const float scaled = (float)(squared / unit);
        std::int32_t bits;
        std::memcpy(&bits, &scaled, sizeof bits);
        return bits >> 11;
    }

    static const Size RUN = 512;

    WIDE static void bins_of_run(const double* squared, Size size, double unit, std::int32_t* bins) {
        for (Size j = 0; j < size; ++j) bins[j] = bin_of(squared[j], unit);
    }

    static void count_row(const double* squared, Size n, double unit, double weight,
                          double* counts) {
        std::int32_t bins[RUN];
        for (Size first = 0; first < n; first += RUN) {
            const Size size = std::min(RUN, n - first);
            bins_of_run(squared + first, size, unit, bins);
            for (Size j = 0; j < size; ++j) counts[bins[j]] += weight;
        }
    }

    WIDE static void rank_moments_of_row(const double* before, const double* after, Size n, Size own,
                                         const double* units, const double* mean_before,
                                         const double* mean_after, double* out) {
        Moments moments;
        std::int32_t bins[2][RUN];
        double a[RUN], b[RUN];
        for (Size first = 0; first < n; first += RUN) {
            const Size size = std::min(RUN, n - first);
            for (Size j = 0; j < size; ++j) bins[0][j] = bin_of(before[first + j], units[0]);
            for (Size j = 0; j < size; ++j) bins[1][j] = bin_of(after[first + j], units[1]);
            for (Size j = 0; j < size; ++j) a[j] = mean_before[bins[0][j]];
            for (Size j = 0; j < size; ++j) b[j] = mean_after[bins[1][j]];
            if (own >= first && own < first + size) a[own - first] = INFINITY;
            Size j = 0;
            for (; j + LANES <= size; j += LANES) moments.add(a + j, b + j);
            moments.add_some(a + j, b + j, size - j);
        }
        moments.close(n - 1, out);
    }

    WIDE static void add_ratios(const double* before, const double* after, Size n, double* out) {
        double sums[LANES] = {}, counts[LANES] = {};
        for (Size first = 0; first < n; first += LANES)
            for (int lane = 0; lane < LANES; ++lane) {
                const Size j = std::min(first + lane, n - 1);
                const bool is_counted = first + lane < n && before[j] > 0.0;
                sums[lane] += is_counted ? after[j] / before[j] : 0.0;
                counts[lane] += is_counted;
            }
        out[0] = out[1] = 0.0;
        for (int lane = 0; lane < LANES; ++lane) {
            out[0] += sums[lane];
            out[1] += counts[lane];
        }
    }

    // The rank of a point in an order by value, ties by column.
    static Size rank_of(const double* values, const std::int64_t* order, Size others,
                        std::int64_t column) {
        const auto nearer = [values](std::int64_t a, std::int64_t b) {
            return values[a] < values[b] || (values[a] == values[b] && a < b);
        };
        return 1 + (std::lower_bound(order, order + others, column, nearer) - order);
    }

    // Count the larger ranks of all other points in a histogram; return the sum of their weights.
    // No more than two points have the same, so that counters are small enough for the cache.
    WIDE static double add_larger(const std::int64_t* order, const std::int32_t* ranks, Size others,
                                  const double* weight, double rows, std::uint8_t* counts,
                                  double* histogram) {
        for (Size j = 0; j < others; ++j) ++counts[std::max((std::int32_t)j + 1, ranks[order[j]])];
        double sums[LANES] = {}, sum = 0.0;
        for (Size first = 0; first <= others; first += LANES)
            for (Size lane = 0; lane < std::min((Size)LANES, others + 1 - first); ++lane) {
                sums[lane] += weight[first + lane] * counts[first + lane];
                histogram[first + lane] += rows * counts[first + lane];
            }
        for (int lane = 0; lane < LANES; ++lane) sum += sums[lane];
        return sum;
    }

    static const int FAN = 128, FAN_BITS = 7;
    // So few numbers are compared pair by pair. So many at most fit the counters of a stretch.
    static const Size FEW = 192, STRETCH = 1 << 14;

    WIDE static Size inversions_of_few(const std::int32_t* sequence, Size n) {
        Size found = 0;
        for (Size i = 1; i < n; ++i) {
            std::int32_t greater = 0;
            for (Size j = 0; j < i; ++j) greater += sequence[j] > sequence[i];
            found += greater;
        }
        return found;
    }

    // Pairs of which the first has the greater digit; counts how often each digit occurs.
    WIDE static Size inversions_of_digits(const std::int32_t* sequence, Size n, int shift,
                                          Size* counts) {
        Size found = 0;
        for (Size first = 0; first < n; first += STRETCH) {
            Size before[FAN];
            Size sum = 0;
            for (int c = FAN - 1; c >= 0; --c) {
                before[c] = sum;
                sum += counts[c];
            }
            std::int16_t greater[FAN] = {};
            for (Size i = first; i < std::min(n, first + STRETCH); ++i) {
                const std::int16_t digit = sequence[i] >> shift & (FAN - 1);
                found += before[digit] + greater[digit];
                ++counts[digit];
                for (std::int16_t c = 0; c < FAN; ++c) greater[c] += c < digit;
            }
        }
        return found;
    }

    // Pairs in a sequence of whole numbers of which the greater comes first: those of different
    // leading digits are counted, those of the same are parted off and have the same question.
    static Size inversions(std::int32_t* sequence, std::int32_t* parted, Size n, int shift) {
        if (shift < 0) return 0;
        if (n <= FEW) return inversions_of_few(sequence, n);
        Size counts[FAN] = {}, ends[FAN];
        Size found = inversions_of_digits(sequence, n, shift, counts);
        for (Size c = 0, first = 0; c < FAN; first += counts[c++]) ends[c] = first;
        for (Size i = 0; i < n; ++i) parted[ends[sequence[i] >> shift & (FAN - 1)]++] = sequence[i];
        for (int c = 0; c < FAN; ++c) {
            const Size first = ends[c] - counts[c];
            found += inversions(parted + first, sequence + first, counts[c], shift - FAN_BITS);
        }
        return found;
    }

    static inline double pairs_of(Size n) { return 0.5 * (double)n * (double)(n - 1); }

    // Pairs of other points whose order is kept (ties after count half), and pairs with an order.
    static void order_of_row(const double* before, const double* after,
                             const std::int64_t* order_before, const std::int64_t* order_after,
                             Size n, Scratch& scratch, double* out) {
        const Size others = n - 1;
        scratch.place.resize(n);
        scratch.sequence.resize(n);
        scratch.parted.resize(n);
        std::int32_t* place = scratch.place.data();
        std::int32_t* sequence = scratch.sequence.data();
        double tied_before = 0.0, tied_after = 0.0, tied_in_both = 0.0;
        std::int32_t group = 0;
        for (Size first = 0, last; first < others; first = last, ++group) {
            const double value = after[order_after[first]];
            for (last = first; last < others && after[order_after[last]] == value; ++last)
                place[order_after[last]] = group;
            tied_after += pairs_of(last - first);
        }
        for (Size i = 0; i < others; ++i) sequence[i] = place[order_before[i]];
        for (Size first = 0, last; first < others; first = last) {
            const double value = before[order_before[first]];
            last = first + 1;
            while (last < others && before[order_before[last]] == value) ++last;
            if (last - first == 1) continue;
            tied_before += pairs_of(last - first);
            std::sort(sequence + first, sequence + last);
            for (Size start = first, i = first + 1; i <= last; ++i)
                if (i == last || sequence[i] != sequence[start]) {
                    tied_in_both += pairs_of(i - start);
                    start = i;
                }
        }
        int shift = 0;
        while (group >> (shift + FAN_BITS)) shift += FAN_BITS;
        const double reversed = (double)inversions(sequence, scratch.parted.data(), others, shift);
        out[1] = pairs_of(others) - tied_before;
        out[0] = out[1] - reversed - 0.5 * (tied_after - tied_in_both);
    }
    """
    void center_members(const float* points, Py_ssize_t d, Py_ssize_t own, const int64_t* others,
                        Py_ssize_t k, double* members) noexcept nogil
    void center_members(const double* points, Py_ssize_t d, Py_ssize_t own, const int64_t* others,
                        Py_ssize_t k, double* members) noexcept nogil
    double sum_of_squares(const double* values, Py_ssize_t size) noexcept nogil
    void add_products(const double* a, Py_ssize_t wide_a, const double* b, Py_ssize_t wide_b,
                      Py_ssize_t m, double* out) noexcept nogil
    cppclass Scratch:
        pass
    void pack_row(const double* values, Py_ssize_t n, Py_ssize_t own,
                  uint64_t* keys) noexcept nogil
    void settle_row(const double* values, Py_ssize_t n, uint64_t* keys) noexcept nogil
    Py_ssize_t rank_of(const double* values, const int64_t* order, Py_ssize_t others,
                       int64_t column) noexcept nogil
    double add_larger(const int64_t* order, const int32_t* ranks, Py_ssize_t others,
                      const double* weight, double rows, uint8_t* counts,
                      double* histogram) noexcept nogil
    void moments_of_row(const double* before, const double* after, Py_ssize_t n, Py_ssize_t own,
                        double* out) noexcept nogil
    void count_row(const double* squared, Py_ssize_t n, double unit, double weight,
                   double* counts) noexcept nogil
    void rank_moments_of_row(const double* before, const double* after, Py_ssize_t n,
                             Py_ssize_t own, const double* units, const double* mean_before,
                             const double* mean_after, double* out) noexcept nogil
    void add_ratios(const double* before, const double* after, Py_ssize_t n,
                    double* out) noexcept nogil
    void order_of_row(const double* before, const double* after, const int64_t* order_before,
                      const int64_t* order_after, Py_ssize_t n, Scratch& scratch,
                      double* out) noexcept nogil

ctypedef fused Real:
    float
    double

ctypedef fused Other:
    float
    double


def lengths(Py_ssize_t first, Py_ssize_t last, const Real[:, ::1] points, const int64_t[::1] rows,
            const int64_t[:, ::1] partners, const int64_t[::1] order, double[:, ::1] out):
    """Write the distances of some rows to their partners, by direct subtraction.

    They are done in an order, which is fast if near ones follow each other.
    """
    cdef Py_ssize_t t, i, j, c, d = points.shape[1]
    cdef double gap, squared
    with nogil:
        for t in range(first, last):
            i = order[t]
            for j in range(partners.shape[1]):
                squared = 0.0
                for c in range(d):
                    gap = <double> points[partners[i, j], c] - <double> points[rows[i], c]
                    squared += gap * gap
                out[i, j] = sqrt(squared)


def neighborhood_products(const Real[:, ::1] before, const Other[:, ::1] after,
                          const int64_t[::1] rows, const int64_t[:, ::1] partners,
                          double[:, ::1] sizes, double[:, :, ::1] products):
    """Write products of centered neighborhoods, each a row and its partners.

    `sizes` gets the sums of squares before and after, `products` the sums of outer products of
    after and before.
    """
    cdef Py_ssize_t i, k = partners.shape[1], d = before.shape[1], wide = after.shape[1]
    cdef vector[double] a, b
    with nogil:
        a.resize((k + 1) * wide)
        b.resize((k + 1) * d)
        for i in range(rows.shape[0]):
            center_members(&before[0, 0], d, rows[i], &partners[i, 0], k, b.data())
            center_members(&after[0, 0], wide, rows[i], &partners[i, 0], k, a.data())
            sizes[i, 0] = sum_of_squares(b.data(), b.size())
            sizes[i, 1] = sum_of_squares(a.data(), a.size())
            add_products(a.data(), wide, b.data(), d, k + 1, &products[i, 0, 0])


def pack(const double[:, ::1] values, const int64_t[::1] own, uint64_t[:, ::1] keys):
    """Write keys of the numbers in every row, which are not negative: sorted, they are nearly so."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):
            pack_row(&values[i, 0], values.shape[1], own[i], &keys[i, 0])


def settle(const double[:, ::1] values, uint64_t[:, ::1] keys):
    """Make sorted keys the columns of the other points in order, ties by column; the last is void."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):
            settle_row(&values[i, 0], values.shape[1], &keys[i, 0])


def compare_ranks(double[:, ::1] before, const int64_t[:, ::1] order_before,
                  const int64_t[:, ::1] order_after, const int64_t[::1] own,
                  const double[::1] stands_for, const double[::1] weight,
                  int64_t[:, ::1] original, int64_t[:, ::1] embedded, int64_t[:, ::1] kept,
                  double[::1] areas, double[::1] histogram):
    """Write what ranks in two spaces say, 1 the nearest, ties by index.

    `original` and `embedded` get the ranks of the nearest in the other space, nearest first;
    `kept[i, s]` how many pairs have s + 1 as the larger of their ranks, `areas` the sum of the
    weights of all larger ranks, and `histogram` how often each occurs, if row i stands for so many.
    In `before` the nearest, and the points themselves, are marked by -1.
    """
    cdef Py_ssize_t i, j, n = before.shape[1], k = original.shape[1], top = kept.shape[1]
    cdef int32_t larger
    cdef vector[int32_t] ranks
    cdef vector[uint8_t] counts
    with nogil:
        ranks.resize(n)
        for i in range(before.shape[0]):
            for j in range(n - 1):
                ranks[order_after[i, j]] = <int32_t> (j + 1)
            counts.assign(n, 0)
            areas[i] = add_larger(&order_before[i, 0], ranks.data(), n - 1, &weight[0],
                                  stands_for[i], counts.data(), &histogram[0])
            for j in range(top):
                kept[i, j] = 0
            for j in range(top):
                larger = max(<int32_t> (j + 1), ranks[order_before[i, j]])
                if larger <= top:
                    kept[i, larger - 1] += 1
            for j in range(k):
                embedded[i, j] = ranks[order_before[i, j]]
                original[i, j] = rank_of(&before[i, 0], &order_before[i, 0], n - 1,
                                         order_after[i, j])
            for j in range(k):
                before[i, order_before[i, j]] = -1.0
            before[i, own[i]] = -1.0


def ratio_sums(const double[:, ::1] before, const double[:, ::1] after, double[:, ::1] out):
    """Write the sum of after / before over all points where before is positive, and their number."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(before.shape[0]):
            add_ratios(&before[i, 0], &after[i, 0], before.shape[1], &out[i, 0])


def moments(const double[:, ::1] before, const double[:, ::1] after, const int64_t[::1] own,
            double[:, ::1] out):
    """Write the means over the other points of 1, a, b, aa, bb, ab and (a - b)^2.

    Where a, the number before, is infinite, all are 0.
    """
    cdef Py_ssize_t i, n = before.shape[1]
    with nogil:
        for i in range(before.shape[0]):
            moments_of_row(&before[i, 0], &after[i, 0], n, own[i], &out[i, 0])


def count_bins(const double[:, ::1] squared, double unit, const double[::1] weights,
               double[::1] counts):
    """Add the weight of every row to the bins of its distances."""
    cdef Py_ssize_t i, n = squared.shape[1]
    with nogil:
        for i in range(squared.shape[0]):
            count_row(&squared[i, 0], n, unit, weights[i], &counts[0])


def rank_moments(const double[:, ::1] before, const double[:, ::1] after, const int64_t[::1] own,
                 const double[::1] units, const double[:, ::1] mean_ranks, double[:, ::1] out):
    """Write the same means of the ranks that distances have by their bins."""
    cdef Py_ssize_t i, n = before.shape[1]
    with nogil:
        for i in range(before.shape[0]):
            rank_moments_of_row(&before[i, 0], &after[i, 0], n, own[i], &units[0],
                                &mean_ranks[0, 0], &mean_ranks[1, 0], &out[i, 0])


def kept_order(const double[:, ::1] before, const double[:, ::1] after,
               const int64_t[:, ::1] order_before, const int64_t[:, ::1] order_after,
               double[:, ::1] out):
    """Write of how many pairs of others the order is kept, and how many have one, for every row.

    Ties in `after` count half, ties in `before` not at all.
    """
    cdef Py_ssize_t i, n = before.shape[1]
    cdef Scratch scratch
    with nogil:
        for i in range(before.shape[0]):
            order_of_row(&before[i, 0], &after[i, 0], &order_before[i, 0], &order_after[i, 0], n,
                         scratch, &out[i, 0])
