"""What the command line prints, and the exit codes that say how it went."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import TextIO

from .._inputs.messages import printable
from .._system.atomic_file import write_all

FAILED = 1
WRONG_INPUT = 2
UNREAD = 141
"""128 + SIGPIPE: the reader of stdout has left, as ``head`` does."""


def printed(
    text: str, failure: str, *, on_stderr: bool = False, is_budget_spent: bool = False
) -> int:
    """Print the text on stdout, or on stderr; return the exit code.

    That nobody reads it any more needs no word, unless the text says that a budget is spent.
    """
    try:
        _print(text, sys.stderr if on_stderr else sys.stdout)
    except OSError as error:
        if isinstance(error, BrokenPipeError) and not is_budget_spent:
            return UNREAD
        return fail(FAILED, f"{failure}: {error.strerror}")
    return 0


def fail(code: int, message: str) -> int:
    """Print the message as one line on stderr; return the code."""
    one_line = f"discretegauss: error: {printable(message)}"
    with contextlib.suppress(OSError):  # the code says it, too
        _print(one_line, sys.stderr)
    return code


def _print(text: str, stream: TextIO | None) -> None:
    """Print, also where the stream's encoding lacks a character (of a file name, say)."""
    if stream is None:  # it was closed when the process began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    encoding = stream.encoding or "utf-8"
    shown = f"{text}\n".encode(encoding, "backslashreplace")
    buffer = getattr(stream, "buffer", None)
    try:
        if isinstance(buffer, io.RawIOBase):  # python -u: print does not look how much is taken
            write_all(buffer, shown)
        else:
            print(shown.decode(encoding), end="", file=stream, flush=True)
    except OSError:
        # Else the interpreter tries to write the rest when it ends, and complains again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise
