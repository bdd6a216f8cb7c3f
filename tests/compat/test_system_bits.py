"""Bits for numpy's generators are the stated streams, no two draws share them, and errors raise."""

from __future__ import annotations

import copy
import ctypes
import errno
import itertools
import json
import os
import pickle
import shutil
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import parts
import pytest
import shims
from engine import ENGINE, needs_core
from fork_scenarios import in_child, raw_fork
from programs import printed
from scipy import stats

from discretegauss.compat import SystemBits
from discretegauss.errors import EntropyError, MissingCoreError

SOURCES = ("getrandom", "chacha20")
POOL, KEY = 8192, 32


KINDS = pytest.mark.parametrize("kind", [SystemBits, parts.LookingBits])
BOTH = pytest.mark.parametrize("source", SOURCES)


def words_of(bits: SystemBits, n: int = 2000) -> list[int]:
    """Return words from the middle of a pool through some refills."""
    words: list[int] = bits.random_raw(n).tolist()
    return words


def pool_of(bits: SystemBits) -> bytes:
    """Return the memory that holds the bits: a pointer behind the head of the object."""
    place = ctypes.c_void_p.from_address(bits.ctypes.state_address + object.__basicsize__)
    return ctypes.string_at(place.value or 0, POOL)


def n_wiped_on_fork() -> int:
    """Return how much of this process's memory the system wipes in a child, in KiB."""
    areas = Path("/proc/self/smaps").read_text().split("VmFlags:")
    return sum(
        int(area.partition("\nSize:")[2].split()[0])
        for area, flags in itertools.pairwise(areas)
        if "wf" in flags.partition("\n")[0].split()
    )


# --- the bits --------------------------------------------------------------------------------


@needs_core
@BOTH
def test_numpy_takes_it_and_its_bits_are_uniform(source: Any) -> None:
    """All bytes of words and doubles are uniform; a false alarm is one run in 3 * 10^7."""
    bits = SystemBits(source)
    assert isinstance(bits, np.random.BitGenerator)
    assert np.random.default_rng(bits).bit_generator is bits
    rng = np.random.Generator(bits)
    whole = bits.random_raw(2**14).view(np.uint8)
    half = rng.integers(0, 2**32, 2**14, dtype=np.uint32).view(np.uint8)
    doubles = rng.random(2**14)
    for array in (*whole.reshape(-1, 8).T, *half.reshape(-1, 4).T):
        assert stats.chisquare(np.bincount(array, minlength=256)).pvalue > 1e-9
    assert stats.kstest(doubles, "uniform").pvalue > 1e-9
    assert ((doubles * 2.0**53) % 1 == 0).all()
    assert bits.random_raw(3, output=False) is None


