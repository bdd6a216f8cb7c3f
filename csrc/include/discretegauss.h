/** discretegauss: exact integer noise for differential privacy.
 *
 *  Three ideas:
 *  - a sampler (dg_sampler) is a law and one method to draw from it. Make one (dg_sampler_new), fill
 *    arrays (dg_sampler_fill), free it. It holds no randomness;
 *  - a source (dg_source) says where bits come from, and is passed to every call that draws;
 *  - no random state outlives a call: what a call took from its source and did not use is wiped.
 *
 *  The order of arguments:
 *  1. What is written to comes first: a handle that is made, or an array with its length and its type.
 *  2. Then comes what is read: parameters, integers, the sampler.
 *  3. Then comes how the call is run (dg_run), which may be NULL.
 *  4. The source of bits comes last. It may be NULL, too.
 *
 *  Rules for all arguments:
 *  5. A pointer is not NULL, unless its function says that it may be, or it is an array of no items.
 *  6. Arrays do not overlap, and are aligned for what they hold.
 *  7. A const pointer to a sampler, a selection or a snapping means that any number of threads may use it at once.
 *
 *  No function here aborts, prints, retries silently or falls back to other randomness.
 *
 *  Stack: every call needs a stack with 256 KiB to spare, and what a caller's source uses (a core that
 *  is compiled with -O0: 512 KiB). Fills take some 70 KiB, with the longest parameters 100 KiB. With
 *  less the call ends the process (SIGSEGV at the stack's end): it cannot be told from within. Threads
 *  have 128 KiB by default with musl, and what pthread_attr_setstacksize says.
 *
 *  This header is the only definition of the C API. C includes it; for Python cffi reads what is between the two
 *  "cffi" marks, where only plain declarations stand: no #if, no macro but simple integer constants.
 */
#ifndef DISCRETEGAUSS_H
#define DISCRETEGAUSS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define DG_API __attribute__((visibility("default")))
#else
#define DG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* cffi: begin */

/** Parameters longer than this many bits (numerator or denominator) are refused: GMP aborts the
 *  process when an allocation fails, so its blocks stay small (under 64 KiB each, under 1 MiB at any
 *  time), and are asked for before GMP asks. */
#define DG_MAX_PARAMETER_BITS 65536

/** What a call reports. After everything but DG_OK, what an output array holds means nothing: part of it may be
 *  drawn, and is not to be used. Nothing writes to it after the call, either way. */
typedef enum dg_status {
    DG_OK = 0,
    DG_ERR_ENTROPY = 1, /**< the operating system gave no randomness; errno says why */
    DG_ERR_SOURCE = 2,  /**< the caller's source reported a failure */
    DG_ERR_NOMEM = 3,   /**< an allocation of ours failed */
    DG_ERR_RANGE = 4,   /**< a draw does not fit the output type */

    /** An argument is not what it has to be: a text is no number, a number breaks the rule of its law, there is no
     *  such dtype, or the law has no such method. */
    DG_ERR_PARAMETER = 5,

    /** A parameter has more than DG_MAX_PARAMETER_BITS bits in lowest terms, or more than twice as many as it is
     *  written. */
    DG_ERR_TOO_LONG = 6,

    /** The caller stopped the call (dg_run), or forked in a pause: so ends the call in the child. */
    DG_ERR_STOPPED = 7
} dg_status;

