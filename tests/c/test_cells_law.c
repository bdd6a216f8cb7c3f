/* The exact output law of small cell tables, through the compiled kernel: the decisions on every word, which is a
 * cell and a tick.
 *
 * A word decides at once (full and reject cells), or by a height F of 16 bits. It then accepts every F < A, rejects
 * every F >= B, and reads 64 more bits for F in [A, B). For each of these it does the same with the next 64 bits, at
 * A' and B', and once more for the values that are undecided there. The tests search for all of these around their
 * expected place. Far from it they try a few F. (A wrong arc is wrong there: it accepts all F below one place and
 * refuses all above another.) Facts, with T = 2^16 (2^i H g - m) from MPFR at 320 bits, by formulas of this file:
 *
 *   - A <= T <= B if T is in [0, 2^16], and B - A <= 2: only the units that refinement splits.
 *     The same holds 64 bits further down, for A' and B', and 128 bits further down;
 *   - tail levels 0 ... 20 of both sides; those from DG_TAIL_LEVELS on use no arc;
 *   - for every integer y, the sum of the accepted shares of all words that lead to y brackets
 *     H g(y). So an attempt returns y with probability H g(y) / (2^b w), to within 2^-79 in H g(y);
 *   - each word leads to one y, and n_full w words accept at once.
 *
 * With -DDG_NARROW_BOUNDS=ON every comparison goes to refine(), from 8 bits of precision up. The
 * same facts must hold, and counters show that every step of the refinement was taken. */
#include "support.h"

#include "base/int128_portable.h"
#include "cells/decide.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRECISION = 320,
    LEVELS = 21,
    MOST_TAPE = 32,
    NEARBY = 4,
    MORE_BITS = 64, /* of f, read at a time if its first bits do not tell */
    DEPTH = 2       /* how many times more bits are examined */
};

typedef struct test_case {
    dg_law_kind kind; /* generalised Gaussian: beta = 3 */
    long a, b, n, d;  /* parameter a/b; mu = f = n/d, -1/2 <= f < 1/2 */
    unsigned index_bits;
    int block_bits;
} test_case;

static const test_case CASES[] = {
    {DG_DISCRETE_GAUSSIAN, 1, 1, 0, 1, 4, 0},       {DG_DISCRETE_GAUSSIAN, 4, 1, 1, 3, 5, 0},
    {DG_DISCRETE_GAUSSIAN, 4, 1, -1, 2, 5, 2},      {DG_DISCRETE_GAUSSIAN, 100, 1, 0, 1, 8, 0},
    {DG_DISCRETE_GAUSSIAN, 355, 113, 2, 5, 8, 0},   {DG_DISCRETE_GAUSSIAN, 100, 1, 1, 3, 8, 2},
    {DG_DISCRETE_GAUSSIAN, 10000, 1, -1, 2, 8, 5},  {DG_DISCRETE_GAUSSIAN, 10000, 7, 0, 1, 8, -1},
    {DG_DISCRETE_LAPLACE, 2, 1, 0, 1, 6, 0},        {DG_DISCRETE_LAPLACE, 10, 1, 0, 1, 5, 2},
    {DG_DISCRETE_LAPLACE, 10, 3, 1, 3, 8, 0},       {DG_DISCRETE_LAPLACE, 100, 1, -1, 2, 8, 5},
    {DG_GENERALIZED_GAUSSIAN, 4, 1, 0, 1, 6, 0},    {DG_GENERALIZED_GAUSSIAN, 10, 1, 2, 5, 7, 1},
    {DG_GENERALIZED_GAUSSIAN, 100, 1, -1, 2, 8, 4}, {DG_GENERALIZED_GAUSSIAN, 50, 3, 1, 3, 8, 0},
};

/** Sums over words, in units of 2^-UNIT_BITS of a word, which is the share of 16 bits and 64 more at the deepest
 *  tail level. They stay below 2^9 words, 110 bits of the available 127: the words of an integer y accept H g(y)
 *  of them, H < 2^8. */
enum { UNIT_BITS = DG_HEIGHT_BITS + MORE_BITS + LEVELS };
typedef struct share {
    dg_int128 lower, upper;
} share;

/** *sum += `count` heights, each accepted whole, at a level where one counts 2^(shift - LEVELS). */
static void add_heights(dg_int128 *sum, uint64_t count, unsigned shift)
{
    const dg_int128 heights = {(int64_t)(count << shift), 0}; /* MORE_BITS is a word */
    *sum = dg_int128_add(*sum, heights);
}

