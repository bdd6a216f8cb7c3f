"""What the time of a draw says about its value: statistics for timing.py.

The values are independent of each other. So if the time says nothing about the value, each t below
is standard normal, nearly, whatever the times look like and however the machine is disturbed:
|t| >= 4.5 has a probability of 7 in a million (the bound of dudect: Reparaz, Balasch, Verbauwhede
2017, "Dude, is my code constant time?").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LEAK_AT = 4.5

TRIMMED = (0.01, 0.1)
"""Shares of the slowest draws that are left out: the machine interrupted them. Both are tried, and
the one that shows more is reported: short draws are interrupted rarely, long ones often."""


@dataclass(frozen=True)
class Difference:
    """Two groups of draws: how many nanoseconds the first takes longer, and Welch's t."""

    nanoseconds: float
    t: float


@dataclass(frozen=True)
class Leakage:
    """What the times of a pile of draws say about the values."""

    draws: int
    trimmed: float
    """The share of the slowest draws that was left out."""
    mean: float
    """Of the times in nanoseconds, as the next."""
    deviation: float
    correlation: float
    """Of |x| with the time."""
    correlation_t: float
    """The correlation in units of its own standard error."""
    magnitude: Difference
    """Large |x| against small; the cut is where the halves are most alike in size."""
    sign: Difference
    """x > 0 against x < 0."""

    @property
    def worst(self) -> float:
        """The largest t in size."""
        return max(abs(self.correlation_t), abs(self.magnitude.t), abs(self.sign.t))

    @property
    def is_seen(self) -> bool:
        """Whether the time says something about the value, as far as so many draws tell."""
        return self.worst >= LEAK_AT


def leakage(values: Sequence[int], nanoseconds: Sequence[int]) -> Leakage:
    """Judge draws by their times."""
    times = np.asarray(nanoseconds, dtype=np.float64)
    x = np.asarray(values, dtype=np.float64)
    return max((_without_slowest(x, times, share) for share in TRIMMED), key=lambda of: of.worst)


def _without_slowest(x: Floats, times: Floats, share: float) -> Leakage:
    kept = times <= np.quantile(times, 1 - share)
    draws, times, x = len(x), times[kept], x[kept]
    size = np.abs(x)
    correlation = _correlation(size, times)
    is_large = size >= _middle(size)
    return Leakage(
        draws=draws,
        trimmed=share,
        mean=float(times.mean()),
        deviation=float(times.std()),
        correlation=correlation,
        correlation_t=correlation * sqrt((len(x) - 2) / (1 - correlation**2)),
        magnitude=_difference(times[is_large], times[~is_large]),
        sign=_difference(times[x > 0], times[x < 0]),
    )


def _middle(size: Floats) -> float:
    """Return the cut that halves the draws best; it is above the least of them."""
    cuts, first = np.unique(np.sort(size), return_index=True)
    if len(cuts) < 2:
        return float("inf")
    below = first[1:] / len(size)
    return float(cuts[1:][np.argmin(np.abs(below - 0.5))])


def _correlation(a: Floats, b: Floats) -> float:
    if a.std() == 0 or b.std() == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1])


def _difference(a: Floats, b: Floats) -> Difference:
    if len(a) < 2 or len(b) < 2:
        return Difference(0.0, 0.0)
    error = sqrt(float(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)))
    nanoseconds = float(a.mean() - b.mean())
    return Difference(nanoseconds, nanoseconds / error if error > 0 else 0.0)
