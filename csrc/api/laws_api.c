/* Fills of many laws: their numbers as they come, and each law drawn as soon as it is made. */
#include "api/columns.h"
#include "api/draw_items.h"
#include "api/run.h"
#include "base/dtype.h"
#include "base/isa.h"
#include "base/status.h"
#include "base/wipe.h"
#include "exact/short_law.h"
#include "exact/words.h"
#include "isochronous/lane_laws.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if DG_HAVE_WORDS
static void init_set(mpz_t out, int64_t value)
{
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    mpz_init(out);
    mpz_import(out, 1, -1, sizeof size, 0, 0, &size);
    if (value < 0) {
        mpz_neg(out, out);
    }
}

/** Draw items [first, end) of a Laplace or Gaussian by GMP, but a Gaussian's proposals. The integers
 *  to draw with stay open, so that memory is asked for once.
 *
 *  Requires:  the law's numbers obey the rules.
 */
static dg_status draw_short_by_gmp(const dg_fill *fill, dg_short_ratio parameter,
                                   dg_short_ratio centre, size_t first, size_t end, size_t last,
                                   dg_session *session)
{
    mpz_t a, b, c, d;
    dg_law law;
    DG_TRY(dg_big_open(&session->big, &dg_short_law_room));
    init_set(a, parameter.num);
    init_set(b, parameter.den);
    init_set(c, centre.num);
    init_set(d, centre.den);
    dg_law_prepare(&law, fill->laws->kind, a, b, c, d, session->big.one, session->big.one);
    law.uses_words = dg_words_prepare_proposals(&law.words, &law);
    dg_status status = dg_draw_items(fill->out, first, end, last - end, fill->dtype, &law, session);
    const int kept_errno = errno;
    dg_law_clear(&law);
    mpz_clears(a, b, c, d, NULL);
    errno = kept_errno;
    return status;
}
#endif

/** Draw items [first, end), which are of one law. Others follow up to last. */
static dg_status draw_run(const dg_fill *fill, int64_t which, size_t first, size_t end, size_t last,
                          dg_session *session)
{
    dg_number parameter, centre;
    DG_TRY(dg_read_number(&parameter, &fill->laws->parameter, (size_t)which));
    DG_TRY(dg_read_number(&centre, &fill->laws->centre, (size_t)which));
#if DG_HAVE_WORDS
    const dg_law_kind kind = fill->laws->kind;
    const dg_short_ratio a_b = {parameter.num, parameter.den}, c_d = {centre.num, centre.den};
    dg_short_law short_law;
    if (parameter.up + parameter.down + centre.up + centre.down == 0) {
        if (dg_short_law_prepare(&short_law, kind, a_b, c_d)) {
            return dg_draw_items(fill->out, first, end, last - end, fill->dtype, &short_law.law,
                                 session);
        }
        if ((kind == DG_DISCRETE_LAPLACE || kind == DG_DISCRETE_GAUSSIAN) &&
            dg_short_law_obeys(a_b, c_d)) {
            return draw_short_by_gmp(fill, a_b, c_d, first, end, last, session);
        }
    }
#endif
    dg_law *law;
    dg_big_close(&session->big); /* this law wants room of its own */
    DG_TRY(dg_long_law_new(&law, fill->laws->kind, &parameter, &centre));
    dg_status status = law->uses_words ? DG_OK : dg_big_open(&session->big, law);
    if (status == DG_OK) {
        status = dg_draw_items(fill->out, first, end, last - end, fill->dtype, law, session);
    }
    const int kept_errno = errno;
    dg_big_close(&session->big);
    dg_law_free(law);
    errno = kept_errno;
    return status;
}

/** The law of an item. */
static int64_t law_of_item(const dg_fill *fill, size_t item)
{
    return fill->which == NULL ? (int64_t)item : fill->which[item];
}

/** The first item from `item` + 1 on, at most `end`, that is of another law. */
static size_t end_of_run(const dg_fill *fill, size_t item, size_t end)
{
    size_t same = item + 1;
    while (fill->which != NULL && same < end && fill->which[same] == fill->which[item]) {
        same++;
    }
    return same;
}