/** The laws, and the rules of their parameters: the first one, a/b in lowest terms, and mu. */
typedef enum dg_law_kind {
    DG_BERNOULLI = 0,         /**< 1 with probability a/b;                  0 <= a/b <= 1; mu = 0 */
    DG_UNIFORM_BELOW = 1,     /**< 0 ... a-1, all alike;                    a >= 1, b = 1; mu = 0 */
    DG_BERNOULLI_EXP = 2,     /**< 1 with probability exp(-a/b);            a/b >= 0;      mu = 0 */
    DG_GEOMETRIC_EXP = 3,     /**< Pr[k] ~ exp(-k a/b), k >= 0;             a/b > 0;       mu = 0 */
    DG_DISCRETE_LAPLACE = 4,  /**< Pr[x] ~ exp(-|x - mu| / scale);          scale = a/b > 0       */
    DG_DISCRETE_GAUSSIAN = 5, /**< Pr[x] ~ exp(-(x - mu)^2 / (2 sigma2));  sigma2 = a/b > 0      */
    DG_GENERALIZED_GAUSSIAN = 6 /**< Pr[x] ~ exp(-(|x - mu| / scale)^beta); scale = a/b > 0, beta
                                     >= 1; not by DG_REFERENCE */
} dg_law_kind;

/** Output types of fills, all in the machine's byte order. */
typedef enum dg_dtype {
    DG_INT8 = 0,
    DG_INT16 = 1,
    DG_INT32 = 2,
    DG_INT64 = 3,
    DG_UINT8 = 4,
    DG_UINT16 = 5,
    DG_UINT32 = 6,
    DG_UINT64 = 7
} dg_dtype;

/** A caller's source of bits: writes n independent uniform bytes to out. The calling thread calls it, perhaps
 *  often.
 *
 *  Returns: 0 on success; anything else ends the call with DG_ERR_SOURCE.
 */
typedef int (*dg_fill_bytes)(void *context, uint8_t *out, size_t n);

/** Where the bits of a call come from. */
typedef enum dg_source_kind {
    DG_SOURCE_GETRANDOM = 0, /**< every byte from the system: getrandom(2), or its like elsewhere */
    DG_SOURCE_CHACHA20 = 1,  /**< a fresh key from there, expanded by ChaCha20 (RFC 8439) */
    DG_SOURCE_CALLER = 2     /**< the caller's function */
} dg_source_kind;

/** A source of bits. NULL for a source means DG_SOURCE_CHACHA20. */
typedef struct dg_source {
    dg_source_kind kind;
    dg_fill_bytes fill; /**< a caller's: asked only for bytes that the draws will use, in order */
    void *context;      /**< what fill is called with */
} dg_source;

/** How a fill is run. NULL for it means: by the calling thread alone, to its end. */
typedef struct dg_run {
    /** Threads that draw, at most, the calling one among them; 0 counts as 1. Fewer, if the fill has not some
     *  0.25 ms of work for each, or if the system has none to give. The others get no signals, and
     *  are gone when the call returns. One thread only with a caller's source. */
    size_t threads;
    /** Called by the calling thread about every 20 ms, between two pieces of the fill; may be NULL.
     *  Other than 0 ends the fill with DG_ERR_STOPPED. The calling thread holds no random bit meanwhile, so
     *  pause may fork. In the child the fill ends with DG_ERR_STOPPED: what is drawn already is the parent's. */
    int (*pause)(void *context);
    void *context; /**< what pause is called with */
} dg_run;

/** A law, and all that one method of drawing needs. It does not change after dg_sampler_new: threads may share
 *  it, and the child of a fork may go on drawing. */
typedef struct dg_sampler dg_sampler;

/** The ways to draw. The law is the same. */
typedef enum dg_method {
    DG_AUTO = 0, /**< the first that the law has, of DG_ISOCHRONOUS, DG_REFERENCE, DG_CELLS */

    /** Algorithms 1-3 of Canonne, Kamath and Steinke (2020): every law but the generalised Gaussian. */
    DG_REFERENCE = 1,

    /** Look-up in a table of cells: the laws with a centre. Fastest in bulk; the table takes up to some milliseconds
     *  to build. */
    DG_CELLS = 2,

    /** Attempts whose time says nothing about the value: the laws with a centre, if the scale, or sigma, is from 2^-20
     *  to 2^53, floor(mu + 1/2) below 2^61 in size, and beta below 64. */
    DG_ISOCHRONOUS = 3
} dg_method;

