#define _GNU_SOURCE
#include "steps.h"

#if defined(__linux__) && defined(__x86_64__)

#include <cpuid.h>
#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t hashed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xBF58476D1CE4E5B9);
    return hash ^ hash >> 29;
}

/* --- the registers of an instruction's address ----------------------------------------------- */

enum { ONE_BYTE = 0, MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3 };

/** The parts of an instruction that matter for addresses. */
typedef struct decoded {
    const uint8_t *modrm; /* NULL: there is none */
    unsigned map, opcode;
    unsigned index_high, base_high, vector_high; /* the upper bits of register numbers */
    bool is_vector;
} decoded;

static bool is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xF0 || byte == 0xF2 || byte == 0xF3 ||
           (byte & 0xE7) == 0x26 || byte == 0x64 || byte == 0x65;
}

static bool has_modrm(unsigned map, unsigned opcode)
{
    if (map == ONE_BYTE) {
        return (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 ||
               opcode == 0x6B || (opcode & 0xF0) == 0x80 || (opcode & 0xFE) == 0xC0 ||
               (opcode & 0xFE) == 0xC6 || (opcode & 0xFC) == 0xD0 || (opcode & 0xF8) == 0xD8 ||
               (opcode & 0xFE) == 0xF6 || opcode >= 0xFE;
    }
    if (map ==
        MAP_0F) { /* without system calls, counters, jumps, pushes of segments, bswap, vzeroupper */
        return !((opcode >= 0x05 && opcode <= 0x0B) || (opcode & 0xF8) == 0x30 || opcode == 0x77 ||
                 (opcode & 0xF0) == 0x80 || (opcode & 0xF6) == 0xA0 || opcode == 0xA2 ||
                 (opcode & 0xF8) == 0xC8);
    }
    return true;
}

static decoded decode(const uint8_t *at)
{
    decoded of = {0};
    while (is_prefix(*at)) {
        at++;
    }
    if (*at == 0xC5) {
        of.map = MAP_0F;
        of.is_vector = true;
        at += 2;
    } else if (*at == 0xC4 || *at == 0x62) {
        of.map = at[1] & (*at == 0x62 ? 7 : 31);
        of.index_high = at[1] & 0x40 ? 0 : 8;
        of.base_high = at[1] & 0x20 ? 0 : 8;
        of.vector_high = *at == 0x62 && !(at[3] & 8) ? 16 : 0;
        of.is_vector = true;
        at += *at == 0x62 ? 4 : 3;
    } else {
        if ((*at & 0xF0) == 0x40) {
            of.index_high = *at & 2 ? 8 : 0;
            of.base_high = *at & 1 ? 8 : 0;
            at++;
        }
        if (*at == 0x0F) {
            at++;
            of.map = *at == 0x38 ? MAP_0F38 : *at == 0x3A ? MAP_0F3A : MAP_0F;
            at += of.map != MAP_0F;
        }
    }
    of.opcode = *at;
    of.modrm = has_modrm(of.map, of.opcode) ? at + 1 : NULL;
    return of;
}

static uint64_t register_of(const struct user_regs_struct *registers, unsigned number)
{
    const uint64_t all[16] = {registers->rax, registers->rcx, registers->rdx, registers->rbx,
                              registers->rsp, registers->rbp, registers->rsi, registers->rdi,
                              registers->r8,  registers->r9,  registers->r10, registers->r11,
                              registers->r12, registers->r13, registers->r14, registers->r15};
    return all[number];
}

static bool is_gather(const decoded *of)
{
    return of->is_vector && of->map == MAP_0F38 &&
           ((of->opcode & 0xFC) == 0x90 || (of->opcode & 0xFC) == 0xA0 ||
            (of->opcode & 0xFE) == 0xC6);
}

enum { STATE_BYTES = 16384 };

/** Return where a part of XSAVE's area begins. If the processor lacks the part, return the zeros behind the area. */
static size_t part_at(unsigned part)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(0xD, part, &a, &b, &c, &d) != 0 && a > 0 ? b : STATE_BYTES;
}

