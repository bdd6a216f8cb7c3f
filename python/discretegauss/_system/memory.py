"""A check for free memory before GMP and MPFR run, which end the process if they get none."""

from functools import partial

import numpy as np

#: More bytes than one allocation of a computation takes.
_ROOM = 2**20

#: Raises MemoryError if there is too little memory for certified arithmetic at this moment. Nothing
#: is written to the memory, so this takes a fortieth of the time of a bytearray.
require_memory = partial(np.empty, _ROOM, np.uint8)
