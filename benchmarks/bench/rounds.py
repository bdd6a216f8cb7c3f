"""The clock: interleaved rounds, so that a noisy machine hits every contender alike.

Every round runs each contender once, for about the same time, one after the other; the next round
begins with the next contender. A rate is the median over the rounds; a ratio is the median of the
ratios within each round, where both sides saw the same minute of the machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Draw = Callable[[int], object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Rates:
    """Samples a second of one contender, one figure a round."""

    draws_per_call: int
    by_round: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.by_round)

    @property
    def best(self) -> float:
        return max(self.by_round)

    def ratio_to(self, other: Rates) -> float:
        """How many times faster than the other, round against round."""
        pairs = zip(self.by_round, other.by_round, strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)


def measure(
    draws: Mapping[str, Draw],
    *,
    seconds: float,
    rounds: int,
    clock: Clock | None = None,
    after: Callable[[], object] = lambda: None,
) -> dict[str, Rates]:
    """Time every draw for about ``seconds`` in all, cut into ``rounds`` interleaved rounds.

    ``after`` is called after each of these times, and once more for each draw before the first.
    """
    slice_seconds = seconds / rounds
    counts = {}
    for name, draw in draws.items():
        counts[name] = _calibrate(draw, slice_seconds, clock)
        after()
    return measure_fixed(draws, counts, rounds=rounds, clock=clock, after=after)


def measure_fixed(
    draws: Mapping[str, Draw],
    counts: Mapping[str, int],
    *,
    rounds: int,
    clock: Clock | None = None,
    after: Callable[[], object] = lambda: None,
) -> dict[str, Rates]:
    """Time every draw of a given number of samples, in interleaved rounds."""
    order = list(draws)
    rates: dict[str, list[float]] = {name: [] for name in order}
    for _ in range(rounds):
        for name in order:
            rates[name].append(counts[name] / _time_once(draws[name], counts[name], clock))
            after()
        order = order[1:] + order[:1]
    return {name: Rates(counts[name], tuple(rates[name])) for name in draws}


def _calibrate(draw: Draw, slice_seconds: float, clock: Clock | None) -> int:
    """How many samples fill a slice; running it also warms caches and imports."""
    n = 1
    while True:
        elapsed = _time_once(draw, n, clock)
        if elapsed >= slice_seconds / 4:
            # Once more: a call that loaded something, or was interrupted, says nothing of the next.
            elapsed = min(elapsed, _time_once(draw, n, clock))
        if elapsed >= slice_seconds / 4:
            return max(1, round(n * slice_seconds / elapsed))
        # At most tenfold a step: a first call may be slow for reasons of its own.
        n *= 10 if elapsed <= 0 else min(10, max(2, round(slice_seconds / elapsed)))


def _time_once(draw: Draw, n: int, clock: Clock | None) -> float:
    now = clock or time.perf_counter
    start = now()
    draw(n)
    return now() - start


def seconds_per_call(call: Callable[[], object], budget: float) -> float:
    """Processor time of one call: of so many as fill the budget, at least one."""
    start = time.process_time()
    call()
    first = time.process_time() - start
    calls = max(1, int(budget / max(first, 1e-7)))
    if calls == 1:
        return first
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls
