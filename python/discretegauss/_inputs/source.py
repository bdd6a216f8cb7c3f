"""The sources of bits of a draw, and the check that a caller's source has filled its buffer."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Literal

import numpy as np

from ..errors import ParameterTypeError, ParameterValueError
from .messages import describe

#: A caller's source of bits. It fills its argument, a buffer of zeros, and returns None or the
#: number of bytes.
Fill = Callable[[memoryview], object]

#: The operating system, ChaCha20 under a new key from it in each call, or a caller's function.
Source = Literal["getrandom", "chacha20"] | Fill


#: A source that returns its length but leaves 16 zeros in a row is refused, because it probably
#: writes nothing. Sixteen independent uniform bytes are all 0 with probability 2**-128.
_ZEROS = 16


def check_filled(returned: object, buffer: memoryview, zeros: int) -> int:
    """Raise an error unless a caller's source returned None or n, which say that it wrote n bytes.

    ``len`` also returns n, so zeros are counted after n; after None all bytes may be 0.

    The buffer was all zeros. `zeros` is the number of zero bytes just before it in this call. The
    result is that number for the next buffer.
    """
    n = len(buffer)
    if returned is None:
        return 0
    rule = "source must fill the whole buffer and return None (or the number of bytes, an integer)"
    try:
        if isinstance(returned, np.bool_):
            raise TypeError  # as in numpy 2; operator.index of numpy 1 returns 0 or 1
        filled = operator.index(returned)  # type: ignore[arg-type]
    except TypeError:
        raise ParameterTypeError(f"{rule}, got {type(returned).__name__}") from None
    if isinstance(returned, bool) or filled != n:
        raise ParameterValueError(f"{rule}, got {describe(returned)} for {n} bytes")
    if any(buffer):
        return 0
    if zeros + n >= _ZEROS:
        raise ParameterValueError(
            f"{rule}, got {n} from a source that left {_ZEROS} bytes or more unchanged, as zeros"
        )
    return zeros + n
