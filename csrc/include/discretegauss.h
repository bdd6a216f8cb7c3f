/** discretegauss: exact integer noise for differential privacy.
 *
 *  This header is the only definition of the C API. C includes it, cffi reads the region between
 * the two "cffi" marks (plain declarations only there: no #if, no macro but simple integer
 * constants), and people start here.
 *
 *  Three ideas:
 *  - a law (dg_law) is a set of parameters made ready for drawing: immutable, free of randomness,
 *    shareable between threads;
 *  - a source (dg_source) says where bits come from, and is passed to every call that draws;
 *  - no random state outlives a call: what a call took from its source and did not use is wiped.
 *
 *  No function here aborts, prints, retries silently or falls back to other randomness.
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
 *  process when an allocation fails, so its operands stay small (under 1 MiB in any intermediate).
 */
#define DG_MAX_PARAMETER_BITS 65536

/** What a call reports. Everything but DG_OK means: the output holds no draws. */
typedef enum dg_status {
    DG_OK = 0,
    DG_ERR_ENTROPY = 1,   /**< the operating system gave no randomness; errno says why */
    DG_ERR_SOURCE = 2,    /**< the caller's source reported a failure */
    DG_ERR_NOMEM = 3,     /**< an allocation of ours failed */
    DG_ERR_RANGE = 4,     /**< a draw does not fit the output type */
    DG_ERR_PARAMETER = 5, /**< a parameter breaks the rule of its law */
    DG_ERR_TOO_LONG = 6   /**< a parameter has more than DG_MAX_PARAMETER_BITS bits */
} dg_status;

/** The laws and their parameters. a/b is the first rational, mu = c/d the second. */
typedef enum dg_law_kind {
    DG_BERNOULLI = 0,        /**< 1 with probability a/b;                  0 <= a/b <= 1; mu = 0 */
    DG_UNIFORM_BELOW = 1,    /**< 0 ... a-1, all alike;                    a >= 1, b = 1; mu = 0 */
    DG_BERNOULLI_EXP = 2,    /**< 1 with probability exp(-a/b);            a/b >= 0;      mu = 0 */
    DG_GEOMETRIC_EXP = 3,    /**< Pr[k] ~ exp(-k a/b), k >= 0;             a/b > 0;       mu = 0 */
    DG_DISCRETE_LAPLACE = 4, /**< Pr[x] ~ exp(-|x - mu| / scale);          scale = a/b > 0       */
    DG_DISCRETE_GAUSSIAN = 5 /**< Pr[x] ~ exp(-(x - mu)^2 / (2 sigma2));   sigma2 = a/b > 0      */
} dg_law_kind;

/** Which arithmetic draws. Both give the same draws from the same bits; only tests need to choose.
 */
typedef enum dg_arithmetic {
    DG_ARITHMETIC_AUTO = 0, /**< machine words where the parameters fit, GMP elsewhere */
    DG_ARITHMETIC_GMP = 1   /**< GMP always */
} dg_arithmetic;

/** Output types of dg_law_fill, all in the machine's byte order. */
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

/** An integer of any size as it comes in: two's complement, least significant byte first. */
typedef struct dg_integer {
    const uint8_t *bytes;
    size_t n_bytes;
} dg_integer;

/** The parameters of a law: a/b and mu = c/d, in lowest terms, b >= 1, d >= 1. */
typedef struct dg_parameters {
    dg_integer a, b, c, d;
} dg_parameters;

/** A caller's source of bits: writes n independent uniform bytes to out.
 *
 *  Returns: 0 on success; anything else ends the draw with DG_ERR_SOURCE.
 */
typedef int (*dg_fill_bytes)(void *context, uint8_t *out, size_t n);

/** Where bits come from. fill == NULL: every byte from getrandom(2). */
typedef struct dg_source {
    dg_fill_bytes fill; /**< asked only for bytes that the draws are certain to use, in order */
    void *context;
} dg_source;

/** A law made ready for drawing; immutable. */
typedef struct dg_law dg_law;

/** Prepare a law.
 *
 *  Ensures:   DG_OK -> *law is a new law, to be freed by dg_law_free; otherwise *law is NULL.
 *  Returns:   DG_OK | DG_ERR_PARAMETER | DG_ERR_TOO_LONG | DG_ERR_NOMEM.
 */
DG_API dg_status dg_law_new(dg_law **law, dg_law_kind kind, dg_arithmetic arithmetic,
                            const dg_parameters *parameters);

/** Free a law. law may be NULL. */
DG_API void dg_law_free(dg_law *law);

/** 1 if the law draws in machine words, 0 if by GMP. */
DG_API int dg_law_uses_words(const dg_law *law);

/** Bytes a draw of the law needs, at most, as a two's complement integer: room for mu plus or minus
 *  2^64 scales (standard deviations), so that dg_law_fill_wide reports DG_ERR_RANGE with a
 *  probability below exp(-2^63). */
DG_API size_t dg_law_wide_bytes(const dg_law *law);

/** Draw n independent samples into an array of machine integers.
 *
 *  Law:       that of the law given, for every integer, conditional on no error.
 *  Requires:  out has room for n elements of dtype.
 *  Ensures:   DG_OK -> out[0 .. n) hold independent draws; otherwise out[0 .. n) is all zero bytes.
 *  Returns:   DG_OK | DG_ERR_ENTROPY (errno kept) | DG_ERR_SOURCE | DG_ERR_NOMEM | DG_ERR_RANGE.
 *  Cost:      O(1) expected arithmetic operations a draw; unbounded in the worst case; the time
 *             depends on the values drawn.
 */
DG_API dg_status dg_law_fill(void *out, size_t n, dg_dtype dtype, const dg_law *law,
                             const dg_source *source);

/** Draw n independent samples of any size: n integers of n_bytes bytes each, one after the other,
 *  two's complement, least significant byte first. Otherwise as dg_law_fill. */
DG_API dg_status dg_law_fill_wide(uint8_t *out, size_t n, size_t n_bytes, const dg_law *law,
                                  const dg_source *source);

/** Versions of the two libraries below us, as they report themselves at run time. */
DG_API const char *dg_gmp_version(void);
DG_API const char *dg_mpfr_version(void);

/* cffi: end */

#ifdef __cplusplus
}
#endif

#endif
