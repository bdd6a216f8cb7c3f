// Noise by key and item on a GPU: each draw is the one that dg_noise_at makes on the CPU (cells/noise_at.h).
//
// Compiled with -DITEM=int, or "long long": the type of items; and -DWORDS=1, or 2 where a tick has more than 16 bits.
//
// A thread makes a block of ChaCha20 and looks up its items. Most items are in full cells, and done. Special items wait
// in a queue in shared memory until a whole thread block has some, so that warps decide them together. One thread writes
// an item, once, so the order of threads does not matter and noise can be added in place.
//
// A height of 52 bits decides most attempts that an arc leaves open (settle). The kernel notes the items that are still
// open, fewer than one of 10^9, in the call, and the host draws them by dg_noise_at. Proof: csrc/cells/PROOF.md, lemma 27.
#include "noise_law.h"

typedef unsigned long long u64;
typedef long long i64;

const unsigned THREADS = 256, BLOCK_WORDS = 16, ITEMS = BLOCK_WORDS / WORDS, TILE = THREADS * ITEMS;
const unsigned SPECIAL = 255, MOST_IN_DOUBT = 256;
#ifndef QUEUE // at most 7 % of a tile's items are special, so the queue is hardly ever full
#define QUEUE (3 * THREADS)
#endif
enum { FAILED, ACCEPTED, IN_DOUBT };

// Shared by a launch and the host, which wipes it.
struct call_t {
    unsigned key[8];
    u64 n_in_doubt, n_refused; // n_refused counts sums that do not fit
    i64 least, greatest;       // of the values that noise is added to
    u64 item[MOST_IN_DOUBT];
    i64 drawn[MOST_IN_DOUBT]; // the host's draws, for `finish`
};

// Cell k of a block x.
#define CELL(k)                                                                                    \
    (WORDS == 1 ? (u64)x[k] : (u64)x[(2 * (k) + 1) % BLOCK_WORDS] << 32 | x[2 * (k) % BLOCK_WORDS])

// --- ChaCha20 ---

__device__ __forceinline__ unsigned rotated(unsigned x, unsigned n)
{
    return __funnelshift_l(x, x, n);
}

__device__ __forceinline__ void quarter(unsigned &a, unsigned &b, unsigned &c, unsigned &d)
{
    a += b, d = rotated(d ^ a, 16);
    c += d, b = rotated(b ^ c, 12);
    a += b, d = rotated(d ^ a, 8);
    c += d, b = rotated(b ^ c, 7);
}

// x = a block.
__device__ __forceinline__ void chacha20(unsigned x[BLOCK_WORDS], const unsigned *k, u64 number,
                                         unsigned attempt, unsigned depth)
{
    const unsigned low = (unsigned)number, high = (unsigned)(number >> 32);
    const unsigned start[BLOCK_WORDS] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, k[0], k[1],
                                         k[2],       k[3],       k[4],       k[5],       k[6], k[7],
                                         low,        high,       attempt,    depth};
#pragma unroll
    for (unsigned i = 0; i < BLOCK_WORDS; i++) {
        x[i] = start[i];
    }
