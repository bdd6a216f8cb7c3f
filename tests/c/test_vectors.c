/* Replay tests/vectors/vectors.json in C alone, for machines without Python, such as big-endian and 32-bit ones under
 * an emulator (tools/cross).
 *
 *     test_vectors [FILE] */
#include "base/int128.h"
#include "sha256.h"
#include "support.h"
#include "vector_file.h"

#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- comparisons ----------------------------------------------------------------------------- */

static void add_integer(sha256 *hash, const mpz_t z)
{
    char *digits = mpz_get_str(NULL, 10, z);
    sha256_add(hash, digits, strlen(digits));
    sha256_add(hash, "\n", 1);
    free(digits);
}

static void add_number(sha256 *hash, int64_t value)
{
    char digits[32];
    (void)snprintf(digits, sizeof digits, "%lld\n", (long long)value);
    sha256_add(hash, digits, strlen(digits));
}

static void check_digest(sha256 *hash, const char *line, const char *name)
{
    char hex[65];
    sha256_close(hex, hash);
    CHECK(text_is(line, name, hex), "%s: %s: %.60s", name, hex, line);
}

/** z = item i of a wide fill. */
static void item_of(mpz_t z, const uint8_t *out, size_t i, size_t width)
{
    mpz_import(z, width, -1, 1, 0, 0, out + i * width);
    if (out[(i + 1) * width - 1] >= 128) {
        mpz_t wrap;
        mpz_init(wrap);
        mpz_setbit(wrap, 8 * width);
        mpz_sub(z, z, wrap);
        mpz_clear(wrap);
    }
}

static void check_draws(const uint8_t *out, size_t n, size_t width, const char *line)
{
    const char *at = field(line, "draws") + 1;
    sha256 hash;
    mpz_t drawn, expected;
    mpz_inits(drawn, expected, NULL);
    sha256_open(&hash);
    for (size_t i = 0; i < n; i++) {
        item_of(drawn, out, i, width);
        add_integer(&hash, drawn);
        at += strspn(at, ", \"");
        if (*at != ']') {
            read_integer(expected, &at);
            CHECK(mpz_cmp(drawn, expected) == 0, "draw %zu: %.60s", i, line);
        }
    }
    check_digest(&hash, line, "draws_sha256");
    mpz_clears(drawn, expected, NULL);
}

static dg_status fill(void *out, size_t n, dg_dtype dtype, const dg_sampler *by, stream *from)
{
    dg_source source = stream_source(from);
    return dg_sampler_fill(out, n, dtype, by, NULL, &source);
}

static dg_status fill_wide(uint8_t *out, size_t n, size_t width, const dg_sampler *by, stream *from)
{
    dg_source source = stream_source(from);
    return dg_sampler_fill_wide(out, n, width, by, NULL, &source);
}

/** Return item i of an array of a dtype. */
static int64_t stored(const void *out, size_t i, dg_dtype dtype)
{
    switch (dtype) {
    case DG_INT8:
        return ((const int8_t *)out)[i];
    case DG_INT16:
        return ((const int16_t *)out)[i];
    case DG_INT32:
        return ((const int32_t *)out)[i];
    default:
        return ((const int64_t *)out)[i];
    }
}

/** Check that every dtype that holds all draws gets the same ones. */
static void check_dtypes(const uint8_t *wide, size_t n, size_t width, const dg_sampler *by,
                         stream *from)
{
    static const dg_dtype dtypes[] = {DG_INT8, DG_INT16, DG_INT32, DG_INT64};
    int64_t *out = malloc(n * sizeof *out);
    mpz_t drawn;
    mpz_init(drawn);
    for (size_t k = 0; out != NULL && k < sizeof dtypes / sizeof *dtypes; k++) {
        if (fill(out, n, dtypes[k], by, from) != DG_OK) {
            continue; /* DG_ERR_RANGE; test_limits.c checks when it is right */
        }
        for (size_t i = 0; i < n; i++) {
            char digits[32], *expected;
            item_of(drawn, wide, i, width);
            expected = mpz_get_str(NULL, 10, drawn);
            (void)snprintf(digits, sizeof digits, "%lld", (long long)stored(out, i, dtypes[k]));
            CHECK(strcmp(digits, expected) == 0, "%s in dtype %zu: %s", digits, k, expected);
            free(expected);
        }
    }
    mpz_clear(drawn);
    free(out);
}

