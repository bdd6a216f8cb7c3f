/* Every kernel of the silent engine that this machine has gives what dg_silent_settle gives: the same draws in the same
 * order. It returns false exactly if dg_silent_settle reads behind the batch. Attempts are planted where that is hard:
 * beside the borders, with more words of f' than a batch has, f' at the border itself, tails, and more waiting attempts
 * than places. Of two laws all 2^24 rows and positions are compared. The AVX-512 kernel runs on every x86-64: emulated,
 * if the machine lacks AVX-512 (emulated512/). */
#include "support.h"

#include "bounds/refine.h"
#include "isochronous/silent.h"
#include "sampler/make_law.h"

#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if DG_HAVE_WORDS

enum { PRECISION = 192, N_BATCHES = 120, ROWS = 256, GUARD = 64 };

typedef struct one_kernel {
    const char *name;
    dg_silent_kernel *make;
    dg_isa isa;
} one_kernel;

#if DG_ISA_X86_64
dg_silent_kernel emulated_silent_kernel_avx512_vbmi2;
#endif

static const one_kernel ALL[] = {
    {"portable", dg_silent_kernel_portable, DG_ISA_PORTABLE},
#if DG_ISA_X86_64
    {"AVX-512", dg_silent_kernel_avx512_vbmi2, DG_ISA_AVX512_VBMI2},
    {"AVX-512, emulated", emulated_silent_kernel_avx512_vbmi2, DG_ISA_PORTABLE},
    {"AVX2", dg_silent_kernel_avx2, DG_ISA_AVX2},
    {"SSE4.1", dg_silent_kernel_sse41, DG_ISA_SSE41},
#endif
#if DG_ISA_AARCH64
    {"NEON", dg_silent_kernel_neon, DG_ISA_NEON},
#endif
    {NULL, NULL, DG_ISA_AUTO}};

typedef struct one_law {
    dg_law_kind kind;
    const char *parameter, *mu, *beta;
} one_law;

enum { WHOLE = 2 }; /* of the first ones all positions are compared */

static const one_law LAWS[] = {
    {DG_DISCRETE_GAUSSIAN, "900", "1/3", NULL},
    {DG_DISCRETE_LAPLACE, "30", "-1/3", NULL},
    {DG_DISCRETE_GAUSSIAN, "1", "0", NULL},
    {DG_DISCRETE_GAUSSIAN, "64", "-1/4", NULL},
    {DG_DISCRETE_GAUSSIAN, "1/1000000", "549755813889/1099511627776", NULL},
    {DG_DISCRETE_GAUSSIAN, "177", "1/2", NULL},
    {DG_DISCRETE_GAUSSIAN, "10000", "-5/2", NULL},
    {DG_DISCRETE_GAUSSIAN, "1000000", "0", NULL},
    {DG_DISCRETE_GAUSSIAN, "0x1000000000", "1/3", NULL},                      /* sigma = 2^18 */
    {DG_DISCRETE_GAUSSIAN, "1000000000000", "-12345678901/7", NULL},          /* 10^6 */
    {DG_DISCRETE_GAUSSIAN, "0x100000000000000", "-1/3", NULL},                /* 2^28 */
    {DG_DISCRETE_GAUSSIAN, "0x1000000000000000000", "1/7", NULL},             /* 2^36 */
    {DG_DISCRETE_GAUSSIAN, "0x10000000000000000000000", "49/100", NULL},      /* 2^44 */
    {DG_DISCRETE_GAUSSIAN, "81129638414606681695789005144064", "-1/2", NULL}, /* 2^53 */
    {DG_DISCRETE_LAPLACE, "1/50", "1/4", NULL},
    {DG_DISCRETE_LAPLACE, "8", "1/3", NULL},
    {DG_DISCRETE_LAPLACE, "1000", "0", NULL},
    {DG_DISCRETE_LAPLACE, "1000000000", "1/3", NULL},
    {DG_DISCRETE_LAPLACE, "9007199254740992", "-1/3", NULL},
    {DG_GENERALIZED_GAUSSIAN, "5", "1/3", "3"},
    {DG_GENERALIZED_GAUSSIAN, "1/2", "0", "3/2"},
    {DG_GENERALIZED_GAUSSIAN, "100", "1/3", "3/2"},
    {DG_GENERALIZED_GAUSSIAN, "1000000", "-1/3", "8"},
    {DG_GENERALIZED_GAUSSIAN, "1000000000", "0", "127/2"},    /* g is nearly 1 in many blocks */
    {DG_GENERALIZED_GAUSSIAN, "70163419019", "1/3", "11/10"}, /* many attempts stay open */
};

