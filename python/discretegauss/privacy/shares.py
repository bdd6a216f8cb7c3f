"""The cost of vectors and of noise in shares, on all clients or on a sample of them.

In each round at least n shares of noise are in the sum. A coin decides whether one person's vector
v is in it, with probability q, or zeros. docs/concepts/shares.md proves the theorems; in short:

*Theorem 1.* `SampledCurve`: the coin is secret, and the noise is there whatever the coin says. If
the noise is symmetric and R_k bounds its Renyi divergence of each whole order k, then one round's
divergence D_a of whole order a is, in both directions, at most

    exp((a - 1) D_a) = sum over k of binomial(a, k) (1 - q)**(a - k) q**k exp((k - 1) R_k).      (1)

(a - 1) D_a is convex in a, so straight lines between whole orders are bounds.

*Theorem 2.* `by_gaussian`: S = n s is the sigma2 of all shares together, where s >= 1/4 or n = 1.
With D the norm, k = min(d, D**2) the most coordinates that change, and any b > 0, let

    kappa = D**2 b/(2 S**2) + k tau,    A = 1 + q (exp(kappa) - 1),    q' = q exp(kappa)/A,
    log m = k (log(1 + eta) + tau/2),   eta = 2 sum of exp(-2 pi**2 j**2 S b/(S + b)), j >= 1.

Then R rounds have (epsilon, delta) with

    delta = m**R exp(R kappa) delta_G(epsilon - R log(A)).                                       (2)

Here delta_G is that of R rounds of continuous Gaussian noise of variance S**2/(S + b), sampled with
q'. For one number (2) holds without b and eta, with one discrete Gaussian of sigma2 = S in its
place. The code has the factors of each round and each direction in the masses (_dominating.py),
which is less than (2). Rounds that differ compose.

*Theorem 3.* The observer may know the coin, and the person's share may follow it. Then a round that
takes place costs what it costs without sampling: exp((a - 1) D_a) is at most 1 - q + q exp((a - 1)
R_a), and what dominates it without sampling dominates it in a known sample (_known_sample.py).

*One number.* The loss is that of the sum's own law (_noise_of_sum.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce
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
from ._dominating import Dominating, Moved
from ._known_sample import KnownSample, Sample
from ._noise_of_sum import noise_of_sum
from ._noise_outcomes import GaussianNoise, IntegerNoise
from ._outcomes import RandomOutcome
from ._sampled_moment import sampled_moment
from .loss_distribution import MOST_COUNT_BITS, PrivacyLoss, loss_of_queries, loss_of_release
from .renyi import Bounds, RenyiCurve
from .sensitivity import Sensitivity
from .zcdp import (
    LEAST_SIGMA2,
    epsilon_at,
    log_delta_at,
    minus_log_upper,
    rho_of_shares,
    tau_upper,
)

_AT192 = arithmetic(192)
_UP: Any = _AT192.up


class Rounds(NamedTuple):
    """Equal rounds: the centred law and the number of shares, the change, the number of rounds."""

    spec: LawSpec
    clients: int
    change: Sensitivity
    times: int

    @property
    def total(self) -> Fraction:
        """The sum of all shares' variances, or of their sigma2."""
        return self.spec.parameter * self.clients

    @property
    def is_skellam(self) -> bool:
        """Return whether the shares are Skellam laws; otherwise they are discrete Gaussians."""
        return self.spec.kind is Kind.SKELLAM

    def curve(self) -> RenyiCurve:
        """Return the Renyi divergences of one round without sampling."""
        if self.is_skellam:
            return RenyiCurve.of_skellam(self.change, self.total, 1)
        rho = rho_of_shares(self.spec.parameter, self.clients, self.change)
        return RenyiCurve.of_rho(fraction_of(rho))


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
    """The cost of rounds by the Renyi divergences of symmetric noise: Theorem 1 or 3."""

    #: The curve of one round without sampling, and the number of such rounds.
    curves: list[tuple[RenyiCurve, int]]
    #: Its rate is below 1.
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
        return min(log_delta_at(exact, divergence, epsilon, _AT192), ZERO)

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return an upper bound on epsilon, at least 0."""
        _, orders, moments = self._about
        s = orders - 1
        about = (moments - np.log(orders) - log_of(delta)) / s - np.log1p(1 / s)
        exact, divergence = self._divergence(int(np.argmin(about)))
        return max(epsilon_at(exact, divergence, minus_log_upper(delta), _AT192)[0], ZERO)


def _about(exact: Fraction) -> float:
    """Return the nearest float, or an end of the range that floats are used in."""
    most = Fraction(_LARGEST)
    return float(max(min(exact, most), -most))


# --- Theorem 2, and Theorem 3 with it

#: The widths b from which one is chosen.
_WIDTHS = [Fraction(tenths, 10) for tenths in range(2, 41)]

#: If kappa or log(m) is above this, the bound says little.
_MOST_EXCESS = 1

#: So says the product of all rounds without sampling, if its factor is above this.
_MOST_OF_ALL = 50

#: About how much log(delta) falls as epsilon grows by 1, where b is chosen.
_SLOPE = 10


class _Excess(NamedTuple):
    """The terms of (2) beside the release that dominates, in one direction."""

    log_factor: Any
    shift: Any
    rate: Fraction


def _excess(log_m: Interval, kappa: Interval, sample: Sample) -> tuple[_Excess, _Excess] | None:
    """Return the terms of one round: with the person against without, and the other way round."""
    if not max(log_m.upper, kappa.upper) <= _MOST_EXCESS:
        return None
    if sample.rate == 1 or not sample.secret:
        both = _Excess(_AT192.add(log_m, kappa).upper, kappa.upper, Fraction(1))
        return both, both
    rate, without = sample.rate, 1 - sample.rate
    a = _AT192.shift(_AT192.scale(_AT192.expm1(kappa), rate), 1)
    c = _AT192.shift(_AT192.scale(_AT192.expm1(kappa), without), 1)
    log_a, log_c = _AT192.log(a), _AT192.log(c)
    rates = (
        _AT192.div(_AT192.scale(_AT192.exp(kappa), rate), a),
        _AT192.div(_AT192.rational(rate), c),
    )
    here, other = (Fraction(min(float_at_least(one.upper), 1.0)) for one in rates)
    return (
        _Excess(_AT192.add(log_m, log_a).upper, log_a.upper, here),
        _Excess(_AT192.add(log_m, kappa).upper, _AT192.sub(kappa, log_c).upper, other),
    )


@dataclass(frozen=True)
class LossBound:
    """A bound by a privacy loss that dominates the rounds."""

    loss: PrivacyLoss

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return an upper bound on log(delta), at most 0."""
        found = _UP.add(ZERO, self.loss.delta(epsilon))
        return min(_UP.log(found), ZERO) if found else -gmpy2.inf()

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return an upper bound on epsilon, at least 0."""
        return _UP.add(ZERO, self.loss.epsilon(delta))


@dataclass(frozen=True)
class Chance:
    """The probability of taking part, a bound on delta: nobody else changes an answer."""

    rate: Fraction  # the sampling rate, below 1
    times: int  # the number of rounds

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return the logarithm of the probability of taking part at all, rounded up."""
        del epsilon
        none = _AT192.scale(_AT192.log1p(_AT192.rational(-self.rate)), self.times)
        return min(_AT192.log(_AT192.neg(_AT192.expm1(none))).upper, ZERO)

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return 0 if delta is at least that, else no bound."""
        enough = self.log_delta_upper(Fraction(0)) <= _AT192.log(_AT192.rational(delta)).lower
        return ZERO if enough else gmpy2.inf()


def bounds_by_gaussian(rounds: Sequence[Rounds], sample: Sample) -> list[LossBound]:
    """Return (2) of vectors, for the width b that looks best; none if it would say nothing."""
    if any(one.is_skellam for one in rounds):
        return []
    if sample.rate < 1 and any(one.times.bit_length() > MOST_COUNT_BITS for one in rounds):
        return []
    tried = []
    for b in _WIDTHS:
        terms = [found for one in rounds if (found := _of_width(one, b, sample))]
        if len(terms) == len(rounds):
            tried.append((b, terms))

    def added(term: tuple[Fraction, list[tuple[_Excess, _Excess]]]) -> float:
        """Return about by how much epsilon is larger."""
        b, terms = term
        narrow = min(one.total for one in rounds)
        excess = (float(here.log_factor) / float(_SLOPE) + float(here.shift) for here, _ in terms)
        total = sum(_about(Fraction(one.times)) * x for one, x in zip(rounds, excess, strict=True))
        return total + log_of(1 + b / narrow)

    if not tried:
        return []
    b, terms = min(tried, key=added)
    variances = [one.total**2 / (one.change.norm2 * (one.total + b)) for one in rounds]
    if sample.rate < 1:
        losses = [
            _dominating(partial(_gaussian_noise, variance), term, sample) ** one.times
            for one, term, variance in zip(rounds, terms, variances, strict=True)
        ]
        return [LossBound(reduce(matmul, losses))]
    # All rounds together are one release. Its squared norm is the sum of the rounds' squared norms.
    counts = [one.times for one in rounds]
    mu_squared = sum((n / v for n, v in zip(counts, variances, strict=True)), Fraction(0))
    log_factor: Any = ZERO
    shift: Any = ZERO
    for n, (term, _) in zip(counts, terms, strict=True):
        log_factor = _UP.add(log_factor, _UP.mul(term.log_factor, n))
        shift = _UP.add(shift, _UP.mul(term.shift, n))
    if not max(log_factor, shift) <= _MOST_OF_ALL:
        return []
    all_terms = _Excess(log_factor, shift, Fraction(1))
    noise = partial(_gaussian_noise, 1 / mu_squared)
    return [LossBound(_dominating(noise, (all_terms, all_terms), sample))]


def _of_width(one: Rounds, b: Fraction, sample: Sample) -> tuple[_Excess, _Excess] | None:
    """Return the terms of (2) for a width b; None if they would say nothing."""
    norm2, total = one.change.norm2, one.total
    tau, eta = _tau(one), _eta(total * b / (total + b))
    if tau is None or eta is None:
        return None
    places = min(one.change.counts, math.floor(norm2))
    log_m = _AT192.scale(_AT192.add(_AT192.log1p(eta), _AT192.scale(tau, Fraction(1, 2))), places)
    kappa = _AT192.shift(_AT192.scale(tau, places), norm2 * b / (2 * total**2))
    return _excess(log_m, kappa, sample)


def _gaussian_noise(variance: Fraction, rate: Fraction) -> RandomOutcome:
    """Return continuous Gaussian noise of this variance, or a little less."""
    narrow = gmpy2.mpq(_AT192.rational(variance).lower)
    return GaussianNoise.of(narrow, gmpy2.mpq(1), rate)


def _dominating(
    noise: Callable[[Fraction], RandomOutcome], terms: tuple[_Excess, _Excess], sample: Sample
) -> PrivacyLoss:
    """Return the loss of one round by (2), given the dominating release at each rate."""
    here = Moved(noise(terms[0].rate), *terms[0][:2])
    other = here if terms[0] == terms[1] else Moved(noise(terms[1].rate), *terms[1][:2])
    release: RandomOutcome = Dominating(here, other, sample.rate)
    if not sample.secret:
        release = KnownSample(release, sample.rate)
    return loss_of_release(release)


def _eta(r: Fraction) -> Interval | None:
    """Return an interval whose upper end is at least eta; None if eta may be above 2."""
    first = _AT192.exp(
        _AT192.scale(_AT192.power(_AT192.pi(), 2), -2 * r)
    )  # the j-th term is at most first**j
    if first.upper > 0.5:
        return None
    return _AT192.scale(_AT192.div(first, _AT192.sub(_AT192.rational(1), first)), 2)


def _tau(one: Rounds) -> Interval | None:
    """Return an interval whose upper end is at least tau; None if no tau is known."""
    if one.clients == 1:
        return _AT192.rational(0)
    sigma2 = one.spec.parameter
    return tau_upper(sigma2, one.clients) if sigma2 >= LEAST_SIGMA2 else None


# --- one number

#: If the factor of all rounds has a logarithm below this, it changes no digit that anybody sees.
_NEXT_TO_NOTHING = 1e-12


def bounds_of_one_number(one: Rounds, sample: Sample) -> LossBound | None:
    """Return the loss of a sum of shares on one number that changes by an integer."""
    spec, clients, _, times = one
    change, total = int(one.change.each), spec._replace(parameter=one.total)
    if times.bit_length() > MOST_COUNT_BITS or (one.is_skellam and total.parameter > LARGEST_TABLE):
        return None
    if one.is_skellam or clients == 1:
        return LossBound(loss_of_queries(total, change, times, *sample))
    terms = None
    if (tau := _tau(one)) is not None:
        terms = _excess(_AT192.scale(tau, Fraction(1, 2)), tau, sample)
    if terms is None or _UP.mul(times, terms[1].log_factor) > _NEXT_TO_NOTHING:
        rate = sample.rate if sample.secret else Fraction(1)
        noise = noise_of_sum(spec, clients, change, rate)
        if noise is not None:
            release = noise if sample.secret else KnownSample(noise, sample.rate)
            return LossBound(loss_of_release(release) ** times)
    if terms is None:
        return None
    return LossBound(_dominating(partial(IntegerNoise.of, total, change), terms, sample) ** times)


# --- together


@dataclass(frozen=True)
class Best(Bounds):
    """The least of several bounds."""

    bounds: list[RenyiCurve | SampledCurve | LossBound | Chance]

    def log_delta_upper(self, epsilon: Fraction) -> Any:
        """Return the least bound."""
        return min(bound.log_delta_upper(epsilon) for bound in self.bounds)

    def epsilon_upper(self, delta: Fraction) -> Any:
        """Return the least bound."""
        return min(bound.epsilon_upper(delta) for bound in self.bounds)


def cost_of_shares(rounds: Sequence[Rounds], sample: Sample) -> Best:
    """Return what all rounds cost together."""
    curves = [(one.curve(), one.times) for one in rounds]
    bounds: list[RenyiCurve | SampledCurve | LossBound | Chance] = [_summed(curves)]
    if sample.rate < 1:
        chance = Chance(sample.rate, sum(one.times for one in rounds))
        bounds += [SampledCurve(curves, sample), chance]
    exact = []
    if all(one.change.of_a_number for one in rounds):
        exact = [loss for one in rounds if (loss := bounds_of_one_number(one, sample))]
    if len(exact) < len(rounds):
        return Best([*bounds, *bounds_by_gaussian(rounds, sample)])
    return Best([*bounds, LossBound(reduce(matmul, (one.loss for one in exact)))])


def _summed(curves: list[tuple[RenyiCurve, int]]) -> RenyiCurve:
    """Return the curve of all rounds without sampling; each line is a sum of lines."""
    lines = []
    for place in range(max(len(curve.lines) for curve, _ in curves)):
        terms = [(curve.lines[min(place, len(curve.lines) - 1)], n) for curve, n in curves]
        slope = sum((n * line[0] for line, n in terms), Fraction(0))
        lines.append((slope, sum((n * line[1] for line, n in terms), Fraction(0))))
    return RenyiCurve(tuple(lines), any(curve.whole for curve, _ in curves))
