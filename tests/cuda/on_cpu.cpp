// The kernels of csrc/cuda/noise.cu on the CPU: compiles their source, and runs the threads of a block in turn.
//
// `seed` shuffles the order of the blocks, and that of a block's threads from one __syncthreads to the next.
//
//     g++ -O2 -shared -fPIC -DITEM=int -DWORDS=1 -I csrc/cuda -o on_cpu.so tests/cuda/on_cpu.cpp
#include <ucontext.h>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __constant__ static const
#define __shared__ static
#define __funnelshift_l(low, high, n) ((high) << (n) | (low) >> (32 - (n)))
#define __clzll(x) ((x) == 0 ? 64 : __builtin_clzll((unsigned long long)(x)))
#define __umul64hi(a, b) ((unsigned long long)((unsigned __int128)(a) * (b) >> 64))

static struct {
    unsigned x;
} threadIdx, blockIdx, gridDim;

template <class T> static T atomicAdd(T *p, T n)
{
    const T was = *p;
    *p += n;
    return was;
}
template <class T> static T min(T a, T b)
{
    return a < b ? a : b;
}
template <class T> static T max(T a, T b)
{
    return a > b ? a : b;
}
template <class T> static T atomicMin(T *p, T n)
{
    const T was = *p;
    *p = n < was ? n : was;
    return was;
}
template <class T> static T atomicMax(T *p, T n)
{
    const T was = *p;
    *p = n > was ? n : was;
    return was;
}

static void __syncthreads();

#include "noise.cu"

enum { STACK = 1 << 16 };
static ucontext_t scheduler, context[THREADS];
static char stack[THREADS][STACK];
static bool is_done[THREADS];
static void (*kernel)();

static void __syncthreads()
{
    swapcontext(&context[threadIdx.x], &scheduler);
}

static void run_thread()
{
    kernel();
    is_done[threadIdx.x] = true;
    swapcontext(&context[threadIdx.x], &scheduler);
}

static void shuffle(unsigned *order, unsigned n, u64 *seed)
{
    for (unsigned i = 0; i < n; i++) {
        order[i] = i;
    }
    for (unsigned i = n - 1; i > 0 && *seed != 0; i--) {
        *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
        const unsigned j = (unsigned)(*seed % (i + 1)), was = order[i];
        order[i] = order[j], order[j] = was;
    }
}

// Returns 1 if some threads came to a barrier and others to the end, else 0.
static int run_block(u64 *seed)
{
    static unsigned order[THREADS], n_done;
    n_done = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        is_done[i] = false;
        getcontext(&context[i]);
        context[i].uc_stack.ss_sp = stack[i];
        context[i].uc_stack.ss_size = STACK;
        makecontext(&context[i], run_thread, 0);
    }
    while (n_done == 0) {
        shuffle(order, THREADS, seed);
        for (unsigned i = 0; i < THREADS; i++) {
            threadIdx.x = order[i];
            swapcontext(&scheduler, &context[order[i]]);
            n_done += is_done[order[i]];
        }
    }
    return n_done != THREADS;
}

static int run_grid(unsigned n_blocks, u64 seed)
{
    static unsigned order[1 << 16];
    int wrong = 0;
    gridDim.x = n_blocks;
    shuffle(order, n_blocks, &seed);
    for (unsigned i = 0; i < n_blocks; i++) {
        blockIdx.x = order[i];
        wrong |= run_block(&seed);
    }
    return wrong;
}

static struct {
    ITEM *out;
    const ITEM *in;
    u64 n, first_item;
    const dg_noise_law *law;
    call_t *call;
} given;

extern "C" int noise_on_cpu(unsigned n_blocks, u64 seed, ITEM *out, const ITEM *in, u64 n,
                            u64 first_item, const dg_noise_law *law, call_t *call)
{
    given = {out, in, n, first_item, law, call};
    kernel = [] { noise(given.out, given.in, given.n, given.first_item, given.law, given.call); };
    return run_grid(n_blocks, seed);
}
extern "C" int finish_on_cpu(unsigned n_blocks, u64 seed, ITEM *out, const ITEM *in, u64 first_item,
                             call_t *call)
{
    given = {out, in, 0, first_item, 0, call};
    kernel = [] { finish(given.out, given.in, given.first_item, given.call); };
    return run_grid(n_blocks, seed);
}
extern "C" int ends_on_cpu(unsigned n_blocks, u64 seed, const ITEM *in, u64 n, call_t *call)
{
    given = {0, in, n, 0, 0, call};
    kernel = [] { ends(given.in, given.n, given.call); };
    return run_grid(n_blocks, seed);
}
extern "C" u64 height_on_cpu(u64 x)
{
    return height_of(x);
}
extern "C" u64 log2_on_cpu(u64 r)
{
    return log2_of(r);
}
extern "C" int settle_on_cpu(i64 y, unsigned m, unsigned level, u64 f, const dg_noise_law *law)
{
    return settle(y, m, level, f, *law);
}
