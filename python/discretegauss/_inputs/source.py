"""Where the bits of a draw come from, as the engines are told."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Literal

import numpy as np

from ..errors import ParameterTypeError, ParameterValueError
from .messages import describe

#: A caller's source of bits: it fills the buffer it is given, zeros at first, and returns None or
#: its length.
Fill = Callable[[memoryview], object]

#: The operating system; a fresh ChaCha20 key from it in every call; a caller's function.
Source = Literal["getrandom", "chacha20"] | Fill


#: A source that counts what it writes, and leaves so many zeros in a row, writes nothing. Of
#: independent uniform bytes, those from any one place on are all 0 with probability 2**-128.
_ZEROS = 16


def check_filled(returned: object, buffer: memoryview, zeros: int) -> int:
    """Raise unless a caller's source returned None or n: both mean that it filled the buffer.

    And n, as ``len`` returns it, of one that writes nothing; None may come with a tape of zeros.

    Parameters
    ----------
    returned : object
        By the source.
    buffer : memoryview
        What it was to fill, zeros before.
    zeros : int
        How many bytes before these were left 0 in this call.

    Returns
    -------
    int
        The same for the next buffer.
    """
    n = len(buffer)
    if returned is None:
        return 0
    rule = "source must fill the whole buffer and return None (or the number of bytes, an integer)"
    try:
        if isinstance(returned, np.bool_):
            raise TypeError  # as numpy 2 does: before, it was the integer 0 or 1
        filled = operator.index(returned)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterTypeError(f"{rule}, got {type(returned).__name__}") from None
    if isinstance(returned, bool) or filled != n:
        raise ParameterValueError(f"{rule}, got {describe(returned)} for {n} bytes")
    if any(buffer):
        return 0
    if zeros + n >= _ZEROS:
        raise ParameterValueError(
            f"{rule}, got {n} from one that left {_ZEROS} bytes or more as they were, zeros"
        )
    return zeros + n
