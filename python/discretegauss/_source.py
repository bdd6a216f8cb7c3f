"""Where the bits of a draw come from, as the engines are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

__all__ = ["Fill", "Source"]

#: A caller's source of bits: it fills the buffer it is given.
Fill = Callable[[memoryview], object]

#: The operating system; a fresh ChaCha20 key from it in every call; a caller's function.
Source = Literal["getrandom", "chacha20"] | Fill