/** Make a sampler.
 *
 *  Parameters are text, which is read exactly: a sign or none, then an integer ("100"), a quotient of two ("-5/2"), or
 *  a decimal fraction ("0.1"). Integers are decimal, whatever zeros they begin with, or hexadecimal ("0x1f/0x20").
 *  Quotients may be in any terms. Nothing else is a number: no blanks, no exponents ("1e3"), no ".5", no "5.".
 *
 *  Requires:  mu may be NULL: 0. beta may be NULL: 1. It is read of the generalised Gaussian alone.
 *  Ensures:   DG_OK -> *sampler is new, to be freed by dg_sampler_free; otherwise *sampler is NULL.
 *  Returns:   DG_OK | DG_ERR_PARAMETER (a text is no number; a number breaks the rule of its law; the law has no
 *             such method) | DG_ERR_TOO_LONG | DG_ERR_NOMEM.
 *  Cost:      some 20 microseconds; with DG_CELLS up to some milliseconds.
 */
DG_API dg_status dg_sampler_new(dg_sampler **sampler, dg_law_kind kind, const char *parameter,
                                const char *mu, const char *beta, dg_method method);

/** What a status means, in a few words of English. */
DG_API const char *dg_status_text(dg_status status);

/** Free a sampler. It may be NULL. Requires: no thread of this process draws from it. */
DG_API void dg_sampler_free(dg_sampler *sampler);

/** How it draws: never DG_AUTO. */
DG_API dg_method dg_sampler_method(const dg_sampler *sampler);

/** Bytes a draw needs, at most, as a two's complement integer: room for mu plus or minus 2^64 scales
 *  (standard deviations), so that dg_sampler_fill_wide reports that a draw does not fit with a probability
 *  below exp(-2^63). */
DG_API size_t dg_sampler_wide_bytes(const dg_sampler *sampler);

/** Whether int64 holds a draw, but with a probability below 2^-128. */
DG_API int dg_sampler_fits_int64(const dg_sampler *sampler);

/** Draw n independent samples into an array of machine integers.
 *
 *  Law:       that of the sampler, for every integer, conditional on no error.
 *  Requires:  out has room for n elements of dtype.
 *  Ensures:   DG_OK -> out[0 .. n) hold independent draws.
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept) | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE (a draw does not
 *             fit; by cells also, whatever would be drawn, if the law is far wider than any dtype or its centre
 *             fits none) | DG_ERR_PARAMETER (no such dtype) | DG_ERR_STOPPED.
 *  Cost:      O(1) expected arithmetic operations a draw; unbounded in the worst case. The time depends
 *             on the values drawn unless the method is DG_ISOCHRONOUS.
 */
DG_API dg_status dg_sampler_fill(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                                 const dg_run *run, const dg_source *source);

/** Draw n independent samples of any size: n integers of n_bytes bytes each, one after the other, two's
 *  complement, least significant byte first. Otherwise as dg_sampler_fill, but DG_ERR_RANGE, whatever would
 *  be drawn, if n_bytes is less than dg_sampler_wide_bytes. */
DG_API dg_status dg_sampler_fill_wide(uint8_t *out, size_t n, size_t n_bytes,
                                      const dg_sampler *sampler, const dg_run *run,
                                      const dg_source *source);

/** Draw items [first_item, first_item + n) of the noise that a key of 32 bytes stands for: a function of the law, the
 *  key and the item's number alone. So many devices draw the same noise in any order, and it can be drawn again.
 *
 *  Whoever knows the key knows the noise. For a release the key is 32 fresh bytes of the operating system's, used for
 *  one release, and wiped.
 *  Law:       for a uniform key, as far as ChaCha20 cannot be told from a random function, out holds independent
 *             draws of the sampler's law, for every integer. csrc/cells/noise_at.h defines the function.
 *  Requires:  out as for dg_sampler_fill; first_item + n < 2^64.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_RANGE (an item does not fit) | DG_ERR_PARAMETER (no such dtype, or the
 *             method is not DG_CELLS, or the law is so wide that its blocks have more than 2^48 integers: from a
 *             sigma of some 2^53 on).
 *  Cost:      some 20 ns an item.
 */
