"""Random releases and their privacy loss in 60 digits, by closed forms or all outcomes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from mpmath import mp

import discretegauss as dg
from discretegauss.privacy import PrivacyLoss
from discretegauss.privacy import loss as loss_of

Pairs = list[tuple[Any, Any]]

#: The largest number of outcomes that is enumerated.
_MOST = 2_000


class Case(NamedTuple):
    """A loss, its exact delta in each direction, and the probability of outcomes left out."""

    what: str
    loss: PrivacyLoss
    deltas: Callable[[float], list[Any]]
    missed: Any


def number(exact: Fraction) -> Any:
    """Return the rational at the working precision."""
    return mp.mpf(exact.numerator) / exact.denominator


def powers(pairs: Pairs, n: int) -> Pairs:
    """Return the outcomes of n releases, of which those that differ in order are one."""
    many: dict[tuple[int, ...], tuple[Any, Any]] = {(): (mp.one, mp.one)}
    for _ in range(n):
        many = {
            (*key, i): (a * c, b * d)
            for key, (a, b) in many.items()
            for i, (c, d) in enumerate(pairs)
            if not key or i >= key[-1]
        }
    found = []
    for key, (a, b) in many.items():
        ways = math.factorial(n)
        for i in set(key):
            ways //= math.factorial(key.count(i))
        found.append((a * ways, b * ways))
    return found


def of_outcomes(pairs: Pairs) -> Callable[[float], list[Any]]:
    """Return delta of each direction, outcome by outcome."""

    def deltas(epsilon: float) -> list[Any]:
        y = mp.exp(mp.mpf(epsilon))
        return [
            mp.fsum(max(a - y * b, mp.zero) for a, b in pairs),
            mp.fsum(max(b - y * a, mp.zero) for a, b in pairs),
        ]

    return deltas


def _sampled(p: list[Any], q: list[Any], rate: Fraction) -> Pairs:
    s = number(rate)
    return [(s * a + (1 - s) * b, b) for a, b in zip(p, q, strict=True)]


def _fraction(chance: random.Random, low: float, high: float) -> Fraction:
    """Return a rational whose logarithm is between two numbers."""
    return Fraction(math.exp(chance.uniform(low, high))).limit_denominator(10**5)


def _gaussian(chance: random.Random, rate: Fraction) -> Case:
    sigma2 = _fraction(chance, -2, 5)
    s, d = number(rate), 1 / mp.sqrt(number(sigma2))

    def below(z: Any) -> Any:
        return mp.erfc(-z / mp.sqrt(2)) / 2

    def deltas(epsilon: float) -> list[Any]:
        e = mp.mpf(epsilon)
        y, found = mp.exp(e), [mp.zero, mp.zero]
        z = (mp.log1p(mp.expm1(e) / s) - d * d / 2) / d  # above it the loss is more than epsilon
        found[0] = s * below(-z) + (1 - s) * below(-z - d) - y * below(-z - d)
        if mp.expm1(-e) / s > -1:
            z = (mp.log1p(mp.expm1(-e) / s) - d * d / 2) / d
            found[1] = below(z + d) - y * (s * below(z) + (1 - s) * below(z + d))
        return found

    loss = PrivacyLoss.of_gaussian(sigma2, sampling=rate)
    return Case(f"Gaussian, sigma2 = {sigma2}, {rate}", loss, deltas, mp.zero)


def _laplace(chance: random.Random, rate: Fraction) -> Case:
    """Return a case with the density exp(-abs(z)), cut or not; losses rise from -t to t."""
    scale = _fraction(chance, -2, 4)
    cut = None if chance.random() < 0.5 else Fraction(chance.randint(10, 200), 10)
    s, t = number(rate), 1 / number(scale)
    end = mp.inf if cut is None else number(cut) * t
    whole = 1 - mp.exp(-end)

    def mass(a: Any, b: Any) -> Any:
        a, b = max(a, -end), min(b, end)
        if a >= b:
            return mp.zero
        if a < 0 < b:
            return mass(a, mp.zero) + mass(mp.zero, b)
        near, far = (a, b) if a >= 0 else (-b, -a)
        return (mp.exp(-near) - mp.exp(-far)) / 2 / whole

    def deltas(epsilon: float) -> list[Any]:
        e = mp.mpf(epsilon)
        y, found = mp.exp(e), [mp.zero, mp.zero]
        unsampled = mp.log1p(mp.expm1(e) / s)
        z = end - t if unsampled >= t else (unsampled - t) / 2
        q = mass(z + t, mp.inf)
        found[0] = max(s * mass(z, mp.inf) + (1 - s) * q - y * q, mp.zero)
        z = -end
        if mp.expm1(-e) / s > -1 and mp.log1p(mp.expm1(-e) / s) >= -t:
            z = (mp.log1p(mp.expm1(-e) / s) - t) / 2
        q = mass(-mp.inf, z + t)
        found[1] = max(q - y * (s * mass(-mp.inf, z) + (1 - s) * q), mp.zero)
        return found

    loss = PrivacyLoss.of_laplace(scale, cut=cut, sampling=rate)
    return Case(f"Laplace, {scale}, cut {cut}, {rate}", loss, deltas, mp.zero)


def _law(chance: random.Random, releases: int) -> tuple[dg.Law, Callable[[int], Any], int]:
    """Return a law, its exponent, and how far it reaches."""
    kind, wide = chance.randrange(3), 1.0 if releases == 1 else 0.0
    if kind == 0:
        sigma2 = _fraction(chance, -1.5, 0.3 + 3 * wide)
        reach = math.isqrt(int(260 * sigma2)) + 2
        return dg.DiscreteGaussian(sigma2), lambda x: mp.mpf(x * x) / (2 * number(sigma2)), reach
    if kind == 1:
        scale = _fraction(chance, -2, -1 + 2 * wide)
        reach = int(130 * scale) + 2
        return dg.DiscreteLaplace(scale), lambda x: mp.mpf(abs(x)) / number(scale), reach
    scale, beta = (
        _fraction(chance, -1, 0.3 + wide),
        Fraction(chance.choice(["5/4", "3", "8", "20"])),
    )
    reach = int(float(scale) * 130 ** (1 / float(beta))) + 2
    return (
        dg.GeneralizedGaussian(scale, beta),
        lambda x: (mp.mpf(abs(x)) / number(scale)) ** number(beta),
        reach,
    )


def _integers(chance: random.Random, rate: Fraction) -> Case:
    """Return one law used up to three times, or two laws."""
    change, releases = chance.choice([1, 1, 2, 3]), chance.choice([1, 1, 2, 3])
    laws = [_law(chance, releases) for _ in range(2 if chance.random() < 0.3 else 1)]
    losses, outcomes, missed = [], [], mp.zero
    for law, phi, reach in laws:
        weights = {x: mp.exp(-phi(x)) for x in range(-reach - change, reach + change + 1)}
        total = mp.fsum(weights.values())
        if isinstance(law, dg.DiscreteLaplace):
            total = 2 / -mp.expm1(-phi(1)) - 1
        xs = range(-reach, reach - change + 1)
        p, q = ([weights[x + d] / total for x in xs] for d in (0, change))
        missed += releases * max(1 - mp.fsum(p), 1 - mp.fsum(q), mp.zero)
        losses.append(loss_of(law, change, sampling=rate))
        outcomes.append(_sampled(p, q, rate))
    if len(laws) == 2:
        size = len(outcomes[0]) * len(outcomes[1])
        loss, pairs = losses[0] @ losses[1], product(*outcomes)
        joint = ((a * c, b * d) for (a, b), (c, d) in pairs)
    else:
        size = math.comb(len(outcomes[0]) + releases - 1, releases)
        loss = losses[0] ** releases
        joint = (pair for pair in (powers(outcomes[0], releases) if size < _MOST else []))
    if size >= _MOST:
        return _integers(chance, rate)
    what = f"{[law for law, _, _ in laws]}, change {change}, {rate}, {releases}"
    return Case(what, loss, of_outcomes(list(joint)), missed)


def _few_outcomes(chance: random.Random, rate: Fraction) -> Case:
    """Return a pair of laws of few outcomes, some of them impossible, or a pure release."""
    releases = chance.choice([1, 2, 4])
    if chance.random() < 0.5:
        epsilon = _fraction(chance, -6, 1.5) or Fraction(1, 10**5)
        told = chance.choice([Fraction(0), Fraction(chance.randint(1, 1000), 10**6)])
        low = (1 - number(told)) / (1 + mp.exp(number(epsilon)))
        p = [1 - number(told) - low, low, number(told), mp.zero]
        loss = PrivacyLoss.of_pure(epsilon, told, sampling=rate) ** releases
        pairs = _sampled(p, [p[1], p[0], p[3], p[2]], rate)
        what = f"pure {epsilon}, {told}"
    else:
        size, laws = chance.randint(2, 5), []
        for _ in range(2):
            weights = [chance.choice([0, 1, 9, chance.randint(0, 10**6)]) for _ in range(size)]
            weights[chance.randrange(size)] += 1
            laws.append([Fraction(w, sum(weights)) for w in weights])
        loss = PrivacyLoss.of_pair(*laws, sampling=rate) ** releases
        p, q = ([number(x) for x in law] for law in laws)
        pairs = _sampled(p, q, rate)
        what = f"pair {laws}"
    return Case(f"{what}, {rate}, {releases}", loss, of_outcomes(powers(pairs, releases)), mp.zero)


def _many_answers(chance: random.Random, rate: Fraction) -> Case:
    """Return randomised response with many answers, whose delta is a binomial sum."""
    del rate
    releases, epsilon = chance.choice([100, 1000, 3000]), _fraction(chance, -7, -1)
    loss = number(epsilon)

    def deltas(at: float) -> list[Any]:
        term = (mp.exp(loss) / (1 + mp.exp(loss))) ** releases
        found, here = mp.zero, releases * loss
        for k in range(releases, -1, -1):
            if here <= at:
                break
            found += term * -mp.expm1(at - here)
            term *= k * mp.exp(-loss) / (releases - k + 1)
            here -= 2 * loss
        return [found, found]

    return Case(
        f"{releases} answers, {epsilon}", PrivacyLoss.of_pure(epsilon) ** releases, deltas, mp.zero
    )


def random_case(seed: int) -> Case:
    """Return a case, with sampling of 1/1000 to 1/2, or none."""
    chance = random.Random(seed)
    rate = chance.choice([Fraction(1), Fraction(chance.randint(1, 20), 1000)])
    rate = chance.choice([rate, Fraction(chance.randint(1, 500), 1000)])
    makers = [_gaussian, _laplace, _integers, _integers, _few_outcomes, _many_answers]
    return chance.choice(makers)(chance, rate)
