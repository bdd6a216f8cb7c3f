"""The laws' formulas as they are copied from one project to the next: plain Python, floats.

Written here from the definitions, in the two forms in which they go round: a loop over a window,
and the same stopped where terms no longer count. Errors are what they are; far out they return 0.
"""

from __future__ import annotations

import math

WINDOW = 10**5
"""The published plots sum the law over so many integers on either side, whatever sigma2."""


def reach_of(sigma2: float) -> int:
    """How far the window goes: longer if sigma asks for it."""
    return max(WINDOW, math.ceil(12 * math.sqrt(sigma2)))


def normaliser(sigma2: float) -> float:
    """Sum of exp(-x**2/(2 sigma2)) over the window."""
    reach = reach_of(sigma2)
    return sum(math.exp(-x * x / (2.0 * sigma2)) for x in range(-reach, reach + 1))


def pmf(sigma2: float, k: int) -> float:
    """A weight over the sum of all."""
    return math.exp(-k * k / (2.0 * sigma2)) / normaliser(sigma2)


def cdf(sigma2: float, k: int) -> float:
    """A sum of weights over the sum of all."""
    reach = reach_of(sigma2)
    total = below = 0.0
    for x in range(-reach, reach + 1):
        weight = math.exp(-x * x / (2.0 * sigma2))
        total += weight
        if x <= k:
            below += weight
    return below / total


def var(sigma2: float) -> float:
    """A sum of squares times weights over the sum of all."""
    reach = reach_of(sigma2)
    total = squares = 0.0
    for x in range(-reach, reach + 1):
        weight = math.exp(-x * x / (2.0 * sigma2))
        total += weight
        squares += x * x * weight
    return squares / total


def lean_normaliser(sigma2: float) -> float:
    """As lean as a loop gets: by symmetry, until terms no longer count."""
    total, x, weight = 1.0, 0, 1.0
    while weight > 1e-18:
        x += 1
        weight = math.exp(-x * x / (2.0 * sigma2))
        total += 2 * weight
    return total


def lean_pmf(sigma2: float, k: int) -> float:
    """The same for pmf."""
    return math.exp(-k * k / (2.0 * sigma2)) / lean_normaliser(sigma2)


def lean_cdf(sigma2: float, k: int) -> float:
    """The same for cdf, k >= 0: 1 less the upper tail, of terms that count."""
    above, x, weight = 0.0, k, 1.0
    while weight > 1e-18:
        x += 1
        weight = math.exp(-x * x / (2.0 * sigma2))
        above += weight
    return 1 - above / lean_normaliser(sigma2)


def lean_var(sigma2: float) -> float:
    """The same for the variance."""
    total, squares, x, weight = 1.0, 0.0, 0, 1.0
    while weight > 1e-18:
        x += 1
        weight = math.exp(-x * x / (2.0 * sigma2))
        total += 2 * weight
        squares += 2 * x * x * weight
    return squares / total
