/* The tables of all samplers of a process: so many bytes together, those used last. No lock, and nothing
 * that anyone waits for.
 *
 * A table lives in a slot of one fixed array, and not in the sampler it was made for. A slot has one
 * atomic word, its stamp and its state. To draw from a table takes a ticket: the slot's number and the
 * stamp.
 *
 *   EMPTY          there is no table
 *   IDLE           a table that nobody draws from
 *   IDLE + k       k threads draw from it
 *   CHANGING       one thread, and it alone, looks at and writes what else is in the slot
 *
 * Why it is right.
 *  (1) Nobody reads freed memory: slots are never freed, so the word may be looked at with any ticket,
 *      however old. A thread counts itself in by one compare-and-exchange of the whole word, which fails
 *      if the stamp is another. (A count in the table could be read after the table was freed.)
 *  (2) A table in use is never freed: only who is CHANGING frees, and the one way to it is a
 *      compare-and-exchange from EMPTY or IDLE.
 *  (3) Each change of a slot takes a new stamp, of which there are 2^44: an old ticket never fits again.
 *  (4) Fork: the child has the words as they were, and not the threads. One that was drawing stays
 *      counted there: its table is used on, and never given up. One that was CHANGING (some ten
 *      instructions) has cost the child a slot and at most two tables. Nobody waits for a state, so
 *      nobody hangs, and a sampler whose table is lost builds another, in another slot.
 *  (5) The budget: dg_tables_keep puts the table where others see its bytes, then looks at the sum of
 *      all, both sequentially consistent: of two that keep at once one at least sees both. So after the last
 *      of them the sum is within the budget, except for tables that were in use then. There is no count
 *      of bytes that a fork could falsify.
 *  (6) Publication: a ticket is handed on by relaxed stores. What it stands for is read only after an
 *      acquiring exchange of the slot's word, which read what a releasing store or exchange of that word
 *      wrote after the table was put there.
 */
#ifndef DG_SAMPLER_TABLES_H
#define DG_SAMPLER_TABLES_H

#include "cells/table.h"

#include <stddef.h>
#include <stdint.h>

/** Where a table was put; 0: nowhere. It may have been given up since. */
typedef uint64_t dg_ticket;

/** Count the calling thread in. Returns: the table, which stays until dg_tables_leave; NULL: it was given
 *  up. */
const dg_table *dg_tables_enter(dg_ticket ticket);

/** Count the calling thread out. Requires: dg_tables_enter or dg_tables_keep counted it in. */
void dg_tables_leave(dg_ticket ticket);

/** Keep a new table, for which others give way: those that were not used for longest.
 *
 *  Requires:  the table refers to law, which the slot holds from now on.
 *  Ensures:   not 0 -> it is kept, and the caller is counted in; 0 (it is larger than the budget, or
 *             tables in use are in every slot) -> it is the caller's, as before.
 */
dg_ticket dg_tables_keep(dg_table *table, dg_law *law);

/** Free a table if nobody draws from it; otherwise it goes as it gets old. */
void dg_tables_give_up(dg_ticket ticket);

#endif
