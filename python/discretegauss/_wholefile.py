"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Iterator[Callable[[bytes], None]]:
    """Give a function that writes to a file which appears at ``path`` when the block ends well.

    Until then the bytes are in a temporary file in the same folder. Whatever ends the block early
    (an exception, Ctrl-C), that file goes and ``path`` is as it was. Errors name ``path``.
    """
    temporary = path.parent / f".discretegauss-{secrets.token_hex(8)}.tmp"
    with _errors_name(path):
        # Without a buffer: closing the file after a failed write must not try that again.
        file = open(temporary, "xb", buffering=0)  # noqa: SIM115  closed in the block below

    def write(data: bytes) -> None:
        rest = memoryview(data)
        with _errors_name(path):
            while rest:  # one call of write may take a part only
                rest = rest[file.write(rest) :]

    try:
        with file:
            yield write
            with _errors_name(path):
                os.fsync(file.fileno())
        with _errors_name(path):
            os.replace(temporary, path)
    finally:
        # After os.replace there is nothing to remove; before, failing to would hide the cause.
        with contextlib.suppress(OSError):
            temporary.unlink()
    _sync_folder(path.parent)


@contextmanager
def _errors_name(path: Path) -> Iterator[None]:
    """Let an OSError name the file that the user knows, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the file system can do so."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
