/* Python integers, and integers of other lengths, made of draws. Included by the source that cffi generates.
 *
 * The limited API of Python 3.11 makes integers of at most 64 bits. For longer ones it has
 * int.from_bytes, at 140 ns an integer; the two functions below take a third of that, and no Python
 * lacks both.
 */
#ifndef DG_PYTHON_OBJECTS_H
#define DG_PYTHON_OBJECTS_H

#include <Python.h>

#include "discretegauss.h"

#include <stdint.h>
#include <string.h>

/* The one that this Python does not have is NULL. */
#if defined(_WIN32)
#include <windows.h>

typedef PyObject *(*dg_from_native_bytes)(const void *, size_t, int);
typedef PyObject *(*dg_from_byte_array)(const unsigned char *, size_t, int, int);

/** A function of the Python that runs, whose library has another name in each version; NULL: it has none. */
static void *dg_python_symbol(const char *name)
{
    HMODULE library;
    void *function = NULL;
    if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                               GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           (LPCWSTR)(void *)PyLong_FromLongLong, &library)) {
        FARPROC found = GetProcAddress(library, name);
        memcpy(&function, &found, sizeof function);
    }
    return function;
}

#define PyLong_FromNativeBytes ((dg_from_native_bytes)dg_python_symbol("PyLong_FromNativeBytes"))
#define _PyLong_FromByteArray ((dg_from_byte_array)dg_python_symbol("_PyLong_FromByteArray"))
#else
#if defined(__APPLE__)
#define DG_WEAK __attribute__((weak_import))
#else
#define DG_WEAK __attribute__((weak))
#endif
/** Public from Python 3.13 on, and in the limited API of 3.14. */
extern PyObject *PyLong_FromNativeBytes(const void *bytes, size_t n, int flags) DG_WEAK;
/** For 3.11 and 3.12, whose binary interface is settled. */
extern PyObject *_PyLong_FromByteArray(const unsigned char *bytes, size_t n, int little_endian,
                                       int is_signed) DG_WEAK;
#endif

/** An integer of n bytes in two's complement, least significant first; NULL: an exception is set. */
static PyObject *dg_python_long(const uint8_t *bytes, size_t n)
{
    if (PyLong_FromNativeBytes != NULL) {
        enum { LITTLE_ENDIAN_SIGNED = 1 };
        return PyLong_FromNativeBytes(bytes, n, LITTLE_ENDIAN_SIGNED);
    }
    if (_PyLong_FromByteArray != NULL) {
        return _PyLong_FromByteArray(bytes, n, 1, 1);
    }
    PyErr_SetString(PyExc_SystemError, "this Python makes no integers of bytes");
    return NULL;
}

/** As dg_python_long, but what 64 bits hold takes a third of its time. */
static PyObject *dg_python_integer(const uint8_t *bytes, size_t n)
{
    const uint8_t sign = bytes[n - 1] >= 128 ? 255 : 0;
    size_t used = n;
    while (used > 8 && bytes[used - 1] == sign) {
        used--;
    }
    if (used > 8 || (bytes[used - 1] >= 128) != (sign != 0)) {
        return dg_python_long(bytes, used < n ? used + 1 : n);
    }
    uint64_t word = sign != 0 ? UINT64_MAX : 0;
    for (size_t i = used; i > 0; i--) {
        word = word << 8 | bytes[i - 1];
    }
    const int64_t value = word <= INT64_MAX ? (int64_t)word : -1 - (int64_t)~word;
    return PyLong_FromLongLong(value);
}

/** Where draws of any size go: Python integers into an array of objects, or two's complement of row_bytes into
 *  rows. */
typedef struct dg_python_wide {
    void **objects; /* NULL: rows */
    uint8_t *rows;
    size_t row_bytes;
    size_t reached; /* what is beyond was not written to */
} dg_python_wide;

/** Put integers into elements [first, first + n) of an array of objects, in the place of what they hold. */
static dg_status dg_python_keep_objects(void **out, size_t n, size_t n_bytes, const uint8_t *bytes)
{
    PyGILState_STATE state = PyGILState_Ensure();
    size_t done = 0;
    for (; done < n; done++) {
        PyObject *made = dg_python_integer(bytes + done * n_bytes, n_bytes);
        if (made == NULL) {
            PyErr_Clear();
            break;
        }
        PyObject *held = (PyObject *)out[done];
        out[done] = made;
        Py_XDECREF(held);
    }
    PyGILState_Release(state);
    return done < n ? DG_ERR_NOMEM : DG_OK;
}

/** Copy integers to places of another length. */
static dg_status dg_python_keep_rows(uint8_t *out, size_t to_bytes, size_t n, size_t n_bytes,
                                     const uint8_t *bytes)
{
    const size_t copied = to_bytes < n_bytes ? to_bytes : n_bytes;
    uint8_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *one = bytes + i * n_bytes;
        const uint8_t sign = one[copied - 1] >= 128 ? 255 : 0;
        memcpy(out + i * to_bytes, one, copied);
        memset(out + i * to_bytes + copied, sign, to_bytes - copied);
        for (size_t k = copied; k < n_bytes; k++) {
            lost |= one[k] ^ sign;
        }
    }
    return lost != 0 ? DG_ERR_RANGE : DG_OK;
}

/** A dg_take. */
static dg_status dg_python_keep(void *context, size_t first, size_t n, size_t n_bytes,
                                const uint8_t *integers)
{
    dg_python_wide *to = (dg_python_wide *)context;
    to->reached = first + n > to->reached ? first + n : to->reached;
    return to->objects != NULL ? dg_python_keep_objects(to->objects + first, n, n_bytes, integers)
                               : dg_python_keep_rows(to->rows + first * to->row_bytes,
                                                     to->row_bytes, n, n_bytes, integers);
}

#endif
