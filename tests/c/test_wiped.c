/* Nothing random outlives a call: not on the stack below it, not in the vector registers, not in a
 * block that GMP or MPFR gives back. Held against the same calls with the wiping turned off.
 *
 * tests/system/test_wiped.py asks the same of the installed package, of all of a process's memory. Here the
 * look is taken at once, before anything else runs, and in whatever way the core was compiled. */
#define _DEFAULT_SOURCE
#include "base/int128.h"
#include "base/isa.h"
#include "base/wipe.h"
#include "cells/refine.h"
#include "left_behind.h"
#include "random/chacha20.h"
#include "support.h"

#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

/* --- getrandom, and a caller's source: a stream that is known ---------------------------------- */

enum {
    LONGEST_STREAM = 1 << 20,
    LONGEST_STACK = 1 << 18,
    N_DRAWS = 2500,
    FEW_DRAWS = 500,
    N_REFINED = 10000
};
static uint8_t stream[LONGEST_STREAM];
static size_t n_used;

ssize_t getrandom(void *buffer, size_t n, unsigned flags)
{
    (void)flags;
    if (n > LONGEST_STREAM - n_used) {
        abort();
    }
    memcpy(buffer, stream + n_used, n);
    n_used += n;
    return (ssize_t)n;
}

static int caller(void *context, uint8_t *out, size_t n)
{
    (void)context;
    return getrandom(out, n, 0) == (ssize_t)n ? 0 : 1;
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

void __explicit_bzero_chk(void *memory, size_t n, size_t room); /* what _FORTIFY_SOURCE calls */
void __explicit_bzero_chk(void *memory, size_t n, size_t room)
{
    (void)room;
    explicit_bzero(memory, n);
}

/* --- the words searched for: every 8 bytes of the streams -------------------------------------- */

enum { SLOTS = 1 << 22 };
static uint64_t slots[SLOTS]; /* a hash table; 0: free */

static size_t slot_of(uint64_t word)
{
    size_t at = (size_t)((word * UINT64_C(0x9E3779B97F4A7C15)) >> 42);
    while (slots[at] != 0 && slots[at] != word) {
        at = (at + 1) % SLOTS;
    }
    return at;
}

static void search_for(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i++) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        slots[slot_of(word)] = word;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ /* as it lies in an integer that was read from it */
        word = __builtin_bswap64(word);
        slots[slot_of(word)] = word;
#endif
    }
}

/** How many words of those searched for lie in bytes[0 .. n), at any alignment. */
static size_t n_found(const uint8_t *bytes, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i + 8 <= n; i++) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        found += word != 0 && slots[slot_of(word)] == word;
    }
    return found;
}

/* --- the blocks of GMP and MPFR ---------------------------------------------------------------- */

static size_t n_in_blocks, n_blocks;

/* Volatile, so that no register of a caller's, which the call may store, tells streams apart. */
static volatile size_t turn;

enum { MOST_CONTENTS = 64, REFINES_IN_WORDS = DG_HAVE_WORDS && !DG_ALWAYS_REFINE };
static uint64_t contents[2][MOST_CONTENTS]; /* hashes, those of two streams */
static size_t n_contents[2];

static bool has_content(size_t of, uint64_t hash)
{
    size_t k = 0;
    while (k < n_contents[of] && contents[of][k] != hash) {
        k++;
    }
    return k < n_contents[of];
}

/** Note what a block holds, if that is not zero. Blocks of one limb or two are not looked at:
 *  mpfr_get_z gives back some that hold a bound rounded (SECURITY.md, Memory); nor any where
 *  MPFR refines whatever a line leaves open: without 128-bit words, or as the build says. */
