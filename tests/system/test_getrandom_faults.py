"""getrandom(2) made to fail: the exact stream, or an OSError and no array.

getrandom_shim.c is compiled and put before libc by LD_PRELOAD, in interpreters of their own. It
hands out one stream, the same each time, in whatever way a mode says: so a draw from short or
interrupted reads has to equal, integer for integer, the draw from whole ones. (Several threads
share the stream in no certain order: of their draws only that all are there, or none, is asked.)
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
from shims import EINTR_MANY, FAIL, FAIL_LATE, REAL, SHORT_READS, TOO_MUCH, WHOLE, ZERO

import discretegauss as dg
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")


def run(shim: Path, mode: int, error: int = 0, fail_after: int = 0) -> dict[str, Any]:
    """What the calls below gave, by name, under this mode."""
    command = [sys.executable, __file__, str(mode), str(error), str(fail_after)]
    output = subprocess.run(
        command, env=shims.environment(shim), stdout=subprocess.PIPE, check=True, timeout=300
    ).stdout
    report: dict[str, Any] = json.loads(output)
    return report


CALLS: dict[str, Any] = {
    "one": lambda: dg.discrete_gaussian(100),
    "vector": lambda: dg.discrete_gaussian(100, 3000, method="reference").tolist(),
    "int8": lambda: dg.discrete_laplace("5/4", 3000, dtype=np.int8, method="reference").tolist(),
    "objects": lambda: dg.discrete_gaussian(10**100, 300, dtype=object).tolist(),
    "shifted": lambda: dg.discrete_gaussian("7/3", 300, mu="1/3", dtype=">i4").tolist(),
    "arrays": lambda: dg.discrete_gaussian([10**12, 2**40, 3**25], (340, 3)).tolist(),
    "geometric": lambda: dg.geometric_exp("1/10", 3000).tolist(),
    "bernoulli": lambda: dg.bernoulli_exp("1/10", 3000).tolist(),
    "law": lambda: dg.DiscreteLaplace("7/3", mu="-1/7").sample(300).tolist(),
}

#: Those that need the compiled core.
NATIVE_CALLS: dict[str, Any] = {
    "cells": lambda: dg.discrete_gaussian(100, 9000, method="cells").tolist(),
    "cells of long words": lambda: dg.discrete_laplace(2**40, 3000, method="cells").tolist(),
    "cells of objects": lambda: dg.discrete_gaussian(
        10**100, 300, dtype=object, method="cells"
    ).tolist(),
    "generalised": lambda: dg.generalized_gaussian(10**6, "3/2", 3000, dtype=np.int32).tolist(),
    "one generalised": lambda: dg.GeneralizedGaussian(10, 3).sample(),
    "chacha20": lambda: dg.discrete_gaussian(100, 3000, source="chacha20").tolist(),
    "chacha20 by GMP": lambda: dg.discrete_gaussian(
        10**100, 300, dtype=object, source="chacha20"
    ).tolist(),
    "one by chacha20": lambda: dg.discrete_laplace(10, source="chacha20"),
    "cells by chacha20": lambda: dg.discrete_gaussian(
        100, 9000, method="cells", source="chacha20"
    ).tolist(),
}

#: So many that each of three threads has a part.
THREADED_DRAWS = {"reference": 9000, "cells": 50_000}

_draw: Any = dg.discrete_gaussian

#: By several threads, whose draws are not the same twice: how many values there are is reported.
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

#: How an array of the caller's is filled, and has to be zero after a failure.
OUT_OPTIONS: list[dict[str, Any]] = [{}]
if ENGINE == "native":
    OUT_OPTIONS += [{"method": "cells"}, {"source": "chacha20"}, {"threads": 3}]
    OUT_OPTIONS += [{"method": "cells", "source": "chacha20", "threads": 3}]


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
    report["out_has_no_draws"] = []
    for options in OUT_OPTIONS:
        out = np.full(9000, 7)
        control.dg_shim_set(mode, error, fail_after)
        try:
            dg.discrete_gaussian(10**4, out=out, **options)
        except OSError:
            # zeros where draws were, else what was there: of 9000 draws most are neither 0 nor 7
            report["out_has_no_draws"].append(bool(np.isin(out, [0, 7]).all()))
    # The system recovers, and so does the library.
    control.dg_shim_set(REAL, 0, 0)
    report["next"] = len(set(dg.discrete_gaussian(2**100, 1000).tolist()))
    print(json.dumps(report))


@pytest.fixture(scope="session")
def whole(getrandom_shim: Path) -> dict[str, Any]:
    """The draws from undisturbed reads."""
    return run(getrandom_shim, WHOLE)


def test_draws_are_made_of_getrandoms_bytes(whole: dict[str, Any]) -> None:
    """The draws are those of the same bytes on a tape: getrandom is the one source."""
    assert whole["errors"] == {}
    assert all(calls > 0 for calls in whole["calls"].values())
    tape = shims.stream(300_000).tobytes()
    assert whole["values"]["one"] == dg.discrete_gaussian(100, source=TapeSource(tape))
    geometric = dg.geometric_exp("1/10", 100, source=TapeSource(tape))
    assert whole["values"]["geometric"][:100] == geometric.tolist()
    vector = dg.discrete_gaussian(100, 100, source=TapeSource(tape))
    assert whole["values"]["vector"][:100] == vector.tolist()
    if ENGINE == "native":
        cells = dg.discrete_gaussian(100, 9000, method="cells", source=TapeSource(tape))
        assert whole["values"]["cells"] == cells.tolist()


@pytest.mark.usefixtures("native_engine")
def test_chacha20_expands_32_bytes_of_getrandom(whole: dict[str, Any]) -> None:
    """The draws by ChaCha20 are those of the keystream of getrandom's first 32 bytes, on a tape."""
    expanded = parts.keystream(shims.stream(32).tobytes(), 0, 5000)
    draws = dg.discrete_gaussian(100, 3000, source=TapeSource(expanded))
    assert whole["values"]["chacha20"] == draws.tolist()
    draws = dg.discrete_gaussian(100, 9000, method="cells", source=TapeSource(expanded))
    assert whole["values"]["cells by chacha20"] == draws.tolist()
    assert whole["calls"]["chacha20"] == whole["calls"]["cells by chacha20"] == 1


