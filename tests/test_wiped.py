"""After a call no random word, key or intermediate value of it is left in the process's memory.

A process makes a call on a known stream of getrandom (wiped_calls.py); another one, this test, reads
all its writable memory (memory_scan.py) and searches it, at any alignment, for

- every 8 bytes of the stream: what getrandom or the caller's source gave,
- with source="chacha20" the same bytes as keys, and the keystreams that follow from them,
- what the call computed from them, found out by drawing again from the same bytes: the uniform
  integers and rejected candidates of Algorithms 1-3, and the draws themselves, which the process has
  wiped in the array it was given.

Python integers cannot be wiped. Draws returned as such (dtype=object, single draws) are the caller's,
and so are copies of their bytes; all else must be gone.

Each search is held against the same call with the wiping turned off, where it has to find a lot.
By chance it finds something with a probability below 10^-4: 3 * 10^7 places, 10^6 words of 64 bits.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shims
from memory_scan import WORD, Finding, Words, found, windows
from wiped_calls import CALLS, GAUSS, LAPLACE, Call

import discretegauss as dg
from discretegauss import reference
from discretegauss.testing import TapeSource

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here"),
    pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="no /proc/PID/pagemap"),
]

PROGRAM = Path(__file__).with_name("wiped_calls.py")
KEY = 32
CHACHA20_REACH = 1500  # blocks of a keystream that are searched for: more than a call below uses


@contextmanager
def after_the_call(
    shim: Path, *arguments: str, **environment: str
) -> Iterator[tuple[int, bytes]]:
    """Yield the process that made a call, and the bytes of the stream that it used."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=shims.environment(shim, **environment),
    )
    with process:
        assert process.stdout is not None
        used = int(process.stdout.readline())
        assert used > 0
        yield process.pid, shims.stream(used).tobytes()
        process.communicate()
    assert process.returncode == 0


# --- what is searched for -----------------------------------------------------------------------


def words_of(value: int) -> Words:
    """Return an integer as memory holds it: one word of either sign, or the words of its magnitude."""
    size = abs(value).bit_length()
    if size < 40:
        return np.empty(0, np.uint64)  # too common a word
    if size < 8 * WORD:
        return np.array([value % 2**64, -value % 2**64], np.uint64)
    return windows(abs(value).to_bytes(size // 8, "little", signed=False) if size % 8 == 0 else
                   (abs(value) & ((1 << size // 8 * 8) - 1)).to_bytes(size // 8, "little"))


def keystream_of(key: bytes) -> bytes:
    """Return as much of a keystream as any call here uses."""
    from discretegauss._native_laws import keystream

    return bytes(keystream(key, 0, CHACHA20_REACH))


def chacha20_words(keys: bytes) -> Words:
    """Return the keystreams of keys, and what a vector of one of their words repeated looks like."""
    words = [np.repeat(np.frombuffer(keys, np.uint32), 2).view(np.uint64)]
    words += [windows(keystream_of(keys[at : at + KEY])) for at in range(0, len(keys), KEY)]
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

    for name in ("uniform_below", "geometric_exp", "_centred_laplace"):
        monkeypatch.setattr(reference, name, recorded(getattr(reference, name)))
    source = reference.CallableBytes(TapeSource(tape))
    draw = reference.discrete_gaussian if call.function == GAUSS else reference.discrete_laplace
    for _ in range(call.n or call.n_scalars):
        seen.append(draw(Fraction(call.parameters[0]), Fraction(call.mu), source))
    return seen


def draws_again(call: Call, tape: bytes) -> list[int]:
    """Return the draws of a call, made once more from the same bytes."""
    draw, source = getattr(dg, call.function), TapeSource(tape)
    if call.n is None:
        return [draw(*call.parameters, source=source) for _ in range(call.n_scalars)]
    return [
        int(x) for x in draw(*call.parameters, size=call.n, source=source, **call.keywords())
    ]


def searched(call: Call, source: str, tape: bytes, monkeypatch: pytest.MonkeyPatch) -> Words:
    """Return the words that must not be left behind by a call, and what they were made of."""
    words = [windows(tape)]
    if source == "chacha20":
        words.append(chacha20_words(tape))
        tape = keystream_of(tape[:KEY])
    if source != "caller" and call.n is None:
        return np.concatenate(words)  # each call of the core left some of its bytes unused
    draws = draws_again(call, tape)
    words += [words_of(draw) for draw in draws]
    if call.method != "cells" and call.function in (GAUSS, LAPLACE):
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
        f"{f.region} {f.address:x}: byte {at.get(f.word, 'none')} of the stream" for f in findings[:5]
    )


# --- the tests ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("source", ["getrandom", "chacha20", "caller"])
@pytest.mark.parametrize("name", CALLS)
def test_a_call_leaves_nothing_behind(
    getrandom_shim: Path, name: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No word of the stream, key, keystream, candidate or wiped draw is found; unwiped, many are."""
    with after_the_call(getrandom_shim, name, source, "1") as (pid, tape):
        words = searched(CALLS[name], source, tape, monkeypatch)
        findings = found(pid, words)
        assert findings == [], described(findings, tape)
    if source != "caller":  # it may have been asked for too little at a time to leave much
        with after_the_call(getrandom_shim, name, source, "1", "no-wiping") as (pid, tape):
            assert len(found(pid, words)) >= min(20, len(tape) // 4), "the search is blind"


