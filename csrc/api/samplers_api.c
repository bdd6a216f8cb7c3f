/* A law an element: columns of numbers, of which equal laws are grouped, and drawn by themselves or together. */
#include "api/add.h"
#include "api/blocks.h"
#include "api/columns.h"
#include "api/draw_items.h"
#include "api/group.h"
#include "base/dtype.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/wipe.h"
#include "sampler/parts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- rules, at a glance -------------------------------------------------------------------------- */

#define FLOAT_OF_2_TO(exponent) ((uint64_t)(1023 + (exponent)) << 52) /* as its bits */

static bool is_long(const dg_column *column, size_t i)
{
    return column->format == DG_RATIOS && dg_words_at(column, i)[1] == 0;
}

/** Whether a parameter that dg_read_number reads obeys the kind's rule. */
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

static bool parameter_obeys(const dg_laws *laws, size_t i)
{
    dg_number x;
    const dg_column *column = &laws->parameter;
    if (column->format == DG_FLOATS && laws->kind >= DG_GEOMETRIC_EXP) {
        return *dg_words_at(column, i) - 1 < FLOAT_OF_2_TO(1024) - 1; /* positive and finite */
    }
    return is_long(column, i) ||
           (dg_read_number(&x, column, i) == DG_OK && x.den > 0 && number_obeys(&x, laws->kind));
}

static bool centre_obeys(const dg_laws *laws, size_t i)
{
    const dg_column *column = &laws->centre;
    const uint64_t *words = dg_words_at(column, i);
    switch (column->format) {
    case DG_INTEGERS:
        break;
    case DG_FLOATS:
        if (*words << 1 >= FLOAT_OF_2_TO(1024) << 1) {
            return false;
        }
        break;
    default:
        if (column->format != DG_RATIOS || (int64_t)words[1] < 0) {
            return false;
        }
    }
    return laws->kind >= DG_DISCRETE_LAPLACE || *words == 0;
}

/** Whether all words, none of a ratio, are from least to most. Requires: 0 < least, most < 2^63. */
static bool words_within(const dg_column *column, size_t n, uint64_t least, uint64_t most)
{
    const size_t n_words = dg_n_numbers(column, n), stride = column->stride;
    const uint64_t *words = column->words;
    uint64_t beyond = 0; /* in its highest bit: SSE2 adds words, and does not compare them */
    if (stride == 1) {
        for (size_t i = 0; i < n_words; i++) {
            beyond |= words[i] | (words[i] - least) | (most - words[i]);
        }
    } else {
        for (size_t i = 0; i < n_words; i++) {
            const uint64_t word = words[i * stride];
            beyond |= word | (word - least) | (most - word);
        }
    }
    return beyond <= INT64_MAX;
}

/** Whether all numbers are from least to 2^most_bits, or in any case if they are ratios; least: 2^least_bits, or
 *  of integers 1. Others, NaN too, are not. */
static bool are_within(const dg_column *column, size_t n, int least_bits, int most_bits)
{
    return column->format == DG_FLOATS
               ? words_within(column, n, FLOAT_OF_2_TO(least_bits), FLOAT_OF_2_TO(most_bits))
               : words_within(column, n, 1, UINT64_C(1) << most_bits);
}

/** Whether all parameters obey the rule that they are positive, at a glance. */
static bool are_positive(const dg_laws *laws, size_t n)
{
    const dg_column *column = &laws->parameter;
    return laws->kind >= DG_GEOMETRIC_EXP && column->format != DG_RATIOS &&
           words_within(column, n, 1,
                        column->format == DG_FLOATS ? FLOAT_OF_2_TO(1024) - 1 : INT64_MAX);
}

