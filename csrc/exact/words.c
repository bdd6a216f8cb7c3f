#include "exact/words.h"

#include "base/contract.h"

#if DG_HAVE_WORDS

/* A denominator of this many bits, times k < 2^8 and times a byte, is below 2^63. */
enum { DG_SHORT_DEN_BITS = 47 };

/** The arguments that every function below draws with. */
typedef struct word_draw {
    const dg_law *law;
    dg_big *big;
    dg_bits *bits;
} word_draw;

static bool fits(const mpz_t z, size_t n_bits)
{
    return mpz_sizeinbase(z, 2) <= n_bits;
}

/** The magnitude of z. Requires: below 2^128. */
static dg_u128 to_u128(const mpz_t z)
{
    uint64_t parts[2] = {0, 0};
    DG_REQUIRES(fits(z, 128));
    mpz_export(parts, NULL, -1, sizeof *parts, 0, 0, z);
    return ((dg_u128)parts[1] << 64) | parts[0];
}

static void from_u128(mpz_t z, dg_u128 value)
{
    uint64_t parts[2] = {(uint64_t)value, (uint64_t)(value >> 64)};
    mpz_import(z, 2, -1, sizeof *parts, 0, 0, parts);
}

static void from_i128(mpz_t z, dg_i128 value)
{
    from_u128(z, value < 0 ? -(dg_u128)value : (dg_u128)value);
    if (value < 0) {
        mpz_neg(z, z);
    }
}

static dg_i128 to_i128(const mpz_t z)
{
    dg_i128 magnitude = (dg_i128)to_u128(z);
    return mpz_sgn(z) < 0 ? -magnitude : magnitude;
}

/** y_max = the largest 2^e - 1 for which N(y) stays within the bounds; 0 if there is none. */
static int64_t largest_word_y(const dg_law *law)
{
    int64_t y_max = 0;
    mpz_t reach;
    mpz_init(reach);
    for (unsigned e = 1; e <= 62; e++) {
        uint64_t y = (UINT64_C(1) << e) - 1;
        mpz_set_ui(reach, 0);
        from_u128(reach, y);
        mpz_mul(reach, reach, law->B);
        if (!fits(reach, DG_WORD_TERM_BITS)) {
            break;
        }
        from_u128(reach, y + 1);
        mpz_mul(reach, reach, law->d); /* > y d + |n|, because |n| <= d/2 */
        mpz_mul(reach, reach, reach);
        mpz_mul(reach, reach, law->A);
        if (!fits(reach, DG_WORD_TERM_BITS)) {
            break;
        }
        y_max = (int64_t)y;
    }
    mpz_clear(reach);
    return y_max;
}

static bool prepare_gaussian(dg_word_constants *words, const dg_law *law)
{
    if (!fits(law->A, DG_WORD_TERM_BITS) || !fits(law->B, DG_WORD_TERM_BITS) ||
        !fits(law->M, DG_WORD_TERM_BITS) || !fits(law->D, DG_WORD_DEN_BITS)) {
        return false;
    }
    words->A = to_u128(law->A);
    words->B = to_u128(law->B);
    words->M = to_i128(law->M);
    words->D = to_u128(law->D);
    words->y_max = largest_word_y(law);
    return (uint64_t)words->y_max / 16 >= words->t; /* else GMP would decide too often */
}

bool dg_words_prepare_proposals(dg_word_constants *words, const dg_law *law)
{
    if (law->kind != DG_DISCRETE_GAUSSIAN || !fits(law->t, DG_WORD_T_BITS) ||
        !fits(law->c, DG_WORD_S_BITS)) {
        return false;
    }
    words->t = (uint64_t)to_u128(law->t);
    words->s = 1;
    words->c = (int64_t)to_i128(law->c);
    words->y_max = -1;
    return true;
}

bool dg_words_prepare(dg_word_constants *words, const dg_law *law)
{
    if (law->kind == DG_GENERALIZED_GAUSSIAN) {
        return false;
    }
    if (law->kind < DG_GEOMETRIC_EXP) {
        if (!fits(law->a, 127) || !fits(law->b, DG_WORD_DEN_BITS)) {
            return false;
        }
        words->a = to_u128(law->a);
        words->b = to_u128(law->b);
        return law->kind != DG_UNIFORM_BELOW || fits(law->a, DG_WORD_T_BITS);
    }
    if (!fits(law->t, DG_WORD_T_BITS) || !fits(law->s, DG_WORD_S_BITS) ||
        !fits(law->c, DG_WORD_S_BITS) || !fits(law->d, DG_WORD_S_BITS) ||
        !fits(law->side_num, 127) || !fits(law->side_den, DG_WORD_DEN_BITS)) {
        return false;
    }
    words->t = (uint64_t)to_u128(law->t);
    words->s = (uint64_t)to_u128(law->s);
    words->c = (int64_t)to_i128(law->c);
    words->n = (int64_t)to_i128(law->n);
    words->d = (uint64_t)to_u128(law->d);
    words->side_num = to_u128(law->side_num);
    words->side_den = to_u128(law->side_den);
    return law->kind != DG_DISCRETE_GAUSSIAN || prepare_gaussian(words, law);
}