static uint64_t state = 20261129;
static const one_law *looked_at;
static unsigned long n_made, n_refused;
static bool is_blurred; /* bounds are too wide, so a kernel may refuse more */

static void fill(uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(next_word(&state) >> 56);
    }
}

/** Settle a batch and compare every kernel with it. */
static void compare(const uint8_t *batch, size_t n, const dg_silent *silent)
{
    static uint8_t behind[1 << 16]; /* a tail may read thousands */
    static int64_t wanted[DG_SILENT_BATCH];
    static dg_bits bits;
    size_t n_wanted, used;
    for (size_t i = 0; i < sizeof behind; i += 8) { /* small levels of tails */
        behind[i] = (uint8_t)(next_word(&state) & 7);
    }
    tape from = {behind, sizeof behind, 0};
    const dg_source source = tape_source(&from);
    dg_bits_open(&bits, &source);
    CHECK(dg_silent_settle(wanted, &n_wanted, batch, n, silent, &bits) == DG_OK, "%s %s: settle",
          looked_at->parameter, looked_at->mu);
    used = from.used - (bits.end - bits.position);
    dg_bits_close(&bits);
    for (const one_kernel *kernel = ALL; kernel->make != NULL; kernel++) {
        if (!dg_isa_available(kernel->isa)) {
            continue;
        }
        const size_t n_bytes = dg_silent_bytes(n, silent), n_scratch = n * DG_SILENT_SCRATCH;
        uint8_t *in = malloc(n_bytes + DG_SILENT_BEHIND); /* so that sanitizers see its ends */
        uint8_t *scratch = malloc(n_scratch + DG_SILENT_BEHIND + GUARD);
        int64_t *out = malloc((n + DG_SILENT_BEHIND) * sizeof *out);
        size_t n_accepted = 0, n_untouched = 0;
        if (in == NULL || scratch == NULL || out == NULL) {
            exit(2);
        }
        memcpy(in, batch, n_bytes);
        memset(in + n_bytes, 0xA5, DG_SILENT_BEHIND);
        memset(scratch, 0x5A, n_scratch + DG_SILENT_BEHIND + GUARD);
        const bool made = kernel->make(out, &n_accepted, scratch, in, n, silent);
        n_made += made;
        n_refused += !made;
        CHECK(((DG_ALWAYS_REFINE || is_blurred) && !made) || made == (used == 0),
              "%s, %s %s: made %d of %zu attempts, %zu bytes behind them", kernel->name,
              looked_at->parameter, looked_at->mu, (int)made, n, used);
        CHECK(!made || (n_accepted == n_wanted && memcmp(out, wanted, n_wanted * sizeof *out) == 0),
              "%s, %s %s: other draws of %zu attempts", kernel->name, looked_at->parameter,
              looked_at->mu, n);
        for (size_t i = 0; i < GUARD; i++) {
            n_untouched += scratch[n_scratch + DG_SILENT_BEHIND + i] == 0x5A;
        }
        CHECK(n_untouched == GUARD, "%s: scratch is too small", kernel->name);
        free(in);
        free(scratch);
        free(out);
    }
}

/* --- planted attempts ------------------------------------------------------------------------------ */

/** Set x to L H g / c for a piece of L positions of the code of this tick. */
static void set_border(mpfr_t x, uint32_t length, size_t code, uint64_t tick_bytes,
                       const dg_silent *silent)
{
    const uint64_t tick = tick_bytes >> (8 * silent->n_planes - silent->block_bits);
    const uint64_t z = (uint64_t)(code & 127) << silent->block_bits | tick;
    dg_enclosure e;
    mpz_t y;
    mpz_init(y);
    dg_silent_set_y(y, z, (unsigned)(code >> 7));
    dg_enclosure_open(&e, PRECISION);
    dg_enclose_weight(&e, y, &silent->law);
    mpfr_mul_ui(x, e.lower, silent->height, MPFR_RNDN);
    mpfr_mul_ui(x, x, length, MPFR_RNDN);
    mpfr_div_ui(x, x, silent->c[code], MPFR_RNDN);
    dg_enclosure_close(&e);
    mpz_clear(y);
}

