/* A law for each element: columns of numbers, drawn in order, in lanes if these hold the laws. */
#include "api/add.h"
#include "api/columns.h"
#include "api/draw_items.h"
#include "api/pause.h"
#include "base/dtype.h"
#include "base/isa.h"
#include "base/status.h"
#include "base/wipe.h"
#include "exact/short_law.h"
#include "exact/words.h"
#include "isochronous/lane_laws.h"
#include "sampler/make_law.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** The laws of a fill, and what lanes need to draw them. */
typedef struct dg_each_law {
    const dg_laws *laws; /* with centres from -1/2 to 1/2 */
#if DG_HAVE_WORDS
    dg_lane_staircases staircases; /* set if lanes draw */
#endif
    dg_isa isa; /* of the lanes */
} dg_each_law;

static const dg_each_law *each_of(const dg_fill *fill)
{
    return fill->from;
}

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

/** Draw an item of a Laplace or Gaussian by GMP. Only a Gaussian's proposals are drawn in words. session->big stays
 *  open, so that memory is checked for once.
 *
 *  Requires:  the law's numbers obey the rules.
 */
static dg_status draw_short_by_gmp(const dg_fill *fill, dg_short_ratio parameter,
                                   dg_short_ratio centre, size_t item, size_t beyond,
                                   dg_session *session)
{
    mpz_t a, b, c, d;
    dg_law law;
    DG_TRY(dg_big_open(&session->big, &dg_short_law_room));
    init_set(a, parameter.num);
    init_set(b, parameter.den);
    init_set(c, centre.num);
    init_set(d, centre.den);
    dg_law_prepare(&law, each_of(fill)->laws->kind, a, b, c, d, session->big.one, session->big.one);
    law.uses_words = dg_words_prepare_proposals(&law.words, &law);
    dg_status status = dg_draw_items(fill, item, item + 1, beyond, &law, session);
    const int saved_errno = errno;
    dg_law_clear(&law);
    mpz_clears(a, b, c, d, NULL);
    errno = saved_errno;
    return status;
}
#endif

/** Draw an item by Algorithms 1-3. Probably `beyond` draws of other laws follow. */
static dg_status draw_exactly(const dg_fill *fill, size_t item, size_t beyond, dg_session *session)
{
    const dg_laws *laws = each_of(fill)->laws;
    const dg_law_kind kind = laws->kind;
    dg_number parameter, centre;
    DG_TRY(dg_read_law(&parameter, &centre, laws, item));
#if DG_HAVE_WORDS
    const dg_short_ratio a_b = {parameter.num, parameter.den}, c_d = {centre.num, centre.den};
    dg_short_law short_law;
    if (parameter.up + parameter.down + centre.up + centre.down == 0 && !parameter.is_root) {
        if (dg_short_law_prepare(&short_law, kind, a_b, c_d)) {
            return dg_draw_items(fill, item, item + 1, beyond, &short_law.law, session);
        }
        if ((kind == DG_DISCRETE_LAPLACE || kind == DG_DISCRETE_GAUSSIAN) &&
            dg_short_law_obeys(a_b, c_d)) {
            return draw_short_by_gmp(fill, a_b, c_d, item, beyond, session);
        }
    }
#endif
    dg_law *law;
    dg_big_close(&session->big); /* this law may need more room */
    DG_TRY(dg_long_law_new(&law, kind, &parameter, &centre));
    dg_status status = law->uses_words ? DG_OK : dg_big_open(&session->big, law);
    if (status == DG_OK) {
        status = dg_draw_items(fill, item, item + 1, beyond, law, session);
    }
    const int saved_errno = errno;
    dg_big_close(&session->big);
    dg_law_free(law);
    errno = saved_errno;
    return status;
}

static dg_status draw_laws(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    for (size_t i = first; i < end; i++) {
        DG_TRY(draw_exactly(fill, i, end - 1 - i, session));
    }
    return DG_OK;
}

#if DG_HAVE_WORDS
/** Laws that draw together, and the items of their draws. */
typedef struct batch {
    dg_lane_laws laws;
    size_t items[DG_LANE_LAWS];
    const dg_fill *fill;
} batch;

/** Make the exact law of one of a batch (dg_lane_law_of). */
static dg_status exact_law(dg_law **law, size_t which, void *context)
{
    const batch *of = context;
    return dg_exact_law_new(law, each_of(of->fill)->laws, of->items[which]);
}

/** Read a number, or the root that is given for it, as lanes take it. Returns: false if it is not a number, or a ratio
 *  not in lowest terms. */
static inline bool read_for_lanes(dg_lane_number *out, const dg_column *column, size_t law)
{
    const uint64_t *words = dg_words_at(column, law);
    out->num = (int64_t)words[0];
    out->den = 1;
    out->exponent = 0;
    if (column->format == DG_FLOATS || column->format == DG_ROOTS) {
        return dg_split_float(&out->num, &out->exponent, words[0]);
    }
    if (column->format == DG_RATIOS) {
        const dg_short_ratio one = {1, 1}, ratio = {out->num, (int64_t)words[1]};
        out->den = ratio.den;
        return dg_short_law_obeys(one, ratio);
    }
    return column->format == DG_INTEGERS;
}

