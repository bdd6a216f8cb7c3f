/* The public C API with any bytes for arguments: a status or a result, never a crash; no sampler after an error; and
 * no write beyond the output. This file's getrandom gives bytes of the input, in pieces, with interruptions, or
 * fails. */
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
    size_t n_given = how >= 0xE0 ? how - 0xE0 : n; /* at times a few bytes only, or none */
    for (size_t i = 0; i < n_given && i < n; i++) {
        ((uint8_t *)buffer)[i] = (uint8_t)(take_byte(&system_bytes) ^ (i * 29));
    }
    return (ssize_t)(n_given < n ? n_given : n);
}

/** Return any number, mostly a small one: a wrong enumerator among right ones. */
static uint32_t take_choice(uint32_t n, input *from)
{
    uint8_t byte = take_byte(from);
    return byte == 0xFF ? (uint32_t)take_word(4, from) : byte % (n + 1);
}

/** Return any text, mostly of the bytes that numbers have; at times the longest or a little longer. It is allocated. */
static char *take_text(bool *is_long, input *from)
{
    static const char likely[] = "0123456789/.-+xaF ";
    size_t n = take_byte(from);
    const bool longest = n == 0xFF;
    if (longest) {
        n = DG_MAX_PARAMETER_BITS / 4 - 2 + take_byte(from) % 6;
    } else {
        n = n < 0xF0 ? n % 12 : n % 64;
    }
    char *text = exactly(n + 3);
    const uint8_t fill = take_byte(from);
    for (size_t i = 0; i < n; i++) {
        const uint8_t byte = longest || (i >= 16 && i + 3 < n) ? fill : take_byte(from);
        text[i] = byte >= 0xF0 ? (char)byte : likely[byte % (sizeof likely - 1)];
    }
    if (longest) { /* a number, most likely */
        memcpy(text, "0x1", 3);
    }
    text[n] = '\0';
    *is_long = *is_long || n > 64;
    return text;
}

/** Return a source, or one of a kind that does not exist. */
static dg_source take_source(tape *caller, input *from)
{
    dg_source source = tape_source(caller);
    source.kind = (dg_source_kind)take_choice(DG_SOURCE_CALLER + 1, from);
    if (source.kind == DG_SOURCE_CALLER && take_byte(from) == 0xFF) {
        source.fill = NULL;
    }
    return source;
}

/** Fill items of any type and any length. */
static void try_fill(const dg_sampler *sampler, input *from)
{
    bool wide = take_byte(from) % 2 == 1;
    size_t n = take_byte(from) % 16;
    dg_dtype dtype = (dg_dtype)take_choice(DG_UINT64 + 1, from);
    size_t width = dg_sampler_wide_bytes(sampler);
    uint8_t other = take_byte(from);
    if (other % 4 == 0) {
        width = other;
    }
    size_t item = wide ? width : 8;
    uint8_t *out = n == 0 ? NULL : exactly(n * item);
    input rest = *from;
    tape caller = take_tape(16u * take_byte(&rest), &rest);
    dg_source source = take_source(&caller, from);
    const dg_source *argument = take_byte(from) % 8 == 0 ? NULL : &source;
    system_bytes = *from;
    const dg_status status = wide ? dg_sampler_fill_wide(out, n, width, sampler, NULL, argument)
                                  : dg_sampler_fill(out, n, dtype, sampler, NULL, argument);
    REQUIRE(status == DG_OK || status == DG_ERR_ENTROPY || status == DG_ERR_SOURCE ||
            status == DG_ERR_RANGE || status == (wide ? DG_ERR_N_BYTES : DG_ERR_DTYPE));
    REQUIRE(wide || (unsigned)dtype <= DG_UINT64 || status == DG_ERR_DTYPE);
    tape_free(&caller);
    free(out);
}

/** Return any options. A law with long parameters gets the usual table only: for a small one, or for blocks of a very
 *  different size, the builder would look at 2^15 blocks before it refuses. */
static dg_options take_options(bool long_parameters, input *from)
{
    const dg_arithmetic arithmetic = (dg_arithmetic)take_choice(DG_ARITHMETIC_GMP + 1, from);
    uint8_t byte = take_byte(from);
    uint32_t index_bits = byte >= 0xF0 ? (uint32_t)take_word(4, from) : 4u + byte % 4;
    int32_t block_bits = byte % 16 == 0 ? (int32_t)take_word(4, from) : take_byte(from) % 64;
    if (long_parameters) {
        index_bits = 16;
        block_bits = -1;
    }
    const dg_isa isa = (dg_isa)take_choice(DG_ISA_SSE41 + 1, from);
    return (dg_options){arithmetic, isa, index_bits, block_bits};
}

/** Check that the numbers which a table shows of itself are within their bounds. */
static void look_into(const dg_sampler *sampler)
{
    dg_sampler_info info;
    dg_sampler_describe(&info, sampler);
    for (uint32_t i = 0; i < info.n_full + info.n_partial; i++) {
        int32_t block;
        uint32_t level;
        dg_table_cell(&block, &level, i, sampler);
        REQUIRE(block >= info.first_block && block <= info.last_block);
        REQUIRE(level < info.height);
    }
    for (uint32_t i = 0; i < info.n_partial + info.n_tail_arcs; i++) {
        int32_t base, bulge;
        uint32_t slope, error;
        dg_table_arc(&base, &slope, &error, &bulge, i, sampler);
        REQUIRE(base >= -(1 << 30) && base <= 1 << 30 && slope <= 1u << 30);
        REQUIRE(error <= UINT16_MAX && bulge >= -(1 << 14) && bulge <= 1 << 14);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input from = {data, size};
    dg_sampler *sampler = (dg_sampler *)&from; /* must be overwritten */
    dg_law_kind kind = (dg_law_kind)take_choice(DG_GENERALIZED_GAUSSIAN + 1, &from);
    dg_method method = (dg_method)take_choice(DG_ISOCHRONOUS + 1, &from);
    bool long_parameters = false;
    char *texts[3];
    for (int i = 0; i < 3; i++) {
        texts[i] = take_text(&long_parameters, &from);
    }
    const uint8_t presence = take_byte(&from);
    const char *mu = presence % 4 == 0 ? NULL : texts[1],
               *beta = presence % 3 == 0 ? NULL : texts[2];
    const dg_options options = take_options(long_parameters, &from);
    const dg_options *with = presence % 5 == 0 ? NULL : &options;
    dg_status status = dg_sampler_new_with(&sampler, kind, texts[0], mu, beta, method, with);
    REQUIRE(status == DG_OK || (status >= DG_ERR_KIND && status <= DG_ERR_STEEP_BETA));
    REQUIRE((sampler != NULL) == (status == DG_OK));
    REQUIRE(strlen(dg_status_text(status)) > 0);
    for (int i = 0; i < 3; i++) {
        free(texts[i]);
    }
    if (sampler != NULL) {
        const dg_method drawn_by = dg_sampler_method(sampler, 1);
        REQUIRE(drawn_by != DG_AUTO && (method == DG_AUTO || drawn_by == method));
        if (drawn_by == DG_CELLS) {
            look_into(sampler);
        }
        try_fill(sampler, &from);
    }
    dg_sampler_free(sampler);
    return 0;
}
