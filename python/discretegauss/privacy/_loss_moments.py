"""Bounds on delta and epsilon from moments of the loss, for more releases than buckets tell apart.

With L the sum of all losses, M(s) = E(exp(s L)) over finite losses, which is a product over the
releases, and s > 0,

    delta <= P(L infinite) + M(s) exp(-s epsilon)/(1 + s) (s/(1 + s))**s,

as (1 - exp(-x)) exp(-s x) is at most (s/(1 + s))**s/(1 + s) for x >= 0. It is the conversion of
Renyi divergences of order 1 + s (CKS 2020, Proposition 12), and it holds for what dominates.

*One cell.* Its losses are in [l, l + x], its masses P and Q; u = exp(-loss) has the mean Q/P. As
u**-s is convex in u, the moment is largest if all losses are at the ends: with R = Q exp(l) at most

    P exp(s l) + m (exp(s (l + x)) - exp(s l)),    m = min(P, (P - R)/(1 - exp(-x))).

That rises with P and falls as R rises. 1 - exp(-x) is at least x - x**2/2 and at least x/(1 + x);
exp(y) - 1 is at most y + y**2/2 exp(y).

*Rounding.* Exponentials have a relative error of 2**-51, sums are exact but for one rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import gmpy2
import numpy as np

from .._certified.double_double_functions import exponential_in_floats
from .._certified.interval import Interval, arithmetic
from ._loss_cells import Cells

_AT = arithmetic(128)

#: Exponents are taken up to here, either way.
_FAR = 700.0

#: More than all roundings of a cell's moment.
_ROUNDED = 1 + 2.0**-48


class Moment(NamedTuple):
    """log(M(s)) of all releases, rounded up."""

    s: float
    log: Any

    def log_delta(self, epsilon: Fraction) -> Any:
        """Return a bound on the logarithm of delta without what an infinite loss adds."""
        s, log = Fraction(self.s), Interval(self.log, self.log)
        return _AT.add(_AT.shift(log, -s * epsilon), _log_factor(s)).upper

    def epsilon(self, delta: Any) -> Any:
        """Return an epsilon at which that bound is at most delta > 0; perhaps below 0."""
        s, log = Fraction(self.s), Interval(self.log, self.log)
        whole = _AT.sub(_AT.add(log, _log_factor(s)), _AT.log(Interval(delta, delta)))
        return _AT.scale(whole, 1 / s).upper


def _log_factor(s: Fraction) -> Interval:
    """Return log((s/(1 + s))**s/(1 + s))."""
    share = _AT.scale(_AT.log(_AT.rational(s / (1 + s))), s)
    return _AT.sub(share, _AT.log1p(_AT.rational(s)))


def log_moment(cells: Cells, s: float) -> Any:
    """Return an upper bound on log(E(exp(s loss))) over the finite losses of one release."""
    near = np.isfinite(cells.top)
    loss, top, p, r = (part[near] for part in (cells.loss, cells.top, cells.p_up, cells.r_low))
    slip = 2.0**-50 * np.abs(loss)
    low, x = loss - slip, (top + 3 * slip) * (1 + 2.0**-50)
    exponent = s * low
    exponent += 2.0**-50 * np.abs(exponent)
    rise = s * x * (1 + 2.0**-50)
    if exponent.size and float((exponent + rise).max()) > _FAR:
        return gmpy2.inf()
    start = exponential_in_floats(np.maximum(exponent, -_FAR))
    power = exponential_in_floats(rise) * (1 + 2.0**-50)
    grown = np.minimum(rise + rise * rise / 2 * power, power - 1 + 2.0**-52)
    fall = np.maximum(x - x * x / 2, x / (1 + x)) * (1 - 2.0**-50)
    need = np.maximum(p - r * (1 - 2 * slip) * (1 - 2.0**-50), 0.0) * (1 + 2.0**-50)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(need < p * fall, need / fall, p)
    found = math.fsum((p * start).tolist()) + math.fsum((moved * start * grown).tolist())
    lowest = float(start[np.argmin(loss)]) if loss.size else 1.0
    found += cells.under * lowest
    return _AT.up.log(_AT.up.mul(found, _ROUNDED)) if found > 0 else -gmpy2.inf()
