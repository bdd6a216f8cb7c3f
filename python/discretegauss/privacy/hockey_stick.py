"""The hockey-stick divergence of integer noise, exactly: the least delta at an epsilon, and back.

One person changes a query by D. The noise X is (epsilon, delta)-differentially private if
delta >= P(X in A) - exp(epsilon) P(X + D in A) for every set A, and also for -D, which follows by
symmetry. X has weights exp(-phi(x)), phi convex and symmetric, so its privacy loss

    loss(x) = phi(x + D) - phi(x)

never falls, and is 0 at x = -D/2. The difference is largest on the set where the loss exceeds
epsilon. This set is a half-line. With T(m) = P(X >= m),

    delta = T(m) - exp(epsilon) T(m + D),    m the least x with loss(x) > epsilon.           (1)

For the discrete Gaussian this is Theorem 7 of CKS 2020. No other m gives more, so delta is a
convex, piecewise linear function of exp(epsilon), and each m gives one of its lines.

The unit of weights of tails is the weight of m: T(m) is R(m) units, and exp(epsilon) T(m + D) is
exp(epsilon - loss(m)) R(m + D) units. If phi is rational, the unit is kept as its exact exponent,
so nothing underflows. If sigma is large against D, the two terms of (1) cancel by a factor of about
sigma/D, so the precision is raised until the enclosure is narrow. If phi is not rational, the loss
at m may agree with epsilon in all bits. If it is less by at most g, then (1) is too small by less
than T(m) (exp(g) - 1). Delta is never above T(m).

*Several queries with discrete Gaussian noise, as a single one.* One person changes each of k
queries by at most D. Each answer gets independent noise X_i with the law N_Z(0, sigma2). The worst
case follows in three steps.

*The worst change is D in every query.* For one query and any a >= 0, the largest P(X in A) -
a P(X + d in A) over sets A grows with d >= 0: the best A is a half-line from some t, and
P(X >= t) - a P(X >= t + d) grows with d for each t. For several queries, fix the outcomes of all
but one. The difference is the mean over these outcomes of the difference of the one query, with an
a for each outcome. So each d_i may be replaced by D, one after the other. Its sign does not matter,
by symmetry. If queries are chosen in view of earlier answers, d_i depends on the outcomes before
it. Then the d of the last query is replaced first. After that it depends on no other, and so on
back to the first.

*The sum is all that matters.* With D everywhere, the loss at (x_1, ..., x_k) is (2 D y + k D**2)
/ (2 sigma2) for y = x_1 + ... + x_k. This is the loss at y of N_Z(0, k sigma2), for a query that
changes by k D. The sum Y has that law up to a factor near 1. To see it, split each vector into its
mean and the remainder:

    P(Y = y) = const exp(-y**2/(2 k sigma2)) Theta(y mod k),

Theta(r) the sum of exp(-|v|**2/(2 sigma2)) over a coset of the lattice A_(k-1) (integer vectors of
sum 0). By Poisson summation Theta(r) = const (1 + xi_r) with

    |xi_r| <= eta = sum of exp(-2 pi**2 sigma2 |w|**2) over w != 0 of the dual lattice.

A shift by k D keeps y mod k. So delta is the mean of max(0, 1 - exp(epsilon - loss(y))) under
either law. No term is negative, and each changes by a factor between (1 - eta)/(1 + eta) and
(1 + eta)/(1 - eta). The same holds for their sum:

    delta of the k queries = delta of N_Z(0, k sigma2) at k D, within that factor.           (2)

*A bound on eta.* The dual lattice is the projection of Z**k along (1, ..., 1). In each class of
Z**k modulo (1, ..., 1) take a z with a median of 0. Its projection w has |w|**2 = |z|**2 -
(sum z)**2/k. At most k/2 entries of z are positive and at most k/2 negative, so (sum z)**2 is at
most |z|**2 k/2 by Cauchy and Schwarz, and |w|**2 >= |z|**2/2. If only one entry is not 0, |w|**2 =
|z|**2 (k - 1)/k. Let c = 2 pi**2 sigma2, a = exp(-c (k - 1)/k) and q = exp(-c/2). The sum over
n >= 1 of q**(n**2) is at most q/(1 - q**3), so

    eta <= 2 k a/(1 - a**3) + sum over j >= 2 of binomial(k, j) u**j,     u = 2 q/(1 - q**3),

and the last sum is at most (k u)**2/2 exp(k u).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NamedTuple

import gmpy2

from .._certified.convolution import density_ratio_upper
from .._certified.floats import float_at_least
from .._certified.formulas import RationalFormulas
from .._certified.interval import ONE, ZERO, Interval, arithmetic
from .._certified.laws_of_integers import formulas_of, log_weight_ratio, tail_ratio
from .._certified.probability import cached_normaliser, pmf
from .._certified.search import first_true
from .._law import LawSpec
from ._search import float_at, ordinal, zero_of
from .zcdp import log_delta_upper, minus_log_upper

#: The relative width that results aim at is 2**-_AIM, well below the last bit of a float.
_AIM = 60

#: At this precision an enclosure is returned as it is: right, but perhaps not tight. A delta that
#: is a float needs at most about 1200 bits. Only the logarithm of a smaller delta may need more.
_MOST_BITS = 4096

#: A delta that agrees with the budget to this many bits counts as larger.
_MOST_AIM = 480

#: If phi is rational, tails at integers this close are computed one from the other.
_STEPS_LIKE_A_TAIL = 32

#: If the ratio is larger, PrivacyLoss gives a smaller delta.
_LARGEST_RATIO = 1 + gmpy2.mpq(1, 2**50)

#: If phi is not rational, the search for m ends where phi is this large. The mass beyond is less
#: than exp(-_FARTHEST_PHI), which MPFR's exponents hold.
_FARTHEST_PHI = gmpy2.mpfr(2**29)

#: A result known to fewer bits, at extreme parameters, may be above the bound from zCDP.
_LOOSE_BITS = 50

_UP: Any = arithmetic(80).up
_ONE: Any = gmpy2.mpq(1)
_LARGEST_FLOAT = math.nextafter(math.inf, 0.0)
_LARGEST_LOG = math.log(_LARGEST_FLOAT)

#: The most lines that are tried after a search for epsilon, or instead of it if there are no more.
_LINES = 16


@dataclass(frozen=True)
class HockeyStick:
    """The cost of one query, or of several with discrete Gaussian noise that are like one."""

    spec: LawSpec  # the noise, centred
    sensitivity: int  # the most that one person changes: D
    density_ratio: Any = _ONE  # an mpq: delta is at most this times the delta of the query
    rho: Fraction | None = None  # the zCDP cost of discrete Gaussian noise

    def delta(self, epsilon: Fraction) -> float:
        """Return the least delta, rounded up."""
        found = delta_enclosed(self.spec, gmpy2.mpq(epsilon), self.sensitivity)
        if found is None:
            return 0.0
        delta = _UP.mul(found.upper(), self.density_ratio)
        return float_at_least(min(delta, _UP.exp(self._log_by_rho(found, epsilon))))

    def log_delta(self, epsilon: Fraction) -> float:
        """Return the logarithm of the least delta, rounded up."""
        found = delta_enclosed(self.spec, gmpy2.mpq(epsilon), self.sensitivity)
        if found is None:
            return -math.inf
        log = _UP.add(found.log_upper(), _UP.log(_UP.add(self.density_ratio, ZERO)))
        return float_at_least(min(log, self._log_by_rho(found, epsilon)))

    def _log_by_rho(self, found: Scaled, epsilon: Fraction) -> Any:
        """Return the bound on log(delta) from zCDP, or 0 if the enclosure is narrow.

        Only extreme parameters have wide enclosures.
        """
        if self.rho is None or relative_bits(found.mantissa) >= _LOOSE_BITS:
            return ZERO
        return log_delta_upper(self.rho, epsilon)

    def epsilon(self, delta: Fraction) -> float:
        """Return the least epsilon, rounded up."""
        return least_epsilon(self.spec, self.sensitivity, gmpy2.mpq(delta) / self.density_ratio)

    def pure(self) -> float | None:
        """Return the epsilon at delta = 0 of a discrete Laplace; None for other laws."""
        pure = formulas_of(self.spec).pure_epsilon(self.spec, self.sensitivity)
        return None if pure is None else float_at_least(_UP.add(pure, ZERO))


class Scaled(NamedTuple):
    """A number from 0 to 1: exp(-exponent) mantissa, and also 1 - complement if that is known."""

    exponent: Any
    mantissa: Interval
    complement: Interval | None

    def upper(self, bits: int = 80) -> Any:
        """Return an upper bound."""
        up = arithmetic(bits).up
        scale = up.exp(up.add(-self.exponent, ZERO))
        return min(up.mul(scale, self.mantissa.upper), ONE)

    def lower(self, bits: int = 80) -> Any:
        """Return a lower bound."""
        down = arithmetic(bits).down
        return down.mul(down.exp(down.add(-self.exponent, ZERO)), max(self.mantissa.lower, ZERO))

    def is_at_most(self, delta: Any, bits: int) -> bool | None:
        """Return whether the number is at most an mpq; None if that is not known."""
        if self.complement is not None:  # near 1 it is more accurate
            least, low, high = 1 - delta, self.complement.lower, self.complement.upper
            return True if low >= least else False if high < least else None
        return True if self.upper(bits) <= delta else False if self.lower(bits) > delta else None

    def log_upper(self, bits: int = 80) -> Any:
        """Return an upper bound on the logarithm."""
        up = arithmetic(bits).up
        if self.complement is not None and self.complement.upper < 0.5:
            return up.log1p(up.minus(self.complement.lower))
        return min(up.add(up.log(self.mantissa.upper), -self.exponent), ZERO)


class _Line(NamedTuple):
    """T(m) = exp(-exponent) a, or 1 - complement; T(m + D) = exp(-exponent - loss) b."""

    exponent: Any
    a: Interval
    complement: Interval | None
    b: Interval
    loss: Any
    """An mpq if phi is rational, else an interval."""

    def gap(self, epsilon: Any, bits: int) -> Interval:
        """Return epsilon - loss."""
        at = arithmetic(bits)
        if isinstance(self.loss, Interval):
            return at.shift(at.neg(self.loss), epsilon)
        return at.rational(epsilon - self.loss)

    def at(self, epsilon: Any, bits: int) -> Scaled:
        """Return (1) with this m."""
        at = arithmetic(bits)
        product = at.mul(at.exp(self.gap(epsilon, bits)), self.b)
        if self.complement is None:
            return Scaled(self.exponent, at.sub(self.a, product), None)
        complement = at.add(self.complement, product)
        return Scaled(self.exponent, at.sub(at.rational(1), complement), complement)

    def reaches(self, delta: Any, bits: int) -> Any:
        """Return about the epsilon at which (1) with this m is delta; NaN if there is none."""
        at = arithmetic(bits)
        if self.complement is None:
            left = at.sub(self.a, at.scale(at.exp(at.rational(self.exponent)), delta))
        else:  # near 1 the complements cancel less
            left = at.sub(at.rational(1 - delta), self.complement)
        return at.sub(at.log(at.div(left, self.b)), self.gap(gmpy2.mpq(0), bits)).lower


@lru_cache(maxsize=16)
def _line_at(spec: LawSpec, m: int, sensitivity: int, bits: int) -> _Line:
    """Return the line of the half-line from m; m >= -sensitivity/2."""
    at, formulas, exponent = arithmetic(bits + 4), formulas_of(spec), gmpy2.mpq(0)
    if isinstance(formulas, RationalFormulas):
        loss: Any = formulas.exact_log_ratio(spec, m, m + sensitivity)
    else:
        loss = _log_ratio(spec, m, m + sensitivity, bits)
    if isinstance(formulas, RationalFormulas) and m >= 1:
        exponent = formulas.exact_phi(spec, m)
        unit = at.div(at.rational(1), cached_normaliser(spec, bits)[1])
    else:
        unit = _mass(spec, m, bits)
    near, right = _two_tails(spec, m if m >= 1 else 1 - m, m + sensitivity, bits)
    b = at.mul(unit, right)
    if m >= 1:
        return _Line(exponent, at.mul(unit, near), None, b, loss)
    complement = at.mul(_mass(spec, 1 - m, bits), near)  # T(m) = 1 - T(1 - m), by symmetry
    return _Line(exponent, at.sub(at.rational(1), complement), complement, b, loss)


def _log_ratio(spec: LawSpec, x: int, y: int, bits: int) -> Interval:
    """Return phi(y) - phi(x), to an error of 2**-bits."""
    rough = log_weight_ratio(spec, x, y, 32).upper
    size = max(gmpy2.get_exp(rough), 0) if gmpy2.is_regular(rough) else 0
    return log_weight_ratio(spec, x, y, bits + 8 + min(size, _MOST_BITS))


def _mass(spec: LawSpec, x: int, bits: int) -> Interval:
    """Return P(X = x), which may be below every float."""
    if isinstance(formulas_of(spec), RationalFormulas):
        return pmf(spec, x, bits)
    at = arithmetic(bits + 4)
    weight = at.exp(at.neg(_log_ratio(spec, 0, x, bits)))
    return at.div(weight, cached_normaliser(spec, bits)[1])


def _two_tails(spec: LawSpec, x: int, y: int, bits: int) -> tuple[Interval, Interval]:
    """Return `tail_ratio` at x and at y, 0 <= x <= y."""
    at_y, formulas = tail_ratio(spec, y, bits), formulas_of(spec)
    if y - x > _STEPS_LIKE_A_TAIL or not isinstance(formulas, RationalFormulas):
        return tail_ratio(spec, x, bits), at_y
    at, tail = arithmetic(bits + 8), at_y
    for z in range(y - 1, x - 1, -1):  # R(z) = 1 + exp(phi(z) - phi(z + 1)) R(z + 1)
        ratio = at.exp(at.rational(formulas.exact_log_ratio(spec, z + 1, z)))
        tail = at.shift(at.mul(ratio, tail), 1)
    return tail, at_y


def _exceeds_from(
    spec: LawSpec, epsilon: Any, sensitivity: int, bits: int
) -> tuple[int, Any] | None:
    """Return m of (1) and a bound on how far its loss is below epsilon; None if there is no m.

    No loss before m exceeds epsilon. The bound is infinite if the loss reaches epsilon only where
    outcomes have negligible mass.
    """
    formulas = formulas_of(spec)
    if isinstance(formulas, RationalFormulas):
        first = formulas.loss_exceeds_from(spec, epsilon, sensitivity)
        return None if first is None else (first, ZERO)
    at, bits = arithmetic(64), bits + min(int(epsilon).bit_length(), _MOST_BITS)
    last = int(formulas.distance_of(spec, Interval(_FARTHEST_PHI, _FARTHEST_PHI), at).upper) + 1

    def is_before(x: int) -> bool:
        return bool(log_weight_ratio(spec, x, x + sensitivity, bits).upper <= epsilon)

    low, step = -((sensitivity + 1) // 2), formulas.whole_width(spec) + 1  # loss(low) is at most 0
    high = low + 1
    while high < last and is_before(high):
        low, high, step = high, min(high + step, last), 2 * step
    if high == last and is_before(last):
        return last, gmpy2.inf()
    # from x to x + y the loss varies by a part of about beta y/(x + D)
    fine = bits + min(int(spec.beta).bit_length(), 256)
    while high - low > 1 + (abs(low) + sensitivity >> fine):
        middle = (low + high) // 2
        low, high = (middle, high) if is_before(middle) else (low, middle)
    loss = log_weight_ratio(spec, low + 1, low + 1 + sensitivity, bits).lower
    return low + 1, at.up.sub(epsilon, loss) if loss <= epsilon else ZERO


def delta_enclosed(spec: LawSpec, epsilon: Any, sensitivity: int, aim: int = _AIM) -> Scaled | None:
    """Return delta by (1), to a relative width of 2**-aim; None if it is 0.

    The noise is centred, epsilon an mpq of at least 0, and the sensitivity D at least 1. The aim is
    missed if it needs too many bits.
    """
    bits = min(aim + 10 + _cancelling_bits(spec, sensitivity), _MOST_BITS)
    first = _exceeds_from(spec, epsilon, sensitivity, bits)
    if first is None:
        return None
    while True:
        m, less = first
        line = _line_at(spec, m, sensitivity, bits)
        found = line.at(epsilon, bits)
        if less:
            found = _with_more(found, line.a.upper, less, bits)
        missing = aim - relative_bits(found.mantissa)
        if missing <= 0 or bits >= _MOST_BITS or less > 1:
            return found
        bits = min(bits + max(missing + 8, bits // 2), _MOST_BITS)
        if less:
            first = _exceeds_from(spec, epsilon, sensitivity, bits) or first


def _with_more(found: Scaled, tail: Any, less: Any, bits: int) -> Scaled:
    """Add at most ``tail`` (exp(less) - 1) to the upper end, and cap it at the tail."""
    at = arithmetic(bits)
    more = Interval(ZERO, at.up.mul(tail, at.up.expm1(less)) if less < 1 else gmpy2.inf())
    complement = None if found.complement is None else at.sub(found.complement, more)
    mantissa = at.add(found.mantissa, more)
    return Scaled(found.exponent, Interval(mantissa.lower, min(mantissa.upper, tail)), complement)


def _cancelling_bits(spec: LawSpec, sensitivity: int) -> int:
    """Return about how many bits cancel in delta: log2(sigma/D). Too few cost time alone."""
    return max(0, formulas_of(spec).whole_width(spec).bit_length() - sensitivity.bit_length()) + 8


def relative_bits(value: Interval) -> int:
    """Return about -log2 of the relative width, rounded down; at least -20."""
    rough = arithmetic(32)
    width = rough.up.sub(value.upper, value.lower)
    if not gmpy2.is_finite(width):
        return -20
    if width == 0:
        return _MOST_BITS
    if value.lower <= 0:
        return -20
    return max(-20, -int(gmpy2.get_exp(rough.up.div(width, value.lower))))


def delta_is_at_most(spec: LawSpec, epsilon: Any, sensitivity: int, delta: Any) -> bool:
    """Return whether (epsilon, delta), two mpq, is proven of the noise; delta > 0."""
    aim = _AIM
    while True:
        enclosed = delta_enclosed(spec, epsilon, sensitivity, aim)
        if enclosed is None:
            return True
        known = enclosed.is_at_most(delta, aim + 20)
        if known is not None or aim >= _MOST_AIM:
            return known is True
        aim *= 2


def log_of_log(spec: LawSpec, epsilon: Any, sensitivity: int, goal: Any) -> float:
    """Return about log(-log(delta)/goal), limited to [-50, 50], for guesses."""
    enclosed = delta_enclosed(spec, epsilon, sensitivity)
    log = -gmpy2.inf() if enclosed is None else enclosed.log_upper()
    return float(min(_UP.log(_UP.div(_UP.minus(log), goal)), 50)) if log < 0 else -50.0


def least_epsilon(spec: LawSpec, sensitivity: int, delta: Any) -> float:
    """Return the least float epsilon at which delta is proven; it may be infinite.

    log(-log(delta)) is nearly linear in log(epsilon), so false position gives a good guess. delta
    is convex in exp(epsilon), so the lines of (1) approach the root from below (Newton's method).
    Trials of neighbouring floats decide.
    """

    @cache
    def holds(n: int) -> bool:
        x = float_at(n)
        return not x <= _LARGEST_FLOAT or delta_is_at_most(spec, gmpy2.mpq(x), sensitivity, delta)

    if holds(0):
        return 0.0
    goal = minus_log_upper(delta)

    def excess(u: float) -> float:
        return log_of_log(spec, gmpy2.mpq(math.exp(u)), sensitivity, goal)

    found, formulas = 0.0, formulas_of(spec)
    if sensitivity > _LINES or formulas.pure_epsilon(spec, sensitivity) is None:
        # the tail is about delta at the x with phi(x) = -log(delta)
        x = int(formulas.distance_of(spec, Interval(goal, goal), arithmetic(64)).lower)
        start = _UP.log(log_weight_ratio(spec, x, x + sensitivity, 64).lower)
        found = math.exp(zero_of(excess, float(start), _LARGEST_LOG))
    bits = _AIM + 10 + _cancelling_bits(spec, sensitivity)
    for tries in range(_LINES):
        first = _exceeds_from(spec, gmpy2.mpq(found), sensitivity, bits)
        line = first and _line_at(spec, first[0], sensitivity, bits).reaches(delta, bits)
        if line is None or not 0 < line <= _LARGEST_FLOAT:
            break
        found, before = float(line), found
        if tries and found <= before * (1 + 2.0**-52):  # the guess may have been too large
            break
    return float_at(first_true(holds, ordinal(found), low=0))


def as_one_query(spec: LawSpec, sensitivity: int, queries: int) -> tuple[LawSpec, int, Any] | None:
    """Return the noise, sensitivity and density ratio of (2); None if the ratio exceeds 1 + 2**-50.

    The noise is a discrete Gaussian, each query of this sensitivity.
    """
    density_ratio = gmpy2.mpq(1) if queries == 1 else density_ratio_upper(spec.parameter, queries)
    if density_ratio is None or density_ratio > _LARGEST_RATIO:
        return None
    return spec._replace(parameter=spec.parameter * queries), sensitivity * queries, density_ratio
