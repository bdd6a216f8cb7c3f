"""Exact quantiles: the integer at which a law's distribution function passes a rational.

Certified intervals decide every comparison; their bits grow until they do. The search is Newton's
method on the logarithm of the tail, which is concave. It takes a few steps for any sigma.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count

import gmpy2

from .._law import Kind, LawSpec
from .formulas import mirrored
from .interval import arithmetic
from .laws_of_integers import formulas_of, tail_ratio
from .probability import cached_normaliser, pmf

_HALF = Fraction(1, 2)
_FEW_BITS = 64
#: Four times the need of integers of 65536 bits. If these do not decide, it must be a tie.
_MOST_BITS = 2**18

#: About 1/beta of the weight of a generalised Gaussian is at the edges. The search for a tail of
#: more than _FLAT/beta starts from the flat middle.
_FLAT = 16

#: The number of Newton's steps before bisection. About ten are usually enough.
_NEWTON_TRIES = 40


def lower_quantile(spec: LawSpec, level: Fraction) -> int:
    """Return the smallest integer k with P(X <= k) >= level, for 0 < level < 1.

    Examples
    --------
    >>> from discretegauss._law import Kind
    >>> lower_quantile(LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(100)), Fraction(1, 2))
    0
    """
    if level > _HALF:
        # P(X <= k) >= level is P(X >= k + 1) <= 1 - level
        return _first_tail_below(spec, 1 - level) - 1
    if level == _HALF:
        return _median(spec.mu)
    # with Y = -X and m = -k: the largest m with P(Y >= m) >= level
    return 1 - _first_tail_below(mirrored(spec), level)


def _median(mu: Fraction) -> int:
    """Return the smallest integer k with P(X <= k) >= 1/2: the nearest to mu, the lower of two.

    No number of bits may decide, because the weights of two sides can be almost equal. Let mu be at
    or above k with f = mu - k <= 1/2; below k the proof is mirrored. Weights fall with distance.
    The distances of k, k - 1, ... are f, 1 + f, ..., those of k + 1, k + 2, ... are 1 - f, 2 - f,
    ... In pairs the first are not larger, so P(X <= k) >= 1/2, with equality only for f = 1/2. The
    distances of k - 1, ... are not below those of k + 1, ..., so P(X >= k) > 1/2 and
    P(X <= k - 1) < 1/2.
    """
    return math.ceil(mu - _HALF)


def _first_tail_below(spec: LawSpec, p: Fraction) -> int:
    """Return the smallest integer m with P(X >= m) <= p, for 0 < p <= 1/2.

    Equality holds if p = 1/2 and mu is half an odd integer, which the caller has handled. In any
    other case of equality `_compare` would raise an error.

    Invariant: P(X >= low) > p >= P(X >= high). It holds at first: let c be the first integer at or
    above mu. The law is symmetric about mu and c - 1 < mu, so P(X >= c - 1) > 1/2.
    """
    low = math.ceil(spec.mu) - 1
    high: int | None = None
    size_bits = max(0, gmpy2.get_exp(cached_normaliser(spec, _FEW_BITS)[1].upper))
    if spec.beta * p > _FLAT:  # beta is 1 for other laws
        guess = _guess_on_the_flat(spec, p, low + 1, _FEW_BITS + size_bits)
    else:
        guess = tail_guess(spec, p, beyond=False)
    m = max(low + 1, guess)
    bits = _FEW_BITS
    for tries in count():
        below, step = _compare(spec, m, p, bits)
        if below:
            high = m
        else:
            low = m
        if high is not None and high - low == 1:
            return high
        # the next step is about step**2/R, and these bits give it to its own square over R
        bits = _FEW_BITS + min(size_bits, 4 * max(0, size_bits - step.bit_length()))
        if tries >= _NEWTON_TRIES:  # rounded steps are too short: bisect or double
            step = (low - high) // 2 if high is not None else 2 ** (tries - _NEWTON_TRIES)
            m = low if high is None else high
        m = max(low + 1, m + step)
        if high is not None:
            m = min(m, high - 1)
    raise AssertionError  # count never ends


def tail_guess(spec: LawSpec, p: Fraction, *, beyond: bool = True) -> int:
    """Return about the x > mu with exp(-phi(x)) = p, beyond the tail p; or a closer guess."""
    at = arithmetic(_FEW_BITS + spec.parameter.numerator.bit_length())
    level = at.neg(at.log(at.rational(p)))
    distance = formulas_of(spec).distance_of(spec, level, at).lower
    if spec.kind is Kind.DISCRETE_GAUSSIAN and not beyond:  # Abramowitz and Stegun 26.2.23
        t = math.sqrt(2 * float(level.lower))
        above = 2.515517 + t * (0.802853 + 0.010328 * t)
        below = 1 + t * (1.432788 + t * (0.189269 + 0.001308 * t))
        distance = at.down.add(at.down.mul(distance, 1 - above / below / t), 0.5)
    return math.floor(spec.mu) + int(gmpy2.mpz(at.down.floor(distance)))


def _guess_on_the_flat(spec: LawSpec, p: Fraction, m: int, bits: int) -> int:
    """Return where the tail would be p if all weights from m on equalled that of m; at least m.

    A large beta comes near to this. At the edge the logarithm of its tail falls so steeply that
    Newton's steps from there would only double.
    """
    at = arithmetic(bits + 10)
    length = at.sub(tail_ratio(spec, m, bits), at.div(at.rational(p), pmf(spec, m, bits)))
    if not length.lower > 0:  # it is minus infinity if P(X = m) may be 0
        return m
    return m + int(gmpy2.mpz(at.down.floor(length.lower)))


def _compare(spec: LawSpec, m: int, p: Fraction, bits: int) -> tuple[bool, int]:
    """Return whether P(X >= m) <= p, and Newton's step from m towards equality, at least 1 long.

    With T(m) = P(X >= m) and R = T(m)/P(X = m), log T(m + 1) - log T(m) = log(1 - 1/R).
    """
    while True:
        at = arithmetic(bits + 10)
        ratio = tail_ratio(spec, m, bits)
        quotient = at.div(at.mul(pmf(spec, m, bits), ratio), at.rational(p))
        if quotient.upper <= 1 or quotient.lower > 1:
            break
        bits *= 2
        if bits > _MOST_BITS:
            raise ArithmeticError(f"a quantile could not be decided with {_MOST_BITS} bits")
    below = bool(quotient.upper <= 1)
    slope = at.log1p(at.neg(at.div(at.rational(1), ratio)))
    step = at.div(at.log(quotient), at.neg(slope))
    if not gmpy2.is_finite(step.lower):
        return below, -1 if below else 1
    if below:
        return True, min(-1, int(gmpy2.mpz(at.down.floor(step.lower))))
    return False, max(1, int(gmpy2.mpz(at.up.ceil(step.lower))))
