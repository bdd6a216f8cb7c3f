"""All outputs of a plan are written or none, after any failure, and after Ctrl-C at any time."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from evidence_cases import evidence
from tables import write_counts, write_plan

from discretegauss.errors import OutputError
from discretegauss.release import release_plan
from discretegauss.release.commands import execute, read_plan

NAMES = ("a", "b", "c")
OUT = "_noisy.csv"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    for name in NAMES:
        write_counts(tmp_path / f"{name}.csv", [10, 20])
    tables = [{"table": f"{name}.csv", "out": f"{name}_noisy.csv"} for name in NAMES]
    return write_plan(tmp_path, "rho = 1", *tables)


State = dict[str, tuple[int, str]]


def state(plan: Path) -> State:
    """Return the inodes and texts of the files in the folder."""
    return {p.name: (p.stat().st_ino, p.read_text()) for p in plan.parent.iterdir()}


def with_old_outputs(plan: Path) -> None:
    for name in NAMES[:2]:  # the third is new
        (plan.parent / f"{name}_noisy.csv").write_text("old")


def is_written(plan: Path, before: State) -> bool:
    """Return whether all outputs are new and whole; require otherwise that nothing has changed."""
    after = state(plan)
    if after == before:
        return False
    outs = {f"{name}_noisy.csv" for name in NAMES}
    assert set(after) == set(before) | outs
    assert {name for name in after if after[name] != before.get(name)} == outs
    assert all(
        after[name][1].startswith("n\n") and after[name][1].count("\n") == 3 for name in outs
    )
    return True


def nth(
    function: Callable[..., Any], n: int, act: Callable[[], Any], *, after: bool, to: str = ""
) -> Any:
    """Return the function with an action before or after its nth call.

    Only calls whose last argument ends with ``to`` count, because the number of links to temporary
    names depends on the file system.
    """
    calls = 0

    def changed(*args: Any, **options: Any) -> Any:
        nonlocal calls
        counts = str(args[-1]).endswith(to)
        calls += counts
        if counts and calls == n and not after:
            act()
        found = function(*args, **options)
        if counts and calls == n and after:
            act()
        return found

    return changed


def fail() -> None:
    raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("force", [False, True])
def test_a_name_that_cannot_be_given_takes_all_back(
    plan: Path, monkeypatch: pytest.MonkeyPatch, force: bool, n: int, after: bool
) -> None:
    """The nth rename or link of an output fails, before or after it is made."""
    if force:
        with_old_outputs(plan)
    before = state(plan)
    name = "replace" if force else "link"
    monkeypatch.setattr(os, name, nth(getattr(os, name), n, fail, after=after, to=OUT))
    with pytest.raises(OSError, match="Input/output error") as caught:
        release_plan(plan, force=force)
    monkeypatch.undo()
    assert "_noisy.csv" in str(caught.value.filename)
    assert not getattr(caught.value, "__notes__", [])
    assert not is_written(plan, before)
    release_plan(plan, force=force)
    assert is_written(plan, before)


def test_old_outputs_come_back_without_hard_links(
    plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old outputs are renamed for a moment instead."""
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)  # a system that has it has hard links
    with_old_outputs(plan)
    before = state(plan)

    def no_links(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    replace = os.replace
    for n in range(1, 6):  # two old outputs are renamed, then three new ones
        monkeypatch.setattr(os, "replace", nth(replace, n, fail, after=False))
        with pytest.raises(OSError, match="Input/output error"):
            release_plan(plan, force=True)
        assert not is_written(plan, before)
    monkeypatch.setattr(os, "replace", replace)
    release_plan(plan, force=True)
    assert is_written(plan, before)


def test_what_cannot_be_put_back_is_named(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", nth(os.link, 3, fail, after=False, to=OUT))
    unlink = Path.unlink

    def stuck(path: Path, missing_ok: bool = False) -> None:
        if path.name == "a_noisy.csv":
            raise OSError(errno.EROFS, "Read-only file system")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", stuck)
    with pytest.raises(OSError, match="Input/output error") as caught:
        release_plan(plan)
    left = plan.parent / "a_noisy.csv"
    assert caught.value.__notes__ == [f"{left} could not be put back: Read-only file system"]
    assert left.exists()
    assert not (plan.parent / "b_noisy.csv").exists()


def test_an_output_that_comes_to_be_meanwhile_is_kept_and_no_other_written(
    plan: Path,
) -> None:
    """That happens if the same plan runs twice at once."""
    theirs = plan.parent / "c_noisy.csv"

    def meanwhile(buffer: memoryview) -> None:
        theirs.write_text("of another release")
        buffer[:] = os.urandom(len(buffer))

    before = state(plan)
    with pytest.raises(OutputError, match=r"c_noisy.csv already exists"):
        release_plan(plan, source=meanwhile)
    assert theirs.read_text() == "of another release"
    theirs.unlink()
    assert not is_written(plan, before)


class _NthLine:
    """Counts the lines that run in two modules, and sends a signal at the nth."""

    def __init__(self, n: int) -> None:
        self.n, self.lines = n, 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.endswith(("_run.py", "atomic_file.py")):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.n:
                signal.raise_signal(signal.SIGINT)
        return self


@pytest.mark.filterwarnings(
    "ignore:unclosed file", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.usefixtures("usual_handlers")
@pytest.mark.parametrize("step", [5, *evidence(1)])
@pytest.mark.parametrize("force", [False, True])
def test_an_interrupt_at_any_line_leaves_all_or_none(plan: Path, force: bool, step: int) -> None:
    """A real SIGINT comes at every fifth line of writing and placing, or at each as evidence.

    An interrupt between open() and the with statement makes Python warn of an unclosed file.
    """
    if force:
        with_old_outputs(plan)
    before, ready = state(plan), read_plan(plan)
    seen, silent = {True: 0, False: 0}, 0
    for n in count(1, step):
        trace = _NthLine(n)
        caught: BaseException | None = None
        before_trace = sys.gettrace()
        gc.collect(0)  # closes the files of the last interrupt before lines are traced
        gc.disable()
        sys.settrace(trace)
        try:
            execute(ready, force=force)
        except KeyboardInterrupt as error:
            caught = error
        finally:
            sys.settrace(before_trace)
            gc.enable()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        written = is_written(plan, before)
        if trace.lines < n:
            assert caught is None
            assert written
            break
        assert caught is not None
        notes = getattr(caught, "__notes__", [])
        assert notes in ([], ["the tables of the plan are written; the budget is spent"])
        assert written or not notes
        silent += written and not notes
        seen[written] += 1
        for name in NAMES:
            if not force or name == "c":
                (plan.parent / f"{name}_noisy.csv").unlink(missing_ok=True)
        if force:
            with_old_outputs(plan)
        before = state(plan)
    assert silent <= 2  # only interrupts during the return
    assert seen[True] > 20 / step, seen
    assert seen[False] > 100 / step, seen
