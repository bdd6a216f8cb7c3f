"""The cost of vectors and of noise in shares, on all clients or on a sample of them.

In each round n shares of noise, at the fewest, are in the sum. With probability q one person's
vector v is in it, too, else zeros; a coin that nobody sees decides. The noise is there in both
cases. docs/sampled_clients.md proves the theorems; in short:

*Theorem 1.* `SampledCurve`: the noise is symmetric, and R_k bounds its Renyi divergences of whole
orders k. Then one round's divergence D_a of whole order a is, in both directions, at most

    exp((a - 1) D_a) = sum over k of binomial(a, k) (1 - q)**(a - k) q**k exp((k - 1) R_k),      (1)

and (a - 1) D_a is convex in a, so straight lines between whole orders are bounds.

*Theorem 2.* `Moved`: S = n s, s >= 1/4 or n = 1, is the sigma2 of all shares together, D the norm,
k = min(d, D**2) the most coordinates that change, b > 0 any number, and

    kappa = D**2 b/(2 S**2) + k tau,    A = 1 + q (exp(kappa) - 1),    q' = q exp(kappa)/A,
    log m = k (log(1 + eta) + tau/2),   eta = 2 sum of exp(-2 pi**2 j**2 S b/(S + b)), j >= 1.

R rounds have (epsilon, delta) with

    delta = m**R exp(R kappa) delta_G(epsilon - R log(A)),                                       (2)

delta_G that of R rounds of continuous Gaussian noise of variance S**2/(S + b), sampled with q'. For
one number (2) holds without b and eta, with one discrete Gaussian of sigma2 = S in its place.

*One number.* The loss is that of the sum's own law (_noise_of_sum.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.euler_maclaurin import log_of
from .._certified.floats import float_at_least
from .._certified.interval import ZERO, Interval, arithmetic, fraction_of
from .._law import Kind, LawSpec
from ._noise_of_sum import noise_of_sum
from ._sampled_moment import sampled_moment
from ._sensitivity import Sensitivity
from .loss_distribution import MOST_COUNT_BITS, PrivacyLoss, loss_of_queries, loss_of_release
from .renyi import Bounds, RenyiCurve
from .zcdp import (
    LEAST_SIGMA2,
    SumOfGaussians,
    epsilon_at,
    log_delta_at,
    minus_log_upper,
    tau_upper,
)

_AT = arithmetic(192)
_UP: Any = _AT.up

# --- Theorem 1

#: Whole orders up to here are all tried, and from there on every eighth of an octave.
_EVERY_ORDER = 64
_LAST_ORDER = 2048

#: Real orders are tried at so many places between two of those.
_PARTS = 8

#: Exponents beyond this are as good as infinite, where floats choose.
_LARGEST = 1e250


@dataclass(frozen=True)
class SampledCurve:
    """Theorem 1: what rounds cost by the Renyi divergences of symmetric noise.

    Attributes
    ----------
    curve : RenyiCurve
        Of one round without sampling.
    rate : Fraction
        The probability q, below 1.
    count : int
        How many rounds.
    """

    curve: RenyiCurve
    rate: Fraction
    count: int

    @cached_property
    def _about(self) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
        """Return whole orders, real ones, and about what all rounds' moments are at these."""
        orders = list(range(1, _EVERY_ORDER + 1))
        while orders[-1] < _LAST_ORDER:
            orders.append(math.ceil(orders[-1] * 2 ** (1 / 8)))
        k = np.arange(orders[-1] + 1, dtype=np.float64)
        logs = np.append(0.0, np.cumsum(np.log(k[1:])))
        lines = [(_about(slope), _about(more)) for slope, more in self.curve.lines]
        costs = np.min([slope * k + more for slope, more in lines], axis=0)
        costs = np.minimum(np.where(k > 1, (k - 1) * costs, 0.0), _LARGEST)
        log_rate, log_rest = log_of(self.rate), log_of(1 - self.rate)
        moments = [0.0]
        for a in orders[1:]:
            at = k[: a + 1]
            terms = logs[a] - logs[: a + 1] - logs[a::-1] + costs[: a + 1]
            terms = terms + at * log_rate + (a - at) * log_rest
            top = terms.max()
            moments.append(float(top + np.log(np.exp(terms - top).sum())))
        places = np.arange(1, _PARTS * (len(orders) - 1) + 1) / _PARTS
        here = np.arange(len(orders))
        times = min(float(self.count), _LARGEST) if self.count < 2**1000 else _LARGEST
        whole = np.maximum(np.minimum(moments, _LARGEST), 0.0) * times
        return orders, np.interp(places, here, orders), np.interp(places, here, whole)

    def _divergence(self, best: int) -> tuple[Fraction, Any]:
        """Return s = order - 1 of the one that floats chose, and all rounds' divergence."""
        orders = self._about[0]
        place, part = divmod(best + 1, _PARTS)
        share, low = Fraction(part, _PARTS), orders[place]
        high = orders[place + 1] if part else low
        order = low + share * (high - low)
        moment = sampled_moment(self.curve.divergence, order, self.rate, low, high)
        return order - 1, _UP.mul(moment, gmpy2.mpq(self.count / (order - 1)))

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return an upper bound on log(delta), at most 0."""
        _, orders, moments = self._about
        s = orders - 1
        about = moments - s * _about(epsilon) - s * np.log1p(1 / s) - np.log(orders)
        exact, divergence = self._divergence(int(np.argmin(about)))
        if not gmpy2.is_finite(divergence):
            return ZERO
        return min(log_delta_at(exact, divergence, epsilon, _AT), ZERO)

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return an upper bound on epsilon, at least 0."""
        _, orders, moments = self._about
        s = orders - 1
        about = (moments - np.log(orders) - log_of(delta)) / s - np.log1p(1 / s)
        exact, divergence = self._divergence(int(np.argmin(about)))
        return max(epsilon_at(exact, divergence, minus_log_upper(delta), _AT)[0], ZERO)


