/* SHA-256 (FIPS 180-4), for the digests of test vectors. */
#ifndef DG_TESTS_SHA256_H
#define DG_TESTS_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t n_bytes; /* so far */
} sha256;

void sha256_open(sha256 *hash);
void sha256_add(sha256 *hash, const void *data, size_t n);

/** hex = the digest in hexadecimal, and a zero byte. */
void sha256_close(char hex[65], sha256 *hash);

#endif
