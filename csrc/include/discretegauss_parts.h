/** The parts of a sampler, for tests, fuzzing, benchmarks and the verifier.
 *
 *  A dg_sampler is a law, and what draws from it: a table, lanes. Here each is a handle
 *  of its own, with its sizes and its instruction set to be chosen, and can be looked into. This header is not
 *  installed, and the shared library does not export what it declares. The "cffi" marks are those of
 *  discretegauss.h.
 */
#ifndef DISCRETEGAUSS_PARTS_H
#define DISCRETEGAUSS_PARTS_H

#include "discretegauss.h"

/* cffi: begin */

/** Which arithmetic draws. Both give the same draws from the same bits; only tests need to choose.
 */
typedef enum dg_arithmetic {
    DG_ARITHMETIC_AUTO = 0, /**< machine words where the parameters fit, GMP elsewhere */
    DG_ARITHMETIC_GMP = 1   /**< GMP always */
} dg_arithmetic;

/** A law made ready for drawing; immutable. */
typedef struct dg_law dg_law;

/** Prepare a law of parameters as dg_sampler_new takes them.
 *
 *  Ensures:   DG_OK -> *law is a new law, to be freed by dg_law_free; otherwise *law is NULL.
 *  Returns:   DG_OK | DG_ERR_PARAMETER | DG_ERR_TOO_LONG | DG_ERR_NOMEM.
 */
dg_status dg_law_new(dg_law **law, dg_law_kind kind, const char *parameter, const char *mu,
                     const char *beta, dg_arithmetic arithmetic);

/** Free a law. law may be NULL. */
void dg_law_free(dg_law *law);

/** 1 if the law draws in machine words, 0 if by GMP. */
int dg_law_uses_words(const dg_law *law);

/** As dg_sampler_wide_bytes. */
size_t dg_law_wide_bytes(const dg_law *law);

/** Draw n independent samples into an array of machine integers by Algorithms 1-3.
 *
 *  Law, Requires, Ensures:  as dg_sampler_fill.
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept) | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE |
 *             DG_ERR_PARAMETER (no such dtype; a generalised Gaussian) | DG_ERR_STOPPED.
 */
dg_status dg_law_fill(void *out, size_t n, dg_dtype dtype, const dg_law *law, const dg_run *run,
                      const dg_source *source);

/** Draw n independent samples of any size, as dg_sampler_fill_wide writes them: otherwise as dg_law_fill.
 *  n_bytes may be fewer than dg_law_wide_bytes, but no bytes hold no integer: DG_ERR_RANGE. */
dg_status dg_law_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_law *law,
                           const dg_run *run, const dg_source *source);

/** Instruction sets. */
typedef enum dg_isa {
    DG_ISA_AUTO = 0,     /**< the best that the machine has */
    DG_ISA_PORTABLE = 1, /**< whatever the compiler makes of C for its target */
    DG_ISA_AVX2 = 2,
    DG_ISA_AVX512 =
        3, /**< F, BW, DQ and VL: all that processors with AVX-512 have since Skylake-X */
    DG_ISA_AVX512_VBMI2 = 4, /**< and VBMI and VBMI2: since Ice Lake and Zen 4 */
    DG_ISA_NEON = 5          /**< every AArch64, little-endian */
} dg_isa;

/** The cell table of a law: bulk draws by table look-up, the same law. Immutable. */
typedef struct dg_table dg_table;

/** The code of pieces that belong to no block. */
enum { DG_SPECIAL_CODE = 255 };

/** Facts about a table, for whoever checks it. Names: csrc/cells/table.h. */
typedef struct dg_table_info {
    dg_isa isa;
    uint32_t index_bits;
    uint64_t block_bits;
    uint32_t tick_bits;
    uint64_t rest_bytes;
    uint32_t tail_bits;
    uint32_t height;
    int32_t first_block;
    int32_t last_block;
    uint32_t n_full;
    uint32_t n_partial;
    uint32_t n_tail_side;
    uint32_t n_tail_arcs;
    uint32_t tail_arc_bits;
    uint32_t row_bits;
    uint32_t position_bits;
    int32_t coded_first;
    int32_t coded_last;
    uint32_t n_coded;
    uint64_t chunk;
    uint64_t memory;
} dg_table_info;

/** Build the table of a Laplace, Gaussian or generalised Gaussian.
 *
 *  Requires:  4 <= index_bits <= 16 (16 unless for tests); block_bits < 0: chosen; isa: what draws
 *             are looked up with, DG_ISA_AUTO unless for tests (the draws are the same).
 *  Ensures:   DG_OK -> *table is new, refers to law (which must outlive it), to be freed by
 *             dg_table_free; otherwise *table is NULL.
 *  Returns:   DG_OK | DG_ERR_PARAMETER (no such table) | DG_ERR_NOMEM.
 *  Cost:      some milliseconds.
 */
dg_status dg_table_new(dg_table **table, const dg_law *law, uint32_t index_bits, int32_t block_bits,
                       dg_isa isa);

/** Free a table. table may be NULL. */
void dg_table_free(dg_table *table);

/** Facts about a table. */
void dg_table_describe(dg_table_info *info, const dg_table *table);

/** Copy out cell i < n_full + n_partial: its block, its level (of a partial cell). */
void dg_table_cell(int32_t *block, uint32_t *level, uint32_t i, const dg_table *table);

