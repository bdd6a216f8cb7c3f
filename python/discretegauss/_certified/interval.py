"""Interval arithmetic at any precision: two ends, each rounded away from the value.

An `Interval` holds a number that is not known exactly: lower <= value <= upper. Every operation of
`Arithmetic` returns an interval that holds the result for all values in its operands, because MPFR
rounds each operation correctly in the chosen direction. The directions are those of two gmpy2
contexts that belong to the object. The context of the thread is neither read nor changed, so one
caller's settings cannot affect another caller.

Exponents go as far as MPFR's own, to 2**30 in size. A number outside of that range becomes 0 or
infinity on the safe side. A number below the smallest positive one becomes 0 as a lower end, and
the smallest positive one as an upper end.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import gmpy2
from gmpy2 import is_nan

from .._system.memory import require_memory

#: A gmpy2.mpfr. gmpy2 has no type information.
Real = Any

#: A gmpy2.mpq, whose arithmetic takes a tenth of the time of a Fraction.
Rational = Any

ZERO: Real = gmpy2.mpfr(0)
_INFINITY: Real = gmpy2.inf()

#: Exponents below this use MPFR's power, larger ones the logarithm.
_MAX_POWER = 2**32


def fraction_of(exact: Real | Rational) -> Fraction:
    """Return a finite number as a Fraction, exactly."""
    return Fraction(*map(int, exact.as_integer_ratio()))


class Interval(NamedTuple):
    """lower <= value <= upper."""

    lower: Real
    upper: Real


def _context(bits: int, rounding: int) -> Any:
    widest = {"emin": gmpy2.get_emin_min(), "emax": gmpy2.get_emax_max()}
    return gmpy2.context(precision=bits, round=rounding, **widest)


def _require_own_precision(context: Any) -> None:
    """Refuse gmpy2 before 2.3, whose contexts divide by the thread's settings."""
    if context.div(gmpy2.mpfr(1), 3).precision != context.precision:
        raise ImportError(
            f"gmpy2 must be 2.3 or later, got {gmpy2.version()}; that version divides without "
            "regard to the direction of rounding"
        )


_require_own_precision(_context(64, gmpy2.RoundUp))


