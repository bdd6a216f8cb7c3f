"""From a budget to noise: the discrete Gaussian that keeps to rho, or to (epsilon, delta)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import gmpy2

from .._spec import Kind, Spec
from ..errors import ParameterOverflowError, ParameterTypeError
from ..laws import DiscreteGaussian
from ._checks import at_least_zero, positive_number, probability, query_count, whole_sensitivity
from ._inverse import delta_is_at_most, log_delta_about
from ._queries import as_one_query
from ._search import decimal_at, decimal_ordinal, least
from ._turning import increasing_root, searching
from .zcdp import UP, log_delta_upper, minus_log_upper, rho_lower

__all__ = ["calibrate_gaussian", "gaussian_sigma2_for_rho"]

_MOST_SIGMA2_BITS = 4000
"""Beyond this delta is no longer computed tightly (_hockey_stick.py)."""


def calibrate_gaussian(
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    queries: int = 1,
) -> DiscreteGaussian:
    """Return the discrete Gaussian noise for a budget: rho, or epsilon with delta.

    Parameters
    ----------
    rho : number, optional
        The zCDP budget, positive.
    epsilon, delta : number, optional
        The (epsilon, delta) budget: epsilon at least 0, delta strictly between 0 and 1.
    sensitivity : number
        The most that one person changes the answer; with epsilon and delta a whole number, with
        rho any positive one (the Euclidean norm of the change of several answers, say).
    queries : int, optional
        One person may change so many answers, each by at most ``sensitivity``, each with noise of
        its own from the law returned.

    Returns
    -------
    DiscreteGaussian
        With an exact rational sigma2, and mu = 0.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong, or the budget is neither of the two.

    Notes
    -----
    From rho: ``sigma2 = queries * sensitivity**2 / (2 rho)``, exactly (CKS 2020, Theorem 14).

    From (epsilon, delta), by the least delta there is (`delta`), not by way of zCDP. Guaranteed:

    - sigma2 is a decimal of at most 6 significant digits, and the noise is proven to have
      (epsilon, delta);
    - with the next smaller decimal of 6 digits it is not (for queries > 1: not by `delta`).

    While epsilon is below about sensitivity/2, delta falls as sigma2 grows, in every case computed,
    and so sigma2 is the least one, to within 1 in 10**5. For larger epsilon delta does not always
    fall: by Theorem 7 only integers beyond a threshold count, and as sigma2 grows delta rises a
    little before the next integer drops out. Then delta may cross the target several times, within
    a few such steps, and sigma2 is one of these crossings.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.privacy.calibrate_gaussian(rho="0.1").sigma2
    Fraction(5, 1)
    >>> law = dg.privacy.calibrate_gaussian(epsilon=1, delta="1e-6", queries=100)
    >>> dg.privacy.delta(law, 1, queries=100) <= 1e-6
    True
    """
    count = query_count(queries)
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise ParameterTypeError("give either rho, or epsilon with delta, not both")
        squared = count * positive_number(sensitivity, "sensitivity") ** 2
        return DiscreteGaussian(squared / (2 * positive_number(rho, "rho")))
    if epsilon is None or delta is None:
        raise ParameterTypeError("give either rho, or epsilon with delta")
    change = whole_sensitivity(sensitivity)
    target = _Target(at_least_zero(epsilon, "epsilon"), probability(delta, "delta"), change, count)
    return DiscreteGaussian(target.least_sigma2())


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
    squared = positive_number(sensitivity, "sensitivity") ** 2
    return squared / (2 * positive_number(rho, "rho"))


class _Target(NamedTuple):
    """(epsilon, delta) for so many queries, each changed by at most ``change``."""

    epsilon: Fraction
    delta: Fraction
    change: int
    queries: int

    def least_sigma2(self) -> Fraction:
        """Return a decimal of 6 digits that is enough, the one before it being too small."""
        guess = decimal_ordinal(self.guess())
        return decimal_at(least(lambda n: self.met_by(decimal_at(n)), guess))

    def met_by(self, sigma2: Fraction) -> bool:
        """Return whether that is proven, as `delta` does it."""
        query = as_one_query(Spec(Kind.DISCRETE_GAUSSIAN, sigma2), self.change, self.queries)
        epsilon, delta = gmpy2.mpq(self.epsilon), gmpy2.mpq(self.delta)
        if query.is_loose and UP.exp(log_delta_upper(query.rho, self.epsilon)) <= delta:
            return True
        if query.factor is None:
            return False
        return delta_is_at_most(query.spec, epsilon, query.change, delta / query.factor)

    def guess(self) -> Fraction:
        """Return about the sigma2 looked for, to seven digits or so.

        Newton's method for log(sigma2), with the slope of the continuous Gaussian's delta: with a =
        epsilon sigma/D - D/(2 sigma),

            d delta / d log(sigma2) = -D/(2 sigma) exp(-a**2/2)/sqrt(2 pi)

        (sigma and D of the single query that stands for all).
        """
        goal, epsilon = minus_log_upper(self.delta), gmpy2.mpq(self.epsilon)
        change = self.queries * self.change

        def balance(u: Any) -> tuple[Any, Any]:
            sigma2 = gmpy2.mpq(gmpy2.exp(u))
            spec = Spec(Kind.DISCRETE_GAUSSIAN, _fraction(sigma2))
            log_delta, _ = log_delta_about(spec, epsilon, change)
            ratio = change / gmpy2.sqrt(gmpy2.mpfr(sigma2))
            a = epsilon / ratio - ratio / 2
            slope = ratio * gmpy2.exp(-a * a / 2 - log_delta) / gmpy2.sqrt(8 * gmpy2.const_pi())
            return gmpy2.log(-log_delta / goal), slope / -log_delta

        # What is enough by way of zCDP is a little too large.
        rho = rho_lower(self.epsilon, self.delta)
        enough = (
            change**2 / (2 * self.queries * gmpy2.mpq(rho))
            if rho > 0
            else (change / self.delta) ** 2
        )
        if enough * self.queries > change**2 << _MOST_SIGMA2_BITS:
            raise ParameterOverflowError(
                "epsilon and delta must leave noise of a standard deviation below "
                f"2**{_MOST_SIGMA2_BITS // 2} times the sensitivity"
            )
        with searching():
            start = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(enough) * self.queries))
            sigma2 = gmpy2.mpq(gmpy2.exp(increasing_root(balance, start, close=1e-8)))
        return _fraction(sigma2 / self.queries)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))
