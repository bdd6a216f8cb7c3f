#include "mechanisms/select.h"

#include "exact/words.h"

static const uint8_t *gap_at(const dg_selection *selection, size_t row, size_t i)
{
    return selection->gaps + (row * selection->k + i) * selection->gap_bytes;
}

#if DG_HAVE_WORDS
/** Return a gap of at most eight bytes. */
static inline uint64_t small_gap(const uint8_t *bytes, size_t n_bytes)
{
    uint64_t gap = 0;
    if (n_bytes == sizeof gap) {
        __builtin_memcpy(&gap, bytes, sizeof gap);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        gap = __builtin_bswap64(gap);
#endif
        return gap;
    }
    for (size_t i = n_bytes; i-- > 0;) {
        gap = gap << 8 | bytes[i];
    }
    return gap;
}
#endif

/** Return whether all bytes of the gap are 0. */
static bool is_zero(const uint8_t *gap, size_t n_bytes)
{
    while (n_bytes > 0 && *gap == 0) {
        gap++;
        n_bytes--;
    }
    return n_bytes == 0;
}

bool dg_select_has_best(const dg_selection *selection)
{
    for (size_t row = 0; row < selection->n_rows; row++) {
        size_t i = 0;
        while (i < selection->k && !is_zero(gap_at(selection, row, i), selection->gap_bytes)) {
            i++;
        }
        if (i == selection->k) {
            return false;
        }
    }
    return true;
}

bool dg_select_fits_words(const dg_selection *selection)
{
#if DG_HAVE_WORDS
    if (!selection->rate->uses_words || selection->gap_bytes > 8) {
        return false;
    }
    uint64_t all = 0;
    for (size_t i = 0; i < selection->n_rows * selection->k; i++) {
        all |= small_gap(gap_at(selection, 0, i), selection->gap_bytes);
    }
    const size_t gap_bits = all == 0 ? 0 : (size_t)(64 - __builtin_clzll(all));
    return gap_bits + mpz_sizeinbase(selection->rate->a, 2) <= 127;
#else
    (void)selection;
    return false;
#endif
}

/** Law: Pr[*passes] = exp(-gap rate). */
static dg_status flip(bool *passes, const dg_selection *selection, const uint8_t *gap, dg_big *big,
                      dg_bits *bits)
{
    const dg_law *rate = selection->rate;
#if DG_HAVE_WORDS
    if (selection->in_words) {
        const dg_u128 num = rate->words.a * small_gap(gap, selection->gap_bytes);
        return dg_words_bernoulli_exp(passes, num, rate->words.b, rate, big, bits);
    }
#endif
    mpz_import(big->u, selection->gap_bytes, -1, 1, 0, 0, gap);
    mpz_mul(big->u, big->u, rate->a);
    return dg_big_bernoulli_exp(passes, big->u, rate->b, big, bits);
}

/** Law: *out uniform on 0 ... n-1. */
static dg_status pick(uint64_t *out, uint64_t n, dg_big *big, dg_bits *bits)
{
#if DG_HAVE_WORDS
    (void)big;
    return dg_words_uniform_below(out, n, bits);
#else
    mpz_import(big->u, 1, -1, sizeof n, 0, 0, &n);
    DG_TRY(dg_big_uniform_below(big->v, big->u, big, bits));
    *out = 0;
    mpz_export(out, NULL, -1, sizeof *out, 0, 0, big->v);
    return DG_OK;
#endif
}

dg_status dg_select_permute_and_flip(uint64_t *out, const dg_selection *selection, size_t row,
                                     uint64_t *order, dg_big *big, dg_bits *bits)
{
    for (uint64_t i = 0; i < selection->k; i++) {
        order[i] = i;
    }
    for (uint64_t left = selection->k; left > 0; left--) {
        uint64_t place;
        bool passes;
        DG_TRY(pick(&place, left, big, bits));
        const uint64_t candidate = order[place];
        order[place] = order[left - 1];
        DG_TRY(flip(&passes, selection, gap_at(selection, row, (size_t)candidate), big, bits));
        if (passes) {
            *out = candidate;
            return DG_OK;
        }
    }
    return DG_ERR_GAPS;
}

dg_status dg_select_exponential(uint64_t *out, const dg_selection *selection, size_t row,
                                dg_big *big, dg_bits *bits)
{
    bool passes;
    do {
        DG_TRY(pick(out, selection->k, big, bits));
        DG_TRY(flip(&passes, selection, gap_at(selection, row, (size_t)*out), big, bits));
    } while (!passes);
    return DG_OK;
}
