/* How a fill hears signals: dg_run.pause for Python. Included by the source that cffi generates. */
#ifndef DG_PYTHON_PAUSE_H
#define DG_PYTHON_PAUSE_H

#include <Python.h>

/** Let Python run the handlers of signals that have come. errors: a list, to which what a handler
 *  raised is appended.
 *
 *  In C, because a call of a function written in Python can itself be cut short by the next signal: the
 *  fill would go on.
 *
 *  Returns: 1 if a handler raised, which ends the fill.
 */
static int dg_python_pause(void *errors)
{
    PyGILState_STATE state = PyGILState_Ensure();
    int raised = PyErr_CheckSignals() != 0;
    if (raised) {
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
        PyErr_NormalizeException(&type, &error, &traceback);
        if (traceback != NULL) {
            (void)PyException_SetTraceback(error, traceback);
        }
        if (PyList_Append((PyObject *)errors, error) != 0) {
            PyErr_Clear(); /* no memory: whoever finds no error in the list raises that */
        }
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
    }
    PyGILState_Release(state);
    return raised;
}

#endif
