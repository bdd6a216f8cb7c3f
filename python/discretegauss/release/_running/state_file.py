"""The file of running counts: a line for the settings, then a line for each day.

A day's line is on disk before anybody sees what it says, so a day is measured once whatever ends
the process. The line has a public part, a tab, and the day's true counts. Once newer lines make
these counts useless, blanks replace them. A last line without its end was never published: the next
day overwrites it.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, NamedTuple

from ..._system.atomic_file import errors_name, sync_folder, write_all
from ..._system.signals import signals_deferred
from ...errors import OutputError, ParameterValueError

try:
    import fcntl
except ImportError:  # no cover: Windows
    fcntl = None  # type: ignore[assignment]

_LOST = ": if it was lost, restore it; a second start would measure the same people again"


class DayLine(NamedTuple):
    """A day's line; `private` is empty or blank once the true counts are forgotten."""

    number: int
    public: dict[str, Any]
    private: bytes


class StateFile:
    """The file, and how much of it this process has read.

    `create` makes the file. `keep` is the number of days whose true counts stay in it.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.keep = path, 1
        self._end = self._number = 0
        self._last = (0, b"")  # the place and the bytes of the last line's public part
        self._private: deque[tuple[int, int]] = deque()  # places and lengths of true counts

    @staticmethod
    def create(path: Path, settings: dict[str, Any], line: AbstractContextManager[object]) -> None:
        """Make the file, which must not exist. Only its owner may read it.

        The block of `line` writes the line of a ledger, or refuses. The file is empty until then.
        """
        _require_locks()
        try:
            with errors_name(path):
                file = FileIO(path, "xb", opener=partial(os.open, mode=0o600))
        except FileExistsError:
            raise OutputError(
                f"{path} already exists: running counts are started once, and then opened"
            ) from None
        try:
            with file, line as entry, errors_name(path), signals_deferred():
                ledger = None if entry is None else str(entry)
                write_all(file, _text(settings | {"ledger": ledger}) + b"\n")
                os.fsync(file.fileno())
                sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise

    def settings(self) -> dict[str, Any]:
        """Return what the first line says."""
        with errors_name(self.path, _LOST), open(self.path, "rb") as file:
            line = file.readline()
        found = self._parsed(line if line.endswith(b"\n") else b"")
        self._end, self._number, self._last = len(line), 1, (0, line)
        return found

    @contextmanager
    def locked(self) -> Iterator[FileIO]:
        """Lock the file for the block. Another process that has it waits, and a kill frees it."""
        _require_locks()
        with errors_name(self.path, _LOST):
            file = FileIO(self.path, "r+b")
        with file:
            with errors_name(self.path):
                fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    def new_lines(self, file: FileIO) -> Generator[DayLine]:
        """Yield the lines that this object does not know, of a file that is locked.

        A line counts as known when the caller asks for the next one. Close the generator.
        """
        self._require_same(file)
        file.seek(self._end)
        reader, has_any = BufferedReader(file, 2**20), False
        try:
            for line in reader:
                if not line.endswith(b"\n"):
                    break
                public, tab, private = line[:-1].partition(b"\t")
                if not tab:
                    raise broken_line(self.path, self._number + 1)
                yield DayLine(self._number + 1, self._parsed(public), private)
                has_any, self._number, self._last = True, self._number + 1, (self._end, public)
                length = len(private.rstrip(b" "))  # 0 if it is forgotten
                self._private.append((self._end + len(public) + 1, length))
                self._end += len(line)
        finally:
            reader.detach()
        if has_any:
            with errors_name(self.path):
                os.fsync(file.fileno())  # the process that wrote it may have been killed before
                self._forget(file)

    def append(self, file: FileIO, public: dict[str, Any], private: bytes) -> None:
        """Write a day's line to the disk, or nothing. `new_lines` yields it next."""
        with errors_name(self.path):
            try:
                file.truncate(self._end)
                file.seek(self._end)
                write_all(file, _text(public) + b"\t" + private + b"\n")
                os.fsync(file.fileno())
            except BaseException:
                with suppress(OSError):
                    file.truncate(self._end)
                raise

    def _forget(self, file: FileIO) -> None:
        """Put blanks over the true counts of older days."""
        while len(self._private) > self.keep:
            place, length = self._private.popleft()
            if length:
                file.seek(place)
                write_all(file, b" " * length)

    def _require_same(self, file: FileIO) -> None:
        """Refuse a file that is not the one that was read, or that has lost lines since."""
        place, public = self._last
        file.seek(place)
        if file.read(len(public)) != public or os.fstat(file.fileno()).st_size < self._end:
            raise ParameterValueError(
                f"path must name the state that was opened, but {self.path} was replaced, or cut "
                "off: an old copy would measure its last days again"
            )

    def _parsed(self, text: bytes) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise broken_line(self.path, self._number + 1)
        return found


def broken_line(path: Path, number: int) -> ParameterValueError:
    """Return the error about a line that no release has written."""
    return ParameterValueError(
        f"path must name the state of running counts, but line {number} of {path} is broken or of "
        "another version: restore the newest copy"
    )


def _text(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def _require_locks() -> None:
    if fcntl is None:  # no cover: Windows
        raise OSError("running counts need flock, which this system does not have")