/** Find the first law of those of a column's numbers that breaks its rule; n: none does. */
static dg_status find_bad(size_t *bad, bool (*obeys)(const dg_laws *, size_t), const dg_laws *laws,
                          const dg_column *column, size_t n, const dg_run *run)
{
    const size_t n_numbers = dg_n_numbers(column, n), repeat = dg_repeat(column);
    *bad = n;
    for (size_t k = 0; k < n_numbers; k++) {
        if (!obeys(laws, k * repeat)) {
            *bad = k * repeat;
            return DG_OK;
        }
        DG_TRY(dg_pause_at(k, run));
    }
    return DG_OK;
}

/** Whether lanes of many laws hold all parameters, whatever the centre (isochronous/lane_laws.h), at a glance. They
 *  are positive, then. */
static bool do_lanes_hold(const dg_laws *laws, size_t n)
{
    enum { LEAST_BITS = -4, MOST_BITS = 41 };
    return n > 0 && (laws->kind == DG_DISCRETE_LAPLACE || laws->kind == DG_DISCRETE_GAUSSIAN) &&
           laws->parameter.format != DG_RATIOS &&
           are_within(&laws->parameter, n, LEAST_BITS, MOST_BITS);
}

/** Find the first law that breaks a rule; n: none does. */
static dg_status find_first_bad(size_t *bad, bool lanes_hold, const dg_laws *laws, size_t n,
                                const dg_run *run)
{
    size_t by_centre;
    *bad = 0;
    if (n > 0) {
        *bad = by_centre = n;
        if (!lanes_hold && !are_positive(laws, n)) {
            DG_TRY(find_bad(bad, parameter_obeys, laws, &laws->parameter, n, run));
        }
        if (laws->kind < DG_DISCRETE_LAPLACE || laws->centre.format != DG_INTEGERS) {
            DG_TRY(find_bad(&by_centre, centre_obeys, laws, &laws->centre, n, run));
        }
        *bad = by_centre < *bad ? by_centre : *bad;
    }
    return DG_OK;
}

int dg_laws_fit_int64(size_t n, const dg_laws *laws)
{
    /* 2^62 from a centre to the ends of int64 are 2^12 scales, or 2^37 sigma */
    enum { PARAMETER_BITS = 50, LEAST_BITS = -1022, CENTRE_BITS = 62 };
    const dg_column *centre = &laws->centre;
    if ((laws->kind != DG_DISCRETE_LAPLACE && laws->kind != DG_DISCRETE_GAUSSIAN) ||
        laws->parameter.format == DG_RATIOS || centre->format == DG_RATIOS ||
        !are_within(&laws->parameter, n, LEAST_BITS, PARAMETER_BITS)) {
        return 0;
    }
    const bool are_floats = centre->format == DG_FLOATS;
    const uint64_t end = are_floats ? FLOAT_OF_2_TO(CENTRE_BITS) << 1 : UINT64_C(1) << CENTRE_BITS;
    const size_t n_centres = dg_n_numbers(centre, n);
    uint64_t beyond = 0;
    for (size_t i = 0; i < n_centres; i++) {
        const uint64_t word = centre->words[i * centre->stride];
        beyond |= are_floats ? (uint64_t)(word << 1 >= end) : (uint64_t)(word + end > 2 * end);
    }
    return beyond == 0;
}

/* --- which laws are equal ------------------------------------------------------------------------ */

/** Group what has been grouped further, by a column's words. Keys that take the same turns stay so few. */
static dg_status group_by(dg_groups *groups, const dg_column *column, const uint64_t *words,
                          size_t n, size_t most, const dg_run *run)
{
    if (column->stride == 0 || groups->n > most) {
        return DG_OK;
    }
    dg_groups own, both = {.n = 0};
    DG_TRY(dg_group(&own, words, column->stride, dg_n_numbers(column, n), most, run));
    own.repeat = dg_repeat(column);
    if (groups->which == NULL || own.n > most) {
        dg_groups_free(groups);
        *groups = own;
        return DG_OK;
    }
    const bool same_turns = groups->n_keys == own.n_keys && groups->repeat == own.repeat;
    const size_t n_keys = same_turns ? own.n_keys : n, repeat = same_turns ? own.repeat : 1;
    uint64_t *keys = malloc(n_keys * sizeof *keys);
    dg_status status = keys == NULL ? DG_ERR_NOMEM : DG_OK;
    for (size_t i = 0; i < n_keys && status == DG_OK; i++) {
        const size_t item = i * repeat;
        const uint64_t group = groups->which[dg_key_of(groups, item)];
        keys[i] = group * own.n + own.which[dg_key_of(&own, item)];
        status = dg_pause_at(i, run);
    }
    if (status == DG_OK) {
        status = dg_group(&both, keys, 1, n_keys, most, run);
        both.repeat = repeat;
    }
    free(keys);
    dg_groups_free(&own);
    dg_groups_free(groups);
    *groups = both;
    return status;
}

