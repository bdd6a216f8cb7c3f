"""The weights of running counts: how far one person changes weighted sums, and the errors of sums.

Day t measures y_t = sum over j of c_j x_{t-j} + z_t, x the counts and z fresh noise. The weights c
are whole numbers that do not grow with j. `docs/concepts/running.md` has the proofs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.int64]

SCALE = 2**16
"""The first weight. The rounding of all weights makes the variance of a total larger by less than 1
in 10**4 for periods of up to 10**4 days."""

_GUARD_BITS = 64

MOST_DAYS = 10**6
"""The longest period: up to here the sums of squares below are far below 2**63."""


def weights(period: int) -> Weights:
    """Return `SCALE` times the first coefficients of (1 - x)**(-2/5), rounded.

    A power of 1/2 is the best for a known number of days. With 2/5 the sum of all squares is
    finite, so that no number of days needs to be known, and a single day has less noise.
    """
    exact = SCALE << _GUARD_BITS
    found = []
    for j in range(period):
        found.append((exact + (1 << _GUARD_BITS - 1)) >> _GUARD_BITS)
        exact = exact * (5 * j + 2) // (5 * j + 5)
    return np.array(found, np.int64)


def squared_change(c: Weights, days: int, apart: int) -> int:
    """Return the largest squared norm by which one person changes the weighted sums of all days.

    The person adds 1 on at most `days` days, which are at least `apart` days from each other. By
    lemma 3, days as close to each other as allowed are the worst.
    """
    total = days * int(c @ c)
    for i in range(1, min(days, -(-len(c) // apart))):
        total += 2 * (days - i) * int(c[: len(c) - i * apart] @ c[i * apart :])
    return total


def inverse(c: Weights, n: int) -> NDArray[np.float64]:
    """Return the first n coefficients of 1/c(x): the day's estimate is their sum with the y.

    Newton's iteration doubles the number of correct coefficients. The floats tell errors of what is
    published; no noise depends on them.
    """
    found, known = np.array([1 / float(c[0])]), 1
    while known < n:
        known = min(2 * known, n)
        size = 1 << (2 * known).bit_length()
        of_c = np.fft.rfft(np.pad(c[:known].astype(float), (0, max(0, known - len(c)))), size)
        of_found = np.fft.rfft(found, size)
        step = -np.fft.irfft(of_c * of_found, size)[:known]
        step[0] += 2
        found = np.fft.irfft(np.fft.rfft(step, size) * of_found, size)[:known]
    return found


def error_of_sum(c: Weights, n: int, window: int) -> float:
    """Return the deviation of the last `window` days' sum after n days, if that of z is 1."""
    sums = np.cumsum(inverse(c, n))
    if window < n:
        sums -= np.concatenate([np.zeros(window), sums[:-window]])
    return math.sqrt(float(sums @ sums))


class LastRows:
    """The last rows of a table that grows by a row a day."""

    def __init__(self, most: int, width: int, dtype: type[Any]) -> None:
        self._most, self._end = most, 0
        self._rows: NDArray[Any] = np.empty((0, width), dtype)

    def append(self, row: NDArray[Any]) -> None:
        """Add a row; rows before the last `most` may be forgotten."""
        if self._end == len(self._rows):
            kept = self.last(self._most)
            size = len(kept) + min(len(kept), self._most) + 8
            rows = np.empty((size, self._rows.shape[1]), self._rows.dtype)
            rows[: len(kept)] = kept
            self._rows, self._end = rows, len(kept)
        self._rows[self._end] = row
        self._end += 1

    def last(self, n: int) -> NDArray[Any]:
        """Return the last n rows, the oldest first; all of them if there are fewer."""
        return self._rows[max(0, self._end - n) : self._end]