typedef struct counts {
    uint64_t at_once, refined;
} counts;

#define ALL (UINT64_C(1) << DG_HEIGHT_BITS)

static dg_law *law_for(const test_case *of)
{
    return of->kind == DG_GENERALIZED_GAUSSIAN
               ? power_law_of(of->a, 0, of->b, of->n, of->d, 3, 1)
               : law_of(of->kind, DG_ARITHMETIC_AUTO, of->a, of->b, of->n, of->d);
}

/** Compute the exponent of g(y), which is rational in all cases here. */
static void exponent_of(mpq_t out, int64_t y, const test_case *of)
{
    mpz_ptr num = mpq_numref(out), den = mpq_denref(out);
    unsigned long power = of->kind == DG_DISCRETE_LAPLACE ? 1 : 3;
    if (of->kind == DG_DISCRETE_GAUSSIAN) { /* ((y d - n)^2 - n^2) b / (2 a d^2) */
        power = 2;
    }
    mpz_t at_zero;
    mpz_init(at_zero);
    mpz_set_si(num, labs((long)y * of->d - of->n)); /* small tables: far below 2^31 */
    mpz_pow_ui(num, num, power);
    mpz_set_si(at_zero, labs(of->n));
    mpz_pow_ui(at_zero, at_zero, power);
    mpz_sub(num, num, at_zero);
    mpz_set_si(den, of->d);
    mpz_pow_ui(den, den, power);
    for (unsigned long i = 0; i < (power == 2 ? 1 : power); i++) {
        mpz_mul_si(num, num, of->b);
        mpz_mul_si(den, den, of->a);
    }
    if (power == 2) {
        mpz_mul_2exp(den, den, 1);
    }
    mpq_canonicalize(out);
    mpz_clear(at_zero);
}

/** lower, upper: bounds of 2^n_bits (2^level H g(y) - m). */
static void enclose(mpz_t lower, mpz_t upper, int64_t y, unsigned long level, unsigned long m,
                    unsigned long n_bits, const dg_table *table, const test_case *of)
{
    mpq_t exponent;
    mpfr_t value;
    mpq_init(exponent);
    mpfr_init2(value, PRECISION);
    exponent_of(exponent, y, of);
    mpq_neg(exponent, exponent);
    for (int up = 0; up < 2; up++) {
        mpfr_rnd_t round = up ? MPFR_RNDU : MPFR_RNDD;
        mpfr_set_q(value, exponent, round);
        mpfr_exp(value, value, round);
        mpfr_mul_ui(value, value, table->height, round);
        mpfr_mul_2ui(value, value, level, round);
        mpfr_sub_ui(value, value, m, round);
        mpfr_mul_2ui(value, value, n_bits, round);
        mpfr_get_z(up ? upper : lower, value, round);
    }
    mpfr_clear(value);
    mpq_clear(exponent);
}

typedef enum outcome { REJECTED, UNDECIDED, ACCEPTED } outcome;

/** A word, the height, and the bytes that are read after it: a tail's level, and more bits of the height. */
typedef struct attempt {
    uint64_t word;
    uint64_t height;
    uint8_t tape[MOST_TAPE];
    size_t n;
    unsigned depth; /* how often more of the height was read; 0: the search is for the height */
    int64_t y;
    const dg_table *table;
} attempt;

static uint32_t cell_of(uint64_t word, const dg_table *table)
{
    return (uint32_t)(word & ((UINT64_C(1) << table->index_bits) - 1));
}

/** Decide an attempt that is in doubt. *used: bytes read. */
static outcome decide_in_doubt(dg_place *place, size_t *used, const attempt *by)
{
    static dg_bits bits; /* large */
    tape from = {by->tape, by->n, 0};
    dg_source source = tape_source(&from);
    bool accepted = false;
    dg_bits_open(&bits, &source);
    dg_status status = dg_decide_in_doubt(place, &accepted, cell_of(by->word, by->table),
                                          (uint32_t)by->height, by->tape, by->table, &bits);
    dg_bits_close(&bits);
    CHECK(status == DG_OK || status == DG_ERR_SOURCE, "status %d", (int)status);
    *used = from.used;
    return status != DG_OK ? UNDECIDED : accepted ? ACCEPTED : REJECTED;
}