/** Group equal laws. Ensures: groups->which == NULL -> all are equal; groups->n > most -> they are not grouped. */
static dg_status group_laws(dg_groups *groups, const dg_laws *laws, size_t n, size_t most,
                            const dg_run *run)
{
    const dg_column *columns[3] = {&laws->parameter, &laws->centre, &laws->beta};
    const size_t n_columns = laws->kind == DG_GENERALIZED_GAUSSIAN ? 3 : 2;
    *groups = (dg_groups){.n = 0};
    for (size_t k = 0; k < n_columns; k++) {
        const dg_column *column = columns[k];
        DG_TRY(group_by(groups, column, column->words, n, most, run));
        if (column->format == DG_RATIOS) {
            DG_TRY(group_by(groups, column, column->words + 1, n, most, run));
        }
    }
    if (groups->which != NULL && groups->n <= most) {
        dg_groups_spread(groups, groups->repeat, n);
    }
    return DG_OK;
}

/* --- draws --------------------------------------------------------------------------------------- */

/** A call. */
typedef struct call {
    size_t n;
    dg_dtype dtype; /* of the draws */
    size_t item_bytes;
    dg_laws laws;        /* of the rests */
    const dg_sums *sums; /* what the draws become; NULL: they stay */
    dg_crowd crowd;
    const dg_run *run;
    const dg_source *source;
} call;

/** The sampler of a law: kept by the caller, or *mine. */
static dg_status get_sampler(dg_sampler **sampler, dg_sampler **mine, const call *of, size_t law)
{
    *mine = NULL;
    if (of->laws.sampler_of != NULL) {
        *sampler = of->laws.sampler_of(of->laws.context, law, dg_words_at(&of->laws.centre, law));
        return *sampler == NULL ? DG_ERR_STOPPED : DG_OK;
    }
    dg_law *made;
    DG_TRY(dg_exact_law_new(&made, &of->laws, law));
    const dg_status status = dg_sampler_build(mine, made);
    if (status != DG_OK) {
        dg_law_free(made);
    }
    *sampler = *mine;
    return status;
}

/** Draw from one law, by itself: *is_drawn. Or not, if that does not pay and need not be. */
static dg_status draw_alone(bool *is_drawn, void *out, size_t n, const dg_sums *sums, bool must_be,
                            const call *of, size_t law)
{
    dg_sampler *sampler, *mine;
    dg_way way;
    DG_TRY(get_sampler(&sampler, &mine, of, law));
    dg_status status = dg_way_begin(&way, n, of->crowd.method, sampler, of->run, of->source);
    if (status == DG_OK) {
        *is_drawn = must_be || way.method != DG_REFERENCE;
        if (*is_drawn) {
            status = dg_way_fill(out, n, of->dtype, sums, &way, sampler, of->run, of->source);
        }
        dg_way_end(&way);
    }
    const int kept_errno = errno;
    dg_sampler_free(mine); /* NULL: it is the caller's */
    errno = kept_errno;
    return status;
}

