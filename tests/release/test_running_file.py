"""A day is measured once, whatever ends the process, and old counts are erased."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inputs import must_not_draw

from discretegauss._system import atomic_file
from discretegauss.errors import LedgerError, OutputError, ParameterValueError
from discretegauss.privacy import Ledger
from discretegauss.release import Running
from discretegauss.release._running import state_file as _state_file


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Return a state with a period of 3 days, which keeps the counts of 2, and has 5 days."""
    path = tmp_path / "flu.state"
    run = Running.start(path, period=3, rho="0.1")
    for day in range(5):
        run.add(1000 + day, day)
    return path


def counts_in(path: Path) -> list[str]:
    return [line.partition("\t")[2].strip() for line in path.read_text().splitlines()[1:]]


def test_only_the_owner_reads_it_and_only_the_last_counts_are_in_it(state: Path) -> None:
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert counts_in(state) == ["", "", "", "[1003]", "[1004]"]
    Running(state).add(5, 5)
    assert counts_in(state) == ["", "", "", "", "[1004]", "[5]"]


def test_every_cut_of_the_last_line_is_a_day_that_nobody_has_seen(state: Path) -> None:
    """The day is measured again, and the file is whole again; a missing newline is a cut, too."""
    before = state.read_bytes()
    Running(state).add(5, 5)
    line = state.read_bytes().splitlines(keepends=True)[-1]
    for torn in [*(line[:end] for end in range(len(line))), line[:-1] + b"0" * 99]:
        state.write_bytes(before + torn)
        run = Running(state)
        assert run.last is not None
        assert run.last.step == 5
        seen = run.add(5, 5)
        assert seen.step == 6
        assert Running(state).last == seen
        assert counts_in(state) == ["", "", "", "", "[1004]", "[5]"]


def test_a_broken_line_is_refused_by_its_number(state: Path) -> None:
    lines = state.read_text().splitlines(keepends=True)
    fourth = lines[3]
    for number, new in (
        (4, fourth.replace('"y"', '"z"')),
        (4, fourth.replace('"total":[', '"total":[1,')),
        (4, fourth.replace('"total":[', '"total":[0.')),
        (4, fourth.replace("\t", " ")),
        (4, "\n"),
        (4, "[]\t\n"),
        (4, lines[4]),
        (6, lines[5].replace("[1004]", "      ")),
        (6, lines[5].replace("[1004]", "[1004,1]")),
        (1, lines[0].replace('"version":1', '"version":2')),
        (1, lines[0].replace('"rho":"1/10"', '"rho":"0"')),
        (1, lines[0].replace('"days":1', '"days":0')),
        (1, "a,b\n"),
        (1, ""),
    ):
        changed = [*lines[: number - 1], new, *lines[number:]]
        assert changed != lines
        state.write_text("".join(changed if new else []))
        with pytest.raises(ParameterValueError, match=f"line {number} of ") as info:
            Running(state)
        assert "100" not in str(info.value).replace(str(state), "")


def test_an_old_copy_put_in_the_place_of_an_open_state_is_refused(state: Path) -> None:
    old = state.read_bytes()
    run = Running(state)
    run.add(5, 5)
    new = state.read_bytes()
    for content in (old, old[:200], new.replace(b'"day":5', b'"day":6')):
        state.write_bytes(content)
        with pytest.raises(ParameterValueError, match="old copy"):
            run.add(6, 6, source=must_not_draw)
    state.unlink()
    with pytest.raises(FileNotFoundError, match="restore it"):
        run.add(6, 6, source=must_not_draw)
    assert not state.exists()


