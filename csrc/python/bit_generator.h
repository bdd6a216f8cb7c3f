/* Bits for numpy's generators, by its C interface (numpy/random/bitgen.h). `compat.SystemBits` is made of them.
 *
 * This is the one place where random bits outlive a call. They are in a pool, which belongs to an object that the user
 * made. No two draws, in any processes or threads, use the same bits:
 *
 * - Bits taken from a pool are wiped there, and each filling replaces ChaCha20's key, so a pool does not reveal what it
 *   gave before. The pool is wiped when its object is freed.
 * - In the child of a fork, made by any system call, the system wipes the pool (MADV_WIPEONFORK, Linux 4.14). Zeros are
 *   an empty pool without a key. On other systems each call checks that this process filled the pool.
 * - Objects are not copied. A copy of a numpy generator shares this object and its lock, as threads do.
 *
 * A filling may fail in a function that cannot return an error. The object is also the lock that numpy's methods hold
 * while they draw. After a failure they get void words, which end loops as random words would, and leaving the lock
 * raises, so that no draw made of them is returned. Code that draws without the lock waits until the system gives bits.
 * On Linux it never waits after the first success: getrandom(2) with flags 0 then fails only with EINTR, unless the
 * process gets a filter of system calls later. macOS and Windows document no failure either.
 */
#ifndef DG_PYTHON_BIT_GENERATOR_H
#define DG_PYTHON_BIT_GENERATOR_H

#include "calls.h"

#include "base/threads.h"
#include "base/wipe.h"
#include "random/chacha20.h"
#include "random/system.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#if !defined(_WIN32)
#include <sys/mman.h>
#endif

/** Names of methods, and the function that makes the exception of a status and errno. */
static struct {
    PyObject *acquire, *release, *error_for;
} dg_python_bits;

/** The struct as numpy declares it. */
typedef struct dg_bitgen {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} dg_bitgen;

/** A multiple of the batches of all ChaCha20 kernels. The pool begins with the next key. */
enum { DG_POOL_BYTES = 8 * DG_CHACHA20_MOST_LANES * DG_CHACHA20_BLOCK };

/** A pool of zeros is empty and has no key. */
typedef struct dg_pool {
    uint8_t bytes[DG_POOL_BYTES];
    uint64_t left;    /* bytes[DG_CHACHA20_KEY .. left) are unused */
    uint64_t is_ours; /* 0: this is the child of a fork, and the lock was not taken here yet */
} dg_pool;

typedef struct dg_bit_generator {
    PyObject ob_base;
    dg_pool *pool;
    int64_t process; /* it filled the pool; 0: not checked, the system wipes it in a child */
    dg_source_kind kind;
    PyObject *new_lock, *lock; /* the class threading.RLock, and an instance */
    dg_thread owner;           /* of the lock, while it is held */
    size_t entered;            /* how many times it is held */
    int failure;               /* errno of a failure since the lock was free */
    uint64_t n_void;
} dg_bit_generator;

/** Make a pool of zeros. *is_wiped: whether the system wipes it in the child of a fork, or has no fork.
 *
 *  Returns: NULL if there is no memory.
 */
