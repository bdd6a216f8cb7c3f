/* A stand-in for libcuda.so.1: devices are numbers, their memory is the host's, and kernels run on the CPU (on_cpu.cpp).
 *
 * It keeps what a driver keeps: a stack of contexts for each thread, allocations and their contexts, streams that capture.
 * It refuses what a driver refuses, such as a kernel that reads memory of another context. Functions fake_... are for
 * tests. Each call of the driver is logged, and a test can let any of them fail.
 *
 *     cc -O1 -shared -fPIC -o libcuda.so.1 tests/cuda/fake_libcuda.c -ldl -lpthread
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OK = 0,
    INVALID_VALUE = 1,
    NO_MEMORY = 2,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    ILLEGAL_ADDRESS = 700,
    CAPTURE_UNSUPPORTED = 900
};
enum { MOST_DEVICES = 4, MOST = 4096, DEPTH = 64, KEY_BYTES = 32, RELAXED = 2 };

typedef struct context {
    int device, is_primary, n_retained;
} context;

typedef struct block {
    char *at;
    size_t size;
    context *of; /* NULL: of a pool */
    int device, is_ours, is_host;
    uint64_t id;
} block;

static context primary[MOST_DEVICES], own[16];
static const int n_devices = 2;
static int n_own, capability[2] = {9, 0};
static block blocks[MOST];
static uint64_t n_ids;
static struct {
    uint64_t stream;
    int state;
} captures[16];
static int n_captures, is_captured_elsewhere, n_invalidated;
static __thread context *stack[DEPTH];
static __thread int depth, mode;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, running = PTHREAD_MUTEX_INITIALIZER;
static char logged[1 << 20];
static size_t log_length;
static char failing[64];
static int calls_until_failure, failure;
static int key_bytes_left; /* in page-locked memory when it was freed */
static char kernels_of_elf[4096];

static context *current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

static const char *name_of(const context *of)
{
    static __thread char text[32];
    if (of == NULL) {
        return "none";
    }
    snprintf(text, sizeof text, "%s%d", of->is_primary ? "primary" : "own", of->device);
    return text;
}

/* Log a call, and return the error that a test planned for it. */
static int begin(const char *name, const char *format, ...)
{
    va_list given;
    pthread_mutex_lock(&lock);
    if (log_length + 512 < sizeof logged) {
        log_length += (size_t)snprintf(logged + log_length, 64, "%s", name);
        va_start(given, format);
        log_length += (size_t)vsnprintf(logged + log_length, 256, format, given);
        va_end(given);
        log_length += (size_t)snprintf(logged + log_length, 64, " in %s\n", name_of(current()));
    }
    int error = OK;
    if (calls_until_failure > 0 && (failing[0] == 0 || strcmp(failing, name) == 0)) {
        error = --calls_until_failure == 0 ? failure : OK;
    }
    pthread_mutex_unlock(&lock);
    return error;
}
#define BEGIN(...)                                                                                 \
    do {                                                                                           \
        const int error_ = begin(__func__, __VA_ARGS__);                                           \
        if (error_ != OK) {                                                                        \
            return error_;                                                                         \
        }                                                                                          \
    } while (0)

static block *block_at(const void *at)
{
    for (int i = 0; i < MOST; i++) {
        const char *of = blocks[i].at;
        if (of != NULL && (const char *)at >= of && (const char *)at < of + blocks[i].size) {
            return &blocks[i];
        }
    }
    return NULL;
}

/* Tests do not say when they free memory that they lent, so later blocks take its place. */
static block *add_block(void *at, size_t size, context *of, int device)
{
    const char *end = (char *)at + size;
    block *made = NULL;
    for (int i = 0; i < MOST; i++) {
        block *old = &blocks[i];
        if (!old->is_ours && old->at < end && (char *)at < old->at + old->size) {
            *old = (block){0};
        }
        made = old->at == NULL ? old : made;
    }
    if (made == NULL) {
        abort();
    }
    *made = (block){at, size, of, device, 0, 0, ++n_ids};
    return made;
}

/* --- for tests --- */