/** Decide an attempt as csrc/cells/draw.c does. *used: bytes read if it was decided. */
static outcome decide(int64_t *y, size_t *used, const attempt *by)
{
    const dg_table *table = by->table;
    const uint32_t cell = cell_of(by->word, table);
    dg_place place = {0, by->word >> table->index_bits};
    bool accepted = true;
    outcome result;
    *used = 0;
    if (cell < table->n_coded) { /* the look-up returns it without a decision */
        place.block = table->block_of[cell];
        result = ACCEPTED;
    } else if (dg_decide_at_once(&place, &accepted, cell,
                                 dg_partial_at(cell - table->n_coded, table), (uint32_t)by->height,
                                 table)) {
        result = accepted ? ACCEPTED : REJECTED;
    } else {
        CHECK(place.block >= table->first_block && place.block <= table->last_block,
              "a block that is not of the core");
        result = decide_in_doubt(&place, used, by);
    }
    *y = place.block * (INT64_C(1) << table->tick_bits) + (int64_t)place.tick;
    return result;
}

/** Return the attempt with this value of the bits that are searched: the height, or 8 bytes after the tape. If they
 *  do not decide, the search continues with the next ones. */
static attempt deeper_than(const attempt *by, uint64_t value)
{
    attempt deeper = *by;
    deeper.depth++;
    if (by->depth == 0) {
        deeper.height = value;
        return deeper;
    }
    for (size_t i = 0; i < MORE_BITS / 8; i++) {
        deeper.tape[deeper.n++] = (uint8_t)(value >> (8 * i));
    }
    return deeper;
}

/** Decide with this value of the bits that are searched. */
static outcome with_bits(const attempt *by, uint64_t value)
{
    const attempt one = deeper_than(by, value);
    size_t used;
    int64_t y;
    outcome result = decide(&y, &used, &one);
    CHECK(y == by->y, "the place depends on the height");
    CHECK(result == UNDECIDED || used == one.n, "%zu bytes used of %zu", used, one.n);
    return result;
}

static uint64_t clamped(const mpz_t value, int add, uint64_t most)
{
    mpz_t at;
    uint64_t result = 0;
    mpz_init(at);
    if (add < 0) {
        mpz_sub_ui(at, value, (unsigned long)-add);
    } else {
        mpz_add_ui(at, value, (unsigned long)add);
    }
    if (mpz_sgn(at) > 0 && mpz_sizeinbase(at, 2) <= 64) {
        mpz_export(&result, NULL, -1, sizeof result, 0, 0, at);
    } else if (mpz_sgn(at) > 0) {
        result = UINT64_MAX;
    }
    mpz_clear(at);
    return result < most ? result : most;
}

/** *A, *B: the first value that is not accepted, and the first that is rejected; all values are below `all`. They are
 *  expected within NEARBY of the bounds lower and upper of T. A few other values are tried. */
static void find_flips(uint64_t *A, uint64_t *B, const attempt *by, const mpz_t lower,
                       const mpz_t upper, uint64_t all)
{
    uint64_t low = clamped(lower, -NEARBY, all), high = clamped(upper, NEARBY, all);
    for (uint64_t part = 0; part < 8; part++) {
        uint64_t below = low / 8 * part, above = high + (all - high) / 8 * part;
        CHECK(low == 0 || with_bits(by, below) == ACCEPTED, "y = %lld", (long long)by->y);
        CHECK(above >= all || with_bits(by, above) == REJECTED, "y = %lld", (long long)by->y);
    }
    CHECK(low == 0 || with_bits(by, low - 1) == ACCEPTED, "y = %lld", (long long)by->y);
    *A = low;
    while (*A < high && with_bits(by, *A) == ACCEPTED) {
        ++*A;
    }
    *B = *A;
    while (*B < high && with_bits(by, *B) == UNDECIDED) {
        ++*B;
    }
    for (uint64_t rest = *B; rest < high; rest++) {
        CHECK(with_bits(by, rest) == REJECTED, "y = %lld", (long long)by->y);
    }
}

/** Check A <= T <= B as far as T is in [0, all]. */
static void check_flips(uint64_t A, uint64_t B, const mpz_t lower, const mpz_t upper, uint64_t all,
                        const attempt *by)
{
    CHECK(A <= B && B - A <= 2, "%llu undecided", (unsigned long long)(B - A));
    CHECK(A <= clamped(upper, 0, all), "y = %lld: accepts too much", (long long)by->y);
    CHECK(B >= clamped(lower, 0, all), "y = %lld: rejects too much", (long long)by->y);
}