def _about(exact: Fraction) -> float:
    """Return about the number, if floats hold it."""
    most = Fraction(_LARGEST)
    return float(max(min(exact, most), -most))


# --- Theorem 2

#: The widths b among which one is chosen.
_WIDTHS = [Fraction(tenths, 10) for tenths in range(2, 41)]

#: A factor above its exponential is no help.
_MOST_FACTOR = 50

#: By how much log(delta) falls as epsilon grows by 1, about, where b is chosen.
_SLOPE = 10


class _Excess(NamedTuple):
    """What (2) has beside delta_G: R (log(m) + kappa), R log(A), and the rate q'."""

    log_factor: Any
    shift: Any
    rate: Fraction


def _excess(log_m: Interval, kappa: Interval, rate: Fraction, count: int) -> _Excess | None:
    log_factor = _AT.scale(_AT.add(log_m, kappa), count).upper
    if not log_factor <= _MOST_FACTOR:
        return None
    grown = _AT.shift(_AT.scale(_AT.expm1(kappa), rate), 1)
    share = _AT.div(_AT.scale(_AT.exp(kappa), rate), grown).upper
    sampled = Fraction(min(float_at_least(share), 1.0)) if rate < 1 else Fraction(1)
    return _Excess(log_factor, _AT.scale(_AT.log(grown), count).upper, sampled)


@dataclass(frozen=True)
class Moved:
    """(2): delta is at most exp(log_factor) times that of the loss at epsilon - shift."""

    loss: PrivacyLoss
    log_factor: Any
    shift: Any

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return an upper bound on log(delta), at most 0."""
        gap = epsilon - fraction_of(self.shift)
        found = _UP.add(ZERO, self.loss.delta(max(gap, Fraction(0))))
        if gap < 0:  # as exp(epsilon) falls from 1, delta grows by less than that
            found = _UP.sub(found, gmpy2.mpq(gap))
        return min(_UP.add(_UP.log(found), self.log_factor), ZERO) if found else -gmpy2.inf()

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return an upper bound on epsilon, at least 0."""
        left = _AT.mul(_AT.rational(delta), _AT.exp(Interval(-self.log_factor, -self.log_factor)))
        return _UP.add(self.shift, self.loss.epsilon(fraction_of(left.lower)))