@pytest.mark.parametrize(
    ("refused", "error", "words"),
    [
        (copy.copy, TypeError, "no seed and no state"),
        (copy.deepcopy, TypeError, "no seed and no state"),
        (pickle.dumps, TypeError, "no seed and no state"),
        (lambda bits: copy.deepcopy(np.random.Generator(bits)), TypeError, "no seed"),
        (lambda bits: pickle.dumps(np.random.Generator(bits)), TypeError, "no seed"),
        (lambda bits: np.random.Generator(bits).spawn(2), TypeError, "make another by"),
        (lambda bits: bits.spawn(2), TypeError, "make another by SystemBits"),
        (lambda bits: bits.jumped(), TypeError, "make another by SystemBits"),
        (lambda bits: bits.state, TypeError, "make another by SystemBits"),
        (lambda bits: setattr(bits, "state", {}), TypeError, "make another by SystemBits"),
        (lambda bits: bits.seed_seq, TypeError, "make another by SystemBits"),
        (lambda bits: bits.__init__(), TypeError, "make another by SystemBits"),
        (lambda bits: copy.copy(bits.lock), TypeError, "cannot pickle"),
        (lambda bits: type(bits)(42), ValueError, "got 42; there is no seed"),
    ],
)
@needs_core
def test_it_cannot_be_copied_or_seeded(
    refused: Callable[[Any], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        refused(SystemBits())


@pytest.mark.skipif(ENGINE == "native", reason="with the compiled core there is one")
def test_without_the_core_there_is_none() -> None:
    with pytest.raises(MissingCoreError, match="SystemBits needs the compiled core"):
        SystemBits()


# --- no two draws share bits -----------------------------------------------------------------


@pytest.mark.process
@needs_core
@BOTH
@KINDS
@pytest.mark.parametrize("fork", [os.fork, raw_fork])
def test_no_word_comes_twice_in_forked_processes(
    kind: Any, source: Any, fork: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """None does from half a pool on, in two children, a grandchild and the parent; numpy's do.

    A false alarm is one run in 10^11, with 10^4 words of 64 bits.
    """
    monkeypatch.setattr(os, "fork", fork)
    bits = kind(source)

    def with_child() -> list[int]:
        collect = in_child(lambda: words_of(bits))
        return words_of(bits) + collect()

    words = words_of(bits, 100)
    collectors = [in_child(lambda: words_of(bits)), in_child(with_child)]
    words += words_of(bits)
    words += [word for collect in collectors for word in collect()]
    assert len(words) == 100 + 4 * 2000 == len(set(words))

    other = np.random.PCG64()
    collect = in_child(lambda: [int(other.random_raw())])
    assert collect() == [int(other.random_raw())]


@pytest.mark.process
@needs_core
@KINDS
def test_a_child_draws_though_a_thread_of_its_parent_held_the_lock(kind: Any) -> None:
    """It also draws if its own thread held the lock, and goes on holding it."""
    bits = kind("chacha20")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with bits.lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    collect = in_child(lambda: words_of(bits))
    done.set()
    thread.join()
    words = words_of(bits) + collect()
    with bits.lock:

        def draw_and_leave() -> list[int]:
            drawn = words_of(bits)
            bits.lock.__exit__()
            return drawn + words_of(bits)

        words += in_child(draw_and_leave)() + words_of(bits)
    assert len(set(words)) == len(words) == 10_000


@needs_core
@BOTH
def test_no_word_comes_twice_in_threads(source: Any) -> None:
    """No word comes twice in four generators over the same bits."""
    bits = SystemBits(source)
    with ThreadPoolExecutor(4) as pool:
        drawn = list(
            pool.map(
                lambda g: [g.integers(0, 2**64, 50, dtype=np.uint64) for _ in range(200)],
                [np.random.Generator(bits) for _ in range(4)],
            )
        )
    assert len(np.unique(np.array(drawn))) == 4 * 200 * 50


@needs_core
@BOTH
def test_bits_are_wiped_as_they_are_used_and_gone_with_the_object(source: Any) -> None:
    bits = SystemBits(source)
    assert not any(pool_of(bits))
    bits.random_raw(100)
    pool = pool_of(bits)
    assert not any(pool[POOL - 800 :])
    assert len({*pool[KEY : POOL - 800]}) == 256
    assert any(pool[:KEY]) is (source == "chacha20")
    bits.random_raw((POOL - KEY) // 8 - 100)
    used = pool_of(bits)
    assert not any(used[KEY:])
    assert used[:KEY] == pool[:KEY]
    bits.random_raw()
    assert (pool_of(bits)[:KEY] == used[:KEY]) is (source == "getrandom")
    before = n_wiped_on_fork()
    del bits
    assert n_wiped_on_fork() < before


# --- a system that gives no bits -------------------------------------------------------------

#: Methods, some of which loop until numbers fit. Each has to end, and to raise.
METHODS: dict[str, Callable[[Any], object]] = {
    "random": lambda rng: rng.random(5),
    "one": lambda rng: rng.random(),
    "integers": lambda rng: rng.integers(0, 2**63 + 1, 9, dtype=np.uint64).tolist(),
    "small integers": lambda rng: rng.integers(0, 129, 9, dtype=np.uint8).tolist(),
    "many integers": lambda rng: rng.integers([3, 5, 7]).tolist(),
    "normal": lambda rng: rng.standard_normal(3000).tolist(),
    "gamma": lambda rng: rng.gamma([0.5, 3, 8]).tolist(),
    "binomial": lambda rng: rng.binomial(1000, 0.3, 9).tolist(),
    "poisson": lambda rng: rng.poisson(30, 9).tolist(),
    "permutation": lambda rng: rng.permutation(100).tolist(),
    "shuffle": lambda rng: rng.shuffle([*range(9)]),
    "choice": lambda rng: rng.choice(10**5, 5000, replace=False).tolist(),
    "bytes": lambda rng: rng.bytes(9).hex(),
    "raw": lambda rng: rng.bit_generator.random_raw(9).tolist(),
}


def main() -> None:
    """Print streams, failures and a draw without the lock as JSON, in the child, under the shim."""
    control = shims.control()
    control.dg_shim_set(shims.WHOLE, 0, 0)
    report: dict[str, Any] = {"streams": {}, "failed": {}, "nested": []}
    for source in SOURCES:
        control.dg_shim_set(shims.WHOLE, 0, 0)
        report["streams"][source] = SystemBits(source).random_raw(2500).tolist()  # type: ignore[arg-type]
    control.dg_shim_set(shims.FAIL, errno.EPERM, 0)
    for source in SOURCES:
        rng: Any = np.random.Generator(SystemBits(source))  # type: ignore[arg-type]
        for name, method in METHODS.items():
            try:
                report["failed"][f"{name} by {source}"] = repr(method(rng))
            except EntropyError as error:
                report["failed"][f"{name} by {source}"] = error.errno
    try:
        with rng.bit_generator.lock:
            try:
                rng.random()
            except EntropyError:
                report["nested"].append("inner")
            control.dg_shim_set(shims.WHOLE, 0, 0)
    except EntropyError:
        report["nested"].append("outer")
    report["then"] = rng.random(9).tolist()
    control.dg_shim_set(shims.FAIL_LATE, errno.EPERM, POOL - KEY)
    late = np.random.Generator(SystemBits())
    report["late"] = [len(late.random(1000))]
    try:
        report["late"] += late.random(1000).tolist()
    except EntropyError as error:
        report["late"].append(error.errno)

    control.dg_shim_set(shims.FAIL_EARLY, errno.EPERM, 3)
    bits = SystemBits()
    report["waited"] = bits.ctypes.next_uint64(bits.ctypes.state)
    print(json.dumps(report))


@pytest.fixture(scope="module")
def report(getrandom_shim: Path) -> dict[str, Any]:
    env = shims.environment(getrandom_shim)
    found: dict[str, Any] = json.loads(printed(sys.executable, __file__, env=env, timeout=300))
    return found


needs_a_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")


def backwards(pool: bytes) -> list[int]:
    """Return the words of a pool in the order in which they are taken."""
    words: list[int] = np.frombuffer(pool[KEY:], np.uint64)[::-1].tolist()
    return words


@needs_core
@needs_a_compiler
def test_words_are_the_systems_or_of_rfc_8439_under_its_key(report: dict[str, Any]) -> None:
    """Each key makes one pool, whose first 32 bytes are the next key."""
    system = shims.stream(3 * (POOL - KEY)).tobytes()
    expected = []
    for i in range(3):
        expected += backwards(bytes(KEY) + system[i * (POOL - KEY) : (i + 1) * (POOL - KEY)])
    assert report["streams"]["getrandom"] == expected[:2500]
    expected, key = [], shims.stream(KEY).tobytes()
    for _ in range(3):
        pool = parts.keystream(key, 0, POOL // 64)
        expected, key = expected + backwards(pool), pool[:KEY]
    assert report["streams"]["chacha20"] == expected[:2500]


@needs_core
@needs_a_compiler
def test_without_bits_every_method_raises_and_the_next_one_draws(report: dict[str, Any]) -> None:
    """EntropyError has the errno, however often the lock is held, and nothing is returned."""
    names = {f"{name} by {source}" for name in METHODS for source in SOURCES}
    assert report["failed"] == dict.fromkeys(names, errno.EPERM)
    assert report["nested"] == ["inner", "outer"]
    assert len(set(report["then"])) == 9
    assert report["late"] == [1000, errno.EPERM]


@needs_core
@needs_a_compiler
def test_who_draws_without_the_lock_waits_for_bits(report: dict[str, Any]) -> None:
    """Such a draw cannot raise, so it asks the system until it has bits, here four times."""
    system = shims.stream(POOL - KEY).tobytes()
    assert report["waited"] == backwards(bytes(KEY) + system)[0]


if __name__ == "__main__":
    main()
