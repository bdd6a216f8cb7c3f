/* What the model of a draw says of csrc/cells/decide.h, in whole numbers: `>>` rounds down. PLANTED: 1 makes each claim
 * wrong. */
#include "cells/table.h"

/* What C says of casts (6.3.1.3) and of `>>` (gcc, clang: arithmetic), and the provers are not told. */
/*@ axiomatic machine {
      axiom unsigned_of_negative: \forall integer v; -9223372036854775808 <= v < 0 ==>
        (uint64_t)v == v + 18446744073709551616;
      axiom word_of_negative: \forall integer v; -4294967296 <= v < 0 ==> (uint32_t)v == v + 4294967296;
      axiom shift_16: \forall integer a; 65536 * (a >> 16) <= a < 65536 * ((a >> 16) + 1);
      axiom shift_24: \forall integer a; 16777216 * (a >> 24) <= a < 16777216 * ((a >> 24) + 1);
      axiom shift_30: \forall integer a; 1073741824 * (a >> 30) <= a < 1073741824 * ((a >> 30) + 1);
    } */

/*@ lemma and_of_bools: \forall integer a, b; (a == 0 || a == 1) && (b == 0 || b == 1) ==>
      ((a & b) != 0 <==> (a == 1 && b == 1));
    lemma word_as_is: \forall integer v; 0 <= v < 4294967296 ==> (uint32_t)v == v;
    lemma unsigned_as_is: \forall integer v; 0 <= v < 18446744073709551616 ==> (uint64_t)v == v;
    lemma product_of_small: \forall integer a, b, x, y; 0 <= a <= x && 0 <= b <= y ==> 0 <= a * b <= x * y;
    lemma bulge_is_small: \forall integer a, b; -16384 <= a <= 16384 && 0 <= b <= 262144 ==>
      -16384 * 262144 <= a * b <= 16384 * 262144;

    predicate is_arc(dg_arc *arc) = \valid_read(arc) && -1073741824 <= arc->base <= 1073741824 &&
      arc->slope <= 1073741824 && -16384 <= arc->bulge <= 16384;
    // v of an arc, as table.h has it
    logic integer v_of(integer base, integer slope, integer bulge, integer q) =
      base - ((slope * q) >> 24) + ((bulge * ((q * (16777216 - q)) >> 30)) >> 16);
    lemma fall_of_shift: \forall integer a, b; 0 <= a <= 1073741824 && 0 <= b <= 16777216 ==>
      0 <= (a * b) >> 24 <= 1073741824;
    lemma bulge_of_shift: \forall integer a, b; -16384 <= a <= 16384 && 0 <= b <= 262144 ==>
      -65536 <= (a * b) >> 16 <= 65536;
    lemma middle_of_shift: \forall integer q; 0 <= q <= 16777216 ==> 0 <= (q * (16777216 - q)) >> 30 <= 262144;
    lemma fall_as_is: \forall integer a, b; 0 <= a <= 1073741824 && 0 <= b <= 16777216 ==>
      (uint64_t)(a * b) == a * b;
    lemma inwards_as_is: \forall integer q; 0 <= q <= 16777216 ==> (uint64_t)(16777216 - q) == 16777216 - q;
    lemma inner_as_is: \forall integer a, b; 0 <= a <= 16777216 && 0 <= b <= 16777216 ==> (uint64_t)(a * b) == a * b;
    lemma v_is_small: \forall integer base, slope, bulge, q; -1073741824 <= base <= 1073741824 &&
      0 <= slope <= 1073741824 && -16384 <= bulge <= 16384 && 0 <= q <= 16777216 ==>
      -4294967296 <= v_of(base, slope, bulge, q) <= 4294967296;
*/

/*@ requires is_arc(arc) && reach <= 16777216;
    assigns \nothing;
    ensures -4294967296 <= v_of(arc->base, arc->slope, arc->bulge, reach) <= 4294967296;
    // left out of what is proven: see run
    ensures as_written: \result == v_of(arc->base, arc->slope, arc->bulge, reach);
*/
static inline int64_t dg_arc_height(uint64_t reach, const dg_arc *arc);

/*@ requires is_arc(arc) && reach <= 16777216 && height < 65536 && \valid(accepted);
    requires \separated(accepted, arc);
    assigns *accepted;
    // an F below v - error is accepted, one from v + error on refused, and others are in doubt
    ensures *accepted <==> height < v_of(arc->base, arc->slope, arc->bulge, reach) - arc->error + PLANTED;
    ensures \result <==> (height < v_of(arc->base, arc->slope, arc->bulge, reach) - arc->error || v_of(arc->base, arc->slope, arc->bulge, reach) + arc->error <= height);
*/
static inline bool dg_arc_tells(bool *accepted, uint32_t height, uint64_t reach, const dg_arc *arc);

#include "cells/decide.h"

/* Bits of words: told by what they are called, here; that they are what they are called, by tests/c/test_decide.c,
 * which goes through all of them. */
/*@ axiomatic places {
      logic integer ticks_inwards(integer tick, integer block, integer tick_bits);
      logic integer reach_of(integer offset, integer n_bits);
    } */
/*@ requires \valid_read(place) && \valid_read(table);
    assigns \nothing;
    ensures \result == ticks_inwards(place->tick, place->block, table->tick_bits); */
static inline uint64_t dg_ticks_inwards(const dg_place *place, const dg_table *table);
/*@ assigns \nothing; ensures \result == reach_of(offset, n_bits) && \result < 16777216; */
static inline uint64_t dg_reach(uint64_t offset, unsigned n_bits);

/*@ requires \valid(place) && \valid(accepted) && is_arc(&of->arc) && \valid_read(of) && \valid_read(table) &&
      height < 65536 && (cell < table->n_full ==> \valid_read(table->block_of + cell)) &&
      \separated(place, accepted, of, table, table->block_of + (0 .. table->n_full)) &&
      table->n_full + table->n_partial <= 4294967295;
    assigns *place, *accepted;
    // a full cell without a code
    behavior full:
      assumes table->n_coded < table->n_full && cell < table->n_full;
      ensures \result && *accepted && place->block == table->block_of[cell] + PLANTED;
    // others: what is asked is whether the cell is partial, and its arc tells
    behavior other:
      assumes !(table->n_coded < table->n_full && cell < table->n_full);
      ensures place->block == of->block && place->tick == \old(place->tick);
      ensures \let q = reach_of(ticks_inwards(place->tick, of->block, table->tick_bits), table->tick_bits);
        \let v = v_of(of->arc.base, of->arc.slope, of->arc.bulge, q);
        (*accepted <==> height < v - of->arc.error + PLANTED) &&
        (\result <==> ((height < v - of->arc.error || v + of->arc.error <= height) &&
          table->n_full <= cell < table->n_full + table->n_partial));
    complete behaviors;
    disjoint behaviors;
*/
static inline bool dg_decide_at_once(dg_place *place, bool *accepted, uint32_t cell,
                                     const dg_partial *of, uint32_t height, const dg_table *table);
