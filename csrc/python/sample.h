/* `law.sample` as a built-in method of the class of laws: a Python function in its place takes as long as some
 * hundred draws.
 *
 * It makes draws that are plain: none but `size`, an int, and `source`, one of the system's, are given, and
 * int64 is known to hold the law. All else it leaves to the Python method, whose result is the same.
 *
 * A law keeps its `_sampler`, which says the address of its dg_sampler by two attributes: `_one`, if int64 is
 * known to hold a single draw; `_few`, if it holds the law.
 */
#ifndef DG_PYTHON_SAMPLE_H
#define DG_PYTHON_SAMPLE_H

#include "calls.h"

#include <errno.h>

/* More draws may take so long that Python's other threads should have their turn, and out of memory. */
enum { DG_PYTHON_FEW = 1 << 16 };

/** What calls need of Python, and the method, set once. */
static struct {
    PyObject *slowly;    /* the Python method */
    PyObject *error_for; /* makes the exception of a status and errno */
    PyObject *empty;     /* numpy.empty */
    PyObject *int64;     /* its dtype */
    PyObject *array;     /* numpy.ndarray */
    PyObject *size, *source, *sampler, *one, *few, *address; /* names */
    PyObject *getrandom, *chacha20; /* values, told by their addresses, as they are interned */
    PyMethodDef method;
} dg_python_sampling;

/** Return the exception that a status means, as `error_for` makes it of the status and errno; or NULL, with
 *  another exception set. */
static PyObject *dg_python_error(PyObject *error_for, dg_status status)
{
    return PyObject_CallFunction(error_for, "ii", (int)status, errno);
}

/** The address that an attribute of a law's sampler says; NULL: it has none. An exception is set only if it is
 *  none of Exception's: a law makes its sampler by Python code, where Ctrl-C may be heard. The sampler lives while
 *  *holder, a reference of the caller's or NULL, does: of two threads that make one at once, the law keeps the last. */
static dg_sampler *dg_python_known(PyObject **holder, PyObject *law, PyObject *name)
{
    dg_sampler *sampler = NULL;
    *holder = PyObject_GetAttr(law, dg_python_sampling.sampler);
    PyObject *address = *holder == NULL ? NULL : PyObject_GetAttr(*holder, name);
    if (address != NULL && PyLong_Check(address)) {
        sampler = PyLong_AsVoidPtr(address);
    }
    Py_XDECREF(address);
    if (PyErr_Occurred() != NULL && PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear(); /* the Python method raises it, too */
    }
    return sampler;
}

