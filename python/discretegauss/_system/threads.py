"""Threads and processes, which Ctrl-C, a fork and scarce memory leave in order."""

from __future__ import annotations

import _thread
import mmap
import operator
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

__all__ = ["Worker", "in_one_process", "interruptible", "require_address_space"]

_T = TypeVar("_T")

#: What a thread takes of the address space: 8 MiB of stack, as Linux has it, and Python's own.
_THREAD_BYTES = 9 * 2**20

#: The least stack of a thread of ours, whatever threading.stack_size() and the limit of the process
#: are: four times what cell tables of the longest parameters were seen to need. Beyond its end the
#: process would end.
_LEAST_STACK = 2**20

_SECONDS = 0.1


def require_address_space(n_threads: int) -> None:
    """Raise MemoryError if the address space has no room for so many threads more.

    A thread that was started and finds no memory for its first step ends without a word, and Python
    waits for its sign of life for ever. Windows promises the memory when it starts the thread.
    """
    if n_threads and sys.platform != "win32":
        try:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            mmap.mmap(-1, n_threads * _THREAD_BYTES, flags=flags, prot=0).close()
        except (OSError, OverflowError):
            raise MemoryError(
                f"threads: the address space has no room for {n_threads} more"
            ) from None


class Worker:
    """A thread that makes one call, which must not raise.

    As `threading.Thread`, but starting it does not wait for its first step: in the child of a fork
    that a signal handler made at that moment, there is nobody to take it.
    """

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._at_work = _thread.allocate_lock()
        self._is_done = False
        self._started: list[int] = []  # what the steps of a start returned, the last the process

    def start(self) -> None:
        """Make the call in a thread; RuntimeError if the process can have no more of them."""
        if sys.is_finalizing():  # before 3.12 it could be started, and would not take a step
            raise RuntimeError("can't start new thread at interpreter shutdown")
        self._at_work.acquire()
        size = threading.stack_size()  # the next thread's, whoever starts it; 0: the system's own
        # One call of C code, so that no signal handler runs, and forks, between the two: the child
        # either starts a thread of its own or knows that it has none. Nor does another thread run,
        # and start its own with our stack or ours with its.
        steps: tuple[Callable[[], int], ...] = (
            partial(threading.stack_size, max(size, _LEAST_STACK)),
            partial(_thread.start_new_thread, self._run, ()),
            partial(threading.stack_size, size),
            os.getpid,
        )
        try:
            self._started.extend(map(operator.call, steps))
        finally:
            threading.stack_size(size)  # where no thread could be started

    def _run(self) -> None:
        try:
            self._call()
        finally:
            self._is_done = True
            self._at_work.release()

    def wait(self) -> None:
        """Return when the call is made; or at once, if it was not started in this process.

        Signals are heard meanwhile, and a handler may fork: hence the timeout. Or it may raise,
        with the lock just taken: who waits again does not wait for that.
        """
        while not self._is_done and self._started[3:] == [os.getpid()]:
            if self._at_work.acquire(timeout=_SECONDS):
                self._at_work.release()


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

    require_address_space(1)
    worker = Worker(make)
    try:
        worker.start()
    except RuntimeError:  # no more threads for this process
        return call()
    worker.wait()
    if errors:
        raise errors[0]
    return results[0] if results else call()  # no result: a fork left the thread behind


def in_one_process(draw: Callable[[], None]) -> None:
    """Draw; in the child of a fork that a signal's handler made meanwhile draw anew.

    What was drawn before the fork is the parent's, too.
    """
    process = os.getpid()
    draw()
    while process != (process := os.getpid()):
        draw()
