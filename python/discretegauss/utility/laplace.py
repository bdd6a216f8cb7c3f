"""The discrete Laplace as the rival of the discrete Gaussian: its cost for k queries, and back.

Everything here is for queries that one person changes by at most 1 each.
"""

from __future__ import annotations

from fractions import Fraction

import gmpy2

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from .._certified.search import decimal_at, decimal_ordinal, first_true
from .._inputs.messages import describe
from .._inputs.privacy_arguments import (
    at_least_zero,
    checked_probability,
    positive_number,
    query_count,
)
from .._law import Kind
from ..errors import ParameterOverflowError, ParameterTypeError
from ..laws import DiscreteLaplace, centred
from ..privacy.budget import rho as rho_of
from ._optimal_composition import laplace_delta_upper, laplace_scale_upper, require_few

__all__ = ["calibrate_laplace", "laplace_delta"]

_MOST_RHO_BITS = 4002


def laplace_delta(law: DiscreteLaplace, epsilon: object, *, queries: int = 1) -> float:
    """Return the least delta of discrete Laplace noise on k answers, each changed by at most 1.

    Parameters
    ----------
    law : DiscreteLaplace
        The noise of each answer; its mu must be an integer.
    epsilon : number
        At least 0; any number type of this package, taken exactly.
    queries : int, optional
        k: one person may change so many answers, at most 100 000.

    Returns
    -------
    float
        An upper bound, the next float or the one after; 0 where no loss exceeds epsilon, which is
        from ``queries / scale`` on.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    The optimal composition of mechanisms with a pure epsilon. It is a bound for all of them, and
    for the discrete Laplace, which at sensitivity 1 is randomised response, the exact value.

    References
    ----------
    P. Kairouz, S. Oh, P. Viswanath: The Composition Theorem for Differential Privacy, ICML 2015,
    arXiv 1311.0776, Theorem 3.3.

    Examples
    --------
    >>> import discretegauss as dg
    >>> law = dg.DiscreteLaplace(42)
    >>> dg.utility.laplace_delta(law, 1, queries=100) < 1e-6
    True
    >>> dg.utility.laplace_delta(law, "100/42", queries=100)
    0.0
    """
    count = query_count(queries)
    require_few(count)
    delta = laplace_delta_upper(_scale(law), at_least_zero(epsilon, "epsilon"), count)
    return float_at_least(delta)


def _scale(law: object) -> Fraction:
    spec = centred(law)
    if spec.kind is not Kind.DISCRETE_LAPLACE:
        raise ParameterTypeError(f"law must be a DiscreteLaplace, got {type(law).__name__}")
    return spec.parameter


def calibrate_laplace(
    *,
    rho: object | None = None,
    epsilon: object | None = None,
    delta: object | None = None,
    queries: int = 1,
) -> DiscreteLaplace:
    """Return the discrete Laplace noise that a budget asks for, on answers that change by 1.

    Parameters
    ----------
    rho : number, optional
        A zCDP budget, positive, for all queries together.
    epsilon, delta : number, optional
        Instead of rho: epsilon at least 0, delta between 0 and 1, both excluded.
    queries : int, optional
        One person may change so many answers, each by at most 1 (with epsilon at most 100 000).

    Returns
    -------
    DiscreteLaplace
        Its scale is a decimal of at most six digits, rounded up: it keeps to the budget, proven,
        and with the decimal before it that is not proven.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    By `discretegauss.privacy.rho`, or by `laplace_delta`.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.utility.calibrate_laplace(epsilon=1, delta="1e-6", queries=100)
    DiscreteLaplace(scale='16659/400')
    >>> law = dg.utility.calibrate_laplace(rho="1/2")
    >>> 0.4999 < dg.privacy.rho(law) <= 0.5
    True
    """
    count = query_count(queries)
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise ParameterTypeError("give either rho, or epsilon with delta, not both")
        return DiscreteLaplace(_scale_for_rho(positive_number(rho, "rho") / count))
    if epsilon is None or delta is None:
        raise ParameterTypeError("give either rho, or epsilon with delta")
    require_few(count)
    return DiscreteLaplace(
        laplace_scale_upper(
            at_least_zero(epsilon, "epsilon"), checked_probability(delta, "delta"), count
        )
    )


def _scale_for_rho(rho: Fraction) -> Fraction:
    """Return the least decimal scale that costs at most rho, for one query: rho falls with it."""
    bits = abs(rho.numerator.bit_length() - rho.denominator.bit_length())
    if bits > _MOST_RHO_BITS:
        raise ParameterOverflowError(
            f"rho must be between 2**-{_MOST_RHO_BITS} and 2**{_MOST_RHO_BITS} for each query, "
            f"got {describe(rho)}"
        )
    # rho is eps0 tanh(eps0/2), below both eps0 and eps0**2/2 and near the lesser of the two.
    exact = gmpy2.mpq(rho)
    eps0 = max(exact, gmpy2.mpq(arithmetic(64).up.sqrt(2 * exact)))
    guess = decimal_ordinal(Fraction(int(eps0.denominator), int(eps0.numerator)))
    return decimal_at(first_true(lambda n: rho_of(DiscreteLaplace(decimal_at(n))) <= rho, guess))
