"""The continuous Gaussian, and the continuous Gaussian rounded to integers, for comparison.

Software that draws floats draws neither. Its draws have another law, with gaps, and not the privacy
computed here.
"""

from __future__ import annotations

import math
from fractions import Fraction

from .._certified.floats import float_value
from .._certified.interval import Interval, arithmetic
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import at_least_zero, positive_number
from ..errors import ParameterOverflowError
from ..privacy.normal import normal_delta, upper_tail

_HALF = Fraction(1, 2)
_FARTHEST_BITS = (2**4000).bit_length()


def continuous_gaussian_sf(sigma2: object, x: object) -> float:
    """Return P(N > x) for the normal law N(0, sigma2).

    Parameters
    ----------
    sigma2 : number
        The variance, positive; any number type of this package, taken exactly.
    x : number
        Any finite number.

    Returns
    -------
    float
        The rounded value, with an error of at most one unit in the last place.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong; if one is beyond 2**4000, or nearer to 0 than 2**-4000.

    Examples
    --------
    >>> round(continuous_gaussian_sf(4, 2), 6)
    0.158655
    """
    variance, exact = _near(positive_number(sigma2, "sigma2"), "sigma2"), checked_point(x, "x")
    return float_value(lambda bits: upper_tail(variance, exact, bits))


def continuous_gaussian_delta(sigma2: object, epsilon: object, sensitivity: object = 1) -> float:
    """Return the least delta of the continuous Gaussian, for comparison.

    Parameters
    ----------
    sigma2 : number
        The variance, positive; any number type of this package, taken exactly.
    epsilon : number
        At least 0.
    sensitivity : number
        The most that one person changes the answer, positive.

    Returns
    -------
    float
        The smallest float that is at least delta, or the next; 5e-324 for a smaller delta.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong; if one is beyond 2**4000, or nearer to 0 than 2**-4000.

    References
    ----------
    B. Balle, Y.-X. Wang: Improving the Gaussian Mechanism for Differential Privacy, ICML 2018,
    arXiv 1805.06530, Theorem 8.

    Examples
    --------
    At sigma2 = 1 the discrete Gaussian has a slightly larger delta here, and less at other epsilon:

    >>> import discretegauss as dg
    >>> dg.utility.continuous_gaussian_delta(1, 0) < dg.privacy.delta(dg.DiscreteGaussian(1), 0)
    True
    """
    variance = _near(positive_number(sigma2, "sigma2"), "sigma2")
    exact = _near(at_least_zero(epsilon, "epsilon"), "epsilon")
    change = _near(positive_number(sensitivity, "sensitivity"), "sensitivity")
    return normal_delta(variance, exact, change)


def rounded_gaussian_pmf(sigma2: object, k: object) -> float:
    """Return P(R = k) for R, the normal law N(0, sigma2) rounded to the nearest integer.

    Parameters
    ----------
    sigma2 : number
        The variance before rounding, positive; any number type of this package, taken exactly.
    k : number
        Any finite number; between integers the result is 0.

    Returns
    -------
    float
        The rounded value, with an error of at most one unit in the last place.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong; if one is beyond 2**4000, or nearer to 0 than 2**-4000.

    Examples
    --------
    >>> import discretegauss as dg
    >>> rounded_gaussian_pmf(1, 0) < dg.DiscreteGaussian(1).pmf(0) < rounded_gaussian_pmf("0.9", 0)
    True
    """
    variance, at_k = _near(positive_number(sigma2, "sigma2"), "sigma2"), abs(checked_point(k, "k"))
    if at_k.denominator != 1:
        return 0.0

    def enclosure(bits: int) -> Interval:
        below = upper_tail(variance, at_k - _HALF, bits)
        return arithmetic(bits).sub(below, upper_tail(variance, at_k + _HALF, bits))

    return float_value(enclosure) + 0.0  # no negative zero


