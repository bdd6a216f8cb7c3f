"""After a call, successful or not, the C core has wiped its stream's buffer and key.

A process under getrandom_shim.c, whose stream is known, makes calls. The test searches all its
writable memory for pieces of the stream and for keys of ChaCha20. The control is the same call
with wiping turned off. The test looks for nothing shorter than a buffer: registers and values that
compilers spill are not wiped (SECURITY.md). tests/c/test_wiped.c searches the C core alone for
keystreams, states of fills and integers of GMP.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shims
from evidence_cases import evidence

import discretegauss as dg

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")

BUFFER, PIECE, KEY = 16384, 256, 32
WIDE, LATE = 2**100, 20_000
CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "words": (WIDE, {"size": 5000, "method": "reference"}),
    "GMP": (WIDE + 1, {"size": 5000, "mu": f"1/{2**70 + 1}", "method": "reference"}),
    "cells": (WIDE, {"size": 5000, "method": "cells"}),
    "arrays of parameters": ([WIDE, 2**90] * 1000, {}),
    "threads": (WIDE, {"size": 300_000, "method": "cells", "threads": 2}),
    "single": (WIDE, {}),
    "fails": (WIDE, {"size": 5000, "method": "reference"}),
}


def main(name: str) -> None:
    """In the child: make a call for each line ("chacha20 1": unwiped), print its count of bytes."""
    control = shims.control()
    sigma2, keywords = CALLS[name]
    dg.discrete_gaussian(sigma2, **keywords)  # imports and tables
    for line in sys.stdin:
        source: Any
        source, unwiped = line.split()
        mode = shims.FAIL_LATE if name == "fails" else shims.WHOLE
        control.dg_shim_set(mode, 5, LATE)
        control.dg_shim_no_wiping(int(unwiped))
        try:
            dg.discrete_gaussian(sigma2, source=source, **keywords)
        except OSError:
            if name != "fails":
                raise
        control.dg_shim_no_wiping(0)
        print(control.dg_shim_position(), flush=True)


def memory(pid: int) -> Iterator[bytes]:
    """Yield the writable memory of a process, except pages that cannot be read."""
    handle = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        addresses, permissions, *_ = line.split()
        at, end = (int(address, 16) for address in addresses.split("-"))
        while permissions.startswith("rw") and at < end:
            try:
                content = os.pread(handle, end - at, at)
            except OSError:
                content = b""
            yield content
            at += len(content) or os.sysconf("SC_PAGE_SIZE")
    os.close(handle)


def pieces(source: str, name: str, n_used: int) -> set[bytes]:
    """Return the byte strings to search for after a call that read `n_used` bytes."""
    tape = shims.stream(n_used).tobytes()
    if source == "chacha20":
        return {tape[at : at + KEY] for at in range(0, n_used, KEY)}
    if name == "single":
        return {tape[:KEY]}
    end = min(n_used, LATE) if name == "fails" else n_used
    return {tape[at : at + PIECE] for at in range(max(0, end - BUFFER), end - PIECE, 8 * PIECE)}


BOTH = ("getrandom", "chacha20")


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize(
    ("name", "sources"),
    [
        *((name, BOTH) for name in ("words", "cells", "threads", "fails")),
        *(("GMP", BOTH[1:]), ("arrays of parameters", BOTH[1:]), ("single", BOTH[:1])),
        *evidence(("GMP", BOTH[:1]), ("arrays of parameters", BOTH[:1]), ("single", BOTH[1:])),
    ],
)
def test_buffers_and_keys_are_wiped(
    getrandom_shim: Path, name: str, sources: tuple[str, ...]
) -> None:
    """After a call no piece of the stream and no key is found. Without wiping, some are."""
    with subprocess.Popen(
        [sys.executable, __file__, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=shims.environment(getrandom_shim),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for source in sources:
            for unwiped in (False, True):
                process.stdin.write(f"{source} {unwiped:d}\n".encode())
                process.stdin.flush()
                wanted = pieces(source, name, int(process.stdout.readline()))
                assert wanted
                found = any(piece in part for part in memory(process.pid) for piece in wanted)
                assert found is unwiped
        process.stdin.close()
    assert process.returncode == 0


if __name__ == "__main__":
    main(sys.argv[1])
