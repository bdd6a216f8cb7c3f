"""Bounds on the tails of weighted sums of draws, from exponential moments alone.

For S = sum of w_j X_j, the X_j independent and symmetric, and every a > 0,

    P(abs(S) > r) <= 2 exp(-a r) times the product of E exp(a w_j X_j),

so r = (log(2/miss) + sum of log E exp(a w_j X_j))/a suffices. Floats choose a; r is computed with
intervals. Of each draw a bound on L(t) = log E exp(t X) is needed:

*discrete Gaussian*: t**2 sigma2/2, because the sum over x of exp(-(x - c)**2/(2 sigma2)) is largest
for c = 0;

*discrete Laplace*, with p = exp(-1/scale) and abs(t) < 1/scale:
2 log(1 - p) - log(1 - p exp(t)) - log(1 - p exp(-t));

*others*: let all draws be within their q, but for half of the miss. Given that, X is symmetric,
within q, and its variance is at most v, that of the law. cosh(t x) - 1 is at most
(x/q)**2 (cosh(t q) - 1), so L(t) <= v/q**2 (cosh(t q) - 1).

*If there is no time for the weights*, a critical value t with P(abs(S) > t sqrt(V)) <= miss, V the
variance of S, is found from the laws alone. For discrete Gaussians E exp(a S) <= exp(a**2 c V/2),
c the largest sigma2/variance, so t = sqrt(2 c log(2/miss)). For all laws the fourth moment of S is
at most (3 + k) V**2, k the largest excess kurtosis, or 0: t = ((3 + k)/miss)**(1/4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from .._certified.floats import float_at_least
from .._certified.interval import ZERO, Arithmetic, Interval, arithmetic, fraction_of
from .._certified.moments import excess_kurtosis
from ..laws import DiscreteGaussian, DiscreteLaplace
from ._nested import Floats

Cells = Mapping[tuple[Fraction, Any], int]
"""How many draws there are of each weight, above 0, and law."""

_BITS = 128

_STEPS = 60
"""So many a are tried."""

_LARGEST_EXPONENT = 500.0
"""Its hyperbolic cosine is a float."""

_WIDE = 1000.0
"""From this scale on floats take the moments of the Laplace law for those of the discrete one."""


def radius(cells: Cells, miss: Fraction, proxy: Fraction = Fraction(0)) -> Fraction:
    """Return an r with P(abs(S + T) > r) <= miss, T sub-Gaussian with this parameter."""
    others = {law for _, law in cells if not isinstance(law, DiscreteGaussian | DiscreteLaplace)}
    reach: dict[Any, int] = {}
    if others:
        miss /= 2
        draws = sum(n for (_, law), n in cells.items() if law in others)
        reach = {law: max(1, int(law.isf(miss / (2 * draws)))) for law in others}
    rest: list[tuple[Fraction, Any, int]] = []
    for (w, law), n in cells.items():
        if isinstance(law, DiscreteGaussian):
            proxy += n * w**2 * law.sigma2
        else:
            rest.append((w, law, n))
    at = arithmetic(_BITS)
    log = at.log(at.rational(2 / miss))
    if not rest:
        return fraction_of(at.sqrt(at.scale(log, 2 * proxy)).upper)
    a = _best(rest, reach, proxy, float(log.upper))
    total = at.shift(log, a**2 * proxy / 2)
    for w, law, n in rest:
        total = at.add(total, at.scale(_log_moment(law, w * a, reach, at), n))
    return fraction_of(at.scale(total, 1 / a).upper)


def critical_value(laws: Iterable[Any], miss: Fraction) -> float:
    """Return a t with P(abs(S) > t sqrt(V)) <= miss, for all weights of draws of these laws."""
    at, laws = arithmetic(_BITS), list(dict.fromkeys(laws))
    excess = max(ZERO, *(excess_kurtosis(law._simplest, 64).upper for law in laws))
    fourth = at.scale(at.shift(Interval(excess, excess), 3), 1 / miss)
    found = at.sqrt(at.sqrt(fourth)).upper
    if all(isinstance(law, DiscreteGaussian) for law in laws):
        c = max(law.sigma2 / Fraction(law.var(bounds=True)[0]) for law in laws)
        found = min(found, at.sqrt(at.scale(at.log(at.rational(2 / miss)), 2 * c)).upper)
    return float_at_least(found)


def _best(
    rest: list[tuple[Fraction, Any, int]], reach: dict[Any, int], proxy: Fraction, log: float
) -> Fraction:
    """Return nearly the best a, in floats."""
    unit = max(w * Fraction(float(law.std())) for w, law, _ in rest)
    sub_gaussian = float(proxy / unit**2)
    moments: list[Callable[[Floats], Floats]] = []
    most, variance = math.inf, sub_gaussian
    for w, law, n in rest:
        variance += n * float(w * Fraction(float(law.std())) / unit) ** 2
        step = float(w / unit)
        if law in reach:
            most = min(most, _LARGEST_EXPONENT / (step * reach[law]))
            moments.append(partial(_of_reach, step, float(law.var()), reach[law], n))
        else:
            most = min(most, 1 / (step * float(law.scale)))
            moments.append(partial(_of_laplace, step, float(law.scale), n))
    most = min(most, 3 * math.sqrt(2 * log / variance))
    a = most * np.arange(1, _STEPS) / _STEPS
    total = log + a**2 * sub_gaussian / 2 + sum(moment(a) for moment in moments)
    return Fraction(float(a[np.argmin(total / a)])) / unit


def _of_reach(step: float, variance: float, reach: int, n: int, a: Floats) -> Floats:
    return np.asarray(n * variance / reach**2 * (np.cosh(a * step * reach) - 1))


def _of_laplace(step: float, scale: float, n: int, a: Floats) -> Floats:
    if scale > _WIDE:
        return np.asarray(-n * np.log1p(-np.square(a * step * scale)))
    p = math.exp(-1 / scale)
    ends = np.log1p(-p * np.exp(a * step)) + np.log1p(-p * np.exp(-a * step))
    return np.asarray(n * (2 * math.log1p(-p) - ends))


def _log_moment(law: Any, t: Fraction, reach: dict[Any, int], at: Arithmetic) -> Interval:
    """Return an interval whose upper end is at least L(t)."""
    if law in reach:
        q = reach[law]
        grown = at.exp(at.rational(t * q))
        cosh = at.scale(at.add(grown, at.div(at.rational(1), grown)), Fraction(1, 2))
        variance = Fraction(law.var(bounds=True)[1])
        return at.scale(at.shift(cosh, -1), variance / q**2)
    rate = 1 / law.scale
    logs = [at.log(at.neg(at.expm1(at.rational(x - rate)))) for x in (Fraction(0), t, -t)]
    return at.sub(at.scale(logs[0], 2), at.add(logs[1], logs[2]))
