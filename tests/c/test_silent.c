/* The silent engine's integers and its definition (isochronous/silent.h). Facts:
 *
 *   - the rows give each code as many positions as c says, and c is at least H g: with the bounds on a, the theorem
 *     of silent.h needs nothing else; 2^lift g is at most 1, as kernels ask for;
 *   - of all 2^24 rows and positions with one tick, floor(H g) or a few more, by one for each piece of the code, are
 *     accepted: no more than H g if f' is all ones, no fewer if it is 0;
 *   - attempts read the stream that the header describes, and only that. */
#include "support.h"

#include "bounds/refine.h"
#include "isochronous/silent.h"
#include "sampler/make_law.h"

#include <mpfr.h>
#include <string.h>

#if DG_HAVE_WORDS

enum { PRECISION = 256, ROWS = 256 };

typedef struct one_law {
    dg_law_kind kind;
    const char *parameter, *mu, *beta;
} one_law;

/* Of the first ones all positions are looked at. */
enum { WHOLE = 6, TINY = 9 }; /* tails of sigma = 1/1000 would read 10^9 bits */

static const one_law LAWS[] = {
    {DG_DISCRETE_GAUSSIAN, "1", "1/3", NULL},
    {DG_DISCRETE_GAUSSIAN, "900", "1/3", NULL},
    {DG_DISCRETE_GAUSSIAN, "1000000000000", "1/7", NULL},
    {DG_DISCRETE_LAPLACE, "1/50", "1/4", NULL},
    {DG_DISCRETE_LAPLACE, "30", "-1/3", NULL},
    {DG_GENERALIZED_GAUSSIAN, "1000", "1/3", "3/2"},
    {DG_DISCRETE_GAUSSIAN, "81129638414606681695789005144064", "-1/2", NULL}, /* sigma = 2^53 */
    {DG_DISCRETE_LAPLACE, "9007199254740992", "1/3", NULL},
    {DG_GENERALIZED_GAUSSIAN, "5", "1/3", "3"},
    {DG_DISCRETE_GAUSSIAN, "1/1000000", "549755813889/1099511627776", NULL},
    {DG_DISCRETE_GAUSSIAN, "64", "-1/4", NULL},
    {DG_DISCRETE_GAUSSIAN, "10000", "-5/2", NULL},
    {DG_DISCRETE_LAPLACE, "8", "1/3", NULL},
    {DG_GENERALIZED_GAUSSIAN, "200", "1/3", "6/5"},
    {DG_GENERALIZED_GAUSSIAN, "1000000000", "1/2", "127/2"},
    /* g(1) is more than 2^-5 by a share of some 2^-130 */
    {DG_GENERALIZED_GAUSSIAN,
     "1361129467683753853853498429727072845824/4717315264510265882758882855283089687985", "0", "1"},
};

static const one_law *looked_at;

#define HOLDS(condition, code, what)                                                               \
    CHECK(condition, "%s %s, code %zu: %s", looked_at->parameter, looked_at->mu, (size_t)(code),   \
          what)

/** Set bounds of 2^shift H g at z. */
static void bounds_of(mpfr_t lower, mpfr_t upper, uint64_t z, size_t left, const dg_silent *silent)
{
    dg_enclosure e;
    mpz_t y;
    mpz_init(y);
    dg_silent_set_y(y, z, (unsigned)left);
    dg_enclosure_open(&e, PRECISION);
    dg_enclose_weight(&e, y, &silent->law);
    mpfr_mul_ui(lower, e.lower, silent->height, MPFR_RNDD);
    mpfr_mul_ui(upper, e.upper, silent->height, MPFR_RNDU);
    dg_enclosure_close(&e);
    mpz_clear(y);
}