/** Add the law of an item. Returns: whether lanes hold it. If they do not, nothing is added. */
static inline bool add_to(dg_lane_laws *to, const dg_each_law *from, size_t item)
{
    dg_lane_number parameter, centre;
    if (!read_for_lanes(&parameter, &from->laws->parameter, item) ||
        !read_for_lanes(&centre, &from->laws->centre, item)) {
        return false;
    }
    if (from->laws->parameter.format == DG_ROOTS) {
        return dg_lane_laws_add_root(to, &from->staircases, parameter.num, parameter.exponent,
                                     &centre);
    }
    return dg_lane_laws_add(to, &from->staircases, &parameter, &centre);
}

/** Find the first of n laws that lanes do not hold; n if there is none. */
static dg_status find_not_held(size_t *which, size_t n, const dg_each_law *from, const dg_run *run)
{
    dg_lane_laws scratch;
    dg_lane_laws_open(&scratch, &from->staircases, from->isa);
    for (*which = 0; *which < n && add_to(&scratch, from, *which); ++*which) {
        scratch.n = 0;
        DG_TRY(dg_pause_at(*which, run));
    }
    return DG_OK;
}

/** Draw a batch and empty it. n_later items follow. */
static dg_status draw_batch(batch *of, size_t n_later, dg_session *session)
{
    enum { USUAL_BYTES = 17 }; /* some 12 in each of 4/3 attempts */
    const dg_fill *fill = of->fill;
    const size_t n = of->laws.n;
    int64_t draws[DG_LANE_LAWS];
    const size_t later = n_later < DG_BITS_CAPACITY ? n_later * USUAL_BYTES : DG_BITS_CAPACITY;
    dg_status status = dg_lane_laws_draw(draws, later, &of->laws, exact_law, of, &session->bits);
    for (size_t i = 0, end; i < n && status == DG_OK; i = end) {
        for (end = i + 1; end < n && of->items[end] == of->items[end - 1] + 1;) {
            end++;
        }
        status = dg_dtype_store_all(fill->out + of->items[i] * fill->item_bytes, end - i,
                                    fill->dtype, draws + i);
    }
    dg_wipe(draws, sizeof draws);
    of->laws.n = 0;
    of->laws.is_long = false;
    return status;
}

/** Do what draw_laws does, but of every 256 items draw first those whose laws lanes hold, then the others. */
static dg_status draw_laws_in_lanes(const dg_fill *fill, size_t first, size_t end,
                                    dg_session *session)
{
    batch together = {.fill = fill};
    size_t others[DG_LANE_LAWS];
    dg_lane_laws_open(&together.laws, &each_of(fill)->staircases, each_of(fill)->isa);
    for (size_t i = first; i < end;) {
        const size_t stop = end - i < DG_LANE_LAWS ? end : i + DG_LANE_LAWS;
        size_t n_others = 0;
        for (; i < stop; i++) {
            together.items[together.laws.n] = i;
            if (!add_to(&together.laws, each_of(fill), i)) {
                others[n_others++] = i;
            }
        }
        DG_TRY(draw_batch(&together, end - stop, session));
        for (size_t k = 0; k < n_others; k++) {
            DG_TRY(draw_exactly(fill, others[k], n_others - 1 - k, session));
        }
    }
    return DG_OK;
}

/** Return whether some law may have a centre other than 0. */
static bool are_off_centre(const dg_laws *laws)
{
    return laws->centre.stride != 0 || laws->centre.words[0] != 0;
}
#endif

/* --- rules --------------------------------------------------------------------------------------- */

/** Return whether a parameter that dg_read_law has read obeys the kind's rule. */
static bool number_obeys(const dg_number *x, dg_law_kind kind)
{
    switch (kind) {
    case DG_BERNOULLI:
        return x->num >= 0 && (x->down > 0 || (x->up == 0 && x->num <= x->den));
    case DG_UNIFORM_BELOW:
        return x->num > 0 && x->den == 1 && x->down == 0;
    case DG_BERNOULLI_EXP:
        return x->num >= 0;
    default:
        return x->num > 0;
    }
}

/** Check law i. */
static dg_status check_law(const dg_laws *laws, size_t i)
{
    dg_number parameter, centre;
    DG_TRY(dg_read_law(&parameter, &centre, laws, i));
    if (!number_obeys(&parameter, laws->kind)) {
        return dg_law_refused(laws->kind);
    }
    return laws->kind < DG_DISCRETE_LAPLACE && centre.num != 0 ? DG_ERR_NO_CENTRE : DG_OK;
}

