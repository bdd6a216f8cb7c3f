"""Conversion of laws for Google's dp-accounting, an optional dependency that composes them."""

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
from ..laws import Law, centred_simplest
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
        The largest change of the answer by one person, a whole number.
    value_discretization_interval : number, optional
        The distance of neighbouring losses, positive. The nearest float is used, and given to
        dp-accounting.
    log_mass_truncation_bound : float, optional
        At most -1. Losses above a range count as infinite. The logarithm of their probability is
        at most this. It is close to this down to about -70, and does not fall further.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        For both adjacencies, a person added and a person removed. dp-accounting composes it.

    Raises
    ------
    ImportError
        If dp-accounting is not installed.
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    Guarantee: every probability, including that of an infinite loss, is rounded up from a proven
    enclosure.

    Not promised: the further computation of dp-accounting in floats and Fourier transforms. Its
    relative errors are about 1e-15 for this object, its absolute errors in compositions about
    1e-15.

    The result is the `loss` in buckets of that width, of which there may be 2**32.

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
        The largest change of the answer by one person, as for `rho`.

    Returns
    -------
    dp_accounting.dp_event.ZCDpEvent or DiscreteLaplaceDpEvent
        A discrete Gaussian becomes rho-zCDP, which is proven of it, for the RDP accountant. A
        GaussianDpEvent would mean continuous noise, whose delta is sometimes smaller. A discrete
        Laplace law becomes itself. Parameters are rounded up, to more privacy lost.

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
    spec = centred_simplest(law)
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
