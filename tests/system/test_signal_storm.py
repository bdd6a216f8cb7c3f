"""Two signals whose handlers raise, one while the other is answered: no part of a fill is left.

The handler of SIGINT raises KeyboardInterrupt and that of SIGTERM SystemExit, as service managers
have it. Whatever of ours the second one cuts short, no thread draws any more when the call has
raised, and the caller's array holds no draw; or all, if the fill had ended and they were heard in
the few frames between the core and the caller, where nothing of ours can tell that they came.

    pytest tests/system/test_signal_storm.py
    pytest tests/system/test_signal_storm.py -m evidence
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import discretegauss as dg

UNTOUCHED, MINE = 77, 55
NATIVE = dg.build_info()["engine"] == "native"

#: Takes some 0.1 s or more, by several threads, too: (sigma2, size, dtype, options).
DRAWS: dict[str, tuple[int, int, Any, dict[str, Any]]] = {
    "reference": (2**80, 2_000_000 if NATIVE else 40_000, np.int64, {"method": "reference"})
}
if NATIVE:
    DRAWS |= {
        "reference by chacha20": (
            2**80,
            2_000_000,
            np.int64,
            {"method": "reference", "source": "chacha20"},
        ),
        "cells": (2**80, 20_000_000, np.int64, {"method": "cells"}),
        "cells by chacha20": (4, 120_000_000, np.int8, {"method": "cells", "source": "chacha20"}),
    }


def caller(buffer: memoryview) -> None:
    buffer[:] = os.urandom(len(buffer))


def array_of(layout: str, size: int, dtype: Any) -> Any:
    """An array to fill, of any layout."""
    kind = np.dtype(dtype)
    if layout == "strided":
        return np.empty((size // 2, 3), kind)[:, ::2]
    if layout == "big-endian":
        return np.empty(size, kind.newbyteorder(">"))
    if layout == "unaligned":
        return np.empty(size * kind.itemsize + 1, np.uint8)[1:].view(kind)
    if layout == "Fortran":
        return np.empty((2, size // 2), kind, order="F")
    return np.empty(size, object if layout == "objects" else kind)


#: What takes copies of the draws takes longer: fewer are drawn.
LAYOUTS = {"C": 1, "Fortran": 1, "strided": 2, "big-endian": 2, "unaligned": 2, "objects": 20}


#: Whether the call has returned: a signal heard later finds draws, as it should. Stored before any
#: further call, as that is where signals are heard.
RETURNED = [False]


#: By sigma2 the centre: 18 standard deviations and more from 0 and from UNTOUCHED.
MU = {4: 40, 2**80: 2**50}


def fill(sigma2: int, options: dict[str, Any], out: Any) -> None:
    dg.discrete_gaussian(sigma2, mu=MU[sigma2], out=out, **options)
    RETURNED[0] = True


def fill_by_parameters(out: Any) -> None:
    dg.discrete_gaussian(2**60, mu=np.array([2**40, -(2**40)]), out=out.reshape(-1, 2))
    RETURNED[0] = True


Scenario = tuple[tuple[str, int, Any], Callable[[Any], object]]


def scenarios() -> dict[str, Scenario]:
    """For each of them what array is made, and what fills it."""
    found: dict[str, Scenario] = {}
    for name, (sigma2, size, dtype, options) in DRAWS.items():
        for layout, share in LAYOUTS.items():
            if layout != "C" and name not in ("reference", "cells"):
                continue
            for threads in (1, 2, 8):
                found[f"{name}, {layout}, {threads} threads"] = (
                    (layout, size // share, dtype),
                    partial(fill, sigma2, options | {"threads": threads}),
                )
    from_caller = partial(fill, 2**80, {"method": "reference", "source": caller})
    for layout in ("C", "strided"):
        array = (layout, 400_000 if NATIVE else 40_000, np.int64)
        found[f"a caller's source, {layout}"] = (array, from_caller)
        found[f"arrays of parameters, {layout}"] = (array, fill_by_parameters)
    return found


SENDER = """
import os, random, signal, sys, time
for line in sys.stdin:
    pid, milliseconds = map(int, line.split())
    time.sleep(random.uniform(1, milliseconds) / 1000)
    os.kill(pid, signal.SIGINT)
    time.sleep(random.choice([0, 0, 1e-4, 1e-3, 3e-3]))
    os.kill(pid, signal.SIGTERM)
    print("sent", flush=True)
