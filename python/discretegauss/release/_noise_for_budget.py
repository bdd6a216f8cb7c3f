"""From a budget, as the command line takes it, to noise and all that a report says of it."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from gmpy2 import mpz

from .._certified.moments import standard_deviation
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import checked_probability
from ..errors import ParameterOverflowError, ParameterValueError
from ..laws import DiscreteGaussian
from ..privacy import calibrate, zcdp_epsilon
from ..privacy import epsilon as tight_epsilon

__all__ = ["DEFAULT_REPORT_DELTA", "Calibration", "calibration"]

DEFAULT_REPORT_DELTA = "1e-6"

_ONE = Fraction(1)

_SIGMA2_BELOW = 10**1200
"""Noise of more than 600 digits has no place in a table of decimal numbers."""

_CONTEXT = decimal.Context(
    prec=28,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
    traps=[],
)
"""For the standard deviation, whatever the context of the caller is."""


@dataclass(frozen=True)
class Calibration:
    """Discrete Gaussian noise for a budget, and what it costs."""

    law: DiscreteGaussian
    sensitivity: Fraction
    """The most that one person changes one answer."""
    queries: int
    """The most answers that one person changes."""
    rho: Fraction
    """Exact: ``queries * sensitivity**2 / (2 sigma2)``."""
    epsilon: float
    """At ``delta``, an upper bound."""
    delta: Fraction
    is_tight: bool
    """Whether epsilon is that of the discrete Gaussian itself, not by way of rho."""
    asked_epsilon: Fraction | None
    """What the budget said if it was (epsilon, delta), else None."""
    std: Decimal
    """Standard deviation of the noise; 0 if it is below 1e-160."""
    bound95: int
    """The smallest k such that the noise is within -k .. k with a probability of at least 0.95."""

    @property
    def sigma2(self) -> Fraction:
        """The law's sigma2, exact."""
        sigma2: Fraction = self.law.sigma2
        return sigma2


def calibration(
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: Fraction = _ONE,
    queries: int = 1,
    report_delta: object = None,
) -> Calibration:
    """Return noise for the budget, rho or (epsilon, delta); see `privacy.calibrate`.

    That checks the sensitivity and the queries.
    With rho, epsilon is reported at ``report_delta`` (None: 1e-6): by Theorem 7 if the sensitivity
    is a whole number, else by way of rho. With epsilon and delta it must not be given.
    """
    law = calibrate(
        DiscreteGaussian,
        rho=rho,
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity,
        queries=queries,
    )
    if law.sigma2 >= _SIGMA2_BELOW:
        digits = mpz(math.isqrt(int(law.sigma2))).num_digits()
        raise ParameterOverflowError(
            "sensitivity, queries and the budget must ask for noise of at most 600 digits, "
            f"got a standard deviation of some {digits}"
        )
    if delta is None:
        at = DEFAULT_REPORT_DELTA if report_delta is None else report_delta
        exact_delta = checked_probability(at, "report_delta")
    elif report_delta is None:
        exact_delta = checked_probability(delta, "delta")
    else:
        raise ParameterValueError(
            "report_delta goes with rho and must not be given with epsilon and delta, "
            f"got {describe(report_delta)}"
        )
    cost = queries * sensitivity**2 / (2 * law.sigma2)
    is_tight = sensitivity.denominator == 1
    return Calibration(
        law=law,
        sensitivity=sensitivity,
        queries=queries,
        rho=cost,
        epsilon=(
            tight_epsilon(law, exact_delta, sensitivity, queries=queries)
            if is_tight
            else zcdp_epsilon(cost, exact_delta)
        ),
        delta=exact_delta,
        is_tight=is_tight,
        asked_epsilon=None if epsilon is None else exact_rational(epsilon, "epsilon"),
        std=_standard_deviation(law),
        bound95=int(law.interval("0.95")[1]),  # by symmetry
    )


def _standard_deviation(law: DiscreteGaussian) -> Decimal:
    """Return it to some 25 digits, as it may be too large for a float; 0 if it is below 1e-160."""
    enclosed = standard_deviation(law._spec, 100)
    if enclosed.upper < 1e-160:
        return Decimal(0)
    numerator, denominator = enclosed.lower.as_integer_ratio()
    return _CONTEXT.divide(Decimal(int(numerator)), Decimal(int(denominator)))
