"""The discrete Gaussian: phi(x) = (x - mu)**2/(2 sigma2), with sigma2 as the law's parameter.

With d = m - mu >= 0 the tail from m, in units of its first term, is

    R = sum over j >= 0 of exp(-(2 d j + j**2)/(2 sigma2)).

The cheaper of two methods computes it: the sum itself if it has few terms, or Euler-Maclaurin.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple

import gmpy2

from .._law import LawSpec
from .double_double import (
    Floats,
    Pair,
    Pairs,
    exact_product,
    exact_sum,
    rational_pair,
)
from .euler_maclaurin import corrections, log_of, remainder_factor, terms_for
from .formulas import About, RationalFormulas, nearest_integer, term_by_term
from .incomplete_gamma import scaled_gamma
from .interval import Arithmetic, Interval, Rational, Real, arithmetic

#: Sums for a smaller sigma2 are taken term by term, others by Poisson summation.
_SMALL_SIGMA2 = Fraction(1, 2)


class DiscreteGaussianFormulas(RationalFormulas):
    """The discrete Gaussian."""

    def exact_phi(self, spec: LawSpec, x: int) -> Rational:
        """Return phi(x), with mu = n/d and sigma2 = a/b."""
        n, d = spec.mu.numerator, spec.mu.denominator
        a, b = spec.parameter.numerator, spec.parameter.denominator
        return gmpy2.mpq((x * d - n) ** 2 * b, 2 * a * d * d)

    def tail_ratio(self, spec: LawSpec, m: int, bits: int) -> Interval:
        """Return the weight of all x >= m in units of that of m, for m at least mu."""
        return gaussian_tail(spec.parameter, m - spec.mu, bits)

    def scale_and_beta(self, spec: LawSpec, at: Arithmetic) -> tuple[Interval, Fraction]:
        """Return sqrt(2 sigma2) and 2."""
        return at.sqrt(at.rational(2 * spec.parameter)), Fraction(2)

    def exponents(self, spec: LawSpec, steps: Floats) -> Pairs:
        """Return j**2/(2 sigma2) + j (m0 - mu)/sigma2.

        The relative error of the pairs is 2**-105 and of each product of pairs 2**-102. So the
        error of the sum is at most 2**-100 times the first term, which is at most 2 E + 1/sigma2.
        """
        rate, offset = _rate_and_offset(spec)
        square, square_low = exact_product(steps, steps)
        first, first_low = exact_product(square, rate.high)
        first_low = first_low + (square * rate.low + square_low * rate.high)
        second, second_low = exact_product(steps, offset.high)
        second_low = second_low + steps * offset.low
        high, low = exact_sum(first, second)
        return Pairs(high, low + (first_low + second_low))

    def normaliser(self, spec: LawSpec, m0: int, bits: int) -> Interval:
        """Return the weight of all integers in units of that of m0, the integer nearest mu."""
        if spec.parameter >= _SMALL_SIGMA2:
            return _normaliser_by_poisson(spec.parameter, m0 - spec.mu, bits)
        return super().normaliser(spec, m0, bits)

    def distance_of(self, spec: LawSpec, level: Interval, at: Arithmetic) -> Interval:
        """Return the distance from mu at which phi is ``level``."""
        return at.sqrt(at.scale(level, 2 * spec.parameter))

    def whole_width(self, spec: LawSpec) -> int:
        """Return sigma, rounded down."""
        return math.isqrt(math.floor(spec.parameter))

    def moments(self, spec: LawSpec, bits: int, order: int) -> About:
        """Return the moments up to the order, about an origin that the law chooses."""
        if spec.parameter < _SMALL_SIGMA2:
            return term_by_term(self, spec, bits, order)
        return _moments_by_poisson(spec, bits, order)

    def loss_exceeds_from(self, spec: LawSpec, epsilon: Any, sensitivity: int) -> int | None:
        """Return the least x whose loss, (2 x D + D**2)/(2 sigma2), is above epsilon."""
        threshold = epsilon * gmpy2.mpq(spec.parameter) / sensitivity - gmpy2.mpq(sensitivity, 2)
        return int(threshold.numerator // threshold.denominator) + 1


@lru_cache(maxsize=64)
def _rate_and_offset(spec: LawSpec) -> tuple[Pair, Pair]:
    """Return 1/(2 sigma2) and (m0 - mu)/sigma2."""
    offset = (nearest_integer(spec.mu) - spec.mu) / spec.parameter
    return rational_pair(1 / (2 * spec.parameter)), rational_pair(offset)


def _normaliser_by_poisson(sigma2: Fraction, offset: Fraction, bits: int) -> Interval:
    """Return S for sigma2 >= 1/2 and offset = m0 - mu.

    Poisson summation: the sum over x of exp(-(x - mu)**2/(2 sigma2)) is

        sqrt(2 pi sigma2) (1 + 2 sum over k >= 1 of q**(k**2) cos(2 pi k mu)),
        q = exp(-2 pi**2 sigma2) <= exp(-pi**2).

    All after the term k is at most 2 q**((k+1)**2)/(1 - q) <= 3 q**((k+1)**2).
    """
    at = arithmetic(bits + 20)
    pi = at.pi()
    exponent = at.neg(at.scale(at.mul(pi, pi), 2 * sigma2))
    total = at.rational(1)
    k = 0
    while True:
        k += 1
        size = at.exp(at.scale(exponent, k * k))
        if at.up.mul_2exp(size.upper, bits + 6) <= 1:
            break
        total = at.add(total, at.scale(at.mul(size, at.cos_of_turns(k * offset)), 2))
    remainder = at.scale(size, 3)
    total = Interval(
        at.down.sub(total.lower, remainder.upper), at.up.add(total.upper, remainder.upper)
    )
    unit = at.sqrt(at.scale(pi, 2 * sigma2))
    at_m0 = at.exp(at.rational(offset * offset / (2 * sigma2)))
    return at.mul(at.mul(unit, total), at_m0)


def _moments_by_poisson(spec: LawSpec, bits: int, order: int) -> About:
    """Return the moments of the Gaussian for sigma2 >= 1/2, from the Poisson sums.

    The Fourier transform of y**n exp(-y**2/(2 sigma2)) at k is (-i sigma)**n He_n(t) times that of
    exp(-y**2/(2 sigma2)), with t = 2 pi sigma k and He_n the Hermite polynomial. Let Y = X - mu,
    q_k = exp(-t**2/2), c_k = cos(2 pi k mu) and s_k = sin(2 pi k mu). With sums over k >= 1,
    E(Y**n) Z is

        sigma**n ((n - 1)!! + 2 (-1)**(n/2) sum He_n(t) q_k c_k),    n even,
        2 sigma**n (-1)**((n + 1)/2) sum He_n(t) q_k s_k,            n odd

    (for n = 0 it is Z). By Cramer's inequality (Abramowitz and Stegun 22.14.17) abs(He_n(t)) is
    below 1.09 sqrt(n!) exp(t**2/4). Because t >= 4.4, this bound on a summand falls to less than
    half from one k to the next. So the remainder from k on is at most 5 sqrt(n!) exp(-t**2/4).
    """
    sigma2, mu = spec.parameter, spec.mu
    at = arithmetic(bits + 20 + order)
    unit = at.mul(at.scale(at.pi(), 2), at.sqrt(at.rational(sigma2)))
    largest = at.scale(at.sqrt(at.rational(math.factorial(order))), 5)
    sums = [at.rational(0 if n % 2 else math.prod(range(1, n, 2))) for n in range(order + 1)]
    for k in count(1):
        t = at.scale(unit, k)
        t2 = at.mul(t, t)
        remainder = at.mul(largest, at.exp(at.scale(t2, Fraction(-1, 4)))).upper
        if at.up.mul_2exp(remainder, bits + 6) <= 1:
            break
        q = at.scale(at.exp(at.scale(t2, Fraction(-1, 2))), 2)
        cosine, sine = at.mul(q, at.cos_of_turns(k * mu)), at.mul(q, at.sin_of_turns(k * mu))
        before, hermite = at.rational(0), at.rational(1)
        for n in range(order + 1):
            term = at.mul(hermite, sine if n % 2 else cosine)
            sums[n] = (at.sub if (n + 1) // 2 % 2 else at.add)(sums[n], term)
            before, hermite = hermite, at.sub(at.mul(t, hermite), at.scale(before, n))
    sums = [Interval(at.down.sub(s.lower, remainder), at.up.add(s.upper, remainder)) for s in sums]
    standard = [at.div(s, sums[0]) for s in sums[1:]]  # E((Y/sigma)**n)
    raw = [
        at.mul(s, at.power(at.rational(sigma2), Fraction(n, 2))) for n, s in enumerate(standard, 1)
    ]
    at_m0 = (nearest_integer(mu) - mu) ** 2 / (2 * sigma2)
    energy = at.shift(at.scale(standard[1], Fraction(1, 2)), -at_m0)
    return About(mu, raw, energy, at)


# --- tails, at a cost that does not grow with sigma

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