DG_API dg_status dg_noise_at(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                             uint64_t first_item, const uint8_t *key);

/** What becomes of a sum that the output does not hold. */
typedef enum dg_overflow {
    DG_REFUSE = 0, /**< it ends the call with DG_ERR_RANGE */
    DG_CLAMP = 1,  /**< the nearest integer that it holds */
    DG_REDUCE = 2  /**< every sum becomes its rest modulo dg_addend.modulus */
} dg_overflow;

/** Integers that get noise. */
typedef struct dg_addend {
    const void *values; /**< of dtype, aligned */
    dg_dtype dtype;
    const uint8_t *is_null; /**< 1: no integer stands there; else 0. NULL: all do */
    dg_overflow overflow;
    uint64_t modulus; /**< for DG_REDUCE; 0: 2^64 */
} dg_addend;

/** Add noise to integers: out[i] = integer i + a draw; 0 where it is null.
 *
 *  Requires:  out has room for n int64_t (with DG_REDUCE they are uint64_t, from 0 to modulus - 1); addend has n
 *             integers.
 *  Ensures:   DG_OK -> every sum is exact. From given bits the draws are those of dg_sampler_fill.
 *  Returns:   as dg_sampler_fill; DG_ERR_RANGE also if a sum that is no null leaves int64, and is refused;
 *             DG_ERR_PARAMETER also if there is no such dg_dtype or dg_overflow.
 *  Cost:      that of the draws, and one pass over the integers while they are in a core's cache.
 */
DG_API dg_status dg_sampler_add(void *out, size_t n, const dg_addend *addend,
                                const dg_sampler *sampler, const dg_run *run,
                                const dg_source *source);

/** Find between which numbers n integers are, for which noise needs room: ends[0] <= each <= ends[1].
 *
 *  Nulls do not count. The ends are int64_t; of an unsigned dtype uint64_t. Some of the integers are equal to them
 *  if `exactly` is not 0; else they are powers of two about so large, at a third of the cost. Of no integer: 0, 0.
 *  Returns:   DG_OK | DG_ERR_PARAMETER: no such dtype | DG_ERR_STOPPED: by run->pause.
 */
DG_API dg_status dg_addend_ends(uint64_t ends[2], size_t n, const dg_addend *addend, int exactly,
                                const dg_run *run);

/** How a column of numbers is written. Each is exactly what it says. */
typedef enum dg_number_format {
    DG_INTEGERS = 0, /**< int64_t */
    DG_FLOATS = 1,   /**< a finite IEEE 754 binary64, by its bits */
    DG_RATIOS = 2    /**< two int64_t: numerator and denominator, in lowest terms */
} dg_number_format;

/** A number for each law: that of law i begins at words + i stride. A stride of 0 gives all the same. */
typedef struct dg_column {
    const uint64_t *words;
    size_t stride;
    dg_number_format format;
} dg_column;

/** Many laws of one kind, not the generalised Gaussian, and how they are drawn.
 *
 *  method:    DG_AUTO: isochronously, in lanes of vectors, where these hold the law; of 256 laws at a time the others
 *             after those, by Algorithms 1-3. DG_ISOCHRONOUS: likewise, but lanes have to hold all. DG_REFERENCE: by
 *             Algorithms 1-3, in order. There is no other.
 *
 *  Lanes hold Laplace laws of scales from 2^-11 to 2^42, and Gaussian ones of sigma2 from 2^-16 to 2^62, or from 2^-4
 *  if the centre is no integer. */
typedef struct dg_laws {
    dg_law_kind kind;
    dg_column parameter, centre;
    dg_method method;
} dg_laws;

