"""A file of JSON lines that only grows: each line is on disk when it is added, and has a hash.

The hash of a line is SHA-256 of the hash before and of the line's own bytes, so a changed byte and
a missing line are found, unless the last lines are cut off. It finds accidents. Whoever can write
the file can write all of it anew.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from .atomic_file import errors_name, sync_folder
from .signals import signals_deferred

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_WAIT = 30.0
"""Seconds to wait for another process, which needs some milliseconds for its line."""

_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class HashedLine(NamedTuple):
    """A line: what it says, and the hash of the file up to it."""

    fields: dict[str, Any]
    hash: str


Add = Callable[[Mapping[str, Any], list[HashedLine]], None]


class ChainedFile:
    """A file of this kind. The first line says what it is, and by which lock it is written.

    `kind` is the noun for such files, with which the first line begins. `error` is the class of
    errors about what is in the file, or locks it.
    """

    def __init__(self, path: Path, kind: str, error: type[Exception]) -> None:
        self.path, self._kind, self._error, self._data = path, kind, error, b""
        self._begin = f'{{"format": "discretegauss {kind}", "version": '.encode()
        self.lines: tuple[HashedLine, ...] = ()

    def create(self, fields: Mapping[str, Any]) -> None:
        """Make the file with its first line. The lock is chosen here, once for all processes."""
        with signals_deferred():
            try:
                with errors_name(self.path):
                    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | _FLAGS
                    file = os.open(self.path, flags, 0o600)
            except FileExistsError:
                raise self._error(
                    f"{self.path} exists already; a {self._kind} is started once"
                ) from None
            try:
                head = {"format": f"discretegauss {self._kind}", "version": 1, "time": _now()}
                lock = "flock" if _can_flock(file) else "file"
                head |= {**fields, "lock": lock, "id": secrets.token_hex(16)}
                with errors_name(self.path):
                    _append(file, _line(head, ""), 0)
            except BaseException:
                with suppress(OSError):
                    self.path.unlink()
                raise
            finally:
                os.close(file)
            sync_folder(self.path.parent)

    def read(self) -> None:
        """Read the lines that are new."""
        with self._opened(os.O_RDONLY) as file:
            data = self._content(file)
            whole = data[: data.rfind(b"\n") + 1]
            if whole and whole != data:  # another process may be writing this line
                self._take(whole)
                with self._lock(file):
                    data = self._content(file)
            self._take(data)

    @contextmanager
    def locked(self) -> Iterator[Add]:
        """Lock the file and read what is new; yield a function that adds a line.

        `read` has read the file before. The function also puts the line into the list that it is
        given, before any signal is heard.
        """
        with self._opened(os.O_RDWR | os.O_APPEND) as file, self._lock(file):
            old = self._content(file)
            self._take(old)

            def add(fields: Mapping[str, Any], added: list[HashedLine]) -> None:
                line = _line({"n": len(self.lines), "time": _now(), **fields}, self.lines[-1].hash)
                with signals_deferred(), errors_name(self.path):
                    _append(file, line, len(old))
                    # Some network file systems lock on each host by itself: this sees other lines.
                    if not self._content(file).startswith(old + line):
                        raise self._error(
                            f"{self.path} was written by another process in spite of the lock; "
                            "nothing is drawn"
                        )
                    self._take(old + line)
                    added.append(self.lines[-1])

            yield add

    def _take(self, data: bytes) -> None:
        """Check the lines that are new."""
        if not data.startswith(self._data):
            raise self._error(
                f"{self.path} was changed, or lacks lines that this process has read: it may be an "
                "old copy"
            )
        lines, last = list(self.lines), self.lines[-1].hash if self.lines else ""
        *new, rest = data[len(self._data) :].split(b"\n")
        for text in new:
            body, _, end = text.rpartition(b', "hash": "')
            last = _hash(last, body)
            if end != f'{last}"}}'.encode():
                raise self._error(
                    f"{self.path}: line {len(lines) + 1} was changed, or a line before it is "
                    "missing"
                )
            lines.append(HashedLine(json.loads(text), last))
        if rest or not lines:
            raise self._error(
                f"{self.path}: line {len(lines) + 1} is torn, as after a power cut; nothing is "
                "drawn before a line is whole, so if nobody edited the file, delete that line"
            )
        if (version := lines[0].fields["version"]) != 1:
            raise self._error(f"{self.path} has version {version}, which needs a newer package")
        self.lines, self._data = tuple(lines), data

    def _content(self, file: int) -> bytes:
        os.lseek(file, 0, os.SEEK_SET)
        parts: list[bytes] = []
        with errors_name(self.path):
            while part := os.read(file, 1 << 20):
                if not parts and not part.startswith(self._begin):
                    rule = f"is not a {self._kind}, or its first line was changed"
                    raise self._error(f"{self.path} {rule}")
                parts.append(part)
        if not parts:
            raise self._error(f"{self.path} is empty: it was never started; delete it first")
        return b"".join(parts)

    @contextmanager
    def _opened(self, flags: int) -> Iterator[int]:
        try:
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                raise self._error(f"{self.path} is not a regular file")
            with errors_name(self.path):
                file = os.open(self.path, flags | _FLAGS)
        except FileNotFoundError:
            raise self._error(
                f"{self.path} does not exist; start makes a new {self._kind}"
            ) from None
        try:
            yield file
        finally:
            os.close(file)

    @contextmanager
    def _lock(self, file: int) -> Iterator[None]:
        """Hold the lock that the first line names: two kinds would not exclude each other."""
        if self.lines[0].fields["lock"] == "flock":
            if fcntl is None:
                raise self._error(f"{self.path} needs flock, which this system does not have")
            with errors_name(self.path, f": the {self._kind} could not be locked"):
                self._wait(lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB), "")
            yield  # the lock ends when the file is closed, or the process is killed
            return
        name, taken = self.path.with_name(f"{self.path.name}.lock"), False

        def take() -> None:
            nonlocal taken
            with signals_deferred(), errors_name(name):
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _FLAGS, 0o600))
                taken = True

        try:
            self._wait(take, f"; if none runs, one was killed: delete {name}")
            yield
        finally:
            with signals_deferred(), errors_name(name):
                if taken:
                    name.unlink(missing_ok=True)

    def _wait(self, take: Callable[[], None], hint: str) -> None:
        end = time.monotonic() + _WAIT
        while True:
            try:
                return take()
            except (BlockingIOError, FileExistsError):
                if time.monotonic() > end:
                    raise self._error(f"{self.path} is locked by another process{hint}") from None
                time.sleep(0.005)


def _can_flock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (OSError, AttributeError):
        return False
    return True


def _append(file: int, line: bytes, size: int) -> None:
    """Append a line and force it to the disk; if it does not fit, leave the file as it was."""
    if os.fstat(file).st_size != size:
        raise OSError(errno.EAGAIN, "another process wrote to it in spite of the lock")
    try:
        done = 0
        while done < len(line):
            done += os.write(file, line[done:])
    except OSError:
        with suppress(OSError):  # a file with the attribute "append only" keeps a torn line
            os.ftruncate(file, size)
        raise
    try:
        if full := getattr(fcntl, "F_FULLFSYNC", None):  # macOS: fsync leaves it in a cache
            fcntl.fcntl(file, full)
        else:
            os.fsync(file)
    except OSError as error:
        rule = ": the disk did not confirm the line, so it may stand, but nothing is drawn"
        raise OSError(error.errno, f"{error.strerror}{rule}") from None


def _line(fields: Mapping[str, Any], before: str) -> bytes:
    body = json.dumps(fields, allow_nan=False, ensure_ascii=True)[:-1].encode()
    return body + f', "hash": "{_hash(before, body)}"}}\n'.encode()


def _hash(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
