/* What the core calls that is Python's: the handlers of signals, and a caller's source of bits. And the
 * calls of Python's that are many and short: fills of arrays with bits of the system, and single draws,
 * as built-in functions: the way there by cffi takes as long as a short fill.
 * Included by the source that cffi generates.
 *
 * What the core calls is in C, because a function written in Python can itself be cut short by the next signal, on its first
 * line or in its `except`: the core would not be told, and the exception lost. Here signals are heard
 * where Python runs, and nowhere else.
 */
#ifndef DG_PYTHON_CALLS_H
#define DG_PYTHON_CALLS_H

#include <Python.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

/** Append the exception that is set to a list, and clear it. Without memory for that it is lost: whoever
 *  finds no error in the list raises a MemoryError. */
static void dg_python_keep_error(PyObject *errors)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) {
        (void)PyException_SetTraceback(error, traceback);
    }
    if (PyList_Append(errors, error) != 0) {
        PyErr_Clear();
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
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

/** Have Python raise what a status means. raise: a callable, given the status and errno.
 *
 *  Returns: NULL, with the exception set.
 */
static PyObject *dg_python_failed(PyObject *raise, dg_status status)
{
    PyObject *none = PyObject_CallFunction(raise, "ii", (int)status, errno);
    if (none != NULL) { /* it raised nothing: no draw must pass for one */
        Py_DECREF(none);
        PyErr_SetString(PyExc_SystemError, "a status of the core was not raised");
    }
    return NULL;
}

typedef dg_status (*dg_python_filler)(void *out, size_t n, dg_dtype dtype, const void *handle,
                                      const dg_run *run, const dg_source *source);

static dg_status dg_python_by_law(void *out, size_t n, dg_dtype dtype, const void *law,
                                  const dg_run *run, const dg_source *source)
{
    return dg_law_fill(out, n, dtype, (const dg_law *)law, run, source);
}

static dg_status dg_python_by_table(void *out, size_t n, dg_dtype dtype, const void *table,
                                    const dg_run *run, const dg_source *source)
{
    return dg_table_fill(out, n, dtype, (const dg_table *)table, run, source);
}

/** Fill an array with bits of the system. args: the handle's address, which the caller keeps alive; the
 *  array (contiguous integers of the dtype); the dg_dtype; threads at most; the dg_source_kind. */
static PyObject *dg_python_fill_array(PyObject *raise, PyObject *const *args, Py_ssize_t n_args,
                                      dg_python_filler fill)
{
    if (n_args != 5) {
        PyErr_SetString(PyExc_TypeError, "five arguments are taken");
        return NULL;
    }
    const void *handle = PyLong_AsVoidPtr(args[0]);
    const long dtype = PyLong_AsLong(args[2]), threads = PyLong_AsLong(args[3]),
               kind = PyLong_AsLong(args[4]);
    Py_buffer view;
    if (PyErr_Occurred() != NULL || PyObject_GetBuffer(args[1], &view, PyBUF_WRITABLE) != 0) {
        return NULL;
    }
    dg_status status = DG_ERR_NOMEM;
    PyObject *errors = PyList_New(0);
    if (errors != NULL) {
        const dg_run run = {(size_t)threads, dg_python_pause, errors};
        const dg_source source = {(dg_source_kind)kind, NULL, NULL};
        const size_t n = (size_t)(view.len / view.itemsize);
        Py_BEGIN_ALLOW_THREADS status = fill(view.buf, n, (dg_dtype)dtype, handle, &run, &source);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&view);
    PyObject *result = NULL;
    if (status == DG_OK) {
        result = Py_None;
        Py_INCREF(result);
    } else if (status == DG_ERR_STOPPED && PyList_Size(errors) > 0) {
        PyObject *error = PyList_GetItem(errors, 0);
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    } else if (errors != NULL) {
        (void)dg_python_failed(raise, status);
    }
    Py_XDECREF(errors);
    return result;
}

static PyObject *dg_python_fill_by_law(PyObject *raise, PyObject *const *args, Py_ssize_t n_args)
{
    return dg_python_fill_array(raise, args, n_args, dg_python_by_law);
}

static PyObject *dg_python_fill_by_table(PyObject *raise, PyObject *const *args, Py_ssize_t n_args)
{
    return dg_python_fill_array(raise, args, n_args, dg_python_by_table);
}

/** Draw once with bits of the system. self: a tuple of the sampler's address, what keeps it alive, and
 *  the callable that raises. */
static PyObject *dg_python_draw(PyObject *self, PyObject *none)
{
    (void)none;
    const dg_isochronous *sampler = PyLong_AsVoidPtr(PyTuple_GetItem(self, 0));
    int64_t drawn;
    Py_BEGIN_ALLOW_THREADS drawn = dg_isochronous_draw(sampler, NULL);
    Py_END_ALLOW_THREADS if (drawn < DG_LEAST_DRAW)
    {
        return dg_python_failed(PyTuple_GetItem(self, 2), (dg_status)(drawn - INT64_MIN));
    }
    return PyLong_FromLongLong(drawn);
}

/** Return a function without arguments that draws once. self: as that of dg_python_draw. */
static PyObject *dg_python_new_draw(PyObject *raise, PyObject *self)
{
    static PyMethodDef draw = {"draw_now", dg_python_draw, METH_NOARGS, NULL};
    (void)raise;
    return PyCFunction_New(&draw, self);
}

/** Append to a list, whose only item is the callable that raises: the functions that fill by a law and by
 *  a table, and the one that makes functions for single draws.
 *
 *  Returns: 0 | -1: there is no memory.
 */
static int dg_python_functions(void *list)
{
    static PyMethodDef methods[] = {
        {"fill_by_law", (PyCFunction)(void (*)(void))dg_python_fill_by_law, METH_FASTCALL, NULL},
        {"fill_by_table", (PyCFunction)(void (*)(void))dg_python_fill_by_table, METH_FASTCALL,
         NULL},
        {"new_draw", dg_python_new_draw, METH_O, NULL},
    };
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *functions = (PyObject *)list, *raise = PyList_GetItem(functions, 0);
    int result = 0;
    for (size_t i = 0; i < sizeof methods / sizeof *methods && result == 0; i++) {
        PyObject *function = PyCFunction_New(&methods[i], raise);
        result = function == NULL ? -1 : PyList_Append(functions, function);
        Py_XDECREF(function);
    }
    if (result != 0) {
        PyErr_Clear();
    }
    PyGILState_Release(state);
    return result;
}

#endif
