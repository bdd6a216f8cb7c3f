"""What an estimate returns."""

from __future__ import annotations

from typing import Any, NamedTuple


class Estimate(NamedTuple):
    """A number, or a container of them, and how far off it may be."""

    value: Any
    error: Any
    """The standard error."""
    low: Any
    high: Any
    """The truth lies between these two with the confidence asked for."""
