/* Which way to draw, and what each way costs: all measured numbers are in choose.c. The law is the same. */
#ifndef DG_SAMPLER_CHOOSE_H
#define DG_SAMPLER_CHOOSE_H

#include "law/law.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What the choice asks of a law, found out once. Costs are in units, of which a draw by Algorithms 1-3 takes
 *  24. */
typedef struct dg_prices {
    bool has_reference; /* Algorithms 1-3 */
    bool has_cells;     /* and isochronous samplers: perhaps, as far as the kind tells */
    bool has_lanes;     /* for sure */
    uint64_t
        cells_from; /* so many draws without a table cost as much as it, about; UINT64_MAX: none
                            do */
    uint64_t table; /* what a table costs; UINT64_MAX as well */
    uint64_t
        draw[2]; /* what a draw costs without one, by a system's dg_source_kind, if lanes are at
                            hand */
} dg_prices;

dg_prices dg_prices_of(const dg_law *law);

/** How n draws are to be made if no table is at hand: never DG_AUTO.
 *
 *  With a caller's bits it depends on the law and n alone. With the system's it charges *rent what they cost
 *  without a table, and the call that brings it to a table's price is told to build one, and no other.
 *  has_lanes: whether they are at hand. can_have_table: false: none fits the law.
 *
 *  *without_table: how they are made if the table comes to nothing.
 */
dg_method dg_choose(dg_method *without_table, size_t n, const dg_prices *prices,
                    dg_source_kind source, bool has_lanes, bool can_have_table,
                    _Atomic uint64_t *rent);

/** What the choice asks of the laws of one call, of which each element has one. */
typedef struct dg_crowd {
    size_t n;
    dg_method method;
    dg_source_kind source;
    bool must_group; /* the caller says so */
    bool lanes_hold; /* lanes of many laws hold all, surely */
} dg_crowd;

/** Whether n of them that are drawn together are drawn in lanes of many laws. With a caller's bits they are if
 *  the method is DG_ISOCHRONOUS: what such bits give stays as it was published. */
bool dg_crowd_in_lanes(size_t n, const dg_crowd *crowd);

/** Up to so many distinct laws equal ones are grouped; if there are more, all are drawn as they come. */
size_t dg_crowd_most_groups(const dg_crowd *crowd);

/** Whether grouped laws, the rarest of so many draws, are drawn in blocks, each by its own sampler: where none is
 *  drawn by Algorithms 1-3, or together with others. Never with a caller's bits: their order stays as published. */
bool dg_crowd_in_blocks(size_t n_laws, size_t least, const dg_crowd *crowd);

/** A law of so many draws is drawn by itself, or may be: if dg_choose has it drawn otherwise than together.
 *  SIZE_MAX: none is. With a caller's bits it depends on the method alone. */
size_t dg_crowd_alone_from(size_t n_laws, const dg_crowd *crowd);

#endif
