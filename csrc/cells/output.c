#include "cells/output.h"

/** Store value in out[i] if it fits the dtype. */
static dg_status store(void *out, size_t i, dg_dtype dtype, dg_int128 value)
{
    if (value.high == 0) {
        return dg_dtype_store(out, i, dtype, false, value.low);
    }
    if (value.high == -1 && value.low != 0) {
        return dg_dtype_store(out, i, dtype, true, 0 - value.low);
    }
    return DG_ERR_RANGE; /* 2^64 or more in size */
}

/** Add c to out[0 .. n_bytes), in two's complement. */
static dg_status add_centre(uint8_t *out, size_t n_bytes, const dg_table *table)
{
    const uint8_t *c = table->centre_bytes;
    const size_t c_bytes = table->law->wide_bytes;
    unsigned carry = 0;
    uint8_t out_sign = out[n_bytes - 1] >> 7, c_sign = c[c_bytes - 1] >> 7;
    for (size_t i = 0; i < n_bytes; i++) {
        carry += (unsigned)out[i] + (i < c_bytes ? c[i] : c_sign * 255u);
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
    bool overflows = out_sign == c_sign && out[n_bytes - 1] >> 7 != out_sign;
    return overflows ? DG_ERR_RANGE : DG_OK;
}

/** Set out[rest_bytes .. n_bytes) = y in two's complement. */
static dg_status store_above_rest(uint8_t *out, size_t n_bytes, size_t rest_bytes, dg_int128 y)
{
    for (size_t i = rest_bytes; i < n_bytes; i++) {
        out[i] = (uint8_t)y.low;
        y = dg_int128_down(y, 8);
    }
    const int64_t sign = out[n_bytes - 1] >= 128 ? -1 : 0;
    return y.high == sign && y.low == (uint64_t)sign ? DG_OK : DG_ERR_RANGE;
}

dg_status dg_output_put(const dg_output *to, size_t i, dg_int128 y)
{
    const dg_table *table = to->table;
    if (to->wide) {
        uint8_t *item = to->out + i * to->stride;
        DG_TRY(store_above_rest(item, to->stride, table->rest_bytes, y));
        return mpz_sgn(table->law->c) == 0 ? DG_OK : add_centre(item, to->stride, table);
    }
    for (size_t k = table->rest_bytes; k > 0; k--) {
        y = dg_int128_up(y, 8);
        y.low |= to->rest[i * to->rest_stride + k - 1];
    }
    return store(to->out, i, to->dtype, dg_int128_add(to->c, y));
}

/** Return c. Requires: |c| < 2^64. */
static dg_int128 centre_of(const dg_table *table)
{
    uint64_t magnitude = 0;
    mpz_export(&magnitude, NULL, -1, sizeof magnitude, 0, 0, table->law->c);
    bool negative = mpz_sgn(table->law->c) < 0;
    return negative ? (dg_int128){-1, 0 - magnitude} : dg_int128_of_unsigned(magnitude);
}

/** Return whether every integer of the core fits the dtype. Requires: rest_bytes = 0, so w <= 2^48. */
static bool core_fits(dg_dtype dtype, const dg_table *table)
{
    uint64_t probe;
    dg_int128 c = centre_of(table);
    int64_t w = INT64_C(1) << table->block_bits;
    int64_t first = table->first_block * w, last = (table->last_block + 1) * w - 1;
    return store(&probe, 0, dtype, dg_int128_add(c, dg_int128_of(first))) == DG_OK &&
           store(&probe, 0, dtype, dg_int128_add(c, dg_int128_of(last))) == DG_OK;
}

dg_output dg_output_for_dtype(void *out, dg_dtype dtype, uint8_t *rest, const dg_table *table)
{
    return (dg_output){.table = table,
                       .out = out,
                       .stride = dg_dtype_size(dtype),
                       .dtype = dtype,
                       .direct = table->rest_bytes == 0 && core_fits(dtype, table),
                       .c = centre_of(table),
                       .rest = rest,
                       .rest_stride = table->rest_bytes};
}

dg_output dg_output_for_bytes(uint8_t *out, size_t n_bytes, const dg_table *table)
{
    return (dg_output){
        .table = table, .out = out, .stride = n_bytes, .wide = true, .rest_stride = n_bytes};
}
