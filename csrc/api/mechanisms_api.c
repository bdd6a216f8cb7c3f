/* Noisy selection, the first step of snapping, and random words: making, freeing, and fills. */
#include "api/run.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/wipe.h"
#include "law/rational.h"
#include "mechanisms/leave_cell.h"
#include "mechanisms/select.h"
#include "sampler/make_law.h"

#include <errno.h>
#include <stdlib.h>

/** How many bytes a draw reads on average. Only the size of reads from getrandom depends on it. */
enum { EXPECTED_BYTES = 12 };

static void look_ahead(dg_bits *bits, size_t items_left)
{
    if (dg_bits_from_caller(bits)) {
        bits->bytes_ahead = 0; /* an unknown number: 0 is a lower bound */
        return;
    }
    bits->bytes_ahead =
        items_left < DG_BITS_CAPACITY ? items_left * EXPECTED_BYTES : (size_t)DG_BITS_CAPACITY;
}

/** Make the law of a candidate or a step that passes with probability exp(-number). refused: the statuses that name
 *  the number. Returns: DG_OK | DG_ERR_NOMEM | refused. */
static dg_status flip_law_new(dg_law **law, const char *number, dg_refused refused)
{
    const dg_status status =
        dg_law_new(law, DG_BERNOULLI_EXP, number, NULL, NULL, DG_ARITHMETIC_AUTO);
    return status == DG_ERR_NEGATIVE         ? refused.no_number
           : status == DG_ERR_LONG_PARAMETER ? refused.too_long
                                             : status;
}

/* --- selection */

dg_status dg_selection_new(dg_selection **selection, dg_selection_kind kind, const char *rate,
                           const uint8_t *gaps, size_t gap_bytes, size_t n_rows, size_t k,
                           const int64_t *which)
{
    dg_law *law;
    *selection = NULL;
    if (kind != DG_PERMUTE_AND_FLIP && kind != DG_EXPONENTIAL) {
        return DG_ERR_SELECTION_KIND;
    }
    if (gap_bytes == 0 || gap_bytes > DG_MAX_PARAMETER_BITS / 4) {
        return DG_ERR_GAP_BYTES;
    }
    if (k == 0 || (uint64_t)k >> 55 != 0) {
        return DG_ERR_K;
    }
    DG_TRY(flip_law_new(&law, rate, (dg_refused){DG_ERR_RATE, DG_ERR_LONG_RATE}));
    const dg_selection rows = {
        .kind = kind,
        .rate = law,
        .gaps = gaps,
        .gap_bytes = gap_bytes,
        .n_rows = n_rows,
        .k = k,
        .which = which,
    };
    const bool has_best = dg_select_has_best(&rows);
    *selection = has_best ? malloc(sizeof **selection) : NULL;
    if (*selection == NULL) {
        dg_law_free(law);
        return has_best ? DG_ERR_NOMEM : DG_ERR_GAPS;
    }
    **selection = rows;
    (*selection)->in_words = dg_select_fits_words(*selection);
    return DG_OK;
}

void dg_selection_free(dg_selection *selection)
{
    if (selection != NULL) {
        dg_law_free(selection->rate);
        free(selection);
    }
}

static dg_status select_each(const dg_fill *fill, size_t first, size_t end, uint64_t *order,
                             dg_session *session)
{
    const dg_selection *selection = fill->from;
    for (size_t i = first; i < end; i++) {
        const size_t row =
            selection->which == NULL ? i % selection->n_rows : (size_t)selection->which[i];
        uint64_t selected;
        look_ahead(&session->bits, end - 1 - i);
        if (selection->kind == DG_EXPONENTIAL) {
            DG_TRY(dg_select_exponential(&selected, selection, row, &session->big, &session->bits));
        } else {
            DG_TRY(dg_select_permute_and_flip(&selected, selection, row, order, &session->big,
                                              &session->bits));
        }
        DG_TRY(dg_dtype_store(fill->out, i, fill->dtype, false, selected));
    }
    return DG_OK;
}

static dg_status draw_selections(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    const dg_selection *selection = fill->from;
    if (!selection->in_words) {
        /* a gap, its product with the rate, and bernoulli's multiples of that are longer than the rate */
        DG_TRY(dg_memory_available(selection->rate->room_bytes + 16 * selection->gap_bytes));
        DG_TRY(dg_big_open(&session->big, selection->rate));
    }
    if (selection->kind == DG_EXPONENTIAL) {
        return select_each(fill, first, end, NULL, session);
    }
    uint64_t *order = calloc(selection->k, sizeof *order);
    if (order == NULL) {
        return DG_ERR_NOMEM;
    }
    const dg_status status = select_each(fill, first, end, order, session);
    const int saved_errno = errno;
    dg_wipe(order, selection->k * sizeof *order);
    free(order);
    errno = saved_errno;
    return status;
}

