"""Tails of the discrete Gaussian, at a cost that does not grow with sigma.

With d = m - mu >= 0 the tail from m, in units of its first term, is

    R = sum over j >= 0 of exp(-(2 d j + j**2)/(2 sigma2)).

The cheaper of two methods computes it: the sum itself if it has few terms, or Euler-Maclaurin.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count
from typing import NamedTuple

import gmpy2

from .euler_maclaurin import corrections, log_of, remainder_factor, terms_for
from .incomplete_gamma import scaled_gamma
from .interval import Interval, Rational, Real, arithmetic

#: exp(-x) is below 2**-bits if x is above bits times this.
_LOG_2 = math.log(2)

#: Measured costs, in terms of the direct sum: of a term of Euler-Maclaurin, of its integral, and
#: for each sigma of the integral's distance from mu, up to ten.
_TERM_COST = 80
_INTEGRAL_COST = 150
_DEPTH_COST = 90


def gaussian_tail(sigma2: Fraction, d: Fraction, bits: int) -> Interval:
    """Return R for any d >= 0 and sigma2 > 0, aiming at a relative width of 2**-bits."""
    log_direct = _log_of_direct_terms(sigma2, d, bits)
    plan, integral = None, 0.0
    if log_direct > math.log(_INTEGRAL_COST):
        integral = _INTEGRAL_COST + _DEPTH_COST * min(_depth(sigma2, d), 10)
        if log_direct > math.log(integral):
            plan = _plan(sigma2, d, bits)
    if plan is None or log_direct < math.log(integral + _TERM_COST * plan.terms):
        growth = 1 / gmpy2.mpq(sigma2)
        first, guard = (d + gmpy2.mpq(1, 2)) * growth, 3 * max(0, int(log_direct / _LOG_2))
        return direct_sum(first=first, growth=growth, guard=guard, bits=bits)
    return _euler_maclaurin(sigma2, d, bits, plan)


def direct_sum(first: Rational, growth: Rational, guard: int, bits: int) -> Interval:
    """Return 1 + q_0 + q_0 q_1 + ... with q_j = exp(-first - j growth), first > 0, growth >= 0.

    The sum is computed in integers, in units of 2**-places, and every product is rounded down. Both
    exponentials are at most 2 units above their integers. No number is above 1, so the errors e of
    q_j and E of term n obey e' <= e + 3 and E' <= E + e + 1. Hence q_j is off by at most 2 + 3 j
    units, term n by 3 n (n + 1)/2, and the sum of the terms before it by (n - 1) n (n + 1)/2.
    ``guard`` bits make up for this. The ratios fall, so a term t of ratio q to the one before it
    and all later terms sum to at most t/(1 - q).
    """
    places = bits + 12 + guard
    at = arithmetic(places + 8)
    one = 1 << places

    def units(value: Real) -> int:
        # int(value) would round to the nearest
        return int(gmpy2.mpz(at.down.floor(at.down.mul_2exp(value, places))))

    q = units(at.exp(at.rational(-first)).lower)
    c = units(at.exp(at.rational(-growth)).lower)
    enough = one >> (bits + 2)  # for the remainder, because the sum is at least 1
    term = total = one
    for n in count(1):
        term = term * q >> places
        if term < enough and q + 3 * n < one:
            remainder = (term + 3 * n * (n + 1) // 2) * one // (one - q - 3 * n) + 1
            if remainder <= enough:
                most = total + (n - 1) * n * (n + 1) // 2 + remainder
                down, up = at.down, at.up
                return Interval(
                    down.div_2exp(down.add(total, 0), places), up.div_2exp(up.add(most, 0), places)
                )
        total += term
        q = q * c >> places
    raise AssertionError  # count never ends


def _log_of_direct_terms(sigma2: Fraction, d: Fraction, bits: int) -> float:
    """Return about the logarithm of the number n of terms: (2 d n + n**2)/(2 sigma2) = goal."""
    goal = (bits + 10) * _LOG_2
    log_sigma2 = log_of(sigma2)
    quiet = 0.5 * (math.log(2 * goal) + log_sigma2)  # d = 0
    return quiet if d == 0 else min(quiet, math.log(goal) + log_sigma2 - log_of(d))


def _depth(sigma2: Fraction, d: Fraction) -> float:
    """Return about d/sigma, or infinity from about 10**13 on."""
    far = d and log_of(d) - log_of(sigma2) / 2 > 30
    return math.inf if far else float(d * d / sigma2) ** 0.5


class _EulerMaclaurin(NamedTuple):
    """The use of Euler-Maclaurin: radius r, terms p, and the kind of bound on the integral of M."""

    radius: Fraction
    terms: int
    near: bool
    log_growth: float


def _plan(sigma2: Fraction, d: Fraction, bits: int) -> _EulerMaclaurin | None:
    """Return a plan chosen in floats. `_growth` then bounds its error exactly."""
    log_sigma = log_of(sigma2) / 2
    a = _depth(sigma2, d)
    near = a < 4
    # a short rational near sigma, or near the length sigma2/d over which the tail decays
    log_unit = log_sigma if near else 2 * log_sigma - log_of(d)
    unit = Fraction(2) ** math.floor(log_unit / _LOG_2)
    # tails sum to about the unit, at least to 1
    goal = -(bits + 4) * _LOG_2 + max(0.0, log_unit)
    best: _EulerMaclaurin | None = None
    for eighths in (4, 8, 12, 16, 24, 32, 48, 64, 128, 256):
        radius = unit * eighths / 8
        log_r = log_of(radius)
        if near:
            rho = math.exp(log_r - log_sigma)
            log_growth = rho * rho / 2 + a * a / 4 + log_sigma + 0.6
        elif 2 * radius > d:
            break
        else:
            c = math.exp(log_r - log_unit)
            log_growth = c * (1 + c / (2 * a * a)) + log_unit + 0.7
        terms = terms_for(log_r, goal - log_growth)
        if terms is not None and (best is None or terms < best.terms):
            best = _EulerMaclaurin(radius, terms, near, log_growth - log_unit)
    return best


def _growth(sigma2: Fraction, d: Fraction, plan: _EulerMaclaurin) -> Interval:
    """Return a bound on the integral of M over x >= m, in units of f(m).

    M is the maximum of abs(f) on circles of radius r, f(x) = exp(-X**2/(2 sigma2)) with X = x - mu.
    For z = a + ib on the circle, Re (X + z)**2 = (X + a)**2 - r**2 + a**2.

    near: Re (X + z)**2 is at least X**2/2 - r**2 for every a. On X >= d, X**2/2 is at least
    d**2/2 + (X - d)**2/2. So the integral is at most
    exp(r**2/(2 sigma2) - d**2/(4 sigma2)) sqrt(pi sigma2), and f(m) = exp(-d**2/(2 sigma2)).

    far: Re (X + z)**2 = X**2 + 2 X a + 2 a**2 - r**2 is at least X**2 - 2 X r - r**2. With
    X = d + u, in units of f(m), the exponent is at most (d r + r**2/2)/sigma2 - u (d - r)/sigma2.
    Because r <= d/2, the integral over u is at most 2 sigma2/d.
    """
    at = arithmetic(64)
    r = plan.radius
    if plan.near:
        exponent = at.rational((2 * r * r + d * d) / (4 * sigma2))
        return at.mul(at.exp(exponent), at.sqrt(at.scale(at.pi(), sigma2)))
    exponent = at.rational((2 * d * r + r * r) / (2 * sigma2))
    return at.scale(at.exp(exponent), 2 * sigma2 / d)


def _euler_maclaurin(sigma2: Fraction, d: Fraction, bits: int, plan: _EulerMaclaurin) -> Interval:
    """Return R by the formula of euler_maclaurin.py, for g(u) = exp(-(2 d u + u**2)/(2 sigma2)).

    The integral of g is (s/2) e**x Gamma(1/2, x) with s**2 = 2 sigma2, x = d**2/s**2. Its Taylor
    coefficients obey (n + 1) c_(n+1) = -(d c_n + c_(n-1))/sigma2.
    """
    at = arithmetic(bits + 40 + int(max(0.0, plan.log_growth) / _LOG_2))
    x = arithmetic(at.bits + at.bits // 8).rational(d * d / (2 * sigma2))
    half_s = at.sqrt(at.rational(sigma2 / 2))
    integral = at.mul(half_s, scaled_gamma(Fraction(1, 2), x, bits + 20))

    taylor = [at.rational(1), at.rational(-d / sigma2)]
    d_term, unit_term = at.rational(d / sigma2), at.rational(1 / sigma2)
    for n in range(1, 2 * plan.terms - 1):
        step = at.add(at.mul(d_term, taylor[n]), at.mul(unit_term, taylor[n - 1]))
        taylor.append(at.neg(at.scale(step, Fraction(1, n + 1))))

    rough = arithmetic(64)
    factor = remainder_factor(plan.terms, plan.radius, rough)
    error = rough.mul(factor, _growth(sigma2, d, plan)).upper
    total = at.add(integral, corrections(taylor, plan.terms, at))
    return Interval(at.down.sub(total.lower, error), at.up.add(total.upper, error))