static dg_status draw_laws(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    for (size_t i = first, same; i < end; i = same) {
        same = end_of_run(fill, i, end);
        DG_TRY(draw_run(fill, law_of_item(fill, i), i, same, end, session));
    }
    return DG_OK;
}

#if DG_HAVE_WORDS
/** Laws that draw together, and where their draws belong. */
typedef struct batch {
    dg_lane_laws laws;
    size_t items[DG_LANE_LAWS];
    int64_t last; /* the law that was added last */
    const dg_fill *fill;
} batch;

/** The exact law of one of a batch (dg_lane_law_of). */
static dg_status exact_law(dg_law **law, size_t which, void *context)
{
    const batch *of = context;
    return dg_exact_law_new(law, of->fill->laws, (size_t)law_of_item(of->fill, of->items[which]));
}

/** A number as lanes take it. Returns: false if it is none, or a ratio not in lowest terms. */
static inline bool read_for_lanes(dg_lane_number *out, const dg_column *column, int64_t law)
{
    const uint64_t *words = dg_words_at(column, (size_t)law);
    out->num = (int64_t)words[0];
    out->den = 1;
    out->exponent = 0;
    if (column->format == DG_FLOATS) {
        return dg_split_float(&out->num, &out->exponent, words[0]);
    }
    if (column->format == DG_RATIOS) {
        const dg_short_ratio one = {1, 1}, ratio = {out->num, (int64_t)words[1]};
        out->den = ratio.den;
        return dg_short_law_obeys(one, ratio);
    }
    return column->format == DG_INTEGERS;
}

/** Add a law to a batch. Returns: whether lanes hold it; if not, nothing was added. */
static inline bool add_to(batch *to, int64_t which)
{
    const dg_laws *laws = to->fill->laws;
    dg_lane_number parameter, centre;
    if (to->laws.n > 0 && which == to->last) {
        dg_lane_laws_again(&to->laws);
        return true;
    }
    const bool is_held = read_for_lanes(&parameter, &laws->parameter, which) &&
                         read_for_lanes(&centre, &laws->centre, which) &&
                         dg_lane_laws_add(&to->laws, to->fill->staircases, &parameter, &centre);
    to->last = is_held ? which : to->last;
    return is_held;
}

/** Draw a batch, which is empty afterwards; n_later items are to follow. */
static dg_status draw_batch(batch *of, size_t n_later, dg_session *session)
{
    enum { USUAL_BYTES = 17 }; /* 12 at each of 4/3 attempts */
    const dg_fill *fill = of->fill;
    const size_t n = of->laws.n;
    int64_t drawn[DG_LANE_LAWS];
    const size_t later = n_later < DG_BITS_CAPACITY ? n_later * USUAL_BYTES : DG_BITS_CAPACITY;
    dg_status status = dg_lane_laws_draw(drawn, later, &of->laws, exact_law, of, &session->bits);
    for (size_t i = 0, end; i < n && status == DG_OK; i = end) {
        for (end = i + 1; end < n && of->items[end] == of->items[end - 1] + 1;) {
            end++;
        }
        status = dg_store_drawn(fill->out + of->items[i] * fill->item_bytes, end - i, fill->dtype,
                                drawn + i);
    }
    dg_wipe(drawn, sizeof drawn);
    of->laws.n = 0;
    of->laws.is_long = false;
    return status;
}

/** Draw items [first, end), which are of one law, by a sampler of its own. */
static dg_status draw_run_isochronously(const dg_fill *fill, int64_t which, size_t first,
                                        size_t end, dg_session *session)
{
    dg_law *law;
    dg_lanes *lanes;
    DG_TRY(dg_exact_law_new(&law, fill->laws, (size_t)which));
    dg_status status = dg_lanes_new(&lanes, law, fill->isa);
    if (status == DG_OK) {
        dg_fill of_law = *fill;
        of_law.lanes = lanes;
        status = dg_draw_lanes(&of_law, first, end, session);
    }
    const int kept_errno = errno;
    dg_lanes_free(lanes); /* NULL if there are none */
    dg_law_free(law);
    errno = kept_errno;
    return status;
}

