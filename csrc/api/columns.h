/* Columns of numbers (dg_column): reading a number exactly, and making the law of an element. */
#ifndef DG_API_COLUMNS_H
#define DG_API_COLUMNS_H

#include "law/law.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** num 2^up / (den 2^down), or its square. It is in lowest terms if the number that was read was. */
typedef struct dg_number {
    int64_t num, den;
    unsigned up, down;
    bool is_root; /* the number is the square */
} dg_number;

/** Split a binary64 into *mantissa 2^*exponent. Its 64 bits are read as integers, without floating-point arithmetic.
 *
 *  Returns:   false if it is not finite.
 */
static inline bool dg_split_float(int64_t *mantissa, int *exponent, uint64_t bits)
{
    enum { FRACTION_BITS = 52, LARGEST_EXPONENT = 0x7ff, BIAS = 1075 };
    const unsigned biased = (unsigned)(bits >> FRACTION_BITS) & LARGEST_EXPONENT;
    const uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    const uint64_t leading = (uint64_t)(biased != 0) << FRACTION_BITS;
    *exponent = (int)biased - BIAS + (biased == 0);
    *mantissa = (int64_t)(fraction | leading);
    *mantissa = bits >> 63 ? -*mantissa : *mantissa;
    return biased != LARGEST_EXPONENT;
}

/** Return how many numbers the column has for n laws. */
static inline size_t dg_n_numbers(const dg_column *column, size_t n)
{
    return column->stride == 0 ? 1 : n;
}

/** Return the words of law i. */
static inline const uint64_t *dg_words_at(const dg_column *column, size_t i)
{
    return column->words + i * column->stride;
}

/** Read the parameter and the centre of element i. Returns: DG_OK | DG_ERR_LAWS_PARAMETER or DG_ERR_LAWS_CENTRE: no such
 *  format, a float that is not finite, a denominator below 1, or a centre that is the square of a root. */
dg_status dg_read_law(dg_number *parameter, dg_number *centre, const dg_laws *laws, size_t i);

/** Make the law of two numbers, as dg_law_new makes it. */
dg_status dg_long_law_new(dg_law **law, dg_law_kind kind, const dg_number *parameter,
                          const dg_number *centre);

/** Make the law of element i, as dg_law_new makes it. */
dg_status dg_exact_law_new(dg_law **law, const dg_laws *laws, size_t i);

/** The nearest integers to centres (halves up), and the remainders, from -1/2 to 1/2. */
typedef struct dg_split {
    dg_column integers;   /* one for each centre; words == NULL: all are 0 */
    dg_column remainders; /* one for each centre; the stride is 0 if all are equal */
    void *own_integers, *own_remainders;
} dg_split;

/** Split n centres. A ratio whose denominator is 0 has the integer 0.
 *
 *  Requires:  n > 0; no other number breaks the rules of dg_column, and no float is beyond 2^62.
 *  Ensures:   the caller frees the split, whatever is returned.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_STOPPED: by run->pause.
 */
dg_status dg_split_centres(dg_split *split, const dg_column *centres, size_t n, const dg_run *run);

void dg_split_free(dg_split *split);

#endif
