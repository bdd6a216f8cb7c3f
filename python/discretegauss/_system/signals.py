"""Signals that end a process, turned into exceptions so that unfinished work is cleaned up."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

_SIGNALS = [signal.SIGINT, signal.SIGTERM]
if sys.platform != "win32":  # Windows has no SIGHUP
    _SIGNALS.append(signal.SIGHUP)
_USUAL = (signal.SIG_DFL, signal.default_int_handler)


class Terminated(KeyboardInterrupt):
    """The process received SIGINT, SIGTERM or SIGHUP."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class StopSignals:
    """A block in which the first of these signals raises Terminated, until `hold` is called.

    The first signal also calls `hold`: a closing terminal sends SIGHUP twice, and the second one
    must not end the clean-up. Signals that the process ignores (nohup) or handles stay so. Handlers
    are used because a signal mask would have to be set in every thread.

    With `for_good`, the signals stay without effect after the block, because the process ends.
    """

    def __init__(self, *, for_good: bool = False) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._held = False
        self._for_good = for_good

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # others cannot set handlers
            for number in _SIGNALS:
                if signal.getsignal(number) in _USUAL:
                    self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        self.hold()
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_IGN if self._for_good else handler)

    def hold(self) -> None:
        """Ignore the signals from now on, so that the remaining work is finished."""
        self._held = True

    def _stop(self, number: int, _: FrameType | None) -> None:
        if not self._held:
            self._held = True
            raise Terminated(number)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defer these signals until the block ends; then raise each of those that came, once.

    Ignored signals stay ignored. In other threads nothing needs to be done, because Python runs
    handlers only in its main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    before = {n: handler for n, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    try:
        for number in before:
            signal.signal(number, lambda received, _: came.append(received))
        yield
    finally:
        for number, handler in reversed(before.items()):  # SIGINT last: its handler raises
            signal.signal(number, handler)
        for received in dict.fromkeys(came):
            signal.raise_signal(received)