static void check_fills(const char *line, const dg_sampler *by)
{
    const size_t n = (size_t)number(line, "n"), width = dg_sampler_wide_bytes(by);
    stream from = stream_in(line);
    uint8_t *out = malloc(n * width);
    if (out == NULL) {
        exit(2);
    }
    const dg_status status = fill_wide(out, n, width, by, &from);
    CHECK(status == DG_OK, "status %d: %.60s", (int)status, line);
    CHECK(from.used == (size_t)number(line, "bytes_used"), "%zu bytes: %.60s", from.used, line);
    if (status == DG_OK) {
        check_draws(out, n, width, line);
        check_dtypes(out, n, width, by, &from);
    }
    free(out);
    free(from.bytes);
}

static void check_rows(const char *line, const dg_sampler *table, const dg_sampler_info *info)
{
    sha256 rows;
    sha256_open(&rows);
    for (uint32_t i = 0; i < UINT32_C(1) << info->row_bits; i++) {
        uint32_t end[2], code[3], special;
        dg_table_row(end, code, &special, i, table);
        const uint32_t row[] = {end[0], end[1], code[0], code[1], code[2], special};
        for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
            add_number(&rows, row[k]);
        }
    }
    check_digest(&rows, line, "rows_sha256");
}

static void check_cells(const char *line, const dg_sampler *table, const dg_sampler_info *info)
{
    sha256 cells;
    sha256_open(&cells);
    for (uint32_t i = 0; i < info->n_full + info->n_partial; i++) {
        int32_t block;
        uint32_t level;
        dg_table_cell(&block, &level, i, table);
        add_number(&cells, block);
        if (i >= info->n_full) {
            add_number(&cells, level);
        }
    }
    check_digest(&cells, line, "cells_sha256");
}

static void check_arcs(const char *line, const dg_sampler *table, const dg_sampler_info *info)
{
    sha256 arcs;
    sha256_open(&arcs);
    add_number(&arcs, info->tail_arc_bits);
    for (uint32_t i = 0; i < info->n_partial + info->n_tail_arcs; i++) {
        int32_t base, bulge;
        uint32_t slope, error;
        dg_table_arc(&base, &slope, &error, &bulge, i, table);
        add_number(&arcs, base);
        add_number(&arcs, slope);
        add_number(&arcs, error);
        add_number(&arcs, bulge);
    }
    check_digest(&arcs, line, "arcs_sha256");
}

static void check_facts(const char *line, const dg_sampler_info *info)
{
    CHECK(info->block_bits == (uint64_t)number(line, "block_bits"), "%.60s", line);
    CHECK(info->tail_bits == (uint32_t)number(line, "tail_bits"), "%.60s", line);
    CHECK(info->height == (uint32_t)number(line, "height"), "%.60s", line);
    CHECK(info->first_block == number(line, "first_block"), "%.60s", line);
    CHECK(info->last_block == number(line, "last_block"), "%.60s", line);
    CHECK(info->coded_first == number(line, "coded_first"), "%.60s", line);
    CHECK(info->coded_last == number(line, "coded_last"), "%.60s", line);
    CHECK(info->n_full == (uint32_t)number(line, "n_full"), "%.60s", line);
    CHECK(info->n_partial == (uint32_t)number(line, "n_partial"), "%.60s", line);
}

/* --- vectors --------------------------------------------------------------------------------- */

