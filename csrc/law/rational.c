#include "law/rational.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** The digits of an integer, behind its prefix. */
typedef struct digits {
    const char *first;
    size_t n;
    int base; /* 10 or 16 */
} digits;

/** The parts of a text. The digits behind "." belong to the same number as those before it. */
typedef struct parts {
    bool negative;
    digits whole, fraction, den; /* n == 0: absent */
} parts;

static bool is_digit(char c, int base)
{
    return (c >= '0' && c <= '9') ||
           (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

/** Read digits at *text and move *text behind them. Returns: whether there are any. */
static bool read_digits(digits *out, const char **text)
{
    const char *at = *text;
    out->base = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') ? 16 : 10;
    at += out->base == 16 ? 2 : 0;
    out->first = at;
    while (is_digit(*at, out->base)) {
        at++;
    }
    out->n = (size_t)(at - out->first);
    *text = at;
    return out->n > 0;
}

static bool split(parts *out, const char *text)
{
    *out = (parts){.negative = text != NULL && *text == '-'};
    if (text == NULL) {
        return false;
    }
    text += *text == '-' || *text == '+' ? 1 : 0;
    if (!read_digits(&out->whole, &text)) {
        return false;
    }
    if (*text == '/') {
        text++;
        return read_digits(&out->den, &text) && *text == 0;
    }
    if (*text == '.') {
        text++;
        return read_digits(&out->fraction, &text) && out->whole.base == 10 &&
               out->fraction.base == 10 && *text == 0;
    }
    return *text == 0;
}

/** Return how many bits these digits take at most. */
static size_t bits_of(const digits *of)
{
    return of->base == 16 ? 4 * of->n : (10 * of->n + 2) / 3;
}

dg_status dg_rational_length(size_t *n_bytes, const char *text, const dg_refused *refused)
{
    /* the limit is double, so that leading zeros and the last digit's unused bits do not refuse a number */
    enum { MOST_BITS = 2 * DG_MAX_PARAMETER_BITS };
    parts of;
    if (!split(&of, text)) {
        return refused->no_number;
    }
    const size_t num = bits_of(&of.whole) + bits_of(&of.fraction), den = bits_of(&of.den);
    if (num > MOST_BITS || den > MOST_BITS) {
        return refused->too_long;
    }
    *n_bytes += num / 8 + (of.fraction.n > 0 ? num : den) / 8 + 2;
    return DG_OK;
}

/** out = out base^n + the number that the digits make. */
static dg_status append(mpz_t out, const digits *of)
{
    char *copy = malloc(of->n + 1);
    if (copy == NULL) {
        return DG_ERR_NOMEM;
    }
    memcpy(copy, of->first, of->n);
    copy[of->n] = 0;
    mpz_t more;
    mpz_init(more);
    (void)mpz_set_str(more, copy, of->base);
    free(copy);
    if (mpz_sgn(out) != 0) {
        mpz_t power;
        mpz_init(power);
        mpz_ui_pow_ui(power, (unsigned long)of->base, of->n);
        mpz_mul(out, out, power);
        mpz_clear(power);
    }
    mpz_add(out, out, more);
    mpz_clear(more);
    return DG_OK;
}

dg_status dg_rational_read(mpz_t num, mpz_t den, const char *text, const dg_refused *refused)
{
    parts of;
    if (!split(&of, text)) {
        return refused->no_number;
    }
    mpz_set_ui(num, 0);
    mpz_set_ui(den, of.den.n > 0 ? 0 : 1);
    DG_TRY(append(num, &of.whole));
    if (of.fraction.n > 0) {
        DG_TRY(append(num, &of.fraction));
        mpz_ui_pow_ui(den, 10, of.fraction.n);
    }
    if (of.den.n > 0) {
        DG_TRY(append(den, &of.den));
    }
    if (mpz_sgn(den) == 0) {
        return refused->no_number;
    }
    mpz_t common;
    mpz_init(common);
    mpz_gcd(common, num, den);
    mpz_divexact(num, num, common);
    mpz_divexact(den, den, common);
    mpz_clear(common);
    if (of.negative) {
        mpz_neg(num, num);
    }
    return mpz_sizeinbase(num, 2) > DG_MAX_PARAMETER_BITS ||
                   mpz_sizeinbase(den, 2) > DG_MAX_PARAMETER_BITS
               ? refused->too_long
               : DG_OK;
}
