"""A bar on the terminal that says how far a long call has come."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Self

_WIDTH = 24
_SECONDS = 0.1
"""Between two pictures."""


class Progress:
    """A bar on stderr, if that is a terminal; gone when the block ends, however it ends.

    Parameters
    ----------
    show : bool
        False: no bar, whatever stderr is.
    what : str
        What is counted, in the plural.

    Notes
    -----
    A terminal that goes away ends no call: an error of writing ends the bar only.
    """

    def __init__(self, what: str, *, show: bool = True) -> None:
        self._stream = sys.stderr if show and _is_terminal() else None
        self._what = what
        self._next = time.monotonic() + _SECONDS
        self._shown = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._write("\r" + " " * self._shown + "\r")

    def update(self, count: int, fraction: float | None) -> None:
        """Say that so many are done, and which part of the whole that is, if it is known."""
        if self._stream is None or (now := time.monotonic()) < self._next:
            return
        self._next = now + _SECONDS
        text = f"{count:,} {self._what}"
        if fraction:
            done = min(fraction, 1.0)
            filled = int(done * _WIDTH)
            text = f"[{'#' * filled:<{_WIDTH}}] {done:4.0%}  {text}"
        self._write(f"\r{text:<{self._shown}}")
        self._shown = len(text)

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            print(text, end="", file=self._stream, flush=True)


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # it was closed
        return False