/** dg_big_bernoulli in words. Requires: a < 2^127, 0 < b < 2^119. */
static inline dg_status bernoulli(bool *out, dg_u128 a, dg_u128 b, word_draw draw)
{
    dg_i128 remainder = (dg_i128)a;
    while (remainder > 0 && remainder < (dg_i128)b) {
        uint32_t byte;
        DG_TRY(dg_bits_byte(&byte, draw.bits));
        remainder = remainder * 256 - (dg_i128)(b * byte);
    }
    *out = remainder > 0;
    return DG_OK;
}

/** dg_big_uniform_below in words. Requires: 1 <= n < 2^55. */
static inline dg_status uniform_below(uint64_t *out, uint64_t n, word_draw draw)
{
    uint64_t word;
    size_t n_bytes = n == 1 ? 0 : (size_t)(64 - __builtin_clzll(n - 1) + 7) / 8 + 1;
    DG_TRY(dg_bits_word(&word, n_bytes, draw.bits));
    dg_u128 one = (dg_u128)1 << (8 * n_bytes);
    dg_u128 product = (dg_u128)word * n;
    dg_u128 below = one - (product & (one - 1));
    *out = (uint64_t)(product >> (8 * n_bytes));
    if (__builtin_expect(below < n, 0)) {
        bool stays;
        DG_TRY(bernoulli(&stays, below, n, draw));
        *out += !stays;
    }
    return DG_OK;
}

/** dg_big_bernoulli in one word. Requires: a < 2^63, 0 < b < 2^55. */
static inline dg_status short_bernoulli(bool *out, uint64_t a, uint64_t b, word_draw draw)
{
    int64_t remainder = (int64_t)a;
    while (remainder > 0 && remainder < (int64_t)b) {
        uint32_t byte;
        DG_TRY(dg_bits_byte(&byte, draw.bits));
        remainder = remainder * 256 - (int64_t)(b * byte);
    }
    *out = remainder > 0;
    return DG_OK;
}

/** The loop of Algorithm 1 from k on, by GMP, because k den outgrows the words. */
static __attribute__((noinline)) dg_status bernoulli_exp_from(bool *out, dg_u128 num, dg_u128 den,
                                                              unsigned long k, word_draw draw)
{
    DG_TRY(dg_big_open(draw.big, draw.law));
    from_u128(draw.big->num, num);
    from_u128(draw.big->den, den);
    return dg_big_bernoulli_exp_from(out, draw.big->num, draw.big->den, k, draw.big, draw.bits);
}

/** dg_big_bernoulli_exp in words, num <= den. Requires: den < 2^111. */
static inline dg_status bernoulli_exp_unit(bool *out, dg_u128 num, dg_u128 den, word_draw draw)
{
    for (unsigned long k = 1; k < DG_WORD_K_LIMIT; k++) {
        bool more;
        DG_TRY(bernoulli(&more, num, den * k, draw));
        if (!more) {
            *out = k % 2 == 1;
            return DG_OK;
        }
    }
    return bernoulli_exp_from(out, num, den, DG_WORD_K_LIMIT, draw);
}

/** bernoulli_exp_unit in one word. Requires: num <= den < 2^47. */
static inline dg_status short_bernoulli_exp_unit(bool *out, uint64_t num, uint64_t den,
                                                 word_draw draw)
{
    for (unsigned long k = 1; k < DG_WORD_K_LIMIT; k++) {
        bool more;
        DG_TRY(short_bernoulli(&more, num, den * k, draw));
        if (!more) {
            *out = k % 2 == 1;
            return DG_OK;
        }
    }
    return bernoulli_exp_from(out, num, den, DG_WORD_K_LIMIT, draw);
}

/** dg_big_bernoulli_exp in words. Requires: num < 2^127, 0 < den < 2^111. */
static inline dg_status bernoulli_exp(bool *out, dg_u128 num, dg_u128 den, word_draw draw)
{
    while (num > den) {
        DG_TRY(short_bernoulli_exp_unit(out, 1, 1, draw));
        if (!*out) {
            return DG_OK;
        }
        num -= den;
    }
    if (den < (dg_u128)1 << DG_SHORT_DEN_BITS) {
        return short_bernoulli_exp_unit(out, (uint64_t)num, (uint64_t)den, draw);
    }
    return bernoulli_exp_unit(out, num, den, draw);
}

/** Law: Pr[*out = k] ~ exp(-k s/t). *out < 2^119: it is at most t times a count, and no run lasts until the
 *  count reaches 2^64. */