/** Choose the ways of all groups. *n_begun of them are to be let go. *quick: whether each has a table or lanes. */
static dg_status begin_all(dg_way *ways, dg_sampler **mine, size_t *n_begun, bool *quick,
                           const dg_groups *groups, const call *of)
{
    *quick = true;
    for (*n_begun = 0; *n_begun < groups->n && *quick; (*n_begun)++) {
        const size_t g = *n_begun, n = groups->counts[g];
        dg_sampler *sampler;
        DG_TRY(get_sampler(&sampler, &mine[g], of, groups->first[g]));
        const dg_status status = dg_way_begin(&ways[g], n, DG_AUTO, sampler, of->run, of->source);
        if (status != DG_OK) {
            dg_sampler_free(mine[g]);
            return status;
        }
        *quick = ways[g].method != DG_REFERENCE;
        if (*quick) {
            dg_way_count(n, &ways[g], sampler);
        }
    }
    return DG_OK;
}

/** Draw in blocks: *is_drawn. Or not, as some law has no quick way. */
static dg_status draw_in_blocks(bool *is_drawn, void *out, const dg_groups *groups, const call *of)
{
    dg_way ways[DG_BLOCKS_LAWS];
    dg_sampler *mine[DG_BLOCKS_LAWS];
    size_t n_begun;
    dg_status status = begin_all(ways, mine, &n_begun, is_drawn, groups, of);
    if (status == DG_OK && *is_drawn) {
        const dg_blocks blocks = {groups, ways, of->sums};
        status = dg_blocks_fill(out, of->n, of->dtype, &blocks, of->run, of->source);
    }
    const int kept_errno = errno;
    for (size_t g = 0; g < n_begun; g++) {
        dg_way_end(&ways[g]);
        dg_sampler_free(mine[g]); /* NULL: it is the caller's */
    }
    errno = kept_errno;
    return status;
}

/** Draw n times from many laws, together. */
static dg_status draw_together(void *out, size_t n, const int64_t *which, const dg_sums *sums,
                               const call *of)
{
    return dg_crowd_fill(out, n, of->dtype, &of->laws, which, sums,
                         dg_crowd_in_lanes(n, &of->crowd), of->crowd.method == DG_ISOCHRONOUS,
                         of->run, of->source);
}

/** Draw the n draws of laws that are not drawn by themselves: begin[g] == SIZE_MAX, and becomes where group g's
 *  begin, from first on. */
static dg_status draw_others(uint8_t *drawn, size_t *begin, size_t first, size_t n,
                             const dg_groups *groups, const call *of)
{
    int64_t *which = n > 0 ? malloc(n * sizeof *which) : NULL;
    if (which == NULL) {
        return n > 0 ? DG_ERR_NOMEM : DG_OK;
    }
    size_t at = 0;
    for (size_t g = 0; g < groups->n; g++) {
        if (begin[g] == SIZE_MAX) {
            begin[g] = first + at;
            for (size_t k = 0; k < groups->counts[g]; k++) {
                which[at++] = (int64_t)groups->first[g];
            }
        }
    }
    const dg_status status = draw_together(drawn + first * of->item_bytes, n, which, NULL, of);
    const int kept_errno = errno;
    free(which);
    errno = kept_errno;
    return status;
}

/** Draw those laws that are drawn by themselves, then the others together. begin[g]: where group g's draws begin.
 *  *reached: how far draws came; of a fill that failed none is left. */
