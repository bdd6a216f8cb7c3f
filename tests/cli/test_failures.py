"""How the command ends after failures of the system and signals, or if nobody reads its output."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import runpy
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn, TextIO

import pytest
from command import (
    SIGNALS,
    Command,
    descriptor,
    interrupted_while_reading,
    process,
    release,
    without_reader,
)
from engine import before_noise_is_added

from discretegauss.errors import EntropyError
from discretegauss.release import PlanRelease


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (EntropyError(errno.ENOSYS, "no randomness (getrandom)"), 1, "no randomness (getrandom)"),
        (EntropyError("no randomness"), 1, "no randomness"),
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(errno.EIO, "Input/output error", "t.csv"), 2, "t.csv: Input/output error"),
        (OSError("odd"), 2, "odd"),
    ],
)
def test_failures_of_the_system_have_their_own_codes(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    message: str,
) -> None:
    def fail() -> NoReturn:
        raise error

    before_noise_is_added(monkeypatch, fail)
    done = run(*release(tmp_path / "o.csv", "--rho", 1))
    assert done.code == code
    assert done.is_one_line_with(message), done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.process
def test_a_disk_that_is_full_leaves_no_file(tmp_path: Path) -> None:
    """Writing really fails halfway, because the process may only write files of 20 kB."""
    before = tmp_path / "o.csv"
    before.write_text("before")
    done = process(*release(before, "--rho", 1, "--force"), under="ulimit -f 20")
    assert done.is_refused_with("o.csv: File too large"), done.err
    assert before.read_text() == "before"
    assert os.listdir(tmp_path) == ["o.csv"]


@pytest.mark.process
def test_a_full_temporary_folder_is_named(tmp_path: Path) -> None:
    """A table for stdout waits in that folder until all of it is valid."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = process(*release("-", "--rho", 1), env=environment, under="ulimit -f 20")
    assert done.is_refused_with(f" {tmp_path}: File too large: the whole table must fit into")
    assert "TMPDIR" in done.err


@pytest.mark.parametrize("option", [[], ["--plan"]])
def test_a_file_that_cannot_be_read_is_named(
    run: Command, option: list[str], tmp_path: Path
) -> None:
    """The file can be opened, but its first byte is at no address of the process."""
    others = [] if option else ["--column", "n", "--rho", 1, "--out", tmp_path / "o.csv"]
    done = run("release", *option, "/proc/self/mem", *others)
    assert done.is_refused_with(" /proc/self/mem: Input/output error"), done.err


@pytest.mark.process
@pytest.mark.parametrize(("name", "code"), [("INT", 130), ("TERM", 143), ("HUP", 129)])
def test_a_signal_ends_a_process_by_its_exit_code_and_no_file(
    tmp_path: Path, name: str, code: int
) -> None:
    """The table is a pipe that never ends, so the interrupt comes while it is read."""
    pipe = tmp_path / "t.csv"
    os.mkfifo(pipe)
    command = release("o.csv", "--rho", 1, table=pipe)
    done = interrupted_while_reading(pipe, "flights\n1\n", name, *command, folder=tmp_path)
    assert done.code == code
    by = "" if name == "INT" else f" by SIG{name}"
    assert done.err == f"discretegauss: error: interrupted{by}\n"
    assert os.listdir(tmp_path) == ["t.csv"]


@pytest.mark.parametrize("out", ["f", "/dev/stdout"])
def test_an_output_that_is_what_stdout_goes_to_is_one_line_and_exit_code_2(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    """With ``--out f --force > f`` the report would be lost, with exit code 0."""
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "f").open("w") as file, descriptor(1, file):
        done = run(*release(out, "--rho", 1, "--force"))
    assert done.is_refused_with(f"stdout goes to {out}; the output must be another file")
    assert (tmp_path / "f").read_bytes() == b""
    assert os.listdir(tmp_path) == ["f"]


def test_an_output_is_replaced_where_the_standard_streams_are_closed(tmp_path: Path) -> None:
    (tmp_path / "o.csv").touch()
    arguments = release("o.csv", "--rho", 1, "--force")
    done = process(*arguments, cwd=tmp_path, under="exec >&- 2>&-")
    assert done.code == 1  # the report could not be printed
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 5269


# --- signals


def sending(number: signal.Signals) -> Callable[..., None]:
    return lambda *_, **__: signal.raise_signal(number)