"""


class Storm:
    """Two signals from another process; their handlers raise while a draw is under way."""

    def __init__(self) -> None:
        self.armed = False
        self.heard: list[int] = []
        signal.signal(signal.SIGINT, self.handle)
        signal.signal(signal.SIGTERM, self.handle)
        self.sender = subprocess.Popen(
            [sys.executable, "-c", SENDER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    def handle(self, number: int, _frame: object) -> None:
        self.heard.append(number)
        if self.armed:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit

    def over(self, draw: Callable[[], object], milliseconds: int) -> bool:
        """Draw in the storm; whether the call was cut short."""
        assert self.sender.stdin is not None
        assert self.sender.stdout is not None
        self.heard.clear()
        os.write(self.sender.stdin.fileno(), f"{os.getpid()} {milliseconds}\n".encode())
        RETURNED[0], self.armed = False, True
        try:
            with contextlib.suppress(KeyboardInterrupt, SystemExit):
                draw()
            self.armed = False
        except (KeyboardInterrupt, SystemExit):
            self.armed = False
        os.read(self.sender.stdout.fileno(), 100)
        for _ in range(100):  # the last one may still be on its way
            if len(self.heard) >= 2:
                break
            time.sleep(0.001)
        return not RETURNED[0]


def trouble_after(storm: Storm, make: tuple[str, int, Any], draw: Callable[[Any], object]) -> str:
    """Draw once in the storm, and say what is wrong after it; nothing if nothing is."""
    out = array_of(*make)
    out.fill(UNTOUCHED)
    if not storm.over(lambda: draw(out), 40):
        return "too short"
    left = np.count_nonzero((out != 0) & (out != UNTOUCHED))
    if left == out.size:
        return "complete"
    out.fill(MINE)
    time.sleep(0.03)
    if np.count_nonzero(out != MINE):
        return "written to after the call"
    return f"{left} draws are left" if left else ""


def main() -> None:
    """Run some scenarios, so many times each, in random order; print what was wrong."""
    repeats, *names = sys.argv[1:]
    storm, all_of_them = Storm(), scenarios()
    runs = [name for name in names or all_of_them for _ in range(int(repeats))]
    random.shuffle(runs)
    for name in runs[:2]:  # tables and pages at hand
        make, draw = all_of_them[name]
        draw(array_of(*make))
    troubles: dict[str, list[str]] = {}
    for name in runs:
        trouble = trouble_after(storm, *all_of_them[name])
        if trouble:
            troubles.setdefault(name, []).append(trouble)
    storm.sender.communicate()
    print(json.dumps({"runs": len(runs), "troubles": troubles}))


def run(repeats: int, *names: str) -> dict[str, Any]:
    command = [sys.executable, __file__, str(repeats), *names]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""  # nothing is printed behind the caller's back
    report: dict[str, Any] = json.loads(ended.stdout)
    return report


def without_short_ones(troubles: dict[str, list[str]]) -> dict[str, list[str]]:
    """Draws that were over before the signals came show nothing."""
    over = ("too short", "complete")
    kept = {name: [one for one in ones if one not in over] for name, ones in troubles.items()}
    return {name: ones for name, ones in kept.items() if ones}


def test_two_signals_leave_no_draw_and_no_thread_behind() -> None:
    """Every source and layout by eight threads: once each.

    On a busy machine draws may end before the signals come, and show less; nothing fails by that.
    """
    names = [name for name in scenarios() if "1 threads" not in name and "2 threads" not in name]
    report = run(1, *names)
    assert report["runs"] == len(names) >= 4
    assert without_short_ones(report["troubles"]) == {}


@pytest.mark.evidence
def test_a_thousand_storms() -> None:
    """The same, a thousand runs and more."""
    report = run(-(-1000 // len(scenarios())))
    print(report)
    assert report["runs"] >= 1000
    assert without_short_ones(report["troubles"]) == {}


if __name__ == "__main__":
    main()
