"""Writing of one file completely or not at all, and of several files all or none."""

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
"""Writes all of its argument's bytes."""

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def write_all(file: RawIOBase, data: bytes | memoryview) -> None:
    """Write all of the data to an unbuffered file, whose `write` may take only a part of it."""
    remainder = memoryview(data)
    while remainder:
        n_written = file.write(remainder)
        if n_written is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        remainder = remainder[n_written:]


@contextmanager
def errors_name(path: Path | str, rule: str = "") -> Iterator[None]:
    """Raise an OSError of the block again with the file that the user knows, and the rule."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}{rule}", str(path)) from None


def sink_to(file: RawIOBase, name: Path | str, rule: str = "") -> Sink:
    """Return a function that writes to the file and raises errors with this name."""

    def sink(data: bytes | memoryview) -> None:
        with errors_name(name, rule):
            write_all(file, data)

    return sink


def no_op() -> None:
    """Do nothing."""


class NewFile:
    """A new file that gets a temporary name in its folder when it is complete, and then its path.

    Until it is complete it has no name, so a killed process leaves nothing. If the file system has
    no unnamed files (NFS, for example), it has its temporary name from the start. Errors name
    ``path``. Always call `discard` at the end.

    `replace` allows a file at this path; see `atomic_write`.
    """

    def __init__(self, path: Path, *, replace: bool) -> None:
        self.path, self._replace = path, replace
        name = path.parent / f".discretegauss-{secrets.token_hex(8)}"
        self._temporary, self._old = name.with_suffix(".tmp"), name.with_suffix(".old.tmp")
        self._made: os.stat_result | None = None

    @contextmanager
    def content(self) -> Iterator[Sink]:
        """Yield a function that writes to the file. It is complete if the block raises no error."""
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
                    # src_dir_fd makes os.link follow the symbolic link in /proc to the file itself
                    unnamed = _descriptor_path(file.fileno())
                    os.link(unnamed, self._temporary, src_dir_fd=file.fileno())
                file.close()

    def place(self) -> None:
        """Give the file its final name."""
        with errors_name(self.path):
            (os.replace if self._replace else _link)(self._temporary, self.path)

    def is_placed(self) -> bool:
        """Return whether the file has its final name.

        A variable could be wrong: an interrupt may end the system call before it is set.
        """
        now = _status(self.path)
        return self._made is not None and now is not None and os.path.samestat(self._made, now)

    def discard(self) -> None:
        """Remove the temporary name if it exists; an error here would hide the cause."""
        with contextlib.suppress(OSError):
            self._temporary.unlink()

    def keep_old(self) -> None:
        """Give the file that will be replaced, if any, a second name until `forget_old`."""
        if not self._replace:
            return
        with errors_name(self.path), contextlib.suppress(FileNotFoundError):
            _link(self.path, self._old)

    def forget_old(self) -> None:
        """Remove the second name that `keep_old` made."""
        with contextlib.suppress(OSError):
            self._old.unlink()

    def take_back(self) -> None:
        """Restore the state before `keep_old`: the old file at the path, or none.

        A file that another process has put there meanwhile stays.
        """
        with errors_name(self.path):
            there = _status(self.path)
            if self.is_placed() or there is None:
                if _status(self._old) is not None:
                    os.replace(self._old, self.path)
                elif there is not None:
                    self.path.unlink()
        self.forget_old()  # if nothing was replaced, the old file still has its second name


@contextmanager
def atomic_write(
    path: Path, *, replace: bool, before_placing: Callable[[], None] = no_op
) -> Iterator[Sink]:
    """Yield a function that writes to a file, which appears at ``path`` if the block succeeds.

    Until then the bytes are in a temporary file in the same folder. If an exception or Ctrl-C ends
    the block early, that file is removed and ``path`` is unchanged. If an exception comes after the
    file is at ``path``, it has a note that says so. Errors name ``path``. ``before_placing`` is
    called just before the file appears.

    Without ``replace``, link(2) raises FileExistsError if another file has come to be at ``path``.
    On a file system without hard links that file is replaced.

    With ``replace``, the mode has only bits that both the replaced file and new files have, from
    the first byte on. Owner, group and access control list are those of any new file.
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


@contextmanager
def probed(paths: Sequence[Path]) -> Iterator[None]:
    """Refuse a path whose folder takes no new file, before the block begins."""
    for folder in {path.parent for path in paths}:
        probe = NewFile(folder / "probe", replace=False)
        try:
            with errors_name(folder), probe.content():
                pass
        finally:
            with signals_deferred():
                probe.discard()
    yield


def place_together(files: Sequence[NewFile]) -> None:
    """Give all of these files their final names.

    If one of them fails, none has its name, and the files that they have replaced are restored. No
    temporary name is left. Signals wait until the end. A single file gets its name in one step, so
    nothing needs to be restored.
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
            sync_folder(folder)


def _create(path: Path, mode: int) -> FileIO:
    """Create a file without a name in the path's folder, or at the path if that is impossible."""
    # Unbuffered, because closing the file after a failed write must not repeat the write.
    if hasattr(os, "O_TMPFILE"):
        with contextlib.suppress(OSError):
            return open(path.parent, "wb", buffering=0, opener=partial(_open_unnamed, mode=mode))
    return open(path, "xb", buffering=0, opener=partial(os.open, mode=mode))


def _open_unnamed(folder: str, _: int, *, mode: int) -> int:
    descriptor = os.open(folder, os.O_TMPFILE | os.O_WRONLY, mode)
    # Linux before 5.19 ignores the umask here on some file systems
    is_too_open = mode == 0o666 and os.fstat(descriptor).st_mode & mode == mode
    # and without /proc the file can never get a name
    if is_too_open or not os.path.lexists(_descriptor_path(descriptor)):
        os.close(descriptor)
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    return descriptor


def _descriptor_path(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


def _link(path: Path, other: Path) -> None:
    """Give a file another, free name; rename it if the file system has no hard links."""
    try:
        os.link(path, other)
    except (OSError, AttributeError) as error:  # a browser's Python has no os.link
        if isinstance(error, OSError) and error.errno not in _NO_HARD_LINKS:
            raise
        os.replace(path, other)


def _status(path: Path) -> os.stat_result | None:
    """Return the status of the path; None if there is nothing that this process can see."""
    try:
        return os.stat(path)
    except OSError:
        return None


def sync_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut, if the file system supports that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
