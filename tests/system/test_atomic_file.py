"""The output of a release is written whole or not at all, and is no more open than before."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tables import FLIGHTS, column

from discretegauss._system import atomic_file as _wholefile
from discretegauss.errors import EntropyError, OutputError
from discretegauss.release import release_table


def raising(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    return fail


def test_the_output_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    release_table(FLIGHTS, "flights", tmp_path / "o.csv", rho=1)
    assert (tmp_path / "o.csv").stat().st_mode == other.stat().st_mode


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every file a name from the start, as on NFS and outside Linux."""
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)


@pytest.mark.parametrize("unnamed", [True, False])
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o400, 0o755, 0o000])
def test_an_output_is_at_no_time_more_open_than_the_one_that_it_replaces(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    mode: int,
    unnamed: bool,
) -> None:
    """It is no more open than a new file when it is made, while noise is drawn, and at the end."""
    if not unnamed:
        request.getfixturevalue("named")
    other = tmp_path / "other"
    other.touch()
    out = tmp_path / "o.csv"
    out.touch()
    out.chmod(mode)
    seen: list[int] = []
    made: list[int] = []

    def look(buffer: memoryview) -> None:
        seen.append(os.fstat(made[-1]).st_mode & 0o777)
        buffer[:] = os.urandom(len(buffer))

    real_open = os.open

    def open_seen(path: str, flags: int, mode: int = 0o777) -> int:
        descriptor = real_open(path, flags, mode)
        if flags & os.O_ACCMODE:  # to write
            seen.append(mode)
            made.append(descriptor)
        return descriptor

    monkeypatch.setattr(os, "open", open_seen)
    release_table(FLIGHTS, "flights", out, rho=1, force=True, source=look)
    assert len(seen) >= 2
    assert not any(at_a_time & ~mode for at_a_time in seen)
    assert out.stat().st_mode & 0o777 == mode & other.stat().st_mode


# --- two at the same time


def test_an_output_that_comes_to_be_while_the_noise_is_drawn_is_kept(tmp_path: Path) -> None:
    """Another release was faster. With force its output is replaced."""
    out = tmp_path / "o.csv"

    def slow(buffer: memoryview) -> None:
        out.write_text("of another release")
        buffer[:] = os.urandom(len(buffer))

    with pytest.raises(OutputError, match="already exists"):
        release_table(FLIGHTS, "flights", out, rho=1, source=slow)
    assert out.read_text() == "of another release"
    assert os.listdir(tmp_path) == ["o.csv"]
    release_table(FLIGHTS, "flights", out, rho=1, force=True, source=slow)
    assert len(column(out, "flights")) == 5268


@pytest.mark.usefixtures("named")  # a system of files without names has hard links
@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, None])
def test_a_file_system_without_hard_links_gets_the_output_by_renaming(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None
) -> None:
    """A browser has such a system, and its Python no os.link (None)."""
    if number is None:
        monkeypatch.delattr(os, "link")
    else:
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
        (None, "source", KeyboardInterrupt()),
        (None, "source", MemoryError()),
        (None, "source", EOFError("too few bytes")),
        (None, "source", EntropyError(errno.ENOSYS, "no randomness")),
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
    """os.place stands for the call that publishes the output: a rename or a link."""
    out = tmp_path / "o.csv"
    if force:
        out.write_text("what was there")
    if name == "place":
        name = "replace" if force else "link"
        real = getattr(os, name)

        def fail(old: object, new: object, **options: Any) -> None:
            if new == out:
                raise error
            real(old, new, **options)

        monkeypatch.setattr(os, name, fail)
    elif place is not None:
        monkeypatch.setattr(place, name, raising(error))
    source: Any = raising(error) if place is None else "chacha20"
    with pytest.raises(type(error)) as caught:
        release_table(FLIGHTS, "flights", out, rho=1, force=force, source=source)
    monkeypatch.undo()
    assert not hasattr(caught.value, "__notes__")
    assert (out.read_text() if out.exists() else None) == ("what was there" if force else None)
    assert [p.name for p in tmp_path.iterdir()] == (["o.csv"] if force else [])
    if place is os and isinstance(caught.value, OSError):
        assert caught.value.filename == str(out)  # the name the user gave, not a temporary one


def test_a_file_that_cannot_be_closed_is_an_error_that_names_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a network only closing may tell that the disk is full."""

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
    """Python raises it when the system call returns."""
    out = tmp_path / "o.csv"
    if force:
        out.write_text("before")
    name = "replace" if force else "link"
    place = getattr(os, name)

    def interrupted(old: object, new: object, **options: Any) -> None:
        place(old, new, **options)
        if new == out:
            raise KeyboardInterrupt

    if when == "after it":
        monkeypatch.setattr(_wholefile, "sync_folder", raising(KeyboardInterrupt()))
    else:
        monkeypatch.setattr(os, name, interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        release_table(FLIGHTS, "flights", out, rho=1, force=force)
    assert caught.value.__notes__ == [f"{out} is written; the budget is spent"]
    assert len(column(out, "flights")) == 5268
    assert os.listdir(tmp_path) == ["o.csv"]


def test_a_process_that_is_killed_leaves_no_file(tmp_path: Path) -> None:
    """It leaves neither a new output nor one that would replace another."""
    if not _has_files_without_a_name(tmp_path):
        pytest.skip("this file system has no files without a name")
    (tmp_path / "old").write_text("old")
    program = """
import os, sys
from discretegauss.release import release_table
die = lambda _: os.kill(os.getpid(), 9)
release_table(sys.argv[1], "flights", sys.argv[2], rho=1, force=True, source=die)
"""
    for name in ("new", "old"):
        files = str(FLIGHTS), str(tmp_path / name)
        done = subprocess.run([sys.executable, "-c", program, *files], check=False)
        assert done.returncode == -signal.SIGKILL
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old", "old")]


def _has_files_without_a_name(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except (AttributeError, OSError):
        return False
    return True


def test_without_proc_the_output_has_a_name_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_wholefile, "_descriptor_path", lambda _: str(tmp_path / "none"))
    release_table(FLIGHTS, "flights", tmp_path / "o.csv", rho=1)
    assert len(column(tmp_path / "o.csv", "flights")) == 5268
    assert os.listdir(tmp_path) == ["o.csv"]