/** Make attempt i one beside the border of a random piece, of at least `least` positions. Ensures: *f is 2^64 times the
 *  border's fraction. Returns: whether it is at the border itself. */
static bool plant(uint64_t *f, uint8_t *batch, size_t n, size_t i, int offset, uint32_t least,
                  const dg_silent *silent)
{
    const uint64_t mask = silent->n_planes == 0 ? 0 : UINT64_MAX >> (64 - 8 * silent->n_planes);
    const uint64_t tick_bytes = next_word(&state) & mask;
    uint32_t length;
    size_t row, code;
    bool is_first;
    do {
        row = next_word(&state) % ROWS;
        is_first = next_word(&state) & 1;
        length = is_first ? silent->end[row] : 65536u - silent->end[row];
        code = is_first ? row : silent->alias[row];
    } while (length < least || (code & 127) == DG_SILENT_TAIL);
    mpfr_t x;
    mpfr_init2(x, PRECISION);
    set_border(x, length, code, tick_bytes, silent);
    const int64_t border = (int64_t)mpfr_get_uj(x, MPFR_RNDD);
    mpfr_frac(x, x, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 64, MPFR_RNDN);
    *f = mpfr_get_uj(x, MPFR_RNDD);
    mpfr_clear(x);
    int64_t rel = border + offset;
    rel = rel < 0 ? 0 : rel >= length ? length - 1 : rel;
    const uint32_t position = (uint32_t)rel + (is_first ? 0 : silent->end[row]);
    batch[i] = (uint8_t)row;
    batch[n + i] = (uint8_t)(position >> 8);
    batch[2 * n + i] = (uint8_t)position;
    for (unsigned k = 0; k < silent->n_planes; k++) {
        batch[(3 + k) * n + i] = (uint8_t)(tick_bytes >> (8 * k));
    }
    return rel == border;
}

static void put_word(uint8_t *words, size_t k, uint64_t f)
{
    for (size_t i = 0; i < 8; i++) {
        words[8 * k + i] = (uint8_t)(f >> (8 * i));
    }
}

/** Make a tail of attempt i. */
static void plant_tail(uint8_t *batch, size_t n, size_t i)
{
    batch[i] = next_word(&state) & 1 ? DG_SILENT_TAIL : 128 + DG_SILENT_TAIL;
    batch[n + i] = batch[2 * n + i] = 0;
}

/** Plant `most` attempts anywhere, at a border or at distance 1 from it. */
static void plant_some(size_t most, bool at_border, uint32_t least, uint8_t *batch, size_t n,
                       const dg_silent *silent)
{
    for (size_t k = 0; k < most; k++) {
        const size_t at = next_word(&state) % n;
        const uint64_t side = next_word(&state) % (at_border ? 3 : 2);
        uint64_t f;
        (void)plant(&f, batch, n, at, side == 2 ? 0 : side == 1 ? 1 : -1, least, silent);
    }
}

enum { RANDOM, BORDERS, EXACT, TAILS, CROWDS, KINDS };

static void check_batch(unsigned kind, size_t n, const dg_silent *silent)
{
    static uint8_t batch[DG_SILENT_BYTES];
    uint8_t *words = batch + n * (3 + silent->n_planes);
    const uint64_t how = next_word(&state) % 4, many = next_word(&state);
    fill(batch, dg_silent_bytes(n, silent));
    if (kind == BORDERS) { /* from none to more than there are words */
        plant_some(many % 28, true, 1, batch, n, silent);
    }
    if (kind == EXACT) { /* f' is the border's fraction, or so far from it that 52 bits tell */
        const uint64_t far = UINT64_C(1) << 46;
        uint64_t f;
        const bool is_border = plant(&f, batch, n, many % n, 0, 1, silent);
        const bool is_exact = how < 2 || f < far || ~f < far;
        for (size_t k = 0; is_border && k < DG_SILENT_WORDS; k++) { /* others may come before it */
            put_word(words, k, is_exact ? f : how == 2 ? f - far : f + far);
        }
    }
    if (kind == TAILS) {
        for (size_t k = 0; k <= many % 10; k++) {
            plant_tail(batch, n, next_word(&state) % n);
        }
        if (how < 2) {
            put_word(words, many % DG_SILENT_WORDS, many >> 38);
        }
    }
    if (kind == CROWDS) { /* open by 16 bits, as a rule, and decided by 52 */
        plant_some(1 + many % (how == 0 ? n : 80), false, 16384, batch, n, silent);
    }
    compare(batch, n, silent);
}

