/* The silent engine's best kernel of this machine executes the same instructions, with the same addresses, whatever a
 * batch draws. The test is for the kernel for AVX-512, which valgrind does not know: it steps through it instruction by
 * instruction (steps.h). On other machines it steps through the kernel for AVX2, which test_silence.c checks, too.
 *
 * Batches have the same attempts accepted, draw different values, and have attempts that wait in different places. A
 * planted leak must be found. The test is skipped if nothing can be traced. */
#include "support.h"

#include "steps.h"

#include "isochronous/silent.h"
#include "sampler/make_law.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 };

#if DG_HAVE_WORDS && DG_ISA_X86_64

enum { N = 128, ALIKE = 64, N_WAITING = 6, TRIES = 100000 };

/** The values that are drawn, and whether some attempts wait. */
typedef enum values { ANY, NEAR, FAR, LEFT, RIGHT, WAITING, OTHERS_WAITING, N_VALUES } values;

typedef struct attempt {
    uint8_t bytes[3 + DG_SILENT_PLANES];
} attempt;

static uint64_t state = 20261129;
static const dg_silent *silent;

/** Put an attempt into a batch of n attempts. */
static void put(uint8_t *batch, size_t n, size_t i, const attempt *of)
{
    for (size_t k = 0; k < 3 + silent->n_planes; k++) {
        batch[k * n + i] = of->bytes[k];
    }
}

/** Settle an attempt. Returns: 1: accepted, *y is the draw | 0: rejected | -1: it depends on words of f'. */
static int outcome_of(int64_t *y, const attempt *of)
{
    static uint8_t batch[DG_SILENT_BYTES];
    static dg_bits bits;
    int64_t draws[ALIKE];
    size_t n = 1;
    tape none = {NULL, 0, 0};
    const dg_source source = tape_source(&none);
    for (size_t i = 0; i < ALIKE; i++) {
        put(batch, ALIKE, i, of);
    }
    memset(batch + ALIKE * (3 + silent->n_planes), 0, 8 * DG_SILENT_WORDS);
    dg_bits_open(&bits, &source);
    const dg_status status = dg_silent_settle(draws, &n, batch, ALIKE, silent, &bits);
    dg_bits_close(&bits);
    *y = draws[0];
    return status != DG_OK || (n != 0 && n != ALIKE) ? -1 : n == ALIKE;
}

static attempt random_attempt(void)
{
    attempt of;
    for (size_t k = 0; k < sizeof of.bytes; k++) {
        of.bytes[k] = (uint8_t)(next_word(&state) >> 56);
    }
    return of;
}

/** Move an attempt's position by some places. */
static void move(attempt *of, int by)
{
    const int position = (of->bytes[1] << 8 | of->bytes[2]) + by;
    of->bytes[1] = (uint8_t)(position >> 8);
    of->bytes[2] = (uint8_t)position;
}

/** Make an attempt that is accepted or rejected next to a border, where 16 bits leave it open. */
static bool next_to_border(attempt *of, bool accepted)
{
    int64_t y;
    attempt low = *of; /* at the beginning of the row's first piece */
    const int end = silent->end[of->bytes[0]];
    low.bytes[1] = low.bytes[2] = 0;
    int known = 0, beyond = end - 1; /* accepted there, and not */
    attempt high = low;
    move(&high, beyond);
    if (end < 256 || outcome_of(&y, &low) != 1 || outcome_of(&y, &high) != 0) {
        return false;
    }
    while (beyond - known > 1) {
        const int middle = (known + beyond) / 2;
        attempt at = low;
        move(&at, middle);
        if (outcome_of(&y, &at) == 1) {
            known = middle;
        } else {
            beyond = middle;
        }
    }
    *of = low;
    move(of, accepted ? known : beyond + 1); /* beyond may be the border itself */
    return outcome_of(&y, of) == (accepted ? 1 : 0);
}

static bool belongs(int64_t y, values to)
{
    const int64_t size = (y < 0 ? -y : y) >> silent->block_bits; /* in blocks */
    switch (to) {
    case NEAR:
        return size <= 2;
    case FAR:
        return size >= 6;
    case LEFT:
        return y < 0;
    case RIGHT:
        return y > 0;
    default:
        return true;
    }
}

static uint8_t batch[DG_SILENT_BYTES + DG_SILENT_BEHIND];

