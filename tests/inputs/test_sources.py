"""source, method and threads: where bits come from and who draws."""

from __future__ import annotations

import operator
import os
import random
import secrets
from array import array
from functools import partial
from typing import Any

import numpy as np
import pytest
from engine import ENGINE
from evidence_cases import at_once
from inputs import Function, each_function, must_not_draw, tape
from parts import most_threads

import discretegauss as dg
from discretegauss import reference
from discretegauss.errors import ParameterTypeError, ParameterValueError
from discretegauss.testing import TapeSource


@each_function
@pytest.mark.parametrize("size", [None, 3])
def test_sources_that_are_none(function: Function, name: str, size: Any) -> None:
    """An unknown name is a ValueError, and a value that cannot be called is a TypeError."""
    for text in ("", "urandom", "GETRANDOM", "getrandom "):
        with pytest.raises(ParameterValueError, match="source"):
            function(3, size, source=text)
    no_sources: list[Any] = [None, 5, b"getrandom", [], np.random.default_rng(1), True]
    for value in no_sources:
        with pytest.raises(ParameterTypeError, match="source"):
            function(3, size, source=value)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (np.random.default_rng().bytes, "Generator.bytes"),
        (np.random.default_rng().integers, "Generator.integers"),
        (np.random.RandomState().bytes, "RandomState.bytes"),
        (random.randbytes, "Random.randbytes"),
        (secrets.token_bytes, "secrets.token_bytes"),
        (os.urandom, r"\w+.urandom"),
        (len, "builtins.len"),
        (print, "builtins.print"),
        (os.getrandom, r"\w+.getrandom"),
        (operator.length_hint, "_operator.length_hint"),
    ],
)
def test_functions_that_return_random_bytes_are_no_sources(source: Any, name: str) -> None:
    """They are refused by name, before they are called with a buffer, which they would misread."""
    rule = r"or a function that fills the buffer it is given, source\(buffer\); got "
    with pytest.raises(ParameterTypeError, match=rf"{rule}{name}, which fills no buffer(;|$)"):
        dg.DiscreteGaussian(3).sample(3, source=source)


@each_function
@pytest.mark.parametrize("size", [None, 3])
def test_a_source_cannot_shorten_its_buffer(function: Function, name: str, size: Any) -> None:
    """If it could free the memory, what lies there next would be taken for random bytes."""

    def source(buffer: memoryview) -> None:
        memory: Any = buffer.obj
        buffer.release()
        memory.clear()

    with pytest.raises(BufferError):
        function(3, size, source=source)


@each_function
@pytest.mark.parametrize("size", [None, 3])
def test_a_source_of_a_class_that_compares_in_its_own_way_is_read(
    function: Function, name: str, size: Any
) -> None:
    """A source that calls itself equal to "getrandom" is read all the same."""
    for answer in (True, np.array([True, False])):
        alike = {"__eq__": lambda *_, answer=answer: answer, "__hash__": None}
        own, plain = type("Own", (TapeSource,), alike)(tape().tape), tape()
        assert np.array_equal(function(3, size, source=own), function(3, size, source=plain))
        assert own.used == plain.used > 0


class SourceFailedError(Exception):
    """The error of a caller's source in the tests below."""


@each_function
@at_once("size", [None, 3, (100, 100)])
@at_once("error", [SourceFailedError, KeyboardInterrupt, MemoryError, SystemExit])
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


@each_function
def test_a_source_gets_a_writable_buffer_of_bytes(function: Function, name: str) -> None:
    """It is a memoryview, writable, flat and not empty, of zeros, which reveal nothing."""
    seen: list[bool] = []

    def source(buffer: memoryview) -> None:
        seen.append(
            type(buffer) is memoryview
            and not buffer.readonly
            and buffer.format == "B"
            and buffer.ndim == 1
            and len(buffer) > 0
            and not any(buffer)
        )
        buffer[:] = os.urandom(len(buffer))

    function(3, 1000, source=source)
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
    assert kept
    assert not any(any(buffer) for buffer in kept)


def returns(value: Any, buffer: memoryview) -> Any:
    """Fill the buffer, and return a value: a source must return None."""
    buffer[:] = os.urandom(len(buffer))
    return value


@each_function
def test_a_source_that_returns_no_count_is_a_type_error(function: Function, name: str) -> None:
    """A float, an array, and the bytes that a read returns are no counts."""
    for size in (None, 3):
        for returned in (1.0, b"1", np.array([1, 2]), np.array([1]), "1", [], np.True_, object()):
            with pytest.raises(
                ParameterTypeError, match=rf"source.*, got {type(returned).__name__}"
            ):
                function(3, size, source=partial(returns, returned))
    function(3, 3, source=lambda buffer: returns(np.int64(len(buffer)), buffer))


