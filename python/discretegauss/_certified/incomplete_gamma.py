"""The scaled upper incomplete gamma function e**x Gamma(a, x), with proven bounds.

    Gamma(a, x) = integral from x to infinity of t**(a - 1) e**-t dt

With a = 1/beta it is the integral of exp(-(y/s)**beta), from which the sums over integers start.
For the Gaussian a is 1/2, and it is a complementary error function. With the factor e**x it neither
underflows nor loses digits for large x.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import count

import gmpy2

from .interval import Arithmetic, Interval, arithmetic

#: From about 4000 bits on, the series of `_gamma` is faster than the first call of MPFR's gamma
#: function, measured: ten times at 10**4 bits. MPFR takes a second there and blocks signals.
_MANY_BITS = 4000
#: The series multiplies and divides by numbers up to about this times the bits, which fit words.
_SHORT = 2**24


def scaled_gamma(a: Fraction, x: Interval, bits: int, x_to_a: Interval | None = None) -> Interval:
    """Return e**x Gamma(a, x) for a rational a > 0 and x >= 0, aiming at a relative width 2**-bits.

    x_to_a is x**a, if the caller knows it better than x, which may be below the smallest number.

    Integration by parts, Gamma(a, x) = (a - 1) Gamma(a - 1, x) + x**(a - 1) e**-x, brings a into
    (0, 1] by sums of positive terms. Then the continued fraction converges in about
    (bits / 6)**2 / x steps, and the series in about 3 x + bits / log(bits / x). The fraction is
    used if x is above bits / 16, and else the series. A wide x gives a wide result; the series
    loses about bits/8 of its bits.
    """
    at = arithmetic(bits + 40 + 2 * bits.bit_length())
    if a > 1:
        lower_order = at.scale(scaled_gamma(a - 1, x, bits), a - 1)
        return at.add(lower_order, at.power(x, a - 1))
    if a == 1:
        return at.rational(1)
    if a == Fraction(1, 2) and x.upper <= 2 * bits:
        return _by_error_function(x, bits)
    if x.lower > max(1.0, bits / 16):
        return _by_continued_fraction(a, x, bits, at)
    return _by_series(a, x, bits, x_to_a)


def _by_error_function(x: Interval, bits: int) -> Interval:
    """Return e**x Gamma(1/2, x) = sqrt(pi) e**x erfc(sqrt(x)), by MPFR's erfc.

    e**x and erfc turn an absolute error of x into a relative one, so log2(x) bits are lost.
    """
    at = arithmetic(bits + 20)
    root = arithmetic(bits + 40).sqrt(x)
    return at.mul(at.mul(at.erfc(root), at.exp(x)), at.sqrt(at.pi()))


def _by_continued_fraction(a: Fraction, x: Interval, bits: int, at: Arithmetic) -> Interval:
    """Return e**x Gamma(a, x) for 0 < a < 1, x > 0.

    x**-a e**x Gamma(a, x) is the integral of exp(-u) u**-a / (x + u) du / Gamma(1 - a). This is a
    Stieltjes transform, and has the S-fraction

        1/(x + (1-a)/(1 + 1/(x + (2-a)/(1 + 2/(x + ...)))))

    All its elements are positive and the moments grow like factorials (Carleman's condition), so it
    converges for every x > 0, and the value lies between each convergent and the next (NIST DLMF
    8.9.2 and 3.10(ii)). Convergents are A/B with A and B sums of positive terms, so lower ends
    depend only on lower ends, and upper ends on upper ends.
    """
    down, up = at.down, at.up
    x_low, x_high = x
    a_exact = gmpy2.mpq(a)
    # the convergents after 1/x and 1/(x + (1-a)/1), as (older, newer), lower and upper ends
    unit = at.rational(1)
    num_old_low = num_old_high = num_low = num_high = unit.lower
    den_old_low, den_old_high = x_low, x_high
    den_low, den_high = down.add(x_low, 1 - a_exact), up.add(x_high, 1 - a_exact)
    k = 0
    while True:
        for _ in range(8):
            k += 1
            # partial quotient k/(x + ...): from here on `old` is the newer of the two
            num_old_low = down.add(down.mul(num_low, x_low), down.mul(num_old_low, k))
            num_old_high = up.add(up.mul(num_high, x_high), up.mul(num_old_high, k))
            den_old_low = down.add(down.mul(den_low, x_low), down.mul(den_old_low, k))
            den_old_high = up.add(up.mul(den_high, x_high), up.mul(den_old_high, k))
            # partial quotient (k + 1 - a)/(1 + ...): `old` is the older again
            c_low, c_high = at.rational(k + 1 - a)
            num_low = down.add(num_old_low, down.mul(num_low, c_low))
            num_high = up.add(num_old_high, up.mul(num_high, c_high))
            den_low = down.add(den_old_low, down.mul(den_low, c_low))
            den_high = up.add(den_old_high, up.mul(den_high, c_high))
        lower = down.div(num_low, den_high)
        upper = up.div(num_old_high, den_old_low)
        # after many steps the width may be rounding errors only
        if up.mul_2exp(up.sub(upper, lower), bits + 2) <= lower or k > 64 * bits:
            return at.mul(at.power(x, a), Interval(lower, upper))


def _by_series(a: Fraction, x: Interval, bits: int, x_to_a: Interval | None) -> Interval:
    """Return e**x Gamma(a, x) for 0 < a < 1 and x >= 0 of moderate size.

    e**x Gamma(a, x) = e**x Gamma(a) - x**a (1/a + x/(a (a+1)) + x**2/(a (a+1) (a+2)) + ...). Ratios
    of terms fall, so the terms after one of ratio q < 1 sum to at most q/(1 - q) times it. The
    difference is about x**(a-1) and the minuend e**x/a, so x/log(2) + log2(1/a) bits cancel.
    """
    if (
        x.upper > 64 * bits
    ):  # x is hardly known: use the integral of (x + u)**(a - 1) e**-u, which falls
        unknown = arithmetic(bits)
        return Interval(unknown.rational(0).lower, unknown.rational(1 / a).upper)
    size = a.denominator.bit_length() - a.numerator.bit_length()
    if size > 2 * bits + 64 and x.lower > 0:
        return _of_tiny_a(a, x, bits)
    cancelled = int(1.5 * float(x.upper)) + min(size, 2 * bits + 64)
    at = arithmetic(bits + 60 + 2 * bits.bit_length() + max(0, cancelled))
    whole = at.mul(at.exp(x), _gamma(a, at.bits))
    if x.upper == 0 and x_to_a is None:
        return whole
    down, up = at.down, at.up
    term = at.div(at.rational(1), at.rational(a))
    term_low, term_high = term
    sum_low, sum_high = term
    n = 0
    while True:
        n += 1
        a_n = at.rational(a + n)
        q_low, q_high = down.div(x.lower, a_n.upper), up.div(x.upper, a_n.lower)
        term_low, term_high = down.mul(term_low, q_low), up.mul(term_high, q_high)
        sum_low, sum_high = down.add(sum_low, term_low), up.add(sum_high, term_high)
        if q_high < 0.5 and up.mul_2exp(term_high, at.bits) <= sum_low:
            break
    # later ratios are below q < 1/2, so the remainder is at most this last term
    sum_high = up.add(sum_high, term_high)
    # x**a from x if x > 0: a small a leaves little of the width of x
    power = at.power(x, a) if x.lower > 0 or x_to_a is None else x_to_a
    return at.sub(whole, at.mul(power, Interval(sum_low, sum_high)))


def _of_tiny_a(a: Fraction, x: Interval, bits: int) -> Interval:
    """Return e**x Gamma(a, x) for an a far below 2**-bits, and x > 0 of moderate size.

    Both sides of `_by_series` are a little above 1/a. With the series S = 1 + x/(a+1) +
    x**2/((a+1) (a+2)) + ..., their difference is

        e**x (Gamma(1+a) - 1)/a + (e**x - S)/a - S (x**a - 1)/a.

    Gamma(1+a) = e**g with g as in `Arithmetic.gamma`. 1 - 1/((1+a/1) ... (1+a/n)) is at most a H_n,
    H_n = 1 + 1/2 + ... + 1/n, and at least a H_n - (a n)**2. So e**x - S is at most a T, with T the
    sum of H_n x**n/n!, and at least a T - a**2 (x**2 + x) e**x.
    """
    at = arithmetic(bits + 60 + 2 * bits.bit_length() + int(1.5 * float(x.upper)))
    down, up = at.down, at.up
    exp = at.exp(x)
    small = at.rational(a)
    euler = Interval(down.const_euler(), up.const_euler())
    g = at.neg(at.mul(euler, small))
    g = Interval(g.lower, up.add(g.upper, up.mul(small.upper, small.upper)))
    total = at.mul(exp, at.div(at.expm1(g), small))
    # T: after a term of ratio q < 1/2, at most as much again remains
    term, harmonic, t = x, at.rational(1), x
    for n in count(2):
        term = at.scale(at.mul(term, x), Fraction(1, n))
        harmonic = at.shift(harmonic, Fraction(1, n))
        add = at.mul(term, harmonic)
        t = at.add(t, add)
        if 4 * x.upper < n and up.mul_2exp(add.upper, at.bits) <= t.lower:
            break
    off = at.mul(at.mul(small, exp), at.mul(x, at.shift(x, 1))).upper
    t = Interval(down.sub(t.lower, off), up.add(t.upper, add.upper))
    grown = at.div(at.expm1(at.scale(at.log(x), a)), small)
    s = at.sub(exp, at.mul(small, t))
    return at.sub(at.add(total, t), at.mul(s, grown))


@lru_cache(maxsize=16)
def _gamma(a: Fraction, bits: int) -> Interval:
    """Return Gamma(a) for 0 < a < 1, to a relative width of about 2**-bits; cached.

    Gamma(a) = n**a e**-n (1/a + n/(a (a+1)) + n**2/(a (a+1) (a+2)) + ...) + Gamma(a, n), and the
    last is at most n**(a-1) e**-n, here below 2**-bits. The sum is bounded as in `_by_series`.
    """
    if bits < _MANY_BITS or a.denominator > _SHORT:
        return arithmetic(bits).gamma(a)
    n = bits * 7 // 10
    at = arithmetic(bits + 2 * bits.bit_length())
    down, up = at.down, at.up
    factor, divisor = n * a.denominator, a.numerator
    term_low, term_high = total_low, total_high = at.rational(1 / a)
    while factor > divisor // 2 or up.mul_2exp(term_high, bits) > total_low:
        divisor += a.denominator
        term_low = down.div(down.mul(term_low, factor), divisor)
        term_high = up.div(up.mul(term_high, factor), divisor)
        total_low, total_high = down.add(total_low, term_low), up.add(total_high, term_high)
    total_high = up.add(total_high, term_high)
    small = at.exp(at.rational(-n))
    unit = at.mul(small, at.power(at.rational(n), a))
    value = at.mul(unit, Interval(total_low, total_high))
    return Interval(value.lower, up.add(value.upper, small.upper))
