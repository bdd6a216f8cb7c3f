/* getrandom(2) that fails, is interrupted or comes up short: the exact stream, or an error and no
 * draws. The test's own getrandom stands before the C library's. */
#define _DEFAULT_SOURCE
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

enum mode { PLAIN, INTERRUPTED, SHORT, FAILS, EMPTY };
static enum mode mode;
static int failure;       /* errno of FAILS */
static size_t fails_from; /* FAILS: once so many bytes were given */
static unsigned n_calls;
static size_t given;
static unsigned flags_seen;

ssize_t getrandom(void *buffer, size_t n, unsigned flags)
{
    flags_seen |= flags;
    n_calls++;
    if (mode == INTERRUPTED && n_calls % 4 != 0) {
        errno = EINTR;
        return -1;
    }
    if (mode == FAILS && given >= fails_from) {
        errno = failure;
        return -1;
    }
    if (mode == EMPTY) {
        return 0;
    }
    if (mode == SHORT && n > 3) {
        n = 3;
    }
    for (size_t i = 0; i < n; i++) { /* byte k of the stream is a function of k */
        uint64_t state = given + i;
        ((uint8_t *)buffer)[i] = (uint8_t)next_word(&state);
    }
    given += n;
    return (ssize_t)n;
}

static void start(enum mode next)
{
    mode = next;
    n_calls = 0;
    given = 0;
    fails_from = 0;
}

enum { N = 3000 };
static int64_t expected[N], out[N];

static void test_stream(dg_law *law)
{
    start(PLAIN);
    CHECK(dg_law_fill(expected, N, DG_INT64, law, NULL, NULL) == DG_OK, "plain");
    CHECK(n_calls > 1, "several reads");
    static const enum mode harmless[] = {INTERRUPTED, SHORT};
    for (size_t i = 0; i < 2; i++) {
        start(harmless[i]);
        CHECK(dg_law_fill(out, N, DG_INT64, law, NULL, NULL) == DG_OK, "mode %d", (int)mode);
        CHECK(memcmp(out, expected, sizeof out) == 0, "mode %d: another stream", (int)mode);
    }
}

static bool all_zero(void)
{
    for (size_t i = 0; i < N; i++) {
        if (out[i] != 0) {
            return false;
        }
    }
    return true;
}

static void test_failures(dg_law *law)
{
    static const int codes[] = {ENOSYS, EPERM, EAGAIN, EFAULT, EINVAL};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        for (size_t from = 0; from <= 20000; from += 10000) {
            start(FAILS);
            failure = codes[i];
            fails_from = from;
            memset(out, 1, sizeof out);
            errno = 0;
            dg_status status = dg_law_fill(out, N, DG_INT64, law, NULL, NULL);
            CHECK(status == DG_ERR_ENTROPY && errno == codes[i], "status %d, errno %d", (int)status,
                  errno);
            CHECK(all_zero(), "draws after errno %d", codes[i]);
            memset(out, 1, sizeof out);
            start(FAILS);
            fails_from = from / 2; /* half as many draws */
            status = dg_law_fill_wide((uint8_t *)out, N / 2, 16, law, NULL, NULL);
            CHECK(status == DG_ERR_ENTROPY && errno == codes[i], "status %d", (int)status);
            memset(out + N / 2 * 2, 0, (N - N / 2 * 2) * sizeof *out);
            CHECK(all_zero(), "wide draws after errno %d", codes[i]);
        }
    }
    start(EMPTY);
    memset(out, 1, sizeof out);
    CHECK(dg_law_fill(out, N, DG_INT64, law, NULL, NULL) == DG_ERR_ENTROPY && errno == EIO,
          "empty read");
    CHECK(all_zero(), "draws after an empty read");
}

static int refuses(void *context, uint8_t *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)context += n;
    return -1;
}

