#include "base/memory.h"
#include "base/wipe.h"
#include "bounds/refine.h"
#include "isochronous/lane_attempt.h"
#include "isochronous/silent.h"

#if DG_HAVE_WORDS

enum { FAR_BITS = 62, PLACED_BITS = 26 }; /* z below 2^62; f' below 2^26 2^-64 may be in a tail */

/** An attempt, and the stream from which f' comes. */
typedef struct attempt {
    uint64_t code, rel, length; /* its piece, and the place there */
    uint64_t z;
    unsigned left;
    mpz_t y, f;
    const dg_silent *silent;
    const uint8_t *words; /* of the batch */
    size_t n_words;       /* that were taken */
    dg_bits *bits;        /* behind the batch */
} attempt;

/** Take the next word of f'. */
static dg_status take_word(uint64_t *word, attempt *at)
{
    if (at->n_words < DG_SILENT_WORDS) {
        *word = load_word(at->words + 8 * at->n_words++);
        return DG_OK;
    }
    return dg_bits_word(word, sizeof *word, at->bits);
}

/** Ask whether m + f' < 2^level H g(y) pieces / units. f' begins with `word`. */
static dg_status ask(bool *yes, uint64_t word, const dg_question *question, attempt *at)
{
    DG_TRY(dg_memory_available(at->silent->law.room_bytes));
    dg_silent_set_y(at->y, at->z, at->left);
    mpz_import(at->f, 1, -1, sizeof word, 0, 0, &word);
    return dg_refine(yes, at->f, 64, at->y, question, &at->silent->law, at->bits);
}

/** Return the sign of L H g(y) - m c, by as many bits of g as that takes. */
static dg_status against(int *sign, uint64_t m, attempt *at)
{
    const dg_silent *silent = at->silent;
    mpfr_prec_t precision = DG_FIRST_PRECISION;
    DG_TRY(dg_memory_available(silent->law.room_bytes));
    dg_silent_set_y(at->y, at->z, at->left);
    mpz_import(at->f, 1, -1, sizeof m, 0, 0, &m);
    mpz_mul_ui(at->f, at->f, silent->c[at->code]);
    for (bool is_known = false; !is_known;
         precision *= 2) { /* ends: g is transcendental, or it is 1 and known */
        dg_enclosure e;
        dg_enclosure_open(&e, precision < 64 ? 64 : precision);
        dg_enclose_weight(&e, at->y, &silent->law);
        mpfr_mul_ui(e.lower, e.lower, silent->height, MPFR_RNDD);
        mpfr_mul_ui(e.lower, e.lower, (unsigned long)at->length, MPFR_RNDD);
        mpfr_mul_ui(e.upper, e.upper, silent->height, MPFR_RNDU);
        mpfr_mul_ui(e.upper, e.upper, (unsigned long)at->length, MPFR_RNDU);
        const int of_lower = mpfr_cmp_z(e.lower, at->f), of_upper = mpfr_cmp_z(e.upper, at->f);
        dg_enclosure_close(&e);
        is_known = of_lower == of_upper;
        *sign = of_lower;
    }
    return DG_OK;
}

/** Decide an attempt at a border: floor(L H g / c) is rel, and is not the number itself. */
static dg_status decide_border(bool *accepted, attempt *at)
{
    uint64_t word;
    const dg_question question = {
        .height = at->silent->height,
        .m = (uint32_t)at->rel,
        .level = 0,
        .pieces = (uint32_t)at->length,
        .units = at->silent->c[at->code],
    };
    DG_TRY(take_word(&word, at));
    return ask(accepted, word, &question, at);
}

/** Decide an attempt in a block. */
static dg_status decide(bool *accepted, attempt *at)
{
    const dg_silent *silent = at->silent;
    const uint64_t lift = silent->lift[at->code];
    uint64_t height = silent->kept[at->code];
    if (silent->block_bits > 0) {
        const uint64_t exponent = dg_silent_exponent(at->z, at->left, silent);
        const uint64_t lifted = lift << DG_LANE_BITS;
        height = height_of(exponent > lifted ? exponent - lifted : 0);
    }
    /* heights are below 2^53, L H below 2^40, rel c 2^lift below 2^64 */
    const uint64_t above = silent->above + lift * silent->above_a_step;
    const uint64_t low = height > above ? height - above : 0;
    const uint64_t of_piece = at->length * silent->height;
    const dg_u128 unit = (dg_u128)silent->c[at->code] << (lift + DG_LANE_BITS),
                  least = at->rel * unit;
    const dg_u128 lower = (dg_u128)of_piece * low,
                  upper = (dg_u128)of_piece * (height + silent->below);
    *accepted = lower >= least + unit;
    if (*accepted || upper <= least) {
        return DG_OK;
    }
    int of_next, of_this;
    DG_TRY(against(&of_next, at->rel + 1, at));
    DG_TRY(against(&of_this, at->rel, at));
    if (of_next >= 0 || of_this <= 0) {
        *accepted = of_next >= 0;
        return DG_OK;
    }
    return decide_border(accepted, at);
}

