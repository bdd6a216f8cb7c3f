"""Threads of ours, which Ctrl-C, a fork and scarce memory leave in order."""

from __future__ import annotations

import mmap
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["interruptible", "require_room", "wait_for"]

_T = TypeVar("_T")

#: What a thread takes of the address space: 8 MiB of stack, as Linux has it, and Python's own.
_THREAD_BYTES = 9 * 2**20

_SECONDS = 0.1


def require_room(n_threads: int) -> None:
    """Raise MemoryError if the address space has no room for so many threads more.

    A thread that was started and finds no memory for its first step ends without a word, and Python
    waits for its sign of life for ever.
    """
    if n_threads:
        try:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            mmap.mmap(-1, n_threads * _THREAD_BYTES, flags=flags, prot=0).close()
        except (OSError, OverflowError):
            raise MemoryError(f"no room for {n_threads} threads more") from None


def wait_for(threads: Sequence[threading.Thread]) -> None:
    """Return when no thread is alive; one that a fork has left behind in the parent is not.

    Signals are heard meanwhile. A handler may fork: the child would wait for a thread that it does
    not have, but for the timeout.
    """
    for thread in threads:
        while thread.is_alive():
            thread.join(_SECONDS)


def interruptible(call: Callable[[], _T]) -> _T:
    """Return what `call` returns, made by another thread while this one hears Ctrl-C.

    For calls of the core that may take longer than anyone wants to wait. After Ctrl-C the call goes
    on in the background, to no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()  # signals do not come here
    results: list[_T] = []
    errors: list[BaseException] = []

    def make() -> None:
        try:
            results.append(call())
        except BaseException as error:
            errors.append(error)

    require_room(1)
    thread = threading.Thread(target=make, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads for this process
        return call()
    wait_for([thread])
    if errors:
        raise errors[0]
    return results[0] if results else call()  # no result: a fork left the thread behind