@pytest.mark.parametrize("place", ["write_all", "fsync"])
def test_a_disk_that_fails_publishes_nothing(
    state: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """What was written of the line is taken away again, and the object stays of use."""
    run, before = Running(state), state.read_bytes()

    def fail(file: Any, data: bytes = b"") -> None:
        if data:
            os.write(file.fileno(), data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os if place == "fsync" else _state_file, place, fail)
        with pytest.raises(OSError, match="No space left") as info:
            run.add(5, 5)
    assert info.value.filename == str(state)
    assert state.read_bytes() == before
    assert run.add(5, 5).step == 6


@pytest.mark.parametrize("place", ["write_all", "fsync"])
def test_a_start_that_fails_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os if place == "fsync" else _state_file, place, fail)
    with pytest.raises(OSError, match="No space left"):
        Running.start(tmp_path / "s", rho="0.1")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_a_day_is_written_leaves_the_day(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is heard when the line is on the disk; the same call then returns the day."""
    run, real = Running(state), atomic_file.write_all

    def write(file: Any, data: bytes) -> None:
        signal.raise_signal(signal.SIGINT)
        real(file, data)

    with monkeypatch.context() as patch:
        patch.setattr(_state_file, "write_all", write)
        with pytest.raises(KeyboardInterrupt):
            run.add(5, 5)
    assert run.last is not None
    assert run.last.step == 6
    assert run.add(5, 5, source=must_not_draw) == run.last == Running(state).last
    assert counts_in(state)[3:] == ["", "[1004]", "[5]"]


def test_two_objects_share_the_days(state: Path) -> None:
    one, two = Running(state), Running(state)
    for day in range(5, 15, 2):
        seen = one.add(day, day)
        assert two.add(day, day, source=must_not_draw) == seen
        assert two.add(day + 1, day + 1).step == day + 2
    assert one.add(14, 14, source=must_not_draw) == two.last
    with pytest.raises(ParameterValueError, match="other counts"):
        one.add(15, 14, source=must_not_draw)


def test_all_days_are_one_line_of_a_ledger(tmp_path: Path) -> None:
    """What is refused leaves no line and no state; a start that fails later has spent."""
    ledger = Ledger.start(tmp_path / "people.ledger", unit="a person", rho="0.25")
    state = tmp_path / "flu.state"
    how: dict[str, Any] = {"rho": "0.1", "ledger": ledger.path}
    with pytest.raises(LedgerError, match="more than what is left"):
        Running.start(state, rho="0.3", ledger=ledger)
    with pytest.raises(ParameterValueError, match="period"):
        Running.start(state, period=0, **how)
    with pytest.raises(FileNotFoundError):
        Running.start(tmp_path / "no" / "flu.state", **how)
    assert not state.exists()
    ledger.refresh()
    assert ledger.spent[0] == 0
    run = Running.start(state, **how)
    for day in range(5):
        run.add(day, day)
    with pytest.raises(OutputError, match="already exists"):
        Running.start(state, **how)
    ledger.refresh()
    assert ledger.spent[0] == run.rho
    assert f"{ledger.path}, line 1, " in str(Running(state))


# --- other processes


def killed_at(step: int, run: Callable[[], object]) -> bytes:
    """Run in a fork that ends before this step of the file; return what it has published.

    A step is a truncation, half of a write, a write, or an fsync.
    """
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        left = step

        def tick() -> None:
            nonlocal left
            if left == 0:
                os._exit(9)
            left -= 1

        def write(file: Any, data: bytes) -> None:
            tick()
            os.write(file.fileno(), data[: len(data) // 2])
            tick()
            os.write(file.fileno(), data[len(data) // 2 :])
            tick()

        def sync(file: Any, real: Callable[[Any], None] = os.fsync) -> None:
            tick()
            real(file)
            tick()

        module: Any = _state_file
        module.write_all, module.os.fsync = write, sync
        try:
            os.write(writing, repr(run()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        seen = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (0 if seen else 9)
    return seen


@pytest.mark.process
def test_no_kill_measures_a_day_twice(state: Path) -> None:
    """A child ends at each step of its day; the next process says what the child could have said.

    If the line is whole, its noise is the day's; else nobody has seen it. The counts of older days
    are erased at the latest by the next process.
    """
    before = state.read_bytes()
    for step in range(100):
        state.write_bytes(before)
        seen = killed_at(step, lambda: Running(state).add(77, 5))
        after = state.read_bytes()
        is_whole = after.endswith(b"\n") and after.count(b"\n") == 7
        source = must_not_draw if is_whole else "chacha20"
        found = Running(state).add(77, 5, source=source)  # type: ignore[arg-type]
        assert found.step == 6
        assert counts_in(state) == ["", "", "", "", "[1004]", "[77]"]
        if seen:
            assert seen == repr(found).encode()
            break
    assert 7 <= step < 20


WORKER = """
import sys
from discretegauss.release import Running
run = Running(sys.argv[1])
for day in range(5, 45):
    print(run.add(7 * day, day))
"""


@pytest.mark.process
def test_four_processes_at_once_publish_the_same(state: Path) -> None:
    """Each adds the same 40 days; a process that lost its turn too far ago may be refused.

    With a period of 50 the counts of all of these days are kept, so nobody is.
    """
    state.unlink()
    run = Running.start(state, period=50, rho="0.1")
    for day in range(5):
        run.add(day, day)
    command = [sys.executable, "-c", WORKER, str(state)]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [child.communicate()[0] for child in children]
    assert [child.returncode for child in children] == [0] * 4
    assert len(set(said)) == 1
    assert len(said[0].splitlines()) == 40
    assert len(counts_in(state)) == 45
