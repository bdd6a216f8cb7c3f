"""When getrandom(2) fails, a call returns the exact draws, or raises an OSError.

LD_PRELOAD puts getrandom_shim.c before libc, in child interpreters. It hands out the same stream
each time, in reads of the shape that a mode sets. So draws from short or interrupted reads have to
equal those from whole ones. Several threads share the stream in no fixed order, so these tests ask
only that all of their draws are there, or none.
"""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import parts
import pytest
import shims
from evidence_cases import evidence
from shims import EINTR_MANY, FAIL, FAIL_LATE, REAL, SHORT_READS, TOO_MUCH, WHOLE, ZERO

import discretegauss as dg
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")


def run(shim: Path, mode: int, error: int = 0, fail_after: int = 0) -> dict[str, Any]:
    """Return the results of the calls below, by name, under this mode."""
    command = [sys.executable, __file__, str(mode), str(error), str(fail_after)]
    output = subprocess.run(
        command, env=shims.environment(shim), stdout=subprocess.PIPE, check=True, timeout=300
    ).stdout
    report: dict[str, Any] = json.loads(output)
    return report


KERNEL: Any = {"source": "getrandom"}

CALLS: dict[str, Any] = {
    "one": lambda: dg.discrete_gaussian(100, **KERNEL),
    "vector": lambda: dg.discrete_gaussian(100, 3000, method="reference", **KERNEL).tolist(),
    "int8": lambda: dg.discrete_laplace("5/4", 3000, dtype=np.int8, **KERNEL).tolist(),
    "objects": lambda: dg.discrete_gaussian(10**100, 300, dtype=object, **KERNEL).tolist(),
    "shifted": lambda: dg.discrete_gaussian("7/3", 300, mu="1/3", dtype=">i4", **KERNEL).tolist(),
    "arrays": lambda: dg.discrete_gaussian([10**12, 2**40, 3**25], (340, 3), **KERNEL).tolist(),
    "geometric": lambda: dg.geometric_exp("1/10", 3000, **KERNEL).tolist(),
    "bernoulli": lambda: dg.bernoulli_exp("1/10", 3000, **KERNEL).tolist(),
    "sums": lambda: dg.add_noise([0] * 300, dg.DiscreteLaplace("7/3"), **KERNEL),
}

#: Calls that need the compiled core.
NATIVE_CALLS: dict[str, Any] = {
    "cells": lambda: dg.discrete_gaussian(100, 9000, method="cells", **KERNEL).tolist(),
    "cells of objects": lambda: dg.discrete_gaussian(
        10**100, 300, dtype=object, method="cells", **KERNEL
    ).tolist(),
    "one generalised": lambda: dg.GeneralizedGaussian(10, 3).sample(**KERNEL),
    "default": lambda: dg.discrete_gaussian(100, 3000).tolist(),
    "by GMP, default": lambda: dg.discrete_gaussian(10**100, 300, dtype=object).tolist(),
    "one, default": lambda: dg.discrete_laplace(10),
    "cells, default": lambda: dg.discrete_gaussian(100, 9000, method="cells").tolist(),
}

#: Enough draws for each of three threads to have a part.
THREADED_DRAWS = {"reference": 9000, "cells": 50_000}

_draw: Any = dg.discrete_gaussian

#: Calls by several threads, whose draws differ from run to run, so they report how many differ.
THREADED_CALLS: dict[str, Any] = {
    f"{method}, {source}, threads": lambda n=n, method=method, source=source: len(
        set(_draw(2**100, n, method=method, source=source, threads=3).tolist())
    )
    for method, n in THREADED_DRAWS.items()
    for source in ("getrandom", "chacha20")
}

ENGINE = dg.build_info()["engine"]
if ENGINE == "native":
    CALLS |= NATIVE_CALLS | THREADED_CALLS


def main() -> None:
    """In the child: set the shim, make the calls, report values or errors."""
    mode, error, fail_after = map(int, sys.argv[1:])
    control = shims.control()
    report: dict[str, Any] = {"flags": 0, "values": {}, "errors": {}, "calls": {}}
    for name, call in CALLS.items():
        control.dg_shim_set(mode, error, fail_after)
        try:
            report["values"][name] = call()
        except OSError as caught:
            package = isinstance(caught, dg.errors.EntropyError)
            report["errors"][name] = [package, caught.errno, str(caught)]
        report["calls"][name] = control.dg_shim_calls()
        report["flags"] |= control.dg_shim_flags()
    # The system recovers, and so does the library.
    control.dg_shim_set(REAL, 0, 0)
    report["next"] = len(set(dg.discrete_gaussian(2**100, 1000).tolist()))
    print(json.dumps(report))


