"""How far the noise goes: standard deviation and central interval of the discrete Gaussian.

For reports only: no draw depends on anything here, so floats are fine. The law objects will
replace it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

__all__ = ["Spread", "spread"]

_SUMMED_UP_TO = 10**6
"""The law is summed term by term up to this sigma2 (about 10**4 terms); beyond, see _far_spread."""

_NORMAL_975 = Fraction(1959963984540055, 10**15)
"""The 97.5 % point of the normal law, 1.95996398454005423..., rounded up."""


@dataclass(frozen=True)
class Spread:
    """Standard deviation of the noise X, and the smallest k with P(|X| <= k) >= 0.95."""

    std: Decimal
    bound: int


def spread(sigma2: Fraction) -> Spread:
    """Return the spread of the discrete Gaussian N_Z(0, sigma2), to at least 12 significant digits.

    Examples
    --------
    >>> spread(Fraction(100)).bound
    20
    """
    return _summed_spread(sigma2) if sigma2 <= _SUMMED_UP_TO else _far_spread(sigma2)


def _summed_spread(sigma2: Fraction) -> Spread:
    """From the law itself: weights exp(-x**2 / (2 sigma2)), each with an error of some ulp.

    The sum stops where weights fall below exp(-45): what is left out is below 1e-18 of it.
    """
    last = math.isqrt(math.floor(90 * sigma2)) + 1
    # Beyond 1000 the weight of 1 is zero as a float, and the exact rate may be too long for one.
    rate = float(min(1 / (2 * sigma2), Fraction(1000)))
    weights = [math.exp(-rate * x * x) for x in range(last + 1)]
    total = weights[0] + 2 * math.fsum(weights[1:])
    variance = 2 * math.fsum(x * x * w for x, w in enumerate(weights)) / total
    within = accumulate([weights[0], *(2 * w for w in weights[1:])])
    bound = next(k for k, mass in enumerate(within) if mass >= 0.95 * total)
    return Spread(Decimal(math.sqrt(variance)), bound)


def _far_spread(sigma2: Fraction) -> Spread:
    """From the normal law, for sigma2 > 10**6.

    The variance is below sigma2 by a factor of less than 1 - exp(-4 pi**2 sigma2 + 20): no digit
    shows it (arXiv 2004.00010, Proposition 21).

    P(|X| <= k) is the normal law's P(|N| <= k + 1/2) plus, by the midpoint rule, a positive
    correction of about 0.01 / sigma2, where one step of k weighs 0.12 / sigma. So the smallest k
    with P(|N| <= k + 1/2) >= 0.95 is never too small, and too large by 1 only if the boundary falls
    within 0.08 / sigma of an integer.
    """
    digits = 30
    scaled = sigma2 * 10 ** (2 * digits)
    sigma_upper = Fraction(math.isqrt(math.floor(scaled)) + 1, 10**digits)
    bound = math.ceil(_NORMAL_975 * sigma_upper - Fraction(1, 2))
    return Spread(Decimal(sigma_upper.numerator) / Decimal(sigma_upper.denominator), bound)
