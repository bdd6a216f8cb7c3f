/* Which loops draw from a table. */
#ifndef DG_CELLS_DISPATCH_H
#define DG_CELLS_DISPATCH_H

#include "base/isa.h"
#include "cells/table.h"

/** Set isa, look_up and decide_each of a table whose index_bits are set.
 *
 *  Requires:  isa is available; DG_ISA_AUTO: the best one.
 *  Ensures:   isa is what the loops are written for: a lesser one where it has none of its own.
 */
void dg_dispatch(dg_table *table, dg_isa isa);

#endif