static void replay_algorithm(const char *line)
{
    for (int arithmetic = DG_ARITHMETIC_AUTO; arithmetic <= DG_ARITHMETIC_GMP; arithmetic++) {
        const dg_options options = {(dg_arithmetic)arithmetic, DG_ISA_AUTO, 16, -1};
        dg_sampler *sampler = sampler_in(line, DG_REFERENCE, &options);
        CHECK(sampler != NULL, "no sampler: %.60s", line);
        if (sampler != NULL) {
            check_fills(line, sampler);
        }
        dg_sampler_free(sampler);
    }
}

/** Replay a vector with every instruction set that this machine has. */
static void replay_table(const char *line)
{
    dg_options options = {.index_bits = (uint32_t)number(line, "index_bits")};
    options.block_bits = options.index_bits == 16 ? -1 : (int32_t)number(line, "block_bits");
    for (int isa = DG_ISA_PORTABLE; isa < PAST_ISA; isa++) {
        options.isa = (dg_isa)isa;
        dg_sampler *sampler = sampler_in(line, DG_CELLS, &options);
        CHECK(sampler != NULL || isa != DG_ISA_PORTABLE, "no table: %.60s", line);
        if (sampler == NULL) {
            continue;
        }
        dg_sampler_info info;
        dg_sampler_describe(&info, sampler);
        check_facts(line, &info);
        check_cells(line, sampler, &info);
        check_arcs(line, sampler, &info);
        check_rows(line, sampler, &info);
        check_fills(line, sampler);
        dg_sampler_free(sampler);
    }
}

/** Replay a vector with every kernel that this machine has. */
static void replay_fill(const char *line)
{
    dg_options options = {.index_bits = 16, .block_bits = -1};
    for (int isa = DG_ISA_PORTABLE; isa < PAST_ISA; isa++) {
        options.isa = (dg_isa)isa;
        dg_sampler *sampler = sampler_in(line, DG_ISOCHRONOUS, &options);
        CHECK(sampler != NULL || !DG_HAVE_WORDS || isa != DG_ISA_PORTABLE, "not held: %.60s", line);
        if (sampler == NULL) {
            continue;
        }
        dg_sampler_info info;
        dg_sampler_describe(&info, sampler);
        CHECK(info.block_bits == (uint64_t)number(line, "block_bits"), "%.60s", line);
        CHECK(info.height == (uint32_t)number(line, "height"), "%.60s", line);
        check_fills(line, sampler);
        dg_sampler_free(sampler);
    }
}

static void test_sha256(void)
{
    char hex[65];
    sha256 hash;
    sha256_open(&hash); /* FIPS 180-2, B.2: two blocks */
    sha256_add(&hash, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    sha256_close(hex, &hash);
    CHECK(strcmp(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1") == 0,
          "SHA-256: %s", hex);
}

int main(int argc, char **argv)
{
    enum { LONGEST_LINE = 1 << 16, LEAST_VECTORS = 40 };
    static char line[LONGEST_LINE];
    const char *path = argc > 1 ? argv[1] : DG_VECTORS;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return 2;
    }
    test_sha256();
    int n_algorithms = 0, n_tables = 0, n_fills = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        CHECK(strlen(line) < sizeof line - 1, "a line is too long");
        if (strncmp(line, "    {\"law\"", 10) != 0) {
            continue; /* the header */
        }
        if (field(line, "index_bits") != NULL) {
            replay_table(line);
            n_tables++;
        } else if (field(line, "block_bits") != NULL) {
            replay_fill(line);
            n_fills++;
        } else {
            replay_algorithm(line);
            n_algorithms++;
        }
    }
    (void)fclose(file);
    printf("%d vectors of algorithms, %d of tables, %d of isochronous fills%s\n", n_algorithms,
           n_tables, n_fills, DG_HAVE_WORDS ? "" : " (which need 128-bit words: not replayed)");
    CHECK(n_algorithms >= LEAST_VECTORS && n_tables >= LEAST_VECTORS / 2 &&
              n_fills >= LEAST_VECTORS / 2,
          "vectors are missing");
    return report("vectors");
}
