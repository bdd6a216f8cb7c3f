/* ChaCha20: the RFC's vectors with every kernel; the same stream from every kernel, and no byte beyond it; the kernel
 * that was requested, or a refusal. */
#include "base/isa.h"
#include "random/chacha20.h"
#include "random/chacha20_kernels.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = DG_CHACHA20_BLOCK, MOST = 67, GUARD = 128 };

static const char *const names[] = {"auto",  "portable", "AVX2",  "AVX-512",
                                    "VBMI2", "NEON",     "SSE4.1"};
enum { N_ISAS = sizeof names / sizeof *names };

static void bytes_of(uint8_t *out, size_t n, const char *hex)
{
    for (size_t i = 0; i < n; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], 0}, *end;
        out[i] = (uint8_t)strtoul(digits, &end, 16);
        if (end != digits + 2) {
            abort();
        }
    }
}

/* RFC 8439, 2.3.2 and A.1, and the stream of the example in 2.4.2: hexadecimal, bytes in order. */
static const struct {
    const char *where, *key, *nonce;
    uint32_t counter;
    const char *stream;
} vectors[] = {
    {"2.3.2", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "000000090000004a00000000", 1,
     "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
     "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"},
    {"2.4.2", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     "000000000000004a00000000", 1,
     "224f51f3401bd9e12fde276fb8631ded8c131f823d2c06e27e4fcaec9ef3cf78"
     "8a3b0aa372600a92b57974cded2b9334794cba40c63e34cdea212c4cf07d41b7"
     "69a6749f3f630f4122cafe28ec4dc47e26d4346d70b98c73f3e9c53ac40c5945"
     "398b6eda1a832c89c167eacd901d7e2bf363"},
    {"A.1 #1", "0000000000000000000000000000000000000000000000000000000000000000",
     "000000000000000000000000", 0,
     "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
     "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"},
    {"A.1 #2", "0000000000000000000000000000000000000000000000000000000000000000",
     "000000000000000000000000", 1,
     "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
     "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"},
    {"A.1 #3", "0000000000000000000000000000000000000000000000000000000000000001",
     "000000000000000000000000", 1,
     "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
     "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0"},
    {"A.1 #4", "00ff000000000000000000000000000000000000000000000000000000000000",
     "000000000000000000000000", 2,
     "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
     "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096"},
    {"A.1 #5", "0000000000000000000000000000000000000000000000000000000000000000",
     "000000000000000000000002", 0,
     "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
     "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d"},
};

static void test_vectors(dg_isa isa)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint8_t key[DG_CHACHA20_KEY], nonce[DG_CHACHA20_NONCE], expected[2 * BLOCK], out[2 * BLOCK];
        size_t n = strlen(vectors[i].stream) / 2;
        bytes_of(key, sizeof key, vectors[i].key);
        bytes_of(nonce, sizeof nonce, vectors[i].nonce);
        bytes_of(expected, n, vectors[i].stream);
        CHECK(
            dg_chacha20_rfc8439(out, (n + BLOCK - 1) / BLOCK, key, nonce, vectors[i].counter, isa),
            "%s", names[isa]);
        CHECK(memcmp(out, expected, n) == 0, "%s: RFC 8439, %s", names[isa], vectors[i].where);
    }
}

static void random_bytes(uint8_t *out, size_t n, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)next_word(state);
    }
}

/** Compute one block by the portable kernel with the RFC's parameters, which the RFC's vectors check. This defines the
 *  stream of dg_chacha20_blocks. */
static void expected_block(uint8_t out[BLOCK], const uint8_t key[DG_CHACHA20_KEY], uint64_t block)
{
    uint8_t nonce[DG_CHACHA20_NONCE] = {0};
    for (size_t i = 0; i < 4; i++) {
        nonce[i] = (uint8_t)(block >> (32 + 8 * i));
    }
    CHECK(dg_chacha20_rfc8439(out, 1, key, nonce, (uint32_t)block, DG_ISA_PORTABLE), "portable");
}

static uint8_t expected[MOST * BLOCK], memory[GUARD + MOST * BLOCK + GUARD], before[sizeof memory];

/** n_blocks from first_block on, for every n_blocks up to MOST, each at another alignment, are the expected blocks, and
 *  no byte around them changes. */
