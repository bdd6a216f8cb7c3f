/* The staircase over a law, under which isochronous attempts are made. It needs no table. Proof: PROOF.md, lemma 12.
 *
 * It is the same on both sides of the centre. Names:
 *
 *   y = z on the right, -1 - z on the left, z = 0, 1, ...; a draw is x = c + y
 *   w = 2^block_bits   block h holds z = h w ... h w + w - 1
 *   core               blocks 0 ... n_core - 1, under height 1
 *   tail level i       the n_tail blocks from n_core + i n_tail on, under height 2^-(i+1)
 *   step k             0 in the core, i + 1 on tail level i: the staircase is 2^-k high
 */
#ifndef DG_ISOCHRONOUS_STAIRCASE_H
#define DG_ISOCHRONOUS_STAIRCASE_H

#include "base/status.h"
#include "bounds/enclosure.h"

enum { DG_STAIRCASE_BITS = 8 }; /* wide laws have about 2^8 blocks in core and tail level */

typedef struct dg_staircase {
    uint64_t n_core, n_tail;
    size_t block_bits;
} dg_staircase;

/** Choose core, tail and blocks for the law of an enclosure, whose results are overwritten.
 *
 *  Requires:  dg_enclosure_open_for_table made e; the scale is positive.
 *  Returns:   DG_OK | DG_ERR_METHOD: the law is so steep, or so flat, that none was found.
 *  Cost:      about ten exponents by MPFR.
 */
dg_status dg_staircase_choose(dg_staircase *out, dg_enclosure *e);

#endif
