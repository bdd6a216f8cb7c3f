#include "base/memory.h"

#include <stdlib.h>

dg_status dg_memory_available(size_t n)
{
    void *block = malloc(n);
    __asm__ volatile("" ::"r"(block)); /* keeps the compiler from removing both malloc and free */
    if (block == NULL) {
        return DG_ERR_NOMEM;
    }
    free(block);
    return DG_OK;
}