def rounded_gaussian_sf(sigma2: object, k: object) -> float:
    """Return P(R > k) for R, the normal law N(0, sigma2) rounded to the nearest integer.

    Parameters, results and errors are those of `rounded_gaussian_pmf`. Between integers the value
    is that at the integer below.

    Examples
    --------
    >>> rounded_gaussian_sf(4, 1) == continuous_gaussian_sf(4, "1.5")
    True
    """
    variance, at_k = _near(positive_number(sigma2, "sigma2"), "sigma2"), checked_point(k, "k")
    return float_value(lambda bits: upper_tail(variance, math.floor(at_k) + _HALF, bits))


def rounded_gaussian_variance(sigma2: object) -> float:
    """Return the variance of R, the normal law N(0, sigma2) rounded to the nearest integer.

    Parameters
    ----------
    sigma2 : number
        The variance before rounding, positive; any number type of this package, taken exactly.

    Returns
    -------
    float
        The rounded value, with an error of at most one unit in the last place: sigma2 + 1/12 to
        eight digits from sigma2 = 1 on.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If sigma2 is not a positive number, is beyond 2**4000, or nearer to 0 than 2**-4000.

    Examples
    --------
    >>> round(rounded_gaussian_variance(100), 6)
    100.083333
    """
    variance = _near(positive_number(sigma2, "sigma2"), "sigma2")
    by = _variance_of_wide if variance >= Fraction(1, 4) else _variance_of_narrow
    return float_value(lambda bits: by(variance, bits))


def _variance_of_wide(variance: Fraction, bits: int) -> Interval:
    """Return the variance for sigma2 >= 1/4, a sum over frequencies (Poisson summation).

    sigma2 + 1/12 + sum over n >= 1 of (-1)**n exp(-2 pi**2 n**2 sigma2) (4 sigma2 + 1/(pi n)**2).

    The terms alternate and fall, so the omitted ones add up to less than the first of them.
    """
    at = arithmetic(bits)
    pi2 = at.power(at.pi(), 2)
    total = at.rational(variance + Fraction(1, 12))
    n = 1
    while True:
        decay = at.exp(at.neg(at.scale(pi2, 2 * n * n * variance)))
        factor = at.shift(at.div(at.rational(1), at.scale(pi2, n * n)), 4 * variance)
        term = at.mul(decay, factor)
        if term.upper < at.down.mul_2exp(total.lower, -bits):
            return Interval(
                at.down.sub(total.lower, term.upper), at.up.add(total.upper, term.upper)
            )
        total = at.sub(total, term) if n % 2 else at.add(total, term)
        n += 1


def _variance_of_narrow(variance: Fraction, bits: int) -> Interval:
    """Return the variance for sigma2 < 1/4, a sum over integers.

    The terms are 2 (2 k - 1) P(N > k - 1/2), k >= 1, because k**2 is the sum of 2 j - 1, j = 1..k.

    A term is less than 3 exp(-k/sigma2) < 1/16 of the one before, because exp(x**2) erfc(x) falls.
    So the omitted terms add up to less than a tenth of the last one.
    """
    at = arithmetic(bits)
    total, k = at.rational(0), 1
    while True:
        term = at.scale(upper_tail(variance, k - _HALF, bits), 2 * (2 * k - 1))
        total, k = at.add(total, term), k + 1
        if term.upper <= at.down.mul_2exp(total.upper, -bits) or total.lower == 0:
            return Interval(total.lower, at.up.add(total.upper, term.upper))


def checked_point(value: object, name: str) -> Fraction:
    """Return a point of a tail, exactly; refuse numbers that are too far from 1."""
    return _near(exact_rational(value, name), name)


def _near(value: Fraction, name: str) -> Fraction:
    """Return a number; refuse it if it is so far from 1 that the arithmetic would take minutes."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits > _FARTHEST_BITS:
        raise ParameterOverflowError(
            f"{name} must have a numerator and a denominator of at most {_FARTHEST_BITS} bits, "
            f"got {describe(value)}"
        )
    return value