/** Return whether a number is finite; false of ratios and of unknown formats, which must be read to know. */
static inline bool is_finite_at_sight(const dg_column *column, size_t i)
{
    enum { LARGEST_EXPONENT = 0x7ff };
    const bool is_float = column->format == DG_FLOATS || column->format == DG_ROOTS;
    return column->format == DG_INTEGERS ||
           (is_float && (*dg_words_at(column, i) >> 52 & LARGEST_EXPONENT) != LARGEST_EXPONENT);
}

/** Return whether check_law takes law i, if that can be told without reading its numbers. A float is above 0 if its
 *  bits, as an integer, are. */
static inline bool is_right_at_sight(const dg_laws *laws, size_t i)
{
    return laws->kind >= DG_DISCRETE_LAPLACE && laws->centre.format != DG_ROOTS &&
           is_finite_at_sight(&laws->parameter, i) && is_finite_at_sight(&laws->centre, i) &&
           (int64_t)*dg_words_at(&laws->parameter, i) > 0;
}

/** Find the first law that breaks a rule; n if there is none. Returns: DG_OK | the rule's status | DG_ERR_STOPPED. */
static dg_status find_bad(size_t *bad, const dg_laws *laws, size_t n, const dg_run *run)
{
    for (*bad = 0; *bad < n; ++*bad) {
        if (!is_right_at_sight(laws, *bad)) {
            DG_TRY(check_law(laws, *bad));
        }
        DG_TRY(dg_pause_at(*bad, run));
    }
    return DG_OK;
}

/* --- fills --------------------------------------------------------------------------------------- */

/** Draw from laws with centres from -1/2 to 1/2. sums: what is added to the draws, or NULL. *not_held: with
 *  DG_ISOCHRONOUS, the first law that lanes do not hold. It is n if there is none, and with other methods. */
static dg_status fill_centred(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                              const dg_sums *sums, size_t *not_held, dg_isa isa, const dg_run *run,
                              const dg_source *source)
{
    enum { PIECE = 512 }; /* some 2 ms if GMP draws every item */
    dg_each_law each = {.laws = laws, .isa = isa};
    dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = PIECE,
        .source = source,
        .draw = draw_laws,
        .dtype = dtype,
        .from = &each,
        .sums = sums,
    };
    bool in_lanes = false;
    *not_held = n;
#if DG_HAVE_WORDS
    enum { PIECE_OF_LANES = 16 * DG_LANE_LAWS }; /* some 0.15 ms; 4 ms if lanes hold no law */
    in_lanes = laws->method != DG_REFERENCE &&
               (laws->kind == DG_DISCRETE_LAPLACE || laws->kind == DG_DISCRETE_GAUSSIAN);
    if (in_lanes) {
        dg_lane_staircases_build(&each.staircases, laws->kind, are_off_centre(laws));
        fill.draw = draw_laws_in_lanes;
        fill.piece = PIECE_OF_LANES;
        fill.chunk = DG_LANE_LAWS;
        if (laws->method == DG_ISOCHRONOUS) {
            DG_TRY(find_not_held(not_held, n, &each, run));
        }
    }
#endif
    if (laws->method == DG_ISOCHRONOUS && !in_lanes) {
        *not_held = 0;
    }
    return *not_held < n ? DG_ERR_METHOD : dg_fill_run(&fill, run);
}

dg_status dg_laws_fill_by(void *out, size_t n, dg_dtype dtype, const dg_laws *laws, size_t *bad,
                          dg_isa isa, const dg_run *run, const dg_source *source)
{
    size_t broken;
    bad = bad == NULL ? &broken : bad;
    *bad = 0;
    if ((unsigned)laws->kind >= DG_GENERALIZED_GAUSSIAN) {
        return DG_ERR_LAWS_KIND;
    }
    DG_TRY(find_bad(bad, laws, n, run));
    if (!dg_is_dtype(dtype)) {
        return DG_ERR_DTYPE;
    }
    if (!dg_isa_available(isa) || (laws->method != DG_AUTO && laws->method != DG_ISOCHRONOUS &&
                                   laws->method != DG_REFERENCE)) {
        return DG_ERR_METHOD;
    }
    if (n == 0) {
        return DG_OK;
    }
    dg_split split;
    dg_status status = dg_split_centres(&split, &laws->centre, n, run);
    if (status == DG_OK) {
        const dg_laws centred = {laws->kind, laws->parameter, split.remainders, laws->method};
        const dg_sums sums = {.addend = {.values = split.integers.words, .dtype = DG_INT64},
                              .stride = split.integers.stride,
                              .dtype = dtype};
        const bool moved = split.integers.words != NULL;
        status = fill_centred(out, n, moved ? dg_draws_of_sums(&sums) : dtype, &centred,
                              moved ? &sums : NULL, bad, isa, run, source);
    }
    const int saved_errno = errno;
    dg_split_free(&split);
    errno = saved_errno;
    return status;
}

dg_status dg_laws_fill(void *out, size_t n, dg_dtype dtype, const dg_laws *laws, size_t *bad,
                       const dg_run *run, const dg_source *source)
{
    return dg_laws_fill_by(out, n, dtype, laws, bad, DG_ISA_AUTO, run, source);
}
