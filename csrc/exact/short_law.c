#include "exact/short_law.h"

#if DG_HAVE_WORDS

#include "base/memory.h"
#include "exact/words.h"

#include <string.h>

/* No intermediate of the usual draws is longer. The longest denominator is D = 2 p d^2 t < 2^254; a draw
 * multiplies it by a count and by 2^8. N(y) is about D if y is about t. */
enum { SHORT_LIMB_BITS = 768 };

const dg_law dg_short_law_room = {
    .limb_bits = SHORT_LIMB_BITS,
    .room_bytes = DG_ROOM + 32 * (SHORT_LIMB_BITS / 8),
};

static unsigned length(dg_u128 x)
{
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    if (high != 0) {
        return 128 - (unsigned)__builtin_clzll(high);
    }
    return low == 0 ? 0 : 64 - (unsigned)__builtin_clzll(low);
}

/** *out = x y. Returns: whether *out has at most n_bits (<= 127), and so is exact. */
static bool product(dg_u128 *out, dg_u128 x, dg_u128 y, unsigned n_bits)
{
    if (length(x) + length(y) > 128) { /* otherwise the product is below 2^128 */
        return false;
    }
    *out = x * y;
    return length(*out) <= n_bits;
}

static bool is_power_of_2(uint64_t x)
{
    return (x & (x - 1)) == 0;
}

static bool in_lowest_terms(dg_short_ratio ratio)
{
    if (ratio.den <= 0) {
        return false;
    }
    uint64_t x = ratio.num < 0 ? 0 - (uint64_t)ratio.num : (uint64_t)ratio.num;
    uint64_t y = (uint64_t)ratio.den;
    if (is_power_of_2(y)) {
        return y == 1 || x % 2 == 1;
    }
    while (y != 0) {
        const uint64_t remainder = x % y;
        x = y;
        y = remainder;
    }
    return x == 1;
}

/** floor(sqrt(x)), by Newton's iteration from above. */
static uint64_t root(uint64_t x)
{
    if (x == 0) {
        return 0;
    }
    uint64_t r = UINT64_C(1) << ((length(x) + 1) / 2), next; /* r^2 > x */
    while ((next = (r + x / r) / 2) < r) {
        r = next;
    }
    return r;
}

/** Set z to a read-only integer that refers to `limbs`. It must not be cleared. */
static void view(mpz_ptr z, mp_limb_t *limbs, bool negative, dg_u128 magnitude)
{
    int n = 0; /* limbs, the last one not 0 */
    for (; magnitude != 0; n++) {
        limbs[n] = (mp_limb_t)magnitude;
        magnitude = magnitude >> (GMP_NUMB_BITS - 1) >> 1;
    }
    const mpz_t shown = MPZ_ROINIT_N(limbs, negative ? -n : n);
    *z = *shown;
}

/** c = the integer nearest to the centre (halves up), n/d = the remainder. */
static bool split_centre(dg_word_constants *words, dg_short_ratio centre)
{
    const dg_i128 d = centre.den;
    words->c = 0;
    if (2 * (dg_i128)centre.num < -d || 2 * (dg_i128)centre.num >= d) {
        const dg_i128 over = 2 * (dg_i128)centre.num + d;
        const dg_i128 c = over / (2 * d) - (over % (2 * d) < 0);
        words->c = (int64_t)c; /* |c| <= |num| */
    }
    words->n = (int64_t)(centre.num - (dg_i128)words->c * d);
    words->d = (uint64_t)centre.den;
    return length(words->c < 0 ? 0 - (uint64_t)words->c : (uint64_t)words->c) <= DG_WORD_S_BITS &&
           length(words->d) <= DG_WORD_S_BITS;
}

static bool prepare_laplace(dg_word_constants *words, uint64_t abs_n)
{
    return length(words->t) <= DG_WORD_T_BITS && length(words->s) <= DG_WORD_S_BITS &&
           product(&words->side_num, words->d - 2 * abs_n, words->s, 127) &&
           product(&words->side_den, words->d, words->t, DG_WORD_DEN_BITS);
}

