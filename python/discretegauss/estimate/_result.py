"""What an estimate returns."""

from __future__ import annotations

from typing import Any, NamedTuple


class Estimate(NamedTuple):
    """A number, or a container of them, and how far off it may be.

    Attributes
    ----------
    error : Any
        The standard error.
    high : Any
        The truth lies between these two with the confidence asked for.
    """

    value: Any
    error: Any
    low: Any
    high: Any