static void check_random(const dg_silent *silent)
{
    /* dg_silent_settle takes long if it refines all */
    for (unsigned r = 0; r < (DG_ALWAYS_REFINE ? KINDS : N_BATCHES); r++) {
        const size_t most = next_word(&state) % 2 ? DG_SILENT_BATCH : 320;
        const size_t n = 64 * (1 + next_word(&state) % (most / 64));
        check_batch(r % KINDS, r < KINDS && !DG_ALWAYS_REFINE ? 2048 : n, silent);
    }
}

/** With wide bounds an attempt may be at a border or not, so that it is in doubt whether it takes a word: of few attempts
 *  often, and sometimes of one behind those that took all words. */
static void check_doubts(const dg_silent *silent)
{
    static uint8_t batch[DG_SILENT_BYTES];
    const unsigned long before = n_made, refused = n_refused;
    is_blurred = true;
    for (unsigned r = 0; r < N_BATCHES; r++) {
        const bool are_many = r % 2;
        const uint64_t blur = UINT64_C(1) << (are_many ? 30 : 33); /* of 2^52 */
        const size_t n = 64 * (1 + next_word(&state) % 8);
        dg_silent blurred = *silent; /* it shares the law */
        blurred.above += blur;
        blurred.below += blur;
        fill(batch, dg_silent_bytes(n, silent));
        plant_some(are_many ? 22 : 1 + r % 4, true, 16384, batch, n, silent);
        compare(batch, n, &blurred);
    }
    is_blurred = false;
    CHECK(n_made - before > (n_refused - refused) / 4, "%s %s: %lu made, %lu refused",
          looked_at->parameter, looked_at->mu, n_made - before, n_refused - refused);
}

/** Compare all rows and positions with a tick and words of f'. */
static void check_whole(int of_words, const dg_silent *silent)
{
    enum { BATCHES = (1 << 24) / DG_SILENT_BATCH, N = DG_SILENT_BATCH };
    static uint8_t batch[DG_SILENT_BYTES];
    const unsigned long before = n_refused;
    fill(batch, sizeof batch);
    for (unsigned k = 0; k < silent->n_planes; k++) {
        memset(batch + (3 + k) * N, batch[k], N);
    }
    memset(batch + (3 + silent->n_planes) * N, of_words, 8 * DG_SILENT_WORDS);
    for (size_t b = 0; b < BATCHES; b++) {
        for (size_t i = 0; i < N; i++) { /* each row 8 positions, so 8 borders as a rule */
            const size_t position = (b * (N / ROWS) + i / ROWS + (i % ROWS) * 256) & 0xFFFF;
            batch[i] = (uint8_t)i;
            batch[N + i] = (uint8_t)(position >> 8);
            batch[2 * N + i] = (uint8_t)position;
        }
        compare(batch, N, silent);
    }
    CHECK(n_refused == before, "%s: %lu refused", looked_at->parameter, n_refused - before);
}

/** With an argument, not all positions are compared. */
int main(int argc, char **argv)
{
    (void)argv;
    unsigned of_planes = 0;
    for (size_t i = 0; i < sizeof LAWS / sizeof *LAWS; i++) {
        looked_at = &LAWS[i];
        dg_law *law = law_by_text(looked_at->kind, DG_ARITHMETIC_AUTO, looked_at->parameter,
                                  looked_at->mu, looked_at->beta);
        dg_silent *silent;
        CHECK(dg_silent_build(&silent, law) == DG_OK, "law %zu is not held", i);
        dg_silent_set_leaves(silent);
        check_random(silent);
        if (!DG_ALWAYS_REFINE) {
            check_doubts(silent);
        }
        if (argc == 1 && i < WHOLE && !DG_ALWAYS_REFINE) {
            check_whole(0xFF, silent);
            check_whole(0x01, silent); /* 52 bits cannot tell 0 from H g < 2^-60 */
        }
        of_planes |= 1u << silent->n_planes;
        dg_silent_free(silent);
        dg_law_free(law);
    }
    CHECK(of_planes == 0xFF, "not all numbers of planes: %x", of_planes);
    mpfr_free_cache();
    printf("%lu batches made, %lu refused\n", n_made, n_refused);
    return report("kernels of the silent engine");
}

#else
int main(void)
{
    return 77; /* it needs 128-bit integers */
}
#endif
