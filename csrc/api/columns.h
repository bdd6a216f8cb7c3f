/* Columns of numbers (dg_column): what stands there, exactly, and the law of an element. */
#ifndef DG_API_COLUMNS_H
#define DG_API_COLUMNS_H

#include "law/law.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** num 2^up / (den 2^down), in lowest terms if the number was. */
typedef struct dg_number {
    int64_t num, den;
    unsigned up, down;
} dg_number;

/** The number that a binary64 is: *mantissa 2^*exponent. Its 64 bits are read as integers: no
 *  floating-point arithmetic.
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

/** How many numbers n laws have. */
static inline size_t dg_n_numbers(const dg_column *column, size_t n)
{
    return column->stride == 0 ? 1 : n;
}

/** The words of law i. */
static inline const uint64_t *dg_words_at(const dg_column *column, size_t i)
{
    return column->words + i * column->stride;
}

/** Read an element. Returns: DG_OK | DG_ERR_PARAMETER: no such format, or a float that is not finite. */
dg_status dg_read_number(dg_number *out, const dg_column *column, size_t i);

/** The law of numbers, as dg_law_new makes it. */
dg_status dg_long_law_new(dg_law **law, dg_law_kind kind, const dg_number *parameter,
                          const dg_number *centre);

/** The law of element i, as dg_law_new makes it. */
dg_status dg_exact_law_new(dg_law **law, const dg_laws *laws, size_t i);

/** The nearest integers to centres (halves up), and the rests, from -1/2 to 1/2. */
typedef struct dg_split {
    dg_column integers; /* in the places of the centres; words == NULL: all are 0 */
    dg_column rests;    /* likewise; of a stride of 0 where all are the same */
    void *own_integers, *own_rests;
} dg_split;

/** Split n centres. Of long ratios, whose denominator is 0, the integer is 0.
 *
 *  Requires:  n > 0; no number but those breaks the rules of dg_column, and no float is beyond 2^62.
 *  Ensures:   either way to be freed by dg_split_free.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_STOPPED: by run->pause.
 */
dg_status dg_split_centres(dg_split *split, const dg_column *centres, size_t n, const dg_run *run);

void dg_split_free(dg_split *split);

#endif
