/* Noise by key and item: every build gives the same items, even with -DDG_NARROW_BOUNDS, which sends every decision to
 * dg_refine. An item reads more than the first 64 bits of f' and of the level. */
#include "cells/noise_at.c" /* for its static functions; the library's object is then not linked */
#include "sampler/prepare.h"
#include "sha256.h"
#include "support.h"

#include <string.h>

enum { N = 20000 };

static const uint8_t KEY[32] = {7, 1, 8, 2};

typedef struct law_case {
    dg_law_kind kind;
    const char *parameter, *mu, *beta, *digest;
} law_case;

static void check_items(const law_case *of)
{
    static int64_t items[N], apart[N];
    dg_sampler *sampler = sampler_of(of->kind, of->parameter, of->mu, of->beta, DG_CELLS,
                                     DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
    const uint64_t first = UINT64_MAX / 3;
    CHECK(dg_noise_at(items, N, DG_INT64, sampler, first, KEY) == DG_OK, "%s", of->parameter);
    for (size_t i = N, some; i > 0; i -= some) { /* backwards, in other pieces */
        some = i < 777 ? i : (size_t)777;
        CHECK(dg_noise_at(apart + i - some, some, DG_INT64, sampler, first + i - some, KEY) ==
                  DG_OK,
              "%s", of->parameter);
    }
    CHECK(memcmp(items, apart, sizeof items) == 0, "%s", of->parameter);
    sha256 hash;
    char hex[65];
    sha256_open(&hash);
    for (size_t i = 0; i < N; i++) { /* independent of the byte order */
        for (int k = 0; k < 8; k++) {
            const uint8_t byte = (uint8_t)((uint64_t)items[i] >> (8 * k));
            sha256_add(&hash, &byte, 1);
        }
    }
    sha256_close(hex, &hash);
    CHECK(strncmp(hex, of->digest, strlen(of->digest)) == 0, "%s: %s", of->parameter, hex);
    dg_sampler_free(sampler);
}

/** A call that would pass the last item, 2^64 - 2, is refused before anything is drawn. */
static void check_last_item(void)
{
    dg_sampler *sampler = sampler_of(DG_DISCRETE_GAUSSIAN, "900", NULL, NULL, DG_CELLS,
                                     DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
    int64_t last[3], refused[3] = {7, 7, 7};
    const uint64_t first = UINT64_MAX - 3;
    CHECK(dg_noise_at(last, 3, DG_INT64, sampler, first, KEY) == DG_OK, "the last items");
    for (uint64_t i = 0; i < 3; i++) {
        int64_t one = 0;
        CHECK(dg_noise_at(&one, 1, DG_INT64, sampler, first + i, KEY) == DG_OK && one == last[i],
              "%d from the last", 2 - (int)i);
    }
    CHECK(dg_noise_at(refused, 3, DG_INT64, sampler, first + 1, KEY) == DG_ERR_LAST_ITEM, "one");
    CHECK(dg_noise_at(refused, 3, DG_INT64, sampler, UINT64_MAX, KEY) == DG_ERR_LAST_ITEM, "all");
    CHECK(dg_noise_at(refused, SIZE_MAX, DG_INT64, sampler, 1, KEY) == DG_ERR_LAST_ITEM, "n");
    CHECK(refused[0] == 7 && refused[1] == 7 && refused[2] == 7, "nothing is drawn");
    dg_sampler_free(sampler);
}

/** Return whether y = 1 is accepted if f' begins with f and continues with the key's bits. */
static bool accepts(uint64_t f, uint8_t key_byte, const dg_table *table)
{
    uint8_t key[32] = {key_byte};
    const dg_place place = {1, 0};
    const dg_question_at q = {.place = &place, .m = 0, .level = 0};
    bool accepted = false;
    CHECK(refine(&accepted, f, &q, table, (block_at){key, 5, 0, 1}) == DG_OK, "refine");
    return accepted;
}

/** If 64 bits of f' do not decide, more are read. They decide for one f; for every other f they change nothing. */
static void check_depth_of_f(void)
{
    dg_sampler *sampler = sampler_of(DG_DISCRETE_GAUSSIAN, "1/4", NULL, NULL, DG_CELLS,
                                     DG_ARITHMETIC_AUTO, DG_ISA_AUTO);
    dg_table table = *sampler->table;
    table.height = 1; /* f' < g(1) = exp(-2) */
    uint64_t below = 0, above = UINT64_MAX;
    while (above - below > 1) {
        const uint64_t middle = below + (above - below) / 2;
        *(accepts(middle, 1, &table) ? &below : &above) = middle;
    }
    unsigned n_accepted[4] = {0};
    for (uint8_t key = 0; key < 64; key++) {
        for (uint64_t i = 0; i < 4; i++) {
            n_accepted[i] += accepts(below - 1 + i, key, &table);
        }
    }
    CHECK(below >> 32 == UINT64_C(0x22A55547), "%llx", (unsigned long long)below >> 32);
    CHECK(n_accepted[0] == 64 && n_accepted[3] == 0, "%u %u", n_accepted[0], n_accepted[3]);
    const unsigned between = n_accepted[1] < 64 ? n_accepted[1] : n_accepted[2];
    CHECK(between > 0 && between < 64, "%u of 64 keys", between);
    dg_sampler_free(sampler);
}

/** A level of 64 ones continues in the next block. */
static void check_depth_of_level(void)
{
    uint8_t ones[BLOCK], next[BLOCK];
    const block_at at = {KEY, UINT64_C(1) << 40, 3, 1}, deeper = {KEY, at.number, 3, 2};
    memset(ones, 0xFF, sizeof ones);
    make_blocks(next, 1, &deeper);
    uint64_t word = load64(next, 1), level = 64;
    for (; word >> 63 != 0; word <<= 1) {
        level++;
    }
    CHECK(read_level(ones, at) == level, "%d", (int)level);
    ones[8] = 0xFE; /* the lowest bit */
    CHECK(read_level(ones, at) == 63, "63");
    uint8_t bytes[8];
    block_at from = at;
    CHECK(read_deeper(&from, bytes, 8) == 0 && memcmp(bytes, next, 8) == 0, "the next bits of f'");
}

int main(void)
{
    static const law_case cases[] = {
        {DG_DISCRETE_GAUSSIAN, "1", NULL, NULL, "41f1e1570d5b9bd3"},
        {DG_DISCRETE_GAUSSIAN, "900", "7/3", NULL, "c0ed7463a6fa7ee8"},
        {DG_DISCRETE_GAUSSIAN, "0x10000000000000000000000000", "-5/2", NULL, "cab0992d650256f3"},
        {DG_DISCRETE_LAPLACE, "5/2", "1/3", NULL, "4fcc7ce167346220"},
        {DG_DISCRETE_LAPLACE, "0x4000000000000", NULL, NULL, "79f5ea7a6980476d"},
        {DG_GENERALIZED_GAUSSIAN, "1000", NULL, "3/2", "0b54aac8b86a5f3d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_items(&cases[i]);
    }
    check_last_item();
    check_depth_of_f();
    check_depth_of_level();
    return report("noise_at");
}