/** Draw once from each of n laws: out[i] = a draw of law i.
 *
 *  Requires:  out as for dg_sampler_fill; no float of the centres is beyond 2^62.
 *  Ensures:   as dg_sampler_fill. Unless the call is stopped: *bad (bad may be NULL) = the first law that breaks a
 *             rule, or that lanes do not hold with DG_ISOCHRONOUS, before anything is drawn; n: none does.
 *  Returns:   as dg_sampler_add, where DG_ERR_PARAMETER also says that there is such a law, no such format, or no
 *             such method, or that a float is not finite.
 *  Cost:      some 35 ns a draw with AVX-512 where vectors hold the law; a law that they do not hold is made anew.
 */
DG_API dg_status dg_laws_fill(void *out, size_t n, dg_dtype dtype, const dg_laws *laws, size_t *bad,
                              const dg_run *run, const dg_source *source);

/** Fill an array with n independent uniform words: every bit of an unsigned dtype is fair.
 *
 *  Requires:  out has room for n elements of dtype.
 *  Ensures:   DG_OK -> out holds them; a word is read least significant byte first.
 *  Returns:   as dg_sampler_fill, where DG_ERR_PARAMETER says that dtype is not unsigned.
 */
DG_API dg_status dg_words_fill(void *out, size_t n, dg_dtype dtype, const dg_run *run,
                               const dg_source *source);

/** How a candidate is selected by its score. */
typedef enum dg_selection_kind {
    DG_PERMUTE_AND_FLIP = 0, /**< in random order, the first that passes */
    DG_EXPONENTIAL = 1       /**< any, again and again, until one passes */
} dg_selection_kind;

/** Rows of candidates to select from. Immutable. */
typedef struct dg_selection dg_selection;

/** Prepare selections: a candidate passes with probability exp(-gap rate).
 *
 *  gaps:      how far each score is below the best of its row: n_rows rows of k integers >= 0, each of
 *             gap_bytes bytes, least significant first. which: of n items the rows; NULL: item i has
 *             row i modulo n_rows.
 *  Requires:  rate is text, as dg_sampler_new reads it, and obeys the rule of DG_BERNOULLI_EXP; 1 <= k < 2^55;
 *             gap_bytes >= 1; every row has a gap of 0, and the gaps stay
 *             as they are.
 *  Ensures:   DG_OK -> *selection is new, refers to gaps and which (which must outlive it), to be
 *             freed by dg_selection_free; otherwise *selection is NULL.
 *  Returns:   as dg_sampler_new, where DG_ERR_TOO_LONG is also of gap_bytes, and DG_ERR_PARAMETER also says that a
 *             row has no gap of 0.
 */
DG_API dg_status dg_selection_new(dg_selection **selection, dg_selection_kind kind,
                                  const char *rate, const uint8_t *gaps, size_t gap_bytes,
                                  size_t n_rows, size_t k, const int64_t *which);

/** Free selections, which may be NULL. */
DG_API void dg_selection_free(dg_selection *selection);

/** Select n times: out[i] = the place of a candidate in the row of item i.
 *
 *  Law:       permute-and-flip (McKenna, Sheldon, 2020, Algorithm 1): candidates are visited in uniformly
 *             random order, the first that passes is selected; exponential: Pr[c] ~ exp(-gap_c rate).
 *  Requires:  out as for dg_sampler_fill; which, if given, has n entries below n_rows.
 *  Ensures:   as dg_sampler_fill.
 *  Returns:   as dg_sampler_fill, where DG_ERR_PARAMETER also says that there is no row.
 *  Cost:      O(k) an item; the time depends on the selections and on the gaps.
 */
DG_API dg_status dg_selection_fill(void *out, size_t n, dg_dtype dtype,
                                   const dg_selection *selection, const dg_run *run,
                                   const dg_source *source);

/** Cells that a Laplace variable starts in, to be left or not. Immutable. */
typedef struct dg_snapping dg_snapping;