static dg_status draw_groups(uint8_t *drawn, size_t *reached, size_t *begin,
                             const dg_groups *groups, const call *of)
{
    const dg_laws *laws = &of->laws;
    const bool all_alone = of->crowd.method == DG_CELLS || laws->kind == DG_GENERALIZED_GAUSSIAN;
    const size_t alone_from = dg_crowd_alone_from(groups->n, &of->crowd);
    size_t at = 0;
    for (size_t g = 0; g < groups->n; g++) {
        const size_t law = groups->first[g], n = groups->counts[g];
        const bool must_be = all_alone || is_long(&laws->parameter, law) ||
                             is_long(&laws->centre, law) ||
                             (of->crowd.method == DG_ISOCHRONOUS && n >= alone_from);
        bool is_drawn = false;
        if (must_be || (n >= alone_from && laws->kind >= DG_DISCRETE_LAPLACE)) {
            DG_TRY(draw_alone(&is_drawn, drawn + at * of->item_bytes, n, NULL, must_be, of, law));
        }
        begin[g] = is_drawn ? at : SIZE_MAX;
        at += is_drawn ? n : 0;
        *reached = at > *reached ? at : *reached;
    }
    DG_TRY(draw_others(drawn, begin, at, of->n - at, groups, of));
    *reached = of->n;
    return DG_OK;
}

/** Put each draw where its law is, and let it become a sum, if it does. *reached: how far that came. */
static dg_status deal(uint8_t *out, size_t *reached, const uint8_t *drawn, size_t *begin,
                      const dg_groups *groups, const call *of)
{
    enum { BLOCK = 1 << 15 };
    for (size_t first = 0, end; first < of->n; first = end) {
        end = of->n - first < BLOCK ? of->n : first + BLOCK;
        *reached = end > *reached ? end : *reached;
        dg_take_in_turn(out, drawn, of->item_bytes, begin, groups, first, end);
        DG_TRY(of->sums == NULL ? DG_OK : dg_add(out, first, end, of->sums));
        DG_TRY(dg_pause_at(end - 1, of->run));
    }
    return DG_OK;
}

/** A run, and whether its pause made a fork: this is the child. */
typedef struct watched {
    const dg_run *run;
    bool is_forked;
} watched;

static int pause_watched(void *context)
{
    watched *of = context;
    const int64_t process = dg_process();
    const int stops = of->run->pause(of->run->context);
    of->is_forked = of->is_forked || dg_process() != process;
    return stops;
}

/** Draw the groups, and put each draw where its law is. In the child of a fork in a pause all is drawn anew: what
 *  was drawn before is the parent's. */
static dg_status draw_and_deal(uint8_t *out, const dg_groups *groups, const call *of)
{
    watched watch = {.run = of->run};
    dg_run run;
    call by = *of;
    if (of->run != NULL && of->run->pause != NULL) {
        run = (dg_run){of->run->threads, pause_watched, &watch};
        by.run = &run;
    }
    size_t reached = 0, reached_drawn = 0;
    uint8_t *drawn = malloc(of->n * of->item_bytes);
    size_t *begin = malloc(groups->n * sizeof *begin);
    dg_status status = drawn == NULL || begin == NULL ? DG_ERR_NOMEM : DG_OK;
    do {
        watch.is_forked = false;
        if (status == DG_OK) {
            status = draw_groups(drawn, &reached_drawn, begin, groups, &by);
        }
        if (status == DG_OK && !watch.is_forked) {
            status = deal(out, &reached, drawn, begin, groups, &by);
        }
    } while (status == DG_OK && watch.is_forked);
    const int kept_errno = errno;
    if (status != DG_OK) {
        memset(out, 0, reached * of->item_bytes);
    }
    if (drawn != NULL) {
        dg_wipe(drawn, reached_drawn * of->item_bytes); /* to touch the rest would take time */
    }
    free(drawn);
    free(begin);
    errno = kept_errno;
    return status;
}

static size_t least_count(const dg_groups *groups)
{
    size_t least = SIZE_MAX;
    for (size_t g = 0; g < groups->n; g++) {
        least = groups->counts[g] < least ? groups->counts[g] : least;
    }
    return least;
}

