/** discretegauss: exact integer noise for differential privacy.
 *
 *  Three ideas:
 *  - A sampler (dg_sampler) is a law and one method to draw from it. Make one (dg_sampler_new), fill arrays
 *    (dg_sampler_fill), free it. It holds no randomness.
 *  - A source (dg_source) says where bits come from. You pass it to every call that draws.
 *  - No random state outlives a call: what a call took from its source and did not use is wiped.
 *
 *  The order of arguments:
 *  1. Outputs come first: a handle that is made, or an array with its length and its type.
 *  2. Inputs come next: parameters, integers, the sampler.
 *  3. Then comes how the call is run (dg_run). It may be NULL.
 *  4. The source of bits comes last. It may be NULL, too.
 *
 *  Rules for all arguments:
 *  5. A pointer is not NULL, unless its function says that it may be, or it is an array of no items.
 *  6. Arrays do not overlap, and are aligned for what they hold.
 *  7. A const pointer to a sampler means that any number of threads may use it at once.
 *
 *  No function here aborts, prints, retries silently or falls back to other randomness.
 *
 *  Stack: every call needs 256 KiB of free stack, and what the caller's source uses (512 KiB if the core is compiled
 *  with -O0). Fills use some 70 KiB, or 100 KiB with the longest parameters. If there is less, the process ends
 *  (SIGSEGV at the stack's end), because a call cannot detect it. Threads have 128 KiB by default with musl, otherwise
 *  what pthread_attr_setstacksize says.
 *
 *  This header, with discretegauss_mechanisms.h, is the only definition of the C API. C includes it. For Python, cffi
 *  reads the part between the two "cffi" marks, so that part has only simple declarations: no #if, and no macros but
 *  integer constants.
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

/** The version of this header. A program whose dg_version() is another runs with a library that it was not compiled for.
 *  Before 1.0 the name of the shared library has the minor version, so that the loader finds only its own. */
#define DG_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* cffi: begin */

/** The most bits of a parameter's numerator or denominator. Longer parameters are refused, because GMP aborts
 *  the process when an allocation fails. So its blocks stay small (under 64 KiB each, under 1 MiB at any time), and
 *  malloc is asked for them before GMP is. */
#define DG_MAX_PARAMETER_BITS 65536

/** The result of a call. Unless it is DG_OK, do not use the output array: part of it may be drawn. No thread writes
 *  to the array after the call. */
typedef enum dg_status {
    DG_OK = 0,
    DG_ERR_ENTROPY = 1, /**< the operating system gave no randomness; errno says why */
    DG_ERR_SOURCE = 2,  /**< the caller's source reported a failure */
    DG_ERR_NOMEM = 3,   /**< an allocation failed */
    DG_ERR_RANGE = 4,   /**< a draw does not fit the output type */

    /** The caller stopped the call (dg_run), or this is the child of a fork that was made in a pause. */
    DG_ERR_STOPPED = 5,

    /* From here on an argument breaks its rule, and nothing was drawn. There is one status for each argument and rule,
     * and dg_status_text names both. */

    /* of a law: */
    DG_ERR_KIND = 6,
    DG_ERR_PROBABILITY = 7,   /**< the parameter of DG_BERNOULLI */
    DG_ERR_N_VALUES = 8,      /**< that of DG_UNIFORM_BELOW */
    DG_ERR_NEGATIVE = 9,      /**< that of DG_BERNOULLI_EXP */
    DG_ERR_NOT_POSITIVE = 10, /**< that of other laws */
    DG_ERR_MU = 11,
    DG_ERR_NO_CENTRE = 12, /**< mu, of a law that has none */
    DG_ERR_BETA = 13,
    DG_ERR_LONG_PARAMETER = 14,
    DG_ERR_LONG_MU = 15,
    DG_ERR_LONG_BETA = 16,
    DG_ERR_METHOD = 17,
    DG_ERR_STEEP_BETA = 18,

    /* of a fill: */
    DG_ERR_DTYPE = 19,
    DG_ERR_SIGNED = 20, /**< the dtype of words */
    DG_ERR_N_BYTES = 21,
    DG_ERR_ADDEND_DTYPE = 22,
    DG_ERR_OVERFLOW = 23,
    DG_ERR_NOISE_SAMPLER = 24, /**< the sampler of dg_noise_at */
    DG_ERR_LAST_ITEM = 25,     /**< first_item and n of dg_noise_at */
    DG_ERR_LAWS_KIND = 26,
    DG_ERR_LAWS_PARAMETER = 27, /**< its column holds no number */
    DG_ERR_LAWS_CENTRE = 28,

    /* of a selection or a snapping: */
    DG_ERR_SELECTION_KIND = 29,
    DG_ERR_RATE = 30,
    DG_ERR_LONG_RATE = 31,
    DG_ERR_GAP_BYTES = 32,
    DG_ERR_K = 33,
    DG_ERR_GAPS = 34,
    DG_ERR_N_ROWS = 35,
    DG_ERR_STEP = 36,
    DG_ERR_LONG_STEP = 37,
    DG_ERR_SHORT_STEP = 38, /**< it is doubled, and at most 1/2 */
    DG_ERR_DOUBLINGS = 39
} dg_status;

