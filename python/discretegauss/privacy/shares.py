"""The cost of vectors and of noise in shares, on all clients or on a sample of them.

In each round at least n shares of noise are in the sum. A coin decides whether one person's vector
v is in it, with probability q, or zeros. docs/sampled_clients.md and docs/known_samples.md
prove the theorems; in short:

*Theorem 1.* `SampledCurve`: the coin is secret, and the noise is there whatever the coin says. If
the noise is symmetric and R_k bounds its Renyi divergence of each whole order k, then one round's
divergence D_a of whole order a is, in both directions, at most

    exp((a - 1) D_a) = sum over k of binomial(a, k) (1 - q)**(a - k) q**k exp((k - 1) R_k).      (1)

(a - 1) D_a is convex in a, so straight lines between whole orders are bounds.

*Theorem 2.* `Moved`: S = n s is the sigma2 of all shares together, where s >= 1/4 or n = 1. With D
the norm, k = min(d, D**2) the largest number of coordinates that change, and any b > 0, let

    kappa = D**2 b/(2 S**2) + k tau,    A = 1 + q (exp(kappa) - 1),    q' = q exp(kappa)/A,
    log m = k (log(1 + eta) + tau/2),   eta = 2 sum of exp(-2 pi**2 j**2 S b/(S + b)), j >= 1.

Then R rounds have (epsilon, delta) with

    delta = m**R exp(R kappa) delta_G(epsilon - R log(A)).                                       (2)

Here delta_G is that of R rounds of continuous Gaussian noise of variance S**2/(S + b), sampled with
q'. For one number (2) holds without b and eta, with one discrete Gaussian of sigma2 = S in its
place. Rounds that differ multiply their factors and compose their losses.

*Theorem 3.* The observer may know the coin, and the person's share may follow it. Then a round that
takes place costs what it costs without sampling: exp((a - 1) D_a) is at most 1 - q + q exp((a - 1)
R_a), and (2) holds with A = exp(kappa) if delta_G is that of a known sample (_known_sample.py).

*One number.* The loss is that of the sum's own law (_noise_of_sum.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import matmul
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .._certified.euler_maclaurin import log_of
from .._certified.floats import float_at_least
from .._certified.interval import ZERO, Interval, arithmetic, fraction_of
from .._certified.skellam import LARGEST_TABLE
from .._law import Kind, LawSpec
from ._known_sample import KnownSample, Sample
from ._noise_of_sum import noise_of_sum
from ._outcomes import GaussianNoise
from ._sampled_moment import sampled_moment
from .loss_distribution import MOST_COUNT_BITS, PrivacyLoss, loss_of_queries, loss_of_release
from .question import Change
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


class Rounds(NamedTuple):
    """Equal rounds: the centred law of each share, what one person changes, and their number."""

    spec: LawSpec
    change: SumOfGaussians
    times: int

    @property
    def is_skellam(self) -> bool:
        """Return whether the shares are Skellam laws; otherwise they are discrete Gaussians."""
        return self.spec.kind is Kind.SKELLAM

    def curve(self) -> RenyiCurve:
        """Return the Renyi divergences of one round without sampling."""
        if self.is_skellam:
            total = self.spec.parameter * self.change.clients
            return RenyiCurve.of_skellam(self.change, total, 1)
        return RenyiCurve.of_rho(fraction_of(self.change.cost(self.spec.parameter)))


# --- Theorem 1, and Theorem 3 by divergences

#: Every whole order up to this one is tried, and above it every eighth of an octave.
_EVERY_ORDER = 64
_LAST_ORDER = 2048

#: The number of steps from one of those orders to the next, for real orders.
_PARTS = 8

#: Larger exponents count as infinite, where floats choose.
_LARGEST = 1e250


@dataclass(frozen=True)
class SampledCurve:
    """The cost of rounds by the Renyi divergences of symmetric noise: Theorem 1 or 3.

    Attributes
    ----------
    curves : list of (RenyiCurve, int)
        The curve of one round without sampling, and the number of such rounds.
    sample : Sample
        Its rate is below 1.
    """

    curves: list[tuple[RenyiCurve, int]]
    sample: Sample

    @cached_property
    def _about(self) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
        """Return whole orders, real orders, and approximations of all rounds' moments at these."""
        orders = list(range(1, _EVERY_ORDER + 1))
        while orders[-1] < _LAST_ORDER:
            orders.append(math.ceil(orders[-1] * 2 ** (1 / 8)))
        k = np.arange(orders[-1] + 1, dtype=np.float64)
        whole = np.zeros(len(orders))
        for curve, count in self.curves:
            lines = [(_about(slope), _about(more)) for slope, more in curve.lines]
            costs = np.min([slope * k + more for slope, more in lines], axis=0)
            costs = np.minimum(np.where(k > 1, (k - 1) * costs, 0.0), _LARGEST)
            times = min(float(count), _LARGEST) if count < 2**1000 else _LARGEST
            moments = np.clip(self._moments(orders, k, costs), 0.0, _LARGEST)
            whole = np.minimum(whole + moments * times, _LARGEST * times)
        places = np.arange(1, _PARTS * (len(orders) - 1) + 1) / _PARTS
        here = np.arange(len(orders))
        return orders, np.interp(places, here, orders), np.interp(places, here, whole)

    def _moments(
        self, orders: list[int], k: NDArray[np.float64], costs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return about (a - 1) D_a of one round; ``costs`` has (k - 1) R_k at every whole k."""
        log_rate, log_without = log_of(self.sample.rate), log_of(1 - self.sample.rate)
        if not self.sample.secret:
            return np.logaddexp(log_without, log_rate + costs[orders])
        logs = np.append(0.0, np.cumsum(np.log(k[1:])))
        moments = [0.0]
        for a in orders[1:]:
            at = k[: a + 1]
            terms = logs[a] - logs[: a + 1] - logs[a::-1] + costs[: a + 1]
            terms = terms + at * log_rate + (a - at) * log_without
            top = terms.max()
            moments.append(float(top + np.log(np.exp(terms - top).sum())))
        return np.array(moments)

    def _divergence(self, best: int) -> tuple[Fraction, Any]:
        """Return s = order - 1 of the order that floats chose, and all rounds' divergence."""
        orders = self._about[0]
        place, part = divmod(best + 1, _PARTS)
        share, low = Fraction(part, _PARTS), orders[place]
        high = orders[place + 1] if part else low
        order = low + share * (high - low)
        total: Any = ZERO
        for curve, count in self.curves:
            moment = sampled_moment(
                curve.divergence, order, self.sample.rate, low, high, secret=self.sample.secret
            )
            total = _UP.add(total, _UP.mul(moment, gmpy2.mpq(count / (order - 1))))
        return order - 1, total

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
    """Return the nearest float, or an end of the range that floats are used in."""
    most = Fraction(_LARGEST)
    return float(max(min(exact, most), -most))


# --- Theorem 2, and Theorem 3 with it

#: The widths b from which one is chosen.
_WIDTHS = [Fraction(tenths, 10) for tenths in range(2, 41)]

#: If the logarithm of a factor is above this, the bound says nothing.
_MOST_FACTOR = 50

#: About how much log(delta) falls as epsilon grows by 1, where b is chosen.
_SLOPE = 10


class _Excess(NamedTuple):
    """The terms of (2) beside delta_G: R (log(m) + kappa), R log(A), and the rate q'."""

    log_factor: Any
    shift: Any
    rate: Fraction


def _excess(log_m: Interval, kappa: Interval, sample: Sample, count: int) -> _Excess | None:
    log_factor = _AT.scale(_AT.add(log_m, kappa), count).upper
    if not log_factor <= _MOST_FACTOR:
        return None
    rate = sample.rate
    if rate == 1 or not sample.secret:
        return _Excess(log_factor, _AT.scale(kappa, count).upper, rate)
    grown = _AT.shift(_AT.scale(_AT.expm1(kappa), rate), 1)
    share = _AT.div(_AT.scale(_AT.exp(kappa), rate), grown).upper
    sampled = Fraction(min(float_at_least(share), 1.0))
    return _Excess(log_factor, _AT.scale(_AT.log(grown), count).upper, sampled)


@dataclass(frozen=True)
class Moved:
    """(2): delta is at most exp(log_factor) times that of the loss at epsilon - shift."""

    loss: PrivacyLoss
    log_factor: Any
    shift: Any

    def __matmul__(self, other: Moved) -> Moved:
        """Return the bound on both together."""
        log_factor = _UP.add(self.log_factor, other.log_factor)
        return Moved(self.loss @ other.loss, log_factor, _UP.add(self.shift, other.shift))

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return an upper bound on log(delta), at most 0."""
        gap = epsilon - fraction_of(self.shift)
        found = _UP.add(ZERO, self.loss.delta(max(gap, Fraction(0))))
        if gap < 0:  # as exp(epsilon) falls below 1, delta grows by at most the difference
            found = _UP.sub(found, gmpy2.mpq(gap))
        return min(_UP.add(_UP.log(found), self.log_factor), ZERO) if found else -gmpy2.inf()

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return an upper bound on epsilon, at least 0."""
        left = _AT.mul(_AT.rational(delta), _AT.exp(Interval(-self.log_factor, -self.log_factor)))
        return _UP.add(self.shift, self.loss.epsilon(fraction_of(left.lower)))


def by_gaussian(rounds: Sequence[Rounds], sample: Sample) -> list[Moved]:
    """Return (2) of vectors, for the width b that looks best; none if it would say nothing."""
    if any(one.is_skellam for one in rounds):
        return []
    if sample.rate < 1 and any(one.times.bit_length() > MOST_COUNT_BITS for one in rounds):
        return []
    tried = []
    for b in _WIDTHS:
        terms = [term for one in rounds if (term := _of_width(one, b, sample))]
        if len(terms) == len(rounds):
            tried.append((b, terms))

    def added(term: tuple[Fraction, list[_Excess]]) -> float:
        """Return about by how much epsilon is larger."""
        b, terms = term
        narrow = min(one.spec.parameter * one.change.clients for one in rounds)
        excess = sum(float(one.log_factor / _SLOPE + one.shift) for one in terms)
        return excess + log_of(1 + b / narrow)

    if not tried:
        return []
    b, terms = min(tried, key=added)
    parts, mu_squared = [], Fraction(0)
    for one, term in zip(rounds, terms, strict=True):
        total = one.spec.parameter * one.change.clients
        variance = total**2 / (one.change.squared * (total + b))
        mu_squared += one.times / variance
        if sample.rate < 1:
            loss = _gaussian_loss(variance, sample._replace(rate=term.rate)) ** one.times
            parts.append(Moved(loss, term.log_factor, term.shift))
    if sample.rate < 1:
        return [reduce(matmul, parts)]
    # All rounds together are one release. Its squared norm is the sum of the rounds' squared norms.
    loss = _gaussian_loss(1 / mu_squared, sample)
    return [Moved(loss, _total(t.log_factor for t in terms), _total(t.shift for t in terms))]


def _of_width(one: Rounds, b: Fraction, sample: Sample) -> _Excess | None:
    """Return the terms of (2) for a width b; None if they would say nothing."""
    change, total = one.change, one.spec.parameter * one.change.clients
    tau, eta = _tau(change, one.spec.parameter), _eta(total * b / (total + b))
    if tau is None or eta is None:
        return None
    places = min(change.dimension, math.floor(change.squared))
    log_m = _AT.scale(_AT.add(_AT.log1p(eta), _AT.scale(tau, Fraction(1, 2))), places)
    kappa = _AT.shift(_AT.scale(tau, places), change.squared * b / (2 * total**2))
    return _excess(log_m, kappa, sample, one.times)


def _gaussian_loss(variance: Fraction, sample: Sample) -> PrivacyLoss:
    """Return the loss of continuous Gaussian noise of this variance, or a little less."""
    narrow = fraction_of(_AT.rational(variance).lower)
    if sample.secret:
        return PrivacyLoss.of_gaussian(narrow, sampling=sample.rate)
    noise = GaussianNoise.of(gmpy2.mpq(narrow), gmpy2.mpq(1), Fraction(1))
    return loss_of_release(KnownSample(noise, sample.rate))


def _total(numbers: Iterable[Any]) -> Any:
    return reduce(_UP.add, numbers, ZERO)


def _eta(r: Fraction) -> Interval | None:
    """Return an interval whose upper end is at least eta; None if eta may be above 2."""
    first = _AT.exp(_AT.scale(_AT.power(_AT.pi(), 2), -2 * r))  # the j-th term is at most first**j
    if first.upper > 0.5:
        return None
    return _AT.scale(_AT.div(first, _AT.sub(_AT.rational(1), first)), 2)


def _tau(change: Change, sigma2: Fraction) -> Interval | None:
    """Return an interval whose upper end is at least tau; None if no tau is known."""
    if change.clients == 1:
        return _AT.rational(0)
    return tau_upper(sigma2, change.clients) if sigma2 >= LEAST_SIGMA2 else None


# --- one number

#: An excess below this changes no digit that anybody sees.
_NEXT_TO_NOTHING = 1e-12


def by_one_number(one: Rounds, sample: Sample) -> Moved | None:
    """Return the loss of a sum of shares on one number that changes by an integer."""
    spec, share, count = one
    change = int(share.norm)
    total = spec._replace(parameter=spec.parameter * share.clients)
    if count.bit_length() > MOST_COUNT_BITS or (one.is_skellam and total.parameter > LARGEST_TABLE):
        return None
    if one.is_skellam:
        return Moved(loss_of_queries(total, change, count, *sample), ZERO, ZERO)
    excess = None
    if (tau := _tau(share, spec.parameter)) is not None:
        excess = _excess(_AT.scale(tau, Fraction(1, 2)), tau, sample, count)
    if excess is None or excess.log_factor > _NEXT_TO_NOTHING:
        rate = sample.rate if sample.secret else Fraction(1)
        noise = noise_of_sum(spec, share.clients, change, rate)
        if noise is not None:
            release = noise if sample.secret else KnownSample(noise, sample.rate)
            return Moved(loss_of_release(release) ** count, ZERO, ZERO)
    if excess is None:
        return None
    loss = loss_of_queries(total, change, count, excess.rate, sample.secret)
    return Moved(loss, excess.log_factor, excess.shift)


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


def cost_of_shares(rounds: Sequence[Rounds], sample: Sample) -> Best:
    """Return what all rounds cost together."""
    curves = [(one.curve(), one.times) for one in rounds]
    bounds: list[RenyiCurve | SampledCurve | Moved] = [_summed(curves)]
    if sample.rate < 1:
        bounds.append(SampledCurve(curves, sample))
    exact = []
    if all(one.change.of_a_number for one in rounds):
        exact = [loss for one in rounds if (loss := by_one_number(one, sample))]
    found = [reduce(matmul, exact)] if len(exact) == len(rounds) else by_gaussian(rounds, sample)
    return Best([*bounds, *found])


def _summed(curves: list[tuple[RenyiCurve, int]]) -> RenyiCurve:
    """Return the curve of all rounds without sampling; each line is a sum of lines."""
    lines = []
    for place in range(max(len(curve.lines) for curve, _ in curves)):
        chosen = [(curve.lines[min(place, len(curve.lines) - 1)], n) for curve, n in curves]
        slope = sum((n * line[0] for line, n in chosen), Fraction(0))
        lines.append((slope, sum((n * line[1] for line, n in chosen), Fraction(0))))
    return RenyiCurve(tuple(lines), any(curve.whole for curve, _ in curves))