void fake_compute_capability(int major, int minor)
{
    capability[0] = major, capability[1] = minor;
}
void fake_lend(void *at, size_t size, context *of, int device)
{
    add_block(at, size, of, device);
}
context *fake_own_context(int device)
{
    context *made = &own[n_own++];
    *made = (context){device, 0, 1};
    stack[depth++] = made;
    return made;
}
void fake_pop(void)
{
    depth--;
}
const char *fake_current(void)
{
    return name_of(current());
}
int fake_depth(void)
{
    return depth;
}
int fake_mode(void)
{
    return mode;
}
void fake_capture(uint64_t stream, int state)
{
    captures[n_captures].stream = stream;
    captures[n_captures++].state = state;
}
void fake_capture_elsewhere(void)
{
    is_captured_elsewhere = 1;
}
int fake_invalidated(void)
{
    return n_invalidated;
}
void fake_fail(const char *name, int nth, int error)
{
    snprintf(failing, sizeof failing, "%s", name);
    calls_until_failure = nth;
    failure = error;
}
const char *fake_log(void)
{
    return logged;
}
void fake_clear_log(void)
{
    log_length = 0;
    logged[0] = 0;
}
int fake_allocated(void)
{
    int n = 0;
    for (int i = 0; i < MOST; i++) {
        n += blocks[i].at != NULL && blocks[i].is_ours;
    }
    return n;
}
static int key_bytes(const block *of)
{
    int n = 0;
    for (int i = 0; of->is_host && i < KEY_BYTES; i++) {
        n += of->at[i] != 0;
    }
    return n;
}
int fake_key_bytes(void)
{
    int n = key_bytes_left;
    for (int i = 0; i < MOST; i++) {
        n += blocks[i].at != NULL ? key_bytes(&blocks[i]) : 0;
    }
    return n;
}
int fake_retained(int device)
{
    return primary[device].n_retained;
}
void fake_reset_device(int device)
{
    for (int i = 0; i < MOST; i++) {
        if (blocks[i].at != NULL && blocks[i].is_ours && blocks[i].device == device) {
            blocks[i] = (block){0}; /* the host's memory stays, so that a fault is seen as one */
        }
    }
}
void fake_kernels_of_elf(const char *path)
{
    snprintf(kernels_of_elf, sizeof kernels_of_elf, "%s", path);
}

/* --- the driver --- */

int cuInit(unsigned flags)
{
    (void)flags;
    BEGIN("");
    for (int i = 0; i < MOST_DEVICES; i++) {
        primary[i].device = i, primary[i].is_primary = 1;
    }
    return n_devices > 0 ? OK : 100;
}
int cuDriverGetVersion(int *version)
{
    BEGIN("");
    *version = 13020;
    return OK;
}
int cuGetErrorName(int error, const char **name)
{
    static __thread char text[32];
    snprintf(text, sizeof text, "CUDA_ERROR_%d", error);
    *name = text;
    return OK;
}
int cuDeviceGetCount(int *n)
{
    BEGIN("");
    *n = n_devices;
    return OK;
}
int cuDeviceGet(int *device, int number)
{
    BEGIN(" %d", number);
    *device = number;
    return number < n_devices ? OK : INVALID_DEVICE;
}
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    BEGIN(" %d", device);
    *value = attribute == 75   ? capability[0]
             : attribute == 76 ? capability[1]
             : attribute == 16 ? 2
                               : -1;
    return OK;
}
int cuDeviceGetName(char *name, int size, int device)
{
    BEGIN(" %d", device);
    snprintf(name, (size_t)size, "a fake %d", device);
    return OK;
}
int cuDevicePrimaryCtxRetain(context **of, int device)
{
    BEGIN(" %d", device);
    *of = &primary[device];
    primary[device].n_retained++;
    return OK;
}
int cuCtxPushCurrent_v2(context *of)
{
    BEGIN(" %s", name_of(of));
    stack[depth++] = of;
    return OK;
}
int cuCtxPopCurrent_v2(context **of)
{
    BEGIN("");
    if (depth == 0) {
        return INVALID_CONTEXT;
    }
    *of = stack[--depth];
    return OK;
}
int cuThreadExchangeStreamCaptureMode(int *given)
{
    BEGIN(" %d", *given);
    const int was = mode;
    mode = *given;
    *given = was;
    return OK;
}
int cuPointerGetAttributes(unsigned n, const int *kinds, void **values, const void *at)
{
    BEGIN("");
    const block *of = block_at(at);
    for (unsigned i = 0; i < n; i++) {
        if (kinds[i] == 1) {
            *(context **)values[i] = of == NULL ? NULL : of->of;
        } else if (kinds[i] == 7) {
            *(uint64_t *)values[i] = of == NULL ? 0 : of->id;
        } else if (kinds[i] == 9) {
            *(int *)values[i] = of == NULL ? -2 : of->device;
        } else {
            return INVALID_VALUE;
        }
    }
    return OK;
}

/* Refuse a call that could wait for the device while another thread captures in the mode for all threads. */
static int unsafe_call(void)
{
    if (is_captured_elsewhere && mode != RELAXED) {
        n_invalidated++;
        return CAPTURE_UNSUPPORTED;
    }
    return current() == NULL ? INVALID_CONTEXT : OK;
}

int cuStreamIsCapturing(uint64_t stream, int *state)
{
    BEGIN(" %#lx", (unsigned long)stream);
    if (current() == NULL) {
        return INVALID_CONTEXT;
    }
    *state = 0;
    for (int i = 0; i < n_captures; i++) {
        *state = captures[i].stream == stream ? captures[i].state : *state;
    }
    return OK;
}
int cuStreamSynchronize(uint64_t stream)
{
    BEGIN(" %#lx", (unsigned long)stream);
    return current() == NULL ? INVALID_CONTEXT : OK;
}
static int allocate(void **at, size_t size, int is_host)
{
    const int error = unsafe_call();
    if (error != OK) {
        return error;
    }
    *at = malloc(size);
    memset(*at, 0xA5, size);
    block *made = add_block(*at, size, current(), current()->device);
    made->is_ours = 1, made->is_host = is_host;
    return OK;
}
static int release(void *at)
{
    const int error = unsafe_call();
    block *of = block_at(at);
    if (error != OK || of == NULL || of->at != at || !of->is_ours) {
        return error != OK ? error : INVALID_VALUE;
    }
    key_bytes_left += key_bytes(of);
    free(at);
    *of = (block){0};
    return OK;
}
int cuMemAlloc_v2(void **at, size_t size)
{
    BEGIN("");
    return allocate(at, size, 0);
}
int cuMemHostAlloc(void **at, size_t size, unsigned flags)
{
    (void)flags;
    BEGIN("");
    return allocate(at, size, 1);
}
int cuMemFree_v2(void *at)
{
    BEGIN("");
    return release(at);
}
int cuMemFreeHost(void *at)
{
    BEGIN("");
    return release(at);
}

