"""The progress bar appears on a terminal only, after a while, and is erased in the end."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from command import process

import discretegauss as dg
from discretegauss._system.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_says_how_far_it_is_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, clock = Terminal(), iter([0.0, 0.01, 2.0, 2.05, 4.0])
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with pytest.raises(KeyboardInterrupt), Progress("rows") as bar:  # noqa: PT012  # all of it
        bar.update(1, 0.1)
        bar.update(1_000, 0.25)
        bar.update(2_000, 0.3)  # too soon
        bar.update(4_000, None)
        raise KeyboardInterrupt
    pictures = terminal.getvalue().split("\r")
    assert pictures[:2] == ["", "[######                  ]  25%  1,000 rows"]
    assert [picture.strip() for picture in pictures[2:]] == ["4,000 rows", "", ""]
    assert len({len(picture) for picture in pictures[1:3]}) == 1  # the longer one is overwritten


@pytest.mark.parametrize("closed", [False, True])
def test_where_there_is_no_terminal_there_is_no_bar(
    monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    if closed:
        stream.close()
    with Progress("rows") as bar:
        bar.update(1, 0.1)
    assert closed or stream.getvalue() == ""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    list(dg.DiscreteGaussian(100).stream(10**5, 10))
    assert terminal.getvalue() == ""


def test_a_terminal_that_goes_away_ends_no_release(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(Terminal):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stderr", Gone())
    with Progress("rows") as bar:
        bar._next = 0.0
        bar.update(1, 0.1)


@pytest.mark.process
@pytest.mark.skipif(dg.build_info()["engine"] != "native", reason="takes minutes in plain Python")
def test_the_command_shows_it_on_a_terminal_only() -> None:
    """10**7 draws as text take longer than the 0.1 s that the bar waits."""
    master, slave = pty.openpty()
    arguments = ("sample", "--sigma2", "1e6", "--size", 10**7, "--out", "-")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(everything_from, master)  # the terminal holds 4 KiB
        done = process(*arguments, stderr=slave, stdout=subprocess.DEVNULL)
        os.close(slave)
        shown = reading.result().decode()
    os.close(master)
    assert done.code == 0
    assert " draws" in shown
    assert shown.endswith(" \r")


def everything_from(terminal: int) -> bytes:
    """Read a terminal until its other end is closed."""
    parts: list[bytes] = []
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 2**12):
            parts.append(part)
    return b"".join(parts)
