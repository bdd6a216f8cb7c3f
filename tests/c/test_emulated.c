/* The emulated AVX-512 functions (emulated512/) give what the processor's own instructions of AVX2 and BMI2 give, half by
 * half. Those that have no such instruction give what an obvious loop gives. Operands are random, or numbers at the ends
 * of their ranges. */
#include "support.h"

#include "base/isa.h"

#include <string.h>

enum { SKIPPED = 77 };

#if DG_ISA_X86_64

#include "emulated512/immintrin.h"

enum { ROUNDS = 2000, HALF = 32 };

static __m512i a, b, got;
static uint64_t state = 20261129;

static void fill(__m512i *out)
{
    static const uint16_t ends[] = {0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF};
    const uint64_t how = next_word(&state);
    for (size_t i = 0; i < 32; i++) {
        const uint64_t word = next_word(&state);
        out->w[i] = how % 4 == 0 || word % 4 == 0 ? ends[word / 4 % 9] : (uint16_t)(word >> 48);
    }
}

/* --- instructions: of half a and half b --- */

#define STORE "vmovdqu %%ymm0, %0\n\tvzeroupper"
#define OUT "=m"(*(uint8_t (*)[HALF])out)
#define IN(x) "m"(*(const uint8_t (*)[HALF])(x))
#define RUN(instructions)                                                                          \
    __asm__ volatile("vmovdqu %1, %%ymm0\n\t" instructions "\n\t" STORE                            \
                     : OUT                                                                         \
                     : IN(x), IN(y)                                                                \
                     : "xmm0", "xmm1")
#define OF_BOTH(name) name " %2, %%ymm0, %%ymm0"
#define AND_THEN(name) "\n\t" name " %1, %%ymm0, %%ymm0"

/** Check one function. instructions: what RUN does with halves; step: bytes of a that make half a result; by: bytes from
 *  the first half of b to the second. */
