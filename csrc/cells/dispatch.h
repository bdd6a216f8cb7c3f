/* The choice of the loops that draw from a table. */
#ifndef DG_CELLS_DISPATCH_H
#define DG_CELLS_DISPATCH_H

#include "base/isa.h"
#include "cells/table.h"

/** Set isa, look_up and decide_each of a table whose index_bits are set.
 *
 *  Requires:  isa is available, or DG_ISA_AUTO, which means the best one.
 *  Ensures:   table->isa is the loops' instruction set, a lesser one if isa has none of its own.
 */
void dg_dispatch(dg_table *table, dg_isa isa);

#endif
