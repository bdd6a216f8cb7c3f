"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import FileIO, RawIOBase
from pathlib import Path

__all__ = ["atomic_write", "no_op", "write_all"]

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def write_all(file: RawIOBase, data: bytes | memoryview) -> None:
    """Write all of the data to a file without a buffer, of which one call may take a part only."""
    rest = memoryview(data)
    while rest:
        taken = file.write(rest)
        if taken is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        rest = rest[taken:]


def no_op() -> None:
    """Do nothing."""


@contextmanager
def atomic_write(
    path: Path, *, replace: bool, before_placing: Callable[[], None] = no_op
) -> Iterator[Callable[[bytes | memoryview], None]]:
    """Give a function that writes to a file which appears at ``path`` when the block ends well.

    Until then the bytes are in a temporary file in the same folder. Whatever ends the block early
    (an exception, Ctrl-C), that file goes and ``path`` is as it was; an exception that comes when
    the file is in its place has a note that says so. Errors name ``path``. ``before_placing`` is
    called at the last moment at which the file is not there.

    Without ``replace`` a file that has come to be at ``path`` meanwhile is a FileExistsError, by
    link(2). A file system that has no hard links knows no such thing: there, it is replaced.

    With it, the new file has no bit of the mode that the replaced one or any new file lacks, from
    its first byte on. Owner, group and access control list are those of any new file.
    """
    temporary = path.parent / f".discretegauss-{secrets.token_hex(8)}.tmp"
    made: os.stat_result | None = None
    try:
        try:
            with _errors_name(path):
                replaced = _status(path) if replace else None
                file = _create(temporary, 0o666 if replaced is None else replaced.st_mode & 0o666)
            with file:
                made = os.fstat(file.fileno())
                yield partial(_write, file, path)
                with _errors_name(path):
                    os.fsync(file.fileno())
                    file.close()
            before_placing()
            with _errors_name(path):
                _place(temporary, path, replace=replace)
        finally:
            # After os.replace there is nothing to remove; failing to would hide the cause.
            with contextlib.suppress(OSError):
                temporary.unlink()
        _sync_folder(path.parent)
    except BaseException as error:
        # No variable would tell: an interrupt during the system call comes before it could be set.
        now = _status(path)
        if made is not None and now is not None and os.path.samestat(made, now):
            error.add_note(f"{path} is written")
        raise


def _create(path: Path, mode: int) -> FileIO:
    # Without a buffer: closing the file after a failed write must not try that again.
    return open(path, "xb", buffering=0, opener=partial(os.open, mode=mode))


def _write(file: FileIO, path: Path, data: bytes | memoryview) -> None:
    with _errors_name(path):
        write_all(file, data)


def _place(temporary: Path, path: Path, *, replace: bool) -> None:
    if not replace:
        try:
            os.link(temporary, path)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
        else:
            return
    os.replace(temporary, path)


def _status(path: Path) -> os.stat_result | None:
    """Return what stands at the path; None: nothing that can be seen."""
    try:
        return os.stat(path)
    except OSError:
        return None


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
