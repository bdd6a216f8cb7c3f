/* Between Python and the core, included by the source that cffi generates.
 *
 * What the core calls that is Python's: the handlers of signals, and a caller's source of bits. In C,
 * because a function written in Python can itself be cut short by the next signal, on its first line or
 * in its `except`: the core would not be told, and the exception lost. Here signals are heard where
 * Python runs, and nowhere else.
 *
 * And what Python calls often and is short: fills of arrays with bits of the system, and single draws,
 * as built-in functions. The way there by cffi takes as long as a short fill.
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

/** Return the exception that a status means, as `error_for` makes it of the status and errno; or NULL, with
 *  another exception set. */
static PyObject *dg_python_error(PyObject *error_for, dg_status status)
{
    return PyObject_CallFunction(error_for, "ii", (int)status, errno);
}

/** Fill an array with bits of the system. args: a dg_sampler's address, which the caller keeps alive; the
 *  array (contiguous integers of the dtype); the dg_dtype; the dg_method; threads at most; the
 *  dg_source_kind.
 *
 *  Returns: None | what a signal's handler raised, or a tuple of the dg_status and errno: after those the
 *           array holds no draw. They are not raised, and so told from what a handler raises as the call
 *           returns, with draws in the array.
 */
static PyObject *dg_python_fill_now(PyObject *none, PyObject *const *args, Py_ssize_t n_args)
{
    (void)none;
    if (n_args != 6) {
        PyErr_SetString(PyExc_TypeError, "six arguments are taken");
        return NULL;
    }
    dg_sampler *sampler = PyLong_AsVoidPtr(args[0]);
    long numbers[4]; /* dtype, method, threads, kind of source */
    for (int i = 0; i < 4; i++) {
        numbers[i] = PyLong_AsLong(args[2 + i]);
    }
    Py_buffer view;
    if (PyErr_Occurred() != NULL || PyObject_GetBuffer(args[1], &view, PyBUF_WRITABLE) != 0) {
        return NULL;
    }
    PyObject *result = NULL, *errors = PyList_New(0);
    if (errors != NULL) {
        const dg_run run = {(size_t)numbers[2], dg_python_pause, errors};
        const dg_source source = {(dg_source_kind)numbers[3], NULL, NULL};
        const size_t n = (size_t)(view.len / view.itemsize);
        PyThreadState *state = PyEval_SaveThread();
        const dg_status status = dg_sampler_fill(view.buf, n, (dg_dtype)numbers[0],
                                                 (dg_method)numbers[1], sampler, &run, &source);
        PyEval_RestoreThread(state); /* errno is kept */
        if (status == DG_OK) {
            result = Py_None;
            Py_INCREF(result);
        } else if (status == DG_ERR_STOPPED && PyList_Size(errors) > 0) {
            result = PyList_GetItem(errors, 0);
            Py_INCREF(result);
        } else {
            result = Py_BuildValue("(ii)", (int)status, errno);
        }
        Py_DECREF(errors);
    }
    PyBuffer_Release(&view);
    return result;
}

/** Draw once with bits of the system. self: a tuple of the sampler's address, what keeps it alive, and
 *  error_for. */
static PyObject *dg_python_draw(PyObject *self, PyObject *none)
{
    (void)none;
    dg_sampler *sampler = PyLong_AsVoidPtr(PyTuple_GetItem(self, 0));
    PyThreadState *state = PyEval_SaveThread();
    const int64_t drawn = dg_sampler_draw(DG_AUTO, sampler, NULL);
    PyEval_RestoreThread(state);
    if (drawn < DG_LEAST_DRAW) {
        const dg_status status = (dg_status)(drawn - INT64_MIN);
        PyObject *error = dg_python_error(PyTuple_GetItem(self, 2), status);
        if (error != NULL) {
            PyErr_SetObject((PyObject *)Py_TYPE(error), error);
            Py_DECREF(error);
        }
        return NULL;
    }
    return PyLong_FromLongLong(drawn);
}

/** Return a function without arguments that draws once. self: as that of dg_python_draw. */
static PyObject *dg_python_new_draw(PyObject *error_for, PyObject *self)
{
    static PyMethodDef draw = {"draw_now", dg_python_draw, METH_NOARGS, NULL};
    (void)error_for;
    return PyCFunction_New(&draw, self);
}

/** Append to a list, whose only item is error_for: the function that fills, and the one that makes
 *  functions for single draws.
 *
 *  Returns: 0 | -1: there is no memory.
 */
static int dg_python_functions(void *list)
{
    static PyMethodDef methods[] = {
        {"fill_now", (PyCFunction)(void (*)(void))dg_python_fill_now, METH_FASTCALL, NULL},
        {"new_draw", dg_python_new_draw, METH_O, NULL},
    };
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *functions = (PyObject *)list, *error_for = PyList_GetItem(functions, 0);
    int result = 0;
    for (size_t i = 0; i < sizeof methods / sizeof *methods && result == 0; i++) {
        PyObject *function = PyCFunction_New(&methods[i], error_for);
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
