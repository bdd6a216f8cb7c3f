"""Where a release may write: to no file that it reads, to no file twice, and over none unasked.

Files are compared by themselves and not by their names, because links and folders give one file
several names.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import OutputError


class File(NamedTuple):
    """A file that a command reads or writes, and its name in errors."""

    #: The path that the user gave.
    path: Path
    #: "the output", or "table 2 of the plan", for example.
    name: str
    #: Stands in front of errors about it: the plan's file and the table's number.
    where: str = ""
    #: Whether a second output like this one spends budget, of which the error warns.
    costs: bool = True
    #: Whether its folder may be missing, because the command makes it.
    in_new_folder: bool = False


def require_other_files(outputs: Sequence[File], inputs: Sequence[File]) -> None:
    """Refuse an output that is an input, or another output, by any name."""
    used: dict[tuple[object, ...] | None, str] = {}
    for one in inputs:
        used.setdefault(identity_of(one.path), one.name)
    for one in outputs:
        identity = identity_of(one.path)
        if identity is not None and identity in used:
            raise _error(one, f"is {used[identity]}; {one.name} must be another file")
        used[identity] = one.name


def checked_destinations(
    outputs: Sequence[File], inputs: Sequence[File] = (), *, force: bool
) -> list[Path]:
    """Return the paths of the outputs with links resolved, or refuse one of them."""
    require_other_files(outputs, inputs)
    destinations = []
    for one in outputs:
        destinations.append(_checked(one, force=force))
    return destinations


def _checked(one: File, *, force: bool) -> Path:
    destination = Path(os.path.realpath(one.path))
    if not destination.exists():
        if one.path.exists():  # /dev/stdout as a pipe: its link in /proc names no path
            raise _error(one, "exists and is not a regular file")
        if not destination.parent.is_dir() and not one.in_new_folder:
            raise _error(one, "must be in a folder that exists")
        return destination
    if not destination.is_file():
        raise _error(one, "exists and is not a regular file")
    for number, stream in ((1, "stdout"), (2, "stderr")):
        if _is_open_as(number, destination):  # the stream's own text would be lost
            raise OutputError(f"{stream} goes to {one.path}; {one.name} must be another file")
    if not force:
        raise exists_already(one.path, one.where) if one.costs else _error(one, _EXISTS)
    return destination


_EXISTS = "already exists; use --force to replace it"


def exists_already(out: Path, where: str = "") -> OutputError:
    """Return the error for an output of a release that exists."""
    return OutputError(
        f"{where and f'{where}: '}{out} already exists; use --force (in Python: force=True) to "
        "replace it. A second release of the same counts spends the budget again"
    )


def _error(one: File, fault: str) -> OutputError:
    return OutputError(f"{one.where and f'{one.where}: '}{one.path} {fault}")


def identity_of(path: Path) -> tuple[object, ...] | None:
    """Return a key that is equal for two paths of one file; None for a pipe or device.

    A file that does not exist is known by the nearest folder that does, and its path from there.
    """
    real = Path(os.path.realpath(path))
    for there in (path, real, *real.parents):
        try:
            status = there.stat()
        except OSError:
            continue
        if there in (path, real):
            return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
        return status.st_dev, status.st_ino, *real.relative_to(there).parts
    return None


def _is_open_as(number: int, path: Path) -> bool:
    """Return whether the process has the file open under that descriptor."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except OSError:  # the descriptor is closed
        return False
