"""The privacy calculus of the discrete Gaussian: zero-concentrated differential privacy (zCDP).

rho-zCDP says what the noise costs: the discrete Gaussian with variance parameter ``sigma2``, added
to an integer query of sensitivity ``Delta``, is rho-zCDP for ``rho = Delta**2 / (2 sigma2)``
(CKS 2020, Theorem 4; Theorem 14 for several queries), and the rho of several releases add up. The
functions here turn rho into the better known (epsilon, delta) and back, by the optimal conversion
of the same paper (Corollary 13):

    delta = inf over alpha > 1 of
            exp((alpha - 1) (alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)**alpha

Every float that leaves this module is rounded the safe way: delta and epsilon never below, rho
never above the exact value of the formula, whatever the size of the numbers. Why that holds is
written at ``_Sum`` below; it does not depend on how well the infimum is found.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from ._parameters import exact_rational, positive, shown, whole_number
from .errors import ParameterTypeError, ParameterValueError

__all__ = ["gaussian_sigma2_for_rho", "zcdp_delta", "zcdp_epsilon", "zcdp_rho"]


def zcdp_delta(rho: object, epsilon: object) -> float:
    """Return the smallest delta at which rho-zCDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    rho : number
        The zCDP budget, at least 0; any number type of this package, taken exactly.
    epsilon : number
        At least 0.

    Returns
    -------
    float
        An upper bound on the delta of Corollary 13, and at most 1. What lies below the smallest
        positive float, 5e-324, comes back as 5e-324; only ``rho = 0`` gives 0.

    Raises
    ------
    TypeError, ValueError
        If rho or epsilon is not a number, is negative, infinite or NaN.

    References
    ----------
    C. L. Canonne, G. Kamath, T. Steinke: The Discrete Gaussian for Differential Privacy,
    NeurIPS 2020, arXiv 2004.00010, Corollary 13.

    Examples
    --------
    >>> 1.5e-06 < zcdp_delta("0.1", "2.1") < 1.6e-06
    True
    """
    rho_exact = _at_least_zero(rho, "rho")
    epsilon_exact = _at_least_zero(epsilon, "epsilon")
    if rho_exact == 0:
        return 0.0
    with decimal.localcontext(_CONTEXT):
        return _float_at_least(_delta_upper(rho_exact, epsilon_exact))


def zcdp_epsilon(rho: object, delta: object) -> float:
    """Return the smallest epsilon at which rho-zCDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    rho : number
        The zCDP budget, at least 0; any number type of this package, taken exactly.
    delta : number
        Between 0 and 1, both excluded.

    Returns
    -------
    float
        An upper bound on that epsilon, at least 0; ``inf`` if it exceeds every float.

    Raises
    ------
    TypeError, ValueError
        If rho or delta is not a number of its range.

    Examples
    --------
    >>> 2.1 < zcdp_epsilon("0.1", "1e-6") < 2.2
    True
    """
    rho_exact = _at_least_zero(rho, "rho")
    delta_exact = _probability(delta, "delta")
    if rho_exact == 0:
        return 0.0
    with decimal.localcontext(_CONTEXT):
        return _float_at_least(_epsilon_upper(rho_exact, delta_exact))


def zcdp_rho(epsilon: object, delta: object) -> float:
    """Return the largest rho at which rho-zCDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    epsilon : number
        At least 0; any number type of this package, taken exactly.
    delta : number
        Between 0 and 1, both excluded.

    Returns
    -------
    float
        A lower bound on that rho; 0 if it lies below every positive float, and never infinite.

    Raises
    ------
    TypeError, ValueError
        If epsilon or delta is not a number of its range.

    Examples
    --------
    >>> rho = zcdp_rho(1, "1e-6")
    >>> zcdp_epsilon(rho, "1e-6") < 1 + 1e-12
    True
    """
    epsilon_exact = _at_least_zero(epsilon, "epsilon")
    delta_exact = _probability(delta, "delta")
    with decimal.localcontext(_CONTEXT):
        return _float_at_most(_rho_lower(epsilon_exact, delta_exact))


def gaussian_sigma2_for_rho(rho: object, sensitivity: object = 1) -> Fraction:
    """Return the sigma2 that costs exactly rho: ``sensitivity**2 / (2 rho)``.

    Parameters
    ----------
    rho : number
        The zCDP budget, positive; any number type of this package, taken exactly.
    sensitivity : number
        The most that one person changes the query (its Euclidean norm, for several), positive.

    Returns
    -------
    Fraction
        sigma2, exact.

    Raises
    ------
    TypeError, ValueError
        If rho or sensitivity is not a positive number.

    References
    ----------
    arXiv 2004.00010, Theorem 4.

    Examples
    --------
    >>> gaussian_sigma2_for_rho("0.1")
    Fraction(5, 1)
    """
    return _gaussian_sigma2(rho=rho, sensitivity=sensitivity)


def _gaussian_sigma2(
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    queries: int = 1,
) -> Fraction:
    """Return the sigma2 for a budget: either rho, or epsilon with delta.

    From rho it is exact. From (epsilon, delta) it goes through the largest safe rho and is rounded
    up to _SIGMA2_DIGITS significant digits, never down, so the delta at sigma2 is at most delta.

    sensitivity is that of each query, and one person may change all of ``queries`` queries: the
    squared sensitivity of them together is ``queries * sensitivity**2`` (Theorem 14).

    The public calibrate_gaussian, which returns a law, will replace this.
    """
    squared = whole_number(queries, "queries", least=1) * _positive(sensitivity, "sensitivity") ** 2
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise ParameterTypeError("give either rho, or epsilon with delta, not both")
        return squared / (2 * _positive(rho, "rho"))
    if epsilon is None or delta is None:
        raise ParameterTypeError("give either rho, or epsilon with delta")
    epsilon_exact = _at_least_zero(epsilon, "epsilon")
    delta_exact = _probability(delta, "delta")
    with decimal.localcontext(_CONTEXT):
        rho_lower = Fraction(_rho_lower(epsilon_exact, delta_exact))
    if rho_lower == 0:
        raise ParameterValueError("epsilon and delta must leave a positive rho, they leave none")
    return round_up(squared / (2 * rho_lower), _SIGMA2_DIGITS)


_SIGMA2_DIGITS = 6
"""Digits of a sigma2 found from (epsilon, delta): the noise grows by less than 1 in 10**5."""


def round_up(value: Fraction, digits: int) -> Fraction:
    """Return the smallest decimal of so many significant digits that is at least value > 0."""
    exponent = _decimal_exponent(value) - digits + 1
    unit = Fraction(10) ** exponent
    return -(-value // unit) * unit


def _decimal_exponent(value: Fraction) -> int:
    """Return the largest e with 10**e <= value, for value > 0."""
    # log10 from the bit lengths is right up to one either way; the two loops settle that.
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    exponent = math.floor(bits * math.log10(2))
    while Fraction(10) ** exponent > value:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= value:
        exponent += 1
    return exponent


# --- parameters


def _at_least_zero(value: object, name: str) -> Fraction:
    exact = exact_rational(value, name)
    if exact < 0:
        raise ParameterValueError(f"{name} must not be negative, got {shown(exact)}")
    return exact


def _positive(value: object, name: str) -> Fraction:
    return positive(exact_rational(value, name), name)


def _probability(value: object, name: str) -> Fraction:
    exact = exact_rational(value, name)
    if not 0 < exact < 1:
        raise ParameterValueError(
            f"{name} must lie between 0 and 1, both excluded, got {shown(exact)}"
        )
    return exact


# --- Corollary 13
#
# Write s = alpha - 1 > 0 and L = -log(delta). As (1 - 1/alpha)**alpha / (alpha - 1) is
# s**s / (1 + s)**(1 + s), the logarithm of the corollary's expression is
#
#     f(s) = s ((1 + s) rho - epsilon) - s log1p(1/s) - log1p(s).
#
# For every s > 0, rho-zCDP implies (epsilon, exp(f(s)))-differential privacy. Solving
# f(s) = -L for epsilon or for rho gives, again for every s > 0, an epsilon that is enough
#
#     epsilon(s) = (1 + s) rho - log1p(1/s) + L/s - log1p(s)/s
#
# and a rho that is not too much
#
#     rho(s) = (epsilon + log1p(1/s)) / (1 + s) + log1p(s) / (s (1 + s)) - L / (s (1 + s)).
#
# Only tightness depends on the choice of s. f is strictly convex (f'' = 2 rho + 1/(s (1 + s))), so
# each of the three has a single turning point, found by bisection on the sign of a derivative:
#
#     f'(s) > 0           <=>  (2s + 1) rho > epsilon + log1p(1/s)
#     epsilon'(s) > 0     <=>  rho s**2 + log1p(s) > L
#     rho'(s) < 0         <=>  s**2 (epsilon + log1p(1/s)) > (2s + 1) (L - log1p(s))
#
# (the last one: rho(s) falls where f, taken at rho = rho(s), rises). Near the turning point the
# value is off by the square of the error in s: 15 digits of s give about 30 of the value.


def _delta_upper(rho: Fraction, epsilon: Fraction) -> Decimal:
    """Return an upper bound on the delta of Corollary 13, at most 1; rho > 0."""
    rho_, epsilon_ = _decimal(rho), _decimal(epsilon)
    s = _turning_point(
        lambda s: (2 * s + 1) * rho_ > epsilon_ + _log1p(1 / s), _reach(rho, epsilon)
    )
    # (1 + s) rho - epsilon may cancel; exact rationals take care of that.
    linear = _decimal((1 + Fraction(s)) * rho - epsilon)
    log_delta = _Sum(s * linear, -s * _log1p(1 / s), -_log1p(s)).upper()
    if log_delta >= 0:
        return Decimal(1)
    if log_delta < _LOG_SMALLEST_FLOAT:
        return _SMALLEST_FLOAT
    return log_delta.exp() * (1 + _MARGIN)


def _epsilon_upper(rho: Fraction, delta: Fraction) -> Decimal:
    """Return an upper bound on the epsilon of Corollary 13 for delta, at least 0; rho > 0."""
    rho_, big_l = _decimal(rho), _minus_log(delta)
    s = _turning_point(lambda s: rho_ * s * s + _log1p(s) > big_l, _reach(rho, delta))
    terms = _Sum((1 + s) * rho_, -_log1p(1 / s), big_l / s, -_log1p(s) / s)
    return max(Decimal(0), terms.upper())


def _rho_lower(epsilon: Fraction, delta: Fraction) -> Decimal:
    """Return a lower bound on the rho at which Corollary 13 gives delta, at least 0."""
    epsilon_, big_l = _decimal(epsilon), _minus_log(delta)
    s = _turning_point(
        lambda s: s * s * (epsilon_ + _log1p(1 / s)) > (2 * s + 1) * (big_l - _log1p(s)),
        _reach(epsilon, delta),
    )
    terms = _Sum(
        (epsilon_ + _log1p(1 / s)) / (1 + s),
        _log1p(s) / (s * (1 + s)),
        -big_l / (s * (1 + s)),
    )
    return max(Decimal(0), terms.lower())


# --- arithmetic: 80 decimal digits, exponents without practical end, no binary floats


_CONTEXT = decimal.Context(
    prec=80,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
    traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
)
_MARGIN = Decimal("1e-50")
_SMALL = Decimal("1e-18")
_SEARCH_PRECISION = Decimal("1e-16")
_SMALLEST_FLOAT = Decimal(math.ulp(0.0))
_LOG_SMALLEST_FLOAT = Decimal(-745)  # exp(-745) = 2.8e-324 lies below the smallest float, 4.9e-324


class _Sum:
    """A sum of computed terms and a bound on how far it can be from the sum of the exact terms.

    Each term is a product or quotient of a few factors: given rationals rounded to 80 digits, the
    chosen s (exact: it is whatever the bisection returned), their sums with terms of the same sign,
    and values of _log1p. decimal rounds each operation correctly, ln and exp too, so each operation
    adds a relative error of at most 1e-79; _log1p adds at most 2e-61. A term has less than 20
    operations, hence a relative error below 1e-59, and the additions of a few terms add less than
    1e-78 times the sum of their absolute values. The bound used is 1e-50 times that sum: a billion
    times what is needed, and still far below the last bit of a float.
    """

    def __init__(self, *terms: Decimal) -> None:
        self._value = sum(terms, Decimal(0))
        self._error = _MARGIN * sum((abs(term) for term in terms), Decimal(0))

    def upper(self) -> Decimal:
        return self._value + self._error

    def lower(self) -> Decimal:
        return self._value - self._error


def _log1p(x: Decimal) -> Decimal:
    """log(1 + x) for x > -1/2, with a relative error of at most 2e-61."""
    if abs(x) < _SMALL:
        # The first term left out is x**4 / 5 of the whole: below 1e-72.
        return x * (1 - x / 2 + x * x / 3 - x * x * x / 4)
    # Rounding 1 + x moves the logarithm by at most 1e-79, which itself is at least 0.9e-18.
    return (1 + x).ln()


def _minus_log(delta: Fraction) -> Decimal:
    """-log(delta) for 0 < delta < 1, with a relative error of at most 1e-60."""
    if delta > Fraction(1, 2):
        return -_log1p(_decimal(delta - 1))
    return -_decimal(delta).ln()


def _decimal(value: Fraction) -> Decimal:
    """Return the rational, correctly rounded to 80 digits."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def _reach(*values: Fraction) -> int:
    """Return a power of ten beyond every turning point that can matter.

    The turning points are, up to small factors, quotients, products and square roots of rho,
    epsilon, L and 1/delta, all within 10**(the bits of the inputs) of 1. Where one lies still
    further out (delta within 1e-50 of 1), the end of the range is as good, and always valid.
    """
    bits = sum(v.numerator.bit_length() + v.denominator.bit_length() for v in values)
    return 50 + bits


def _turning_point(beyond: Callable[[Decimal], bool], reach: int) -> Decimal:
    """Find where ``beyond`` turns true between 10**-reach and 10**reach, to about 16 digits."""
    low, high = Decimal(1).scaleb(-reach), Decimal(1).scaleb(reach)
    while high > low * (1 + _SEARCH_PRECISION):
        # The middle in logarithms; 20 digits are enough and keep exact rationals of s short.
        middle = _SHORT.sqrt(low * high)
        if beyond(middle):
            high = middle
        else:
            low = middle
    return low


_SHORT = decimal.Context(prec=20, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


def _float_at_least(value: Decimal) -> float:
    """Return the smallest float that is at least value >= 0; inf above the largest finite."""
    nearest = float(value)
    return math.nextafter(nearest, math.inf) if Decimal(nearest) < value else nearest


def _float_at_most(value: Decimal) -> float:
    """Return the largest finite float that is at most value >= 0."""
    nearest = float(value)
    return math.nextafter(nearest, 0.0) if Decimal(nearest) > value else nearest
