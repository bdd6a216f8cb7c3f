/* What draw.c and draw_r.c do with the library. */
#ifndef DRAW_H
#define DRAW_H

#include <discretegauss.h>
#include <string.h>

/* Recorded bytes, the source of bits of the draws. */
typedef struct tape {
    const uint8_t *bytes;
    size_t left;
} tape;

static int read_tape(void *context, uint8_t *out, size_t n)
{
    tape *const from = context;
    if (n > from->left) {
        return 1;
    }
    memcpy(out, from->bytes, n);
    from->bytes += n;
    from->left -= n;
    return 0;
}

/* What is asked for, in the order of run.py's lines; index_bits 0: by Algorithms 1-3, not by a table. */
enum { KIND, INDEX_BITS, BLOCK_BITS, A, B, C, D, N_NUMBERS };

/* Draw n times from the bytes, all of which are to be read. */
static dg_status draw(int64_t *out, size_t n, const int64_t number[N_NUMBERS], tape from)
{
    uint8_t bytes[6][8];
    dg_integer integer[6];
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 8; k++) {
            bytes[i][k] = (uint8_t)((uint64_t)(i < 4 ? number[A + i] : 1) >> 8 * k);
        }
        integer[i] = (dg_integer){bytes[i], 8};
    }
    const dg_parameters parameters = {integer[0], integer[1], integer[2],
                                      integer[3], integer[4], integer[5]};
    const dg_source source = {DG_SOURCE_CALLER, read_tape, &from};
    dg_law *law = NULL;
    dg_table *table = NULL;
    dg_status status = dg_law_new(&law, (dg_law_kind)number[KIND], DG_ARITHMETIC_AUTO, &parameters);
    if (status == DG_OK && number[INDEX_BITS] > 0) {
        status = dg_table_new(&table, law, (uint32_t)number[INDEX_BITS],
                              (int32_t)number[BLOCK_BITS], DG_ISA_AUTO);
    }
    if (status == DG_OK) {
        status = table != NULL ? dg_table_fill(out, n, DG_INT64, table, NULL, &source)
                               : dg_law_fill(out, n, DG_INT64, law, NULL, &source);
    }
    dg_table_free(table);
    dg_law_free(law);
    return status == DG_OK && from.left > 0 ? DG_ERR_SOURCE : status;
}

#endif