/** A, B, M and D of law/law.c. */
static bool prepare_acceptance(dg_word_constants *words, dg_u128 p, dg_u128 q, uint64_t abs_n)
{
    const dg_u128 t = words->t, d = words->d;
    dg_u128 qt, d2, power;
    if (!product(&qt, q, t, DG_WORD_TERM_BITS) || !product(&d2, d, d, DG_WORD_TERM_BITS)) {
        return false;
    }
    if (words->n == 0) {
        dg_u128 p2;
        if (!product(&words->A, qt, qt, DG_WORD_TERM_BITS) ||
            !product(&words->B, 2 * p, qt, DG_WORD_TERM_BITS) ||
            !product(&p2, p, p, DG_WORD_TERM_BITS)) {
            return false;
        }
        words->M = -(dg_i128)p2;
    } else {
        dg_u128 pd, qtd, best, square, linear;
        words->A = qt;
        if (!product(&words->B, 2 * p, d2, DG_WORD_TERM_BITS) || !product(&pd, p, d, 122) ||
            !product(&qtd, qt, d, 122)) {
            return false;
        }
        best = (2 * (pd + abs_n * qt) + qtd) / (2 * qtd); /* abs_n qt <= qtd/2 */
        if (!product(&square, best, d, 63)) {
            return false;
        }
        const dg_i128 distance = (dg_i128)square - abs_n;
        if (!product(&square, (dg_u128)(distance * distance), words->A, DG_WORD_TERM_BITS) ||
            !product(&linear, words->B, best, DG_WORD_TERM_BITS)) {
            return false;
        }
        words->M = (dg_i128)square - (dg_i128)linear; /* below 2^125 in size, because both are */
    }
    if (!product(&words->D, words->B, t, DG_WORD_DEN_BITS) ||
        !product(&power, d2, words->A, DG_WORD_TERM_BITS)) {
        return false;
    }
    /* 2^e B and (2^e d)^2 A have at most DG_WORD_TERM_BITS */
    const unsigned by_linear = DG_WORD_TERM_BITS - length(words->B);
    const unsigned by_square = (DG_WORD_TERM_BITS - length(power)) / 2;
    const unsigned e = by_linear < by_square ? by_linear : by_square;
    words->y_max = (INT64_C(1) << (e < 62 ? e : 62)) - 1;
    return (uint64_t)words->y_max / 16 >= words->t;
}

static bool prepare_gaussian(dg_short_law *to, dg_short_ratio sigma2, uint64_t abs_n)
{
    dg_law *law = &to->law;
    dg_word_constants *words = &law->words;
    const uint64_t p = (uint64_t)sigma2.num, q = (uint64_t)sigma2.den;
    words->t = root(is_power_of_2(q) ? p >> __builtin_ctzll(q) : p / q) + 1;
    words->s = 1;
    if (!prepare_acceptance(words, p, q, abs_n)) {
        return false;
    }
    /* dg_big_accept_gaussian reads these if y is beyond y_max */
    view(law->d, to->limbs[0], false, words->d);
    view(law->n, to->limbs[1], words->n < 0, abs_n);
    view(law->A, to->limbs[2], false, words->A);
    view(law->B, to->limbs[3], false, words->B);
    view(law->M, to->limbs[4], words->M < 0, words->M < 0 ? -(dg_u128)words->M : (dg_u128)words->M);
    view(law->D, to->limbs[5], false, words->D);
    return true;
}

/** Do what prepare_sizes of law/law.c does. */
static void prepare_sizes(dg_law *law)
{
    law->expected_bytes = 4;
    if (law->kind >= DG_GEOMETRIC_EXP) {
        const uint64_t t = law->words.t;
        const size_t uniform = t == 1 ? 0 : (length(t - 1) + 7) / 8 + 1;
        law->min_bytes = uniform + (law->kind == DG_GEOMETRIC_EXP ? 1 : 2);
        law->expected_bytes = 2 * uniform + (law->kind == DG_DISCRETE_GAUSSIAN ? 16 : 8);
    }
    law->wide_bytes = sizeof(dg_i128);
    law->limb_bits = dg_short_law_room.limb_bits;
    law->room_bytes = dg_short_law_room.room_bytes;
}

bool dg_short_law_obeys(dg_short_ratio parameter, dg_short_ratio centre)
{
    return parameter.num > 0 && in_lowest_terms(parameter) && in_lowest_terms(centre);
}

bool dg_short_law_prepare(dg_short_law *to, dg_law_kind kind, dg_short_ratio parameter,
                          dg_short_ratio centre)
{
    dg_law *law = &to->law;
    dg_word_constants *words = &law->words;
    if (parameter.num < 0 || !in_lowest_terms(parameter) || !in_lowest_terms(centre)) {
        return false;
    }
    memset(law, 0, sizeof *law);
    law->kind = kind;
    law->uses_words = true;
    if (kind == DG_BERNOULLI_EXP) {
        words->a = (uint64_t)parameter.num;
        words->b = (uint64_t)parameter.den;
        prepare_sizes(law);
        return centre.num == 0;
    }
    if (parameter.num == 0 || !split_centre(words, centre)) {
        return false;
    }
    const uint64_t abs_n = words->n < 0 ? 0 - (uint64_t)words->n : (uint64_t)words->n;
    law->centred = words->n == 0;
    bool fits = false;
    switch (kind) {
    case DG_GEOMETRIC_EXP:
        words->t = (uint64_t)parameter.den;
        words->s = (uint64_t)parameter.num;
        fits = centre.num == 0 && length(words->t) <= DG_WORD_T_BITS &&
               length(words->s) <= DG_WORD_S_BITS;
        break;
    case DG_DISCRETE_LAPLACE:
        words->t = (uint64_t)parameter.num;
        words->s = (uint64_t)parameter.den;
        fits = prepare_laplace(words, abs_n);
        break;
    case DG_DISCRETE_GAUSSIAN:
        fits = prepare_gaussian(to, parameter, abs_n);
        break;
    case DG_BERNOULLI: /* no arrays have these kinds: dg_law_new makes them */
    case DG_UNIFORM_BELOW:
    case DG_BERNOULLI_EXP:
    case DG_GENERALIZED_GAUSSIAN:
        break;
    }
    if (fits) {
        prepare_sizes(law);
    }
    return fits;
}

#endif
