/* An isochronous fill executes the same instructions, at the same places, with the same addresses, whatever it draws.
 * The test steps through tapes instruction by instruction (steps.h). Their attempts are accepted and rejected in the
 * same places, but draw different values, or leave different attempts open for the kernel's second stage. It is for the
 * AVX-512 kernels, which valgrind does not know; test_silence.c checks all others under valgrind, with random bytes
 * marked.
 *
 * dg_silent_settle says what an attempt of a batch draws, and arrays of laws say it of theirs. The test is skipped if
 * nothing can be traced. The controls are planted leaks, which it must find. */
#include "support.h"

#include "sampler/prepare.h"
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if DG_HAVE_WORDS

enum { SKIPPED = 77, DRAWS = 24, MOST_DRAWS = 120, MOST_BYTES = 1 << 14 };

/* --- subjects -------------------------------------------------------------------------------- */

/** A function that draws from a tape into `drawn`, and its law. */
typedef struct subject {
    const char *name;
    dg_status (*draw)(size_t n, const struct subject *of, const dg_source *source);
    size_t n;
    dg_law_kind kind;
    int64_t parameter;
    int64_t scale;  /* about; it separates near from far */
    int64_t thirds; /* the centre, in thirds */
    dg_sampler *sampler;
} subject;

static int64_t drawn[MOST_DRAWS];

static dg_status draw_fill(size_t n, const subject *of, const dg_source *source)
{
    return dg_sampler_fill(drawn, n, DG_INT64, of->sampler, NULL, source);
}

static dg_status draw_laws(size_t n, const subject *of, const dg_source *source)
{
    static const uint64_t centre = 0;
    const uint64_t parameter = (uint64_t)of->parameter;
    const dg_laws laws = {.kind = of->kind,
                          .parameter = {&parameter, 0, DG_INTEGERS},
                          .centre = {&centre, 0, DG_INTEGERS}};
    return dg_laws_fill(drawn, n, DG_INT64, &laws, NULL, NULL, source);
}

static dg_status draw_single(size_t n, const subject *of, const dg_source *source)
{
    dg_status status = DG_OK;
    for (size_t i = 0; i < n && status == DG_OK; i++) {
        status = dg_sampler_fill(&drawn[i], 1, DG_INT64, of->sampler, NULL, source);
    }
    return status;
}

/* --- planted leaks --------------------------------------------------------------------------- */

static volatile int64_t sink[64];

/** Leak by a jump, with more instructions on one side. */
static dg_status leak_count(size_t n, const subject *of, const dg_source *source)
{
    const dg_status status = draw_fill(n, of, source);
    for (size_t i = 0; i < n; i++) {
        if (drawn[i] < 0) {
            sink[0] = 1;
        }
    }
    return status;
}

/** Leak by an address. */
static dg_status leak_address(size_t n, const subject *of, const dg_source *source)
{
    const dg_status status = draw_fill(n, of, source);
    for (size_t i = 0; i < n; i++) {
        (void)sink[(uint64_t)drawn[i] % 64];
    }
    return status;
}

#if defined(__x86_64__)
/** Jump; both sides have as many instructions. */
static void jump(int64_t x)
{
    __asm__ volatile("test %0, %0\n\t"
                     "js 1f\n\t"
                     "nop\n\t"
                     "jmp 2f\n"
                     "1:\n\t"
                     "nop\n\t"
                     "jmp 2f\n"
                     "2:"
                     :
                     : "r"(x)
                     : "cc");
}

/** Load from addresses in a vector register, in its lowest and its highest part. */
__attribute__((target("avx512f"))) static void gather(size_t n)
{
    static const int64_t zeros[64] = {0};
    for (size_t i = 0; i + 8 <= n; i += 8) {
        const __m512i places =
            _mm512_and_si512(_mm512_loadu_si512(drawn + i), _mm512_set1_epi64(63));
        sink[0] = _mm512_reduce_add_epi64(_mm512_i64gather_epi64(places, (const void *)zeros, 8));
    }
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") != 0;
}
#else
static void jump(int64_t x)
{
    (void)x;
}

static void gather(size_t n)
{
    (void)n;
}

static bool has_avx512(void)
{
    return false;
}
#endif