class Arithmetic:
    """Interval operations at a precision of `bits` bits.

    Operands may have any precision. `down` and `up` are gmpy2 contexts: ``down.mul(x, y)`` is the
    product rounded down. They are for inner loops over positive numbers, in which lower ends depend
    only on lower ends. A rational operand (mpq) is first rounded in the same direction. This gives
    a bound if the result rises with the operand, as in sums, but not if it falls:
    ``down.sub(x, q)`` is no bound, ``down.add(x, -q)`` is one.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.down = _context(bits, gmpy2.RoundDown)
        self.up = _context(bits, gmpy2.RoundUp)

    # --- constants

    def rational(self, value: Fraction | Rational | int) -> Interval:
        """Return the rational."""
        # 0 + q is correctly rounded; q / 1 would round numerator and denominator
        exact = gmpy2.mpq(value)
        return Interval(self.down.add(exact, ZERO), self.up.add(exact, ZERO))

    def pi(self) -> Interval:
        """Return pi."""
        return Interval(self.down.const_pi(), self.up.const_pi())

    # --- the four operations

    def neg(self, a: Interval) -> Interval:
        """Return -a."""
        return Interval(self.down.minus(a.upper), self.up.minus(a.lower))

    def add(self, a: Interval, b: Interval) -> Interval:
        """Return a + b."""
        return Interval(self.down.add(a.lower, b.lower), self.up.add(a.upper, b.upper))

    def sub(self, a: Interval, b: Interval) -> Interval:
        """Return a - b."""
        return Interval(self.down.sub(a.lower, b.upper), self.up.sub(a.upper, b.lower))

    def mul(self, a: Interval, b: Interval) -> Interval:
        """Return a b."""
        if a.lower >= 0 and b.lower >= 0:
            lower, upper = self.down.mul(a.lower, b.lower), self.up.mul(a.upper, b.upper)
            # 0 times infinity may be anything
            return Interval(ZERO if is_nan(lower) else lower, _INFINITY if is_nan(upper) else upper)
        return self._extremes("mul", a, b)

    def div(self, a: Interval, b: Interval) -> Interval:
        """Return a / b, or the whole line if b may be 0."""
        if b.lower <= 0 <= b.upper:
            return Interval(-_INFINITY, _INFINITY)
        if a.lower >= 0 and b.lower > 0:
            lower, upper = self.down.div(a.lower, b.upper), self.up.div(a.upper, b.lower)
            return Interval(ZERO if is_nan(lower) else lower, _INFINITY if is_nan(upper) else upper)
        return self._extremes("div", a, b)

    def _extremes(self, name: str, a: Interval, b: Interval) -> Interval:
        """Return the hull of an operation that is monotone in each operand, from its ends."""
        down, up = getattr(self.down, name), getattr(self.up, name)
        first, second = (a.lower, a.lower, a.upper, a.upper), (*b, *b)
        lowers, uppers = tuple(map(down, first, second)), tuple(map(up, first, second))
        if any(map(is_nan, lowers)):  # 0 times infinity
            return Interval(-_INFINITY, _INFINITY)
        return Interval(min(lowers), max(uppers))

    # --- with exact operands

    def scale(self, a: Interval, factor: Fraction | int) -> Interval:
        """Return a times a rational."""
        if a.lower >= 0 and factor > 0:
            exact = gmpy2.mpq(factor)  # rounded in the direction of the product
            return Interval(self.down.mul(a.lower, exact), self.up.mul(a.upper, exact))
        return self.mul(a, self.rational(factor))

    def shift(self, a: Interval, term: Fraction | int) -> Interval:
        """Return a plus a rational."""
        exact = gmpy2.mpq(term)
        return Interval(self.down.add(a.lower, exact), self.up.add(a.upper, exact))

    # --- functions that rise

    def exp(self, a: Interval) -> Interval:
        """Return e**a."""
        return Interval(self.down.exp(a.lower), self.up.exp(a.upper))

    def expm1(self, a: Interval) -> Interval:
        """Return e**a - 1."""
        return Interval(self.down.expm1(a.lower), self.up.expm1(a.upper))

    def log(self, a: Interval) -> Interval:
        """Return the natural logarithm of a value that is known to be positive."""
        lower = self.down.log(a.lower) if a.lower > 0 else -_INFINITY
        return Interval(lower, self.up.log(a.upper) if a.upper > 0 else -_INFINITY)

    def log1p(self, a: Interval) -> Interval:
        """Return log(1 + a) of a value that is known to be above -1."""
        lower = self.down.log1p(a.lower) if a.lower > -1 else -_INFINITY
        return Interval(lower, self.up.log1p(a.upper))

    def sqrt(self, a: Interval) -> Interval:
        """Return the square root of a value that is known to be at least 0."""
        return Interval(
            self.down.sqrt(max(a.lower, ZERO)),
            self.up.sqrt(max(a.upper, ZERO)),
        )

    def erfc(self, a: Interval) -> Interval:
        """Return the complementary error function (which falls)."""
        return Interval(self.down.erfc(a.upper), self.up.erfc(a.lower))

    def gamma(self, a: Fraction) -> Interval:
        """Return the gamma function of a rational in (0, 1], where it falls.

        If a is tiny, MPFR takes seconds from some thousand bits on. Then Gamma(a) = exp(g)/a is
        used, with g = log Gamma(1 + a) between -gamma a and -gamma a + a**2. The series of g,
        -gamma a + zeta(2) a**2 / 2 - zeta(3) a**3 / 3 + ..., alternates, its terms fall, and
        zeta(2) < 2 (NIST DLMF 5.7.3).
        """
        if 2 * (a.denominator.bit_length() - a.numerator.bit_length() - 1) > self.bits:
            square = self.mul(self.rational(a), self.rational(a)).upper  # below one unit
            euler = Interval(self.down.const_euler(), self.up.const_euler())
            g = self.neg(self.scale(euler, a))
            return self.scale(self.exp(Interval(g.lower, self.up.add(g.upper, square))), 1 / a)
        at = self.rational(a)
        return Interval(self.down.gamma(at.upper), self.up.gamma(at.lower))

    def power(self, a: Interval, exponent: Fraction | int) -> Interval:
        """Return a**exponent of a value known to be positive, or at least 0 if exponent > 0.

        The relative error is about abs(exponent) times that of a. If the exponent is not an
        integer, abs(exponent log(a)) 2**-bits is added.
        """
        exponent = Fraction(exponent)
        if exponent == 0:
            return self.rational(1)
        if exponent < 0:
            return self.div(self.rational(1), self.power(a, -exponent))
        if exponent.denominator == 1 and exponent.numerator < _MAX_POWER:
            n = exponent.numerator
            return Interval(
                self.down.pow(max(a.lower, ZERO), n), self.up.pow(max(a.upper, ZERO), n)
            )
        return self.exp(self.scale(self.log(a), exponent))

    def cos_of_turns(self, turns: Fraction) -> Interval:
        """Return cos(2 pi turns) of a rational."""
        return self._of_turns(turns)

    def sin_of_turns(self, turns: Fraction) -> Interval:
        """Return sin(2 pi turns) of a rational."""
        return self._of_turns(turns - Fraction(1, 4))

    def _of_turns(self, turns: Fraction) -> Interval:
        """Return cos(2 pi turns), by its quarter, in which it is monotone and has one sign."""
        folded = abs(turns - round(turns))  # in [0, 1/2], where the cosine falls
        if folded > Fraction(1, 4):
            return self.neg(self._of_turns(Fraction(1, 2) - folded))
        if folded == Fraction(1, 4):
            return self.rational(0)
        if folded > Fraction(1, 8):  # near the zero: use the sine of the small angle
            angle = self.scale(self.pi(), 2 * (Fraction(1, 4) - folded))  # below pi/4
            return Interval(self.down.sin(angle.lower), self.up.sin(angle.upper))
        angle = self.scale(self.pi(), 2 * folded)  # at most about pi/4
        return Interval(self.down.cos(angle.upper), self.up.cos(angle.lower))


def arithmetic(bits: int) -> Arithmetic:
    """Return the arithmetic of a precision. The last few are cached, because they are immutable.

    GMP and MPFR end the process if they get no memory, so this first makes sure of some.
    """
    require_memory()
    return _arithmetic(bits)


@lru_cache(maxsize=256)
def _arithmetic(bits: int) -> Arithmetic:
    return Arithmetic(bits)


#: 1, independent of the exponents that the importing thread's context allows.
ONE: Real = Arithmetic(2).rational(1).lower


def relative_width_below(a: Interval, bits: int) -> bool:
    """Return whether upper - lower <= 2**-bits abs(value) is sure; False if the value may be 0.

    Examples
    --------
    >>> third = arithmetic(100).rational(Fraction(1, 3))
    >>> relative_width_below(third, 98), relative_width_below(third, 102)
    (True, False)
    """
    if not (gmpy2.is_finite(a.lower) and gmpy2.is_finite(a.upper)):
        return False
    if a.lower == a.upper:
        return True
    rough = arithmetic(32)
    smallest = rough.down.maxnum(rough.down.plus(a.lower), rough.down.minus(a.upper))
    width = rough.up.sub(a.upper, a.lower)
    return bool(rough.up.mul_2exp(width, bits) <= smallest)
