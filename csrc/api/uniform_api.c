/* Random words: all bits of machine integers. */
#include "api/run.h"
#include "base/dtype.h"
#include "base/status.h"

static dg_status draw_words(const dg_fill *fill, size_t first, size_t end, dg_session *session)
{
    for (size_t i = first; i < end; i++) {
        uint64_t word;
        const size_t left = end - 1 - i;
        session->bits.bytes_ahead =
            left < DG_BITS_CAPACITY ? left * fill->item_bytes : (size_t)DG_BITS_CAPACITY;
        DG_TRY(dg_bits_word(&word, fill->item_bytes, &session->bits));
        DG_TRY(dg_dtype_store(fill->out, i, fill->dtype, false, word));
    }
    return DG_OK;
}

dg_status dg_words_fill(void *out, size_t n, dg_dtype dtype, const dg_run *run,
                        const dg_source *source)
{
    enum { PIECE = 1 << 16 };
    if (!dg_is_dtype(dtype) || dtype < DG_UINT8) {
        return DG_ERR_PARAMETER;
    }
    const dg_fill fill = {
        .out = out,
        .n = n,
        .item_bytes = dg_dtype_size(dtype),
        .piece = PIECE,
        .source = source,
        .draw = draw_words,
        .dtype = dtype,
    };
    return dg_fill_run(&fill, run);
}