@pytest.fixture(scope="session")
def whole(getrandom_shim: Path) -> dict[str, Any]:
    """Return the draws from undisturbed reads."""
    return run(getrandom_shim, WHOLE)


def test_draws_are_made_of_getrandoms_bytes(whole: dict[str, Any]) -> None:
    """The draws are those of the same bytes on a tape, so getrandom is the one source."""
    assert whole["errors"] == {}
    assert all(calls > 0 for calls in whole["calls"].values())
    tape = shims.stream(300_000).tobytes()
    assert whole["values"]["one"] == dg.discrete_gaussian(100, source=TapeSource(tape))
    geometric = dg.geometric_exp("1/10", 100, source=TapeSource(tape))
    assert whole["values"]["geometric"][:100] == geometric.tolist()
    vector = dg.discrete_gaussian(100, 100, method="reference", source=TapeSource(tape))
    assert whole["values"]["vector"][:100] == vector.tolist()
    if ENGINE == "native":
        cells = dg.discrete_gaussian(100, 9000, method="cells", source=TapeSource(tape))
        assert whole["values"]["cells"] == cells.tolist()


@pytest.mark.usefixtures("native_engine")
def test_by_default_chacha20_expands_32_bytes_of_getrandom(whole: dict[str, Any]) -> None:
    """The draws are those of the keystream of getrandom's first 32 bytes, on a tape."""
    expanded = parts.keystream(shims.stream(32).tobytes(), 0, 5000)
    draws = dg.discrete_gaussian(100, 3000, source=TapeSource(expanded))
    assert whole["values"]["default"] == draws.tolist()
    draws = dg.discrete_gaussian(100, 9000, method="cells", source=TapeSource(expanded))
    assert whole["values"]["cells, default"] == draws.tolist()
    assert whole["values"]["one, default"] == dg.discrete_laplace(10, source=TapeSource(expanded))
    for name in NATIVE_CALLS:
        if "default" in name:
            assert whole["calls"][name] == 1


def test_getrandom_is_called_with_flags_0(whole: dict[str, Any]) -> None:
    """GRND_NONBLOCK, GRND_RANDOM and GRND_INSECURE are not set. It blocks until it is seeded."""
    assert whole["flags"] == 0


@pytest.mark.parametrize("mode", [EINTR_MANY, SHORT_READS], ids=["EINTR many times", "short reads"])
def test_disturbed_reads_give_the_same_draws(
    getrandom_shim: Path, whole: dict[str, Any], mode: int
) -> None:
    """Interrupted and short reads are made whole, so the same stream gives the same draws."""
    report = run(getrandom_shim, mode)
    assert report["errors"] == {}
    assert report["values"] == whole["values"]
    assert sum(report["calls"].values()) > sum(whole["calls"].values())


@pytest.mark.parametrize(
    "error",
    [errno.ENOSYS, errno.EAGAIN, *evidence(errno.EPERM, errno.EFAULT)],
    ids=errno.errorcode.get,
)
def test_an_error_is_an_entropy_error_and_no_array(getrandom_shim: Path, error: int) -> None:
    """Each error of the system is an EntropyError, an OSError with that errno."""
    report = run(getrandom_shim, FAIL, error)
    assert report["values"] == {}
    assert set(report["errors"]) == set(CALLS)
    for package, code, text in report["errors"].values():
        assert package
        assert code == error
        assert "getrandom" in text
    assert report["next"] == 1000


def test_a_read_of_nothing_is_an_error(getrandom_shim: Path) -> None:
    """A getrandom that delivers 0 bytes is an error, not an endless loop."""
    report = run(getrandom_shim, ZERO)
    assert report["values"] == {}
    assert all(package for package, _, _ in report["errors"].values())


def test_an_error_in_the_middle_leaves_no_draws(
    getrandom_shim: Path, whole: dict[str, Any]
) -> None:
    """If a later read fails, there are the exact draws, if earlier reads sufficed, or none."""
    report = run(getrandom_shim, FAIL_LATE, errno.EIO, 20)
    assert set(report["errors"]) >= {"vector", "objects", "geometric"}
    # a thread without work asks for no key
    threaded = {name for name in THREADED_CALLS if "chacha20" not in name}
    assert set(report["errors"]) >= threaded & set(CALLS)
    assert all(whole["values"][name] == value for name, value in report["values"].items())
    assert all(code == errno.EIO for _, code, _ in report["errors"].values())
    assert report["next"] == 1000


@pytest.mark.usefixtures("native_engine")
def test_more_bytes_than_asked_for_is_an_error(getrandom_shim: Path) -> None:
    """A getrandom that claims more than it was asked for is not believed."""
    report = run(getrandom_shim, TOO_MUCH)
    assert report["values"] == {}
    assert all(package for package, _, _ in report["errors"].values())


if __name__ == "__main__":
    main()