static void note_content(const mp_limb_t *limbs, size_t n)
{
    const size_t n_limbs = n / sizeof *limbs, of = turn % 2;
    const bool by_mpfr = n_limbs > 0 && limbs[0] == n_limbs - 1; /* its size is the first */
    uint64_t hash = 0;
    for (size_t i = by_mpfr; i < n_limbs && n_limbs > 2 && REFINES_IN_WORDS; i++) {
        hash = (hash ^ limbs[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    if (hash != 0 && n_contents[of] < MOST_CONTENTS && !has_content(of, hash)) {
        contents[of][n_contents[of]++] = hash;
    }
}

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
    n_blocks++;
    n_in_blocks += n_found(block, n);
    note_content(block, n);
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
    int64_t a;
    size_t shift;
    int64_t b, c, d;
    bool by_table, wide;
    size_t n;
    unsigned index_bits; /* of the table; 0: as users get it */
} wiped_case;

#define WORDS DG_ARITHMETIC_AUTO
#define GMP DG_ARITHMETIC_GMP

static const wiped_case cases[] = {
    {"gaussian, words", DG_DISCRETE_GAUSSIAN, WORDS, 1, 100, 1, 0, 1, false, false, N_DRAWS, 0},
    {"gaussian, GMP", DG_DISCRETE_GAUSSIAN, GMP, 1, 100, 1, 1, 3, false, false, N_DRAWS, 0},
    {"gaussian, one", DG_DISCRETE_GAUSSIAN, WORDS, 1, 100, 1, 0, 1, false, true, 1, 0},
    {"gaussian, long", DG_DISCRETE_GAUSSIAN, GMP, 1, 8000, 1, 0, 1, false, true, 20, 0},
    {"laplace, words", DG_DISCRETE_LAPLACE, WORDS, 1, 50, 7, 0, 1, false, false, N_DRAWS, 0},
    {"laplace, GMP", DG_DISCRETE_LAPLACE, GMP, 1, 50, 7, 1, 3, false, false, N_DRAWS, 0},
    {"uniform, long", DG_UNIFORM_BELOW, GMP, 1, 8000, 1, 0, 1, false, true, 20, 0},
    {"geometric, GMP", DG_GEOMETRIC_EXP, GMP, 1, 0, 1000, 0, 1, false, false, N_DRAWS, 0},
    {"cells, 2 bytes", DG_DISCRETE_GAUSSIAN, WORDS, 100, 0, 1, 0, 1, true, false, N_DRAWS, 0},
    {"cells, 5 bytes", DG_DISCRETE_GAUSSIAN, WORDS, 1, 60, 1, 0, 1, true, false, N_DRAWS, 0},
    {"cells, 8 bytes", DG_DISCRETE_GAUSSIAN, WORDS, 1, 100, 1, 1, 3, true, false, N_DRAWS, 0},
    {"cells, one", DG_DISCRETE_LAPLACE, WORDS, 1, 50, 1, 0, 1, true, true, 1, 0},
    {"cells, long", DG_DISCRETE_GAUSSIAN, WORDS, 1, 8000, 1, 0, 1, true, true, 100, 0},
    {"cells, wide", DG_GENERALIZED_GAUSSIAN, WORDS, 1, 200, 1, 0, 1, true, true, N_DRAWS, 0},
    /* heights decide half the attempts, and dg_refine some of them: GMP's and MPFR's blocks */
    {"cells, refined", DG_GENERALIZED_GAUSSIAN, WORDS, 1, 200, 1, 0, 1, true, true, N_REFINED, 6},
    {"cells, refined, centre", DG_GENERALIZED_GAUSSIAN, WORDS, 1, 200, 1, 1, 3, true, true,
     N_REFINED, 6},
    {"cells, refined, gaussian", DG_DISCRETE_GAUSSIAN, WORDS, 1, 400, 1, 1, 3, true, true,
     N_REFINED, 6},
    {"cells, refined, laplace", DG_DISCRETE_LAPLACE, WORDS, 1, 200, 1, 1, 3, true, true, N_REFINED,
     6},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static const wiped_case *now;
static dg_law *law;
static dg_table *table;
static dg_steady *steady; /* NULL: `now` is a fill */
static dg_source source;
static uint8_t out[1 << 20]; /* not looked at: the draws are the caller's, here */
static dg_status status;
static size_t n_draws; /* now->n, or fewer */

static void fill(void)
{
    if (steady != NULL && !now->wide) {
        status = dg_steady_draw(steady, &source) < DG_LEAST_DRAW ? DG_ERR_SOURCE : DG_OK;
        return;
    }
    if (now->wide) {
        size_t width = dg_law_wide_bytes(law);
        if (steady != NULL) {
            status = dg_steady_draw_wide(out, width, steady, &source);
            return;
        }
        status = now->by_table ? dg_table_fill_wide(out, n_draws, width, table, NULL, &source)
                               : dg_law_fill_wide(out, n_draws, width, law, NULL, &source);
        return;
    }
    status = now->by_table ? dg_table_fill(out, n_draws, DG_INT64, table, NULL, &source)
                           : dg_law_fill(out, n_draws, DG_INT64, law, NULL, &source);
}

/** Make the call; count what it left on the stack and in the registers. */
static void make_call(size_t *on_stack, size_t *in_registers)
{
    size_t n;
    n_used = 0;
    n_in_blocks = 0;
    n_draws = now->n;
    leave_behind(fill);
    CHECK(status == DG_OK && n_used > 0, "%s: status %d", now->name, (int)status);
    /* of 50 bits or so nothing else looks like a draw; of 30, a limb of something sometimes does */
    const size_t n_bits = now->kind == DG_DISCRETE_GAUSSIAN ? now->shift / 2 : now->shift;
    for (size_t i = 0; i < now->n && !now->wide && n_bits >= 50; i++) {
        search_for(out + 8 * i, 8);
    }
    const uint8_t *bytes = left_stack(&n);
    *on_stack = n_found(bytes, n);
    bytes = left_registers(&n);
    *in_registers = n_found(bytes, n);
}

static size_t n_fixed; /* bytes at the start of the stream that are not to change */

static volatile size_t n_left;

/** Give the call another stream, for as far as it goes or nearly so, in every second turn; and the
 *  first one back. */
static void change_stream(void)
{
    for (size_t i = n_fixed; i < sizeof stream / 8; i++) {
        stream[i] ^= turn % 2 == 1 ? 0x5A : 0;
    }
}

/** Words of the stack that the call leaves otherwise where the stream is another, and only there: what
 *  is made of random bits, too, not addresses of blocks, which differ from call to call. And blocks
 *  given back that hold what none does where the stream is another. */
static size_t n_that_depend(void)
{
    static uint64_t words[4][LONGEST_STACK / 8];
    n_draws = now->n < FEW_DRAWS ? now->n : FEW_DRAWS; /* four times, and nothing to search for */
    n_contents[0] = n_contents[1] = 0;
    for (turn = 0; turn < 4; turn++) {
        size_t n;
        change_stream();
        n_used = 0;
        leave_behind(fill);
        change_stream();
        memcpy(words[turn], left_stack(&n), sizeof words[0]);
        n_left = n;
    }
    size_t found = 0;
    for (size_t i = 0; i < n_left / 8; i++) {
        const uint64_t ours = words[0][i], others = words[1][i];
        found += ours != others && ours == words[2][i] && others == words[3][i];
    }
    for (size_t k = 0; k < n_contents[0]; k++) {
        found += !has_content(1, contents[0][k]);
    }
    return found;
}

static void test_case(dg_source_kind kind)
{
    size_t on_stack, in_registers;
    source = (dg_source){kind, kind == DG_SOURCE_CALLER ? caller : NULL, NULL};
    const size_t n_depend = n_that_depend();
    CHECK(n_depend == 0, "%s, source %d: %zu words or blocks that depend on random bits", now->name,
          (int)kind, n_depend);
    make_call(&on_stack, &in_registers);
    CHECK(on_stack == 0, "%s, source %d: %zu words on the stack", now->name, (int)kind, on_stack);
    CHECK(in_registers == 0, "%s, source %d: %zu words in registers", now->name, (int)kind,
          in_registers);
    CHECK(n_in_blocks == 0, "%s, source %d: %zu words in GMP's blocks", now->name, (int)kind,
          n_in_blocks);
    wiping = false;
    make_call(&on_stack, &in_registers);
    CHECK(n_that_depend() > 0, "%s, source %d: blind to what depends on bits", now->name,
          (int)kind);
    wiping = true;
    /* A caller's source may have been asked for a byte or two at a time. */
    CHECK(on_stack > 0 || kind == DG_SOURCE_CALLER || n_used < 8,
          "%s, source %d: blind on the stack", now->name, (int)kind);
    bool in_blocks = (now->shift > 1000 && !now->by_table) || now->index_bits > 0;
    CHECK(n_in_blocks > 0 || !in_blocks, "%s, source %d: blind in GMP's blocks", now->name,
          (int)kind);
}

/** Single draws: one as they are, and one whose first attempt is left undecided: it is far out, so say
 *  the ones that its words are made of. */
static void test_steady(void)
{
    static const wiped_case draws[] = {
        {"steady", DG_DISCRETE_GAUSSIAN, WORDS, 1, 20, 1, 1, 3, false, false, 1, 0},
        {"steady, undecided", DG_DISCRETE_GAUSSIAN, WORDS, 1, 8000, 1, 1, 3, false, true, 1, 0}};
    for (size_t i = 0; i < 2; i++) {
        now = &draws[i];
        law =
            long_law_of(now->kind, now->arithmetic, now->a, now->shift, now->b, 0, now->c, now->d);
        if (dg_steady_new(&steady, law) == DG_OK) { /* which there is with 128-bit words */
            test_case(DG_SOURCE_GETRANDOM);
            test_case(DG_SOURCE_CALLER);
        }
        dg_steady_free(steady);
        dg_law_free(law);
        n_fixed = 16; /* of the second one: */
        memset(stream, 0xFF, n_fixed);
        stream[8] = 0xFE; /* on the right, where y is made of the bytes as they are */
    }
    steady = NULL;
}

/* --- the control of the registers, and wiping them by itself ----------------------------------- */

static void leave_in_registers(void)
{
#if defined(__x86_64__)
    __asm__ volatile("movdqu (%0), %%xmm7" : : "r"(stream) : "xmm7");
#endif
}

static void leave_and_wipe(void)
{
    leave_in_registers();
    dg_wipe_traces();
}

static void test_control(void)
{
    size_t n;
    leave_behind(leave_in_registers);
    const uint8_t *bytes = left_registers(&n);
    CHECK(n == 0 || n_found(bytes, n) == 9, "the test does not see registers");
    leave_behind(leave_and_wipe);
    bytes = left_registers(&n);
    CHECK(n_found(bytes, n) == 0, "dg_wipe_traces leaves registers");
}

/* --- general registers --------------------------------------------------------------------------- */

static void test_general_registers(void)
{
#if DG_ISA_X86_64
    uint64_t left[4];
    __asm__ volatile("movq %0, %%r8\n\tmovq %0, %%r9\n\tmovq %0, %%r10\n\tmovq %0, %%r11"
                     :
                     : "r"(UINT64_C(0x5A5A5A5A5A5A5A5A))
                     : "r8", "r9", "r10", "r11");
    dg_wipe_registers();
    __asm__ volatile("movq %%r8, (%0)\n\tmovq %%r9, 8(%0)\n\t"
                     "movq %%r10, 16(%0)\n\tmovq %%r11, 24(%0)"
                     :
                     : "D"(left)
                     : "memory");
    CHECK((left[0] | left[1] | left[2] | left[3]) == 0, "general registers");
#endif
}

int main(void)
{
    uint64_t state = 5;
    if (!left_behind_can_look()) {
        (void)puts("what calls leave behind: not looked at in this build");
        return 0;
    }
    mp_set_memory_functions(allocate, reallocate, release);
    for (size_t i = 0; i < sizeof stream; i++) {
        stream[i] = (uint8_t)next_word(&state);
    }
    search_for(stream, sizeof stream);
    static uint8_t keystream[1 << 19];
    dg_keystream(keystream, sizeof keystream / DG_CHACHA20_BLOCK, stream, 0);
    search_for(keystream, sizeof keystream);
    test_control();
    test_general_registers();
    static const dg_isa loops[] = {DG_ISA_AUTO, DG_ISA_PORTABLE, DG_ISA_AVX2};
    const size_t n_loops = dg_isa_available(DG_ISA_AVX2) ? 3 : 2;
    for (size_t i = 0; i < N_CASES; i++) {
        now = &cases[i];
        law =
            long_law_of(now->kind, now->arithmetic, now->a, now->shift, now->b, 0, now->c, now->d);
        for (size_t k = 0; k < (now->by_table ? n_loops : 1); k++) {
            const uint32_t bits = now->index_bits == 0 ? 16 : now->index_bits;
            table = NULL;
            if (now->by_table && dg_table_new(&table, law, bits, -1, loops[k]) != DG_OK) {
                (void)fprintf(stderr, "%s: no table\n", now->name);
                return 2;
            }
            for (int kind = DG_SOURCE_GETRANDOM; kind <= DG_SOURCE_CALLER; kind++) {
                test_case((dg_source_kind)kind);
            }
            dg_table_free(table);
        }
        dg_law_free(law);
    }
    test_steady();
    return report("wiped");
}