static dg_status leak_place(size_t n, const subject *of, const dg_source *source)
{
    const dg_status status = draw_fill(n, of, source);
    for (size_t i = 0; i < n; i++) {
        jump(drawn[i]);
    }
    return status;
}

static dg_status leak_gather(size_t n, const subject *of, const dg_source *source)
{
    const dg_status status = draw_fill(n, of, source);
    gather(n);
    return status;
}

/* --- tapes ----------------------------------------------------------------------------------- */

/** The values that are drawn; or some attempts wait, if blocks have more than one integer. */
typedef enum values { ANY, NEAR, FAR, LEFT, RIGHT, WAITING, OTHERS_WAITING, N_VALUES } values;

static const char *const NAMES[N_VALUES] = {"any",   "near",    "far",           "left",
                                            "right", "waiting", "others waiting"};

static bool belongs(int64_t x, values to, const subject *of)
{
    const int64_t size = x < 0 ? -x : x;
    switch (to) {
    case NEAR:
        return size <= of->scale / 2;
    case FAR:
        return size >= of->scale * 3 / 2;
    case LEFT:
        return x < 0;
    case RIGHT:
        return x > 0;
    default:
        return true;
    }
}

static uint8_t bytes[MOST_BYTES];

static void write_random(uint8_t *out, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(next_word(state) >> 56);
    }
}

/* An attempt of a batch is as good as one in a batch of its own. */

/** Settle a batch of one attempt. Returns: whether it needs nothing behind its bytes. */
static bool settle_one(int64_t *draw, size_t *n, const uint8_t *one, const dg_silent *silent)
{
    static dg_bits bits;
    tape none = {NULL, 0, 0};
    const dg_source source = tape_source(&none);
    dg_bits_open(&bits, &source);
    const dg_status status = dg_silent_settle(draw, n, one, 1, silent, &bits);
    dg_bits_close(&bits);
    return status == DG_OK;
}

static void put_position(uint8_t *one, int position)
{
    one[1] = (uint8_t)(position >> 8);
    one[2] = (uint8_t)position;
}

/** Move an attempt to the border in its row's first piece, where its word of f' decides: it waits. Returns: whether there
 *  is one. */
static bool move_to_border(uint8_t *one, bool accepted, const dg_silent *silent)
{
    const int end = silent->end[one[0]];
    int border = -1, beyond = end; /* the last place that is accepted if f' is 0 */
    uint8_t *const words = one + 3 + silent->n_planes;
    memset(words, 0, 8 * DG_SILENT_WORDS);
    while (beyond - border > 1) {
        const int middle = (border + beyond) / 2;
        int64_t draw;
        size_t n = 0;
        put_position(one, middle);
        *(settle_one(&draw, &n, one, silent) && n == 1 ? &border : &beyond) = middle;
    }
    if (border < 0 || beyond == end) {
        return false;
    }
    put_position(one, border);
    memset(words, accepted ? 0 : 0xFF, 8);
    return true;
}

/** Write an attempt that is rejected, or accepted with a value that belongs to `to`. */
static void write_one(uint8_t *one, bool accepted, bool waits, values to, const subject *of,
                      uint64_t *state)
{
    const dg_silent *silent = of->sampler->silent;
    for (bool done = false; !done;) {
        int64_t draw;
        size_t n = 0;
        write_random(one, dg_silent_bytes(1, silent), state);
        done = (!waits || move_to_border(one, accepted, silent)) &&
               settle_one(&draw, &n, one, silent) && n == accepted &&
               (!accepted || belongs(draw, to, of));
    }
}

/** Write the batch of n draws. About every fourth attempt is rejected, always the same ones, but none of blocks of one
 *  integer, where words of f' decide most that are. Returns: its length. */
