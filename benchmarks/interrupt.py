#!/usr/bin/env python
"""How soon Ctrl-C is answered in the middle of a long draw.

    python benchmarks/interrupt.py [--json FILE] [--repeats N]

Sends this process SIGINT while it draws and takes the time until KeyboardInterrupt arrives. The
project's target is 100 ms. OpenDP, where installed, is measured in the same run.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import random
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import machine

TARGET_SECONDS = 0.1


def long_draws() -> Iterator[tuple[str, Callable[[], object]]]:
    """Draws that would take seconds or for ever, by name."""
    import numpy as np

    import discretegauss as dg

    huge = 3**40_000  # some 63000 bits, near the longest parameter that is accepted
    yield "gaussian sigma2=100", lambda: dg.discrete_gaussian(100, 2 * 10**8, dtype=np.int16)
    yield (
        "gaussian sigma2=10^100, objects",
        lambda: dg.discrete_gaussian(10**100, 2 * 10**7, dtype=object),
    )
    yield (
        "gaussian sigma2=3^40000, objects",
        lambda: dg.discrete_gaussian(huge, 10**6, dtype=object),
    )
    yield (
        "gaussian sigma2=100, 2 threads",
        lambda: dg.discrete_gaussian(100, 2 * 10**8, dtype=np.int16, threads=2),
    )
    yield (
        "laplace scale=1/7 by a Python source",
        lambda: dg.discrete_laplace("1/7", 10**8, dtype=np.int8, source=os_urandom_source),
    )
    yield "bernoulli_exp gamma=10^9", lambda: dg.bernoulli_exp(10**9, 10**8)
    with contextlib.suppress(ImportError):
        yield "OpenDP, gaussian sigma2=100, 2*10^5 draws", opendp_draw()


def os_urandom_source(buffer: memoryview) -> None:
    """A caller's source, as slow as Python is."""
    buffer[:] = os.urandom(len(buffer))


def opendp_draw() -> Callable[[], object]:
    """OpenDP's vector call."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measure = dp.m.make_gaussian(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float), scale=10.0
    )
    zeros = [0] * (2 * 10**5)
    return lambda: measure(zeros)


SENDER = """
import os, signal, sys, time
time.sleep(float(sys.argv[2]))
print(time.monotonic(), flush=True)
os.kill(int(sys.argv[1]), signal.SIGINT)
"""
"""Another process sends: a thread of this one would have to wait for the interpreter's lock. The
monotonic clock is the system's, the same in both."""


def latency(draw: Callable[[], object]) -> float:
    """Seconds from the signal to KeyboardInterrupt."""
    command = [sys.executable, "-c", SENDER, str(os.getpid()), str(random.uniform(0.5, 1.0))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sender:
        try:
            draw()
            time.sleep(5)  # the draw was over before the signal came
        except KeyboardInterrupt:
            arrived = time.monotonic()
            return arrived - float(sender.communicate()[0])
    raise RuntimeError("no KeyboardInterrupt")


def main() -> int:
    """Measure every long draw and print the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores SIGINT
    command = shlex.join(["python", "benchmarks/interrupt.py", *sys.argv[1:]])
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    description = machine.describe()
    print(f"# {command}\n# {date}, {description['cpu']}")
    head = f"{'draw':42} {'median ms':>10} {'worst ms':>10}  within 100 ms"
    print(f"{head}\n{'-' * len(head)}")
    rows = []
    for name, draw in long_draws():
        seconds = [latency(draw) for _ in range(arguments.repeats)]
        rows.append({"draw": name, "seconds": seconds, "met": max(seconds) <= TARGET_SECONDS})
        print(
            f"{name:42} {statistics.median(seconds) * 1e3:10.1f} {max(seconds) * 1e3:10.1f}"
            f"  {'yes' if rows[-1]['met'] else 'NO'}",
            flush=True,
        )
    if arguments.json is not None:
        document = {
            "benchmark": "interrupt",
            "date": date,
            "command": command,
            "machine": description,
            "rows": rows,
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
