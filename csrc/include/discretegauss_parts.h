/** The functions that only the Python package uses: counts in text, and, for tests, fuzzing, benchmarks and the verifier, options and
 *  facts of samplers.
 *
 *  This header is not installed, and the shared library does not export what it declares. The "cffi" marks have the
 *  meaning of those in discretegauss.h.
 */
#ifndef DISCRETEGAUSS_PARTS_H
#define DISCRETEGAUSS_PARTS_H

#include "discretegauss_mechanisms.h"

/* cffi: begin */

/** Which arithmetic draws. Both give the same draws from the same bits, so only tests choose. */
typedef enum dg_arithmetic {
    DG_ARITHMETIC_AUTO = 0, /**< machine words if the parameters fit, otherwise GMP */
    DG_ARITHMETIC_GMP = 1   /**< GMP always */
} dg_arithmetic;

/** Instruction sets. */
typedef enum dg_isa {
    DG_ISA_AUTO = 0,     /**< the best that the machine has */
    DG_ISA_PORTABLE = 1, /**< C without intrinsics, for any machine */
    DG_ISA_AVX2 = 2,
    DG_ISA_AVX512 = 3,       /**< F, BW, DQ and VL: processors with AVX-512 since Skylake-X */
    DG_ISA_AVX512_VBMI2 = 4, /**< VBMI and VBMI2 in addition: since Ice Lake and Zen 4 */
    DG_ISA_NEON = 5,         /**< every AArch64, little-endian */
    DG_ISA_SSE41 = 6         /**< and popcnt: the best of an x86-64 without AVX2 */
} dg_isa;

/** Choices that tests make for a sampler. */
typedef struct dg_options {
    dg_arithmetic arithmetic; /* of Algorithms 1-3 */
    dg_isa isa;               /* of isochronous draws and tables; the draws are the same */
    uint32_t index_bits;      /* of tables: 4 ... 16 */
    int32_t block_bits;       /* of tables; negative: the builder chooses */
} dg_options;

/** Do what dg_sampler_new does, with options. NULL means the usual ones. */
dg_status dg_sampler_new_with(dg_sampler **sampler, dg_law_kind kind, const char *parameter,
                              const char *mu, const char *beta, dg_method method,
                              const dg_options *options);

/** Facts about a sampler, for code that checks it. csrc/isochronous/silent.h and csrc/cells/table.h define the names.
 *  Facts of other methods are 0. */
typedef struct dg_sampler_info {
    int uses_words; /* Algorithms 1-3 draw in machine words, not by GMP */
    /* of isochronous draws and of tables: */
    dg_isa isa;
    uint64_t block_bits;
    uint32_t height;
    uint64_t memory;
    /* of tables: */
    uint32_t index_bits;
    uint32_t tick_bits;
    uint64_t rest_bytes;
    uint32_t tail_bits;
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
    uint32_t noise_words; /* of a cell, if noise is drawn by item: csrc/cells/noise_at.h */
} dg_sampler_info;

/** Set *by to the sampler that draws calls of n draws: the same, or one by DG_CELLS that belongs to it. A caller that
 *  fills an array of n items in parts fills all from *by, so that one method draws them.
 *
 *  Returns:   DG_OK | DG_ERR_NOMEM.
 */
dg_status dg_sampler_for(const dg_sampler **by, size_t n, const dg_sampler *sampler);

/** Set *info to the facts of a sampler, of calls of few draws. */
void dg_sampler_describe(dg_sampler_info *info, const dg_sampler *sampler);

/** Return a number of items. A fill from given bits may be cut at its multiples without changing the draws. */
size_t dg_sampler_chunk(const dg_sampler *sampler);

/* Copies of parts of a sampler's table. Requires: its method is DG_CELLS. */

/** The code of pieces that belong to no block. */
enum { DG_SPECIAL_CODE = 255 };

/** Cell i < n_full + n_partial: its block, and the level of a partial cell. */
void dg_table_cell(int32_t *block, uint32_t *level, uint32_t i, const dg_sampler *sampler);

