/* Draws with an array of parameters, where all is plain: the way there in Python takes as long as some thousand
 * draws.
 *
 * Plain are arrays of int64 or float64 with one axis, contiguous, of one length or of length 1, and laws that int64
 * surely holds. All else is
 * left to Python, which finds the same, or says what is wrong.
 */
#ifndef DG_PYTHON_SAMPLE_COLUMNS_H
#define DG_PYTHON_SAMPLE_COLUMNS_H

#include "sample.h"

/** What is known of a call. */
typedef struct dg_python_call {
    PyObject *kept; /* returns the sampler of a kind, a parameter, mu and beta */
    PyObject *kind, *parameter, *mu, *beta;
    size_t stride;    /* 0: the parameter is an array of one number */
    PyObject *held;   /* a list of samplers; NULL: none yet */
    PyObject *raised; /* what ended the call */
} dg_python_call;

/** The sampler of numbers, which is held from now on. Returns: NULL, with an exception set. */
static dg_sampler *dg_python_get_sampler(dg_python_call *call, PyObject *parameter, PyObject *mu)
{
    PyObject *sampler =
        PyObject_CallFunctionObjArgs(call->kept, call->kind, parameter, mu, call->beta, NULL);
    PyObject *address =
        sampler == NULL ? NULL : PyObject_GetAttr(sampler, dg_python_sampling.address);
    dg_sampler *result = address == NULL ? NULL : PyLong_AsVoidPtr(address);
    if (call->held == NULL) {
        call->held = PyList_New(0);
    }
    if (result != NULL && (call->held == NULL || PyList_Append(call->held, sampler) != 0)) {
        result = NULL;
    }
    Py_XDECREF(sampler);
    Py_XDECREF(address);
    return result;
}

/** The Python float of a binary64's bits. */
static PyObject *dg_python_float(const uint64_t *bits)
{
    char copy[sizeof *bits];
    memcpy(copy, bits, sizeof copy);
    PyObject *bytes = PyMemoryView_FromMemory(copy, sizeof copy, PyBUF_READ);
    PyObject *floats = bytes == NULL ? NULL : PyObject_CallMethod(bytes, "cast", "s", "d");
    PyObject *result = floats == NULL ? NULL : PySequence_GetItem(floats, 0);
    Py_XDECREF(floats);
    Py_XDECREF(bytes);
    return result;
}

/** A sampler_of of dg_laws. */
static dg_sampler *dg_python_kept_sampler(void *context, size_t i, const uint64_t *rest)
{
    dg_python_call *call = (dg_python_call *)context;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *parameter = PySequence_GetItem(call->parameter, (Py_ssize_t)(i * call->stride));
    PyObject *mu = *rest == 0 ? PyLong_FromLong(0) : dg_python_float(rest);
    dg_sampler *sampler =
        parameter == NULL || mu == NULL ? NULL : dg_python_get_sampler(call, parameter, mu);
    if (sampler == NULL) {
        call->raised = dg_python_take_error();
    }
    Py_XDECREF(parameter);
    Py_XDECREF(mu);
    PyGILState_Release(state);
    return sampler;
}

/** A dg_run.pause. */
static int dg_python_pause_columns(void *context)
{
    return dg_python_pause_once(&((dg_python_call *)context)->raised);
}