/** The laws, and the rules of their parameters. a/b is the first parameter, in lowest terms. */
typedef enum dg_law_kind {
    DG_BERNOULLI = 0,         /**< 1 with probability a/b;                  0 <= a/b <= 1; mu = 0 */
    DG_UNIFORM_BELOW = 1,     /**< 0 ... a-1, equally likely;             a >= 1, b = 1; mu = 0 */
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

/** A caller's source of bits. It writes n independent uniform bytes to out. The calling thread calls it, possibly
 *  many times.
 *
 *  Returns: 0 on success; any other value ends the call with DG_ERR_SOURCE.
 */
typedef int (*dg_fill_bytes)(void *context, uint8_t *out, size_t n);

/** The origin of a call's bits. */
typedef enum dg_source_kind {
    DG_SOURCE_GETRANDOM = 0, /**< every byte from the system: getrandom(2), or its equivalent */
    DG_SOURCE_CHACHA20 = 1,  /**< a new key from the system, expanded by ChaCha20 (RFC 8439) */
    DG_SOURCE_CALLER = 2     /**< the caller's function */
} dg_source_kind;

/** A source of bits. NULL for a source means DG_SOURCE_CHACHA20. */
typedef struct dg_source {
    dg_source_kind kind;
    dg_fill_bytes fill; /**< the caller's: called only for bytes that the draws use, in order */
    void *context;      /**< the first argument of fill */
} dg_source;

/** How a fill is run. NULL means: by the calling thread alone, to its end. */
typedef struct dg_run {
    /** The most threads that draw, including the calling one. 0 means 1. There are fewer if the fill does not have
     *  some 0.25 ms of work for each, or if the system gives none. The other threads get no signals, and have ended
     *  when the call returns. With a caller's source only the calling thread draws. */
    size_t threads;
    /** The calling thread calls it about every 20 ms, between two pieces of the fill. It may be NULL. If it returns
     *  other than 0, the fill ends with DG_ERR_STOPPED. The calling thread holds no random bits meanwhile, so pause
     *  may fork. In the child the fill ends with DG_ERR_STOPPED, because the draws so far are the parent's. */
    int (*pause)(void *context);
    void *context; /**< the argument of pause */
} dg_run;

/** A law, and everything that one method of drawing needs. Threads may share it, and the child of a fork may continue to
 *  draw from it. It changes at most once after dg_sampler_new: with DG_AUTO the first call of many draws adds a table.
 *  Calls draw the same before and after that. */
typedef struct dg_sampler dg_sampler;

/** The methods of drawing. All draw the same law. */
typedef enum dg_method {
    /** The first of DG_ISOCHRONOUS, DG_REFERENCE, DG_CELLS that the law has; but calls of many draws are drawn by
     *  DG_CELLS if the law has that. Many are
     *    - 2^16 or more, if on each side of mu at most 127 integers have a weight above 2^-64 (a sigma up to 13.4, a
     *      Laplace scale up to 2.8);
     *    - 2^18 or more of other Laplace laws, and if at most 508 integers have (a sigma up to 53.9);
     *    - 2^19 or more of other laws that DG_ISOCHRONOUS draws;
     *    - 2^12 or more of laws that it does not draw.
     *  So the method is a function of the law and of n. The first such call builds the table. */
    DG_AUTO = 0,

    /** Algorithms 1-3 of Canonne, Kamath and Steinke (2020): every law but the generalised Gaussian. */
    DG_REFERENCE = 1,

    /** Look-up in a table of cells: the laws with a centre. It is the fastest method for many draws. Building the table
     *  takes up to some milliseconds. */
    DG_CELLS = 2,

    /** Attempts whose time is independent of the value: the laws with a centre, if the scale, or sigma, is from 2^-20
     *  to 2^53, floor(mu + 1/2) is below 2^61 in size, and beta is below 64. */
    DG_ISOCHRONOUS = 3
} dg_method;

/** Make a sampler.
 *
 *  Parameters are text, which is read exactly: an optional sign, then an integer ("100"), a quotient of two ("-5/2"),
 *  or a decimal fraction ("0.1"). Integers are decimal, even with leading zeros, or hexadecimal ("0x1f/0x20").
 *  Quotients may be in any terms. Nothing else is a number: no blanks, no exponents ("1e3"), no ".5", no "5.".
 *
 *  Requires:  mu may be NULL, which means 0. beta may be NULL, which means 1; only the generalised Gaussian has it.
 *  Ensures:   DG_OK -> *sampler is new, and the caller frees it with dg_sampler_free; otherwise *sampler is NULL.
 *  Returns:   DG_OK | DG_ERR_NOMEM | a status of a law's argument. A number is too long if it has more than
 *             DG_MAX_PARAMETER_BITS bits in lowest terms, or more than twice as many as written.
 *  Cost:      some 20 microseconds; with DG_CELLS up to some milliseconds.
 */
DG_API dg_status dg_sampler_new(dg_sampler **sampler, dg_law_kind kind, const char *parameter,
                                const char *mu, const char *beta, dg_method method);

/** Return what a status means, in a few words of English: for an argument, its name and its rule. */
DG_API const char *dg_status_text(dg_status status);

/** Free a sampler. It may be NULL. Requires: no thread of this process draws from it. */
DG_API void dg_sampler_free(dg_sampler *sampler);

/** Return the method by which it draws in calls of n draws: never DG_AUTO. */
DG_API dg_method dg_sampler_method(const dg_sampler *sampler, size_t n);

/** Return how many bytes a draw needs at most, as a two's complement integer: room for mu plus or minus 2^64 scales
 *  (standard deviations). So dg_sampler_fill_wide reports that a draw does not fit with a probability below
 *  exp(-2^63). */
DG_API size_t dg_sampler_wide_bytes(const dg_sampler *sampler);

/** Return whether int64 holds a draw, except with a probability below 2^-128. */
DG_API int dg_sampler_fits_int64(const dg_sampler *sampler);

/** Draw n independent samples into an array of machine integers.
 *
 *  Law:       that of the sampler, for every integer, conditional on no error.
 *  Requires:  out has room for n elements of dtype.
 *  Ensures:   DG_OK -> out[0 .. n) holds independent draws.
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept) | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE (a draw does not
 *             fit; by DG_CELLS also, before any draw, if the law is far wider than any dtype or no dtype holds its
 *             centre) | DG_ERR_DTYPE | DG_ERR_STOPPED.
 *  Cost:      O(1) expected arithmetic operations per draw; unbounded in the worst case. The time depends
 *             on the values drawn unless dg_sampler_method(sampler, n) is DG_ISOCHRONOUS.
 */
DG_API dg_status dg_sampler_fill(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                                 const dg_run *run, const dg_source *source);

/** Draw n independent samples of any size: n integers of n_bytes bytes each, one after the other, in two's
 *  complement, least significant byte first. Otherwise as dg_sampler_fill, except that any fill is DG_ERR_N_BYTES if
 *  n_bytes is less than dg_sampler_wide_bytes. */
DG_API dg_status dg_sampler_fill_wide(uint8_t *out, size_t n, size_t n_bytes,
                                      const dg_sampler *sampler, const dg_run *run,
                                      const dg_source *source);

/** Draw items [first_item, first_item + n) of the noise that belongs to a key of 32 bytes. An item depends only on the
 *  law, the key and the item's number, so several devices can draw the same noise in any order, and draw it again.
 *
 *  Anyone who knows the key knows the noise. For a release, take 32 new bytes from the operating system as the key, use
 *  it for that release alone, and wipe it.
 *  Law:       for a uniform key, as far as ChaCha20 cannot be told from a random function, out holds independent
 *             draws of the sampler's law, for every integer. csrc/cells/noise_at.h defines the function.
 *  Requires:  out as for dg_sampler_fill.
 *  Returns:   DG_OK | DG_ERR_NOMEM | DG_ERR_RANGE (an item does not fit) | DG_ERR_DTYPE | DG_ERR_NOISE_SAMPLER (the
 *             method is not DG_CELLS, or the law is so wide that its blocks have more than 2^48 integers: a sigma from
 *             some 2^53 on) | DG_ERR_LAST_ITEM (first_item + n is not below 2^64).
 *  Cost:      some 20 ns per item.
 */
DG_API dg_status dg_noise_at(void *out, size_t n, dg_dtype dtype, const dg_sampler *sampler,
                             uint64_t first_item, const uint8_t *key);

/** The treatment of a sum that the output cannot hold. */
typedef enum dg_overflow {
    DG_REFUSE = 0, /**< it ends the call with DG_ERR_RANGE */
    DG_CLAMP = 1,  /**< it becomes the nearest integer that the output holds */
    DG_REDUCE = 2  /**< every sum becomes its remainder modulo dg_addend.modulus */
} dg_overflow;

/** Integers to which noise is added. */
typedef struct dg_addend {
    const void *values; /**< of dtype, aligned */
    dg_dtype dtype;
    const uint8_t *is_null; /**< item i is 1 if integer i is null, else 0. NULL: none is null */
    dg_overflow overflow;
    uint64_t modulus; /**< for DG_REDUCE; 0 means 2^64 */
} dg_addend;

/** Add noise to integers: out[i] = integer i + a draw, or 0 if integer i is null.
 *
 *  Requires:  out has room for n int64_t (with DG_REDUCE they are uint64_t, from 0 to modulus - 1); addend has n
 *             integers.
 *  Ensures:   DG_OK -> every sum is exact. From given bits the draws are those of dg_sampler_fill.
 *  Returns:   as dg_sampler_fill; DG_ERR_RANGE also if int64 does not hold a sum that is not null, and sums are
 *             refused; DG_ERR_ADDEND_DTYPE or DG_ERR_OVERFLOW if there is no such dg_dtype or dg_overflow.
 *  Cost:      that of the draws, and one pass over the integers while they are in a core's cache.
 */
DG_API dg_status dg_sampler_add(void *out, size_t n, const dg_addend *addend,
                                const dg_sampler *sampler, const dg_run *run,
                                const dg_source *source);

/** Find bounds of n integers, for which noise needs room: ends[0] <= each integer <= ends[1].
 *
 *  Nulls do not count. The ends are int64_t, or uint64_t if the dtype is unsigned. If `exactly` is not 0, some integers
 *  are equal to them. Otherwise they are -2^k (0 if the dtype is unsigned) and 2^k - 1 for the least such k, at a third
 *  of the cost. If there is no integer, or all are 0, both ends are 0.
 *  Returns:   DG_OK | DG_ERR_ADDEND_DTYPE | DG_ERR_STOPPED: by run->pause.
 */
DG_API dg_status dg_addend_ends(uint64_t ends[2], size_t n, const dg_addend *addend, int exactly,
                                const dg_run *run);

/** How a column stores its numbers. Each is read exactly. */
typedef enum dg_number_format {
    DG_INTEGERS = 0, /**< int64_t */
    DG_FLOATS = 1,   /**< a finite IEEE 754 binary64, by its bits */
    DG_RATIOS = 2,   /**< two int64_t: numerator and denominator, in lowest terms */
    DG_ROOTS = 3     /**< a finite IEEE 754 binary64 whose square is the number; no centre */
} dg_number_format;

/** A number for each law: that of law i begins at words + i stride. With a stride of 0 all laws have the same one. */
typedef struct dg_column {
    const uint64_t *words;
    size_t stride;
    dg_number_format format;
} dg_column;

/** Many laws of one kind, which is not the generalised Gaussian, and how they are drawn.
 *
 *  method:    DG_AUTO draws isochronously, in lanes of vectors, if these hold the law. Among 256 laws at a time, those
 *             that they do not hold follow, by Algorithms 1-3. DG_ISOCHRONOUS requires that lanes hold all laws.
 *             DG_REFERENCE draws by Algorithms 1-3, in order. There is no other method.
 *
 *  Lanes hold Laplace laws of scales from 2^-11 to 2^42, and Gaussian ones of sigma2 from 2^-16 to 2^62, or from 2^-4
 *  if the centre is not an integer. */
typedef struct dg_laws {
    dg_law_kind kind;
    dg_column parameter, centre;
    dg_method method;
} dg_laws;

/** Draw once from each of n laws: out[i] = a draw of law i.
 *
 *  Requires:  out as for dg_sampler_fill; no float among the centres is beyond 2^62.
 *  Ensures:   as dg_sampler_fill. Before anything is drawn, *bad (bad may be NULL) is set to the first law that breaks
 *             a rule, or that lanes do not hold with DG_ISOCHRONOUS. It is n if there is none, and means nothing if the
 *             call is stopped.
 *  Returns:   as dg_sampler_fill, or a status of a law's argument. Law *bad breaks the rule of its kind, or
 *             DG_ERR_LAWS_PARAMETER, DG_ERR_LAWS_CENTRE: its column has no such format, or an item that is no number.
 *  Cost:      with AVX-512 some 35 ns per draw if vectors hold the law; other laws are made anew for each draw.
 */
DG_API dg_status dg_laws_fill(void *out, size_t n, dg_dtype dtype, const dg_laws *laws, size_t *bad,
                              const dg_run *run, const dg_source *source);

/** Fill an array with n independent uniform words: every bit of an unsigned dtype is fair.
 *
 *  Requires:  out has room for n elements of dtype.
 *  Ensures:   DG_OK -> out holds the words; each is read least significant byte first.
 *  Returns:   as dg_sampler_fill; DG_ERR_SIGNED if dtype is not unsigned.
 */
DG_API dg_status dg_words_fill(void *out, size_t n, dg_dtype dtype, const dg_run *run,
                               const dg_source *source);

/** Return the version of the library: the DG_VERSION it was built with. */
DG_API const char *dg_version(void);

/** Return the version of GMP, as it reports itself at run time. */
DG_API const char *dg_gmp_version(void);

/** Return the version of MPFR, as it reports itself at run time. */
DG_API const char *dg_mpfr_version(void);

/** Return whether MPFR keeps its flags, its range of exponents and its caches for each thread. If it does not,
 *  threads that build or draw at once would change each other's, and callers must not continue. */
DG_API int dg_mpfr_is_thread_local(void);

/* cffi: end */

#ifdef __cplusplus
}
#endif

#endif
