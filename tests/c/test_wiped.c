/* On every way out, errors included, a call has wiped every named object that holds random bits: the buffer and the
 * key of its stream, the state of a fill, and the limbs of its integers.
 *
 * Each call runs in its own thread. Afterwards the test searches the thread's stack for words of the stream and for
 * draws. A few may be left because the compiler spilled them: fewer than vector registers hold, if vectors are used.
 * GMP's blocks are searched when GMP frees them. Every search is compared with the same call without wiping. */
#define _DEFAULT_SOURCE
#include "random/chacha20.h"
#include "support.h"

#include <gmp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

/* --- a known stream, which fails on request ------------------------------------------------------ */

enum { LONGEST_STREAM = 1 << 20, STACK = 1 << 20, SLOTS = 1 << 22 };
static uint8_t stream[LONGEST_STREAM];
static size_t n_used, n_given;

static bool deliver(void *buffer, size_t n)
{
    if (n > n_given - n_used) {
        memcpy(buffer, stream + n_used, n_given - n_used); /* part of it, before the error */
        return false;
    }
    memcpy(buffer, stream + n_used, n);
    n_used += n;
    return true;
}

ssize_t getrandom(void *buffer, size_t n, unsigned flags)
{
    (void)flags;
    return deliver(buffer, n) ? (ssize_t)n : -1;
}

static int caller(void *context, uint8_t *out, size_t n)
{
    (void)context;
    return deliver(out, n) ? 0 : 1;
}

/* --- wiping that can be turned off ------------------------------------------------------------- */

extern bool wiping; /* not static: a C library may have declared explicit_bzero inline */
bool wiping = true;

void explicit_bzero(void *memory, size_t n)
{
    volatile uint8_t *bytes = memory;
    for (size_t i = 0; wiping && i < n; i++) {
        bytes[i] = 0;
    }
}

void __explicit_bzero_chk(void *memory, size_t n, size_t room); /* _FORTIFY_SOURCE calls it */
void __explicit_bzero_chk(void *memory, size_t n, size_t room)
{
    (void)room;
    explicit_bzero(memory, n);
}

/* --- the words that are searched: every 8 bytes of streams and draws ---------------------------- */

/* Hash tables; 0 marks a free slot. Draws are searched on the stack only, because MPFR's temporaries, which are not
 * wiped (SECURITY.md), hold some. */
static uint64_t of_stream[SLOTS], of_draws[SLOTS];

static size_t slot_of(uint64_t word, const uint64_t *slots)
{
    size_t at = (size_t)((word * UINT64_C(0x9E3779B97F4A7C15)) >> 42);
    while (slots[at] != 0 && slots[at] != word) {
        at = (at + 1) % SLOTS;
    }
    return at;
}

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static void search_for(const uint8_t *bytes, size_t n, uint64_t *slots)
{
    for (size_t i = 0; i + 8 <= n; i++) {
        uint64_t word = word_at(bytes + i);
        if (word + (UINT64_C(1) << 40) >= UINT64_C(1) << 41) { /* shorter words are everywhere */
            slots[slot_of(word, slots)] = word;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ /* as an integer stores it that was read from it */
            word = __builtin_bswap64(word);
            slots[slot_of(word, slots)] = word;
#endif
        }
    }
}

static bool is_in(const uint64_t *slots, const uint8_t *bytes)
{
    const uint64_t word = word_at(bytes);
    return word != 0 && slots[slot_of(word, slots)] == word;
}

static size_t n_words(const uint8_t *bytes, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i + 8 <= n; i += 8) {
        found += is_in(of_stream, bytes + i) || is_in(of_draws, bytes + i);
    }
    return found;
}

static size_t n_of_key(const uint8_t *bytes, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i + DG_CHACHA20_KEY <= n; i++) {
        found += memcmp(bytes + i, stream, DG_CHACHA20_KEY) == 0;
    }
    return found;
}

/* --- GMP's blocks ------------------------------------------------------------------------------- */

static size_t n_in_blocks;

