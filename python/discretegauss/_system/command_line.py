"""The command line while it is still being loaded: Ctrl-C is answered by one line.

Only of the standard library. `StopSignals` takes over from here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from itertools import pairwise
from types import FrameType

_NAME = "discretegauss"


def runs_the_command_line() -> bool:
    """Return whether the process does so, by its name: it shows its help without numpy."""
    program = os.path.basename((sys.argv or [""])[0]).removesuffix(".exe")
    if program in ("-m", "__main__.py"):  # while python -m imports the package, and then
        given = sys.orig_argv
        return f"-m{_NAME}" in given or ("-m", _NAME) in pairwise(given)
    return program == _NAME


def interrupted(number: int, frame: FrameType | None) -> None:
    """Say so and end the process: nothing is begun yet, and no import has to be finished."""
    with contextlib.suppress(OSError):  # the code says it, too
        os.write(2, b"discretegauss: error: interrupted\n")
    os._exit(128 + number)


def end_when_interrupted() -> None:
    """Let Ctrl-C do so from now on; what handles it otherwise stays as it is."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual and runs_the_command_line():
        with contextlib.suppress(ValueError):  # in another thread than the main one
            signal.signal(signal.SIGINT, interrupted)
