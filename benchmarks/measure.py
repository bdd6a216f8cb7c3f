"""Time several calls beside each other.

Contenders run in interleaved rounds, so a busy minute hits all of them alike. Time is that of the
processor. A rate is the median over the rounds. A ratio is the median of the ratios within each
round, because both sides saw the same minute of the machine.
"""

from __future__ import annotations

import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 3

Draw = Callable[[int], object]
"""Draws n samples, or makes n calls."""


@dataclass(frozen=True)
class Rates:
    """Samples a second of the processor, one figure for each round."""

    by_round: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.by_round)

    def ratio_to(self, other: Rates) -> float:
        """Return how many times faster this is than the other, round against round."""
        pairs = zip(self.by_round, other.by_round, strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)


def measure(draws: Mapping[str, Draw], seconds: float) -> dict[str, Rates]:
    """Time every draw for about ``seconds`` in all, in ROUNDS, each begun by the next contender."""
    counts = {name: _count_for(draw, seconds / ROUNDS) for name, draw in draws.items()}
    order = list(draws)
    rates: dict[str, list[float]] = {name: [] for name in order}
    for _ in range(ROUNDS):
        for name in order:
            rates[name].append(counts[name] / max(_time_once(draws[name], counts[name]), 1e-9))
        order = order[1:] + order[:1]
    return {name: Rates(tuple(rates[name])) for name in draws}


def _count_for(draw: Draw, seconds: float) -> int:
    """Return how many samples fill the time. This also warms caches and imports."""
    n = 1
    while True:
        elapsed = _time_once(draw, n)
        if elapsed >= seconds / 4:
            # This call may have loaded something or been interrupted; the next one tells.
            elapsed = min(elapsed, _time_once(draw, n))
        if elapsed >= seconds / 4:
            return max(1, round(n * seconds / elapsed))
        # At most tenfold, because a first call may be slow.
        n *= 10 if elapsed <= 0 else min(10, max(2, round(seconds / elapsed)))


def _time_once(draw: Draw, n: int) -> float:
    start = time.process_time()
    draw(n)
    return time.process_time() - start


def repeated(call: Callable[[], object]) -> Draw:
    """Return a function that makes the call n times."""

    def several(n: int) -> None:
        for _ in range(n):
            call()

    return several


def short(rate: float) -> str:
    """Return a rate in three figures, with a letter for the thousands: 1.24 M, 83.1 k."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if float(f"{rate:.3g}") >= size:
            return f"{rate / size:.3g}{letter}"
    return f"{rate:.3g}"


def machine() -> str:
    """Return the processor's name, and how busy the machine is."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text("utf-8") if cpuinfo.exists() else ""
    names = re.findall(r"^model name\s*:\s*(.*)", text, re.M)
    cpu = names[0] if names else platform.processor()
    return f"{cpu}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