static inline dg_status geometric_exp(dg_u128 *out, word_draw draw)
{
    const uint64_t t = draw.law->words.t, s = draw.law->words.s;
    uint64_t u, v = 0;
    bool keep;
    do {
        DG_TRY(uniform_below(&u, t, draw));
        DG_TRY(bernoulli_exp(&keep, u, t, draw));
    } while (!keep);
    for (;;) {
        DG_TRY(short_bernoulli_exp_unit(&keep, 1, 1, draw));
        if (!keep) {
            break;
        }
        v++;
    }
    dg_u128 x = (dg_u128)t * v + u;
    if (s != 1) {
        x = x >> 64 == 0 ? (uint64_t)x / s : x / s;
    }
    *out = x;
    return DG_OK;
}

static inline dg_status laplace(dg_i128 *y, word_draw draw)
{
    dg_u128 magnitude;
    bool negative;
    do {
        DG_TRY(geometric_exp(&magnitude, draw));
        DG_TRY(short_bernoulli(&negative, 1, 2, draw));
    } while (negative && magnitude == 0);
    *y = negative ? -(dg_i128)magnitude : (dg_i128)magnitude;
    return DG_OK;
}

static dg_status shifted_laplace(dg_i128 *y, word_draw draw)
{
    const dg_word_constants *words = &draw.law->words;
    dg_u128 magnitude;
    bool far, keep = true;
    do {
        DG_TRY(short_bernoulli(&far, 1, 2, draw));
        if (far) {
            DG_TRY(bernoulli_exp(&keep, words->side_num, words->side_den, draw));
        }
    } while (far && !keep);
    DG_TRY(geometric_exp(&magnitude, draw));
    magnitude += far;
    *y = far == (words->n < 0) ? -(dg_i128)magnitude : (dg_i128)magnitude;
    return DG_OK;
}

/** The acceptance by GMP, for a y that is too large for words. */
static __attribute__((noinline)) dg_status accept_by_gmp(bool *accept, dg_i128 y, word_draw draw)
{
    DG_TRY(dg_big_open(draw.big, draw.law));
    from_i128(draw.big->y, y);
    return dg_big_accept_gaussian(accept, draw.big->y, draw.law, draw.big, draw.bits);
}

static inline dg_status accept_gaussian(bool *accept, dg_i128 y, word_draw draw)
{
    const dg_word_constants *words = &draw.law->words;
    dg_u128 magnitude = y < 0 ? -(dg_u128)y : (dg_u128)y;
    if (__builtin_expect((dg_i128)magnitude > words->y_max, 0)) {
        return accept_by_gmp(accept, y, draw);
    }
    dg_i128 distance = y * (dg_i128)words->d - words->n;
    dg_i128 num =
        distance * distance * (dg_i128)words->A - (dg_i128)(words->B * magnitude) - words->M;
    DG_REQUIRES(num >= 0);
    return bernoulli_exp(accept, (dg_u128)num, words->D, draw);
}

static inline dg_status gaussian(dg_i128 *y, word_draw draw)
{
    bool accept;
    do {
        DG_TRY(laplace(y, draw));
        DG_TRY(accept_gaussian(&accept, *y, draw));
    } while (!accept);
    return DG_OK;
}

dg_status dg_words_bernoulli(bool *out, dg_u128 a, dg_u128 b, dg_bits *bits)
{
    return bernoulli(out, a, b, (word_draw){NULL, NULL, bits});
}

dg_status dg_words_uniform_below(uint64_t *out, uint64_t n, dg_bits *bits)
{
    return uniform_below(out, n, (word_draw){NULL, NULL, bits});
}

dg_status dg_words_bernoulli_exp(bool *out, dg_u128 num, dg_u128 den, const dg_law *law,
                                 dg_big *big, dg_bits *bits)
{
    return bernoulli_exp(out, num, den, (word_draw){law, big, bits});
}

dg_status dg_words_draw(dg_i128 *out, const dg_law *law, dg_big *big, dg_bits *bits)
{
    const word_draw draw = {law, big, bits};
    bool one = false;
    uint64_t below = 0;
    dg_u128 count = 0;
    switch (law->kind) {
    case DG_BERNOULLI:
        DG_TRY(bernoulli(&one, law->words.a, law->words.b, draw));
        *out = one;
        return DG_OK;
    case DG_UNIFORM_BELOW:
        DG_TRY(uniform_below(&below, (uint64_t)law->words.a, draw));
        *out = below;
        return DG_OK;
    case DG_BERNOULLI_EXP:
        DG_TRY(bernoulli_exp(&one, law->words.a, law->words.b, draw));
        *out = one;
        return DG_OK;
    case DG_GEOMETRIC_EXP:
        DG_TRY(geometric_exp(&count, draw));
        *out = (dg_i128)count;
        return DG_OK;
    case DG_DISCRETE_LAPLACE:
        DG_TRY(law->centred ? laplace(out, draw) : shifted_laplace(out, draw));
        break;
    case DG_DISCRETE_GAUSSIAN:
        DG_TRY(gaussian(out, draw));
        break;
    case DG_GENERALIZED_GAUSSIAN:
        return DG_ERR_METHOD; /* has no algorithm here */
    }
    *out += law->words.c;
    return DG_OK;
}

#endif