/** Find A and B of an attempt and check them, and do the same for the values in doubt. The bits of `before` come first.
 *  within: bounds of the share that is accepted of the heights in [A, B), as far as 64 more bits tell, in units of
 *  2^-80. */
static void find_and_check(uint64_t *A, uint64_t *B, share *within, const attempt *by,
                           const mpz_t before, unsigned long level, unsigned long m,
                           const test_case *of)
{
    const uint64_t all = by->depth == 0 ? ALL : UINT64_MAX; /* 2^64 - 1 itself is not tried */
    mpz_t lower, upper, offset;
    mpz_inits(lower, upper, offset, NULL);
    enclose(lower, upper, by->y, level, m, DG_HEIGHT_BITS + MORE_BITS * (unsigned long)by->depth,
            by->table, of);
    mpz_mul_2exp(offset, before, by->depth == 0 ? 0 : MORE_BITS);
    mpz_sub(lower, lower, offset);
    mpz_sub(upper, upper, offset);
    find_flips(A, B, by, lower, upper, all);
    check_flips(*A, *B, lower, upper, all, by);
    for (uint64_t value = *A; value < *B && by->depth < DEPTH; value++) {
        const attempt deeper = deeper_than(by, value);
        uint64_t more_A, more_B;
        mpz_import(lower, 1, -1, sizeof value, 0, 0, &value);
        mpz_add(lower, lower, offset);
        find_and_check(&more_A, &more_B, within, &deeper, lower, level, m, of);
        if (by->depth == 0) {
            const dg_int128 untried = dg_int128_of_unsigned(more_B == UINT64_MAX);
            within->lower = dg_int128_add(within->lower, dg_int128_of_unsigned(more_A));
            within->upper = dg_int128_add(within->upper, dg_int128_of_unsigned(more_B));
            within->upper = dg_int128_add(within->upper, untried);
        }
    }
    mpz_clears(lower, upper, offset, NULL);
}

/** Add a word whose cell is partial or of a tail, at one tail level. */
static void add_attempt(share *shares, counts *total, attempt *by, unsigned long level,
                        unsigned long m, unsigned shift, int64_t y0, const test_case *of)
{
    share within = {{0, 0}, {0, 0}};
    uint64_t A, B;
    size_t used;
    mpz_t nothing;
    mpz_init(nothing);
    (void)decide(&by->y, &used, by); /* its place is independent of the height */
    find_and_check(&A, &B, &within, by, nothing, level, m, of);
    total->refined += B - A;
    share *sum = &shares[by->y - y0];
    add_heights(&sum->lower, A, shift);
    add_heights(&sum->upper, A, shift);
    sum->lower = dg_int128_add(sum->lower, dg_int128_up(within.lower, shift));
    sum->upper = dg_int128_add(sum->upper, dg_int128_up(within.upper, shift));
    mpz_clear(nothing);
}

/** Check a word that no height decides, and that reads nothing. */
static void add_word_at_once(share *shares, counts *total, attempt *by, int64_t y0)
{
    static const uint64_t heights[] = {0, 1, ALL / 2, ALL - 1};
    const uint32_t cell = cell_of(by->word, by->table);
    const outcome expected = cell < by->table->n_full ? ACCEPTED : REJECTED;
    size_t used;
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        by->height = heights[i];
        CHECK(decide(&by->y, &used, by) == expected && used == 0, "cell %d", (int)cell);
    }
    if (expected == ACCEPTED) {
        total->at_once++;
        add_heights(&shares[by->y - y0].lower, ALL, LEVELS);
        add_heights(&shares[by->y - y0].upper, ALL, LEVELS);
    }
}