#define AS(value, instructions, step, by)                                                          \
    do {                                                                                           \
        got = (value);                                                                             \
        for (size_t half = 0; half < 2; half++) {                                                  \
            uint8_t out[HALF];                                                                     \
            const uint8_t *x = a.b + (step) * half, *y = b.b + (by) * half;                        \
            RUN(instructions);                                                                     \
            CHECK(memcmp(out, got.b + HALF * half, HALF) == 0, #value);                            \
        }                                                                                          \
    } while (0)

#define TWO(name, instruction) AS(_mm512_##name(a, b), OF_BOTH(instruction), HALF, HALF)
#define SHIFT(name, instruction) AS(_mm512_##name(a, b), OF_BOTH(instruction), HALF, 0)
#define CONVERT(name, instruction, step) AS(_mm512_##name(a), instruction " %1, %%ymm0", step, 0)

/** Return elements of `bytes` bytes that are all ones where a mask is set, as instructions compare. */
static __m512i spread(uint64_t mask, size_t bytes)
{
    __m512i out;
    for (size_t i = 0; i < 64; i++) {
        out.b[i] = mask >> (i / bytes) & 1 ? 0xFF : 0;
    }
    return out;
}

#define COMPARE(mask, bytes, instructions) AS(spread(mask, bytes), instructions, HALF, HALF)

static void check_instructions(void)
{
    TWO(and_si512, "vpand");
    TWO(or_si512, "vpor");
    TWO(xor_si512, "vpxor");
    TWO(sub_epi16, "vpsubw");
    TWO(add_epi64, "vpaddq");
    TWO(adds_epi16, "vpaddsw");
    TWO(subs_epi16, "vpsubsw");
    TWO(mulhi_epu16, "vpmulhuw");
    TWO(mulhi_epi16, "vpmulhw");
    TWO(unpacklo_epi8, "vpunpcklbw");
    TWO(unpackhi_epi8, "vpunpckhbw");
    COMPARE(_mm512_cmpeq_epi8_mask(a, b), 1, OF_BOTH("vpcmpeqb"));
    COMPARE(_mm512_cmpge_epu8_mask(a, b), 1, OF_BOTH("vpmaxub") AND_THEN("vpcmpeqb"));
    COMPARE(~_mm512_cmpgt_epu8_mask(a, b), 1, OF_BOTH("vpminub") AND_THEN("vpcmpeqb"));
    COMPARE(_mm512_cmpge_epu16_mask(a, b), 2, OF_BOTH("vpmaxuw") AND_THEN("vpcmpeqw"));
    COMPARE(_mm512_cmple_epu16_mask(a, b), 2, OF_BOTH("vpminuw") AND_THEN("vpcmpeqw"));
    COMPARE(~_mm512_cmplt_epu16_mask(a, b), 2, OF_BOTH("vpmaxuw") AND_THEN("vpcmpeqw"));
    COMPARE(_mm512_movepi8_mask(a), 1,
            "vpxor %%ymm1, %%ymm1, %%ymm1\n\tvpcmpgtb %%ymm0, %%ymm1, %%ymm0");
    AS(_mm512_mask_blend_epi8(_mm512_movepi8_mask(a), a, b), "vpblendvb %%ymm0, %2, %%ymm0, %%ymm0",
       HALF, HALF);
    CONVERT(cvtepu8_epi16, "vpmovzxbw", 16);
    CONVERT(cvtepu8_epi32, "vpmovzxbd", 8);
    CONVERT(cvtepu8_epi64, "vpmovzxbq", 4);
    CONVERT(cvtepi8_epi16, "vpmovsxbw", 16);
    CONVERT(cvtepi8_epi32, "vpmovsxbd", 8);
    CONVERT(cvtepi8_epi64, "vpmovsxbq", 4);
    CONVERT(cvtepi16_epi64, "vpmovsxwq", 8);
    CONVERT(cvtepi32_epi64, "vpmovsxdq", 16);
}

/** Check shifts; b is the number of places. */
static void check_shifts(unsigned n)
{
    b = _mm_cvtsi32_si128((int)n);
    SHIFT(sll_epi16, "vpsllw");
    SHIFT(sll_epi32, "vpslld");
    SHIFT(sll_epi64, "vpsllq");
    SHIFT(srl_epi16, "vpsrlw");
    SHIFT(srl_epi32, "vpsrld");
    SHIFT(srl_epi64, "vpsrlq");
    AS(_mm512_slli_epi32(a, n), OF_BOTH("vpslld"), HALF, 0);
    AS(_mm512_slli_epi64(a, n), OF_BOTH("vpsllq"), HALF, 0);
    AS(_mm512_srai_epi16(a, n), OF_BOTH("vpsraw"), HALF, 0);
    AS(_mm512_srai_epi32(a, n), OF_BOTH("vpsrad"), HALF, 0);
    got = _mm512_srai_epi64(a, n);
    for (size_t i = 0; i < 8; i++) { /* AVX2 has no such instruction */
        const uint64_t sign = a.q[i] >> 63 ? UINT64_MAX : 0;
        const uint64_t moved = n < 64 ? a.q[i] >> n : 0;
        const uint64_t filled = n == 0 ? 0 : n < 64 ? sign << (64 - n) : sign;
        CHECK(got.q[i] == (moved | filled), "srai_epi64, %u", n);
    }
}

static void check_words(uint64_t x, uint64_t mask)
{
    uint64_t out;
    __asm__("pdep %2, %1, %0" : "=r"(out) : "r"(x), "r"(mask));
    CHECK(_pdep_u64(x, mask) == out, "pdep");
    __asm__("bzhi %2, %1, %0" : "=r"(out) : "r"(x), "r"(mask) : "cc");
    CHECK(_bzhi_u64(x, (unsigned)mask) == out, "bzhi, %u", (unsigned)mask);
    __asm__("bzhi %2, %1, %0" : "=r"(out) : "r"(x), "r"(mask % 65) : "cc");
    CHECK(_bzhi_u64(x, (unsigned)(mask % 65)) == out, "bzhi, %u", (unsigned)(mask % 65));
    __asm__("popcnt %1, %0" : "=r"(out) : "r"(x) : "cc");
    CHECK((uint64_t)_mm_popcnt_u64(x) == out, "popcnt");
}

static void check_loops(uint64_t mask)
{
    __m512i wanted = {{0}}, index;
    size_t n = 0;
    fill(&index);
    for (size_t i = 0; i < 64; i++) {
        const size_t place = index.b[i] & 127;
        wanted.b[i] = place < 64 ? a.b[place] : b.b[place - 64];
    }
    got = _mm512_permutex2var_epi8(a, index, b);
    CHECK(memcmp(&got, &wanted, 64) == 0, "permutex2var_epi8");
    got = _mm512_permutexvar_epi64(index, a);
    for (size_t i = 0; i < 8; i++) {
        CHECK(got.q[i] == a.q[index.q[i] & 7], "permutexvar_epi64");
    }
    memset(&wanted, 0, sizeof wanted);
    for (size_t i = 0; i < 64; i++) {
        if (mask >> i & 1) {
            wanted.b[n++] = a.b[i];
        }
    }
    got = _mm512_maskz_compress_epi8(mask, a);
    CHECK(memcmp(&got, &wanted, 64) == 0, "compress_epi8");
    got = _mm512_maskz_expand_epi8(mask, got);
    for (size_t i = 0; i < 64; i++) {
        CHECK(got.b[i] == (mask >> i & 1 ? a.b[i] : 0), "expand_epi8");
    }
    const __m512i words = _mm512_mask_sub_epi16(index, (uint32_t)mask, a, b);
    const __m512i longs = _mm512_mask_sub_epi64(index, (uint8_t)mask, a, b);
    for (size_t i = 0; i < 32; i++) {
        CHECK(words.w[i] == (mask >> i & 1 ? (uint16_t)(a.w[i] - b.w[i]) : index.w[i]), "mask_sub");
        CHECK(i >= 8 || longs.q[i] == (mask >> i & 1 ? a.q[i] - b.q[i] : index.q[i]), "mask_sub");
    }
    for (unsigned i = 0; i < 4; i++) {
        const __m512i quarter = _mm512_extracti32x4_epi32(a, i);
        const __m512i half = _mm512_extracti64x4_epi64(a, i / 2);
        CHECK(memcmp(&quarter, a.b + 16 * i, 16) == 0, "extracti32x4, %u", i);
        CHECK(memcmp(&half, a.b + 32 * (i / 2), 32) == 0, "extracti64x4, %u", i / 2);
    }
}

int main(void)
{
    if (!dg_isa_available(DG_ISA_AVX2) || !__builtin_cpu_supports("bmi2")) {
        return SKIPPED;
    }
    for (size_t i = 0; i < ROUNDS; i++) {
        fill(&a);
        fill(&b);
        check_instructions();
        check_words(a.q[0], b.q[0]);
        check_loops(i % 8 == 0 ? UINT64_MAX << (i / 8 % 64) : a.q[1]);
        check_shifts((unsigned)(i % 70));
    }
    return report("emulated AVX-512");
}

#else
int main(void)
{
    return SKIPPED;
}
#endif
