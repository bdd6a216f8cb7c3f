"""The exceptions and the warning of this package.

Each exception is also the builtin exception that a caller expects.
"""

from __future__ import annotations

__all__ = [
    "ContradictionError",
    "DiscreteGaussError",
    "EntropyError",
    "LedgerError",
    "MissingCoreError",
    "OutputError",
    "ParameterOverflowError",
    "ParameterTypeError",
    "ParameterValueError",
    "PrivacyWarning",
    "RangeError",
    "SourceError",
    "TableError",
]
__dir__ = __all__.copy  # dir() and completion show these names alone


class DiscreteGaussError(Exception):
    """Base of all errors of this package."""


class ParameterTypeError(DiscreteGaussError, TypeError):
    """A parameter has a type that is not accepted."""


class ParameterValueError(DiscreteGaussError, ValueError):
    """A parameter breaks a rule."""


class ParameterOverflowError(DiscreteGaussError, OverflowError):
    """A parameter is too long, or its law does not provably fit the output; nothing was drawn."""


class ContradictionError(ParameterValueError):
    """Noisy tables are not of the same people. The message depends on noisy counts."""


class RangeError(DiscreteGaussError, OverflowError):
    """A draw did not fit the output. No draws are returned; nothing was wrapped or clamped.

    The checks of parameters make the probability of this less than 2**-128.
    """


class MissingCoreError(DiscreteGaussError, RuntimeError):
    """The call needs the compiled core, but the reference in Python is in use."""


class SourceError(DiscreteGaussError, RuntimeError):
    """A caller's source failed without raising an exception."""


class EntropyError(DiscreteGaussError, OSError):
    """The operating system gave no randomness. No draws are returned."""


class TableError(DiscreteGaussError, ValueError):
    """A file is not a table of counts. The message names line and column, never a cell."""


class OutputError(DiscreteGaussError, ValueError):
    """The output of a release may not be written to the path that was given."""


class LedgerError(DiscreteGaussError, ValueError):
    """A ledger refuses a release, or the file is not the ledger that was written."""


class PrivacyWarning(UserWarning):
    """The noise is the same number in more than 999 of 1000 draws, so it protects almost nobody.

    The probability is decided by proven bounds. A function that chooses noise, or is given a law
    for data, issues the warning once.
    """
