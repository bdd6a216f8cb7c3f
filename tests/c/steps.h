/* The instructions that a call executes, one after the other: by ptrace, which single-steps a child that makes
 * the call. So it works for every instruction set of the processor; valgrind knows no AVX-512.
 * Linux on x86-64 only. */
#ifndef DG_TESTS_STEPS_H
#define DG_TESTS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/** What a call executed. */
typedef struct steps {
    uint64_t n;
    uint64_t places; /* hash of the addresses of the instructions, in order */
    uint64_t
        addresses; /* hash of the registers that its loads and stores, pushes, calls and returns
                           compute their addresses from, in order */
    uint64_t
        n_unknown; /* instructions that take addresses from vector registers: never looked up */
} steps;

/** Step through call(context) in a child, so that nothing of it is seen here.
 *
 *  Requires:  call returns, and gets no signal.
 *  Ensures:   from equal states of the memory, apart from what the child reads as data, *out is equal if and
 *             only if (but for collisions of 64-bit hashes) the call's jumps and addresses are.
 *  Returns:   whether there was a child that could be traced to its end.
 */
bool steps_of(steps *out, void (*call)(void *context), void *context);

#endif