dg_status dg_selection_fill(void *out, size_t n, dg_dtype dtype, const dg_selection *selection,
                            const dg_run *run, const dg_source *source)
{
    enum { PIECE = 1 << 14 }; /* candidates: below 1 ms if words hold the numbers */
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_DTYPE;
    }
    if (n > 0 && selection->n_rows == 0) {
        return DG_ERR_N_ROWS;
    }
    const dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = selection->k < PIECE ? PIECE / selection->k : 1,
        .source = source,
        .draw = draw_selections,
        .dtype = dtype,
        .from = selection,
    };
    return dg_fill_run(&fill, run);
}

/* --- snapping */

/** Check the rules of dg_snapping_new for a step. Returns: DG_OK | DG_ERR_STEP | DG_ERR_SHORT_STEP | DG_ERR_NOMEM. */
static dg_status check_step(const dg_law *step, size_t doublings)
{
    DG_TRY(dg_memory_available(step->room_bytes));
    mpz_t twice;
    mpz_init(twice);
    mpz_mul_2exp(twice, step->a, 1);
    const bool above_half = mpz_cmp(twice, step->b) > 0;
    mpz_clear(twice);
    /* a short step with many doublings would take up to 2^63 flips that hardly ever fail */
    if (mpz_cmp(step->a, step->b) > 0) {
        return DG_ERR_STEP;
    }
    return doublings > 0 && !above_half ? DG_ERR_SHORT_STEP : DG_OK;
}

dg_status dg_snapping_new(dg_snapping **snapping, const char *step, size_t doublings,
                          const int64_t *offset, const int64_t *shift)
{
    dg_law *law;
    *snapping = NULL;
    if (doublings >= 64) {
        return DG_ERR_DOUBLINGS;
    }
    DG_TRY(flip_law_new(&law, step, (dg_refused){DG_ERR_STEP, DG_ERR_LONG_STEP}));
    dg_status status = check_step(law, doublings);
    if (status == DG_OK) {
        *snapping = malloc(sizeof **snapping);
        status = *snapping == NULL ? DG_ERR_NOMEM : DG_OK;
    }
    if (status != DG_OK) {
        dg_law_free(law);
        return status;
    }
    **snapping = (dg_snapping){law, doublings, offset, shift};
    return DG_OK;
}

void dg_snapping_free(dg_snapping *snapping)
{
    if (snapping != NULL) {
        dg_law_free(snapping->step);
        free(snapping);
    }
}

static dg_status draw_sides(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    enum { LONGEST_SHIFT = 4096 };
    const dg_snapping *snapping = fill->from;
    if (!snapping->step->uses_words) {
        DG_TRY(dg_memory_available(snapping->step->room_bytes + LONGEST_SHIFT));
        DG_TRY(dg_big_open(&session->big, snapping->step));
    }
    for (size_t i = first; i < end; i++) {
        int side;
        look_ahead(&session->bits, end - 1 - i);
        DG_TRY(dg_leave_cell(&side, snapping, i, &session->big, &session->bits));
        DG_TRY(dg_dtype_store(fill->out, i, fill->dtype, side < 0, side != 0));
    }
    return DG_OK;
}

dg_status dg_snapping_fill(void *out, size_t n, dg_dtype dtype, const dg_snapping *snapping,
                           const dg_run *run, const dg_source *source)
{
    enum { PIECE = 1 << 12 };
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_DTYPE;
    }
    const dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = PIECE,
        .source = source,
        .draw = draw_sides,
        .dtype = dtype,
        .from = snapping,
    };
    return dg_fill_run(&fill, run);
}

/* --- random words */

static dg_status draw_words(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    for (size_t i = first; i < end; i++) {
        uint64_t word;
        const size_t left = end - 1 - i;
        session->bits.bytes_ahead =
            left < DG_BITS_CAPACITY ? left * fill->item_bytes : (size_t)DG_BITS_CAPACITY;
        DG_TRY(dg_bits_word(&word, fill->item_bytes, &session->bits));
        DG_TRY(dg_dtype_store(fill->out, i, fill->dtype, false, word));
    }
    return DG_OK;
}

dg_status dg_words_fill(void *out, size_t n, dg_dtype dtype, const dg_run *run,
                        const dg_source *source)
{
    enum { PIECE = 1 << 16 };
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_DTYPE;
    }
    if (dtype < DG_UINT8) {
        return DG_ERR_SIGNED;
    }
    const dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = PIECE,
        .source = source,
        .draw = draw_words,
        .dtype = dtype,
    };
    return dg_fill_run(&fill, run);
}