@pytest.mark.usefixtures("usual_handlers")
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("place", ["noise", "os.fsync"])
def test_a_signal_before_the_output_has_its_name_leaves_no_file(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    place: str,
) -> None:
    """A second signal may come during the clean-up: a closing terminal sends SIGHUP twice."""
    unlink = Path.unlink

    def unlink_after_signal(self: Path) -> None:
        signal.raise_signal(number)
        unlink(self)

    if place == "noise":
        before_noise_is_added(monkeypatch, sending(number))
    else:
        monkeypatch.setattr(place, sending(number))
    monkeypatch.setattr(Path, "unlink", unlink_after_signal)
    done = run(*release(tmp_path / "o.csv", "--rho", 1))
    assert done.code == {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}[number.name]
    by = "" if number == signal.SIGINT else f" by {number.name}"
    assert done.err == f"discretegauss: error: interrupted{by}\n"
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)


@pytest.mark.usefixtures("usual_handlers")
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "place", ["_system.atomic_file.sync_folder", "release.PlanRelease.__str__"]
)
def test_a_signal_after_the_output_has_its_name_changes_nothing(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    place: str,
) -> None:
    """The report is printed, so that the user knows that the budget is spent."""

    def text_after_signals(done: PlanRelease) -> str:
        assert (tmp_path / "o.csv").exists()
        sending(number)()
        return text(done)

    text = PlanRelease.__str__
    by = text_after_signals if place.endswith("__str__") else sending(number)
    monkeypatch.setattr(f"discretegauss.{place}", by)
    done = run(*release(tmp_path / "o.csv", "--rho", 1))
    assert (done.code, done.err) == (0, "")
    assert "rows                5268\n" in done.out
    assert signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)
    assert os.listdir(tmp_path) == ["o.csv"]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted; "),  # not by a signal
        (MemoryError(), 1, "not enough memory for this table; "),
    ],
)
def test_what_fails_when_the_table_is_written_says_so(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    message: str,
) -> None:
    def fail(_: Path) -> NoReturn:
        raise error

    monkeypatch.setattr("discretegauss._system.atomic_file.sync_folder", fail)
    done = run(*release(tmp_path / "o.csv", "--rho", 1))
    assert done.code == code
    assert done.is_one_line_with(message)
    assert done.err.endswith("o.csv is written; the budget is spent\n")