def by_gaussian(change: Sensitivity, sigma2: Fraction, rate: Fraction, count: int) -> list[Moved]:
    """Return (2) of vectors, for the width b that looks best; none where it would say nothing."""
    if not (tau := _tau(change, sigma2)) or (rate < 1 and count.bit_length() > MOST_COUNT_BITS):
        return []
    places, total = min(change.dimension, math.floor(change.squared)), sigma2 * change.clients
    half, tried = _AT.scale(tau, Fraction(1, 2)), []
    for b in _WIDTHS:
        if (eta := _eta(total * b / (total + b))) is None:
            continue
        log_m = _AT.scale(_AT.add(_AT.log1p(eta), half), places)
        kappa = _AT.shift(_AT.scale(tau, places), change.squared * b / (2 * total**2))
        if (excess := _excess(log_m, kappa, rate, count)) is not None:
            tried.append((b, excess))

    def added(one: tuple[Fraction, _Excess]) -> float:
        """Return about by how much epsilon is larger."""
        b, excess = one
        return float(excess.log_factor / _SLOPE + excess.shift) + log_of(1 + b / total)

    if not tried:
        return []
    b, excess = min(tried, key=added)
    variance = total**2 / (change.squared * (total + b))
    if rate == 1:  # all rounds are as one, whose norm is sqrt(count) as large
        variance /= count
    short = fraction_of(_AT.rational(variance).lower)
    loss = PrivacyLoss.of_gaussian(short, sampling=excess.rate) ** (1 if rate == 1 else count)
    return [Moved(loss, excess.log_factor, excess.shift)]


def _eta(r: Fraction) -> Interval | None:
    """Return an interval whose upper end is at least eta; None where that may be above 2."""
    first = _AT.exp(_AT.scale(_AT.power(_AT.pi(), 2), -2 * r))  # the j-th term is at most first**j
    if first.upper > 0.5:
        return None
    return _AT.scale(_AT.div(first, _AT.sub(_AT.rational(1), first)), 2)


def _tau(change: Sensitivity, sigma2: Fraction) -> Interval | None:
    """Return an interval whose upper end is at least tau; None where no tau is known."""
    if change.clients == 1:
        return _AT.rational(0)
    return tau_upper(sigma2, change.clients) if sigma2 >= LEAST_SIGMA2 else None


# --- one number

#: Below it an excess changes no digit that anybody sees.
_NEXT_TO_NOTHING = 1e-12


def by_one_number(one: LawSpec, share: Sensitivity, rate: Fraction, count: int) -> list[Moved]:
    """Return the loss of a sum of discrete Gaussians on one number that changes by an integer."""
    change = int(share.norm)
    if count.bit_length() > MOST_COUNT_BITS:
        return []
    excess = None
    if (tau := _tau(share, one.parameter)) is not None:
        excess = _excess(_AT.scale(tau, Fraction(1, 2)), tau, rate, count)
    if excess is None or excess.log_factor > _NEXT_TO_NOTHING:
        noise = noise_of_sum(one, share.clients, change, rate)
        if noise is not None:
            return [Moved(loss_of_release(noise) ** count, ZERO, ZERO)]
    if excess is None:
        return []
    spec = one._replace(parameter=one.parameter * share.clients)
    loss = loss_of_queries(spec, change, count, excess.rate)
    return [Moved(loss, excess.log_factor, excess.shift)]


# --- together


@dataclass(frozen=True)
class Best(Bounds):
    """The least of several bounds."""

    bounds: list[RenyiCurve | SampledCurve | Moved]

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return the least bound."""
        return min(bound.log_delta_upper(epsilon) for bound in self.bounds)

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return the least bound."""
        return min(bound.epsilon_upper(delta) for bound in self.bounds)


def cost_of_shares(spec: LawSpec, change: SumOfGaussians, count: int, rate: Fraction) -> Best:
    """Return what so many rounds cost; each share has this law, which is centred.

    The law is a discrete Gaussian or a Skellam law.
    """
    is_skellam = spec.kind is Kind.SKELLAM
    if is_skellam:
        curve = RenyiCurve.of_skellam(change, spec.parameter * change.clients, 1)
    else:
        curve = RenyiCurve.of_rho(fraction_of(change.cost(spec.parameter)))
    lines = tuple((count * slope, count * more) for slope, more in curve.lines)
    bounds: list[RenyiCurve | SampledCurve | Moved] = [RenyiCurve(lines, curve.whole)]
    if rate < 1:
        bounds.append(SampledCurve(curve, rate, count))
    if not is_skellam:
        found = by_one_number(spec, change, rate, count) if change.of_a_number else []
        bounds += found or by_gaussian(change, spec.parameter, rate, count)
    return Best(bounds)