/** Row i < 2^row_bits: its three pieces end before end[0], end[1] and 2^position_bits. Piece k belongs to block
 *  coded_first + code[k]. If code[k] is DG_SPECIAL_CODE, its position p belongs to cell
 *  n_coded + (p + special modulo 2^16). */
void dg_table_row(uint32_t end[2], uint32_t code[3], uint32_t *special, uint32_t i,
                  const dg_sampler *sampler);

/** Arc i < n_partial + n_tail_arcs: first those of the partial cells, then those of the tails. */
void dg_table_arc(int32_t *base, uint32_t *slope, uint32_t *error, int32_t *bulge, uint32_t i,
                  const dg_sampler *sampler);

/* Numbers of an isochronous sampler (csrc/isochronous/silent.h). Requires: its method is DG_ISOCHRONOUS; i < 256. */

/** Row i: its first positions up to end are of code i, the others of alias; c of code i, and the error of its arc. */
void dg_silent_row(uint32_t *end, uint32_t *alias, uint32_t *c, uint32_t *err, uint32_t i,
                   const dg_sampler *sampler);

/** Return what kernels take for 2^16 H g/c in the block of code i, where the tick's upper 16 bits are those of q. */
uint32_t dg_silent_share(uint32_t i, uint32_t q, const dg_sampler *sampler);

/** Pack the law for the kernel of csrc/cuda: a dg_noise_law, and the arrays behind it.
 *
 *  Ensures:   DG_OK -> *n_bytes is the length, and out, if it is not NULL, holds that many bytes.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_NOISE_SAMPLER: dg_noise_at does not draw the law, or the kernel would leave
 *             more than one item of 10^9 to dg_noise_at.
 */
dg_status dg_noise_pack(uint8_t *out, size_t *n_bytes, const dg_sampler *sampler);

/** Do what dg_laws_fill does, with one instruction set. The draws are the same. */
dg_status dg_laws_fill_by(void *out, size_t n, dg_dtype dtype, const dg_laws *laws, size_t *bad,
                          dg_isa isa, const dg_run *run, const dg_source *source);

/** Write blocks [first_block, first_block + n_blocks) of 64 bytes of the ChaCha20 stream under a key of 32 bytes
 *  (RFC 8439; the block index fills the counter and the first word of the nonce). It serves repeatable tests. */
void dg_keystream(uint8_t *out, size_t n_blocks, const uint8_t *key, uint64_t first_block);

/** Read columns of counts from delimited text: cells between delimiters, quoted or not, without the quotes and the
 *  blanks at their ends.
 *
 *  Requires:  text is UTF-8 without NUL bytes, and its last byte is a line feed; delimiter is a comma, a
 *             semicolon, a vertical bar or a tab; columns are increasing and below width; counts has room for
 *             n_columns counts for each line feed.
 *  Ensures:   the first *n_rows rows have width cells. Those in columns are integers of at most 19 digits, below 2^63
 *             in magnitude. counts holds them, row by row.
 *  Returns:   how many bytes these rows have. If this is not n_bytes, the next row is undecided: it is not
 *             as simple as that.
 */
size_t dg_csv_counts(int64_t *counts, size_t *n_rows, const uint8_t *text, size_t n_bytes,
                     uint8_t delimiter, size_t width, const size_t *columns, size_t n_columns);

/** Write delimited text again with other counts: cells without blanks at their ends, quoted only if they contain a
 *  quote or a delimiter.
 *
 *  Requires:  dg_csv_counts returned n_bytes for the text, and n_rows; counts are its rows, with other values;
 *             out has room for n_bytes, and for each row 2 width + 20 n_columns + line_end_bytes more.
 *  Returns:   how many bytes were written.
 */
size_t dg_csv_rewrite(uint8_t *out, const int64_t *counts, const uint8_t *text, size_t n_bytes,
                      uint8_t delimiter, uint8_t out_delimiter, const uint8_t *line_end,
                      size_t line_end_bytes, size_t width, const size_t *columns, size_t n_columns);

/* cffi: end */

#endif
