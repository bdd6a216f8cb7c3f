"""After a call no random word, key or intermediate value of it is left in the process's memory.

A process makes calls on a known stream of getrandom (wiped_calls.py); another one, this test,
reads all its writable memory (memory_scan.py) after each and searches it, at any alignment, for

- every 8 bytes of the stream: what getrandom or the caller's source gave;
- with source="chacha20" the same bytes as keys, and the keystreams that follow from them;
- what the call computed from them, found out by drawing again from the same bytes: the uniform
  integers and rejected candidates of Algorithms 1-3, and the draws themselves, which the process
  has wiped in the array it was given.

Python integers cannot be wiped. Draws returned as such (dtype=object, single draws) are the
caller's, and so are copies of their bytes; all else must be gone.

Each search is held against the same call with the wiping turned off, where it has to find a lot.
By chance it finds something with a probability below 10^-4: 3 * 10^7 places, 10^6 words of 64 bits.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shims
import wiped_calls
from memory_scan import Finding, Scanner, Words, windows
from wiped_calls import CALLS, GAUSS, LAPLACE, LONG_CALLS, THREADED_CALLS, Call

import discretegauss as dg
from discretegauss import reference
from discretegauss.testing import TapeSource

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here"),
    pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="no /proc/PID/pagemap"),
]

PROGRAM = Path(wiped_calls.__file__)
KEY = 32
SOURCES, UNWIPED = ("getrandom", "chacha20", "caller"), ("getrandom", "chacha20")
"""Those of a process; and those with the wiping turned off, after the others.

A caller's may have been asked for too little at a time to leave much.
"""
ONE_DRAW, MANY_DRAWS = 64, 1500  # blocks of a keystream: more than any call here uses


Process = tuple[int, Callable[[], bytes]]


@pytest.fixture(scope="module")
def scanner(tmp_path_factory: pytest.TempPathFactory) -> Scanner:
    return Scanner(shims.compiled("memory_scan", tmp_path_factory.mktemp("scan")))


@contextmanager
def process_of(shim: Path, name: str, threads: int, *steps: str) -> Iterator[Process]:
    """Run wiped_calls.py: yield its id, and what makes it take a step.

    That gives the bytes of the stream that the step used: no two steps are given the same.
    """
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), name, str(threads), *steps],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=shims.environment(shim),
    )

    def step() -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        start, end = map(int, process.stdout.readline().split())
        assert end > start
        return shims.stream(end)[start:].tobytes()

    with process:
        yield process.pid, step
        process.communicate()
    assert process.returncode == 0


# --- what is searched for -----------------------------------------------------------------------


def words_of(value: int) -> Words:
    """Return an integer as memory holds it: a word of either sign, or those of its magnitude."""
    n_bits = abs(value).bit_length()
    if n_bits < 40:
        return np.empty(0, np.uint64)  # too common a word
    if n_bits < 64:
        return np.array([value % 2**64, -value % 2**64], np.uint64)
    whole = n_bits // 8 * 8  # the highest byte, in part zero, is left out
    return windows((abs(value) % 2**whole).to_bytes(whole // 8, "little"))


def keystream_of(key: bytes, n_blocks: int) -> bytes:
    """Return the beginning of a keystream."""
    from discretegauss._drawing.native import keystream

    return bytes(keystream(key, 0, n_blocks))


def chacha20_words(keys: bytes, n_blocks: int) -> Words:
    """Return the keystreams of keys, and each word of a key twice, as it is in vectors."""
    words = [np.repeat(np.frombuffer(keys, np.uint32), 2).view(np.uint64)]
    for at in range(0, len(keys), KEY):
        words.append(windows(keystream_of(keys[at : at + KEY], n_blocks)))
    return np.concatenate(words)


def of_the_stream(source: str, tape: bytes, n_blocks: int = MANY_DRAWS) -> Words:
    """Return the words of a stream, and of what ChaCha20 made of it."""
    words = [windows(tape)]
    if source == "chacha20":
        words.append(chacha20_words(tape, n_blocks))
    return np.concatenate(words)


def intermediates(call: Call, tape: bytes, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return every uniform integer and candidate that the draws of a call go through."""
    seen: list[int] = []

    def recorded(function: Any) -> Any:
        def record(*arguments: Any) -> int:
            value: int = function(*arguments)
            seen.append(value)
            return value

        return record

    source = reference.CallableBytes(TapeSource(tape))
    draw = reference.discrete_gaussian if call.function == GAUSS else reference.discrete_laplace
    with monkeypatch.context() as patched:
        for name in ("uniform_below", "geometric_exp", "_centred_laplace"):
            patched.setattr(reference, name, recorded(getattr(reference, name)))
        for _ in range(call.n or call.n_scalars):
            seen.append(draw(Fraction(call.parameters[0]), Fraction(call.mu), source))
    return seen