/** As draw_laws: of 256 items at a time first those whose laws lanes hold, then the others. */
static dg_status draw_laws_in_lanes(const dg_fill *fill, size_t first, size_t end,
                                    dg_session *session)
{
    batch together = {.last = -1, .fill = fill};
    size_t others[DG_LANE_LAWS];
    dg_lane_laws_open(&together.laws, fill->staircases, fill->isa);
    for (size_t i = first; i < end;) {
        const size_t stop = end - i < DG_LANE_LAWS ? end : i + DG_LANE_LAWS;
        size_t n_others = 0;
        for (; i < stop; i++) {
            together.items[together.laws.n] = i;
            if (!add_to(&together, law_of_item(fill, i))) {
                others[n_others++] = i;
            }
        }
        DG_TRY(draw_batch(&together, end - stop, session));
        for (size_t k = 0, same; k < n_others; k += same - others[k]) {
            const int64_t which = law_of_item(fill, others[k]);
            same = end_of_run(fill, others[k], stop); /* whose law is held no more than its own */
            DG_TRY(fill->isochronous ? draw_run_isochronously(fill, which, others[k], same, session)
                                     : draw_run(fill, which, others[k], same, same, session));
        }
    }
    return DG_OK;
}

/** Whether some law has another centre than 0, perhaps. */
static bool are_off_centre(const dg_laws *laws)
{
    return laws->centre.stride != 0 || laws->centre.words[0] != 0;
}
#endif

/** What cannot be drawn isochronously. */
static dg_status refuse(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    (void)fill, (void)first, (void)end, (void)session;
    return DG_ERR_PARAMETER;
}

/** What is common to all fills of many laws. */
static dg_fill filling(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                       const int64_t *which, const dg_sums *sums, const dg_source *source)
{
    enum { PIECE = 512 }; /* some 2 ms where each is another law's, and drawn by GMP */
    return (dg_fill){
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = PIECE,
        .source = source,
        .draw = draw_laws,
        .dtype = dtype,
        .laws = laws,
        .which = which,
        .sums = sums,
    };
}

static dg_status fill_in_lanes(dg_fill fill, bool isochronous, dg_isa isa, const dg_run *run)
{
    if (!dg_isa_available(isa)) {
        return DG_ERR_PARAMETER;
    }
#if DG_HAVE_WORDS
    /* some 0.15 ms; 4 ms where no law is held, 80 ms where none is and each is to be isochronous */
    enum { PIECE = 16 * DG_LANE_LAWS };
    const dg_laws *laws = fill.laws;
    if (laws->kind == DG_DISCRETE_LAPLACE || laws->kind == DG_DISCRETE_GAUSSIAN) {
        dg_lane_staircases staircases;
        dg_lane_staircases_build(&staircases, laws->kind, fill.n > 0 && are_off_centre(laws));
        fill.draw = draw_laws_in_lanes;
        fill.piece = PIECE;
        fill.chunk = DG_LANE_LAWS;
        fill.staircases = &staircases;
        fill.isochronous = isochronous;
        fill.isa = isa;
        return dg_fill_run(&fill, run);
    }
#endif
    if (isochronous) {
        fill.draw = refuse;
        fill.piece = fill.n;
    }
    return dg_fill_run(&fill, run);
}

dg_status dg_crowd_fill(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                        const int64_t *which, const dg_sums *sums, bool in_lanes, bool isochronous,
                        const dg_run *run, const dg_source *source)
{
    const dg_fill fill = filling(out, n, dtype, laws, which, sums, source);
    return in_lanes ? fill_in_lanes(fill, isochronous, DG_ISA_AUTO, run) : dg_fill_run(&fill, run);
}

dg_status dg_laws_fill_in_lanes(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                                const int64_t *which, int isochronous, dg_isa isa,
                                const dg_run *run, const dg_source *source)
{
    return dg_is_dtype(dtype) ? fill_in_lanes(filling(out, n, dtype, laws, which, NULL, source),
                                              isochronous != 0, isa, run)
                              : DG_ERR_PARAMETER;
}

dg_status dg_laws_fill(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                       const int64_t *which, const dg_run *run, const dg_source *source)
{
    return dg_is_dtype(dtype)
               ? dg_crowd_fill(out, n, dtype, laws, which, NULL, false, false, run, source)
               : DG_ERR_PARAMETER;
}