#pragma unroll
    for (int round = 0; round < 10; round++) {
        quarter(x[0], x[4], x[8], x[12]);
        quarter(x[1], x[5], x[9], x[13]);
        quarter(x[2], x[6], x[10], x[14]);
        quarter(x[3], x[7], x[11], x[15]);
        quarter(x[0], x[5], x[10], x[15]);
        quarter(x[1], x[6], x[11], x[12]);
        quarter(x[2], x[7], x[8], x[13]);
        quarter(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (unsigned i = 0; i < BLOCK_WORDS; i++) {
        x[i] += start[i];
    }
}

// --- heights: lane_attempt.h and lane_power.h, whose lemmas bound the errors; in units of 2^-52 ---

// floor(a b / 2^52). Requires: a < 2^52.
__device__ __forceinline__ u64 high(u64 a, u64 b)
{
    return __umul64hi(a << 12, b);
}

// 2^-x of quarters and of sixteenths; 16/(17 + i) in units of 2^-8, and logarithms of those, of 2^-53.
__constant__ u64 quarters[4] = {0x10000000000000, 0x0D744FCCAD69D6, 0x0B504F333F9DE6,
                                0x09837F0518DB8A};
__constant__ u64 sixteenths[4] = {0x0F5257D152486C, 0x0EAC0C6E7DD243, 0x0E0CCDEEC2A94E,
                                  0x0D744FCCAD69D6};
__constant__ unsigned char inverses[16] = {0xF0, 0xE3, 0xD7, 0xCC, 0xC3, 0xBA, 0xB2, 0xAA,
                                           0xA3, 0x9D, 0x97, 0x92, 0x8D, 0x88, 0x84, 0x80};
__constant__ u64 logs[16] = {
    0x02FAC092D9F76A, 0x058CEA2FD0DF39, 0x080ECDDE7D30EB, 0x0A7B7DD96762CD,
    0x0C90C004926E9E, 0x0EBF36055E1ABD, 0x10C6CAAF0C5597, 0x12E644FAC04FD8,
    0x14D7380DCC422D, 0x16927781D932A9, 0x185EFD062C656D, 0x19ECF50BF43F14,
    0x1B88CB9A2AB522, 0x1D338120A6DD9E, 0x1E9452C8A71028, 0x20000000000001};

// 2^-x, rounded down.
__device__ u64 height_of(u64 x)
{
    const u64 sixteenth = 1ull << 48, ln2 = 0xB17217F7D1CF7;
    const u64 power = high(sixteenths[x >> 48 & 3], quarters[x >> 50 & 3]);
    const u64 s = high((sixteenth - (x & (sixteenth - 1))) << 1, ln2);
    u64 sum = (1ull << 44) / 40320, factorial = 40320;
#pragma unroll
    for (int k = 7; k > 0; k--) {
        factorial /= k + 1;
        sum = (1ull << (52 - k)) / factorial + high(s, sum);
    }
    return x >> 52 > 63 ? 0 : (power + high(power, high(s, sum))) >> (x >> 52);
}

// log2(r), in units of 2^-53, by log2(1 - u) = -log2(e) (u + u^2/2 + ...). Requires: 1 <= r < 2^52.
__device__ u64 log2_of(u64 r)
{
    const int zeros = __clzll(r) - 12;
    const u64 m = r << zeros, place = m >> 47 & 15;
    const u64 u = ((1ull << 59) - m * inverses[place]) >> 5;
    u64 sum = 0;
#pragma unroll
    for (int k = 12; k > 0; k--) {
        sum = (0xB8AA3B295C17F0BBull / k >> (10 + 2 * k)) + high(u, sum);
    }
    return ((u64)(51 - zeros) << 53) + logs[place] - high(u, sum);
}

// The exponent of g at y, rounded down.
__device__ u64 exponent_at(i64 y, const dg_noise_law &law)
{
    const u64 z = (u64)(y < 0 ? ~y : y);
    const i64 from_f = (i64)(z << law.units_up >> law.units_down) + law.offset[y < 0];
    const u64 d = min((u64)(from_f < 0 ? 0 : from_f), law.farthest);
    if (law.kind == DG_NOISE_POWER) {
        const u64 r = min(d + law.f, law.farthest);
        if (r < law.nearest) {
            return 0 - law.at_centre;
        }
        const u64 log2 = log2_of(r),
                  times_beta = __umul64hi(log2, law.rate) << 12 | log2 * law.rate >> 52;
        const u64 log = (times_beta << law.rate_shift) - law.log_scale;
        const u64 x = (8ull << 52) - log; // a power is below 2^8
        return (height_of(x & ((1ull << 52) - 1)) << 8 >> min(x >> 52, 63ull)) - law.at_centre;
    }
    u64 upper = d, carried = 0;
    if (law.kind == DG_NOISE_SQUARED) {
        upper = __umul64hi(d << 12, d + law.twice_f);
        carried = __umul64hi((d << 12) * (d + law.twice_f), law.rate);
    }
    const u64 low = upper * law.rate + carried, carry = low < carried;
    return (__umul64hi(upper, law.rate) + carry) << (64 - law.rate_shift) | low >> law.rate_shift;
}

// Whether m + f' < 2^level H g(y), f' in [f, f + 1) 2^-64.
__device__ __noinline__ int settle(i64 y, unsigned m, unsigned level, u64 f,
                                   const dg_noise_law &law)
{
    const i64 lifted = (i64)(exponent_at(y, law) - ((u64)level << 52));
    const u64 height = height_of((u64)(lifted < 0 ? 0 : lifted)),
              above = law.above + level * law.above_a_step;
    // 2^44 2^level g is from lower to upper
    const u64 lower = (height > above ? height - above : 0) >> 8,
              upper = ((height + law.below) >> 8) + 1;
    const u64 point = ((u64)m << 44) + (f >> 20);
    return point + 1 <= law.height * lower ? ACCEPTED
           : point >= law.height * upper   ? FAILED
                                           : IN_DOUBT;
}

// --- attempts: noise_at.c, and decide.h ---

__device__ __forceinline__ i64 arc_height(u64 reach, const dg_noise_arc &arc)
{
    const u64 fall = arc.slope * reach >> 24, middle = reach * ((1ull << 24) - reach) >> 30;
    return arc.base - (i64)fall + ((i64)arc.bulge * (i64)middle >> 16);
}
__device__ __forceinline__ u64 reach_of(u64 offset, unsigned n_bits)
{
    return n_bits <= 24 ? offset << (24 - n_bits) : offset >> (n_bits - 24);
}

// Find the code of a cell's block, or SPECIAL. A cell has its row in the lowest bits, then the position, then the tick.
__device__ __forceinline__ unsigned code_of(unsigned cell, const u64 *rows)
{
    const u64 row = rows[cell & 255];
    const unsigned position = cell >> 8 & 255;
    const unsigned piece =
        (position >= (unsigned)(row & 255)) + (position >= (unsigned)(row >> 8 & 255));
    return (unsigned)(row >> (16 + 8 * piece)) & 255;
}
__device__ __forceinline__ u64 tick_of(u64 cell, unsigned tick_bits)
{
    return cell >> 16 & ((1ull << tick_bits) - 1);
}

// Decide the attempt of a special cell by its block x. Ensures: *y is set if the attempt is accepted.
__device__ int decide(i64 *y, u64 cell, const unsigned x[BLOCK_WORDS], const u64 *rows,
                      const dg_noise_law &law)
{
    const unsigned char *bytes = (const unsigned char *)&law;
    const u64 tick = tick_of(cell, law.tick_bits), last_tick = (1ull << law.tick_bits) - 1,
              one = 1ull << law.tick_bits;
    const u64 f = (u64)x[1] << 32 | x[0];
    unsigned number =
        law.n_coded + (((unsigned)(rows[cell & 255] >> 48) + (unsigned)(cell >> 8 & 255)) & 0xFFFF);
    unsigned m = 0, level = 0;
    i64 block;
    u64 reach = 0;
    dg_noise_arc arc = {1, 0, 0xFFFF, 0}; // always leaves the attempt open
    if (number < law.n_full) {
        *y = ((const short *)(bytes + law.block_of_at))[number] * (i64)one + (i64)tick;
        return ACCEPTED;
    }
    number -= law.n_full;
    if (number < law.n_partial) {
        const dg_noise_partial of = ((const dg_noise_partial *)(bytes + law.partial_at))[number];
        block = of.block, m = of.level, arc = of.arc;
        reach = reach_of(block < 0 ? tick ^ last_tick : tick, law.tick_bits);
    } else {
        number -= law.n_partial;
        if (number >= 2 * law.n_tail_side) {
            return FAILED;
        }
        const bool left = number < law.n_tail_side;
        const u64 ones = ~((u64)x[3] << 32 | x[2]);
        level = ones == 0 ? 64 : (unsigned)__clzll((i64)ones);
        if (level >= law.levels) {
            return IN_DOUBT;
        }
        const unsigned in_block =
            (left ? number : number - law.n_tail_side) & ((1u << law.tail_bits) - 1);
        const i64 outwards = ((i64)level << law.tail_bits) + in_block;
        block = left ? law.first_block - 1 - outwards : law.last_block + 1 + outwards;
        if (level < DG_NOISE_ARC_LEVELS) {
            const unsigned part_bits = law.tail_bits + law.tick_bits - law.tail_arc_bits;
            const u64 offset = ((u64)in_block << law.tick_bits) + (left ? tick ^ last_tick : tick),
                      part = offset >> part_bits;
            arc = ((const dg_noise_arc *)(bytes + law.tail_arcs_at))
                [((left ? level : DG_NOISE_ARC_LEVELS + level) << law.tail_arc_bits) + part];
            reach = reach_of(offset - (part << part_bits), part_bits);
        }
    }
    *y = block * (i64)one + (i64)tick;
    const i64 error = arc.error, above = (i64)(f >> 48) - (arc_height(reach, arc) - error);
    return above < 0 ? ACCEPTED : above >= 2 * error ? FAILED : settle(*y, m, level, f, law);
}

// --- the kernels ---

// out = value + a + b, if an item holds it.
__device__ __forceinline__ bool put(ITEM *out, i64 value, i64 a, i64 b)
{
    const i64 y = (i64)((u64)a + (u64)b), sum = (i64)((u64)value + (u64)y);
    if (((a ^ y) & (b ^ y)) < 0 || ((value ^ sum) & (y ^ sum)) < 0 || (ITEM)sum != sum) {
        return false;
    }
    *out = (ITEM)sum;
    return true;
}

// The state of a thread block, in shared memory.
struct work_t {
    u64 rows[DG_NOISE_ROWS];
    unsigned key[8], n_queued;
    struct {
        u64 at, cell;
    } queue[QUEUE];
    ITEM *out;
    const ITEM *in;
    u64 first_item;
    const dg_noise_law *law;
    call_t *call;
};

// Draw item `at` of the output, whose first cell is special, and put it there. Note the item if it is in doubt.
__device__ __noinline__ void put_special(u64 at, u64 cell, const work_t &work)
{
    const dg_noise_law &law = *work.law;
    unsigned x[BLOCK_WORDS];
    int outcome = FAILED;
    i64 y = 0;
    for (unsigned attempt = 0; outcome == FAILED; attempt++) {
        chacha20(x, work.key, work.first_item + at, attempt, 1);
        outcome = decide(&y, cell, x, work.rows, law);
        if (outcome != FAILED) {
            break;
        }
        cell = (u64)x[5] << 32 | x[4];
        const unsigned code = code_of((unsigned)cell, work.rows);
        if (code != SPECIAL) {
            y = (law.coded_first + (int)code) * (i64)(1ull << law.tick_bits) +
                (i64)tick_of(cell, law.tick_bits);
            outcome = ACCEPTED;
        }
    }
    if (outcome == ACCEPTED && put(work.out + at, work.in == 0 ? 0 : work.in[at], law.c, y)) {
        return;
    }
    const u64 place = atomicAdd(&work.call->n_in_doubt, 1ull);
    if (place < MOST_IN_DOUBT) {
        work.call->item[place] = work.first_item + at;
    }
}

// The cell of an item, from its block.
__device__ __noinline__ u64 cell_of(u64 item, const unsigned *key)
{
    unsigned x[BLOCK_WORDS];
    chacha20(x, key, item / TILE * THREADS + item % THREADS, 0, 0);
    u64 cell = 0;
#pragma unroll
    for (unsigned k = 0; k < ITEMS; k++) {
        cell = item % TILE / THREADS == k ? CELL(k) : cell;
    }
    return cell;
}

// out[i] = in[i] + item first_item + i, i < n; in == 0: the item alone. first_item is a multiple of TILE, and
// first_item + n < 2^64, because both count the items of one array.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    noise(ITEM *out, const ITEM *in, u64 n, u64 first_item, const dg_noise_law *law, call_t *call)
{
    __shared__ work_t work;
    work.rows[threadIdx.x] = ((const u64 *)law->row)[threadIdx.x];
    if (threadIdx.x < 8) {
        work.key[threadIdx.x] = call->key[threadIdx.x];
    }
    if (threadIdx.x == 0) {
        work.n_queued = 0, work.out = out, work.in = in, work.first_item = first_item;
        work.law = law, work.call = call;
    }
    __syncthreads();
    const unsigned tick_bits = law->tick_bits;
    const u64 origin = (u64)law->c + (u64)(law->coded_first * (i64)(1ull << tick_bits));
    const u64 n_tiles = (n + TILE - 1) / TILE, first_tile = first_item / TILE;
    for (u64 tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
        unsigned x[BLOCK_WORDS], not_queued = 0; // hardly ever any
        chacha20(x, work.key, (first_tile + tile) * THREADS + threadIdx.x, 0, 0);
#pragma unroll
        for (unsigned k = 0; k < ITEMS; k++) {
            const u64 at = tile * TILE + k * THREADS + threadIdx.x, cell = CELL(k);
            if (at >= n) {
                continue;
            }
            const unsigned code = code_of((unsigned)cell, work.rows);
            if (code != SPECIAL) { // the sum fits, because the host checked the law and the values
                const u64 drawn = origin + ((u64)code << tick_bits) + tick_of(cell, tick_bits);
                out[at] = (ITEM)(drawn + (in == 0 ? 0 : (u64)in[at]));
                continue;
            }
            const unsigned place = atomicAdd(&work.n_queued, 1u);
            if (place < QUEUE) {
                work.queue[place].at = at, work.queue[place].cell = cell;
            } else {
                not_queued |= 1u << k;
            }
        }
        for (unsigned k = 0; not_queued >> k != 0; k++) {
            const u64 at = tile * TILE + k * THREADS + threadIdx.x;
            if (not_queued >> k & 1) {
                put_special(at, cell_of(first_item + at, work.key), work);
            }
        }
        const bool is_last = tile + gridDim.x >= n_tiles;
        __syncthreads();
        unsigned n_left = work.n_queued < QUEUE ? work.n_queued : QUEUE;
        __syncthreads();
        while (n_left >= THREADS || (is_last && n_left > 0)) {
            const unsigned some = n_left < THREADS ? n_left : THREADS;
            n_left -= some;
            if (threadIdx.x < some) {
                put_special(work.queue[n_left + threadIdx.x].at,
                            work.queue[n_left + threadIdx.x].cell, work);
            }
        }
        if (threadIdx.x == 0) {
            work.n_queued = n_left;
        }
        __syncthreads();
    }
}

// Put the items in doubt, which the host drew.
extern "C" __global__ void finish(ITEM *out, const ITEM *in, u64 first_item, call_t *call)
{
    for (u64 i = blockIdx.x * THREADS + threadIdx.x; i < call->n_in_doubt;
         i += gridDim.x * THREADS) {
        const u64 at = call->item[i] - first_item;
        if (!put(out + at, in == 0 ? 0 : in[at], call->drawn[i], 0)) {
            atomicAdd(&call->n_refused, 1ull);
        }
    }
}

// Lower call->least and raise call->greatest to include n >= 1 values.
extern "C" __global__ void __launch_bounds__(THREADS) ends(const ITEM *in, u64 n, call_t *call)
{
    __shared__ i64 least, greatest;
    if (threadIdx.x == 0) {
        least = greatest = in[0];
    }
    __syncthreads();
    i64 low = in[0], high = in[0];
    for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < n; i += gridDim.x * (u64)THREADS) {
        low = min(low, (i64)in[i]), high = max(high, (i64)in[i]);
    }
    atomicMin(&least, low);
    atomicMax(&greatest, high);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&call->least, least);
        atomicMax(&call->greatest, greatest);
    }
}
