/* The public C API with any bytes for arguments: a status or a result, never a crash; after an error
 * no law, no table, zeros in the output; and nothing written beyond it. getrandom is this file's: it
 * gives bytes of the input, in pieces, interrupted, or fails. */
#define _DEFAULT_SOURCE
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

static input system_bytes;

ssize_t getrandom(void *buffer, size_t n, unsigned flags)
{
    (void)flags;
    uint8_t how = take_byte(&system_bytes);
    if (system_bytes.n == 0 || how == 0xFF) {
        errno = ENOSYS;
        return -1;
    }
    if (how >= 0xF0) {
        errno = EINTR;
        return -1;
    }
    size_t given = how >= 0xE0 ? how - 0xE0 : n; /* at times a few bytes only, or none */
    for (size_t i = 0; i < given && i < n; i++) {
        ((uint8_t *)buffer)[i] = (uint8_t)(take_byte(&system_bytes) ^ (i * 29));
    }
    return (ssize_t)(given < n ? given : n);
}

/** Any number, but mostly a small one: a wrong enumerator among right ones. */
static uint32_t take_choice(uint32_t n, input *from)
{
    uint8_t byte = take_byte(from);
    return byte == 0xFF ? (uint32_t)take_word(4, from) : byte % (n + 1);
}

/** Any bytes as an integer; at times as long as may be, or a little longer. Its bytes are to be
 *  freed. */
static dg_integer take_bytes(input *from)
{
    size_t n = take_byte(from);
    if (n == 0xFF) {
        n = DG_MAX_PARAMETER_BITS / 8 - 2 + take_byte(from) % 6;
    } else {
        n = n < 0xF0 ? n % 12 : n % 64;
    }
    uint8_t *bytes = n == 0 ? NULL : exactly(n), fill = take_byte(from);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = i < 16 || i + 3 > n ? take_byte(from) : fill;
    }
    return (dg_integer){bytes, n};
}

/** One of the sources there are, or none of them. */
static dg_source take_source(tape *caller, input *from)
{
    dg_source source = tape_source(caller);
    source.kind = (dg_source_kind)take_choice(DG_SOURCE_CALLER + 1, from);
    if (source.kind == DG_SOURCE_CALLER && take_byte(from) == 0xFF) {
        source.fill = NULL;
    }
    return source;
}

/** Fill by the law or by the table, whichever is given, into items of any type and any length. */
static void try_fill(const dg_law *law, const dg_table *table, input *from)
{
    bool wide = take_byte(from) % 2 == 1;
    size_t n = take_byte(from) % 16;
    dg_dtype dtype = (dg_dtype)take_choice(DG_UINT64 + 1, from);
    size_t width = dg_law_wide_bytes(law);
    uint8_t other = take_byte(from);
    if (other % 4 == 0) {
        width = other;
    }
    size_t item = wide ? width : 8;
    uint8_t *out = n == 0 ? NULL : exactly(n * item);
    input rest = *from;
    tape caller = take_tape(16u * take_byte(&rest), &rest);
    dg_source source = take_source(&caller, from);
    const dg_source *given = take_byte(from) % 8 == 0 ? NULL : &source;
    dg_status status;
    system_bytes = *from;
    if (n > 0) {
        memset(out, 0xA5, n * item);
    }
    if (wide) {
        status = table != NULL ? dg_table_fill_wide(out, n, width, table, NULL, given)
                               : dg_law_fill_wide(out, n, width, law, NULL, given);
    } else {
        status = table != NULL ? dg_table_fill(out, n, dtype, table, NULL, given)
                               : dg_law_fill(out, n, dtype, law, NULL, given);
    }
    REQUIRE(status == DG_OK || status == DG_ERR_ENTROPY || status == DG_ERR_SOURCE ||
            status == DG_ERR_RANGE || status == DG_ERR_PARAMETER);
    if (status != DG_OK && n > 0 && (wide || (unsigned)dtype <= DG_UINT64)) {
        static const size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8};
        REQUIRE(all_zero(out, n * (wide ? width : sizes[dtype])));
    }
    REQUIRE(wide || (unsigned)dtype <= DG_UINT64 || status == DG_ERR_PARAMETER);
    tape_free(&caller);
    free(out);
}

/** Any table, but of a law with long parameters only one as users get it: in a small one, or with
 *  blocks of a size far off, there are 2^15 blocks to look at before it is refused. */
static void try_table(const dg_law *law, bool long_parameters, input *from)
{
    uint8_t byte = take_byte(from);
    uint32_t index_bits = byte >= 0xF0 ? (uint32_t)take_word(4, from) : 4u + byte % 4;
    int32_t block_bits = byte % 16 == 0 ? (int32_t)take_word(4, from) : take_byte(from) % 64;
    if (long_parameters) {
        index_bits = byte == 1 ? 16 : 0;
        block_bits = -1;
    }
    dg_isa isa = (dg_isa)take_choice(DG_ISA_AVX512_VBMI2 + 1, from);
    dg_table *table = (dg_table *)from; /* to be overwritten */
    dg_status status = dg_table_new(&table, law, index_bits, block_bits, isa);
    REQUIRE(status == DG_OK || status == DG_ERR_PARAMETER);
    REQUIRE((table != NULL) == (status == DG_OK));
    if (table != NULL) {
        dg_table_info info;
        dg_table_describe(&info, table);
        for (uint32_t i = 0; i < info.n_full + info.n_partial; i++) {
            int32_t block;
            uint32_t level;
            dg_table_cell(&block, &level, i, table);
            REQUIRE(block >= info.first_block && block <= info.last_block);
            REQUIRE(level < info.height);
        }
        for (uint32_t i = 0; i < info.n_partial + info.n_tail_arcs; i++) {
            int32_t base, bulge;
            uint32_t slope, error;
            dg_table_arc(&base, &slope, &error, &bulge, i, table);
            REQUIRE(base >= -(1 << 30) && base <= 1 << 30 && slope <= 1u << 30);
            REQUIRE(error <= UINT16_MAX && bulge >= -(1 << 14) && bulge <= 1 << 14);
        }
        try_fill(law, table, from);
    }
    dg_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input from = {data, size};
    dg_law *law = (dg_law *)&from; /* to be overwritten */
    dg_law_kind kind = (dg_law_kind)take_choice(DG_GENERALIZED_GAUSSIAN + 1, &from);
    dg_arithmetic arithmetic = (dg_arithmetic)take_choice(DG_ARITHMETIC_GMP + 1, &from);
    dg_integer all[6];
    bool long_parameters = false;
    for (int i = 0; i < 6; i++) {
        all[i] = take_bytes(&from);
        long_parameters = long_parameters || all[i].n_bytes > 64;
    }
    dg_parameters parameters = {all[0], all[1], all[2], all[3], all[4], all[5]};
    dg_status status = dg_law_new(&law, kind, arithmetic, &parameters);
    REQUIRE(status == DG_OK || status == DG_ERR_PARAMETER || status == DG_ERR_TOO_LONG);
    REQUIRE((law != NULL) == (status == DG_OK));
    for (int i = 0; i < 6; i++) {
        free((void *)all[i].bytes);
    }
    if (law != NULL) {
        (void)dg_law_uses_words(law);
        try_fill(law, NULL, &from);
        try_table(law, long_parameters, &from);
    }
    dg_law_free(law);
    return 0;
}
