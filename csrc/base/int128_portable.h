/* Integers of two words, in two's complement, for the few steps of the cell sampler that need more than 64 bits.
 * They are written out because compilers for 32-bit machines have no 128-bit integer. */
#ifndef DG_BASE_INT128_PORTABLE_H
#define DG_BASE_INT128_PORTABLE_H

#include <stdbool.h>
#include <stdint.h>

/** high 2^64 + low. */
typedef struct dg_int128 {
    int64_t high;
    uint64_t low;
} dg_int128;

static inline dg_int128 dg_int128_of(int64_t value)
{
    return (dg_int128){value < 0 ? -1 : 0, (uint64_t)value};
}

static inline dg_int128 dg_int128_of_unsigned(uint64_t value)
{
    return (dg_int128){0, value};
}

/** a + b. Requires: the sum is in [-2^127, 2^127). */
static inline dg_int128 dg_int128_add(dg_int128 a, dg_int128 b)
{
    uint64_t low = a.low + b.low;
    /* unsigned, because the two high words alone may leave the range */
    uint64_t high = (uint64_t)a.high + (uint64_t)b.high + (low < a.low);
    return (dg_int128){(int64_t)high, low};
}

/** a 2^n. Requires: n < 64; the result is in [-2^127, 2^127). */
static inline dg_int128 dg_int128_up(dg_int128 a, unsigned n)
{
    uint64_t carried = a.low >> 1 >> (63 - n); /* n == 0: a shift by 64 is undefined */
    return (dg_int128){(int64_t)((uint64_t)a.high << n | carried), a.low << n};
}

/** floor(a / 2^n). Requires: n < 64. */
static inline dg_int128 dg_int128_down(dg_int128 a, unsigned n)
{
    uint64_t carried = (uint64_t)a.high << 1 << (63 - n);
    return (dg_int128){a.high >> n, a.low >> n | carried};
}

static inline bool dg_int128_less(dg_int128 a, dg_int128 b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

/** dg_int128_product for compilers without a wider integer: in halves of 32 bits. */
static inline dg_int128 dg_int128_product_by_halves(int64_t a, uint64_t b)
{
    const uint64_t half = UINT32_MAX, a_low = (uint64_t)a & half, a_high = (uint64_t)a >> 32;
    uint64_t low = a_low * (b & half);
    uint64_t middle = a_high * (b & half) + (low >> 32); /* at most (2^32 - 1) 2^32 */
    uint64_t other = a_low * (b >> 32) + (middle & half);
    uint64_t high = a_high * (b >> 32) + (middle >> 32) + (other >> 32);
    high -= a < 0 ? b : 0; /* the products took a for a + 2^64 */
    return (dg_int128){(int64_t)high, other << 32 | (low & half)};
}

/** a b. */
static inline dg_int128 dg_int128_product(int64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef __int128 word;
    word product = (word)a * (word)b;
    return (dg_int128){(int64_t)(product >> 64), (uint64_t)product};
#else
    return dg_int128_product_by_halves(a, b);
#endif
}

#endif