static size_t write_batch(uint8_t *out, size_t n, values to, const subject *of, uint64_t *state)
{
    const dg_silent *silent = of->sampler->silent;
    const size_t m = dg_silent_attempts(n, silent), n_bytes = dg_silent_bytes(m, silent);
    uint64_t pattern = 20261123;
    size_t n_words = 0;
    write_random(out, n_bytes, state);
    for (size_t i = 0; i < m; i++) {
        uint8_t one[DG_SILENT_BYTES];
        const bool accepted = next_word(&pattern) >> 62 != 0 || silent->block_bits == 0;
        const bool waits =
            silent->block_bits > 0 && ((to == WAITING && i % 16 == 3 && i < 64) ||
                                       (to == OTHERS_WAITING && i % 8 == 5 && i < 32));
        write_one(one, accepted, waits, to, of, state);
        if (waits) {
            memcpy(out + m * (3 + silent->n_planes) + 8 * n_words++, one + 3 + silent->n_planes, 8);
        }
        for (size_t k = 0; k < 3 + silent->n_planes; k++) {
            out[k * m + i] = one[k];
        }
    }
    return n_bytes;
}

/** Write attempts of an array of laws, of 12 bytes, from which of->n draws are made. Returns: their length. */
static size_t write_attempts(values to, const subject *of, uint64_t *state)
{
    enum { ATTEMPT = 12 };
    uint64_t pattern = 20261123;
    size_t used = 0;
    for (size_t n_accepted = 0; n_accepted < of->n; used += ATTEMPT) {
        const bool accepted = next_word(&pattern) >> 62 != 0;
        bool is_right = false;
        while (!is_right) {
            tape from = {bytes + used, ATTEMPT, 0};
            const dg_source source = tape_source(&from);
            write_random(bytes + used, ATTEMPT, state);
            const bool is_accepted = of->draw(1, of, &source) == DG_OK;
            is_right = is_accepted == accepted && (!accepted || belongs(drawn[0], to, of));
        }
        n_accepted += accepted;
    }
    return used;
}

/** Write a tape from which of->n draws are made. Returns: its length in bytes. */
static size_t write_tape(values to, const subject *of)
{
    uint64_t state = 1 + (uint64_t)to;
    size_t used = 0;
    memset(bytes, 0, sizeof bytes);
    if (of->draw == draw_laws) {
        return write_attempts(to, of, &state);
    }
    if (of->draw != draw_single) {
        return write_batch(bytes, of->n, to, of, &state);
    }
    for (size_t i = 0; i < of->n; i++) {
        used += write_batch(bytes + used, 1, to, of, &state);
    }
    return used;
}

/* --- steps ----------------------------------------------------------------------------------- */

/** A call that is made here, and in a child that is stepped through. */
typedef struct stepped {
    const subject *of;
    tape from;
    dg_status status;
} stepped;

static void make(void *context)
{
    stepped *call = context;
    const dg_source source = tape_source(&call->from);
    call->status = call->of->draw(call->of->n, call->of, &source);
}

/** Count the kinds of values that differ from the first kind: in *n_places by their instructions, in *n_addresses by
 *  their addresses. Returns: whether the calls could be traced. */
static bool compare(int *n_places, int *n_addresses, const subject *of)
{
    static stepped call;
    steps first = {0}, found;
    *n_places = *n_addresses = 0;
    for (values to = 0; to < N_VALUES; to++) {
        const size_t used = write_tape(to, of);
        call = (stepped){of, {bytes, used, 0}, DG_OK};
        make(&call);
        CHECK(call.status == DG_OK && call.from.used == used, "%s, %s: status %d, %zu of %zu bytes",
              of->name, NAMES[to], (int)call.status, call.from.used, used);
        for (size_t i = 0; i < of->n; i++) {
            CHECK(belongs(drawn[i], to, of), "%s, %s: another draw", of->name, NAMES[to]);
        }
        call = (stepped){of, {bytes, used, 0}, DG_OK};
        if (!steps_of(&found, make, &call)) {
            return false;
        }
        if (to == 0) {
            first = found;
        }
        *n_places += found.n != first.n || found.places != first.places;
        *n_addresses += found.addresses != first.addresses;
    }
    printf("%s: %llu instructions; of %d others %d differ in them, %d in addresses\n", of->name,
           (unsigned long long)first.n, N_VALUES - 1, *n_places, *n_addresses);
    return true;
}

