"""getrandom(2) made to fail: the exact stream, or an OSError and no array.

getrandom_shim.c is compiled here and put before libc by LD_PRELOAD, in interpreters of its own. It
hands out one stream, the same each time, in whatever way a mode says: so a draw from short or
interrupted reads has to equal, integer for integer, the draw from whole ones.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discretegauss as dg
from discretegauss.testing import TapeSource

REAL, WHOLE, EINTR_MANY, SHORT_READS, FAIL, ZERO, FAIL_LATE, TOO_MUCH = range(8)

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled shim."""
    library = tmp_path_factory.mktemp("shim") / "getrandom_shim.so"
    source = Path(__file__).with_name("getrandom_shim.c")
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return library


def run(shim: Path, mode: int, error: int = 0, fail_after: int = 0) -> dict[str, Any]:
    """What the calls below gave, by name, under this mode."""
    environment = os.environ | {"LD_PRELOAD": str(shim)}
    command = [sys.executable, __file__, str(mode), str(error), str(fail_after)]
    output = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, check=True, timeout=300
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
}


def main() -> None:
    """In the child: set the shim, make the calls, report values or errors."""
    mode, error, fail_after = map(int, sys.argv[1:])
    control = ctypes.CDLL(None)
    control.dg_shim_set.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint64]
    control.dg_shim_calls.restype = ctypes.c_uint64
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
    out = np.full(3000, 7)
    control.dg_shim_set(mode, error, fail_after)
    try:
        dg.discrete_gaussian(10**4, out=out)
    except OSError:
        report["out_is_zero"] = not out.any()
    # The system recovers, and so does the library.
    control.dg_shim_set(REAL, 0, 0)
    report["next"] = len(set(dg.discrete_gaussian(2**100, 1000).tolist()))
    print(json.dumps(report))


def stream(n: int) -> bytes:
    """The shim's stream, computed once more."""
    mask = 2**64 - 1
    values = bytearray()
    for i in range(1, n + 1):
        z = i * 0x9E3779B97F4A7C15 & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        values.append((z ^ z >> 31) >> 56)
    return bytes(values)


@pytest.fixture(scope="session")
def whole(shim: Path) -> dict[str, Any]:
    """The draws from undisturbed reads."""
    return run(shim, WHOLE)


def test_draws_are_made_of_getrandoms_bytes(whole: dict[str, Any]) -> None:
    """The draws are those of the same bytes on a tape: getrandom is the one source."""
    assert whole["errors"] == {}
    assert all(calls > 0 for calls in whole["calls"].values())
    tape = stream(300_000)
    again = {
        "one": dg.discrete_gaussian(100, source=TapeSource(tape)),
        "geometric": dg.geometric_exp("1/10", 100, source=TapeSource(tape)).tolist(),
        "vector": dg.discrete_gaussian(100, 100, source=TapeSource(tape)).tolist(),
    }
    assert whole["values"]["one"] == again["one"]
    assert whole["values"]["geometric"][:100] == again["geometric"]
    assert whole["values"]["vector"][:100] == again["vector"]


def test_getrandom_is_called_with_flags_0(whole: dict[str, Any]) -> None:
    """Neither GRND_NONBLOCK nor GRND_RANDOM nor GRND_INSECURE: it blocks until it is seeded."""
    assert whole["flags"] == 0


@pytest.mark.parametrize("mode", [EINTR_MANY, SHORT_READS], ids=["EINTR many times", "short reads"])
def test_disturbed_reads_give_the_same_draws(shim: Path, whole: dict[str, Any], mode: int) -> None:
    """Interrupted and short reads are made whole: the same stream, the same draws."""
    report = run(shim, mode)
    assert report["errors"] == {}
    assert report["values"] == whole["values"]
    assert sum(report["calls"].values()) > sum(whole["calls"].values())


@pytest.mark.parametrize(
    "error", [errno.ENOSYS, errno.EPERM, errno.EAGAIN, errno.EFAULT], ids=errno.errorcode.get
)
def test_an_error_is_an_entropy_error_and_no_array(shim: Path, error: int) -> None:
    """ENOSYS, EPERM, EAGAIN, EFAULT: EntropyError, an OSError with that errno; zeros in out."""
    report = run(shim, FAIL, error)
    assert report["values"] == {}
    assert set(report["errors"]) == set(CALLS)
    for package, code, text in report["errors"].values():
        assert package
        assert code == error
        assert "getrandom" in text
    assert report["out_is_zero"]
    assert report["next"] == 1000


def test_a_read_of_nothing_is_an_error(shim: Path) -> None:
    """A getrandom that delivers 0 bytes is not asked for ever."""
    report = run(shim, ZERO)
    assert report["values"] == {}
    assert all(package for package, _, _ in report["errors"].values())
    assert report["out_is_zero"]


def test_an_error_in_the_middle_leaves_no_draws(shim: Path, whole: dict[str, Any]) -> None:
    """A failure after some bytes: the exact draws where they were enough, else OSError and none."""
    report = run(shim, FAIL_LATE, errno.EIO, 100)
    assert set(report["errors"]) >= {"vector", "int8", "objects", "arrays", "geometric"}
    assert all(whole["values"][name] == value for name, value in report["values"].items())
    assert all(code == errno.EIO for _, code, _ in report["errors"].values())
    assert report["out_is_zero"]
    assert report["next"] == 1000


@pytest.mark.usefixtures("native_engine")
def test_more_bytes_than_asked_for_is_an_error(shim: Path) -> None:
    """A getrandom that claims more than it was asked for is not believed."""
    report = run(shim, TOO_MUCH)
    assert report["values"] == {}
    assert all(package for package, _, _ in report["errors"].values())


if __name__ == "__main__":
    main()
