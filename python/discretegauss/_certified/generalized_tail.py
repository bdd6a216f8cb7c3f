"""Tails of the discrete generalised Gaussian, at a cost that does not grow with the scale.

Let phi(y) = (y/s)**beta, f = exp(-phi), and d = m - mu >= 0. The weight of a term is a power of its
distance from mu over the scale. The weighted tail from m, in units of f(m), is

    R_e = sum over y = d, d + 1, d + 2, ... of (y/s)**e exp(phi(d) - phi(y)),      e >= 0.

It has up to three pieces, in this order:

- *flat*: the terms with phi below 2**-bits, if beta is large. There f is 1.
- *explicit*: term by term, either to the end or up to the next piece.
- *Euler-Maclaurin*: from a distance at which f is smooth on the scale of 1. f has a branch point at
  y = 0. The circles of Cauchy's estimate must stay clear of it, and within a sector around the
  positive axis in which exp(-z**beta) is small.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

import gmpy2

from .euler_maclaurin import corrections, log_of, remainder_factor, terms_for
from .incomplete_gamma import scaled_gamma
from .interval import Arithmetic, Interval, arithmetic

_LOG_2 = math.log(2)
_LOG_LARGEST = 650.0  # its exponential is a float, and too large for any use here
_INFINITY = gmpy2.inf()

#: Fewer flat terms than this are taken explicitly.
_FEWEST_FLAT = 4

#: From this beta on, growing circles start too far from mu unless the flat piece covers that part.
_STEEP = 1000

#: An explicit term takes about 20 microseconds; Euler-Maclaurin with p terms 600 + 3 p**2.
_EXPLICIT_COST, _INTEGRAL_COST, _SQUARE_COST = 20.0, 600.0, 3.0

#: From this beta on, powers are computed from logarithms, which are accurate near 1. Powers of
#: smaller exponents lose at most 16 bits.
_LARGE_BETA = 2**16

#: The most bits that a power can lose and that matter. beta log(y/s) may be far longer. But then
#: phi(y) is above 2**(2**20) or below 2**-(2**20), and nothing else matters.
_MOST_GUARD = 40

#: Logarithms are limited to this size.
_FAR_LOG = 1e300

#: The most microseconds. Only tens of thousands of bits more than the scale has take longer.
_MOST_COST = 1e8


class TailShape(NamedTuple):
    """phi(y) = (y/scale)**beta."""

    scale: Fraction
    beta: Fraction


def phi(shape: TailShape, y: Fraction, at: Arithmetic) -> Interval:
    """Return phi(y) for y >= 0, to about beta log(y/scale) units of the last place."""
    if y == 0:
        return at.rational(0)
    if shape.beta >= _LARGE_BETA:
        return at.exp(at.scale(log_quotient(y, shape.scale, at), shape.beta))
    return at.power(quotient(*whole_ratio(y, shape.scale), at), shape.beta)


def whole_ratio(a: Fraction | int, b: Fraction | int) -> tuple[Any, Any]:
    """Return two mpz in the ratio a/b, not in lowest terms, which may take milliseconds."""
    return gmpy2.mpz(a.numerator) * b.denominator, gmpy2.mpz(b.numerator) * a.denominator


def quotient(a: Any, b: Any, at: Arithmetic) -> Interval:
    """Return a/b of integers."""
    return at.div(at.rational(a), at.rational(b))


def log_quotient(a: Fraction | int, b: Fraction | int, at: Arithmetic) -> Interval:
    """Return log(a/b) of positive numbers, to full relative precision also near 1."""
    above, below = whole_ratio(a, b)
    if 2 * abs(above - below) <= below:
        return at.log1p(quotient(above - below, below, at))
    return at.log(quotient(above, below, at))


def generalized_tail(
    shape: TailShape, d: Fraction, bits: int, power: Fraction | int = 0
) -> Interval:
    """Return R_power for any d >= 0, aiming at a relative width of 2**-bits.

    power is 0, 1, 2, 3, 4 or beta. If d = 0, the first term is 1 for power 0 and else 0.
    """
    plan = _plan(shape, d, bits)
    at = arithmetic(bits + 40 + bits.bit_length() + exponent_guard(shape, d + 1) + plan.guard)
    phi_d = phi(shape, d, at)
    total = _flat(shape, d, plan.flat, power, at)
    if plan.radius is None:
        return at.add(total, _explicit_to_the_end(shape, d, phi_d, plan.flat, power, bits, at))
    for j in range(plan.flat, plan.start):
        total = at.add(total, _term(shape, d, phi_d, j, power, at))
    remainder = _euler_maclaurin(shape, d + plan.start, bits, plan.radius, plan.terms, power, at)
    ratio = at.exp(log_ratio(shape, d, d + plan.start, phi_d, at))
    return at.add(total, at.mul(remainder, ratio))


def exponent_guard(shape: TailShape, y: Fraction) -> int:
    """Return about log2 of beta log(y/scale), the bits that a power by the logarithm loses.

    The result is at most `_MOST_GUARD`.
    """
    spread = abs(log_of(y) - log_of(shape.scale)) + 1
    lost = max(0, int((log_of(shape.beta) + math.log(spread)) / _LOG_2)) + 2
    return min(lost, _MOST_GUARD)


# --- explicit terms


def log_ratio(
    shape: TailShape, a: Fraction, b: Fraction, phi_a: Interval, at: Arithmetic
) -> Interval:
    """Return phi(a) - phi(b) for b >= a >= 0 and phi_a = phi(a), without losing digits."""
    if a == b:
        return at.rational(0)
    if phi_a.upper <= 2:  # nothing cancels
        return at.sub(phi_a, phi(shape, b, at))
    # (b/a)**beta - 1, to full relative precision
    growth = at.expm1(at.scale(at.log1p(quotient(*whole_ratio(b - a, a), at)), shape.beta))
    return at.neg(at.mul(phi_a, growth))


def _weight(shape: TailShape, y: Fraction, power: Fraction | int, at: Arithmetic) -> Interval:
    if power == 0 or y == 0:
        return at.rational(1 if power == 0 else 0)
    if power in range(5):
        return at.power(quotient(*whole_ratio(y, shape.scale), at), power)
    return at.exp(at.scale(log_quotient(y, shape.scale, at), power))


def _term(
    shape: TailShape, d: Fraction, phi_d: Interval, j: int, power: Fraction | int, at: Arithmetic
) -> Interval:
    log = log_ratio(shape, d, d + j, phi_d, at)
    if power in range(5) or d + j == 0:
        return at.mul(at.exp(log), _weight(shape, d + j, power, at))
    # by logarithms: a large power may overflow while its factor underflows
    return at.exp(at.add(log, at.scale(log_quotient(d + j, shape.scale, at), power)))


def _next_ratio(shape: TailShape, y: Fraction, power: Fraction | int, at: Arithmetic) -> Interval:
    """Return the ratio of the term at y + 1 to the term at y > 0."""
    log = log_ratio(shape, y, y + 1, phi(shape, y, at), at)
    return at.exp(at.add(log, at.scale(at.log1p(at.rational(1 / y)), power)))


def _explicit_to_the_end(
    shape: TailShape,
    d: Fraction,
    phi_d: Interval,
    first: int,
    power: Fraction | int,
    bits: int,
    at: Arithmetic,
) -> Interval:
    """Return the sum of all terms from j = first on.

    phi is convex and (y/s)**e log-concave, so the ratios of each term to the one before fall. After
    a term t of ratio q < 1, at most t q/(1 - q) remains.
    """
    total = at.rational(0)
    before = at.rational(0)
    for j in count(first):
        term = _term(shape, d, phi_d, j, power, at)
        total = at.add(total, term)
        q = at.up.div(term.upper, before.lower) if before.lower > 0 else _INFINITY
        if term.lower <= 0 < d + j:  # the term may have underflowed: use its ratio
            q = _next_ratio(shape, d + j, power, at).upper
        if q < 1:
            remainder = at.up.div(at.up.mul(term.upper, q), at.down.sub(1, q))
            if at.up.mul_2exp(remainder, bits + 3) <= total.lower or (term.lower <= 0 and q < 0.5):
                return Interval(total.lower, at.up.add(total.upper, remainder))
        before = term
    raise AssertionError  # count never ends


# --- flat


def _flat(shape: TailShape, d: Fraction, n: int, power: Fraction | int, at: Arithmetic) -> Interval:
    """Return bounds on the sum of the first n terms, which are nearly (y/s)**power.

    f(y)/f(d) is at most 1 and at least exp(-phi(y)), and phi(y) is at most phi at the last term.
    Sums of y**power are exact for integers up to 4. For power beta the terms are phi, which is
    convex. Their sum is at most the largest term plus the integral up to there, which is y/(beta +
    1) times the largest. This is small against the whole sum, which is about s/beta.
    """
    if n == 0:
        return at.rational(0)
    last = d + n - 1
    least = at.exp(at.neg(phi(shape, last, at)))
    if power not in range(5):
        most = min(Fraction(n), 1 + last / (shape.beta + 1))
        return Interval(at.rational(0).lower, at.scale(_weight(shape, last, power, at), most).upper)
    exact = sum(
        math.comb(int(power), i) * d ** (int(power) - i) * _power_sum(n, i)
        for i in range(int(power) + 1)
    )
    whole = at.rational(exact / shape.scale ** int(power))
    return Interval(at.mul(whole, least).lower, whole.upper)


def _power_sum(n: int, i: int) -> Fraction:
    """Return 0**i + 1**i + ... + (n - 1)**i for i <= 4, with 0**0 = 1."""
    return Fraction(
        (
            n,
            n * (n - 1) // 2,
            n * (n - 1) * (2 * n - 1) // 6,
            (n * (n - 1) // 2) ** 2,
            n * (n - 1) * (2 * n - 1) * (3 * n * n - 3 * n - 1) // 30,
        )[i]
    )


# --- Euler-Maclaurin


class _TailPlan(NamedTuple):
    """Flat terms, explicit ones up to start, then Euler-Maclaurin unless radius is None."""

    flat: int
    start: int = 0
    radius: Fraction | None = None
    terms: int = 0
    guard: int = 0


def _plan(shape: TailShape, d: Fraction, bits: int) -> _TailPlan:
    """Return a plan chosen in floats, on logarithms. Its errors are bounded when it is used."""
    goal = (bits + 6) * _LOG_2
    log_beta = log_of(shape.beta)
    log_s, log_d = log_of(shape.scale), log_of(d) if d else -math.inf
    log_phi = _log_phi(shape, d) if d else -math.inf
    log_flat = -goal
    flat = 0
    if log_phi < log_flat:
        flat = _flat_terms(shape, d, Fraction(-log_flat) / shape.beta)
    # from the end of the flat piece to where phi has grown by goal
    log_end = log_s + log_flat * math.exp(-log_beta)
    log_from, log_phi_from = (log_end, log_flat) if flat else (log_d, log_phi)
    log_n = _log_of_explicit_terms(log_s, log_from, log_phi_from, log_beta, goal)
    explicit_cost = _EXPLICIT_COST * math.exp(min(log_n, 300.0))
    best = _TailPlan(flat)
    if explicit_cost <= _INTEGRAL_COST:
        return best
    best_cost = explicit_cost
    for radius, clear in _circles(shape, d, bits, flat, log_d, log_phi, log_s):
        start = max(0, math.ceil(clear * radius - d))
        flat_part = min(flat, start)
        log_r, log_y = log_of(radius), log_of(d + start)
        log_phi_y = _log_phi(shape, d + start)
        log_growth = _log_growth(log_y, log_phi_y, log_r, log_s, log_beta)
        log_tail = max(0.0, _log_length(log_y, log_phi_y, log_s, log_beta))
        terms = terms_for(log_r, log_tail - goal - log_growth)
        if terms is None:
            continue
        cost = (
            _EXPLICIT_COST * min(start - flat_part, 2**500)
            + _INTEGRAL_COST
            + _SQUARE_COST * terms**2
        )
        if cost < best_cost:
            guard = int(2 * max(0.0, log_growth - log_tail) / _LOG_2)
            best, best_cost = _TailPlan(flat_part, start, radius, terms, guard), cost
    if best_cost * (1 + bits / 1000) > _MOST_COST:  # arithmetic of many bits is slower
        raise ArithmeticError(f"a tail to {bits} bits would take longer than minutes")
    return best


def _log_phi(shape: TailShape, y: Fraction) -> float:
    """Return about log(phi(y)) = beta log(y/s), y > 0, limited to `_FAR_LOG`."""
    if shape.beta < _LARGE_BETA:
        return float(shape.beta) * (log_of(y / shape.scale))
    at = arithmetic(64)
    found = at.scale(log_quotient(y, shape.scale, at), shape.beta).lower
    return float(min(max(found, -_FAR_LOG), _FAR_LOG))


def _flat_terms(shape: TailShape, d: Fraction, below: Fraction) -> int:
    """Return the number of d, d + 1, ... that are at most scale exp(-below), or one less."""
    at = arithmetic(64 + max(0, shape.scale.numerator.bit_length()))
    end = at.scale(at.exp(at.rational(-below)), shape.scale).lower
    n = math.floor(int(gmpy2.mpz(at.down.floor(end))) - d) + 1
    return n if n >= _FEWEST_FLAT else 0


def _log_of_explicit_terms(
    log_s: float, log_from: float, log_phi: float, log_beta: float, goal: float
) -> float:
    """Return about log n with phi(y + n) = phi(y) + goal, given log y and log phi(y)."""
    if log_from == -math.inf:
        return log_s + math.log(goal) * math.exp(-log_beta)
    above = math.log(goal) - log_phi  # log of goal/phi(y)
    if above < -30:  # n/y is so small that log1p and expm1 equal their arguments
        return log_from + above - log_beta
    log_v = math.log(max(above, 0.0) + math.log1p(math.exp(-abs(above)))) - log_beta
    if log_v < -30:
        return log_from + log_v
    v = math.exp(log_v)
    return log_from + (v if v > 30 else math.log(math.expm1(v)))


def _circles(
    shape: TailShape,
    d: Fraction,
    bits: int,
    flat: int,
    log_d: float,
    log_phi: float,
    log_s: float,
) -> list[tuple[Fraction, Fraction]]:
    """Return radii r to try, each with the least distance from mu for Euler-Maclaurin, in r.

    exp(-2 pi r) is below 2**-bits, and r is not far beyond the decay length. If the decay length is
    large, growing circles need to reach 2**-bits only in units of it. `_growth` says how near to mu
    they may start. Few terms, or flat ones, come before them.
    """
    clear = max(Fraction(2), Fraction(9, 10) * shape.beta)
    radii = [Fraction(bits * twentieths, 20) for twentieths in (3, 4, 6, 10, 16)]
    if d > bits:
        log_top = min(log_d, _log_length(log_d, log_phi, log_s, log_of(shape.beta)) + 3) - _LOG_2
        top = Fraction(2) ** math.floor(log_top / _LOG_2)
        growing = Fraction(2) ** math.floor((log_d - log_of(clear)) / _LOG_2 - 1e-6)
        radii += [r for r in (*(top / 2**i for i in range(6)), growing) if r > bits]
    circles = [(radius, Fraction(2)) for radius in radii]
    long = int(log_s / _LOG_2)
    if long > 16 and (flat > clear * bits or (d <= bits and shape.beta < _STEEP)):
        fewer = max(40, bits - long)
        circles += [(Fraction(fewer * twentieths, 20), clear) for twentieths in (4, 6, 10, 16)]
    return circles


def _log_length(log_y: float, log_phi: float, log_s: float, log_beta: float) -> float:
    """Return about the logarithm of the length over which f decays from y on."""
    return min(log_s, log_y - log_beta - log_phi)


def _log_growth(
    log_y: float, log_phi_y: float, log_r: float, log_s: float, log_beta: float
) -> float:
    """Return about the logarithm of the integral that `_growth` bounds (power 0).

    log(phi(y)) is an argument because beta would magnify the error of a difference of logarithms.
    """
    log_x, log_phi_x = log_y, log_phi_y
    grown = math.log(0.9) + log_beta + log_r
    if grown > log_y:
        log_x, log_phi_x = grown, _times_beta(grown - log_s, log_beta)
    t = math.exp(log_r - log_x)
    beta_t = math.exp(log_beta + log_r - log_x)
    # beta log1p(-t); t may be too small for floats
    log_kappa = beta_t * (math.log1p(-t) / t if t > 1e-9 else -1.0)
    log_kappa += math.log1p(-2 * math.sin(math.pi * beta_t / 6) ** 2)
    # 1 - k is about beta t if that is small
    log_missing = (
        math.log(-math.expm1(log_kappa)) if log_kappa < -1e-9 else log_beta + log_r - log_x
    )
    if log_missing + log_phi_x > _LOG_LARGEST:
        return math.inf
    far = math.exp(log_missing + log_phi_x)
    log_integral = min(
        log_x - log_beta - log_phi_x - log_kappa, log_s - log_kappa * math.exp(-log_beta)
    )
    if log_x == log_y:
        # for power beta the whole sum is smaller by a factor of beta
        return far + min(log_integral, log_x + log_beta)
    far += log_integral
    beyond = log_phi_x + beta_t * (math.log1p(t) / t if t > 1e-9 else 1.0)
    return max(far, 2 * math.exp(min(beyond, _LOG_LARGEST)) + log_x) + _LOG_2


def _times_beta(log: float, log_beta: float) -> float:
    """Return beta log, limited to `_FAR_LOG`."""
    return math.copysign(min(abs(log) * math.exp(min(log_beta, 600.0)), _FAR_LOG), log)


def _growth(
    shape: TailShape, y: Fraction, radius: Fraction, terms: int, power: Fraction | int
) -> Interval:
    """Return a bound on the integral of M from y on, in units of f(y); radius <= y/2.

    M(x) is the maximum of abs((z/s)**e f(z)) on the circle of radius r around x, as in
    euler_maclaurin.py. On the circle abs(z) <= x + r, and z = w e**(i b) with w >= x - r. Because
    asin is convex, abs(b) <= asin(t) <= (pi/3) t with t = r/x <= 1/2. X is max(y, (9/10) beta r).

    x >= X: beta b <= (pi/3)(10/9) < pi/2, so Re phi(z) = phi(w) cos(beta b) >= k phi(x), with k =
    (1 - r/X)**beta cos((pi/3) beta r/X). With c = (1 + r/X)**e, which is below exp(10/9) for
    e = beta, M(x) <= c (x/s)**e exp(-k phi(x)). From X on that integrates to c s/beta k**-a
    Gamma(a, k phi(X)), a = (e + 1)/beta.

    y <= x < X: if there are such x, Re phi(z) >= -abs(phi(z)) >= -phi(x + r), so M(x) is at most
    ((X + r)/s)**e exp(phi(X + r)).

    If there are none, growing circles are possible, too: of radius t x with t = r/y around all x.
    The same bound c (x/s)**e exp(-k phi(x)) on M(x) holds, because t has not changed. On x >= y it
    is largest at the x with phi(x) = v = max(phi(y), e/(beta k)), and (y/x)**(2p) integrates to
    y/(2p - 1).
    """
    e = Fraction(power)
    end = max(y, Fraction(9, 10) * shape.beta * radius)
    t = radius / end
    a = (e + 1) / shape.beta
    at = arithmetic(
        96 + exponent_guard(shape, end) + _integer_bits(phi(shape, end, arithmetic(64)))
    )
    phi_y, phi_end = phi(shape, y, at), phi(shape, end, at)
    # t may be as small as 1/beta
    fall = at.exp(at.scale(at.log1p(at.rational(-t)), shape.beta))
    kappa = at.mul(fall, at.cos_of_turns(shape.beta * t / 6))
    x = at.mul(kappa, phi_end)
    integral = at.mul(at.exp(at.sub(phi_y, x)), scaled_gamma(a, x, 40))
    total = at.div(at.scale(integral, shape.scale / shape.beta), at.power(kappa, a))
    if end == y:
        peak = at.div(at.rational(e / shape.beta), kappa)
        v = Interval(max(phi_y.lower, peak.lower), max(phi_y.upper, peak.upper))
        highest = at.mul(at.power(v, e / shape.beta), at.exp(at.sub(phi_y, at.mul(kappa, v))))
        total = min(total, at.scale(highest, y / (2 * terms - 1)), key=lambda bound: bound.upper)
    total = at.mul(total, at.exp(at.scale(at.log1p(at.rational(t)), e)))
    if end > y:
        bound = at.exp(at.add(phi_y, phi(shape, end + radius, at)))
        weight = _weight(shape, end + radius, e, at)
        total = at.add(total, at.mul(at.scale(bound, end - y), weight))
    return total


def _integer_bits(x: Interval) -> int:
    """Return the number of bits before the point of x, or 0 if x is not a regular number."""
    return max(0, gmpy2.get_exp(x.upper)) if gmpy2.is_regular(x.upper) else 0


def _euler_maclaurin(
    shape: TailShape,
    y: Fraction,
    bits: int,
    radius: Fraction,
    terms: int,
    power: Fraction | int,
    at: Arithmetic,
) -> Interval:
    """Return R_power from y on, in units of f(y): the sum of g(u) = ((y + u)/s)**e f(y + u)/f(y).

    The integral of g is s/beta e**x Gamma((e + 1)/beta, x), x = phi(y). The Taylor coefficients
    c_n of exp(-phi(y) ((1 + u/y)**beta - 1)) obey n c_n = -phi(y) sum of k b_k c_(n-k), k = 1..n,
    with k b_k = beta binom(beta - 1, k - 1)/y**k.
    """
    e = Fraction(power)
    phi_y = phi(shape, y, at)
    finer = arithmetic(at.bits + at.bits // 8)
    integral = scaled_gamma(
        (e + 1) / shape.beta,
        phi(shape, y, finer),
        bits + 20,
        x_to_a=finer.power(finer.rational(y / shape.scale), e + 1),
    )
    integral = at.scale(integral, shape.scale / shape.beta)

    n_coefficients = 2 * terms
    slopes = [at.neg(at.scale(phi_y, shape.beta / y))]  # -phi(y) k b_k for k = 1, 2, ...
    for k in range(1, n_coefficients):
        slopes.append(at.scale(slopes[-1], (shape.beta - k) / (k * y)))
    taylor = [at.rational(1)]
    for n in range(1, n_coefficients):
        total = at.rational(0)
        for k in range(1, n + 1):
            total = at.add(total, at.mul(slopes[k - 1], taylor[n - k]))
        taylor.append(at.scale(total, Fraction(1, n)))
    if e:
        taylor = _times_power(taylor, shape, y, e, at)

    rough = arithmetic(64)
    growth = _growth(shape, y, radius, terms, power)
    error = rough.mul(remainder_factor(terms, radius, rough), growth).upper
    value = at.add(integral, corrections(taylor, terms, at))
    return Interval(at.down.sub(value.lower, error), at.up.add(value.upper, error))


def _times_power(
    taylor: list[Interval], shape: TailShape, y: Fraction, e: Fraction, at: Arithmetic
) -> list[Interval]:
    """Return the Taylor coefficients of ((y + u)/s)**e g(u), given those of g."""
    factors = [_weight(shape, y, e, at)]  # (y/s)**e binom(e, k)/y**k
    for k in range(1, len(taylor)):
        if e == k - 1:
            break  # the power is an integer, so the binomials end
        factors.append(at.scale(factors[-1], (e - k + 1) / (k * y)))
    product = []
    for n in range(len(taylor)):
        total = at.rational(0)
        for k in range(min(n + 1, len(factors))):
            total = at.add(total, at.mul(factors[k], taylor[n - k]))
        product.append(total)
    return product
