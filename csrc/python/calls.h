/* Between Python and the core, included by the source that cffi generates.
 *
 * What the core calls that is Python's: the handlers of signals, and a caller's source of bits. In C,
 * because a function written in Python can itself be cut short by the next signal, on its first line or
 * in its `except`: the core would not be told, and the exception lost. Here signals are heard where
 * Python runs, and nowhere else.
 * */
#ifndef DG_PYTHON_CALLS_H
#define DG_PYTHON_CALLS_H

#include <Python.h>

#include "discretegauss.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

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

/** Append the exception that is set to a list, and clear it. Without memory for that it is lost: whoever
 *  finds no error in the list raises a MemoryError. */
static void dg_python_keep_error(PyObject *errors)
{
    PyObject *error = dg_python_take_error();
    if (PyList_Append(errors, error) != 0) {
        PyErr_Clear();
    }
    Py_XDECREF(error);
}

/** A dg_run.pause: let Python run the handlers of signals that have come. errors: a list, to which what
 *  one of them raised is appended.
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

/** The same for one call from C: error: a place for what a handler raised, NULL before. */
static int dg_python_pause_once(void *error)
{
    PyGILState_STATE state = PyGILState_Ensure();
    const int stops = PyErr_CheckSignals() != 0;
    if (stops) {
        *(PyObject **)error = dg_python_take_error();
    }
    PyGILState_Release(state);
    return stops;
}

/** A dg_fill_bytes: have a Python callable fill a bytearray of n zeros, then copy that, as it may keep it;
 *  and wipe it. context: two objects, the callable, which is given two memoryviews of the bytearray, and
 *  a list, to which what it raised is appended.
 *
 *  Returns: 1 if it raised.
 */
static int dg_python_fill(void *context, uint8_t *out, size_t n)
{
    PyObject **objects = (PyObject **)context, *view = NULL, *held = NULL, *result = NULL;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *buffer = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)n);
    if (buffer != NULL) {
        memset(PyByteArray_AsString(buffer), 0, n);
        view = PyMemoryView_FromObject(buffer);
        /* while this one is there, nobody can shorten the buffer */
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

/** A sampler_of of dg_laws: ask a Python callable for law i's address. context: two objects, the callable, and a
 *  list, to which what it raised is appended.
 *
 *  Returns: NULL if it raised.
 */
static dg_sampler *dg_python_sampler_of(void *context, size_t i, const uint64_t *rest)
{
    (void)rest;
    PyObject **objects = (PyObject **)context;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *place = PyLong_FromSize_t(i);
    PyObject *address =
        place == NULL ? NULL : PyObject_CallFunctionObjArgs(objects[0], place, NULL);
    dg_sampler *sampler = address == NULL ? NULL : PyLong_AsVoidPtr(address);
    if (PyErr_Occurred() != NULL) {
        sampler = NULL;
        dg_python_keep_error(objects[1]);
    }
    Py_XDECREF(place);
    Py_XDECREF(address);
    PyGILState_Release(state);
    return sampler;
}

#endif
