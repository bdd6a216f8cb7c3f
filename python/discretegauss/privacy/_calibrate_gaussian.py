"""From a budget to noise: the discrete Gaussian that keeps to rho, or to (epsilon, delta).

For (epsilon, delta) the least sigma2 is looked for, although delta does not always fall as sigma2
= v grows. With w(x) = exp(-x**2/(2 v)), T(m) = P(Y >= m) and one query that changes by D,

    delta(v) = max over m of f(v, m),    f(v, m) = T(m) - exp(epsilon) T(m + D),

and m is the one integer on the *piece* v(m - 1) <= v < v(m), with v(m) = D (2 m + D)/(2 epsilon)
(hockey_stick.py). At v(m) the values for m and m + 1 agree: delta is continuous. Three facts:

*(a) For m <= 0 delta falls.* f = 1 - T(1 - m) - exp(epsilon) T(m + D), and P(Y >= j) grows with v
for every j >= 1.

*(b) For m >= 1 f(v, m) rises, then falls:* on a piece delta is least at one of its ends. With
S(m) the sum of (b**2 - a**2) w(a) w(b) over abs(a) < m <= b, dT(m)/dv = const S(m) > 0, so df/dv
has the sign of 1 - exp(epsilon) S(m + D)/S(m), and it is enough that this quotient grows with v:
that E(a**2 + b**2) under the weights of S(m) grows with m. By Holley's inequality it does, for
the pairs (abs(a), b): maxima of a pair of S(m) and one of S(m + 1) make a pair of S(m + 1),
minima one of S(m), and b**2 - a**2 is log-supermodular, as (s - t')(s' - t) - (s - t)(s' - t') =
(s - s')(t' - t) for any squares s >= s' and t <= t'.

*(c) delta(v(m)) falls as m = 0, 1, 2, ... grows.* With h = m + D/2, and so v(m) = h D/epsilon, it
is

    2 exp(epsilon/2 - epsilon D/(8 h) - epsilon h/(2 D))/Z  sum over j >= 1 of
        exp(-epsilon j/D - epsilon j**2/(2 h D)) sinh(epsilon j/(2 h)),

for real m, too, and 2 v h times the derivative of its logarithm by h is

    E(j**2 - j D coth(j D/(2 v))) - m (m + D) - s,    s = E(Y**2),                            (1)

E by weights w(j) exp(-j m/v) (1 - exp(-j D/v)), j >= 1. That (1) is negative for m = 0 is enough:
the function of j is -2 v at 0, falls and then rises, so that it crosses s >= 0 once, and a larger
m gives less weight to larger j. For m = 0, with J the sum of j w(j) and b(j) = w(j) exp(-j D/v),
it says

    s/2 + s sum of b(j) < D J + sum of j (j + D) b(j).

s/2 <= J in any case: with A, B the sums of w(j), j**2 w(j), that is B - J <= 2 A J, the sum of n
(n - 1) w(n) against that of (k + l) w(k) w(l), and w(k) w(l) >= w(k + l). So it holds if s <= 2,
as j (j + D) >= 2; and if v <= 2, as s <= v (Poisson summation, discrete_gaussian.py: no term for k
> 0 of E(Y**2) Z/v exceeds that of Z). For v > 2 let P(t) = t b(t): P' = b - t (t + D) b/v is 1 at
0, falls to no less than -2 exp(-3/2), and rises to 0; its variation V is at most 1 + 4 exp(-3/2),
its integral 0. By the trapezoidal rule its sum over j >= 1 is at most (V - 1)/2, and so s/2 + s
sum of b(j) at most v V/2 + sum of j (j + D) b(j); and J >= v - 1/12 - 0.03/sqrt(v) (Euler and
Maclaurin) is above v V/2.

So if v(m), m >= 0, is the first of these ends that meets the budget, no sigma2 up to v(m - 1)
does (by (b) and (c); by (a) there is nothing before m = 0 but one falling stretch), and what does
between v(m - 1) and v(m) is one interval that ends at v(m): its beginning is the least sigma2
there is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import gmpy2

from .._certified.interval import arithmetic, fraction_of
from .._certified.search import decimal_at, decimal_ordinal, first_true, least_decimal, zero_of
from .._law import Kind, LawSpec
from ..errors import ParameterOverflowError
from .cost import cost_of
from .hockey_stick import as_one_query, delta_is_at_most, log_delta_about
from .zcdp import minus_log_upper, rho_lower

_UP: Any = arithmetic(80).up

_MOST_SIGMA2_BITS = 4000
"""Beyond this delta is no longer computed tightly (hockey_stick.py)."""

_MANY_PIECES = 10**9
"""Of more, only every so many-th is searched for an end that is enough: they are far narrower than
the steps of decimals."""


class GaussianTarget(NamedTuple):
    """(epsilon, delta) for so many queries, each changed by at most ``change``."""

    epsilon: Fraction
    delta: Fraction
    change: int
    queries: int

    def least_sigma2(self) -> Fraction:
        """Return the least sigma2 rounded up to a decimal, or the end of its piece."""
        guess = self.guess()
        if self.epsilon == 0:  # delta falls
            return least_decimal(self.met_by, guess)
        step, n = self.first_ends(max(0, self.piece_of(guess)))
        before, end = self.end((n - 1) * step) if n else Fraction(0), self.end(n * step)
        last = decimal_ordinal(end)  # the last up to the end
        if decimal_at(last) > end:
            last -= 1
        among = decimal_at(last) > before
        if among and self.met_by(decimal_at(last)):
            return self.least_decimal(before, last, guess)
        following = decimal_at(last + 1)
        if (step == 1 or not among) and self.met_by(following):
            return following
        return end

    def first_ends(self, guess: int) -> tuple[int, int]:
        """Return step and n, n large unless step is 1: v(n step) is enough, v((n - 1) step) not."""
        step = max(1, guess // _MANY_PIECES)
        n = first_true(lambda n: self.met_by(self.end(n * step)), -(-guess // step), low=0)
        if step == 1 or n > _MANY_PIECES // 2:
            return step, n
        return self.first_ends(n * step)

    def least_decimal(self, before: Fraction, last: int, guess: Fraction) -> Fraction:
        """Return the least decimal above ``before`` that is enough, if the last one is."""

        def holds(n: int) -> bool:
            value = decimal_at(n)
            return n >= last or (value > before and self.met_by(value))

        start = max(guess, before) if before else guess
        return decimal_at(first_true(holds, min(decimal_ordinal(start), last)))

    def end(self, m: int) -> Fraction:
        """Return v(m), from which on m counts no more; of several queries that of their sum."""
        return self.change * (2 * m + self.queries * self.change) / (2 * self.epsilon)

    def piece_of(self, sigma2: Fraction) -> int:
        """Return the m with v(m - 1) <= sigma2 < v(m)."""
        x = self.epsilon * sigma2 / self.change - Fraction(self.queries * self.change, 2)
        return math.floor(x) + 1

    def met_by(self, sigma2: Fraction) -> bool:
        """Return whether that is proven, as `delta` does it."""
        spec = LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2)
        one = as_one_query(spec, self.change, self.queries)
        if one is not None:
            law, change, factor = one
            return delta_is_at_most(law, gmpy2.mpq(self.epsilon), change, self.delta / factor)
        cost = cost_of(spec, self.change, self.queries, Fraction(1))
        return cost.delta(self.epsilon) <= self.delta

    def guess(self) -> Fraction:
        """Return about the sigma2 looked for, to six digits or so.

        log(-log(delta)) is nearly a line in log(sigma2).
        """
        goal, epsilon = minus_log_upper(self.delta), gmpy2.mpq(self.epsilon)
        change = self.queries * self.change  # of the single query that stands for all

        def sigma2(u: float) -> Fraction:
            return change**2 * fraction_of(_UP.exp(u))

        def excess(u: float) -> float:
            law = LawSpec(Kind.DISCRETE_GAUSSIAN, sigma2(u))
            log_delta = log_delta_about(law, epsilon, change)
            return float(_UP.log(_UP.div(_UP.minus(log_delta), goal))) if log_delta < 0 else -50.0

        # What is enough by way of zCDP is a little too large.
        rho = rho_lower(self.epsilon, self.delta)
        enough: Any = gmpy2.mpq(self.delta) ** -2
        if rho > 0:
            enough = 1 / (2 * gmpy2.mpq(rho))
        if enough > 1 << _MOST_SIGMA2_BITS:
            raise ParameterOverflowError(
                "epsilon and delta must leave noise of a standard deviation below "
                f"2**{_MOST_SIGMA2_BITS // 2} times the sensitivity"
            )
        start = float(_UP.log(enough))
        return sigma2(zero_of(excess, start, _MOST_SIGMA2_BITS)) / self.queries