static dg_pool *dg_pool_new(bool *is_wiped)
{
    *is_wiped = false;
#if defined(_WIN32)
    *is_wiped = true;
    return calloc(1, sizeof(dg_pool));
#else
    void *pool =
        mmap(NULL, sizeof(dg_pool), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#if defined(MADV_WIPEONFORK)
    *is_wiped = pool != MAP_FAILED && madvise(pool, sizeof(dg_pool), MADV_WIPEONFORK) == 0;
#endif
    return pool == MAP_FAILED ? NULL : pool;
#endif
}

static void dg_pool_free(dg_pool *pool)
{
    dg_wipe(pool, sizeof *pool);
#if defined(_WIN32)
    free(pool);
#else
    (void)munmap(pool, sizeof *pool);
#endif
}

/** Fill a pool. Ensures: DG_OK -> all of it is unused; otherwise it is empty. Returns: DG_OK | DG_ERR_ENTROPY. */
static dg_status dg_pool_fill(dg_pool *pool, dg_source_kind kind)
{
    dg_status status = DG_OK;
    if (kind != DG_SOURCE_CHACHA20) {
        status = dg_system_random(pool->bytes + DG_CHACHA20_KEY, DG_POOL_BYTES - DG_CHACHA20_KEY);
    } else if (pool->left == 0) {
        status = dg_system_random(pool->bytes, DG_CHACHA20_KEY);
    }
    if (status != DG_OK) {
        const int code = errno;
        dg_wipe(pool->bytes, sizeof pool->bytes);
        pool->left = 0;
        errno = code;
        return status;
    }
    if (kind ==
        DG_SOURCE_CHACHA20) { /* each key makes blocks from 0 on once: the next key overwrites it */
        uint8_t key[DG_CHACHA20_KEY];
        memcpy(key, pool->bytes, sizeof key);
        dg_chacha20_blocks(pool->bytes, DG_POOL_BYTES / DG_CHACHA20_BLOCK, key, 0,
                           &(dg_prefetch){0});
        dg_wipe(key, sizeof key);
    }
    pool->left = DG_POOL_BYTES;
    return DG_OK;
}

/** Wipe the pool in the child of a fork, if the system does not. */
static void dg_pool_keep_apart(dg_bit_generator *bits)
{
    if (bits->process != 0 && bits->process != dg_process()) {
        dg_wipe(bits->pool, sizeof *bits->pool);
        bits->process = dg_process();
    }
}

/** Provide n bytes in the pool. Requires: n <= 8. Returns: false if there are none. Leaving the lock then raises. */
static bool dg_pool_ready(dg_bit_generator *bits, size_t n)
{
    dg_pool *pool = bits->pool;
    dg_pool_keep_apart(bits);
    if (pool->left >= DG_CHACHA20_KEY + n) {
        return true;
    }
    while (dg_pool_fill(pool, bits->kind) != DG_OK) {
        if (bits->entered > 0) {
            bits->failure = errno != 0 ? errno : EIO;
            return false;
        }
        (void)nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return true;
}

/** Take n bytes, and wipe them. Returns: false if there are none, as dg_pool_ready. */
static inline bool dg_pool_take(void *out, size_t n, dg_bit_generator *bits)
{
    dg_pool *pool = bits->pool;
    if (__builtin_expect(pool->left < DG_CHACHA20_KEY + n || bits->process != 0, 0) &&
        !dg_pool_ready(bits, n)) {
        return false;
    }
    uint8_t *bytes = pool->bytes + (pool->left -= n);
    memcpy(out, bytes, n);
    memset(bytes, 0, n);
    return true;
}

/** Return a word that is not random, from splitmix64. No draw made of it is returned. */
static uint64_t dg_void_word(dg_bit_generator *bits)
{
    uint64_t z = ++bits->n_void * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t dg_python_next_uint64(void *state)
{
    uint64_t word;
    return dg_pool_take(&word, sizeof word, state) ? word : dg_void_word(state);
}

static uint32_t dg_python_next_uint32(void *state)
{
    uint32_t word;
    return dg_pool_take(&word, sizeof word, state) ? word : (uint32_t)dg_void_word(state);
}

/** Return a multiple of 2^-53 below 1, uniformly. numpy's interface has it; no draw of the core uses it. */
static double dg_python_next_double(void *state)
{
    return (double)(dg_python_next_uint64(state) >> 11) * 0x1p-53;
}

/** Make an object. args: numpy's capsule, whose functions it sets, and which must live as long as they are used; the
 *  class threading.RLock; the dg_source_kind; whether each call checks the process although the system wipes pools. */
static PyObject *dg_bit_generator_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *capsule, *new_lock;
    int kind, looks;
    (void)names;
    if (!PyArg_ParseTuple(args, "OOip", &capsule, &new_lock, &kind, &looks)) {
        return NULL;
    }
    dg_bitgen *bitgen = PyCapsule_GetPointer(capsule, "BitGenerator");
    dg_bit_generator *bits =
        bitgen == NULL ? NULL : (dg_bit_generator *)PyType_GenericAlloc(type, 0);
    if (bits == NULL) {
        return NULL;
    }
    bool is_wiped;
    bits->kind = (dg_source_kind)kind;
    Py_INCREF(new_lock);
    bits->new_lock = new_lock;
    bits->lock = PyObject_CallNoArgs(new_lock);
    bits->pool = bits->lock == NULL ? NULL : dg_pool_new(&is_wiped);
    if (bits->pool == NULL) {
        Py_DECREF(bits);
        return PyErr_Occurred() == NULL ? PyErr_NoMemory() : NULL;
    }
    bits->pool->is_ours = 1;
    bits->process = is_wiped && !looks ? 0 : dg_process();
    *bitgen = (dg_bitgen){bits, dg_python_next_uint64, dg_python_next_uint32, dg_python_next_double,
                          dg_python_next_uint64};
    return (PyObject *)bits;
}

static void dg_bit_generator_free(PyObject *self)
{
    dg_bit_generator *bits = (dg_bit_generator *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (bits->pool != NULL) {
        dg_pool_free(bits->pool);
    }
    Py_XDECREF(bits->new_lock);
    Py_XDECREF(bits->lock);
    PyObject_Free(self);
    Py_DECREF(type);
}

/** In the child of a fork, make a new lock unless this thread holds it: another thread, which does not exist here, may
 *  have taken the old one without having recorded it yet.
 *
 *  Returns: false, with an exception set, if that fails.
 */
static bool dg_bit_generator_renew(dg_bit_generator *bits)
{
    dg_pool_keep_apart(bits);
    const bool is_held = bits->entered > 0 && pthread_equal(bits->owner, pthread_self());
    if (bits->pool->is_ours == 0 && !is_held) {
        PyObject *lock = PyObject_CallNoArgs(bits->new_lock);
        if (lock == NULL) {
            return false;
        }
        Py_DECREF(bits->lock);
        bits->lock = lock;
        bits->entered = 0;
        bits->failure = 0;
    }
    bits->pool->is_ours = 1;
    return true;
}

static PyObject *dg_bit_generator_enter(PyObject *self, PyObject *none)
{
    (void)none;
    dg_bit_generator *bits = (dg_bit_generator *)self;
    if (!dg_bit_generator_renew(bits)) {
        return NULL;
    }
    PyObject *lock = bits->lock, *result;
    Py_INCREF(lock);
    result = PyObject_CallMethodObjArgs(lock, dg_python_bits.acquire, NULL);
    Py_DECREF(lock);
    if (result != NULL) {
        bits->owner = pthread_self();
        bits->entered++;
    }
    return result;
}

/** Leave the lock. Raises: EntropyError if a filling has failed since the lock was free, every time it is left. */
static PyObject *dg_bit_generator_exit(PyObject *self, PyObject *args)
{
    (void)args;
    dg_bit_generator *bits = (dg_bit_generator *)self;
    PyObject *result = PyObject_CallMethodObjArgs(bits->lock, dg_python_bits.release, NULL);
    if (result == NULL) {
        return NULL; /* this thread does not hold it */
    }
    const int failure = bits->failure; /* read before other threads take the interpreter's lock */
    if (--bits->entered == 0) {
        bits->failure = 0;
    }
    if (failure == 0) {
        return result;
    }
    Py_DECREF(result);
    PyObject *error =
        PyObject_CallFunction(dg_python_bits.error_for, "ii", (int)DG_ERR_ENTROPY, failure);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

/** Return a new type. Requires: it is called once. */
static PyObject *dg_bit_generator_type(void)
{
    static PyMethodDef methods[] = {
        {"__enter__", dg_bit_generator_enter, METH_NOARGS, NULL},
        {"__exit__", dg_bit_generator_exit, METH_VARARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    dg_python_bits.acquire = PyUnicode_InternFromString("acquire");
    dg_python_bits.release = PyUnicode_InternFromString("release");
    PyType_Slot slots[] = {
        {Py_tp_new, (void *)dg_bit_generator_new},
        {Py_tp_dealloc, (void *)dg_bit_generator_free},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    PyType_Spec spec = {"discretegauss._native.Bits", sizeof(dg_bit_generator), 0,
                        Py_TPFLAGS_DEFAULT, slots};
    return dg_python_bits.acquire == NULL || dg_python_bits.release == NULL
               ? NULL
               : PyType_FromSpec(&spec);
}

/** Append the type to a list, whose only item is error_for and lives for good. Returns: 0 | -1: there is no memory. */
static int dg_python_bits_type(void *list)
{
    PyGILState_STATE state = PyGILState_Ensure();
    dg_python_bits.error_for = PyList_GetItem((PyObject *)list, 0);
    Py_INCREF(dg_python_bits.error_for);
    PyObject *type = dg_bit_generator_type();
    const int result = type == NULL || PyList_Append((PyObject *)list, type) != 0 ? -1 : 0;
    Py_XDECREF(type);
    PyErr_Clear();
    PyGILState_Release(state);
    return result;
}

#endif