/** Set the exception of a status. Returns: NULL. */
static PyObject *dg_python_raise(dg_status status)
{
    PyObject *error = dg_python_error(dg_python_sampling.error_for, status);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

static PyObject *dg_python_one(dg_sampler *sampler, const dg_source *source)
{
    PyThreadState *state = PyEval_SaveThread();
    const int64_t drawn = dg_sampler_draw(DG_AUTO, sampler, source);
    PyEval_RestoreThread(state); /* errno is kept */
    return drawn < DG_LEAST_DRAW ? dg_python_raise((dg_status)(drawn - INT64_MIN))
                                 : PyLong_FromLongLong(drawn);
}

/** A new array of int64 with one axis, open to be written to. NULL, without an exception: there is no memory. */
static PyObject *dg_python_new_array(Py_buffer *view, PyObject *size)
{
    PyObject *out = PyObject_CallFunctionObjArgs(dg_python_sampling.empty, size,
                                                 dg_python_sampling.int64, NULL);
    if (out == NULL || PyObject_GetBuffer(out, view, PyBUF_WRITABLE) != 0) {
        PyErr_Clear();
        Py_XDECREF(out);
        return NULL;
    }
    return out;
}

/** Return an array that was filled, no longer open, with errno kept; or raise what went wrong: raised, if that is not
 *  NULL, else the status. Takes over out and raised. */
static PyObject *dg_python_filled(PyObject *out, Py_buffer *view, dg_status status,
                                  PyObject *raised)
{
    const int code = errno;
    PyBuffer_Release(view);
    if (status == DG_OK) {
        return out;
    }
    Py_DECREF(out);
    if (raised == NULL) {
        errno = code;
        return dg_python_raise(status);
    }
    PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    Py_DECREF(raised);
    return NULL;
}

/** A new array of draws. NULL without an exception: there is no memory for it. */
static PyObject *dg_python_array(PyObject *size, size_t n, dg_sampler *sampler,
                                 const dg_source *source)
{
    Py_buffer view;
    PyObject *out = dg_python_new_array(&view, size), *raised = NULL; /* by a signal's handler */
    if (out == NULL) {
        return NULL;
    }
    const dg_run run = {1, dg_python_pause_once, &raised};
    PyThreadState *state = PyEval_SaveThread();
    const dg_status status = dg_sampler_fill(view.buf, n, DG_INT64, DG_AUTO, sampler, &run, source);
    PyEval_RestoreThread(state); /* errno is kept */
    return dg_python_filled(out, &view, status, raised);
}

static PyObject *dg_python_sample(PyObject *law, PyObject *const *args, Py_ssize_t n_args,
                                  PyObject *names)
{
    static const dg_source chacha20 = {DG_SOURCE_CHACHA20, NULL, NULL};
    const dg_source *source = NULL;
    PyObject *size = n_args > 0 ? args[0] : NULL;
    int is_plain = n_args <= 1;
    for (Py_ssize_t i = 0; is_plain && names != NULL && i < PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, i), *value = args[n_args + i];
        if (name == dg_python_sampling.size && size == NULL) {
            size = value;
        } else if (name == dg_python_sampling.source && value == dg_python_sampling.chacha20) {
            source = &chacha20;
        } else {
            is_plain = name == dg_python_sampling.source && value == dg_python_sampling.getrandom;
        }
    }
    PyObject *result = NULL, *holder = NULL;
    if (is_plain && (size == NULL || size == Py_None)) {
        dg_sampler *sampler = dg_python_known(&holder, law, dg_python_sampling.one);
        if (sampler != NULL) {
            result = dg_python_one(sampler, source);
        }
    } else if (is_plain && PyLong_CheckExact(size)) {
        const Py_ssize_t n = PyLong_AsSsize_t(size); /* -1 with an exception: far too many */
        PyErr_Clear();
        dg_sampler *sampler = n >= 0 && n <= DG_PYTHON_FEW
                                  ? dg_python_known(&holder, law, dg_python_sampling.few)
                                  : NULL;
        if (sampler != NULL) {
            result = dg_python_array(size, (size_t)n, sampler, source);
        }
    }
    if (result != NULL || PyErr_Occurred() != NULL) {
        Py_XDECREF(holder);
        return result;
    }
    Py_XDECREF(holder);
    /* as it was called */
    PyObject *given = PyTuple_New(n_args + 1), *named = PyDict_New();
    int failed = given == NULL || named == NULL;
    for (Py_ssize_t i = 0; !failed && i <= n_args; i++) {
        PyObject *value = i == 0 ? law : args[i - 1];
        Py_INCREF(value);
        failed = PyTuple_SetItem(given, i, value) != 0;
    }
    for (Py_ssize_t i = 0; !failed && names != NULL && i < PyTuple_Size(names); i++) {
        failed = PyDict_SetItem(named, PyTuple_GetItem(names, i), args[n_args + i]) != 0;
    }
    if (!failed) {
        result = PyObject_Call(dg_python_sampling.slowly, given, named);
    }
    Py_XDECREF(given);
    Py_XDECREF(named);
    return result;
}

/** Return the method. given: a tuple of the class, the Python method, and what help() shows, bytes.
 *  Requires: it is called once. */
static PyObject *dg_python_new_sample(PyObject *none, PyObject *given)
{
    (void)none;
    PyObject *type = PyTuple_GetItem(given, 0), *shown = PyTuple_GetItem(given, 2);
    dg_python_sampling.slowly = PyTuple_GetItem(given, 1);
    dg_python_sampling.size = PyUnicode_InternFromString("size");
    dg_python_sampling.source = PyUnicode_InternFromString("source");
    dg_python_sampling.sampler = PyUnicode_InternFromString("_sampler");
    dg_python_sampling.one = PyUnicode_InternFromString("_one");
    dg_python_sampling.few = PyUnicode_InternFromString("_few");
    dg_python_sampling.getrandom = PyUnicode_InternFromString("getrandom");
    dg_python_sampling.chacha20 = PyUnicode_InternFromString("chacha20");
    dg_python_sampling.method =
        (PyMethodDef){"sample", (PyCFunction)(void (*)(void))dg_python_sample,
                      METH_FASTCALL | METH_KEYWORDS, PyBytes_AsString(shown)};
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    Py_INCREF(given); /* for good, with what is in it */
    return PyDescr_NewMethod((PyTypeObject *)type, &dg_python_sampling.method);
}

#endif