def test_a_tape_may_be_of_any_items() -> None:
    """A tape holds the bytes of a memoryview, with any items, strides and axes."""
    data = random.Random(1).randbytes(4000)
    wanted = dg.discrete_gaussian(100, 20, source=TapeSource(data)).tolist()
    words = memoryview(array("I", data))
    tapes: list[Any] = [
        words,
        memoryview(data).cast("B", (40, 100)),
        memoryview(b"".join(bytes((x, 0)) for x in data))[::2],
        bytearray(data),
        np.frombuffer(data, ">f8").data,
    ]
    for it in tapes:
        source = TapeSource(it)
        assert dg.discrete_gaussian(100, 20, source=source).tolist() == wanted
        assert 0 < source.used < 4000


@each_function
def test_a_source_that_says_it_filled_less_is_refused(function: Function, name: str) -> None:
    """A count other than the buffer's length, as readinto may return, is a ValueError."""

    for returned in (0, -1, True, 2**20_000, np.int64(7777)):
        for size in (None, 3):
            with pytest.raises(ParameterValueError, match=r"source.*, got "):
                function(3, size, source=partial(returns, returned))

    def whole(buffer: memoryview) -> int:
        return tape_in_file.readinto(buffer)

    with open("/dev/urandom", "rb") as tape_in_file:
        function(3, 3, source=whole)


@each_function
def test_a_source_that_counts_and_writes_nothing_is_refused(function: Function, name: str) -> None:
    """16 zero bytes are refused, and true bits have them with a probability of 2^-128."""
    for untouched in (lambda buffer: buffer.nbytes, memoryview.__len__, np.size):
        with pytest.raises(ParameterValueError, match=r"source must fill the whole buffer.*zeros"):
            function(3, 1000, source=untouched)


def test_zeros_are_refused_only_where_16_bytes_of_them_come_in_a_row() -> None:
    """They may be in several buffers of a call. A source that returns None may give zeros."""
    for lengths, refused in (
        ([15], False),
        ([16], True),
        ([8, 7], False),
        ([8, 8], True),
        ([1] * 16, True),
        ([15, 2, 15], False),
        ([15, 30, 15], False),
    ):
        source, raised = reference.CallableBytes(leaves_zeros), False
        for n in lengths:
            try:
                source.read(n)
            except ParameterValueError:
                raised = True
        assert raised is refused


def leaves_zeros(buffer: memoryview) -> int | None:
    """Write into a buffer of 2 bytes only; return None for one of 30, else its length."""
    if len(buffer) == 2:
        buffer[1] = 1
    return None if len(buffer) == 30 else len(buffer)


def test_a_source_may_draw_itself() -> None:
    """A source whose code calls the library gets what it asks for, because nothing is shared."""
    inner = tape()

    def source(buffer: memoryview) -> None:
        assert dg.discrete_gaussian(10**6, 100).shape == (100,)
        inner(buffer)

    mine = dg.discrete_gaussian(100, 100, source=source).tolist()
    assert mine == dg.discrete_gaussian(100, 100, source=tape()).tolist()


@each_function
@pytest.mark.parametrize("size", [None, 3])
def test_methods(function: Function, name: str, size: Any) -> None:
    """auto, reference and isochronous are methods, and all else is refused by name."""
    for method in ("auto", "reference"):
        function(3, size, method=method)
    if name in ("sigma2", "scale") and ENGINE == "native":
        function(3, size, method="isochronous")
    for text in ("cell", "", "AUTO"):
        with pytest.raises(ParameterValueError, match="method"):
            function(3, size, method=text, source=must_not_draw)
    others: list[Any] = [None, 1, True, ["auto"], b"auto"]
    for other in others:
        with pytest.raises(ParameterTypeError, match="method"):
            function(3, size, method=other, source=must_not_draw)


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("threads", [10**4, 10**9, 10**30])
def test_never_so_many_threads_that_the_machine_starves(threads: int) -> None:
    """The limit holds for any number. tests/c/test_run.c checks that draws repay threads."""
    assert dg.discrete_gaussian(3, 3, threads=threads).shape == (3,)
    assert most_threads(threads) == max(64, 4 * (os.cpu_count() or 1))


@each_function
def test_the_options_are_keyword_only(function: Function, name: str) -> None:
    """Nothing after size can be given by position, where two could be confused."""
    with pytest.raises(TypeError):
        function(3, 2, 0)
    assert function(**{name: 3}, size=2).shape == (2,)


def test_a_tape_is_read_to_its_last_byte() -> None:
    tape, buffer = TapeSource(b"ab"), bytearray(2)
    tape(memoryview(buffer))
    assert (bytes(buffer), tape.used) == (b"ab", 2)
    with pytest.raises(EOFError):
        tape(memoryview(bytearray(1)))
