"""The clock, what it was measured on, and how a rate is written.

Contenders run in interleaved rounds, so that a busy minute hits all of them alike. Time is that of
the processor. A rate is the median over the rounds; a ratio is the median of the ratios within each
round, where both sides saw the same minute of the machine.
"""

from __future__ import annotations

import contextlib
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Draw = Callable[[int], object]
"""Draws n samples, or does n of what is timed, and returns or drops them."""


@dataclass(frozen=True)
class Rates:
    """Samples a second of the processor, one figure for each round."""

    by_round: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.by_round)

    def ratio_to(self, other: Rates) -> float:
        """How many times faster than the other, round against round."""
        pairs = zip(self.by_round, other.by_round, strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)


def measure(
    draws: Mapping[str, Draw],
    *,
    seconds: float,
    rounds: int = 3,
    after: Callable[[], object] = lambda: None,
) -> dict[str, Rates]:
    """Time every draw for about ``seconds`` in all, cut into interleaved rounds.

    Each round begins with the next contender. ``after`` is called after each of the times, and once
    more for each draw before the first.
    """
    counts = {}
    for name, draw in draws.items():
        counts[name] = _count_for(draw, seconds / rounds)
        after()
    order = list(draws)
    rates: dict[str, list[float]] = {name: [] for name in order}
    for _ in range(rounds):
        for name in order:
            rates[name].append(counts[name] / max(_time_once(draws[name], counts[name]), 1e-9))
            after()
        order = order[1:] + order[:1]
    return {name: Rates(tuple(rates[name])) for name in draws}


def _count_for(draw: Draw, seconds: float) -> int:
    """Return how many samples fill the time; running it also warms caches and imports."""
    n = 1
    while True:
        elapsed = _time_once(draw, n)
        if elapsed >= seconds / 4:
            # A call that loaded something, or was interrupted, says nothing of the next one.
            elapsed = min(elapsed, _time_once(draw, n))
        if elapsed >= seconds / 4:
            return max(1, round(n * seconds / elapsed))
        # At most tenfold a step, because a first call may be slow for reasons of its own.
        n *= 10 if elapsed <= 0 else min(10, max(2, round(seconds / elapsed)))


def _time_once(draw: Draw, n: int) -> float:
    start = time.process_time()
    draw(n)
    return time.process_time() - start


def repeated(call: Callable[[], object]) -> Draw:
    """Return what makes a call n times."""

    def several(n: int) -> None:
        for _ in range(n):
            call()

    return several


def short(rate: float) -> str:
    """Return three figures or two and the letter of the thousands: 1.24 M, 83.1 k."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if float(f"{rate:.3g}") >= size:
            return f"{rate / size:.3g}{letter}"
    return f"{rate:.3g}"


def machine() -> str:
    """Return the processor's own name for itself, and how busy the machine is."""
    lines = ""
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    names = [line.partition(":")[2] for line in lines.splitlines() if line.startswith("model name")]
    cpu = names[0].strip() if names else platform.processor() or "unknown processor"
    return f"{cpu}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
