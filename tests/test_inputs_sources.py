"""source, method and threads: where bits come from and who draws."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from inputs import Function, each_function, must_not_draw, tape

import discretegauss as dg
from discretegauss._threads import Worker
from discretegauss.errors import ParameterTypeError, ParameterValueError


@each_function
@pytest.mark.parametrize("size", [None, 3])
def test_sources_that_are_none(function: Function, name: str, size: Any) -> None:
    """Unknown names are ValueErrors, what cannot be called is a TypeError."""
    for text in ("", "urandom", "GETRANDOM", "getrandom "):
        with pytest.raises(ParameterValueError, match="source"):
            function(3, size, source=text)
    no_sources: list[Any] = [None, 5, b"getrandom", [], np.random.default_rng(1), True]
    for value in no_sources:
        with pytest.raises(ParameterTypeError, match="source"):
            function(3, size, source=value)


class SourceFailedError(Exception):
    """What a caller's source raises in the tests below."""


@each_function
@pytest.mark.parametrize("size", [None, 3, (100, 100)])
@pytest.mark.parametrize("error", [SourceFailedError, KeyboardInterrupt, MemoryError, SystemExit])
def test_an_exception_of_the_source_comes_through(
    function: Function, name: str, size: Any, error: type[BaseException]
) -> None:
    """The very exception that a source raises is the one the caller gets."""
    raised = error("the source says so")

    def source(_buffer: memoryview) -> None:
        raise raised

    with pytest.raises(error) as caught:
        function(3, size, source=source)
    assert caught.value is raised


@pytest.mark.parametrize("dtype", [np.int64, np.int16, ">i8", object])
def test_a_source_that_fails_late_leaves_no_draws(dtype: Any) -> None:
    """A source that fails in the middle: its exception, and zeros in out."""
    out = np.full(500_000, 7, dtype)
    with pytest.raises(EOFError):
        dg.discrete_gaussian(100, out=out, source=tape())
    assert not out.any()
    columns = np.full((250_000, 2), 7, dtype)
    with pytest.raises(EOFError):
        dg.discrete_gaussian([100, 200], out=columns, source=tape())
    assert not columns.any()


@each_function
def test_a_source_gets_a_writable_buffer_of_bytes(function: Function, name: str) -> None:
    """fill(buffer) is called with a memoryview that is writable, flat, of bytes, and not empty."""
    seen: list[bool] = []

    def source(buffer: memoryview) -> None:
        seen.append(
            type(buffer) is memoryview
            and not buffer.readonly
            and buffer.format == "B"
            and buffer.ndim == 1
            and len(buffer) > 0
        )
        buffer[:] = os.urandom(len(buffer))

    function(3, 20, source=source)
    assert seen
    assert all(seen)


@pytest.mark.usefixtures("native_engine")
def test_a_source_that_keeps_its_buffer_learns_nothing_from_it() -> None:
    """A memoryview kept after the call holds no bits any more, or is of no use."""
    kept: list[memoryview] = []

    def source(buffer: memoryview) -> None:
        buffer[:] = os.urandom(len(buffer))
        kept.append(buffer)

    dg.discrete_laplace(3, 3, source=source)
    assert not any(any(buffer) for buffer in kept)


@each_function
def test_a_source_that_says_it_filled_less_is_refused(function: Function, name: str) -> None:
    """A source that returns another count than the buffer's length, as readinto may: ValueError."""

    def short(buffer: memoryview) -> int:
        buffer[:] = os.urandom(len(buffer))
        return 0

    for size in (None, 3):
        with pytest.raises(ParameterValueError, match="source"):
            function(3, size, source=short)

    def whole(buffer: memoryview) -> int:
        return tape_in_file.readinto(buffer)

    with open("/dev/urandom", "rb") as tape_in_file:
        function(3, 3, source=whole)


def test_a_source_may_draw_itself() -> None:
    """A source whose code calls the library gets what it asks for: nothing is shared."""
    inner = tape()

    def source(buffer: memoryview) -> None:
        assert dg.discrete_gaussian(10**6, 100).shape == (100,)
        inner(buffer)

    mine = dg.discrete_gaussian(100, 100, source=source).tolist()
    assert mine == dg.discrete_gaussian(100, 100, source=tape()).tolist()


@each_function
@pytest.mark.parametrize("size", [None, 3])
def test_methods(function: Function, name: str, size: Any) -> None:
    """auto and reference are methods; all else is refused by name."""
    for method in ("auto", "reference"):
        function(3, size, method=method)
    others: list[Any] = ["cell", "", "AUTO", None, 1, True, ["auto"], b"auto"]
    for other in others:
        with pytest.raises((ParameterValueError, ParameterTypeError), match="method"):
            function(3, size, method=other, source=must_not_draw)


@each_function
@pytest.mark.parametrize("size", [None, 3])
def test_threads(function: Function, name: str, size: Any) -> None:
    """threads is an int, at least 1; no bool, no float."""
    good: list[Any] = [1, 2, 64, np.int8(3)]
    for threads in good:
        function(3, size, threads=threads)
    too_small: list[Any] = [0, -1, np.int64(0), -(10**30)]
    for threads in too_small:
        with pytest.raises(ParameterValueError, match="threads"):
            function(3, size, threads=threads)
    no_integers: list[Any] = [1.5, 1.0, True, "1", None, (1,)]
    for threads in no_integers:
        with pytest.raises(ParameterTypeError, match="threads"):
            function(3, size, threads=threads)


@pytest.mark.parametrize("threads", [100, 10**6, 10**30])
def test_no_thread_is_made_for_nothing(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three draws need three threads at most, whatever number is asked for."""
    started: list[Worker] = []
    start = Worker.start

    def counted(self: Worker) -> None:
        started.append(self)
        start(self)

    monkeypatch.setattr(Worker, "start", counted)
    assert dg.discrete_gaussian(3, 3, threads=threads).shape == (3,)
    assert len(started) <= 2  # and this one


@each_function
def test_the_options_are_keyword_only(function: Function, name: str) -> None:
    """Nothing after size can be given by position, where two could be confused."""
    with pytest.raises(TypeError):
        function(3, 2, 0)
    assert function(**{name: 3}, size=2).shape == (2,)