@pytest.mark.usefixtures("usual_handlers")
@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None])
def test_a_signal_that_somebody_handles_is_left_to_them(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handler: Any
) -> None:
    """A process under nohup ignores SIGHUP."""
    monkeypatch.setattr("os.fsync", sending(signal.SIGHUP))
    (tmp_path / "o.csv").touch()
    before = signal.signal(signal.SIGHUP, handler)
    try:
        assert run(*release(tmp_path / "o.csv", "--rho", 1, "--force")).code == 0
        assert signal.getsignal(signal.SIGHUP) == handler
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("usual_handlers")
@pytest.mark.parametrize("arguments", [["--version"], ["calibrate", "--rho", "1"], ["nothing"]])
def test_no_signal_changes_the_exit_code_of_a_process_that_ends(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    """An ignored signal stays ignored while Python restores the handlers at the end."""
    monkeypatch.setattr(sys, "argv", ["discretegauss", *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("discretegauss", run_name="__main__")
    assert ended.value.code == (2 if arguments == ["nothing"] else 0)
    assert all(signal.getsignal(number) == signal.SIG_IGN for number in SIGNALS)


def test_the_command_works_in_another_thread(run: Command, tmp_path: Path) -> None:
    """Another thread cannot set handlers of signals."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(run, *release(tmp_path / "o.csv", "--rho", 1)).result()
    assert (done.code, done.err) == (0, "")


# --- output that nobody reads


FULL, CLOSED = "/dev/full", None


def opened(name: str | None) -> contextlib.AbstractContextManager[TextIO | None]:
    return contextlib.nullcontext() if name is None else open(name, "w")


@pytest.mark.parametrize(
    ("stdout", "arguments", "message"),
    [
        (CLOSED, ["--version"], "the version could not be printed: "),
        (FULL, ["release", "--help"], "the help could not be printed: "),
        (CLOSED, ["calibrate", "--rho", "1"], "the result could not be printed: "),
        *(
            (how, release("o.csv", "--rho", 1), "o.csv is written, the budget is spent, but the ")
            for how in (CLOSED, FULL)
        ),
    ],
)
def test_what_cannot_be_printed_is_one_line_and_exit_code_1(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stdout: str | None,
    arguments: list[object],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(stdout) as stream:
        done = run(*arguments, stdout=stream)
    assert done.code == 1
    assert done.is_one_line_with(message), done.err
    assert os.listdir(tmp_path) == (["o.csv"] if "o.csv" in arguments else [])


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["release", "--help"], ["calibrate", "--rho", "1"], ["verify", "--quick"]],
)
def test_a_reader_that_has_left_is_no_error(run: Command, arguments: list[object]) -> None:
    """After ``| head`` there is no message, and the exit code is the shell's for SIGPIPE."""
    with without_reader() as stdout:
        done = run(*arguments, stdout=stdout)
    assert (done.code, done.err) == (141, "")


def test_a_reader_that_has_left_is_told_of_a_budget_that_is_spent(
    run: Command, tmp_path: Path
) -> None:
    with without_reader() as stdout:
        done = run(*release(tmp_path / "o.csv", "--rho", 1), stdout=stdout)
    assert done.code == 1
    assert done.is_one_line_with("o.csv is written, the budget is spent, but the report ")


@pytest.mark.parametrize("is_buffered", [True, False])
def test_what_a_full_pipe_that_does_not_wait_refuses_is_not_printed(
    run: Command, is_buffered: bool
) -> None:
    """In a Python without buffers, print would take a short write for a complete one."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writing, bytes(2**12)):
            pass
    with open(writing, "wb", buffering=-1 if is_buffered else 0) as pipe:
        stdout = io.TextIOWrapper(pipe, write_through=not is_buffered)
        done = run("calibrate", "--rho", 1, stdout=stdout)
    os.close(reading)
    assert done.code == 1
    assert done.is_one_line_with("the result could not be printed: "), done.err


@pytest.mark.parametrize(
    ("streams", "arguments", "code"),
    [
        ({"stderr": CLOSED}, ["calibrate", "--rho", "0"], 2),
        ({"stderr": FULL}, ["calibrate", "--rho", "1"], 0),
        ({"stderr": CLOSED}, ["release", "none.csv", "--column", "n", "--rho", 1, "--out", "o"], 2),
        ({"stderr": FULL, "stdout": CLOSED}, release("o.csv", "--rho", 1), 1),
        ({"stderr": CLOSED, "stdout": CLOSED}, release("o.csv", "--rho", 1), 1),
    ],
)
def test_the_exit_code_is_the_same_where_messages_go_nowhere(
    run: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    streams: dict[str, str | None],
    arguments: list[object],
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.ExitStack() as stack:
        files = {name: stack.enter_context(opened(file)) for name, file in streams.items()}
        done = run(*arguments, **files)
    assert (done.code, done.err) == (code, "")
    assert os.listdir(tmp_path) == (["o.csv"] if code == 1 else [])


@pytest.mark.parametrize(
    ("redirection", "said"),
    [(">/dev/full", "the result could not be printed: "), ("2>/dev/full >&-", "")],
)
def test_a_process_ends_by_the_same_exit_code(redirection: str, said: str) -> None:
    """The interpreter does not report the same error again while it ends."""
    done = process("calibrate", "--rho", 1, under=f"exec {redirection}")
    assert done.code == 1
    assert done.is_one_line_with(said) if said else done.err == ""


def test_a_process_whose_reader_has_left_ends_by_the_same_exit_code() -> None:
    with without_reader() as pipe:
        done = process("calibrate", "--rho", 1, stdout=pipe)
    assert (done.code, done.err) == (141, "")


ODD = "a\nb\r\x1b[2J\x9b\u2028\u202e\x07.csv"
"""A name that breaks lines, clears a terminal and reverses its text."""


def _is_plain(text: str) -> bool:
    return all(c.isprintable() for line in text.split("\n") for c in line)


def test_no_name_of_a_file_or_column_reaches_the_terminal_raw(run: Command, tmp_path: Path) -> None:
    """Line breaks, escape sequences and directions in names are escaped in reports and errors."""
    table = tmp_path / ODD
    table.write_text("c\u202et,n\na,5\n", encoding="utf-8")
    out = tmp_path / f"out{ODD}"
    done = run("release", table, "--column", "n", "--out", out, "--rho", 1)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) == len(done.out.split("\n")) - 1
    assert _is_plain(done.out)
    assert r"a\nb\r\x1b[2J\x9b\u2028\u202e\x07.csv" in done.out
    for arguments in (
        ("release", table, "--column", "n", "--out", out, "--rho", 1),  # it exists
        ("release", table, "--column", ODD, "--out", tmp_path / "o", "--rho", 1),
        ("release", table, "--column", "c\u202et", "--out", tmp_path / "o", "--rho", 1),
        ("release", tmp_path / f"no{ODD}", "--column", "n", "--out", tmp_path / "o", "--rho", 1),
        ("release", table, "--column", "n", "--out", tmp_path / ODD / "o", "--rho", 1),
        ("release", table, "--rho", ODD),
        ("release", ODD, ODD, "--rho", 1, "--column", "n", "--out", ODD),
        (ODD,),
    ):
        done = run(*arguments)
        assert done.code == 2
        assert done.err.endswith("\n")
        assert _is_plain(done.err[:-1]), done.err
        assert len(done.err.splitlines()) == 1
