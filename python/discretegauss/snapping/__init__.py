"""The snapping mechanism: Laplace noise on floating-point numbers, with pure epsilon.

`snapping_laplace` adds Laplace noise to doubles, rounds to a grid of powers of two and clamps to a
range, as Mironov's mechanism does (CCS 2012). ``method="exact"``, the default, samples the ideal
mechanism in integers: it costs the epsilon that you pass, whatever the range and the grid.
``method="mironov"`` is his chain of floating-point operations, to the bit, for comparison.

`SnappedLaplace` is the law of the exact method: probabilities, bias, quantiles of the error.
`snapping_accuracy` and `snapping_bound` help to choose parameters.

The mechanism on doubles, its law and its parameters live here. csrc/mechanisms/leave_cell.c draws,
and ``_reference.py`` has the same draws in readable Python.
"""

from ._choose import snapping_accuracy, snapping_bound
from ._law import SnappedLaplace
from ._snap import snapping_laplace

__all__ = [
    "SnappedLaplace",
    "snapping_accuracy",
    "snapping_bound",
    "snapping_laplace",
]
__dir__ = __all__.copy  # dir() and completion show these names alone
