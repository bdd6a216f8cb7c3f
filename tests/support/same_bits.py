"""A caller's source that gives the same bits each time it is made, for either engine."""

from __future__ import annotations

import random

from discretegauss.testing import TapeSource

__all__ = ["same_bits"]

_BYTES = random.Random(2026).randbytes(2**20)


def same_bits() -> TapeSource:
    """Return a source of some bytes of Python's Mersenne Twister."""
    return TapeSource(_BYTES)