static void test_caller(dg_law *law)
{
    size_t asked = 0;
    dg_source source = {DG_SOURCE_CALLER, refuses, &asked};
    start(PLAIN);
    memset(out, 1, sizeof out);
    CHECK(dg_law_fill(out, N, DG_INT64, law, NULL, &source) == DG_ERR_SOURCE,
          "a source that refuses");
    CHECK(all_zero() && asked > 0, "draws from a source that refuses");
    CHECK(n_calls == 0, "no other randomness is used");
}

/** A source that refuses once, and no more. */
typedef struct lapse {
    size_t n_calls, refuses_at;
    uint64_t state;
} lapse;

static int lapses(void *context, uint8_t *bytes, size_t n)
{
    lapse *of = context;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)next_word(&of->state);
    }
    return ++of->n_calls == of->refuses_at ? -1 : 0;
}

typedef struct ways {
    dg_law *law;
    dg_table *table;
    dg_lanes *lanes; /* NULL: there are none without 128-bit words, or of a wide law */
} ways;

/** One draw, in one of six ways. */
static dg_status draw_one(int way, const ways *by, const dg_source *source)
{
    const size_t width = dg_law_wide_bytes(by->law);
    switch (way) {
    case 0:
        return dg_law_fill(out, 1, DG_INT64, by->law, NULL, source);
    case 1:
        return dg_law_fill_wide((uint8_t *)out, 1, width, by->law, NULL, source);
    case 2:
        return dg_table_fill(out, 1, DG_INT64, by->table, NULL, source);
    case 3:
        return dg_table_fill_wide((uint8_t *)out, 1, width, by->table, NULL, source);
    case 4:
        return dg_lanes_fill(out, 1, DG_INT64, by->lanes, NULL, source);
    default:
        return dg_lanes_fill_wide((uint8_t *)out, 1, width, by->lanes, NULL, source);
    }
}

/** A refusal is seen wherever it comes: no draw goes on without its bits, and nothing more is asked
 *  for. One draw asks for few bytes at a time. */
static void test_lapses(dg_law *law)
{
    ways by = {law, NULL, NULL};
    CHECK(dg_table_new(&by.table, law, 6, -1, DG_ISA_AUTO) == DG_OK, "a small table");
    const int n_ways = dg_lanes_new(&by.lanes, law, DG_ISA_AUTO) == DG_OK ? 6 : 4;
    for (int i = 0; i < 100 * n_ways; i++) {
        lapse of = {0};
        do {
            of = (lapse){0, of.refuses_at + 1, (uint64_t)i};
            const dg_source source = {DG_SOURCE_CALLER, lapses, &of};
            const dg_status status = draw_one(i % n_ways, &by, &source);
            const bool refused = of.n_calls >= of.refuses_at;
            CHECK(refused ? status == DG_ERR_SOURCE : status == DG_OK || status == DG_ERR_RANGE,
                  "way %d, call %zu: status %d", i % n_ways, of.refuses_at, (int)status);
            CHECK(of.n_calls <= of.refuses_at, "way %d asks again", i % n_ways);
        } while (of.n_calls >= of.refuses_at);
    }
    dg_lanes_free(by.lanes);
    dg_table_free(by.table);
}

/** ChaCha20 gives the draws of its keystream, under the first bytes of getrandom, and asks for no
 *  more of these. */
static void test_keystream(dg_law *law)
{
    static uint8_t stream[1 << 18];
    uint8_t key[32];
    start(PLAIN);
    CHECK(getrandom(key, sizeof key, 0) == sizeof key, "the key");
    dg_keystream(stream, sizeof stream / 64, key, 0);
    tape from = {stream, sizeof stream, 0};
    const dg_source source = tape_source(&from), keyed = {DG_SOURCE_CHACHA20, NULL, NULL};
    CHECK(dg_law_fill(expected, N, DG_INT64, law, NULL, &source) == DG_OK, "from the keystream");
    start(PLAIN);
    CHECK(dg_law_fill(out, N, DG_INT64, law, NULL, &keyed) == DG_OK, "by ChaCha20");
    CHECK(memcmp(out, expected, sizeof out) == 0, "another stream");
    CHECK(given == sizeof key, "%zu bytes of getrandom", given);
}

