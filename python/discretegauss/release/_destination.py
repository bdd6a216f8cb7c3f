"""Where the output of a release may go: checked before, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import cast

from .._system.atomic_file import Sink, errors_name, sink_to
from ..errors import OutputError


def checked_destination(table: Path | None, out: Path, *, force: bool) -> Path:
    """Return where the output goes, links resolved, if it may go there.

    ``table``: what it is made from; None: from nothing that could be spent.
    """
    destination = Path(os.path.realpath(out))
    if not destination.exists():
        if out.exists():  # a pipe, say, as /dev/stdout, whose link in /proc names no place
            raise OutputError(f"{out}: exists and is not a regular file")
        if not destination.parent.is_dir():
            raise OutputError(f"{out}: there is no such folder to write to")
        return destination
    if table is not None and table.exists() and destination.samefile(table):
        raise OutputError(f"{out}: is the table itself; the output must be another file")
    if not destination.is_file():
        raise OutputError(f"{out}: exists and is not a regular file")
    for number, stream in ((1, "stdout"), (2, "stderr")):
        if _is_open_as(number, destination):  # and what is printed there would be replaced, too
            raise OutputError(f"{out}: is what {stream} goes to; the output must be another file")
    if not force and table is None:
        raise OutputError(f"{out}: exists already; use --force to replace it")
    if not force:
        raise exists_already(out)
    return destination


@contextmanager
def unbuffered_stdout() -> Iterator[Sink]:
    """Give a sink that writes to stdout at once."""
    with errors_name("stdout"):
        descriptor = os.dup(1)
    with open(descriptor, "wb", buffering=0) as stdout:
        yield sink_to(stdout, "stdout")


class Stdout:
    """What goes to stdout when it is placed, as a `NewFile` gets its name: a pipe takes none back.

    Until then the bytes are in a temporary file that has no name.
    """

    def __init__(self) -> None:
        self._folder, self._placed = tempfile.gettempdir(), False
        self._file: RawIOBase | None = None

    @contextmanager
    def content(self) -> Iterator[Sink]:
        """Give a sink for the bytes."""
        rule = (
            ": the whole table must fit into this folder before stdout gets it "
            "(TMPDIR names another)"
        )
        with errors_name(self._folder, rule):
            opened = tempfile.TemporaryFile(buffering=0, dir=self._folder)  # noqa: SIM115
        self._file = cast("RawIOBase", opened)  # closed by discard()
        yield sink_to(self._file, self._folder, rule)

    def place(self) -> None:
        """Write the bytes to stdout."""
        try:
            with unbuffered_stdout() as sink:
                for part in _read_again(cast("RawIOBase", self._file), self._folder):
                    sink(part)
        except BaseException as error:
            error.add_note("part of the table may be written, and the budget is spent")
            raise
        self._placed = True

    def is_placed(self) -> bool:
        """Return whether stdout has all of it."""
        return self._placed

    def discard(self) -> None:
        """Let the temporary file go."""
        if self._file is not None:
            self._file.close()


def _read_again(file: RawIOBase, name: str) -> Iterator[bytes]:
    with errors_name(name):
        file.seek(0)
        while part := file.read(2**20):
            yield part


def _is_open_as(number: int, path: Path) -> bool:
    """Return whether the file at the path is what the process has open by that number."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except OSError:  # nothing is open so
        return False


def exists_already(out: Path) -> OutputError:
    return OutputError(
        f"{out}: exists already; use --force (in Python: force=True) to replace it, "
        "and mind that a second release of the same counts spends the budget again"
    )
