"""Exact quantiles: the integer at which a law's distribution function passes a rational.

Everything is decided by certified intervals, asked again with more bits until they tell. The search
is Newton's on the logarithm of the tail, which is concave: a handful of steps whatever sigma is.
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
from .probability import kept_normaliser, pmf

_HALF = Fraction(1, 2)
_FEW_BITS = 64
#: Four times what integers of 65536 bits need; by then it is a tie, or as good as one.
_MOST_BITS = 2**18

#: Of a generalised Gaussian some 1/beta of the weight is at the edges: the search for a tail of
#: more than so many times that starts from the flat middle.
_FLAT = 16

#: Newton's steps before halving: from the first guess some ten are enough.
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
    """Return the smallest integer k with P(X <= k) >= 1/2: the one nearest to mu, the lower of two.

    Exactly, where no number of bits may tell: the weights of two sides can be almost equal. Let mu
    be at or above k, f = mu - k <= 1/2 (below k, mirrored, the same). Weights fall with distance.
    The distances of k, k - 1, ... are f, 1 + f, ... and of k + 1, k + 2, ... 1 - f, 2 - f, ...: in
    pairs the first are not farther, so P(X <= k) >= 1/2, with equality only for f = 1/2. Those of
    k - 1, ... are not below those of k + 1, ...: so P(X >= k) > 1/2, and P(X <= k - 1) < 1/2.
    """
    return math.ceil(mu - _HALF)


def _first_tail_below(spec: LawSpec, p: Fraction) -> int:
    """Return the smallest integer m with P(X >= m) <= p, for 0 < p <= 1/2.

    Equality holds at p = 1/2 and mu half an odd integer, which the caller has dealt with; were
    there another, _compare would end with an error.

    Invariant: P(X >= low) > p >= P(X >= high). It holds at first, as P(X >= c - 1) > 1/2 for c the
    first integer at or above mu: the law is symmetric about mu, and more than half of it is not
    below c - 1 < mu.
    """
    low = math.ceil(spec.mu) - 1
    high: int | None = None
    size_bits = max(0, gmpy2.get_exp(kept_normaliser(spec, _FEW_BITS)[1].upper))
    if spec.beta * p > _FLAT:  # beta is 1 for the others
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
        # the next step is about step**2/R, with so many bits known to its own square over R
        bits = _FEW_BITS + min(size_bits, 4 * max(0, size_bits - step.bit_length()))
        if tries >= _NEWTON_TRIES:  # rounded steps crawl: halve, or double
            step = (low - high) // 2 if high is not None else 2 ** (tries - _NEWTON_TRIES)
            m = low if high is None else high
        m = max(low + 1, m + step)
        if high is not None:
            m = min(m, high - 1)
    raise AssertionError  # count never ends


def tail_guess(spec: LawSpec, p: Fraction, *, beyond: bool = True) -> int:
    """Return about where exp(-phi) = p, right of mu and beyond the tail p; or nearer to that."""
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
    """Return where the tail would be p if all weights from m on were that of m; m at least.

    Of a large beta that is nearly so; logarithms of the tail fall so steeply at the edge that
    Newton's steps from there would only double.
    """
    at = arithmetic(bits + 10)
    length = at.sub(tail_ratio(spec, m, bits), at.div(at.rational(p), pmf(spec, m, bits)))
    if not length.lower > 0:  # minus infinity, where P(X = m) may be 0
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