/** Write a batch in which always the same attempts are accepted. Returns: whether that is possible. */
static bool write_batch(values to)
{
    uint64_t pattern = 20261123;
    const bool is_flat = silent->block_bits == 0; /* then next to nothing is rejected */
    for (size_t i = 0; i < N; i++) {
        const bool accepted = next_word(&pattern) % 3 != 0 || is_flat;
        const bool waits = to == WAITING          ? i % 16 == 3 && i / 16 < N_WAITING
                           : to == OTHERS_WAITING ? i % 8 == 5 && i / 8 < N_WAITING
                                                  : false;
        attempt of;
        int64_t y;
        size_t tries = 0;
        bool done = false;
        while (!done && tries++ < TRIES) {
            of = random_attempt();
            done = waits && !is_flat
                       ? next_to_border(&of, accepted)
                       : outcome_of(&y, &of) == (accepted ? 1 : 0) && (!accepted || belongs(y, to));
        }
        if (!done) {
            return false;
        }
        put(batch, N, i, &of);
    }
    for (size_t i = 0; i < 8 * DG_SILENT_WORDS; i++) {
        batch[N * (3 + silent->n_planes) + i] = (uint8_t)(next_word(&state) >> 56);
    }
    return true;
}

/* --- steps ------------------------------------------------------------------------------------------ */

static int64_t out[N + DG_SILENT_BEHIND];
static size_t n_accepted;
static bool made;
static volatile uint8_t sink[256];

static void make(void *leaks)
{
    static uint8_t scratch[N * DG_SILENT_SCRATCH + DG_SILENT_BEHIND];
    made = silent->kernel(out, &n_accepted, scratch, batch, N, silent);
    if (*(const bool *)leaks) {
        (void)sink[out[0] & 0xFF];
    }
}

/** Return how many kinds of batches have other steps than the first kind. */
static unsigned n_different(bool leaks)
{
    steps first = {0}, found = {0};
    size_t n_first = 0;
    unsigned n = 0;
    for (values to = 0; to < N_VALUES; to++) {
        CHECK(write_batch(to), "no batch of kind %d", (int)to);
        make(&leaks);
        n_first = to == 0 ? n_accepted : n_first;
        CHECK(made && n_accepted == n_first, "kind %d: %zu draws", (int)to, n_accepted);
        CHECK(steps_of(&found, make, &leaks), "the kernel cannot be traced");
        first = to == 0 ? found : first;
        n += found.n != first.n || found.places != first.places ||
             found.addresses != first.addresses;
    }
    printf("dg_isa %d, %u planes, %zu draws: %llu instructions; %u of %d others differ\n",
           (int)silent->isa, silent->n_planes, n_first, (unsigned long long)first.n, n,
           N_VALUES - 1);
    return n;
}

static void do_nothing(void *context)
{
    (void)context;
}

int main(void)
{
    static const struct {
        dg_law_kind kind;
        const char *parameter, *mu;
    } laws[] = {
        {DG_DISCRETE_GAUSSIAN, "64", "-1/4"},
        {DG_DISCRETE_GAUSSIAN, "900", "1/3"},
        {DG_DISCRETE_GAUSSIAN, "1000000000000", "1/7"},
        {DG_DISCRETE_GAUSSIAN, "81129638414606681695789005144064", "-1/2"},
        {DG_DISCRETE_LAPLACE, "30", "-1/3"},
        {DG_DISCRETE_LAPLACE, "1000", "1/3"},
    };
    steps none;
    if (!steps_of(&none, do_nothing, NULL)) {
        puts("skipped: nothing can be traced here");
        return SKIPPED;
    }
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        dg_silent *of;
        dg_law *law =
            law_by_text(laws[i].kind, DG_ARITHMETIC_AUTO, laws[i].parameter, laws[i].mu, NULL);
        CHECK(dg_silent_build(&of, law) == DG_OK, "law %zu is not held", i);
        dg_silent_dispatch(of, DG_ISA_AUTO);
        silent = of;
        CHECK(n_different(false) == 0, "law %zu", i);
        CHECK(i > 0 || n_different(true) > 0, "a leak was not seen");
        dg_silent_free(of);
        dg_law_free(law);
    }
    return report("steps of the silent kernel");
}

#else
int main(void)
{
    return SKIPPED;
}
#endif
