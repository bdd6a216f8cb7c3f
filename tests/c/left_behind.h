/* What a call leaves on the stack and in the vector registers. */
#ifndef DG_TESTS_LEFT_BEHIND_H
#define DG_TESTS_LEFT_BEHIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether this build can tell: not where the compiler keeps everything on the stack, or the
 *  sanitizers do. */
bool left_behind_can_look(void);

/** Run `call` on a stack of its own, zero at first. Ensures: left_stack and left_registers are what
 *  it left: the stack below the frame of its caller; 0 bytes of registers off x86-64. */
void leave_behind(void (*call)(void));
const uint8_t *left_stack(size_t *n);
const uint8_t *left_registers(size_t *n);

#endif
