"""The output of a release: whole or not at all, nobody else's, no more readable than before."""

from __future__ import annotations

import csv
import errno
import io
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

import discretegauss as dg
from discretegauss._system import atomic_file as _wholefile
from discretegauss.errors import EntropyError, OutputError
from discretegauss.release import _run as release_module
from discretegauss.release import release_table
from discretegauss.testing import TapeSource

FLIGHTS = Path(__file__).parents[2] / "examples" / "flights.csv"


def column(path: Path, name: str) -> list[int]:
    with path.open(newline="") as file:
        return [int(row[name]) for row in csv.DictReader(file)]


def raising(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


def test_the_output_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    release_table(FLIGHTS, "flights", tmp_path / "o.csv", rho=1)
    assert (tmp_path / "o.csv").stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400, 0o755, 0o000])
def test_a_replaced_output_keeps_its_mode_and_is_never_more_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """Looked at whenever bytes are written, and at the end."""
    out = tmp_path / "o.csv"
    out.touch()
    out.chmod(mode)
    seen: list[int] = []

    def look(*arguments: Any, **options: Any) -> Any:
        seen.extend(path.stat().st_mode & 0o777 for path in tmp_path.glob(".*.tmp"))
        return dg.discrete_gaussian(*arguments, **options)

    monkeypatch.setattr(release_module, "discrete_gaussian", look)
    real_open = os.open

    def open_seen(path: str, flags: int, mode: int = 0o777) -> int:
        if str(path).endswith(".tmp"):
            seen.append(mode)
        return real_open(path, flags, mode)

    monkeypatch.setattr(os, "open", open_seen)
    release_table(FLIGHTS, "flights", out, rho=1, force=True)
    assert len(seen) >= 2
    assert not any(at_a_time & ~mode for at_a_time in seen)
    assert out.stat().st_mode & 0o777 == mode


def test_a_replaced_output_of_a_group_that_cannot_be_kept_is_closed_to_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fchown", raising(PermissionError(errno.EPERM, "no")))
    for before, after in [(0o640, 0o600), (0o664, 0o644), (0o604, 0o604), (0o644, 0o644)]:
        out = tmp_path / "o.csv"
        out.touch()
        out.chmod(before)
        release_table(FLIGHTS, "flights", out, rho=1, force=True)
        assert out.stat().st_mode & 0o777 == after


ACCESS_LIST, DEFAULT_LIST = "system.posix_acl_access", "system.posix_acl_default"


