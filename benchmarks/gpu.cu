// The kernels of benchmarks/gpu.py: one counts values in bins, one runs the cipher alone.
#include "noise.cu"

// Add to counts[0 .. 66) the values below `low`, those in each of 64 bins of width `step`, and those above.
extern "C" __global__ void count(const ITEM *in, u64 n, i64 low, i64 step, u64 *counts)
{
    __shared__ unsigned mine[66];
    if (threadIdx.x < 66) {
        mine[threadIdx.x] = 0;
    }
    __syncthreads();
    for (u64 i = blockIdx.x * (u64)THREADS + threadIdx.x; i < n; i += gridDim.x * (u64)THREADS) {
        const i64 bin = in[i] < low ? 0 : (in[i] - low) / step + 1;
        atomicAdd(&mine[bin > 65 ? 65 : bin], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 66) {
        atomicAdd(&counts[threadIdx.x], (u64)mine[threadIdx.x]);
    }
}

// Store n blocks of the cipher in the order of noise.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    cipher(unsigned *out, u64 n, const call_t *call)
{
    unsigned key[8];
    for (int i = 0; i < 8; i++) {
        key[i] = call->key[i];
    }
    for (u64 b = blockIdx.x * (u64)THREADS + threadIdx.x; b < n; b += gridDim.x * (u64)THREADS) {
        unsigned x[BLOCK_WORDS];
        unsigned *at = out + b / THREADS * (THREADS * BLOCK_WORDS) + b % THREADS;
        chacha20(x, key, b, 0, 0);
#pragma unroll
        for (unsigned k = 0; k < BLOCK_WORDS; k++) {
            at[k * THREADS] = x[k];
        }
    }
}
