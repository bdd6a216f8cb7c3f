"""The laws for Google's dp-accounting, which composes them: an optional dependency."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from .._inputs.messages import refused
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import positive_number, whole_sensitivity
from .._law import Kind
from ..errors import ParameterOverflowError
from ..laws import Law, centred
from .loss_distribution import loss
from .zcdp import rho_of_law

_EXTRA = "this needs dp-accounting: pip install dp-accounting"

_MOST_MULTIPLES = 2**32


def pld(
    law: Law,
    sensitivity: object = 1,
    *,
    value_discretization_interval: object = 1e-4,
    log_mass_truncation_bound: float = -50,
) -> Any:
    """Return the noise as a PrivacyLossDistribution of dp-accounting, pessimistic.

    Parameters
    ----------
    law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
        The noise, added to an integer; its mu must be an integer.
    sensitivity : number
        The most that one person changes the answer; a whole number.
    value_discretization_interval : number, optional
        The distance of neighbouring losses, positive. The float nearest to it is what dp-accounting
        is given, and what is computed with.
    log_mass_truncation_bound : float, optional
        Losses above a range count as infinite; the logarithm of their probability is at most this,
        and about this down to some -70, below which it does not fall. At most -1.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        For both adjacencies, a person added or removed; to be composed there.

    Raises
    ------
    ImportError
        If dp-accounting is not installed.
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    Guarantee: every probability, the infinite loss's too, is rounded up from a proven enclosure.

    Not promised: what dp-accounting then computes in floats and by Fourier transforms, with
    relative errors of about 1e-15 in what is here, and absolute ones of about 1e-15 in
    compositions.

    It is the `loss` in buckets of that width, of which there may be 2**32.

    Examples
    --------
    >>> import discretegauss as dg
    >>> try:
    ...     distribution = dg.privacy.pld(dg.DiscreteGaussian(100)).self_compose(10)
    ... except ImportError:
    ...     pass
    """
    interval = _as_float(value_discretization_interval, "value_discretization_interval")
    bound = exact_rational(log_mass_truncation_bound, "log_mass_truncation_bound")
    if bound > -1:
        raise refused("log_mass_truncation_bound", "be at most -1", bound)
    found = loss(law, sensitivity, width=Fraction(interval), most=_MOST_MULTIPLES)
    return found._for_dp_accounting(math.exp(max(bound, Fraction(-700))))


def dp_event(law: Law, sensitivity: object = 1) -> Any:
    """Return the noise as a DpEvent of dp-accounting.

    Parameters
    ----------
    law : DiscreteGaussian or DiscreteLaplace
        The noise, added to an integer; its mu must be an integer.
    sensitivity : number
        The most that one person changes the answer, as for `rho`.

    Returns
    -------
    dp_accounting.dp_event.ZCDpEvent or DiscreteLaplaceDpEvent
        The discrete Gaussian as what is proven of it, rho-zCDP (for the RDP accountant): a
        GaussianDpEvent would stand for continuous noise, whose delta is sometimes smaller. The
        discrete Laplace as itself. Parameters are rounded up, to more privacy lost.

    Raises
    ------
    ImportError
        If dp-accounting is not installed.
    TypeError, ValueError, OverflowError
        If a parameter is wrong, or the law is a generalised Gaussian.

    Examples
    --------
    >>> import discretegauss as dg
    >>> try:
    ...     event = dg.privacy.dp_event(dg.DiscreteGaussian(100))
    ... except ImportError:
    ...     pass
    """
    try:
        from dp_accounting import dp_event as events
    except ImportError as error:
        raise ImportError(_EXTRA) from error
    spec = centred(law)
    if spec.kind is Kind.DISCRETE_LAPLACE:
        parameter = _float_above(1 / gmpy2.mpq(spec.parameter))
        return events.DiscreteLaplaceDpEvent(parameter, whole_sensitivity(sensitivity))
    return events.ZCDpEvent(rho=_float_above(rho_of_law(spec, sensitivity)), xi=0.0)


def _float_above(value: Any) -> float:
    """Return the smallest float that is at least the rational."""
    return float_at_least(arithmetic(64).rational(value).upper)


def _as_float(value: object, name: str) -> float:
    """Return the float nearest to a positive number; it must be positive and finite."""
    exact = positive_number(value, name)
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = math.inf
    if not 0 < nearest < math.inf:
        raise refused(name, "be within the range of positive floats", value, ParameterOverflowError)
    return nearest
