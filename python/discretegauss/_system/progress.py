"""A progress bar on the terminal for long calls."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Self

_WIDTH = 24
_SECONDS = 0.1
"""The least time between two updates of the bar."""


class Progress:
    """A progress bar on stderr, if that is a terminal. The end of the block always removes it.

    `noun` is the plural of the things that are counted.

    If the terminal goes away, errors of writing to it are ignored.
    """

    def __init__(self, noun: str, *, show: bool = True) -> None:
        self._stream = sys.stderr if show and _is_terminal() else None
        self._noun = noun
        self._next = time.monotonic() + _SECONDS
        self._shown = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._write("\r" + " " * self._shown + "\r")

    def update(self, count: int, fraction: float | None) -> None:
        """Show the count of finished things, and their fraction of the whole unless it is None."""
        if self._stream is None or (now := time.monotonic()) < self._next:
            return
        self._next = now + _SECONDS
        text = f"{count:,} {self._noun}"
        if fraction:
            share = min(fraction, 1.0)
            filled = int(share * _WIDTH)
            text = f"[{'#' * filled:<{_WIDTH}}] {share:4.0%}  {text}"
        self._write(f"\r{text:<{self._shown}}")
        self._shown = len(text)

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            print(text, end="", file=self._stream, flush=True)


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # stderr is None or closed
        return False
