"""The laws computed independently, to some 40 digits at any width: the oracle of random tests.

It uses nothing of the package except a law's parameters. With phi(y) = (y/s)**beta, y the distance
from mu, everything follows from one-sided sums over y = d, d + 1, d + 2, ...

    T_e(d) = sum of y**e exp(phi(d) - phi(y)),        or with phi(y) for y**e.

Few terms are summed one by one; those with phi(y) < 1e-55 as if phi were 0. Many terms are summed
by the Abel-Plana formula on a strip: with f analytic around it and b = d - 1/2, the sum of f is

    integral of f from b on  +  2 integral of Im f(b + i t)/(exp(2 pi t) + 1) over 0 < t < H

up to about exp(-2 pi H), 1e-43, times the integral of abs(f) at the height H. From y = 2 H on f is
analytic there, and abs(f) is little larger than f at y: phi changes slowly if there are many terms.
The first integral is an incomplete gamma function, Gauss-Legendre quadrature gives the second.

tests/laws/test_random.py compares the two methods, and both with theta functions. The package uses
neither: it encloses sums by the formulas of Poisson and of Euler and Maclaurin.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import gmpy2
import mpmath
from law_sums import G, L
from mpmath import mp, mpf

__all__ = ["Exact", "in_mp"]

DIGITS = 60
HEIGHT = 16
#: Sums of fewer terms are computed term by term.
MOST_TERMS = 1500


def in_mp(x: Fraction | int) -> Any:
    return mpf(x.numerator) / x.denominator


# --- sums of many terms, and quadrature, run in MPFR: some ten times as fast


def _to_mpfr(x: Any) -> Any:
    sign, mantissa, exponent, _ = x._mpf_
    exact = gmpy2.mpz(int(mantissa)) * (-1 if sign else 1)
    return gmpy2.mpfr(exact << exponent if exponent >= 0 else gmpy2.mpq(exact, 1 << -exponent))


def _to_mp(x: Any) -> Any:
    mantissa, exponent = x.as_mantissa_exp() if x else (0, 0)
    return mpmath.ldexp(mpf(int(mantissa)), int(exponent))


def _in_mpfr() -> Any:
    return gmpy2.context(gmpy2.context(), precision=mp.prec + 10)


@cache
def _nodes() -> list[tuple[Any, Any]]:
    """Return places t and weights of the quadrature, with 2/(exp(2 pi t) + 1)."""
    with mp.workdps(DIGITS + 10), gmpy2.context(gmpy2.context(), precision=300):
        rule = mpmath.calculus.quadrature.GaussLegendre(mp)
        return [
            (_to_mpfr(+t), _to_mpfr(2 * weight / (mpmath.exp(2 * mp.pi * t) + 1)))
            for a, b in ((0, 1), (1, 2), (2, 4), (4, 8), (8, HEIGHT))
            for t, weight in rule.get_nodes(a, b, 5, mp.prec)
        ]


def _exponential(z: Any) -> Any:
    # faster than gmpy2.exp of a complex number next to 0, by far
    size = gmpy2.exp(z.real)
    return gmpy2.mpc(size * gmpy2.cos(z.imag), size * gmpy2.sin(z.imag))


def _small(log: Any) -> Any:
    """Return exp(log), or 0 if mpmath would raise e to a power of any number of digits."""
    return mpmath.exp(log) if log > -(10**8) else mpf(0)


def _upper_gamma(a: Any, x: Any) -> Any:
    """Return the integral of t**(a - 1) exp(-t) from x on."""
    if x > 60:
        return mpmath.gammainc(a, x)
    # mpmath takes minutes for small a and x
    with mp.workdps(mp.dps + 60 + max(0, int(-mpmath.log10(a)))):
        term = total = 1 / a
        n = 0
        while term > total * mpmath.eps:
            n += 1
            term *= x / (a + n)
            total += term
        return mpmath.gamma(a) - x**a * mpmath.exp(-x) * total


class Exact:
    """Logarithms of probabilities, and moments, of one law."""

    def __init__(self, law: Any, *, most_terms: int = MOST_TERMS) -> None:
        self.law, self.mu = law, law.mu
        self.m0 = math.floor(law.mu + Fraction(1, 2))
        self._most_terms = most_terms
        self._tails: dict[tuple[Fraction, object], Any] = {}
        self.digits = DIGITS
        with mp.workdps(self.digits):
            self._set_shape()
            # for a narrow law it matters how far S is above 1
            near = abs(self.m0 - law.mu)
            self.digits += int(min(self.difference(near, 1 - near) / 2.3, 400))
        with mp.workdps(self.digits):
            self._set_shape()
            self.total = self._both_sides(0)
            self.log_total = mpmath.log(self.total)

    def _set_shape(self) -> None:
        if isinstance(self.law, G):
            self.s, self.beta = mpmath.sqrt(2 * in_mp(self.law.sigma2)), mpf(2)
        else:
            self.s = in_mp(self.law.scale)
            self.beta = mpf(1) if isinstance(self.law, L) else in_mp(self.law.beta)

    def _rational_phi(self, y: Any) -> Any:
        if isinstance(self.law, G):
            return gmpy2.mpq(y) ** 2 / (2 * gmpy2.mpq(self.law.sigma2))
        return gmpy2.mpq(y) / gmpy2.mpq(self.law.scale)

    def phi(self, y: Fraction) -> Any:
        if isinstance(self.law, G | L):
            return in_mp(self._rational_phi(y))
        return mpmath.exp(self.beta * mpmath.log(in_mp(y) / self.s)) if y else mpf(0)

    def difference(self, a: Fraction, b: Fraction) -> Any:
        """Return phi(b) - phi(a) without cancellation."""
        if isinstance(self.law, G | L):
            return in_mp(self._rational_phi(b) - self._rational_phi(a))
        if a == 0:
            return self.phi(b)
        return self.phi(a) * mpmath.expm1(self.beta * mpmath.log1p(in_mp((b - a) / a)))

    # --- one-sided sums

    def tail(self, d: Fraction, e: Any = 0) -> Any:
        """Return T_e(d), or that of phi if e is "phi"."""
        if (d, e) not in self._tails:
            with mp.workdps(self.digits):
                self._tails[d, e] = self._tail(d, e)
        return self._tails[d, e]

    def _tail(self, d: Fraction, e: Any) -> Any:
        if self.beta == 1 and e == 0:
            return -1 / mpmath.expm1(-1 / self.s)
        flat = self.s * mpf(10) ** (-55 / self.beta) - in_mp(d)
        n = int(mpmath.floor(flat)) if flat > 4 and e != "phi" else 0
        if self._terms_from(d + n) > self._most_terms:
            skipped = max(0, math.ceil(2 * HEIGHT - d))
            return self._by_terms(d, d, e, skipped) + self._by_strip(d, d + skipped, e)
        powers = range(e + 1) if n else ()
        by_powers = sum(math.comb(e, i) * d ** (e - i) * _power_sum(n, i) for i in powers)
        return in_mp(Fraction(by_powers)) + self._by_terms(d, d + n, e, None)

    def _terms_from(self, d: Fraction) -> Any:
        """Return about how many terms there are until phi has grown by 130."""
        here = self.phi(d)
        if here > 1:
            return in_mp(d) * mpmath.expm1(mpmath.log1p(130 / here) / self.beta)
        return self.s * (here + 130) ** (1 / self.beta) - in_mp(d)

    def _by_terms(self, d: Fraction, y: Fraction, e: Any, number: int | None) -> Any:
        """Return the sum of a number of terms from y on, or if None of as many as count."""
        with _in_mpfr():
            s, beta, phi_d = _to_mpfr(self.s), _to_mpfr(self.beta), _to_mpfr(self.phi(d))
            start, total, small = gmpy2.mpq(d), gmpy2.mpfr(0), gmpy2.mpfr(2) ** -mp.prec
            rational = isinstance(self.law, G | L)
            y, end = gmpy2.mpq(y), None if number is None else gmpy2.mpq(y) + number
            while y != end:
                if rational:
                    log = gmpy2.mpfr(self._rational_phi(y) - self._rational_phi(start))
                elif start:
                    log = phi_d * gmpy2.expm1(beta * gmpy2.log1p(gmpy2.mpfr((y - start) / start)))
                else:
                    log = (gmpy2.mpfr(y) / s) ** beta if y else gmpy2.mpfr(0)
                phi = phi_d + log
                term = gmpy2.exp(-log) * (phi if e == "phi" else gmpy2.mpfr(y) ** e)
                total += term
                if end is None and y > 0 and phi > 10 and term <= small * total:
                    break
                y += 1
            return _to_mp(total)

    def _by_strip(self, d: Fraction, y: Fraction, e: Any) -> Any:
        b = y - Fraction(1, 2)
        with mp.workdps(self.digits + int(mpmath.log10(self.phi(y) + 1)) + 2):
            self._set_shape()
            phi_d, power = self.phi(d), self.beta if e == "phi" else mpf(e)
            unit = self.s if e == "phi" else self.s ** (e + 1)
            gamma = _upper_gamma((power + 1) / self.beta, self.phi(b))
            total = unit / self.beta * gamma * mpmath.exp(phi_d)
            with _in_mpfr():
                log_s, beta = gmpy2.log(_to_mpfr(self.s)), _to_mpfr(self.beta)
                first, left, side = _to_mpfr(phi_d), gmpy2.mpfr(gmpy2.mpq(b)), gmpy2.mpfr(0)
                for t, weight in _nodes():
                    z = gmpy2.mpc(left, t)
                    phi = _exponential(beta * (gmpy2.log(z) - log_s))
                    f = _exponential(first - phi) * (phi if e == "phi" else z**e)
                    side += weight * f.imag
                return total + _to_mp(side)

    def _both_sides(self, e: Any) -> Any:
        """Return the sum over all integers, in units of the weight of m0; of odd e with signs."""
        up = math.ceil(self.mu)
        right, left = up - self.mu, self.mu - up + 1
        near = min(right, left)
        parts = [mpmath.exp(-self.difference(near, y)) * self.tail(y, e) for y in (right, left)]
        return parts[0] - parts[1] if e in (1, 3) else parts[0] + parts[1]

    # --- the functions of a law

    def logpmf(self, k: int) -> Any:
        return -self.difference(abs(self.m0 - self.mu), abs(k - self.mu)) - self.log_total

    def probabilities(self, k: int) -> dict[str, Any]:
        """Return pmf, logpmf, cdf, logcdf, sf and logsf at k."""
        with mp.workdps(self.digits):
            found = {"logpmf": self.logpmf(k), "pmf": _small(self.logpmf(k))}
            for name, other, m in (("sf", "cdf", k + 1), ("cdf", "sf", k)):
                far = m - self.mu if name == "sf" else self.mu - m
                if far >= 0:
                    log = self.logpmf(m) + mpmath.log(self.tail(far))
                    small = _small(log)
                    found |= {"log" + name: log, name: small}
                    if other not in found:
                        found |= {"log" + other: mpmath.log1p(-small), other: 1 - small}
            return found

    def moments(self) -> dict[str, Any]:
        with mp.workdps(self.digits):
            origin, near = self.m0, abs(self.m0 - self.mu)
            if self._terms_from(Fraction(0)) > self._most_terms:  # by powers of y
                origin = self.mu
                sums = [self._both_sides(e) / self.total for e in range(5)]
                energy, log_total = self._both_sides("phi") / self.total, self.log_total
                energy -= self.phi(near)
            else:
                sums, energy, log_total = self._sums_about_m0(near)
            first, second, third, fourth = sums[1:]
            if (2 * self.mu).denominator == 1:
                first = in_mp(Fraction(self.mu - origin))
            var = second - first**2
            central3 = third - 3 * first * second + 2 * first**3
            central4 = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
            return {
                "mean": in_mp(Fraction(origin)) + first,
                "var": var,
                "std": mpmath.sqrt(var),
                "entropy": energy + log_total,
                "skewness": central3 / var ** mpf(1.5),
                "kurtosis": central4 / var**2 - 3,
            }

    def _sums_about_m0(self, near: Fraction) -> tuple[list[Any], Any, Any]:
        """Return the means of n**i, of phi - phi(m0), and log S: sums over n = x - m0, not 0."""
        sums, energy, small = [mpf(0)] * 5, mpf(0), mpf(10) ** -self.digits
        for step in (1, -1):
            n, last = step, False
            while not last:
                log = self.difference(near, abs(self.m0 + n - self.mu))
                w = mpmath.exp(-log)
                last = log > 3 and max(n**4 * w, log * w) <= small * min(sums[0] + w, energy + w)
                sums = [total + n**i * w for i, total in enumerate(sums)]
                energy += log * w
                n += step
        total = 1 + sums[0]
        return [x / total for x in sums], energy / total, mpmath.log1p(sums[0])


def _power_sum(n: int, i: int) -> Fraction:
    """Return 0**i + ... + (n - 1)**i by Bernoulli's formula."""
    with mp.workdps(15):
        numbers = [Fraction(*map(int, mpmath.bernfrac(j))) for j in range(i + 1)]
    return sum(
        (math.comb(i + 1, j) * numbers[j] * Fraction(n) ** (i + 1 - j) for j in range(i + 1)),
        Fraction(0),
    ) / (i + 1)
