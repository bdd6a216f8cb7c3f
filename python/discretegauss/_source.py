"""Where the bits of a draw come from, as the engines are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ._parameters import shown
from .errors import ParameterValueError

__all__ = ["Fill", "Source", "check_filled"]

#: A caller's source of bits: it fills the buffer it is given.
Fill = Callable[[memoryview], object]

#: The operating system; a fresh ChaCha20 key from it in every call; a caller's function.
Source = Literal["getrandom", "chacha20"] | Fill


def check_filled(returned: object, n: int) -> None:
    """Refuse what a caller's source returned if it says that it did not fill all n bytes."""
    if returned is not None and returned != n:
        raise ParameterValueError(
            "source must fill the whole buffer and return None (or the number of bytes), "
            f"got {shown(returned) if isinstance(returned, int) else type(returned).__name__}"
        )
