"""What can go wrong, each error also being the builtin that a caller expects."""

from __future__ import annotations

__all__ = [
    "DiscreteGaussError",
    "EntropyError",
    "MissingCoreError",
    "OutputError",
    "ParameterOverflowError",
    "ParameterTypeError",
    "ParameterValueError",
    "RangeError",
    "SourceError",
    "TableError",
]


class DiscreteGaussError(Exception):
    """Base of all errors of this package."""


class ParameterTypeError(DiscreteGaussError, TypeError):
    """A parameter is of a kind that is not accepted."""


class ParameterValueError(DiscreteGaussError, ValueError):
    """A parameter breaks a rule."""


class ParameterOverflowError(DiscreteGaussError, OverflowError):
    """A parameter is too long, or its law does not provably fit the output; nothing was drawn."""


class RangeError(DiscreteGaussError, OverflowError):
    """A draw did not fit the output: no draws are returned, and nothing was wrapped or clamped.

    Parameters are checked so that this happens with a probability below 2**-128.
    """


class MissingCoreError(DiscreteGaussError, RuntimeError):
    """What was asked for needs the compiled core, and the plain-Python reference is in use."""


class SourceError(DiscreteGaussError, RuntimeError):
    """A caller's source failed without raising an exception."""


class EntropyError(DiscreteGaussError, OSError):
    """The operating system gave no randomness: no draws are returned."""


class TableError(DiscreteGaussError, ValueError):
    """A file is not a table of counts; the message names line and column, never a cell."""


class OutputError(DiscreteGaussError, ValueError):
    """The output of a release may not be written where it was asked for."""
