"""Signals that ask a process to end, as exceptions, so that what is half done is cleaned up."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

_SIGNALS = [signal.SIGINT, signal.SIGTERM]
if sys.platform != "win32":  # which knows no terminal that hangs up
    _SIGNALS.append(signal.SIGHUP)
_USUAL = (signal.SIG_DFL, signal.default_int_handler)


class Terminated(KeyboardInterrupt):
    """SIGINT, SIGTERM or SIGHUP came."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class StopSignals:
    """Raises Terminated at the first of these signals, while it is entered and until they are held.

    After the first they are held, too: a closing terminal sends SIGHUP twice, and the second should
    not end the clean-up. What ignores a signal (nohup) or handles it otherwise stays as it is.
    Python runs handlers in its main thread alone; a mask of signals would have to be set in all.

    With `for_good` the process ends next, and the signals stay without effect.
    """

    def __init__(self, *, for_good: bool = False) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._held = False
        self._for_good = for_good

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # elsewhere it may not be set
            for number in _SIGNALS:
                if signal.getsignal(number) in _USUAL:
                    self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        self.hold()
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_IGN if self._for_good else handler)

    def hold(self) -> None:
        """Let the signals do nothing from now on: what they would interrupt is to be finished."""
        self._held = True

    def _stop(self, number: int, _: FrameType | None) -> None:
        if not self._held:
            self._held = True
            raise Terminated(number)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Let these signals wait until the block has ended, and come then: the first of each.

    Those that are ignored stay so. In other threads nothing is to be done: Python runs handlers in
    its main thread alone.
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
        for number, handler in reversed(before.items()):  # the one that raises as a rule is last
            signal.signal(number, handler)
        for received in dict.fromkeys(came):
            signal.raise_signal(received)
