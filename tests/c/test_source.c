/* If getrandom(2) is interrupted or delivers little, the stream is exact. If it fails, a call returns an error and no
 * draws. This file's getrandom replaces that of the C library. */
#define _DEFAULT_SOURCE
#include "support.h"

#include "random/bits.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

enum mode { PLAIN, INTERRUPTED, SHORT, FAILS, EMPTY };
static enum mode mode;
static int failure;       /* errno of FAILS */
static size_t fails_from; /* FAILS: after this many bytes */
static unsigned n_calls;
static size_t n_given;
static unsigned flags_seen;

ssize_t getrandom(void *buffer, size_t n, unsigned flags)
{
    flags_seen |= flags;
    n_calls++;
    if (mode == INTERRUPTED && n_calls % 4 != 0) {
        errno = EINTR;
        return -1;
    }
    if (mode == FAILS && n_given >= fails_from) {
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
        uint64_t state = n_given + i;
        ((uint8_t *)buffer)[i] = (uint8_t)next_word(&state);
    }
    n_given += n;
    return (ssize_t)n;
}

static void start(enum mode next)
{
    mode = next;
    n_calls = 0;
    n_given = 0;
    fails_from = 0;
}

enum { N = 12000 };
static int64_t expected[N], out[N];

/** Every byte comes from this file's getrandom. */
static const dg_source SYSTEM = {DG_SOURCE_GETRANDOM, NULL, NULL};

static dg_status fill(int64_t to[N], const dg_sampler *by, const dg_source *source)
{
    return dg_sampler_fill(to, N, DG_INT64, by, NULL, source);
}

static void test_stream(const dg_sampler *by)
{
    start(PLAIN);
    CHECK(fill(expected, by, &SYSTEM) == DG_OK, "plain");
    CHECK(n_calls > 1, "several reads");
    static const enum mode harmless[] = {INTERRUPTED, SHORT};
    for (size_t i = 0; i < 2; i++) {
        start(harmless[i]);
        CHECK(fill(out, by, &SYSTEM) == DG_OK, "mode %d", (int)mode);
        CHECK(memcmp(out, expected, sizeof out) == 0, "mode %d: another stream", (int)mode);
    }
}

static void test_failures(const dg_sampler *by)
{
    static const int codes[] = {ENOSYS, EPERM, EAGAIN, EFAULT, EINVAL};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        for (size_t from = 0; from <= 20000; from += 10000) {
            start(FAILS);
            failure = codes[i];
            fails_from = from;
            errno = 0;
            dg_status status = fill(out, by, &SYSTEM);
            CHECK(status == DG_ERR_ENTROPY && errno == codes[i], "status %d, errno %d", (int)status,
                  errno);
            start(FAILS);
            fails_from = from / 2; /* half as many draws */
            status = dg_sampler_fill_wide((uint8_t *)out, N / 2, 16, by, NULL, &SYSTEM);
            CHECK(status == DG_ERR_ENTROPY && errno == codes[i], "status %d", (int)status);
        }
    }
    start(EMPTY);
    CHECK(fill(out, by, &SYSTEM) == DG_ERR_ENTROPY && errno == EIO, "empty read");
    start(FAILS); /* of a key, too */
    CHECK(fill(out, by, NULL) == DG_ERR_ENTROPY, "no key");
}

static int refuses(void *context, uint8_t *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)context += n;
    return -1;
}

static void test_caller(const dg_sampler *by)
{
    size_t n_requested = 0;
    dg_source source = {DG_SOURCE_CALLER, refuses, &n_requested};
    start(PLAIN);
    CHECK(fill(out, by, &source) == DG_ERR_SOURCE && n_requested > 0, "a source that refuses");
    CHECK(n_calls == 0, "no other randomness is used");
}

/** A source that refuses one call only. */
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

/** A refusal is noticed in any call: no draw continues without its bits, and the source is not called again. One draw
 *  requests few bytes at a time. */
static void test_lapses(const dg_sampler *by)
{
    const size_t width = dg_sampler_wide_bytes(by);
    for (int i = 0; i < 200; i++) {
        lapse of = {0};
        do {
            of = (lapse){0, of.refuses_at + 1, (uint64_t)i};
            const dg_source source = {DG_SOURCE_CALLER, lapses, &of};
            const dg_status status =
                i % 2 == 0 ? dg_sampler_fill(out, 1, DG_INT64, by, NULL, &source)
                           : dg_sampler_fill_wide((uint8_t *)out, 1, width, by, NULL, &source);
            const bool refused = of.n_calls >= of.refuses_at;
            CHECK(refused ? status == DG_ERR_SOURCE : status == DG_OK || status == DG_ERR_RANGE,
                  "call %zu: status %d", of.refuses_at, (int)status);
            CHECK(of.n_calls <= of.refuses_at, "method %d asks again", dg_sampler_method(by, 1));
        } while (of.n_calls >= of.refuses_at);
    }
}

/** ChaCha20, the default, gives the draws of its keystream under the first bytes of getrandom, and reads no others. */
static void test_keystream(const dg_sampler *by)
{
    static uint8_t stream[1 << 18];
    uint8_t key[32];
    start(PLAIN);
    CHECK(getrandom(key, sizeof key, 0) == sizeof key, "the key");
    dg_keystream(stream, sizeof stream / 64, key, 0);
    tape from = {stream, sizeof stream, 0};
    const dg_source source = tape_source(&from), keyed = {DG_SOURCE_CHACHA20, NULL, NULL};
    const dg_source *const sources[] = {&keyed, NULL};
    CHECK(fill(expected, by, &source) == DG_OK, "from the keystream");
    for (size_t i = 0; i < 2; i++) {
        start(PLAIN);
        CHECK(fill(out, by, sources[i]) == DG_OK, "by ChaCha20");
        CHECK(memcmp(out, expected, sizeof out) == 0, "another stream");
        CHECK(n_given == sizeof key, "%zu bytes of getrandom", n_given);
    }
}

