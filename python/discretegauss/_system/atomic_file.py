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

__all__ = ["nothing", "whole_file", "write_all"]

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}

_ACCESS_LIST = "system.posix_acl_access"


def write_all(file: RawIOBase, data: bytes) -> None:
    """Write all of the data to a file without a buffer, of which one call may take a part only."""
    rest = memoryview(data)
    while rest:
        taken = file.write(rest)
        if taken is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        rest = rest[taken:]


def nothing() -> None:
    """Do nothing."""


@contextmanager
def whole_file(
    path: Path, *, replace: bool, before_placing: Callable[[], None] = nothing
) -> Iterator[Callable[[bytes], None]]:
    """Give a function that writes to a file which appears at ``path`` when the block ends well.

    Until then the bytes are in a temporary file in the same folder. Whatever ends the block early
    (an exception, Ctrl-C), that file goes and ``path`` is as it was; an exception that comes when
    the file is in its place has a note that says so. Errors name ``path``. ``before_placing`` is
    called at the last moment at which the file is not there.

    Without ``replace`` a file that has come to be at ``path`` meanwhile is a FileExistsError, by
    link(2). A file system that has no hard links knows no such thing: there, it is replaced.

    With it, the new file has the owner, the group, the mode and the access control list of the file
    that it replaces, and is at no time more readable than that one.
    """
    temporary = path.parent / f".discretegauss-{secrets.token_hex(8)}.tmp"
    made: os.stat_result | None = None
    try:
        try:
            with _errors_name(path):
                replaced = _status(path) if replace else None
                access = _access_list(path) if replace else None
                file = _create(temporary, replaced)
            with file:
                made = os.fstat(file.fileno())
                if replaced is not None:
                    _own_like(replaced, access, file)
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


def _create(temporary: Path, replaced: os.stat_result | None) -> FileIO:
    # Without a buffer: closing the file after a failed write must not try that again.
    mode = 0o666 if replaced is None else replaced.st_mode & 0o600  # the others' when it is theirs
    return open(temporary, "xb", buffering=0, opener=partial(os.open, mode=mode))


def _own_like(replaced: os.stat_result, access: bytes | None, file: FileIO) -> None:
    mode = replaced.st_mode & 0o777
    with contextlib.suppress(OSError):  # what the folder gives to new files
        os.removexattr(file.fileno(), _ACCESS_LIST)
    try:
        os.fchown(file.fileno(), replaced.st_uid, replaced.st_gid)
        if access is not None:  # it has entries for others, and the bits of the group are its mask
            os.setxattr(file.fileno(), _ACCESS_LIST, access)
    except OSError:
        # It stays in another group, which may do what all others may, if no list keeps one out.
        mode &= 0o600 if access is not None else 0o707 | mode << 3
    with contextlib.suppress(OSError):  # without modes: then it stays as it was made
        os.fchmod(file.fileno(), mode)


def _access_list(path: Path) -> bytes | None:
    """Return the POSIX access control list of a file; None: it has none."""
    try:
        return os.getxattr(path, _ACCESS_LIST)
    except OSError:  # it has none, or the file system knows no such thing
        return None


def _write(file: FileIO, path: Path, data: bytes) -> None:
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
