"""Releases that end at a step of theirs, each in a fork of this program.

    python tests/support/ledger_kills.py FOLDER exit|kill|int [FIRST BY]
    python tests/support/ledger_kills.py FOLDER four flock|file

A step is a call of the system. Each is wrapped, so that the process ends just before or after it,
by _exit, SIGKILL or SIGINT. Nothing depends on time. It prints one line of JSON for each end.
The second form lets four processes spend at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discretegauss._system import chained_file
from discretegauss.errors import LedgerError
from discretegauss.privacy import Ledger
from discretegauss.release import release_table

STEPS: tuple[str, ...] = (
    "open",
    "write",
    "fsync",
    "close",
    "read",
    "lseek",
    "fstat",
    "link",
    "replace",
    "unlink",
)
STEPS += ("ftruncate", "stat")


class Steps:
    """Ends the process at one of its steps, which it counts."""

    def __init__(self, last: int, end: Callable[[], None], *, after: bool) -> None:
        self.n, self._last, self._end, self._after = 0, last, end, after
        for name in STEPS:
            setattr(os, name, self._wrapped(getattr(os, name)))
        fcntl.flock = self._wrapped(fcntl.flock)

    def _wrapped(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **keywords: Any) -> Any:
            self.n += 1
            here = self.n == self._last
            if here and not self._after:
                self._end()
            result = call(*arguments, **keywords)
            if here and self._after:
                self._end()
            return result

        return step


def release(kind: str, step: int) -> None:
    """Release a table in this process, which ends in step `step`."""
    end: dict[str, Callable[[], None]] = {
        "exit": lambda: os._exit(77),
        "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "int": lambda: os.kill(os.getpid(), signal.SIGINT),
    }
    ledger = Ledger("p.ledger")
    # `step` is even: before its call; odd: after it
    steps = Steps(1 + step // 2, end[kind], after=bool(step % 2))

    def source(buffer: memoryview) -> None:
        open("drawn", "w").close()
        buffer[:] = os.urandom(len(buffer))

    try:
        release_table("t.csv", "n", "o.csv", rho="0.01", ledger=ledger, source=source)
    except BaseException:
        Path("error").write_text(traceback.format_exc())
        os._exit(1)
    os._exit(0 if steps.n < 1 + step // 2 else 2)


def outcome(kind: str, step: int) -> dict[str, Any]:
    """Return the state after a release that ended in that step."""
    for name in ("p.ledger", "o.csv", "drawn", "error"):
        Path(name).unlink(missing_ok=True)
    Ledger.start("p.ledger", unit="a person", rho=1)
    if not (child := os.fork()):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        release(kind, step)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        lines: int | str = len(Ledger("p.ledger").entries)
    except LedgerError as error:
        lines = str(error)
    left = [name for name in os.listdir() if name.startswith(".discretegauss")]
    for name in left:
        os.unlink(name)
    return {
        "step": step,
        "status": status,
        "lines": lines,
        "drawn": os.path.exists("drawn"),
        "out": os.path.exists("o.csv"),
        "left": len(left),
        "error": Path("error").read_text() if os.path.exists("error") else "",
    }


def four(lock: str) -> None:
    """Let four processes spend hundredths of one limit at once; print how many each has spent."""
    if lock == "file":
        chained_file.fcntl = None
    Ledger.start("p.ledger", unit="a person", rho=1)
    children = []
    for _ in range(4):
        if not (child := os.fork()):
            n = 0
            with contextlib.suppress(LedgerError):
                while n < 40:
                    Ledger("p.ledger").spend(rho="0.01")
                    n += 1
            os._exit(n)
        children.append(child)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(json.dumps(ends))


def main(folder: str, kind: str, *more: str) -> None:
    os.chdir(folder)
    if kind == "four":
        four(*more)
        return
    first, by = map(int, more or ("0", "1"))
    Path("t.csv").write_text("k,n\n" + "".join(f"r{i},{i}\n" for i in range(50)))
    step = first
    while (one := outcome(kind, step))["status"] != 0:
        print(json.dumps(one))
        step += by
    print(json.dumps(one))


if __name__ == "__main__":
    main(*sys.argv[1:])
