#define _DEFAULT_SOURCE
#include "left_behind.h"

#include "base/isa.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

bool left_behind_can_look(void)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&    \
    !defined(SANITIZED)
    return true;
#else
    return false;
#endif
}

/* The call runs in a signal handler, on a stack that lies at two addresses, so that a test may read
 * what is no longer in use (valgrind minds at the first). */
enum { STACK = 1 << 18, REGISTERS = 32 * 64 };
static uint8_t *stack_bytes, *stack_again, *below; /* below: the frame of the handler */
static uint8_t registers[REGISTERS];
static size_t n_registers;
static void (*to_run)(void);

#if DG_ISA_X86_64
/* i: a register, as the instruction and as its place in `registers` name it. */
#define EIGHT(op, a, b, c, d, e, f, g, h) op(a) op(b) op(c) op(d) op(e) op(f) op(g) op(h)
#define STORE_128(i) "movdqu %%xmm" #i ", 16*" #i "(%0)\n\t"
#define STORE_256(i) "vmovdqu %%ymm" #i ", 32*" #i "(%0)\n\t"
#define STORE_512(i) "vmovdqu64 %%zmm" #i ", 64*" #i "(%0)\n\t"
#define STORE(op) EIGHT(op, 0, 1, 2, 3, 4, 5, 6, 7) EIGHT(op, 8, 9, 10, 11, 12, 13, 14, 15)
#define STORE_MORE(op)                                                                             \
    EIGHT(op, 16, 17, 18, 19, 20, 21, 22, 23) EIGHT(op, 24, 25, 26, 27, 28, 29, 30, 31)

static void store_128(void)
{
    __asm__ volatile(STORE(STORE_128) : : "r"(registers) : "memory");
}

DG_TARGET_AVX2 static void store_256(void)
{
    __asm__ volatile(STORE(STORE_256) : : "r"(registers) : "memory");
}

DG_TARGET_AVX512 static void store_512(void)
{
    __asm__ volatile(STORE(STORE_512) STORE_MORE(STORE_512) : : "r"(registers) : "memory");
}

static void (*store_registers)(void);

static void choose_registers(void)
{
    dg_isa isa = dg_isa_best();
    bool has_512 = isa == DG_ISA_AVX512 || isa == DG_ISA_AVX512_VBMI2;
    store_registers = has_512 ? store_512 : isa == DG_ISA_AVX2 ? store_256 : store_128;
    n_registers = has_512 ? REGISTERS : isa == DG_ISA_AVX2 ? 16 * 32 : 16 * 16;
}
#else
static void store_registers(void)
{
}

static void choose_registers(void)
{
}
#endif

static void map_stack(void)
{
    FILE *file = tmpfile();
    if (file == NULL || ftruncate(fileno(file), STACK) != 0) {
        abort();
    }
    stack_bytes = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    stack_again = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (stack_bytes == MAP_FAILED || stack_again == MAP_FAILED || fclose(file) != 0) {
        abort();
    }
}

static void on_signal(int number)
{
    (void)number;
    below = __builtin_frame_address(0);
    to_run();
    store_registers();
}

void leave_behind(void (*call)(void))
{
    if (stack_bytes == NULL) {
        map_stack();
        choose_registers();
    }
    stack_t stack = {.ss_sp = stack_bytes, .ss_size = STACK}, none = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    to_run = call;
    memset(stack_again, 0, STACK);
    memset(registers, 0, sizeof registers);
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0 ||
        raise(SIGUSR1) != 0 || sigaltstack(&none, NULL) != 0) {
        abort();
    }
}

const uint8_t *left_stack(size_t *n)
{
    *n = (size_t)(below - stack_bytes);
    return stack_again;
}

const uint8_t *left_registers(size_t *n)
{
    *n = n_registers;
    return registers;
}