static void *allocate(size_t n)
{
    void *block = calloc(n, 1);
    if (block == NULL) {
        abort();
    }
    return block;
}

static void release(void *block, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i++) {
        n_in_blocks += is_in(of_stream, (uint8_t *)block + i);
    }
    free(block);
}

static void *reallocate(void *block, size_t n, size_t new_n)
{
    void *moved = allocate(new_n);
    memcpy(moved, block, n < new_n ? n : new_n);
    release(block, n);
    return moved;
}

/* --- the calls --------------------------------------------------------------------------------- */

typedef struct wiped_case {
    const char *name;
    dg_law_kind kind;
    dg_arithmetic arithmetic;
    size_t shift; /* sigma2 or scale is 2^shift, the centre 1/3 */
    dg_method method;
    bool wide;
    size_t n;
    uint32_t index_bits; /* of the table */
    bool in_blocks;      /* whether GMP's blocks hold words of the stream */
} wiped_case;

#define WORDS DG_ARITHMETIC_AUTO
#define GMP DG_ARITHMETIC_GMP

static const wiped_case cases[] = {
    /* Heights decide half the attempts, and dg_refine some of them, which uses blocks of GMP and MPFR. */
    {"cells, refined", DG_GENERALIZED_GAUSSIAN, WORDS, 200, DG_CELLS, true, 5000, 6, true},
    {"gaussian, words", DG_DISCRETE_GAUSSIAN, WORDS, 100, DG_REFERENCE, false, 2500, 16, false},
    {"gaussian, one", DG_DISCRETE_GAUSSIAN, WORDS, 100, DG_REFERENCE, false, 1, 16, false},
    {"laplace, GMP", DG_DISCRETE_LAPLACE, GMP, 50, DG_REFERENCE, false, 2500, 16, true},
    {"gaussian, long", DG_DISCRETE_GAUSSIAN, GMP, 8000, DG_REFERENCE, true, 20, 16, true},
    {"cells", DG_DISCRETE_GAUSSIAN, WORDS, 100, DG_CELLS, false, 2500, 16, false},
    {"cells, wide", DG_GENERALIZED_GAUSSIAN, WORDS, 200, DG_CELLS, true, 2500, 16, false},
    {"isochronous", DG_DISCRETE_GAUSSIAN, WORDS, 40, DG_ISOCHRONOUS, false, 2500, 16, false},
    {"isochronous, wide", DG_DISCRETE_LAPLACE, WORDS, 30, DG_ISOCHRONOUS, true, 2500, 16, false},
    {"isochronous, one", DG_DISCRETE_GAUSSIAN, WORDS, 40, DG_ISOCHRONOUS, false, 1, 16, false},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static const wiped_case *now;
static dg_sampler *sampler;
static dg_source source;
static uint8_t out[1 << 20];
static dg_status status;

static void *draw(void *unused)
{
    (void)unused;
    status = now->wide ? dg_sampler_fill_wide(out, now->n, dg_sampler_wide_bytes(sampler), sampler,
                                              NULL, &source)
                       : dg_sampler_fill(out, now->n, DG_INT64, sampler, NULL, &source);
    return NULL;
}

/* The stack at a second address. There valgrind accepts reads after the thread has ended. */
static uint8_t *stack, *stack_again;

static void map_stack(void)
{
    FILE *file = tmpfile();
    if (file == NULL || ftruncate(fileno(file), STACK) != 0) {
        abort();
    }
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    stack_again = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (stack == MAP_FAILED || stack_again == MAP_FAILED || fclose(file) != 0) {
        abort();
    }
}

/** Make the call on an empty stack. The stream gives n bytes. */
static void make_call(size_t n)
{
    pthread_attr_t attributes;
    pthread_t thread;
    n_used = 0;
    n_given = n;
    n_in_blocks = 0;
    memset(stack_again, 0, STACK);
    if (pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, stack, STACK) != 0 ||
        pthread_create(&thread, &attributes, draw, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        abort();
    }
    (void)pthread_attr_destroy(&attributes);
}

/** Test the call with and without wiping. Its stream ends, or fails, after n bytes. */
static void test_call(size_t n, dg_status expected)
{
    const bool has_key = source.kind == DG_SOURCE_CHACHA20;
#if defined(__x86_64__)
    /* AVX2's registers hold 64 words; gcc spilled 16 of them in lanes */
    const size_t few = has_key || now->method == DG_CELLS ? 256
                       : now->method == DG_ISOCHRONOUS    ? 32
                                                          : 16;
#else /* other compilers spill up to 110 words; an unwiped buffer has 2048 */
    const size_t few = 256;
#endif
    for (int turn = 0; turn < 2; turn++) {
        wiping = turn == 0;
        make_call(n);
        wiping = true;
        const size_t n_left = n_words(stack_again, STACK);
        const size_t n_keys = has_key ? n_of_key(stack_again, STACK) : 0;
        const char *what = turn == 0 ? "left" : "blind";
        CHECK(status == expected, "%s, %d: status %d", now->name, (int)source.kind, (int)status);
        CHECK(turn == 0 ? n_left < few : n_left >= few || n_used < 8 * few, "%s, %d: %s, %zu words",
              now->name, (int)source.kind, what, n_left);
        CHECK(turn == 0 ? n_keys == 0 : n_keys > 0 || !has_key || expected != DG_OK, "%s: %s, key",
              now->name, what);
        CHECK(turn == 0 ? n_in_blocks == 0
                        : n_in_blocks > 0 || !now->in_blocks || expected != DG_OK,
              "%s, %d: %s, %zu words in blocks", now->name, (int)source.kind, what, n_in_blocks);
    }
}

static void test_case(dg_source_kind kind)
{
    source = (dg_source){kind, kind == DG_SOURCE_CALLER ? caller : NULL, NULL};
    make_call(sizeof stream);
    CHECK(status == DG_OK && n_used > 0, "%s, %d: status %d", now->name, (int)kind, (int)status);
    search_for(out, now->wide ? now->n * dg_sampler_wide_bytes(sampler) : 8 * now->n, of_draws);
    const size_t n = n_used;
    test_call(sizeof stream, DG_OK);
    test_call(n / 2, kind == DG_SOURCE_CALLER ? DG_ERR_SOURCE : DG_ERR_ENTROPY);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/** Return whether the search makes sense: not if a sanitizer keeps variables elsewhere, or the compiler keeps all of
 *  them in memory. */
static bool can_search(void)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&    \
    !defined(SANITIZED)
    return true;
#else
    return false;
#endif
}

int main(void)
{
    uint64_t state = 5;
    if (!can_search()) {
        (void)puts("what calls leave behind: not searched in this build");
        return 77;
    }
    map_stack();
    for (size_t i = 0; i < sizeof stream; i++) {
        stream[i] = (uint8_t)next_word(&state);
    }
    search_for(stream, sizeof stream, of_stream);
    static uint8_t keystream[1 << 19];
    dg_keystream(keystream, sizeof keystream / DG_CHACHA20_BLOCK, stream, 0);
    search_for(keystream, sizeof keystream, of_stream);
    mp_set_memory_functions(allocate, reallocate, release);
    for (size_t i = 0; i < N_CASES; i++) {
        now = &cases[i];
        const dg_options options = {now->arithmetic, DG_ISA_AUTO, now->index_bits, -1};
        const dg_status made = dg_sampler_new_with(&sampler, now->kind, power_text(now->shift),
                                                   "1/3", NULL, now->method, &options);
        for (int kind = DG_SOURCE_GETRANDOM; made == DG_OK && kind <= DG_SOURCE_CALLER; kind++) {
            test_case((dg_source_kind)kind);
        }
        CHECK(made == DG_OK || (now->method == DG_ISOCHRONOUS && !DG_HAVE_WORDS), "%s: status %d",
              now->name, (int)made);
        dg_sampler_free(sampler);
    }
    return report("wiped");
}