def access_list(*, group: int, mask: int, others: int, somebody: int) -> bytes:
    """As acl(5) has it: a version, then kind, rights and whom for each entry; owner 6."""
    nobody = 2**32 - 1
    entries = [(1, 6, nobody), (2, somebody, 12345), (4, group, nobody)]
    entries += [(16, mask, nobody), (32, others, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def with_list(path: Path, kind: str, access: bytes) -> None:
    try:
        os.setxattr(path, kind, access)
    except OSError as error:
        pytest.skip(f"the file system has no access control lists: {error.strerror}")


@pytest.mark.parametrize(
    "access",
    [
        access_list(group=0, mask=4, others=0, somebody=4),  # stat shows the mask as the group's
        access_list(group=4, mask=4, others=4, somebody=0),
    ],
    ids=["lets one in", "keeps one out"],
)
def test_a_replaced_output_keeps_its_access_control_list(tmp_path: Path, access: bytes) -> None:
    out = tmp_path / "o.csv"
    out.touch()
    with_list(out, ACCESS_LIST, access)
    mode = out.stat().st_mode
    release_table(FLIGHTS, "flights", out, rho=1, force=True)
    assert os.getxattr(out, ACCESS_LIST) == access
    assert out.stat().st_mode == mode


@pytest.mark.parametrize("name", ["fchown", "setxattr"])
def test_an_output_whose_access_control_list_cannot_be_kept_is_its_owners_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    out = tmp_path / "o.csv"
    out.touch()
    with_list(out, ACCESS_LIST, access_list(group=4, mask=4, others=4, somebody=0))
    monkeypatch.setattr(os, name, raising(PermissionError(errno.EPERM, "no")))
    release_table(FLIGHTS, "flights", out, rho=1, force=True)
    assert out.stat().st_mode & 0o777 == 0o600
    assert ACCESS_LIST not in os.listxattr(out)


def test_a_replaced_output_gets_no_access_control_list_from_its_folder(tmp_path: Path) -> None:
    """As new files there do, and the output has got; it lost it again, say."""
    out = tmp_path / "o.csv"
    out.touch()
    out.chmod(0o640)
    with_list(tmp_path, DEFAULT_LIST, access_list(group=4, mask=6, others=0, somebody=6))
    release_table(FLIGHTS, "flights", out, rho=1, force=True)
    assert ACCESS_LIST not in os.listxattr(out)
    assert out.stat().st_mode & 0o777 == 0o640


# --- two at the same time


def test_an_output_that_comes_to_be_while_the_noise_is_drawn_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if another release had been faster; with force, it is replaced."""
    out = tmp_path / "o.csv"

    def slow(*arguments: Any, **options: Any) -> Any:
        out.write_text("of another release")
        return dg.discrete_gaussian(*arguments, **options)

    monkeypatch.setattr(release_module, "discrete_gaussian", slow)
    with pytest.raises(OutputError, match="exists already"):
        release_table(FLIGHTS, "flights", out, rho=1)
    assert out.read_text() == "of another release"
    assert os.listdir(tmp_path) == ["o.csv"]
    release_table(FLIGHTS, "flights", out, rho=1, force=True)
    assert len(column(out, "flights")) == 5268


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_hard_links_gets_the_output_by_renaming(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(os, "link", raising(OSError(number, os.strerror(number))))
    release_table(FLIGHTS, "flights", tmp_path / "o.csv", rho=1)
    assert len(column(tmp_path / "o.csv", "flights")) == 5268
    assert os.listdir(tmp_path) == ["o.csv"]


# --- whole or not at all


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("place", "name", "error"),
    [
        (os, "fsync", OSError(errno.ENOSPC, "No space left on device")),
        (os, "place", OSError(errno.EIO, "Input/output error")),
        (os, "place", KeyboardInterrupt()),
        (release_module, "discrete_gaussian", KeyboardInterrupt()),
        (release_module, "discrete_gaussian", MemoryError()),
        (release_module, "discrete_gaussian", EntropyError(errno.ENOSYS, "no randomness")),
    ],
)
def test_a_failure_leaves_what_was_there_and_no_other_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: Any,
    name: str,
    error: BaseException,
    force: bool,
) -> None:
    """os.place stands for what puts the output in its place: by renaming, or else by a link."""
    out = tmp_path / "o.csv"
    if force:
        out.write_text("what was there")
    if name == "place":
        name = "replace" if force else "link"
    monkeypatch.setattr(place, name, raising(error))
    with pytest.raises(type(error)) as caught:
        release_table(FLIGHTS, "flights", out, rho=1, force=force)
    monkeypatch.undo()
    assert not hasattr(caught.value, "__notes__")
    assert (out.read_text() if out.exists() else None) == ("what was there" if force else None)
    assert [p.name for p in tmp_path.iterdir()] == (["o.csv"] if force else [])
    if place is os and isinstance(caught.value, OSError):
        assert caught.value.filename == str(out)  # the name the user gave, not a temporary one


def test_a_file_that_cannot_be_closed_is_an_error_that_names_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network, where only then the disk may turn out to be full."""

    class Unclosable(io.FileIO):
        def close(self) -> None:
            if not self.closed:
                super().close()
                raise OSError(errno.EDQUOT, "Disk quota exceeded")

    out = tmp_path / "o.csv"
    monkeypatch.setattr(_wholefile, "_create", lambda path, _: Unclosable(path, "xb"))
    with pytest.raises(OSError, match="Disk quota exceeded") as caught:
        release_table(FLIGHTS, "flights", out, rho=1)
    assert caught.value.filename == str(out)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("when", ["during the system call", "after it"])
def test_an_interrupt_that_comes_when_the_output_is_in_its_place_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool, when: str
) -> None:
    """Python raises it as soon as the call that was under way is over."""
    out = tmp_path / "o.csv"
    if force:
        out.write_text("before")
    name = "replace" if force else "link"
    place = getattr(os, name)

    def interrupted(temporary: Path, path: Path) -> NoReturn:
        place(temporary, path)
        raise KeyboardInterrupt

    if when == "after it":
        monkeypatch.setattr(_wholefile, "_sync_folder", raising(KeyboardInterrupt()))
    else:
        monkeypatch.setattr(os, name, interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        release_table(FLIGHTS, "flights", out, rho=1, force=force)
    assert caught.value.__notes__ == [f"{out} is written", "the budget is spent"]
    assert len(column(out, "flights")) == 5268
    assert os.listdir(tmp_path) == ["o.csv"]


def test_a_source_that_ends_early_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(EOFError):
        release_table(FLIGHTS, "flights", tmp_path / "o", rho=1, source=TapeSource(bytes(1000)))
    assert not list(tmp_path.iterdir())