static subject SUBJECTS[] = {
    {"gaussian", draw_fill, DRAWS, DG_DISCRETE_GAUSSIAN, 400, 20, 0, NULL},
    {"gaussian, mu = 1/3", draw_fill, MOST_DRAWS, DG_DISCRETE_GAUSSIAN, 400, 20, 1, NULL},
    {"few integers", draw_fill, DRAWS, DG_DISCRETE_GAUSSIAN, 4, 2, 0, NULL},
    {"gaussian, wide", draw_fill, DRAWS, DG_DISCRETE_GAUSSIAN, INT64_C(1) << 60, 1 << 30, 0, NULL},
    {"gaussian laws", draw_laws, 16, DG_DISCRETE_GAUSSIAN, 100, 10, 0, NULL},
    {"laplace", draw_fill, DRAWS, DG_DISCRETE_LAPLACE, 50, 50, 0, NULL},
    {"laplace, wide, mu = -2/3", draw_fill, DRAWS, DG_DISCRETE_LAPLACE, 1 << 30, 1 << 30, -2, NULL},
    {"laplace laws", draw_laws, 16, DG_DISCRETE_LAPLACE, 50, 50, 0, NULL},
    {"generalised", draw_fill, DRAWS, DG_GENERALIZED_GAUSSIAN, 100, 100, 0, NULL},
    {"single draws", draw_single, 4, DG_DISCRETE_GAUSSIAN, 100, 10, 0, NULL},
};

static subject LEAKS[] = {
    {"leak of instructions", leak_count, DRAWS, DG_DISCRETE_GAUSSIAN, 100, 10, 0, NULL},
    {"leak of places", leak_place, DRAWS, DG_DISCRETE_GAUSSIAN, 100, 10, 0, NULL},
    {"leak of addresses", leak_address, DRAWS, DG_DISCRETE_GAUSSIAN, 100, 10, 0, NULL},
    {"leak by a gather", leak_gather, DRAWS, DG_DISCRETE_GAUSSIAN, 100, 10, 0, NULL},
};

static bool is_of_addresses(const subject *leak)
{
    return leak->draw == leak_address || leak->draw == leak_gather;
}

static void prepare(subject *of)
{
    char parameter[LONGEST_RATIO], mu[LONGEST_RATIO];
    of->sampler = sampler_of(of->kind, write_ratio(parameter, of->parameter, 0, 1, 0),
                             write_ratio(mu, of->thirds, 0, 3, 0), NULL, DG_ISOCHRONOUS,
                             DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
    if (of->sampler == NULL) {
        exit(2);
    }
}

static void discard(subject *of)
{
    dg_sampler_free(of->sampler);
}

static void do_nothing(void *context)
{
    (void)context;
}

int main(void)
{
    int places, addresses;
    steps none;
    if (!steps_of(&none, do_nothing, NULL)) {
        puts("skipped: nothing can be traced here");
        return SKIPPED;
    }
    for (size_t i = 0; i < sizeof SUBJECTS / sizeof *SUBJECTS; i++) {
        prepare(&SUBJECTS[i]);
        CHECK(compare(&places, &addresses, &SUBJECTS[i]), "a call cannot be traced");
        if (i == 0) {
            dg_sampler_info info;
            dg_sampler_describe(&info, SUBJECTS[i].sampler);
            printf("the kernel's dg_isa: %d\n", (int)info.isa);
        }
        discard(&SUBJECTS[i]);
        CHECK(places == 0, "%s: %d", SUBJECTS[i].name, places);
        CHECK(addresses == 0, "%s: %d", SUBJECTS[i].name, addresses);
    }
    for (size_t i = 0; i < sizeof LEAKS / sizeof *LEAKS; i++) {
        if (LEAKS[i].draw == leak_gather && !has_avx512()) {
            continue;
        }
        prepare(&LEAKS[i]);
        CHECK(compare(&places, &addresses, &LEAKS[i]), "a call cannot be traced");
        CHECK((is_of_addresses(&LEAKS[i]) ? addresses : places) == N_VALUES - 1, "%s: not seen",
              LEAKS[i].name);
        CHECK(places == 0 || !is_of_addresses(&LEAKS[i]), "%s: seen as another", LEAKS[i].name);
        discard(&LEAKS[i]);
    }
    return report("steps of isochronous draws");
}

#else
int main(void)
{
    return 77; /* without 128-bit integers there are no isochronous draws */
}
#endif
