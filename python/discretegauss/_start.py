"""Ctrl-C while the command line is still being loaded: one line.

Imported before all else, and only of the standard library. `StopSignals` takes over from here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from itertools import pairwise
from types import FrameType

_NAME = "discretegauss"


def interrupted(number: int, frame: FrameType | None) -> None:
    """Say so and end the process: nothing is begun yet, and no import has to be finished."""
    with contextlib.suppress(OSError):  # the code says it, too
        os.write(2, b"discretegauss: error: interrupted\n")
    os._exit(128 + number)


def _is_the_program() -> bool:
    """Return whether the process runs the command line: any other keeps its KeyboardInterrupt."""
    arguments = getattr(sys, "argv", [""])
    if arguments[:1] == ["-m"]:  # so it is while python -m imports the package
        given = sys.orig_argv
        return f"-m{_NAME}" in given or ("-m", _NAME) in pairwise(given)
    return bool(arguments) and os.path.basename(arguments[0]).removesuffix(".exe") == _NAME


IS_THE_PROGRAM = _is_the_program()

if IS_THE_PROGRAM and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    with contextlib.suppress(ValueError):  # in another thread than the main one
        signal.signal(signal.SIGINT, interrupted)
