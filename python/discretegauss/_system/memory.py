"""Asking for memory before GMP and MPFR do, which end the process when they find none."""

from functools import partial

import numpy as np

#: What a computation may take at once, and more.
_ROOM = 2**20

#: Raises MemoryError if there is not enough memory for certified arithmetic at this moment. It is
#: not written to: a fortieth of the time of a bytearray, and no frame of Python's.
require_memory = partial(np.empty, _ROOM, np.uint8)