/** Copy out row i < 2^row_bits: its three pieces end before end[0], end[1] and 2^position_bits; piece
 *  k belongs to block coded_first + code[k], or, if code[k] is DG_SPECIAL_CODE, its position p to cell
 *  n_coded + (p + special modulo 2^16). */
void dg_table_row(uint32_t end[2], uint32_t code[3], uint32_t *special, uint32_t i,
                  const dg_table *table);

/** Copy out arc i < n_partial + n_tail_arcs: those of the partial cells, then those of the tails.
 *  Names: csrc/cells/table.h. */
void dg_table_arc(int32_t *base, uint32_t *slope, uint32_t *error, int32_t *bulge, uint32_t i,
                  const dg_table *table);

/** Draw n independent samples by a table: otherwise as dg_law_fill, but DG_ERR_RANGE, whatever would
 *  be drawn, of a law far wider than any dtype or with a centre that none holds. */
dg_status dg_table_fill(void *out, size_t n, dg_dtype dtype, const dg_table *table,
                        const dg_run *run, const dg_source *source);

/** Draw n independent samples of any size by a table: otherwise as dg_law_fill_wide, but
 *  DG_ERR_RANGE, whatever would be drawn, if n_bytes is less than dg_law_wide_bytes. */
dg_status dg_table_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_table *table,
                             const dg_run *run, const dg_source *source);

/** An isochronous sampler: the same law, and the time of a fill says nothing about the values
 *  (csrc/isochronous/lanes.h). Immutable. */
typedef struct dg_lanes dg_lanes;

/** Facts about such a sampler, for whoever checks it. Names: csrc/isochronous/lanes.h. */
typedef struct dg_lanes_info {
    dg_isa isa;
    uint64_t n_core;
    uint64_t n_tail;
    uint64_t block_bits;
    uint64_t
        attempt_bytes; /**< 8 of narrow laws (csrc/isochronous/narrow.h), of which what follows is 0 */
    uint64_t above;    /**< with the next two: how far heights may be off, in units of 2^-52 */
    uint64_t above_a_step;
    uint64_t below;
} dg_lanes_info;

/** Prepare a Laplace, Gaussian or generalised Gaussian for isochronous fills.
 *
 *  Requires:  isa: what draws are made with, DG_ISA_AUTO unless for tests (the draws are the same).
 *  Ensures:   DG_OK -> *lanes is new, refers to law (which must outlive it), to be freed by
 *             dg_lanes_free; otherwise *lanes is NULL.
 *  Returns:   DG_OK | DG_ERR_PARAMETER (a law that DG_ISOCHRONOUS does not name, or an isa that the machine does not
 *             have) | DG_ERR_NOMEM.
 *  Cost:      some tens of microseconds.
 */
dg_status dg_lanes_new(dg_lanes **lanes, const dg_law *law, dg_isa isa);

/** Free what dg_lanes_new made. lanes may be NULL. */
void dg_lanes_free(dg_lanes *lanes);

/** Facts about it. */
void dg_lanes_describe(dg_lanes_info *info, const dg_lanes *lanes);

/** Draw n independent samples in lanes: otherwise as dg_law_fill. */
dg_status dg_lanes_fill(void *out, size_t n, dg_dtype dtype, const dg_lanes *lanes,
                        const dg_run *run, const dg_source *source);

/** Draw n independent samples of any size in lanes: otherwise as dg_law_fill_wide, but DG_ERR_RANGE,
 *  whatever would be drawn, if n_bytes is less than dg_law_wide_bytes. */
dg_status dg_lanes_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_lanes *lanes,
                             const dg_run *run, const dg_source *source);

/** What tests choose of a sampler. */
typedef struct dg_options {
    dg_arithmetic arithmetic; /* of Algorithms 1-3 */
    dg_isa isa;               /* of lanes and tables; the draws are the same */
    uint32_t index_bits;      /* of tables: 4 ... 16 */
    int32_t block_bits;       /* of tables; below 0: chosen */
} dg_options;

/** As dg_sampler_new, with options; NULL: the usual ones. */
dg_status dg_sampler_new_with(dg_sampler **sampler, dg_law_kind kind, const char *parameter,
                              const char *mu, const char *beta, dg_method method,
                              const dg_options *options);

/** A fill from given bits may be cut at multiples of this without changing what it draws. */
size_t dg_sampler_chunk(const dg_sampler *sampler);

/** As dg_laws_fill, by an instruction set: the draws are the same. */
dg_status dg_laws_fill_by(void *out, size_t n, dg_dtype dtype, const dg_laws *laws, size_t *bad,
                          dg_isa isa, const dg_run *run, const dg_source *source);

/* cffi: end */

/** As dg_selection_new, of a rate that is a law already: a DG_BERNOULLI_EXP, which may draw by GMP. The
 *  selection holds it: it may be freed before. */
dg_status dg_selection_new_of(dg_selection **selection, dg_selection_kind kind, dg_law *rate,
                              const uint8_t *gaps, size_t gap_bytes, size_t n_rows, size_t k,
                              const int64_t *which);

/** As dg_snapping_new, of a step that is a law already: a DG_BERNOULLI_EXP, which may draw by GMP. The snapping
 *  holds it: it may be freed before. */
dg_status dg_snapping_new_of(dg_snapping **snapping, dg_law *step, size_t doublings,
                             const int64_t *offset, const int64_t *shift);

#endif
