/* What Python calls often and is short, as built-in functions: the way there by cffi takes as long as a short
 * fill.
 */
#ifndef DG_PYTHON_FUNCTIONS_H
#define DG_PYTHON_FUNCTIONS_H

#include "bit_generator.h"
#include "sample_columns.h"

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
    PyObject *raised = NULL; /* by a signal's handler */
    const dg_run run = {(size_t)numbers[2], dg_python_pause_once, &raised};
    const dg_source source = {(dg_source_kind)numbers[3], NULL, NULL};
    const size_t n = (size_t)(view.len / view.itemsize);
    PyThreadState *state = PyEval_SaveThread();
    const dg_status status = dg_sampler_fill(view.buf, n, (dg_dtype)numbers[0],
                                             (dg_method)numbers[1], sampler, &run, &source);
    PyEval_RestoreThread(state);
    const int code = errno; /* kept up to here */
    PyBuffer_Release(&view);
    if (status == DG_OK) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    return raised != NULL ? raised : Py_BuildValue("(ii)", (int)status, code);
}

/** Append to a list the function that fills, the one that makes the method `sample`, and the one that draws with
 *  columns; and the type of bit_generator.h. Its items are error_for, numpy.empty, the dtype int64 and numpy.ndarray, and stay for good.
 *
 *  Returns: 0 | -1: there is no memory.
 */
static int dg_python_functions(void *list)
{
    static PyMethodDef methods[] = {
        {"fill_now", (PyCFunction)(void (*)(void))dg_python_fill_now, METH_FASTCALL, NULL},
        {"new_sample", dg_python_new_sample, METH_O, NULL},
        {"columns", (PyCFunction)(void (*)(void))dg_python_columns, METH_FASTCALL, NULL},
    };
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *functions = (PyObject *)list;
    PyObject **items[] = {&dg_python_sampling.error_for, &dg_python_sampling.empty,
                          &dg_python_sampling.int64, &dg_python_sampling.array};
    for (Py_ssize_t i = 0; i < 4; i++) {
        *items[i] = PyList_GetItem(functions, i);
        Py_INCREF(*items[i]);
    }
    dg_python_sampling.address = PyUnicode_InternFromString("_address");
    int result = dg_python_sampling.address == NULL ? -1 : 0;
    for (size_t i = 0; i < sizeof methods / sizeof *methods && result == 0; i++) {
        PyObject *function = PyCFunction_New(&methods[i], NULL);
        result = function == NULL ? -1 : PyList_Append(functions, function);
        Py_XDECREF(function);
    }
    PyObject *type = result == 0 ? dg_bit_generator_type() : NULL;
    if (type == NULL || PyList_Append(functions, type) != 0) {
        result = -1;
        PyErr_Clear();
    }
    Py_XDECREF(type);
    PyGILState_Release(state);
    return result;
}

#endif