/* Whether kernels of the current context may use memory. */
static int is_ours_to_use(const void *at)
{
    const block *of = block_at(at);
    return of != NULL && (of->of == current() || of->is_host ||
                          (of->of == NULL && of->device == current()->device));
}

int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t size, uint64_t stream)
{
    BEGIN(" %#lx", (unsigned long)stream);
    if (!is_ours_to_use(to)) {
        return INVALID_VALUE;
    }
    memcpy(to, from, size);
    return OK;
}
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t size, uint64_t stream)
{
    BEGIN(" %#lx", (unsigned long)stream);
    memcpy(to, from, size);
    return OK;
}

/* A module is a library made of on_cpu.cpp; the image is its path. */
int cuModuleLoadData(void **module, const void *image)
{
    BEGIN("");
    *module = dlopen(memcmp(image, "\177ELF", 4) == 0 ? kernels_of_elf : image, RTLD_NOW);
    return *module == NULL ? 200 : unsafe_call();
}
int cuModuleUnload(void *module)
{
    BEGIN("");
    (void)module;
    return OK;
}

typedef struct function {
    char name[32];
    void *symbol;
} function;
typedef int run_noise(unsigned, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                      uint64_t);
typedef int run_finish(unsigned, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef int run_ends(unsigned, uint64_t, uint64_t, uint64_t, uint64_t);

int cuModuleGetFunction(function **found, void *module, const char *name)
{
    static function functions[256];
    static int n_functions;
    char symbol[64];
    BEGIN(" %s", name);
    *found = &functions[n_functions++ % 256];
    snprintf((*found)->name, sizeof(*found)->name, "%s", name);
    snprintf(symbol, sizeof symbol, "%s_on_cpu", name);
    (*found)->symbol = dlsym(module, symbol);
    return (*found)->symbol == NULL ? NOT_FOUND : OK;
}

int cuLaunchKernel(function *f, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,
                   unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                   uint64_t stream, void **given, void **extra)
{
    (void)blocks_y, (void)blocks_z, (void)threads_y, (void)threads_z, (void)shared, (void)extra;
    const int is_noise = strcmp(f->name, "noise") == 0, is_ends = strcmp(f->name, "ends") == 0;
    const int n = is_noise ? 6 : is_ends ? 3 : 4;
    const unsigned char *key = *(unsigned char **)given[n - 1];
    uint64_t a[6] = {0};
    char hexadecimal[2 * KEY_BYTES + 1];
    for (int i = 0; i < n; i++) {
        a[i] = *(uint64_t *)given[i];
    }
    for (int i = 0; i < KEY_BYTES; i++) {
        snprintf(hexadecimal + 2 * i, 3, "%02x", key[i]);
    }
    BEGIN(" %s stream %#lx blocks %u threads %u key %s", f->name, (unsigned long)stream, blocks_x,
          threads, hexadecimal);
    if (current() == NULL || !is_ours_to_use((void *)a[0]) || !is_ours_to_use((void *)a[n - 1]) ||
        (is_noise && !is_ours_to_use((void *)a[4])) ||
        (!is_ends && a[1] != 0 && !is_ours_to_use((void *)a[1]))) {
        return ILLEGAL_ADDRESS;
    }
    pthread_mutex_lock(&running);
    const uint64_t order = 9; /* of the threads */
    int is_wrong = 0;
    if (is_noise) {
        run_noise *run = (run_noise *)f->symbol;
        is_wrong = run(blocks_x, order, a[0], a[1], a[2], a[3], a[4], a[5]);
    } else if (is_ends) {
        is_wrong = ((run_ends *)f->symbol)(blocks_x, order, a[0], a[1], a[2]);
    } else {
        is_wrong = ((run_finish *)f->symbol)(blocks_x, order, a[0], a[1], a[2], a[3]);
    }
    pthread_mutex_unlock(&running);
    return is_wrong ? 999 : OK;
}

/* For benchmarks/gpu.py. */
int cuFuncGetAttribute(int *value, int attribute, const function *f)
{
    BEGIN(" %d %s", attribute, f->name);
    *value = 56;
    return OK;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const function *f, int threads,
                                                size_t shared)
{
    (void)shared;
    BEGIN(" %s %d", f->name, threads);
    *n = 4;
    return OK;
}