/** A source that is named, of a kind that does not exist, and one without a function. */
static void test_kinds(dg_law *law)
{
    start(PLAIN);
    CHECK(dg_law_fill(expected, N, DG_INT64, law, NULL, NULL) == DG_OK, "none named");
    start(PLAIN);
    dg_source source = {DG_SOURCE_GETRANDOM, NULL, NULL};
    CHECK(dg_law_fill(out, N, DG_INT64, law, NULL, &source) == DG_OK, "getrandom, named");
    CHECK(memcmp(out, expected, sizeof out) == 0, "another stream");
    static const int kinds[] = {DG_SOURCE_CALLER, 3, 1000};
    for (size_t i = 0; i < 3; i++) {
        start(PLAIN);
        memset(out, 1, sizeof out);
        source.kind = (dg_source_kind)kinds[i];
        CHECK(dg_law_fill(out, N, DG_INT64, law, NULL, &source) == DG_ERR_SOURCE, "kind %d",
              kinds[i]);
        CHECK(all_zero() && n_calls == 0, "kind %d: draws, or other randomness", kinds[i]);
    }
}

/** Few draws ask once, for what one block of the kernel's generator gives: 32 bytes, or whole blocks of 64. */
static void test_few_draws(void)
{
    dg_law *law = law_of(DG_DISCRETE_GAUSSIAN, DG_ARITHMETIC_AUTO, 100, 1, 0, 1);
    dg_table *table;
    CHECK(dg_table_new(&table, law, 16, -1, DG_ISA_AUTO) == DG_OK, "a table");
    for (size_t n = 1; n <= 20 && table != NULL; n++) {
        start(PLAIN);
        CHECK(dg_table_fill(out, n, DG_INT64, table, NULL, NULL) == DG_OK, "%zu draws", n);
        CHECK(n_calls == 1 && given == (n < 19 ? 32 : 64), "%zu draws of %zu bytes", n, given);
        start(PLAIN);
        CHECK(dg_law_fill(out, n, DG_INT64, law, NULL, NULL) == DG_OK, "%zu draws", n);
        CHECK(n_calls == 1 && given % 64 == 0, "%zu draws of %zu bytes", n, given);
    }
    dg_table_free(table);
    dg_lanes *lanes;
    if (dg_lanes_new(&lanes, law, DG_ISA_AUTO) == DG_OK) {
        start(PLAIN);
        CHECK(dg_lanes_fill(out, 1, DG_INT64, lanes, NULL, NULL) == DG_OK, "one draw");
        CHECK(n_calls == 1 && given == 32, "one draw of %zu bytes", given);
    }
    dg_lanes_free(lanes);
    dg_law_free(law);
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        dg_arithmetic arithmetic = i == 0 ? DG_ARITHMETIC_AUTO : DG_ARITHMETIC_GMP;
        dg_law *laws[] = {law_of(DG_DISCRETE_GAUSSIAN, arithmetic, 1000000, 1, 0, 1),
                          law_of(DG_DISCRETE_LAPLACE, arithmetic, 1000, 7, 1, 3)};
        for (size_t j = 0; j < 2; j++) {
            test_stream(laws[j]);
            test_failures(laws[j]);
            test_caller(laws[j]);
            test_lapses(laws[j]);
            test_keystream(laws[j]);
            test_kinds(laws[j]);
            dg_law_free(laws[j]);
        }
        dg_law *wide = long_law_of(DG_DISCRETE_GAUSSIAN, arithmetic, 1, 8000, 1, 0, 0, 1);
        test_lapses(wide); /* whose integers are read in parts */
        dg_law_free(wide);
    }
    test_few_draws();
    CHECK(flags_seen == 0, "getrandom with flags %u", flags_seen);
    return report("sources");
}