/** Add a word; if its cell is one of a tail, at all tail levels below LEVELS. */
static void add_word(share *shares, counts *total, uint64_t word, int64_t y0, const dg_table *table,
                     const test_case *of)
{
    attempt by = {word, 0, {0}, 0, 0, 0, table};
    const uint32_t cell = cell_of(word, table), n_core = table->n_full + table->n_partial;
    if (cell >= table->n_full && cell < n_core) {
        add_attempt(shares, total, &by, 0, table->partial[cell - table->n_full].level, LEVELS, y0,
                    of);
    } else if (cell >= n_core && cell < n_core + 2 * table->n_tail_side) {
        for (unsigned level = 0; level < LEVELS; level++) {
            by.n = level / 8 + 1;
            memset(by.tape, 0xFF, by.n - 1);
            by.tape[by.n - 1] = (uint8_t)~(0xFFu >> (level % 8));
            add_attempt(shares, total, &by, level, 0, LEVELS - 1 - level, y0, of);
        }
    } else {
        add_word_at_once(shares, total, &by, y0);
    }
}

/** Requires: value >= 0. */
static void set_wide(mpz_t out, dg_int128 value)
{
    uint64_t words[2] = {value.low, (uint64_t)value.high};
    mpz_import(out, 2, -1, sizeof words[0], 0, 0, words);
}

/** Compare the sums with H g(y) for every integer of the window. */
static void check_law(const share *shares, int64_t n, int64_t y0, const dg_table *table,
                      const test_case *of)
{
    mpz_t lower, upper, sum, spread;
    mpz_inits(lower, upper, sum, spread, NULL);
    for (int64_t i = 0; i < n; i++) {
        enclose(lower, upper, y0 + i, 0, 0, UNIT_BITS, table, of);
        set_wide(sum, shares[i].lower);
        CHECK(mpz_cmp(sum, upper) <= 0, "y = %lld is returned too often", (long long)(y0 + i));
        mpz_neg(spread, sum);
        set_wide(sum, shares[i].upper);
        mpz_add(spread, spread, sum);
        CHECK(mpz_cmp(sum, lower) >= 0, "y = %lld is returned too rarely", (long long)(y0 + i));
        /* over y only one cell, or one tail level, has a height that splits */
        CHECK(mpz_cmp_ui(spread, 2ul << LEVELS) <= 0, "y = %lld", (long long)(y0 + i));
    }
    mpz_clears(lower, upper, sum, spread, NULL);
}

static void test_table(const test_case *of)
{
    dg_law *law = law_for(of);
    dg_table *table = NULL;
    dg_status status = dg_table_build(&table, law, of->index_bits, of->block_bits, DG_ISA_AUTO);
    CHECK(status == DG_OK, "no table for kind %d, %lld/%lld: status %d", (int)of->kind,
          (long long)of->a, (long long)of->b, (int)status);
    if (status == DG_OK && table->rest_bytes == 0) {
        int64_t w = INT64_C(1) << table->block_bits, tail = w * LEVELS << table->tail_bits;
        int64_t y0 = table->first_block * w - tail, end = (table->last_block + 1) * w + tail;
        share *shares = calloc((size_t)(end - y0), sizeof *shares);
        counts total = {0, 0};
        if (shares == NULL) {
            exit(2);
        }
        for (uint64_t word = 0; word >> (table->index_bits + table->tick_bits) == 0; word++) {
            add_word(shares, &total, word, y0, table, of);
        }
        CHECK(total.at_once == table->n_full * (uint64_t)w, "full cells");
        CHECK(total.refined > 0, "nothing was refined");
        check_law(shares, end - y0, y0, table, of);
        free(shares);
    }
    dg_table_release(table);
    dg_law_free(law);
}

/** With narrow bounds, every precision from 8 bits to 256 was tried, decided some draws, and made others read more
 *  bits. Each but the last left yet others undecided. (256 bits are needed only if 144 bits of a height do not decide,
 *  which explains DEPTH.) */
static void check_refinements(void)
{
#if defined(DG_NARROW_BOUNDS) && DG_NARROW_BOUNDS
    for (int i = 3; i <= 8; i++) {
        const unsigned long long reached = dg_refined.reached[i], decided = dg_refined.decided[i],
                                 read_more = dg_refined.read_more[i];
        CHECK(decided > 0, "of %llu at %d bits none was decided", reached, 1 << i);
        CHECK(decided < reached || i == 8, "all of %llu at %d bits were decided", reached, 1 << i);
        CHECK(read_more > 0, "at %d bits none read more of f", 1 << i);
    }
#endif
}

int main(int argc, char **argv)
{
    size_t step = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    if (step < 1) {
        return 2;
    }
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i += step) {
        test_table(&CASES[i]);
    }
    if (step == 1) {
        check_refinements();
    }
    mpfr_free_cache();
    return report("output law of small cell tables");
}