/** Open an array as a column. Returns: 0: it is not plain. */
static int dg_python_open_column(dg_column *column, Py_buffer *view, PyObject *array)
{
    if ((PyObject *)Py_TYPE(array) != dg_python_sampling.array ||
        PyObject_GetBuffer(array, view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
        PyErr_Clear();
        return 0;
    }
    const char *format = view->format;
    if (view->ndim == 1 && view->itemsize == 8 && (uintptr_t)view->buf % 8 == 0 &&
        (format[0] == 'd' || format[0] == 'l' || format[0] == 'q') && format[1] == 0) {
        *column = (dg_column){view->buf, 1, format[0] == 'd' ? DG_FLOATS : DG_INTEGERS, 0, 0};
        return 1;
    }
    PyBuffer_Release(view);
    return 0;
}

/** Draw into a new array. Returns: it; NULL, with an exception or, if there is no memory, without. */
static PyObject *dg_python_draw_columns(dg_python_call *call, dg_laws *laws, dg_sampler *one,
                                        size_t n, PyObject *size, const dg_source *source)
{
    Py_buffer view;
    PyObject *out = dg_python_new_array(&view, size);
    if (out == NULL) {
        return NULL;
    }
    const dg_run run = {1, dg_python_pause_columns, call};
    const dg_addend centres = {.values = laws->centre.words, .dtype = DG_INT64};
    laws->sampler_of = dg_python_kept_sampler;
    laws->context = call;
    PyThreadState *state = PyEval_SaveThread();
    const dg_status status =
        one != NULL ? dg_sampler_add(view.buf, n, &centres, DG_AUTO, one, &run, source)
                    : dg_samplers_fill(view.buf, n, DG_INT64, laws, DG_AUTO, NULL, &run, source);
    PyEval_RestoreThread(state); /* errno is kept */
    PyObject *raised = call->raised;
    call->raised = NULL;
    return dg_python_filled(out, &view, status, raised);
}

/** Whether plain columns are of laws that int64 holds; then the one law of a plain number is *one. An exception may
 *  be set. */
static int dg_python_columns_fit(dg_sampler **one, dg_python_call *call, dg_laws *laws, size_t n)
{
    if (!PyLong_CheckExact(call->parameter) && !PyFloat_CheckExact(call->parameter)) {
        return dg_laws_fit_int64(n, laws);
    }
    PyObject *zero = PyLong_FromLong(0);
    *one = zero == NULL ? NULL : dg_python_get_sampler(call, call->parameter, zero);
    Py_XDECREF(zero);
    laws->kind = DG_DISCRETE_GAUSSIAN; /* of sigma2 = 1: the centres fit */
    return *one != NULL && dg_sampler_fits_int64(*one) && dg_laws_fit_int64(n, laws);
}

/** Draw with columns. args: kept, kind, parameter, mu, beta; size; whether the source is chacha20. beta is that of
 *  one law: looked at if the parameter is a number.
 *
 *  Returns: a new array; None: something is not plain, nothing was drawn.
 */
static PyObject *dg_python_columns(PyObject *none, PyObject *const *args, Py_ssize_t n_args)
{
    static const uint64_t zero = 0, one_word = 1;
    (void)none;
    if (n_args != 7) {
        PyErr_SetString(PyExc_TypeError, "seven arguments are taken");
        return NULL;
    }
    dg_python_call call = {args[0], args[1], args[2], args[3], args[4], 1, NULL, NULL};
    const dg_source source = {args[6] == Py_True ? DG_SOURCE_CHACHA20 : DG_SOURCE_GETRANDOM, NULL,
                              NULL};
    dg_laws laws = {.kind = (dg_law_kind)PyLong_AsLong(call.kind),
                    .parameter = {&one_word, 0, DG_INTEGERS, 0, 0},
                    .centre = {&zero, 0, DG_INTEGERS, 0, 0}};
    Py_buffer parameters = {.len = 0}, centres = {.len = 0};
    const int is_number = PyLong_CheckExact(call.parameter) || PyFloat_CheckExact(call.parameter);
    const int is_zero = PyLong_CheckExact(call.mu) && PyObject_Not(call.mu) == 1;
    const int has_parameters =
        !is_number && dg_python_open_column(&laws.parameter, &parameters, call.parameter);
    const int has_centres = !is_zero && dg_python_open_column(&laws.centre, &centres, call.mu);
    const size_t n_parameters = has_parameters ? (size_t)parameters.len / 8 : 1;
    const size_t n_centres = has_centres ? (size_t)centres.len / 8 : 1;
    const size_t n = n_parameters > n_centres ? n_parameters : n_centres;
    int is_plain = n > 0 && (is_number || has_parameters) && (is_zero || has_centres) &&
                   (n_parameters == n || n_parameters == 1) && (n_centres == n || n_centres == 1) &&
                   (has_parameters || laws.centre.format == DG_INTEGERS);
    call.stride = laws.parameter.stride = n_parameters > 1;
    laws.centre.stride = n_centres > 1;
    PyObject *size = PyLong_FromSize_t(n), *result = NULL;
    if (is_plain && args[5] != Py_None) {
        is_plain =
            PyLong_CheckExact(args[5]) && PyObject_RichCompareBool(args[5], size, Py_EQ) == 1;
    }
    dg_sampler *one = NULL;
    if (is_plain && size != NULL && dg_python_columns_fit(&one, &call, &laws, n)) {
        result = dg_python_draw_columns(&call, &laws, one, n, size, &source);
    }
    if (has_parameters) {
        PyBuffer_Release(&parameters);
    }
    if (has_centres) {
        PyBuffer_Release(&centres);
    }
    Py_XDECREF(size);
    Py_XDECREF(call.held);
    Py_XDECREF(call.raised);
    if (result == NULL && PyErr_Occurred() == NULL) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    return result;
}

#endif
