"""Asking for memory before GMP and MPFR do, which end the process when they find none."""

import numpy as np

#: What a computation may take at once, and more.
_ROOM = 2**20


def require_memory() -> None:
    """Raise MemoryError if there is not enough memory for certified arithmetic at this moment."""
    np.empty(_ROOM, np.uint8)  # not written to: a fortieth of the time of a bytearray
