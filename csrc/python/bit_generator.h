/* Bits for numpy's generators, by its interface for C (numpy/random/bitgen.h): what `compat.SystemBits` is.
 *
 * The one place where random bits outlive a call: a pool, in an object that the user made. No two draws, in whatever
 * process or thread, are of the same bits:
 *
 * - What is taken from a pool is wiped there, and the key of ChaCha20 is replaced with each filling: a pool does not
 *   tell what it gave before. When its object goes, it is wiped.
 * - In the child of a fork, by whatever call, the system wipes the pool (MADV_WIPEONFORK, Linux 4.14), and zeros are an
 *   empty pool without a key. Where the system does not, each call looks whether this is the process that filled it.
 * - Objects are not copied: a generator of numpy's that is shares this one, as threads do, and its lock.
 *
 * A filling may fail in functions that can return no error. The object is also the lock that numpy's methods hold as
 * they draw: they are given void words, which end loops as random ones would, and leaving the lock raises, so that
 * none of them is returned. Who draws without the lock waits until the system gives bits. Linux does so from the first
 * success on: getrandom(2) with flags 0 has no error left but EINTR, unless a filter of system calls is put on the
 * process later. macOS and Windows name no failure either.
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

/** Names, and what makes the exception of a status and errno. */
static struct {
    PyObject *acquire, *release, *error_for;
} dg_python_bits;

/** As numpy declares it. */
typedef struct dg_bitgen {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} dg_bitgen;

/** A multiple of all batches of ChaCha20's kernels, of which it begins with the next key. */
enum { DG_POOL_BYTES = 8 * DG_CHACHA20_MOST_LANES * DG_CHACHA20_BLOCK };

/** Of zeros: nothing is here, no key either. */
typedef struct dg_pool {
    uint8_t bytes[DG_POOL_BYTES];
    uint64_t left;    /* bytes[DG_CHACHA20_KEY .. left) are unused */
    uint64_t is_ours; /* 0: this is the child of a fork, in which the lock was not taken yet */
} dg_pool;

typedef struct dg_bit_generator {
    PyObject ob_base;
    dg_pool *pool;
    int64_t process; /* that filled the pool; 0: nobody looks, as the system wipes it in a child */
    dg_source_kind kind;
    PyObject *new_lock, *lock; /* threading.RLock, and one of it */
    dg_thread owner;           /* of the lock, while it is held */
    size_t entered;            /* how many times it is held */
    int failure;               /* errno of what failed since it was free */
    uint64_t n_void;
} dg_bit_generator;

/** A new pool, of zeros. *is_wiped: whether the system wipes it in the child of a fork, or there is none.
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

/** Fill a pool. Ensures: DG_OK -> all of it is unused; else it is empty. Returns: DG_OK | DG_ERR_ENTROPY. */
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
        DG_SOURCE_CHACHA20) { /* of each key block 0 on, once: it is overwritten by the next */
        uint8_t key[DG_CHACHA20_KEY];
        memcpy(key, pool->bytes, sizeof key);
        dg_chacha20_blocks(pool->bytes, DG_POOL_BYTES / DG_CHACHA20_BLOCK, key, 0,
                           &(dg_prefetch){0});
        dg_wipe(key, sizeof key);
    }
    pool->left = DG_POOL_BYTES;
    return DG_OK;
}

/** Where the system does not wipe the pool in the child of a fork, wipe it. */
static void dg_pool_keep_apart(dg_bit_generator *bits)
{
    if (bits->process != 0 && bits->process != dg_process()) {
        dg_wipe(bits->pool, sizeof *bits->pool);
        bits->process = dg_process();
    }
}

/** Have n bytes in the pool. Requires: n <= 8. Returns: false: there are none, and leaving the lock raises. */
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

/** Take n bytes, and wipe them. Returns: false: as dg_pool_ready. */
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

/** A word that is not random, and reaches nobody: splitmix64. */
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

/** A multiple of 2^-53 below 1, all alike. numpy's interface has it: no draw of the core's is made of it. */
static double dg_python_next_double(void *state)
{
    return (double)(dg_python_next_uint64(state) >> 11) * 0x1p-53;
}

/** Make one of a capsule of numpy's, whose functions it sets, and which has to live as long as it is drawn from; the
 *  class threading.RLock; the dg_source_kind; and whether each call looks at the process, whatever the system does. */
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

/** In the child of a fork take a new lock, unless this thread holds it: another one, which is not there any more, may
 *  have got it and not have told so yet.
 *
 *  Returns: false, with an exception set: there is none.
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

/** Leave the lock. Raises: EntropyError if since it was free a filling failed, each time that it is left. */
static PyObject *dg_bit_generator_exit(PyObject *self, PyObject *args)
{
    (void)args;
    dg_bit_generator *bits = (dg_bit_generator *)self;
    PyObject *result = PyObject_CallMethodObjArgs(bits->lock, dg_python_bits.release, NULL);
    if (result == NULL) {
        return NULL; /* it was not held, by this thread */
    }
    const int failure = bits->failure; /* other threads want the interpreter's lock, too */
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

/** Return the type, new. Requires: it is called once. */
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

/** Append the type to a list, whose one item is error_for and stays for good. Returns: 0 | -1: there is no memory. */
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