/** Draw from the laws of the rests. */
static dg_status draw_rests(uint8_t *out, const call *of)
{
    const size_t most = dg_crowd_most_groups(&of->crowd);
    dg_groups groups;
    dg_status status = group_laws(&groups, &of->laws, of->n, most, of->run);
    if (status == DG_OK && (groups.which == NULL || groups.n == 1)) {
        bool is_drawn;
        status = draw_alone(&is_drawn, out, of->n, of->sums, true, of, 0);
    } else if (status == DG_OK && groups.n > most) {
        status = draw_together(out, of->n, NULL, of->sums, of);
    } else if (status == DG_OK) {
        bool is_drawn = false;
        if (dg_crowd_in_blocks(groups.n, least_count(&groups), &of->crowd)) {
            status = draw_in_blocks(&is_drawn, out, &groups, of);
        }
        if (status == DG_OK && !is_drawn) {
            status = draw_and_deal(out, &groups, of);
        }
    }
    const int kept_errno = errno;
    dg_groups_free(&groups);
    errno = kept_errno;
    return status;
}

/** Whether some parameter is below 2^-20, perhaps: isochronous samplers may be none for such a law. */
static bool may_be_narrow(const dg_column *parameter, size_t n)
{
    enum { BITS = 20 };
    if (parameter->format != DG_RATIOS) {
        return !are_within(parameter, n, -BITS, 63);
    }
    const size_t n_numbers = dg_n_numbers(parameter, n);
    for (size_t i = 0; i < n_numbers; i++) {
        const uint64_t *words = parameter->words + i * parameter->stride;
        if (words[0] < words[1] >> BITS || words[1] == 0) {
            return true;
        }
    }
    return false;
}

/** What the choice asks of a call. */
static dg_crowd crowd_of(const dg_laws *laws, size_t n, dg_method method, bool lanes_hold,
                         const dg_source *source)
{
    const dg_column *columns[2] = {&laws->parameter, &laws->centre};
    bool are_ratios = false;
    for (size_t k = 0; k < 2; k++) { /* a long number of all laws has to be a sampler's, too */
        const dg_column *column = columns[k];
        are_ratios = are_ratios ||
                     (column->format == DG_RATIOS && (column->stride > 0 || is_long(column, 0)));
    }
    return (dg_crowd){
        .n = n,
        .method = method,
        .source = source == NULL ? DG_SOURCE_GETRANDOM : source->kind,
        .must_group = method == DG_CELLS || laws->kind == DG_GENERALIZED_GAUSSIAN || are_ratios ||
                      (method == DG_ISOCHRONOUS && may_be_narrow(&laws->parameter, n)),
        .lanes_hold = lanes_hold,
    };
}

dg_status dg_samplers_fill(void *out, size_t n, dg_dtype dtype, const dg_laws *laws,
                           dg_method method, size_t *bad, const dg_run *run,
                           const dg_source *source)
{
    size_t broken;
    const bool lanes_hold = do_lanes_hold(laws, n);
    DG_TRY(find_first_bad(&broken, lanes_hold, laws, n, run));
    if (bad != NULL) {
        *bad = broken;
    }
    if (broken < n || !dg_is_dtype(dtype) || method > DG_ISOCHRONOUS) {
        return DG_ERR_PARAMETER;
    }
    if (n == 0) {
        return DG_OK;
    }
    call of = {.n = n, .dtype = dtype, .laws = *laws, .run = run, .source = source};
    dg_split split;
    dg_status status = dg_split_centres(&split, &laws->centre, n, run);
    if (status == DG_OK) {
        const dg_column *integers = &split.integers;
        const dg_sums sums = {.addend = {.values = integers->words, .dtype = DG_INT64},
                              .stride = integers->stride,
                              .repeat = integers->repeat,
                              .n = integers->n,
                              .dtype = dtype};
        if (integers->words != NULL) {
            of.sums = &sums;
            of.dtype = dg_draws_of_sums(&sums);
        }
        of.item_bytes = dg_dtype_size(dtype);
        of.laws.centre = split.rests;
        of.crowd = crowd_of(&of.laws, n, method, lanes_hold, source);
        status = draw_rests(out, &of);
    }
    const int kept_errno = errno;
    dg_split_free(&split);
    errno = kept_errno;
    return status;
}
