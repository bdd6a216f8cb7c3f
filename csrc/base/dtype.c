#include "base/dtype.h"

#include "base/contract.h"

#include <string.h>

dg_status dg_dtype_store_all(void *out, size_t n, dg_dtype dtype, const int64_t *draws)
{
    const size_t size = dg_dtype_size(dtype);
    const bool is_signed = dtype <= DG_INT64;
    /* `least` moves a signed type's least integer to 0. An integer fits if its bits from `above` on are then 0. */
    const uint64_t least = is_signed ? UINT64_C(1) << (8 * size - 1) : 0;
    const uint64_t above = size < 8 ? UINT64_MAX << (8 * size) : is_signed ? 0 : UINT64_C(1) << 63;
    uint64_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        lost |= ((uint64_t)draws[i] + least) & above;
    }
    switch (size) {
    case 1:
        for (size_t i = 0; i < n; i++) {
            ((uint8_t *)out)[i] = (uint8_t)draws[i];
        }
        break;
    case 2:
        for (size_t i = 0; i < n; i++) {
            ((uint16_t *)out)[i] = (uint16_t)draws[i];
        }
        break;
    case 4:
        for (size_t i = 0; i < n; i++) {
            ((uint32_t *)out)[i] = (uint32_t)draws[i];
        }
        break;
    default:
        memcpy(out, draws, n * sizeof *draws);
    }
    lost = lost != 0;
    DG_PUBLIC(lost);
    return lost ? DG_ERR_RANGE : DG_OK;
}
