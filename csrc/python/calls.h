/* Calls between Python and the core. The source that cffi generates includes this header.
 *
 * The core calls two things of Python: the handlers of signals, and a caller's source of bits. These functions are in C
 * because the next signal can interrupt a function written in Python, even on its first line or in its `except`. The
 * core would not learn of it, and the exception would be lost. Here handlers run where Python code runs, and nowhere
 * else.
 */
#ifndef DG_PYTHON_CALLS_H
#define DG_PYTHON_CALLS_H

#include <Python.h>

#include "discretegauss.h"

#include <stdint.h>
#include <string.h>

/** How many integers from -2^63 on are statuses if a draw is returned. */
enum { DG_PYTHON_STATUSES = 64 };

_Static_assert((int)DG_ERR_DOUBLINGS < (int)DG_PYTHON_STATUSES, "every status is below");

/** Return the exception that is set, and clear it. */
static PyObject *dg_python_take_error(void)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) {
        (void)PyException_SetTraceback(error, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return error;
}

/** Append the exception that is set to a list, and clear it. If there is no memory for that, it is lost: a caller that
 *  finds no error in the list raises a MemoryError. */
static void dg_python_keep_error(PyObject *errors)
{
    PyObject *error = dg_python_take_error();
    if (PyList_Append(errors, error) != 0) {
        PyErr_Clear();
    }
    Py_XDECREF(error);
}

/** A dg_run.pause: let Python run the handlers of pending signals. errors: a list, to which an exception that a handler
 *  raises is appended.
 *
 *  Returns: 1 if a handler raised, which ends the fill.
 */
static int dg_python_pause(void *errors)
{
    PyGILState_STATE state = PyGILState_Ensure();
    const int raised = PyErr_CheckSignals() != 0;
    if (raised) {
        dg_python_keep_error((PyObject *)errors);
    }
    PyGILState_Release(state);
    return raised;
}

/** A dg_fill_bytes: let a Python callable fill a bytearray of n zeros, copy the bytes, because the callable may keep
 *  the bytearray, and wipe it. context: two objects, the callable, which gets two memoryviews of the bytearray, and
 *  a list, to which an exception that it raises is appended.
 *
 *  Returns: 1 if it raised.
 */
static int dg_python_source(void *context, uint8_t *out, size_t n)
{
    PyObject **objects = (PyObject **)context, *view = NULL, *held = NULL, *result = NULL;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *buffer = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)n);
    if (buffer != NULL) {
        memset(PyByteArray_AsString(buffer), 0, n);
        view = PyMemoryView_FromObject(buffer);
        /* while this view exists, the buffer cannot be resized */
        held = PyMemoryView_FromObject(buffer);
    }
    if (view != NULL && held != NULL) {
        result = PyObject_CallFunctionObjArgs(objects[0], view, held, NULL);
    }
    if (result != NULL) {
        memcpy(out, PyByteArray_AsString(buffer), n);
    } else {
        dg_python_keep_error(objects[1]);
    }
    if (buffer != NULL) {
        memset(PyByteArray_AsString(buffer), 0, n);
    }
    const int failed = result == NULL;
    Py_XDECREF(result);
    Py_XDECREF(view);
    Py_XDECREF(held);
    Py_XDECREF(buffer);
    PyGILState_Release(state);
    return failed;
}

/** Fill an array. There are no cffi objects for the dg_run and the enumerations, because they would cost as much as
 *  some 100 draws. errors: the address of a list, to which an exception of a signal handler is appended.
 *
 *  Returns: a dg_status.
 */
static int dg_python_fill(void *out, size_t n, int dtype, const dg_sampler *sampler, size_t threads,
                          const dg_source *source, uintptr_t errors)
{
    const dg_run run = {threads, dg_python_pause, (void *)errors};
    return (int)dg_sampler_fill(out, n, (dg_dtype)dtype, sampler, &run, source);
}

/** Draw one int64. Returns: a draw, or -2^63 + a status. Requires: dg_sampler_fits_int64. */
static int64_t dg_python_draw(const dg_sampler *sampler, const dg_source *source)
{
    int64_t draw;
    const dg_status status = dg_sampler_fill(&draw, 1, DG_INT64, sampler, NULL, source);
    const int64_t least = INT64_MIN + DG_PYTHON_STATUSES;
    if (status != DG_OK) {
        return INT64_MIN + (int64_t)status;
    }
    return draw < least ? INT64_MIN + DG_ERR_RANGE : draw;
}

#endif