/** Prepare to draw on which side values plus Laplace noise leave their cell.
 *
 *  Value i lies offset[i] / 2^shift[i] from the middle of its cell, in cells, which are step 2^doublings
 *  scales of the noise long.
 *  Requires:  step is text, as dg_sampler_new reads it, from 0 to 1, and above 1/2 unless doublings is 0;
 *             doublings < 64; 1 <= shift[i] <= 4096;
 *             -2^(shift[i] - 1) <= offset[i] < 2^(shift[i] - 1), |offset[i]| < 2^62.
 *  Ensures:   DG_OK -> *snapping is new, refers to offset and shift (which must outlive it), to be
 *             freed by dg_snapping_free; otherwise *snapping is NULL.
 *  Returns:   as dg_sampler_new.
 */
DG_API dg_status dg_snapping_new(dg_snapping **snapping, const char *step, size_t doublings,
                                 const int64_t *offset, const int64_t *shift);

/** Free it. It may be NULL. */
DG_API void dg_snapping_free(dg_snapping *snapping);

/** Draw for n values: out[i] = 1 or -1, the side on which value i leaves its cell, or 0: it stays.
 *
 *  Law:       Pr[1] = exp(-(1/2 - phi) t)/2, Pr[-1] = exp(-(1/2 + phi) t)/2, phi = offset/2^shift,
 *             t = step 2^doublings (csrc/mechanisms/leave_cell.c).
 *  Requires:  dtype is signed, otherwise as for dg_sampler_fill.
 *  Ensures:   as dg_sampler_fill.
 *  Returns:   as dg_sampler_fill.
 */
DG_API dg_status dg_snapping_fill(void *out, size_t n, dg_dtype dtype, const dg_snapping *snapping,
                                  const dg_run *run, const dg_source *source);

/** Write blocks [first_block, first_block + n_blocks) of 64 bytes of the ChaCha20 stream under a
 * key of 32 bytes (RFC 8439; the block index fills the counter and the first word of the nonce).
 * For repeatable tests. */
DG_API void dg_keystream(uint8_t *out, size_t n_blocks, const uint8_t *key, uint64_t first_block);

/** Read columns of counts of delimited text: cells between delimiters, quoted or not, without the quotes
 *  and the blanks at their ends.
 *
 *  Requires:  text is UTF-8 without NUL bytes, whose last byte is a line feed; delimiter is a comma, a
 *             semicolon, a vertical bar or a tab; columns are increasing and below width; counts has room for
 *             n_columns counts for each line feed.
 *  Ensures:   *n_rows rows at the beginning have width cells, of which those in columns are integers of at
 *             most 19 digits, below 2^63 in magnitude: counts has them, row by row.
 *  Returns:   of how many bytes these rows are; n_bytes, or the row that follows is undecided: something
 *             there is not as plain as that.
 */
DG_API size_t dg_csv_counts(int64_t *counts, size_t *n_rows, const uint8_t *text, size_t n_bytes,
                            uint8_t delimiter, size_t width, const size_t *columns,
                            size_t n_columns);

/** Write delimited text anew, with other counts: cells without blanks at their ends, quoted only where
 *  they hold a quote or a delimiter.
 *
 *  Requires:  dg_csv_counts returned n_bytes for the text, and n_rows; counts are its rows, with other values;
 *             out has room for n_bytes, and for each row 2 width + 20 n_columns + line_end_bytes more.
 *  Returns:   how many bytes were written.
 */
DG_API size_t dg_csv_rewrite(uint8_t *out, const int64_t *counts, const uint8_t *text,
                             size_t n_bytes, uint8_t delimiter, uint8_t out_delimiter,
                             const uint8_t *line_end, size_t line_end_bytes, size_t width,
                             const size_t *columns, size_t n_columns);

/** The version of GMP, as it reports itself at run time. */
DG_API const char *dg_gmp_version(void);

/** The version of MPFR, likewise. */
DG_API const char *dg_mpfr_version(void);

/** Whether MPFR keeps its flags, its range of exponents and its caches for each thread. Without that,
 *  threads that build or draw at once would change each other's: callers must not go on. */
DG_API int dg_mpfr_is_thread_local(void);

/* cffi: end */

#ifdef __cplusplus
}
#endif

#endif
