/* The sequence of instructions that a call executes. ptrace single-steps a child that makes the call, so this works
 * for every instruction set of the processor. (valgrind does not know AVX-512.)
 * Linux on x86-64 only. */
#ifndef DG_TESTS_STEPS_H
#define DG_TESTS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

/** The instructions that a call executed. */
typedef struct steps {
    uint64_t n;
    uint64_t places; /* hash of the instructions' addresses, in order */
    uint64_t
        addresses; /* hash of the registers from which its loads, stores, pushes, calls and returns
                           compute their addresses, in order */
    uint64_t
        n_unknown; /* instructions that take addresses from vector registers: never looked up */
} steps;

/** Step through call(context) in a child, so that it has no effect here.
 *
 *  Requires:  call returns, and gets no signal.
 *  Ensures:   from equal states of the memory, apart from what the child reads as data, *out is equal if and only if
 *             the call's jumps and addresses are (unless 64-bit hashes collide).
 *  Returns:   whether a child could be traced to its end.
 */
bool steps_of(steps *out, void (*call)(void *context), void *context);

#endif
