"""Noises compared: at the same rho, and for the same (epsilon, delta) over k queries."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from .._certified.floats import float_value
from .._certified.interval import Interval, arithmetic
from .._certified.moments import variance
from .._inputs.budget import Budget
from .._inputs.privacy_arguments import at_least_zero, checked_probability, query_count
from ..errors import ParameterOverflowError
from ..laws import DiscreteGaussian, DiscreteLaplace, Law, centred_simplest
from ..privacy import rho as rho_of
from ..privacy import zcdp_rho
from ..privacy.calibration import law_of_budget
from .gaussians import (
    checked_point,
    continuous_gaussian_sf,
    rounded_gaussian_sf,
    rounded_gaussian_variance,
)


class NoiseComparison(NamedTuple):
    """Noises that each cost at most rho in zCDP, for an answer that one person changes by 1."""

    rho: Fraction
    """1/(2 sigma2)."""
    gaussian: DiscreteGaussian
    laplace: DiscreteLaplace
    """The one of least scale, to six digits."""

    def variances(self) -> dict[str, float]:
        """Return the variance of each noise, by name."""
        return {
            "discrete Gaussian": self.gaussian.var(),
            "continuous Gaussian": float_value(
                lambda bits: arithmetic(bits).rational(self.gaussian.sigma2)
            ),
            "rounded Gaussian": rounded_gaussian_variance(self.gaussian.sigma2),
            "discrete Laplace": self.laplace.var(),
        }

    def tails(self, k: object) -> dict[str, float]:
        """Return P(noise >= k) of each noise, by name, and the bound for the discrete Gaussian.

        Parameters
        ----------
        k : number
            Any finite number; any number type of this package, taken exactly. For integer noise a
            k between two integers means the upper one.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If k is not a finite number, or is beyond 2**4000 or nearer to 0 than 2**-4000.
        """
        sigma2, exact = self.gaussian.sigma2, checked_point(k, "k")
        before = math.ceil(exact) - 1  # an integer is at least k if it is above this one
        return {
            "discrete Gaussian": self.gaussian.sf(before),
            "its bound": self.gaussian.tail_bound(exact),
            "continuous Gaussian": continuous_gaussian_sf(sigma2, exact),
            "rounded Gaussian": rounded_gaussian_sf(sigma2, before),
            "discrete Laplace": self.laplace.sf(before),
        }


def compare_noise(sigma2: object) -> NoiseComparison:
    """Compare the discrete Gaussian with other noises that cost the same rho.

    Parameters
    ----------
    sigma2 : number
        The parameter of the discrete Gaussian, positive. It is also the variance of the continuous
        Gaussian, which costs the same rho; rounding that one costs no more.

    Returns
    -------
    NoiseComparison
        It has rho, both discrete laws, ``variances()`` and ``tails(k)``.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If sigma2 is not a positive number, or is beyond 2**4000 or nearer to 0 than 2**-4000.

    Notes
    -----
    rho is the right measure for many releases together. For few, and with (epsilon, delta), the
    Laplace may need less noise: see `compare_queries`.

    References
    ----------
    arXiv 2004.00010, Proposition 21 (variance) and Proposition 25 (tails).

    Examples
    --------
    >>> import discretegauss as dg
    >>> noise = dg.utility.compare_noise(1)
    >>> noise.rho
    Fraction(1, 2)
    >>> {name: round(variance, 3) for name, variance in noise.variances().items()}
    {'discrete Gaussian': 1.0, 'continuous Gaussian': 1.0, 'rounded Gaussian': 1.083,
     'discrete Laplace': 1.678}
    """
    gaussian = DiscreteGaussian(sigma2)
    rho = rho_of(gaussian)
    return NoiseComparison(rho, gaussian, law_of_budget(DiscreteLaplace, Budget(rho=rho)))


class QueriesComparison(NamedTuple):
    """Noises for k answers, of sensitivity 1 each, that are (epsilon, delta)-private together."""

    epsilon: Fraction
    delta: Fraction
    queries: int
    gaussian_by_zcdp: DiscreteGaussian
    """The one of least sigma2 by rho and the optimal conversion (Corollary 13)."""
    gaussian_tight: DiscreteGaussian
    """The one of least sigma2 by the tight delta of k queries (Theorem 7)."""
    laplace: DiscreteLaplace
    """The one of least scale by the optimal composition, which is exact for it."""

    def ratio_by_zcdp(self) -> float:
        """Return the Laplace's variance over that of the Gaussian by zCDP.

        Raises
        ------
        OverflowError
            If epsilon is beyond about 2**29 for each query, so variances are below exp(-2**29).
        """
        return _ratio(self.laplace, self.gaussian_by_zcdp)

    def ratio_tight(self) -> float:
        """Return the Laplace's variance over that of the Gaussian, both by tight composition.

        Raises
        ------
        OverflowError
            As `ratio_by_zcdp`.
        """
        return _ratio(self.laplace, self.gaussian_tight)


def _ratio(one: Law, other: Law) -> float:
    """Return the quotient of the variances, even if floats do not hold them."""
    one_spec, other_spec = centred_simplest(one), centred_simplest(other)

    def enclosure(bits: int) -> Interval:
        return arithmetic(bits + 10).div(variance(one_spec, bits), variance(other_spec, bits))

    try:
        return float_value(enclosure)
    except ArithmeticError as error:
        raise ParameterOverflowError(
            "epsilon must be below about 2**29 for each query, or variances are below exp(-2**29)"
        ) from error


def compare_queries(*, epsilon: object, delta: object, queries: int) -> QueriesComparison:
    """Compare the noise that k queries need, Gaussian and Laplace, for the same (epsilon, delta).

    Parameters
    ----------
    epsilon : number
        At least 0; any number type of this package, taken exactly.
    delta : number
        Between 0 and 1, both excluded.
    queries : int
        The number k of answers, below 2**64; one person may change each by 1.

    Returns
    -------
    QueriesComparison
        It has the three laws, ``ratio_by_zcdp()`` and ``ratio_tight()``.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    The Laplace's scale comes from the composition theorem of Kairouz, Oh and Viswanath, which is
    tight for all mechanisms with a pure epsilon and, at sensitivity 1, exact for the discrete
    Laplace. It is compared with two Gaussians. One comes from the zCDP conversion, as in the paper,
    which is not tight and so favours the Laplace; the other comes from the tight composition.

    References
    ----------
    arXiv 2004.00010, Theorem 7 and Corollary 13; arXiv 1311.0776, Theorem 3.3.

    Examples
    --------
    >>> import discretegauss as dg
    >>> noise = dg.utility.compare_queries(epsilon=1, delta="1e-6", queries=100)
    >>> f"{noise.ratio_by_zcdp():.3f} {noise.ratio_tight():.3f}"
    '1.690 1.944'
    """
    epsilon_exact, delta_exact = (
        at_least_zero(epsilon, "epsilon"),
        checked_probability(delta, "delta"),
    )
    k = query_count(queries)
    by_rho = Budget(rho=zcdp_rho(epsilon_exact, delta_exact))
    budget = Budget(epsilon=epsilon_exact, delta=delta_exact)
    return QueriesComparison(
        epsilon_exact,
        delta_exact,
        k,
        law_of_budget(DiscreteGaussian, by_rho, queries=k),
        law_of_budget(DiscreteGaussian, budget, queries=k),
        law_of_budget(DiscreteLaplace, budget, queries=k),
    )