/** Decide an attempt in a tail, and find its z. */
static dg_status decide_tail(bool *accepted, attempt *at)
{
    uint64_t f, word, level = 0, ones;
    DG_TRY(take_word(&f, at));
    *accepted = false;
    if (f >> PLACED_BITS != 0) {
        return DG_OK; /* 2^(level + 2) H g is below 2^-38 on all levels */
    }
    DG_TRY(dg_bits_word(&word, sizeof word, at->bits));
    const uint64_t k = word & 1;
    ones = (uint64_t)__builtin_ctzll(~(word >> 1));
    level = ones;
    for (bool goes_on = ones == 63; goes_on;) {
        DG_TRY(dg_bits_word(&word, sizeof word, at->bits));
        ones = word == UINT64_MAX ? 64 : (uint64_t)__builtin_ctzll(~word);
        level += ones;
        goes_on = ones == 64;
    }
    const uint64_t block = DG_SILENT_TAIL + 2 * level + k;
    if (block >> (FAR_BITS - at->silent->block_bits) != 0) {
        return DG_ERR_RANGE;
    }
    at->z += (block - DG_SILENT_TAIL) << at->silent->block_bits;
    const dg_question question = {
        .height = at->silent->height, .m = 0, .level = level + 2, .pieces = 1, .units = 1};
    return ask(accepted, f, &question, at);
}

/** Read attempt i of n from a batch. */
static void read_attempt(attempt *at, const uint8_t *batch, size_t i, size_t n)
{
    const dg_silent *silent = at->silent;
    const uint64_t row = batch[i], end = silent->end[row];
    const uint64_t position = (uint64_t)batch[n + i] << 8 | batch[2 * n + i];
    const bool is_second = position >= end;
    uint64_t tick = 0;
    for (unsigned k = 0; k < silent->n_planes; k++) {
        tick |= (uint64_t)batch[(3 + k) * n + i] << (8 * k);
    }
    at->code = is_second ? silent->alias[row] : row;
    at->rel = is_second ? position - end : position;
    at->length = is_second ? (UINT64_C(1) << 16) - end : end;
    at->left = (unsigned)(at->code >> 7);
    at->z = (at->code & 127) << silent->block_bits |
            tick >> (8 * silent->n_planes - silent->block_bits);
}

dg_status dg_silent_settle(int64_t *out, size_t *n_accepted, const uint8_t *batch,
                           size_t n_attempts, const dg_silent *silent, dg_bits *bits)
{
    attempt at = {
        .silent = silent, .words = batch + n_attempts * (3 + silent->n_planes), .bits = bits};
    dg_status status = DG_OK;
    *n_accepted = 0;
    DG_TRY(dg_memory_available(silent->law.room_bytes));
    mpz_init2(at.y,
              silent->law.limb_bits); /* GMP would leave limbs behind if it had to move them */
    mpz_init2(at.f, silent->law.limb_bits);
    for (size_t i = 0; i < n_attempts && status == DG_OK; i++) {
        bool accepted = false;
        read_attempt(&at, batch, i, n_attempts);
        status = (at.code & 127) == DG_SILENT_TAIL ? decide_tail(&accepted, &at)
                                                   : decide(&accepted, &at);
        if (status == DG_OK && accepted) {
            const int64_t y = (int64_t)(at.z ^ (0 - (uint64_t)at.left));
            out[(*n_accepted)++] = silent->centre + (y ^ silent->flip) - silent->flip;
        }
    }
    dg_wipe_mpz(at.y);
    dg_wipe_mpz(at.f);
    mpz_clears(at.y, at.f, NULL);
    dg_wipe(&at, sizeof at);
    return status;
}

#endif