static void test_stream(dg_isa isa, uint64_t first_block, uint64_t *state)
{
    uint8_t key[DG_CHACHA20_KEY];
    random_bytes(key, sizeof key, state);
    for (uint64_t i = 0; i < MOST; i++) {
        expected_block(expected + i * BLOCK, key, first_block + i);
    }
    for (size_t n_blocks = 0; n_blocks <= MOST; n_blocks++) {
        size_t at = (size_t)(next_word(state) % GUARD), n = n_blocks * BLOCK;
        random_bytes(memory, sizeof memory, state);
        memcpy(before, memory, sizeof memory);
        CHECK(dg_chacha20_blocks_isa(memory + at, n_blocks, key, first_block, isa), "%s",
              names[isa]);
        CHECK(memcmp(memory + at, expected, n) == 0, "%s: %zu blocks from %llu", names[isa],
              n_blocks, (unsigned long long)first_block);
        CHECK(memcmp(memory, before, at) == 0, "%s: %zu blocks: written before out", names[isa],
              n_blocks);
        CHECK(memcmp(memory + at + n, before + at + n, sizeof memory - at - n) == 0,
              "%s: %zu blocks: written past the end", names[isa], n_blocks);
    }
}

static void test_streams(dg_isa isa)
{
    /* around the carry into the high word, where a signed comparison would fail, and at both ends */
    static const uint64_t firsts[] = {0,
                                      1,
                                      (UINT64_C(1) << 31) - 9,
                                      (UINT64_C(1) << 32) - 1,
                                      (UINT64_C(1) << 32) - 5,
                                      (UINT64_C(1) << 32) - 37,
                                      UINT64_C(1) << 32,
                                      (UINT64_C(3) << 32) - 16,
                                      (UINT64_C(1) << 63) - 30,
                                      UINT64_C(0x123456789abcdef0),
                                      UINT64_MAX - MOST + 1};
    uint64_t state = 8439;
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        test_stream(isa, firsts[i], &state);
    }
}

/** dg_chacha20_blocks gives the stream of dg_chacha20_blocks_isa. */
static void test_auto(void)
{
    uint64_t state = 1;
    uint8_t key[DG_CHACHA20_KEY];
    random_bytes(key, sizeof key, &state);
    CHECK(dg_chacha20_blocks_isa(expected, MOST, key, 11, DG_ISA_PORTABLE), "portable");
    dg_chacha20_blocks(memory, MOST, key, 11, &(dg_prefetch){0});
    CHECK(memcmp(memory, expected, sizeof expected) == 0, "another stream");
}

/** An instruction set gets its kernel, or a refusal, and then nothing is written. "auto" gets the kernel of the best
 *  instruction set. */
static void test_dispatch(void)
{
    static const size_t lanes[N_ISAS] = {0, 4, 16, 16, 16, 8, 4};
    static const dg_isa kernel_of[N_ISAS] = {DG_ISA_AUTO,    DG_ISA_PORTABLE, DG_ISA_AVX2,
                                             DG_ISA_AVX512,  DG_ISA_AVX512,   DG_ISA_NEON,
                                             DG_ISA_PORTABLE}; /* two have no kernel of their own */
    static const uint8_t key[DG_CHACHA20_KEY];
    CHECK(dg_isa_available(dg_isa_best()) && dg_isa_best() != DG_ISA_AUTO, "%d",
          (int)dg_isa_best());
    CHECK(dg_chacha20_kernel_for(DG_ISA_AUTO) == dg_chacha20_kernel_for(dg_isa_best()), "auto");
    CHECK(dg_isa_available(DG_ISA_AUTO) && dg_isa_available(DG_ISA_PORTABLE), "always there");
    CHECK(!dg_isa_available((dg_isa)N_ISAS), "there is no such instruction set");
    for (int i = DG_ISA_PORTABLE; i <= N_ISAS; i++) {
        dg_isa isa = (dg_isa)i;
        const dg_chacha20_kernel *kernel = dg_chacha20_kernel_for(isa);
        CHECK((kernel != NULL) == dg_isa_available(isa), "%d", i);
        if (kernel != NULL) {
            CHECK(kernel->isa == kernel_of[i] && kernel->lanes == lanes[i], "%s: another kernel",
                  names[i]);
            CHECK(lanes[i] <= lanes[dg_isa_best()], "%s is better than the best", names[i]);
        } else {
            memcpy(before, memory, sizeof memory);
            CHECK(!dg_chacha20_blocks_isa(memory, 1, key, 0, isa), "%d: not refused", i);
            CHECK(!dg_chacha20_rfc8439(memory, 1, key, key, 0, isa), "%d: not refused", i);
            CHECK(memcmp(memory, before, sizeof memory) == 0, "%d: written", i);
        }
    }
}

int main(void)
{
    for (int i = DG_ISA_PORTABLE; i < N_ISAS; i++) {
        if (dg_isa_available((dg_isa)i)) {
            printf("%s\n", names[i]);
            test_vectors((dg_isa)i);
            test_streams((dg_isa)i);
        }
    }
    test_auto();
    test_dispatch();
    return report("test_chacha20");
}
