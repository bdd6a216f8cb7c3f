"""Bounds of errors, and a range that rarely clamps, to choose parameters by."""

from __future__ import annotations

from fractions import Fraction

from .._certified.floats import float_at_least
from .._certified.interval import Arithmetic, Interval, arithmetic, fraction_of
from .._inputs.numbers import Number
from .._inputs.privacy_arguments import at_least_zero, checked_probability, positive_number
from ..errors import ParameterValueError
from ._parameters import ETA, Method, checked_method, parameters, power_at_least


def _log_inverse(share: Fraction, at: Arithmetic) -> Interval:
    """Return log(1/share)."""
    return at.log(at.rational(1 / share))


def snapping_accuracy(
    epsilon: Number,
    bound: Number,
    alpha: Number,
    *,
    sensitivity: Number = 1,
    method: Method = "exact",
    grid: Number | None = None,
) -> float:
    """Return an a with P(abs(error) > a) <= alpha for every value within the range, rounded up.

    The noise is within scale log(1/alpha) with probability 1 - alpha. Rounding adds up to half the
    grid, and clamping never adds to an error. `SnappedLaplace.error_quantile` is the least such a
    for one value.

    Parameters
    ----------
    epsilon, bound, sensitivity, method, grid
        As for `snapping_laplace`.
    alpha : number
        Strictly between 0 and 1.

    Returns
    -------
    float
        scale log(1/alpha) + grid/2.

    Raises
    ------
    TypeError, ValueError, OverflowError
        A parameter is not a number or breaks its rule.

    Examples
    --------
    >>> snapping_accuracy(1, 100, "1/20")
    3.4957322735539913
    >>> snapping_accuracy(1, 100, "1/20", method="mironov")
    3.995732273554392
    """
    share = checked_probability(alpha, "alpha")
    settings = parameters(epsilon, bound, sensitivity, method=method, grid=grid)
    at = arithmetic(128)
    noise = at.scale(_log_inverse(share, at), settings.scale)
    return float_at_least(at.shift(noise, settings.grid / 2).upper)


def snapping_bound(
    largest: Number,
    epsilon: Number,
    gamma: Number,
    *,
    sensitivity: Number = 1,
    method: Method = "exact",
) -> float:
    """Return a bound that clamps a noisy value with probability at most gamma, on the default grid.

    Parameters
    ----------
    largest : number
        The largest magnitude of a value, >= 0.
    epsilon, sensitivity, method
        As for `snapping_laplace`.
    gamma : number
        Strictly between 0 and 1.

    Returns
    -------
    float
        largest + scale log(1/gamma) + grid/2, rounded up; somewhat more with Mironov's method,
        because its scale grows with the bound.

    Raises
    ------
    TypeError, ValueError, OverflowError
        A parameter is not a number or breaks its rule; ValueError also if no bound is large enough.

    Examples
    --------
    >>> snapping_bound(100, 1, "1/1000")
    107.40775527898215
    """
    share = checked_probability(gamma, "gamma")
    top = at_least_zero(largest, "largest")
    cost = positive_number(epsilon, "epsilon")
    change = positive_number(sensitivity, "sensitivity")
    at = arithmetic(128)
    logarithm = _log_inverse(share, at)
    if checked_method(method) == "exact":
        scale = change / cost
        noise = at.scale(logarithm, scale)
        return float_at_least(at.shift(noise, top + power_at_least(scale) / 2).upper)
    # scale <= (D + 12 B eta)/(epsilon - 2 eta) except for roundings, and grid < 2 scale, so
    # B >= largest + c (D + 12 B eta) suffices
    if cost <= 2 * ETA:
        raise ParameterValueError("epsilon must be above 2**-52 with method='mironov'")
    c = (fraction_of(logarithm.upper) + 1) * (1 + 8 * ETA) / (cost - 2 * ETA)
    if 12 * ETA * c >= 1:
        raise ParameterValueError(
            "epsilon must be larger: with method='mironov' no bound is large enough"
        )
    return float_at_least(at.rational((top + c * change) / (1 - 12 * ETA * c)).upper)
