"""Write a file whole or not at all; or several: all of them or none."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import FileIO, RawIOBase
from pathlib import Path

from .signals import signals_deferred

Sink = Callable[[bytes | memoryview], None]
"""Writes all of the bytes."""

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def write_all(file: RawIOBase, data: bytes | memoryview) -> None:
    """Write all of the data to a file without a buffer, of which one call may take a part only."""
    rest = memoryview(data)
    while rest:
        taken = file.write(rest)
        if taken is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        rest = rest[taken:]


@contextmanager
def errors_name(path: Path | str, rule: str = "") -> Iterator[None]:
    """Let an OSError name the file that the user knows, and say what it is needed for."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}{rule}", str(path)) from None


def sink_to(file: RawIOBase, name: Path | str, rule: str = "") -> Sink:
    """Return what writes to the file, whose errors have this name."""

    def sink(data: bytes | memoryview) -> None:
        with errors_name(name, rule):
            write_all(file, data)

    return sink


def no_op() -> None:
    """Do nothing."""


class NewFile:
    """A file that gets a temporary name in its folder when it is whole, and is then placed.

    It has no name before, so that a process that is killed leaves nothing. Where there are no files
    without a name, as on NFS, it has the temporary one from the start. Errors name ``path``.
    `discard` is to be called in the end, whatever happened.

    Parameters
    ----------
    path : Path
        Where the file is to be.
    replace : bool
        Whether another file may be there; see `atomic_write`.
    """

    def __init__(self, path: Path, *, replace: bool) -> None:
        self.path, self._replace = path, replace
        name = path.parent / f".discretegauss-{secrets.token_hex(8)}"
        self._temporary, self._old = name.with_suffix(".tmp"), name.with_suffix(".old.tmp")
        self._made: os.stat_result | None = None

    @contextmanager
    def content(self) -> Iterator[Sink]:
        """Give a function that writes to the file, which is whole if the block ends well."""
        with errors_name(self.path):
            replaced = _status(self.path) if self._replace else None
            mode = 0o666 if replaced is None else replaced.st_mode & 0o666
            file = _create(self._temporary, mode)
        with file:
            self._made = os.fstat(file.fileno())
            yield sink_to(file, self.path)
            with errors_name(self.path):
                os.fsync(file.fileno())
                if _status(self._temporary) is None:
                    # with a folder, not needed here, os.link follows to the file itself
                    unnamed = _descriptor_path(file.fileno())
                    os.link(unnamed, self._temporary, src_dir_fd=file.fileno())
                file.close()

    def place(self) -> None:
        """Give the file its name."""
        with errors_name(self.path):
            (os.replace if self._replace else _link)(self._temporary, self.path)

    def is_placed(self) -> bool:
        """Return whether the file has its name.

        No variable would tell: an interrupt during the system call comes before it could be set.
        """
        now = _status(self.path)
        return self._made is not None and now is not None and os.path.samestat(self._made, now)

    def discard(self) -> None:
        """Remove the temporary name, if it is there: failing to would hide the cause."""
        with contextlib.suppress(OSError):
            self._temporary.unlink()

    def keep_old(self) -> None:
        """Give what is to be replaced, if anything is, a second name, until `forget_old`."""
        if not self._replace:
            return
        with errors_name(self.path), contextlib.suppress(FileNotFoundError):
            _link(self.path, self._old)

    def forget_old(self) -> None:
        """Remove that name."""
        with contextlib.suppress(OSError):
            self._old.unlink()

    def take_back(self) -> None:
        """Let what was at the path before `keep_old` be there again: nothing, or the old file.

        What others have put there meanwhile stays.
        """
        with errors_name(self.path):
            there = _status(self.path)
            if self.is_placed() or there is None:
                if _status(self._old) is not None:
                    os.replace(self._old, self.path)
                elif there is not None:
                    self.path.unlink()
        self.forget_old()  # where nothing was replaced, it is a second name of what is there


@contextmanager
def atomic_write(
    path: Path, *, replace: bool, before_placing: Callable[[], None] = no_op
) -> Iterator[Sink]:
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
    new = NewFile(path, replace=replace)
    try:
        try:
            with new.content() as write:
                yield write
            before_placing()
            place_together([new])
        finally:
            new.discard()
    except BaseException as error:
        if new.is_placed():
            error.add_note(f"{path} is written")
        raise


def place_together(files: Sequence[NewFile]) -> None:
    """Give all of these files their names.

    If one cannot get it, none has it, and what they have replaced is there again, the same files
    as before. No temporary name is left. Signals wait until all is done. One file alone gets its
    name at once, and nothing needs to be put back.
    """
    several = files if len(files) > 1 else ()
    with signals_deferred():
        try:
            for file in several:
                file.keep_old()
            for file in files:
                file.place()
        except BaseException as error:
            for file in reversed(several):
                try:
                    file.take_back()
                except OSError as failed:
                    error.add_note(f"{file.path} could not be put back: {failed.strerror}")
            raise
        finally:
            for file in files:
                file.discard()
        for file in several:
            file.forget_old()
        for folder in {file.path.parent for file in files}:
            _sync_folder(folder)


def _create(path: Path, mode: int) -> FileIO:
    """Make a file without a name in the folder of the path, or else at the path."""
    # Without a buffer: closing the file after a failed write must not try that again.
    if hasattr(os, "O_TMPFILE"):
        with contextlib.suppress(OSError):
            return open(path.parent, "wb", buffering=0, opener=partial(_open_unnamed, mode=mode))
    return open(path, "xb", buffering=0, opener=partial(os.open, mode=mode))


def _open_unnamed(folder: str, _: int, *, mode: int) -> int:
    descriptor = os.open(folder, os.O_TMPFILE | os.O_WRONLY, mode)
    # Linux before 5.19 overlooked the umask here on some file systems
    is_too_open = mode == 0o666 and os.fstat(descriptor).st_mode & mode == mode
    # without /proc it could get no name
    if is_too_open or not os.path.lexists(_descriptor_path(descriptor)):
        os.close(descriptor)
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    return descriptor


def _descriptor_path(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _link(path: Path, other: Path) -> None:
    """Give a file another name, that is free; where it cannot have two, instead of its own."""
    try:
        os.link(path, other)
    except (OSError, AttributeError) as error:  # a browser's Python has no os.link
        if isinstance(error, OSError) and error.errno not in _NO_HARD_LINKS:
            raise
        os.replace(path, other)


def _status(path: Path) -> os.stat_result | None:
    """Return what stands at the path; None: nothing that can be seen."""
    try:
        return os.stat(path)
    except OSError:
        return None


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the file system can do so."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