static void check_units(const dg_silent *silent)
{
    uint32_t positions[DG_SILENT_CODES] = {0}, total = 0;
    mpfr_t lower, upper;
    mpfr_inits2(PRECISION, lower, upper, (mpfr_ptr)0);
    for (size_t r = 0; r < ROWS; r++) {
        HOLDS(silent->end[r] >= 1, r, "an empty row");
        positions[r] += silent->end[r];
        positions[silent->alias[r]] += 65536u - silent->end[r];
    }
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        const uint64_t h = i & 127;
        total += silent->c[i];
        HOLDS(positions[i] == silent->c[i], i, "positions");
        if (h == DG_SILENT_TAIL) {
            HOLDS(silent->c[i] == 1, i, "a tail");
            continue;
        }
        bounds_of(lower, upper, h << silent->block_bits, i >> 7, silent);
        HOLDS(mpfr_cmp_ui(upper, silent->c[i]) <= 0, i, "c is below H g");
        mpfr_mul_2ui(lower, lower, silent->lift[i], MPFR_RNDD);
        HOLDS(mpfr_cmp_ui(lower, silent->height) <= 0, i, "2^lift g is above 1");
    }
    HOLDS(total == 1u << 24, 0, "the sum");
    for (size_t left = 0; left < 2; left++) { /* the width is the least one */
        bounds_of(lower, upper, (uint64_t)DG_SILENT_TAIL << silent->block_bits, left, silent);
        HOLDS(mpfr_cmp_d(upper, silent->height * 0x1p-64) <= 0, DG_SILENT_TAIL,
              "a tail begins too early");
    }
    mpfr_clears(lower, upper, (mpfr_ptr)0);
}

/** A source of one byte, again and again. */
static int repeat(void *byte, uint8_t *out, size_t n)
{
    memset(out, *(const uint8_t *)byte, n);
    return 0;
}

/** Count which codes are accepted of all rows and positions with a tick and words of f'. */
static void count_all(uint32_t counts[DG_SILENT_CODES], uint64_t tick_bytes, int of_words,
                      const dg_silent *silent)
{
    enum { BATCHES = (1 << 24) / DG_SILENT_BATCH, N = DG_SILENT_BATCH };
    static uint8_t batch[DG_SILENT_BYTES];
    static int64_t out[N];
    static dg_bits bits;
    memset(counts, 0, DG_SILENT_CODES * sizeof *counts);
    uint8_t behind = (uint8_t)of_words;
    const dg_source source = {.kind = DG_SOURCE_CALLER, .fill = repeat, .context = &behind};
    for (unsigned k = 0; k < silent->n_planes; k++) {
        memset(batch + (3 + k) * N, (int)(tick_bytes >> (8 * k) & 0xFF), N);
    }
    memset(batch + (3 + silent->n_planes) * N, of_words, 8 * DG_SILENT_WORDS);
    for (size_t b = 0; b < BATCHES; b++) {
        for (size_t i = 0; i < N;
             i++) { /* each row 8 positions: 8 borders of a batch at most, as a rule */
            const size_t position = (b * (N / ROWS) + i / ROWS + (i % ROWS) * 256) & 0xFFFF;
            batch[i] = (uint8_t)i;
            batch[N + i] = (uint8_t)(position >> 8);
            batch[2 * N + i] = (uint8_t)position;
        }
        size_t n;
        dg_bits_open(&bits, &source);
        const dg_status status = dg_silent_settle(out, &n, batch, N, silent, &bits);
        CHECK(status == DG_OK, "%s %s, batch %zu failed", looked_at->parameter, looked_at->mu, b);
        dg_bits_close(&bits);
        for (size_t i = 0; i < n; i++) {
            int64_t y = out[i] - silent->centre;
            y = (y ^ silent->flip) - silent->flip;
            const uint64_t z = (uint64_t)(y < 0 ? ~y : y) >> silent->block_bits;
            counts[(size_t)(y < 0) << 7 | (z < DG_SILENT_TAIL ? z : DG_SILENT_TAIL)]++;
        }
    }
}

