#include "sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64], x[8];
    for (size_t i = 0; i < 16; i++) {
        const uint8_t *p = block + 4 * i;
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(x, state, sizeof x);
    for (size_t i = 0; i < 64; i++) { /* x: a ... h of the standard */
        uint32_t sum1 = rotate(x[4], 6) ^ rotate(x[4], 11) ^ rotate(x[4], 25);
        uint32_t sum0 = rotate(x[0], 2) ^ rotate(x[0], 13) ^ rotate(x[0], 22);
        uint32_t choice = (x[4] & x[5]) ^ (~x[4] & x[6]);
        uint32_t majority = (x[0] & x[1]) ^ (x[0] & x[2]) ^ (x[1] & x[2]);
        uint32_t t = x[7] + sum1 + choice + K[i] + w[i];
        memmove(x + 1, x, 7 * sizeof *x);
        x[4] += t;
        x[0] = t + sum0 + majority;
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += x[i];
    }
}

void sha256_open(sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->n_bytes = 0;
}

void sha256_add(sha256 *hash, const void *data, size_t n)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < n; i++) {
        hash->block[hash->n_bytes++ % 64] = bytes[i];
        if (hash->n_bytes % 64 == 0) {
            compress(hash->state, hash->block);
        }
    }
}

void sha256_close(char hex[65], sha256 *hash)
{
    const uint64_t n_bits = 8 * hash->n_bytes;
    uint8_t length[8];
    for (size_t i = 0; i < 8; i++) {
        length[i] = (uint8_t)(n_bits >> (56 - 8 * i));
    }
    sha256_add(hash, "\x80", 1);
    while (hash->n_bytes % 64 != 56) {
        sha256_add(hash, "", 1);
    }
    sha256_add(hash, length, 8);
    for (size_t i = 0; i < 8; i++) {
        (void)snprintf(hex + 8 * i, 9, "%08x", (unsigned)hash->state[i]);
    }
}
