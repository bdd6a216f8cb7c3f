"""The laws for Google's dp-accounting, which composes them: an optional dependency.

dp-accounting's privacy loss distributions live on multiples of an interval h. Between two of them,
e = j h and e + h, the pessimistic connect-the-dots rule (Doroshenko et al., arXiv 2207.04380) puts
a mass with losses in (e, e + h] on both, so that delta is exact at the multiples and, as a function
of exp(epsilon), a straight line between. If p is that mass of the noise, and q that of the noise of
the neighbour (the sum of exp(-loss) over p), then

    e + h gets (p - exp(e) q)/(1 - exp(-h))    and    e gets (exp(e + h) q - p)/(exp(h) - 1).

dp-accounting gets them from differences of deltas, in floats; here they come from tails, enclosed,
and are rounded up. Losses below the range count as a multiple in it, losses above it as infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import gmpy2

from .._certified.families import family_of
from .._certified.family import RationalFamily
from .._certified.floats import float_at_least
from .._certified.interval import ZERO, Interval, arithmetic
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational
from .._inputs.privacy_arguments import positive_number, whole_sensitivity
from .._law import LawSpec
from ..errors import ParameterOverflowError, ParameterValueError
from ..laws import Law, centred
from ._facts_by_law import privacy_facts_of
from ._loss_masses import MOST_INTEGERS, loss_masses
from ._privacy_loss import loss_exceeds_from, phi_near, tail_weight, total_weight
from .losses import loss

_CHEAPER_THAN_TAILS = 256
"""So many integers are summed one by one; two tails cost as much, unless they are all alike."""

_EXTRA = "this needs dp-accounting: pip install dp-accounting"


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
        The noise, added to an integer; its mu must be an integer. With a Skellam law, and a beta
        other than 1 and 2, it is made by `loss`.
    sensitivity : number
        The most that one person changes the answer; a whole number.
    value_discretization_interval : number, optional
        The distance of neighbouring losses, positive. The float nearest to it is what dp-accounting
        is given, and what is computed with.
    log_mass_truncation_bound : float, optional
        Losses above a range count as infinite; their probability has about this logarithm. At most
        -1. With a beta other than 1 and 2 it is never above exp(-72).

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution
        For both directions of adding or removing a person; to be composed there.

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

    Time: 1 ms and about 1 us for each integer in the range, if they are fewer than 2**18. Else for
    each multiple of the interval below 0.1 ms; about 1 ms where more than 256 integers lie between
    two.

    Examples
    --------
    >>> import discretegauss as dg
    >>> try:
    ...     distribution = dg.privacy.pld(dg.DiscreteGaussian(100)).self_compose(10)
    ... except ImportError:
    ...     pass
    """
    try:
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    except ImportError as error:
        raise ImportError(_EXTRA) from error
    spec, change = centred(law), whole_sensitivity(sensitivity)
    interval = _as_float(value_discretization_interval, "value_discretization_interval")
    bound = exact_rational(log_mass_truncation_bound, "log_mass_truncation_bound")
    if bound > -1:
        raise ParameterValueError(
            f"log_mass_truncation_bound must be at most -1, got {describe(bound)}"
        )
    if not isinstance(family_of(spec), RationalFamily):
        return loss(law, change, width=Fraction(interval)).to_dp_accounting()
    lattice = _Lattice(spec, change)
    probabilities, infinite = _probabilities(
        lattice, gmpy2.mpq(Fraction(interval)), gmpy2.mpq(-bound)
    )
    pmf = pld_pmf.create_pmf(probabilities, interval, infinite, pessimistic_estimate=True)
    return privacy_loss_distribution.PrivacyLossDistribution(pmf)


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
    return privacy_facts_of(spec).dp_event(events, spec, sensitivity)


def _as_float(value: object, name: str) -> float:
    """Return the float nearest to a positive number; it must be positive and finite."""
    exact = positive_number(value, name)
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = math.inf
    if not 0 < nearest < math.inf:
        raise ParameterOverflowError(
            f"{name} must be within the range of positive floats, got {describe(value)}"
        )
    return nearest


