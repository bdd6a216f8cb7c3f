"""The least delta of integer noise at an epsilon, enclosed: Theorem 7 and what is like it.

For a query that one person changes by D, (epsilon, delta)-differential privacy of the noise X asks
for delta >= P(X in A) - exp(epsilon) P(X + D in A) for every set A, and for -D likewise, which is
the same by symmetry. The difference is largest where the privacy loss exceeds epsilon; as the loss
never falls (_privacy_loss.py) that is a half-line, and with T(m) = P(X >= m)

    delta = T(m) - exp(epsilon) T(m + D),    m the least x with loss(x) > epsilon.           (1)

For the discrete Gaussian this is Theorem 7 of CKS 2020. Any other m gives less, or as much. So
delta is a convex, piecewise linear function of exp(epsilon), and each m gives one of its lines.

Weights of tails are taken in units of one weight, exp(-phi(m)), and that exponent is kept as an
exact rational: nothing underflows. The two terms of (1) nearly cancel where sigma is large against
D, by a factor of about sigma/D; so the precision is raised until the enclosure is narrow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import gmpy2

from .._certified.formulas import RationalFormulas
from .._certified.interval import ONE, ZERO, Interval, arithmetic
from .._certified.laws_of_integers import formulas_of
from .._certified.probability import kept_normaliser
from .._law import Kind, LawSpec
from ._privacy_loss import FAR, loss_exceeds_from, phi_near, tail_weight

#: The relative width that results aim at is 2**-_AIM, well below the last bit of a float.
_AIM = 60

#: Beyond this precision an enclosure is returned as it is: safe, but not tight. A delta that is a
#: float needs no more than some 1200 bits; only the logarithm of a smaller one may.
_MOST_BITS = 4096

#: Tails at integers so close are computed one from the other, where phi is rational.
_STEPS_LIKE_A_TAIL = 32


class Enclosed(NamedTuple):
    """A number from 0 to 1: exp(-shift) times what is in factor; and 1 minus rest, if given."""

    shift: Any
    factor: Interval
    rest: Interval | None

    def upper(self, bits: int = 80) -> Any:
        """Return an upper bound."""
        up = arithmetic(bits).up
        scale = up.exp(up.add(-self.shift, ZERO))
        return min(up.mul(scale, self.factor.upper), ONE)

    def lower(self, bits: int = 80) -> Any:
        """Return a lower bound."""
        down = arithmetic(bits).down
        return down.mul(down.exp(down.add(-self.shift, ZERO)), max(self.factor.lower, ZERO))

    def is_at_most(self, delta: Any, bits: int) -> bool | None:
        """Return whether the number is at most an mpq; None if that is not known."""
        if self.rest is not None:  # next to 1 it is the more accurate
            rest = 1 - delta
            return True if self.rest.lower >= rest else False if self.rest.upper < rest else None
        return True if self.upper(bits) <= delta else False if self.lower(bits) > delta else None

    def log_upper(self, bits: int = 80) -> Any:
        """Return an upper bound on the logarithm."""
        up = arithmetic(bits).up
        if self.rest is not None and self.rest.upper < 0.5:
            return up.log1p(up.minus(self.rest.lower))
        return min(up.add(up.log(self.factor.upper), -self.shift), ZERO)


class Line(NamedTuple):
    """delta as a function of epsilon for one m: a - exp(epsilon) b, each with its unit.

    a = exp(-a_shift) a_factor, or 1 - a_rest; b = exp(-b_shift) b_factor.
    """

    a_shift: Any
    a_factor: Interval
    a_rest: Interval | None
    b_shift: Any
    b_factor: Interval

    def at(self, epsilon: Any, bits: int) -> Enclosed:
        """Return a - exp(epsilon) b."""
        at = arithmetic(bits)
        ratio = at.exp(at.rational(epsilon + self.a_shift - self.b_shift))
        taken = at.mul(ratio, self.b_factor)
        if self.a_rest is None:
            return Enclosed(self.a_shift, at.sub(self.a_factor, taken), None)
        rest = at.add(self.a_rest, taken)
        return Enclosed(self.a_shift, at.sub(at.rational(1), rest), rest)

    def solved_for(self, delta: Any, bits: int) -> Interval:
        """Return the epsilon at which the line reaches delta, which is below a."""
        at = arithmetic(bits)
        if self.a_rest is None:
            left = at.scale(at.exp(at.rational(self.a_shift)), delta)
            gap = at.sub(self.a_factor, left)
        else:  # next to 1 little is lost between what they leave of it
            gap = at.sub(at.rational(1 - delta), self.a_rest)
        quotient = at.div(gap, self.b_factor)
        if gap.lower > 0 and self.b_factor.lower <= 0:  # b is next to nothing
            quotient = Interval(at.down.div(gap.lower, self.b_factor.upper), gmpy2.inf())
        return at.shift(at.log(quotient), self.b_shift - self.a_shift)


@lru_cache(maxsize=16)
def line_at(spec: LawSpec, m: int, change: int, bits: int, most: Any = FAR) -> Line:
    """Return the line of the half-line from m; m >= -change/2.

    No shift is beyond ``most``, unless phi is rational.
    """
    at = arithmetic(bits + 4)
    total = kept_normaliser(spec, bits)[1]
    right = m + change
    if m >= 1:
        a, b = _two_tails(spec, m, right, bits, most)
        shifts = phi_near(spec, m, most), phi_near(spec, right, most)
        return Line(shifts[0], at.div(a, total), None, shifts[1], at.div(b, total))
    # T(m) = 1 - T(1 - m), by symmetry; and 1 - m <= right, as 2 m >= 1 - change
    a, b = _two_tails(spec, 1 - m, right, bits, most)
    shift = phi_near(spec, 1 - m, most)
    rest = at.div(at.mul(at.exp(at.rational(-shift)), a), total)
    one_minus = at.sub(at.rational(1), rest)
    return Line(gmpy2.mpq(0), one_minus, rest, phi_near(spec, right, most), at.div(b, total))


def _two_tails(spec: LawSpec, x: int, y: int, bits: int, most: Any) -> tuple[Interval, Interval]:
    """Return `tail_weight` at x and at y, 0 <= x <= y."""
    at_y = tail_weight(spec, y, bits, most)
    if y - x > _STEPS_LIKE_A_TAIL or not isinstance(formulas_of(spec), RationalFormulas):
        return tail_weight(spec, x, bits, most), at_y
    at = arithmetic(bits + 8)
    tail, phi = at_y, phi_near(spec, y)
    for z in range(y - 1, x - 1, -1):  # R(z) = 1 + exp(phi(z) - phi(z + 1)) R(z + 1)
        phi_z = phi_near(spec, z)
        tail = at.shift(at.mul(at.exp(at.rational(phi_z - phi)), tail), 1)
        phi = phi_z
    return tail, at_y


def delta_enclosed(spec: LawSpec, epsilon: Any, change: int, aim: int = _AIM) -> Enclosed | None:
    """Return delta by (1), to a relative width of 2**-aim; None if it is 0.

    Parameters
    ----------
    spec : LawSpec
        The noise, centred.
    epsilon : mpq
        At least 0.
    change : int
        D, at least 1.
    aim : int, optional
        What is asked for; it is missed where it would take too many bits.
    """
    first = loss_exceeds_from(spec, epsilon, change)
    if first is None:
        return None

    cut_off = not isinstance(formulas_of(spec), RationalFormulas)
    if cut_off and first[0] >= 1 and phi_near(spec, first[0]) >= FAR:
        # T(m) <= exp(-phi(m)), as the tail, in units of its first term, falls with m
        return Enclosed(FAR, Interval(ZERO, ONE), None)
    # so that exp(epsilon) b stays next to nothing where its shift is cut off
    most = max(FAR, gmpy2.mpq(1 << gmpy2.mpz(epsilon).bit_length() + 2)) if cut_off else FAR

    def evaluate(m: int) -> Callable[[int], Enclosed]:
        return lambda bits: line_at(spec, m, change, bits, most).at(epsilon, bits)

    guard = min(cancelling_bits(spec, change), _MOST_BITS)
    found = [narrow(evaluate(m), guard, aim) for m in range(first[0], first[1] + 1)]
    return max(found, key=lambda enclosed: enclosed.upper())


def narrow(evaluate: Callable[[int], Enclosed], guard: int, aim: int) -> Enclosed:
    """Evaluate with more and more bits, until the relative width is 2**-aim."""
    bits = min(aim + 10 + guard, _MOST_BITS)
    while True:
        enclosed = evaluate(bits)
        missing = aim - relative_bits(enclosed.factor)
        if missing <= 0 or bits >= _MOST_BITS:
            return enclosed
        bits = min(bits + max(missing + 8, bits // 2), _MOST_BITS)


def cancelling_bits(spec: LawSpec, change: int) -> int:
    """Return about how many bits cancel in delta; too few cost time alone.

    Of what is nearly a Gaussian that is the logarithm of sigma/change.
    """
    if spec.kind not in (Kind.DISCRETE_GAUSSIAN, Kind.SKELLAM):
        return 8
    log_variance = spec.parameter.numerator.bit_length() - spec.parameter.denominator.bit_length()
    return max(0, log_variance // 2 - change.bit_length()) + 6


def relative_bits(value: Interval) -> int:
    """Return about -log2 of the relative width, never too much; at least -20."""
    rough = arithmetic(32)
    width = rough.up.sub(value.upper, value.lower)
    if not gmpy2.is_finite(width):
        return -20
    if width == 0:
        return _MOST_BITS
    if value.lower <= 0:
        return -20
    return max(-20, -int(gmpy2.get_exp(rough.up.div(width, value.lower))))
