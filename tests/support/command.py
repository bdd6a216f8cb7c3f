"""Run the command line, in this process or in a new one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TextIO

import pytest
from tables import FLIGHTS

from discretegauss import _cli as cli


class Outcome:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def is_one_line_with(self, text: str) -> bool:
        lines = self.err.splitlines()
        return (
            len(lines) == 1
            and lines[0].startswith("discretegauss: error: ")
            and text in lines[0]
            and "Traceback" not in self.err
            and self.out == ""
        )

    def is_refused_with(self, text: str) -> bool:
        """Return whether the command said on one line what is wrong with its arguments or files."""
        return self.code == 2 and self.is_one_line_with(text)


class Command:
    """A runner of the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object, **streams: TextIO | None) -> Outcome:
        """Run it with other streams as stdout or stderr; None stands for a closed one."""
        with pytest.MonkeyPatch.context() as patch:
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            try:
                code = cli.main([str(a) for a in arguments])
            except SystemExit as ended:  # how argparse ends
                code = ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
        captured = self._capsys.readouterr()
        return Outcome(code, captured.out, captured.err)


def process(*arguments: object, under: str = ":", **options: object) -> Outcome:
    """Run the command in a process of its own, after the shell command `under`."""
    done = subprocess.run(
        ["sh", "-c", f'{under} && exec "$0" -m discretegauss "$@"', sys.executable]
        + [str(argument) for argument in arguments],
        text=True,
        timeout=600,
        check=False,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,  # type: ignore[call-overload]
    )
    return Outcome(done.returncode, done.stdout or "", done.stderr)


@contextlib.contextmanager
def without_reader() -> Iterator[TextIO]:
    """Yield a pipe that nobody reads, as a stdout."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as pipe:
        yield pipe


@contextlib.contextmanager
def descriptor(number: int, file: IO[Any]) -> Iterator[None]:
    """Let a file be that descriptor of this process, as a shell's redirection does."""
    before = os.dup(number)
    os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        os.dup2(before, number)
        os.close(before)


def interrupted_while_reading(
    pipe: Path, content: str, name: str, *arguments: object, folder: Path
) -> Outcome:
    """Run the command in a folder, and send it SIG``name`` while it reads a pipe that never ends.

    The child restores the default action first, in case the tests run with the signal ignored.
    """
    running = subprocess.Popen(
        [
            *("env", f"--default-signal={name}"),
            *(sys.executable, "-m", "discretegauss"),
            *map(str, arguments),
        ],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    with pipe.open("w") as file:  # waits until the command has opened the other end
        file.write(content)
        file.flush()
        for _ in range(600):  # the first signal may come just before the read that it should end
            running.send_signal(signal.Signals[f"SIG{name}"])
            try:
                _, err = running.communicate(timeout=2)  # one at a time
                break
            except subprocess.TimeoutExpired:
                continue
        else:
            running.kill()
            _, err = running.communicate()
    return Outcome(running.returncode, "", err)


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def release(out: Path | str, *more: object, table: Path | str = FLIGHTS) -> list[object]:
    """Return the arguments of a release. `more` may have another column or output."""
    return ["release", table, *completed({"--column": "flights", "--out": out}, more)]


def completed(usual: Mapping[str, object], given: Sequence[object]) -> list[object]:
    """Return the options given, after those of the usual ones that are not among them."""
    missing = [part for name in usual if name not in given for part in (name, usual[name])]
    return [*missing, *given]