def test_getrandom_is_called_with_flags_0(whole: dict[str, Any]) -> None:
    """Neither GRND_NONBLOCK nor GRND_RANDOM nor GRND_INSECURE: it blocks until it is seeded."""
    assert whole["flags"] == 0


@pytest.mark.parametrize("mode", [EINTR_MANY, SHORT_READS], ids=["EINTR many times", "short reads"])
def test_disturbed_reads_give_the_same_draws(
    getrandom_shim: Path, whole: dict[str, Any], mode: int
) -> None:
    """Interrupted and short reads are made whole: the same stream, the same draws."""
    report = run(getrandom_shim, mode)
    assert report["errors"] == {}
    assert report["values"] == whole["values"]
    assert sum(report["calls"].values()) > sum(whole["calls"].values())


@pytest.mark.parametrize(
    "error", [errno.ENOSYS, errno.EPERM, errno.EAGAIN, errno.EFAULT], ids=errno.errorcode.get
)
def test_an_error_is_an_entropy_error_and_no_array(getrandom_shim: Path, error: int) -> None:
    """ENOSYS, EPERM, EAGAIN, EFAULT: EntropyError, an OSError with that errno; no draws in out."""
    report = run(getrandom_shim, FAIL, error)
    assert report["values"] == {}
    assert set(report["errors"]) == set(CALLS)
    for package, code, text in report["errors"].values():
        assert package
        assert code == error
        assert "getrandom" in text
    assert report["out_has_no_draws"] == [True] * len(OUT_OPTIONS)
    assert report["next"] == 1000


def test_a_read_of_nothing_is_an_error(getrandom_shim: Path) -> None:
    """A getrandom that delivers 0 bytes is not asked for ever."""
    report = run(getrandom_shim, ZERO)
    assert report["values"] == {}
    assert all(package for package, _, _ in report["errors"].values())
    assert report["out_has_no_draws"] == [True] * len(OUT_OPTIONS)


def test_an_error_in_the_middle_leaves_no_draws(
    getrandom_shim: Path, whole: dict[str, Any]
) -> None:
    """A failure after the first read: the exact draws where that was enough, else none."""
    report = run(getrandom_shim, FAIL_LATE, errno.EIO, 20)
    assert set(report["errors"]) >= {"vector", "int8", "objects", "arrays", "geometric"}
    # a thread that finds nothing left to fill asks for no key
    threaded = {name for name in THREADED_CALLS if "chacha20" not in name}
    assert set(report["errors"]) >= threaded & set(CALLS)
    assert all(whole["values"][name] == value for name, value in report["values"].items())
    assert all(code == errno.EIO for _, code, _ in report["errors"].values())
    # one thing is written of each call with out= that failed: those by ChaCha20 may need no more
    assert report["out_has_no_draws"] == [True] * len(report["out_has_no_draws"])
    assert len(report["out_has_no_draws"]) >= len(
        [name for name in OUT_OPTIONS if "chacha20" not in str(name)]
    )
    assert report["next"] == 1000


@pytest.mark.usefixtures("native_engine")
def test_more_bytes_than_asked_for_is_an_error(getrandom_shim: Path) -> None:
    """A getrandom that claims more than it was asked for is not believed."""
    report = run(getrandom_shim, TOO_MUCH)
    assert report["values"] == {}
    assert all(package for package, _, _ in report["errors"].values())


if __name__ == "__main__":
    main()
