"""Where the bits of a draw come from, as the engines are told."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Literal

import numpy as np

from ._parameters import shown
from .errors import ParameterTypeError, ParameterValueError

__all__ = ["Fill", "Source", "check_filled"]

#: A caller's source of bits: it fills the buffer it is given, zeros at first, and returns None or
#: its length.
Fill = Callable[[memoryview], object]

#: The operating system; a fresh ChaCha20 key from it in every call; a caller's function.
Source = Literal["getrandom", "chacha20"] | Fill


def check_filled(returned: object, n: int) -> None:
    """Refuse what a caller's source returned but None and n, which say that it filled all bytes."""
    if returned is None:
        return
    rule = "source must fill the whole buffer and return None (or the number of bytes, an integer)"
    try:
        if isinstance(returned, np.bool_):
            raise TypeError  # as numpy 2 does: before, it was the integer 0 or 1
        filled = operator.index(returned)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterTypeError(f"{rule}, got {type(returned).__name__}") from None
    if isinstance(returned, bool) or filled != n:
        raise ParameterValueError(f"{rule}, got {shown(returned)} for {n} bytes")
