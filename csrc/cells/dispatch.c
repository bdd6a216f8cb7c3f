/* Choose the loops that draw from a table: only this file knows which instruction set has which. */
#include "cells/dispatch.h"

#include "cells/decide.h"
#include "cells/look_up.h"

void dg_dispatch(dg_table *table, dg_isa isa)
{
    table->isa = isa == DG_ISA_AUTO ? dg_isa_best() : isa;
    table->look_up = dg_look_up_portable;
    table->decide_each = dg_decide_each_portable;
#if DG_ISA_X86_64
    if (table->isa == DG_ISA_AVX512_VBMI2 && table->index_bits == DG_INDEX_BITS) {
        table->look_up = dg_look_up_avx512_vbmi2;
        table->decide_each = dg_decide_each_avx512;
        return;
    }
    if (dg_isa_has_avx2(table->isa) && table->index_bits == DG_INDEX_BITS) {
        table->isa = DG_ISA_AVX2;         /* AVX-512 without VBMI2 has no loop of its own */
        table->look_up = dg_look_up_avx2; /* decisions in AVX2 would gain 1.10 at most */
        return;
    }
#elif DG_ISA_AARCH64
    if (table->isa == DG_ISA_NEON && table->index_bits == DG_INDEX_BITS) {
        table->look_up = dg_look_up_neon;
        table->decide_each = dg_decide_each_neon;
        return;
    }
#endif
    table->isa = DG_ISA_PORTABLE;
}