def draws_again(call: Call, tape: bytes) -> list[int]:
    """Return the draws of a call, made once more from the same bytes."""
    draw, source = getattr(dg, call.function), TapeSource(tape)
    if call.n is None:
        method: Any = call.method
        return [draw(*call.parameters, source=source, method=method) for _ in range(call.n_scalars)]
    return [int(x) for x in draw(*call.parameters, size=call.n, source=source, **call.keywords())]


def searched(call: Call, source: str, tape: bytes, monkeypatch: pytest.MonkeyPatch) -> Words:
    """Return the words that must not be left behind by a call, and what they were made of."""
    of_stream = of_the_stream(source, tape, ONE_DRAW if call.n is None else MANY_DRAWS)
    if source != "caller" and call.n is None:
        return of_stream  # each call of the core left some of its bytes unused
    words = [of_stream]
    if source == "chacha20":
        tape = keystream_of(tape[:KEY], MANY_DRAWS)
    draws = draws_again(call, tape)
    words += [words_of(draw) for draw in draws]
    one_law = not isinstance(call.parameters[0], list)
    if one_law and call.method != "cells" and call.function in (GAUSS, LAPLACE):
        words += [words_of(value) for value in intermediates(call, tape, monkeypatch)]
    all_words = np.concatenate(words)
    if call.dtype == object or call.n is None:
        own = [windows(x.to_bytes(x.bit_length() // 8 + 9, "little", signed=True)) for x in draws]
        own += [words_of(x) for x in draws]
        all_words = np.setdiff1d(all_words, np.concatenate(own))
    return all_words


def described(findings: list[Finding], tape: bytes) -> str:
    """Say where something was found, and where the stream had it."""
    at = {int(word): i for i, word in enumerate(windows(tape))}
    return "; ".join(
        f"{f.region} {f.address:x}: byte {at.get(f.word, 'none')} of the stream"
        for f in findings[:5]
    )


# --- the tests ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("name", CALLS)
def test_a_call_leaves_nothing_behind(
    getrandom_shim: Path, scanner: Scanner, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No word of stream, key, keystream, candidates or wiped draws is found; unwiped, many are."""
    steps = [*SOURCES, *(f"{source}:no-wiping" for source in UNWIPED)]
    with process_of(getrandom_shim, name, 1, *steps) as (pid, step):
        for source in SOURCES:
            tape = step()
            findings = scanner.found(pid, searched(CALLS[name], source, tape, monkeypatch))
            assert findings == [], f"{source}: {described(findings, tape)}"
        for source in UNWIPED:
            tape = step()
            findings = scanner.found(pid, searched(CALLS[name], source, tape, monkeypatch))
            assert len(findings) >= min(10, len(tape) // 4), f"the search is blind: {source}"


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("name", THREADED_CALLS)
def test_several_threads_leave_nothing_behind(
    getrandom_shim: Path, scanner: Scanner, name: str
) -> None:
    """Nothing on the stacks of the threads of one call, which outlive it in the memory."""
    steps = [*UNWIPED, *(f"{source}:no-wiping" for source in UNWIPED)]
    with process_of(getrandom_shim, name, 3, *steps) as (pid, step):
        for source in UNWIPED:
            tape = step()
            findings = scanner.found(pid, of_the_stream(source, tape))
            assert findings == [], f"{source}: {described(findings, tape)}"
        for source in UNWIPED:
            tape = step()
            n_found = len(scanner.found(pid, of_the_stream(source, tape)))
            assert n_found >= 20, f"the search is blind: {source}"


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("name", LONG_CALLS)
def test_signals_in_the_middle_leave_nothing_behind(
    getrandom_shim: Path, scanner: Scanner, name: str
) -> None:
    """A signal has the kernel store all registers on the stack, deep below what it interrupts."""
    with process_of(getrandom_shim, name, 1, "getrandom:signals") as (pid, step):
        tape = step()
        findings = scanner.found(pid, windows(tape))
        assert findings == [], described(findings, tape)