/** Return the hash extended by the child's zmm register of this number. */
static uint64_t with_vector(uint64_t hash, unsigned number, pid_t child)
{
    enum { XMM_AT = 160, YMM_HIGH = 2, ZMM_HIGH = 6, ZMM_16 = 7 };
    static uint8_t state[STATE_BYTES + 2048]; /* zeros behind it */
    struct iovec all = {state, STATE_BYTES};
    if (ptrace(PTRACE_GETREGSET, child, (void *)(uintptr_t)NT_X86_XSTATE, &all) != 0) {
        abort();
    }
    const size_t n = number % 16;
    const size_t at[4] = {XMM_AT + 16 * n, part_at(YMM_HIGH) + 16 * n, part_at(ZMM_HIGH) + 32 * n,
                          part_at(ZMM_HIGH) + 32 * n + 16};
    for (size_t i = 0; i < 4; i++) {
        uint64_t words[2];
        memcpy(words, state + (number < 16 ? at[i] : part_at(ZMM_16) + 64 * n + 16 * i),
               sizeof words);
        hash = hashed(hashed(hash, words[0]), words[1]);
    }
    return hash;
}

/** Add the instruction that the child executes next. A displacement is part of the instruction, so registers tell
 *  everything else about an address. The child's code has the same address here. */
static void take_in(steps *to, const struct user_regs_struct *registers, pid_t child)
{
    const decoded of = decode((const uint8_t *)(uintptr_t)registers->rip);
    to->n++;
    to->places = hashed(to->places, registers->rip);
    to->addresses = hashed(to->addresses, registers->rsp);
    const bool is_string = !of.is_vector && of.map == ONE_BYTE && (of.opcode & 0xF4) == 0xA4;
    if (is_string || (!of.is_vector && of.map == ONE_BYTE && (of.opcode & 0xFE) == 0xAA)) {
        to->addresses = hashed(hashed(to->addresses, registers->rsi), registers->rdi);
        to->addresses = hashed(to->addresses, registers->rcx);
    }
    const bool is_lea = of.map == ONE_BYTE && of.opcode == 0x8D;
    const bool is_nop = !of.is_vector && of.map == MAP_0F && of.opcode == 0x1F;
    if (of.modrm == NULL || *of.modrm >> 6 == 3 || is_lea || is_nop) {
        return;
    }
    const unsigned mode = *of.modrm >> 6, place = *of.modrm & 7;
    if (place != 4) {
        if (mode != 0 || place != 5) { /* otherwise relative to the instruction */
            to->addresses = hashed(to->addresses, register_of(registers, place + of.base_high));
        }
        return;
    }
    const unsigned base = of.modrm[1] & 7, index = (of.modrm[1] >> 3 & 7) + of.index_high;
    if (mode != 0 || base != 5) {
        to->addresses = hashed(to->addresses, register_of(registers, base + of.base_high));
    }
    if (is_gather(&of)) {
        to->addresses = with_vector(to->addresses, index + of.vector_high, child);
    } else if (index != 4) {
        to->addresses = hashed(to->addresses, register_of(registers, index));
    }
}

/* --- the child ------------------------------------------------------------------------------- */

static _Noreturn void be_traced(void (*call)(void *context), void *context)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(1);
    }
    (void)raise(SIGSTOP);
    call(context);
    (void)raise(SIGSTOP);
    _exit(0);
}

bool steps_of(steps *out, void (*call)(void *context), void *context)
{
    *out = (steps){0};
    const pid_t child = fork();
    if (child == 0) {
        be_traced(call, context);
    }
    int status;
    struct user_regs_struct registers;
    bool is_done = false;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        return false;
    }
    while (ptrace(PTRACE_GETREGS, child, NULL, &registers) == 0) {
        take_in(out, &registers, child);
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
            waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
            break;
        }
        if (WSTOPSIG(status) != SIGTRAP) {
            is_done = WSTOPSIG(status) == SIGSTOP;
            break;
        }
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, &status, 0);
    return is_done;
}

#else

bool steps_of(steps *out, void (*call)(void *context), void *context)
{
    (void)call;
    (void)context;
    *out = (steps){0};
    return false;
}

#endif
