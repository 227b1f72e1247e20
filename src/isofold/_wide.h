// Numbers side by side, for the kernels: processors with wider registers do the same operations on
// the same numbers in the same order, and no step is fused, so that results do not depend on them.
#pragma once

#include <cstddef>

// A function with variants for wider registers, of which the processor's own is taken when loaded.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#define WIDE_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#define WIDE_AVX2
#endif

// What such a function calls must become part of it, or it has no variants.
#if defined(__GNUC__)
#define INLINE inline __attribute__((always_inline))
#define INLINE_LAMBDA __attribute__((always_inline))
#define FETCH(address) __builtin_prefetch(address)
#else
#define INLINE inline
#define INLINE_LAMBDA
#define FETCH(address)
#endif

// One number a lane. Without types of their own, compilers make vectors of other loops, and shuffle.
#if defined(__GNUC__)
typedef double Doubles4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef double Doubles8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef float Floats16 __attribute__((vector_size(64), aligned(4), may_alias));

// Not templates: these would forget how loosely the types are aligned.
#define CHOICES(Number)                                                                   \
    static INLINE Number lesser(const Number& a, const Number& b) { return b < a ? b : a; } \
    static INLINE Number larger(const Number& a, const Number& b) { return b > a ? b : a; }
CHOICES(double)
CHOICES(Doubles8)
CHOICES(Floats16)
#else
template <typename Number, int N>
struct Lanes {
    Number lane[N];

    template <typename Step>
    static Lanes each(Step step) {
        Lanes out;
        for (int l = 0; l < N; ++l) out.lane[l] = step(l);
        return out;
    }
    Number operator[](std::ptrdiff_t l) const { return lane[l]; }
    Lanes& operator+=(const Lanes& o) { return *this = *this + o; }
    Lanes& operator-=(const Lanes& o) { return *this = *this - o; }

    friend Lanes operator+(const Lanes& a, const Lanes& b) {
        return each([&](int l) { return a[l] + b[l]; });
    }
    friend Lanes operator-(const Lanes& a, const Lanes& b) {
        return each([&](int l) { return a[l] - b[l]; });
    }
    friend Lanes operator*(const Lanes& a, const Lanes& b) {
        return each([&](int l) { return a[l] * b[l]; });
    }
    friend Lanes operator+(Number a, const Lanes& b) { return same(a) + b; }
    friend Lanes operator-(Number a, const Lanes& b) { return same(a) - b; }
    friend Lanes operator-(const Lanes& a, Number b) { return a - same(b); }
    friend Lanes operator*(Number a, const Lanes& b) { return same(a) * b; }
    friend Lanes operator*(const Lanes& a, Number b) { return a * same(b); }

    static Lanes same(Number a) {
        return each([&](int) { return a; });
    }
};
typedef Lanes<double, 4> Doubles4;
typedef Lanes<double, 8> Doubles8;
typedef Lanes<float, 16> Floats16;

template <typename Number>
static inline Number lesser(Number a, Number b) {
    return b < a ? b : a;
}
template <typename Number>
static inline Number larger(Number a, Number b) {
    return b > a ? b : a;
}
template <typename Number, int N>
static inline Lanes<Number, N> lesser(const Lanes<Number, N>& a, const Lanes<Number, N>& b) {
    return Lanes<Number, N>::each([&](int l) { return lesser(a[l], b[l]); });
}
template <typename Number, int N>
static inline Lanes<Number, N> larger(const Lanes<Number, N>& a, const Lanes<Number, N>& b) {
    return Lanes<Number, N>::each([&](int l) { return larger(a[l], b[l]); });
}
#endif