/** Pieces of any size are the stream, whatever the call says that it will use. If it says nothing, no byte of a caller's
 *  source goes unused. */
static void test_pieces(void)
{
    static uint8_t stream[1 << 17], bytes[sizeof stream];
    static dg_bits bits;
    uint8_t key[32];
    uint64_t state = 1;
    start(PLAIN);
    CHECK(getrandom(key, sizeof key, 0) == sizeof key, "the key");
    dg_keystream(stream, sizeof stream / 64, key, 0);
    for (unsigned i = 0; i < 40; i++) {
        tape from = {stream, sizeof stream, 0};
        const dg_source source =
            i % 2 == 0 ? tape_source(&from) : (dg_source){DG_SOURCE_CHACHA20, NULL, NULL};
        start(PLAIN);
        dg_bits_open(&bits, &source);
        for (size_t at = 0; at < sizeof stream;) {
            const size_t most = i % 4 < 2 ? 20000 : 300, left = sizeof stream - at;
            const size_t n = 1 + (size_t)next_word(&state) % (most < left ? most : left);
            bits.bytes_ahead = i % 2 == 0 ? 0 : (size_t)(next_word(&state) % 3) * 9000;
            CHECK(dg_bits_take(bytes + at, n, &bits) == DG_OK, "%zu bytes", n);
            at += n;
            CHECK(i % 2 != 0 || from.used == at, "%zu bytes are used, not %zu", from.used, at);
        }
        dg_bits_close(&bits);
        CHECK(memcmp(bytes, stream, sizeof stream) == 0, "another stream");
    }
}

/** Sources of kinds that do not exist, and one without a function, are errors. */
static void test_kinds(const dg_sampler *by)
{
    static const int kinds[] = {DG_SOURCE_CALLER, 3, 1000};
    for (size_t i = 0; i < 3; i++) {
        const dg_source source = {(dg_source_kind)kinds[i], NULL, NULL};
        start(PLAIN);
        CHECK(fill(out, by, &source) == DG_ERR_SOURCE && n_calls == 0, "kind %d", kinds[i]);
    }
}

/** For few draws getrandom is called once, for what one block of the system's generator gives: 32 bytes, or whole
 *  blocks of 64. */
static void test_few_draws(void)
{
    for (int method = DG_REFERENCE; method <= DG_ISOCHRONOUS; method++) {
        dg_sampler *by = sampler_of(DG_DISCRETE_GAUSSIAN, "100", NULL, NULL, (dg_method)method,
                                    DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
        for (size_t n = 1; n <= 20 && by != NULL; n++) {
            start(PLAIN);
            CHECK(dg_sampler_fill(out, n, DG_INT64, by, NULL, &SYSTEM) == DG_OK, "%zu draws", n);
            CHECK(method == DG_ISOCHRONOUS || n_calls == 1, "%zu draws by %u calls", n, n_calls);
            CHECK(method != DG_CELLS || n_given == (n < 19 ? 32 : 64), "%zu draws of %zu bytes", n,
                  n_given);
            CHECK(n_given == 32 || n_given % 64 == 0, "%zu draws of %zu bytes", n, n_given);
        }
        dg_sampler_free(by);
    }
}

int main(void)
{
    test_pieces();
    static const struct {
        dg_law_kind kind;
        const char *parameter, *mu;
        dg_method method;
        dg_arithmetic arithmetic;
    } cases[] = {
        {DG_DISCRETE_GAUSSIAN, "1000000", NULL, DG_REFERENCE, DG_ARITHMETIC_AUTO},
        {DG_DISCRETE_LAPLACE, "1000/7", "1/3", DG_REFERENCE, DG_ARITHMETIC_AUTO},
        {DG_DISCRETE_GAUSSIAN, "1000000", NULL, DG_REFERENCE, DG_ARITHMETIC_GMP},
        {DG_DISCRETE_LAPLACE, "1000/7", "1/3", DG_REFERENCE, DG_ARITHMETIC_GMP},
        {DG_DISCRETE_GAUSSIAN, "0x1000000000000000000000000000", NULL, DG_CELLS,
         DG_ARITHMETIC_AUTO},
        {DG_DISCRETE_LAPLACE, "1000/7", "1/3", DG_ISOCHRONOUS, DG_ARITHMETIC_AUTO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dg_sampler *by = sampler_of(cases[i].kind, cases[i].parameter, cases[i].mu, NULL,
                                    cases[i].method, cases[i].arithmetic, DG_ISA_AUTO);
        if (by == NULL) {
            continue; /* without 128-bit words there are no lanes */
        }
        test_stream(by);
        test_failures(by);
        test_caller(by);
        test_lapses(by);
        test_keystream(by);
        test_kinds(by);
        dg_sampler_free(by);
    }
    dg_sampler *wide = sampler_of(DG_DISCRETE_GAUSSIAN, power_text(8000), NULL, NULL, DG_REFERENCE,
                                  DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
    test_lapses(wide); /* its integers are read in parts */
    dg_sampler_free(wide);
    test_few_draws();
    CHECK(flags_seen == 0, "getrandom with flags %u", flags_seen);
    return report("sources");
}
