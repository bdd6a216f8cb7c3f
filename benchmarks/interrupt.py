#!/usr/bin/env python
"""How soon Ctrl-C is answered in the middle of a long draw.

    python benchmarks/interrupt.py [--json FILE] [--repeats N]

Sends this process SIGINT while it draws and takes the time until KeyboardInterrupt arrives. The
project's target is 100 ms. OpenDP, where installed, is measured in the same run.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import random
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench import machine
from options import json_file, positive_int

TARGET_SECONDS = 0.1

DELAY = (0.5, 1.0)
"""Seconds from a draw's beginning to the signal. Sooner, it would meet numpy as it makes a large
array of objects, or OpenDP's binding, which is Python, as it reads the list of zeros."""


def long_draws() -> Iterator[tuple[str, Callable[[], object]]]:
    """Draws that would take seconds or for ever, by name."""
    import numpy as np

    import discretegauss as dg

    n = 4 * 10**8  # two threads take more than a second
    huge = 3**40_000  # some 63000 bits, near the longest parameter that is accepted
    yield "gaussian sigma2=100", lambda: dg.discrete_gaussian(100, n, dtype=np.int16)
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
        lambda: dg.discrete_gaussian(100, n, dtype=np.int16, threads=2),
    )
    yield "gaussian sigma2=100, 8*10^8 int64", lambda: dg.discrete_gaussian(100, 8 * 10**8)
    yield (
        "gaussian sigma2=100, 8*10^8 int64, 2 threads",
        lambda: dg.discrete_gaussian(100, 8 * 10**8, threads=2),
    )
    yield (
        "gaussian sigma2=100, 4*10^8 big-endian int16",
        lambda: dg.discrete_gaussian(100, 4 * 10**8, dtype=">i2"),
    )
    yield (
        "laplace scale=1/7 by a Python source",
        lambda: dg.discrete_laplace("1/7", 10**9, dtype=np.int8, source=os_urandom_source),
    )
    counts = np.zeros(4 * 10**8, np.int64)  # no memory until they are read
    law = dg.DiscreteGaussian(100)
    yield "add_noise, 4*10^8 int64", lambda: dg.add_noise(counts, law)
    yield "add_noise, 4*10^8 int64, 2 threads", lambda: dg.add_noise(counts, law, threads=2)
    yield "bernoulli_exp gamma=10^9", lambda: dg.bernoulli_exp(10**9, 10**8)


def peer_draws() -> tuple[list[tuple[str, Callable[[], object]]], list[tuple[str, str]]]:
    """The peer's draw, by name; and who is not installed, with the reason."""
    try:
        return [("OpenDP, gaussian sigma2=100, 2*10^5 draws", opendp_draw())], []
    except ImportError as error:
        return [], [("OpenDP", str(error))]


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


def latency(draw: Callable[[], object]) -> float | None:
    """Seconds from the signal to KeyboardInterrupt; None if the draw was over before it came."""
    command = [sys.executable, "-c", SENDER, str(os.getpid()), str(random.uniform(*DELAY))]
    over = math.inf
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sender:
        try:
            draw()
            over = time.monotonic()
            time.sleep(60)
        except KeyboardInterrupt:
            arrived = time.monotonic()
            sent = float(sender.communicate()[0])
            return arrived - sent if sent < over else None
    raise RuntimeError("no KeyboardInterrupt")


def row(name: str, found: Sequence[float | None]) -> dict[str, Any]:
    """What the repeats say: of draws that were over before the signal, nothing."""
    seconds = [latency for latency in found if latency is not None]
    met = max(seconds) <= TARGET_SECONDS if seconds else None
    return {"draw": name, "seconds": seconds, "over": len(found) - len(seconds), "met": met}


def row_text(of: dict[str, Any]) -> str:
    """One line for people."""
    seconds = of["seconds"]
    figures = (statistics.median(seconds), max(seconds)) if seconds else ()
    text = "".join(f" {figure * 1e3:10.1f}" for figure in figures) or f" {'-':>10} {'-':>10}"
    word = {None: "not measured", True: "yes", False: "NO"}[of["met"]]
    late = f"  ({of['over']} were over before the signal came)" if of["over"] else ""
    return f"{of['draw']:46}{text}  {word}{late}"


def main() -> int:
    """Measure every long draw and print the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=json_file, metavar="FILE")
    parser.add_argument("--repeats", type=positive_int, default=10)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores SIGINT
    command = shlex.join(["python", "benchmarks/interrupt.py", *sys.argv[1:]])
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    description = machine.describe()
    print(f"# {command}\n# {date}, {description['cpu']}")
    head = f"{'draw':46} {'median ms':>10} {'worst ms':>10}  within 100 ms"
    print(f"{head}\n{'-' * len(head)}")
    rows = []
    peers, skipped = peer_draws()
    for name, draw in (*long_draws(), *peers):
        rows.append(row(name, [latency(draw) for _ in range(arguments.repeats)]))
        print(row_text(rows[-1]), flush=True)
    print("\nskipped:" if skipped else "\nskipped: none")
    for peer, reason in skipped:
        print(f"  {peer}: {reason}")
    if arguments.json is not None:
        document = {
            "benchmark": "interrupt",
            "date": date,
            "command": command,
            "machine": description,
            "skipped": dict(skipped),
            "rows": rows,
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