class _Lattice:
    """Probabilities of ranges of integers, of the noise and of the noise moved by ``change``."""

    def __init__(self, spec: LawSpec, change: int) -> None:
        self.spec, self.change = spec, change
        self.bits = 140 + privacy_facts_of(spec).cancelling_bits(spec, 1)
        self.at = arithmetic(self.bits)
        self._tails: dict[int, Interval] = {}
        self._family = family_of(spec)
        self._few = 0 if self._family.constant_tail_ratio else _CHEAPER_THAN_TAILS

    def tail(self, m: int) -> Interval:
        """Return P(X >= m), m >= 0."""
        if m not in self._tails:
            at = self.at
            scale = at.exp(at.rational(-phi_near(self.spec, m)))
            weight = at.mul(scale, tail_weight(self.spec, m, self.bits))
            self._tails[m] = at.div(weight, total_weight(self.spec, self.bits))
        return self._tails[m]

    def mass(self, x: int | None, y: int | None) -> Interval:
        """Return P(x <= X < y), x < y; None for no limit. Tails are taken on the side of x or y."""
        zero, at = self.at.rational(0), self.at
        if x is not None and y is not None and y - x <= self._few:
            return self._one_by_one(x, y)
        if x is not None and x > 0:
            return at.sub(self.tail(x), zero if y is None else self.tail(y))
        if y is not None and y <= 0:
            return self.mass(1 - y, None if x is None else 1 - x)
        outside = at.add(
            zero if x is None else self.tail(1 - x), zero if y is None else self.tail(y)
        )
        return at.sub(at.rational(1), outside)

    def _one_by_one(self, x: int, y: int) -> Interval:
        """Return `mass` as a sum of weights, from y - 1 down; 16 bits at most are lost."""
        at, down, up = self.at, self.at.down, self.at.up
        low, high = at.exp(at.rational(-phi_near(self.spec, y - 1)))
        sum_low, sum_high = low, high
        ratios = self._family.neighbour_ratios(self.spec, y - 2, self.bits)
        for ratio in islice(ratios, y - 1 - x):
            low, high = down.div(low, ratio.upper), up.div(high, ratio.lower)
            sum_low, sum_high = down.add(sum_low, low), up.add(sum_high, high)
        return at.div(Interval(sum_low, sum_high), total_weight(self.spec, self.bits))

    def masses(self, x: int | None, y: int | None) -> tuple[Interval, Interval]:
        """Return the mass from x to y of the noise, and of the noise moved."""
        moved = (None if z is None else z + self.change for z in (x, y))
        return self.mass(x, y), self.mass(*moved)

    def loss(self, x: int) -> Any:
        """Return the privacy loss at x."""
        return phi_near(self.spec, x + self.change) - phi_near(self.spec, x)

    def cells(self, interval: Any, depth: Any) -> Iterator[tuple[int, int | None, int | None]]:
        """Yield j, x and y: the losses of x..y-1 are above j interval, and at most the next.

        They cover all integers if there is a largest loss. Else a range beyond which lies a
        probability of about exp(-depth) on either side.
        """
        x: int | None = None
        stop: int | None = None
        pure: Any = self._family.pure_epsilon(self.spec, self.change)
        if pure is None:
            reach = self._family.distance_of(self.spec, self.at.rational(depth), self.at)
            stop = int(gmpy2.mpq(reach.upper) // 1) + 1
            x = -stop
        while True:
            loss = -pure if x is None else self.loss(x)
            j = int(-(-loss // interval)) - 1
            following = loss_exceeds_from(self.spec, (j + 1) * interval, self.change)
            y = None if following is None else following[0]
            if y is None or (stop is not None and y >= stop):
                yield j, x, stop
                return
            yield j, x, y
            x = y


def _probabilities(lattice: _Lattice, interval: Any, depth: Any) -> tuple[dict[int, float], float]:
    """Return the probability of each multiple of the interval, and of an infinite loss."""
    return _by_integers(lattice, interval, depth) or _by_cells(lattice, interval, depth)


def _by_integers(
    lattice: _Lattice, interval: Any, depth: Any
) -> tuple[dict[int, float], float] | None:
    """Return `_probabilities` from arrays, if there are not too many integers."""
    family, at = family_of(lattice.spec), lattice.at
    if family.pure_epsilon(lattice.spec, lattice.change) is not None:  # no loss is larger
        return None
    reach = family.distance_of(lattice.spec, at.rational(depth), at).upper
    if reach > MOST_INTEGERS:
        return None
    stop = int(gmpy2.mpq(reach) // 1) + 1
    masses = loss_masses(
        lattice.spec, lattice.change, float(interval), stop, lattice.mass(None, -stop)
    )
    if masses is None:
        return None
    return masses, float_at_least(lattice.mass(stop, None).upper)


def _by_cells(lattice: _Lattice, interval: Any, depth: Any) -> tuple[dict[int, float], float]:
    """Return `_probabilities` from the tails at the ends of what lies between two multiples."""
    at, zero = lattice.at, ZERO
    step = at.rational(interval)
    to_upper, to_lower = at.neg(at.expm1(at.neg(step))), at.expm1(step)
    found: dict[int, Any] = {}

    def put(j: int, mass: Interval) -> None:
        found[j] = at.up.add(found.get(j, zero), max(mass.upper, zero))

    y: int | None = None
    for j, x, y in lattice.cells(interval, depth):
        if not found and x is not None:
            put(j + 1, lattice.mass(None, x))
        p, q = lattice.masses(x, y)
        e, following = at.exp(at.rational(j * interval)), at.exp(at.rational((j + 1) * interval))
        put(j + 1, at.div(at.sub(p, at.mul(e, q)), to_upper))
        put(j, at.div(at.sub(at.mul(following, q), p), to_lower))
    infinite = 0.0 if y is None else float_at_least(lattice.mass(y, None).upper)
    return {j: float_at_least(mass) for j, mass in sorted(found.items())}, infinite
