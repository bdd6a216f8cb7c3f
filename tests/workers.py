"""Where a test is about several threads of one call, see to it that they all draw."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from discretegauss import _fill

_T = TypeVar("_T")

_work_together = _fill._work_together
_wanted = threading.local()


def draws_by(threads: int, draw: Callable[[], _T]) -> _T:
    """Return draw(), a call in which so many threads have to fill a part each."""
    _wanted.threads, _wanted.met = threads, 0
    try:
        drawn = draw()
        assert _wanted.met > 0, "one thread alone drew"
    finally:
        del _wanted.threads
    return drawn


def _together(parts: Any, work: Callable[[], None], threads: int) -> None:
    """As `_fill._work_together`; for `draws_by`, nobody draws before everybody has a part."""
    if hasattr(_wanted, "threads"):
        assert threads == _wanted.threads, f"{threads} threads draw"
        _wanted.met += 1
        _begin_together(parts, threads)
    _work_together(parts, work, threads)


def _begin_together(parts: Any, threads: int) -> None:
    take, everybody, mine = parts.take, threading.Barrier(threads, timeout=60), threading.local()

    def take_and_wait(most: int, least: int) -> tuple[int, int]:
        start, stop = take(most, least)
        if not hasattr(mine, "begun"):
            mine.begun = True
            assert start < stop, "a thread without a part"
            everybody.wait()
        return start, stop

    parts.take = take_and_wait


_fill._work_together = _together