static void check_whole(uint64_t tick_bytes, const dg_silent *silent)
{
    static uint32_t least[DG_SILENT_CODES], most[DG_SILENT_CODES], pieces[DG_SILENT_CODES];
    const unsigned cut = 8 * silent->n_planes - silent->block_bits;
    const uint64_t all = silent->n_planes == 0 ? 0 : UINT64_MAX >> (64 - 8 * silent->n_planes);
    mpfr_t lower, upper;
    mpfr_inits2(PRECISION, lower, upper, (mpfr_ptr)0);
    count_all(least, tick_bytes, 0xFF, silent);
    count_all(most, tick_bytes, 0x00, silent);
    memset(pieces, 0, sizeof pieces);
    for (size_t r = 0; r < ROWS; r++) {
        pieces[r]++;
        pieces[silent->alias[r]]++;
    }
    for (size_t i = 0; i < DG_SILENT_CODES; i++) {
        if ((i & 127) == DG_SILENT_TAIL) {
            HOLDS(least[i] == 0, i, "a tail was accepted");
            continue;
        }
        const uint64_t z = (uint64_t)(i & 127) << silent->block_bits | (tick_bytes & all) >> cut;
        bounds_of(lower, upper, z, i >> 7, silent);
        HOLDS(mpfr_cmp_ui(upper, least[i]) >= 0, i, "too many");
        HOLDS(mpfr_cmp_ui(lower, most[i]) <= 0, i, "too few");
        HOLDS(most[i] - least[i] <= pieces[i], i, "borders");
    }
    mpfr_clears(lower, upper, (mpfr_ptr)0);
}

/** A tail whose f' is 0 reads its level behind the batch, and is accepted; one whose f' is 2^-38 reads nothing. */
static void check_tails(const dg_silent *silent)
{
    enum { N = 64 };
    static uint8_t batch[DG_SILENT_BYTES];
    static dg_bits bits;
    for (unsigned i = 0; i < 7; i++) { /* levels 0, 1, 2 and a bit; the last is not small */
        const unsigned level = i / 2, k = i % 2;
        const uint64_t row = DG_SILENT_TAIL + (k == 0 ? 0 : 128), end = silent->end[row]; /* 1 */
        static uint8_t behind[1 << 16];
        int64_t out[N];
        size_t n;
        memset(behind, 0, sizeof behind);
        behind[0] = (uint8_t)(k | ((1u << level) - 1) << 1);
        memset(batch, 0, sizeof batch); /* the others are the centre */
        batch[0] = (uint8_t)row;
        batch[N * (3 + silent->n_planes) + 3] = i == 6 ? 4 : 0; /* 2^26 */
        tape from = {behind, sizeof behind, 0};
        const dg_source source = tape_source(&from);
        dg_bits_open(&bits, &source);
        HOLDS(end == 1 && silent->end[0] > 1, row, "rows of tails and of the centre");
        HOLDS(dg_silent_settle(out, &n, batch, N, silent, &bits) == DG_OK, i, "a tail failed");
        const size_t used = from.used - (bits.end - bits.position);
        dg_bits_close(&bits);
        const uint64_t z = (uint64_t)(DG_SILENT_TAIL + 2 * level + k) << silent->block_bits;
        const int64_t first = ((out[0] - silent->centre) ^ silent->flip) - silent->flip;
        HOLDS(out[1] == silent->centre, i, "the centre");
        if (i == 6) {
            HOLDS(n == N - 1 && used == 0, i, "a tail that is not accepted");
        } else {
            HOLDS(n == N && used >= 8 && used % 8 == 0, i, "the level");
            HOLDS(first == (k == 0 ? (int64_t)z : -1 - (int64_t)z), i, "its place");
        }
    }
}

int main(void)
{
    uint64_t state = 20261129;
    for (size_t i = 0; i < sizeof LAWS / sizeof *LAWS; i++) {
        looked_at = &LAWS[i];
        dg_law *law = law_by_text(looked_at->kind, DG_ARITHMETIC_AUTO, looked_at->parameter,
                                  looked_at->mu, looked_at->beta);
        dg_silent *silent;
        CHECK(dg_silent_build(&silent, law) == DG_OK, "law %zu is not held", i);
        check_units(silent);
        if (i < WHOLE && !DG_ALWAYS_REFINE) {
            check_whole(next_word(&state), silent);
        }
        if (i != TINY) {
            check_tails(silent);
        }
        dg_silent_free(silent);
        dg_law_free(law);
    }
    mpfr_free_cache();
    return report("the silent engine's definition");
}

#else
int main(void)
{
    return 77; /* it needs 128-bit integers */
}
#endif
