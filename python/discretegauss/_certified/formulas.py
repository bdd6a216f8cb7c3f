"""The interface of a kind of law: its weights, tails, normaliser, moments and loss thresholds.

A law gives the integer x the weight exp(-phi(x)), phi convex and symmetric about mu. Each kind of
law has one `Formulas` object, in its own file: `discrete_gaussian.py`, `discrete_laplace.py`,
`generalized_gaussian.py` or `skellam.py`. `laws_of_integers.py` maps kinds to objects. This file
has the results that follow from phi and the tails, for example sums term by term.

The objects hold no parameters; each method takes the law. ``bits`` is the aim, a relative width of
2**-bits. The result is an enclosure, whatever its width.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

from .._law import LawSpec
from .double_double import Floats, Pairs, parameters_in_range
from .interval import Arithmetic, Interval, Rational, arithmetic


def mirrored(spec: LawSpec) -> LawSpec:
    """Return the law of -X."""
    return spec._replace(mu=-spec.mu)


def nearest_integer(mu: Fraction) -> int:
    """Return the integer nearest to mu, the upper one of two. Its weight is the largest."""
    return math.floor(mu + Fraction(1, 2))


class About(NamedTuple):
    """Moments about an origin."""

    origin: Fraction | int
    raw: list[Interval]
    """E((X - origin)**n), n = 1, 2, ..."""
    energy: Interval
    """E(phi(X)) - phi(m0)"""
    at: Arithmetic


class Formulas(ABC):
    """The functions of one kind of law of integers, for all parameters."""

    @abstractmethod
    def phi(self, spec: LawSpec, m: int, at: Arithmetic) -> Interval:
        """Return phi(m)."""

    @abstractmethod
    def log_weight_ratio(self, spec: LawSpec, x: int, y: int, bits: int) -> Interval:
        """Return phi(y) - phi(x)."""

    @abstractmethod
    def weight_ratio(self, spec: LawSpec, x: int, y: int, bits: int) -> Interval:
        """Return exp(phi(y) - phi(x)), the weight of x in units of that of y."""

    @abstractmethod
    def tail_ratio(self, spec: LawSpec, m: int, bits: int) -> Interval:
        """Return the weight of all x >= m in units of that of m, for m at least mu."""

    def normaliser(self, spec: LawSpec, m0: int, bits: int) -> Interval:
        """Return the weight of all integers in units of that of m0, the integer nearest mu."""
        at = arithmetic(bits + 10)
        # x >= m0, and mirrored x <= m0 - 1; one of the two may lie on the wrong side of mu
        right, left = self._from(spec, m0, bits), self._from(mirrored(spec), 1 - m0, bits)
        return at.add(right, at.mul(left, self.weight_ratio(spec, m0 - 1, m0, bits)))

    def _from(self, spec: LawSpec, m: int, bits: int) -> Interval:
        """Return `tail_ratio`; m may be below mu by less than 1."""
        if m >= spec.mu:
            return self.tail_ratio(spec, m, bits)
        at = arithmetic(bits + 10)
        remainder = at.mul(
            self.tail_ratio(spec, m + 1, bits), self.weight_ratio(spec, m + 1, m, bits)
        )
        return at.add(at.rational(1), remainder)

    def scale_and_beta(self, spec: LawSpec, at: Arithmetic) -> tuple[Interval, Fraction]:
        """Return s and beta with phi(x) = (abs(x - mu)/s)**beta, if the law has this form."""
        raise NotImplementedError

    def tail_bound(self, spec: LawSpec, m: int, at: Arithmetic) -> Interval | None:
        """Return the law's own bound on P(X >= m); None if the density exp(-phi) is to give it."""
        return None

    def has_exponents(self, spec: LawSpec) -> bool:
        """Return whether `exponents` works for the law, so that nothing under- or overflows."""
        return parameters_in_range(spec.parameter, spec.mu)

    def exponents(self, spec: LawSpec, steps: Floats) -> Pairs:
        """Return phi(m0 + j) - phi(m0) for integers j of at most 2**53, m0 the integer nearest mu.

        Each law states its error. A result of 1000 or more means any number above 760.
        """
        raise NotImplementedError

    @abstractmethod
    def distance_of(self, spec: LawSpec, level: Interval, at: Arithmetic) -> Interval:
        """Return the distance from mu at which phi is ``level``, a first guess of a quantile."""

    @abstractmethod
    def whole_width(self, spec: LawSpec) -> int:
        """Return about the width of the law, in integers, rounded down."""

    def pure_epsilon(self, spec: LawSpec, sensitivity: int) -> Rational | None:
        """Return the largest phi(x + sensitivity) - phi(x); None if there is none."""
        return None

    def exact_variance(self, spec: LawSpec) -> Fraction | None:
        """Return the variance if it is known exactly."""
        return None

    def mean_near_mu(self, spec: LawSpec, bits: int) -> Interval | None:
        """Return bounds on the mean that cost less than `moments`, if there are any."""
        return None

    def has_moments(self, spec: LawSpec, order: int) -> bool:
        """Return whether `moments` works up to the order. Up to 4 it always does."""
        return True

    @abstractmethod
    def moments(self, spec: LawSpec, bits: int, order: int) -> About:
        """Return the moments up to the order, about an origin that the law chooses."""


class RationalFormulas(Formulas):
    """A law whose phi is rational at every integer."""

    @abstractmethod
    def exact_phi(self, spec: LawSpec, x: int) -> Rational:
        """Return phi(x)."""

    @abstractmethod
    def loss_exceeds_from(self, spec: LawSpec, epsilon: Any, sensitivity: int) -> int | None:
        """Return the least x with phi(x + sensitivity) - phi(x) > epsilon; None if there is none.

        The law is centred, epsilon an mpq of at least minus the largest loss.
        """

    def exact_log_ratio(self, spec: LawSpec, x: int, y: int) -> Rational:
        """Return phi(y) - phi(x)."""
        return self.exact_phi(spec, y) - self.exact_phi(spec, x)

    def phi(self, spec: LawSpec, m: int, at: Arithmetic) -> Interval:
        """Return phi(m)."""
        return at.rational(self.exact_phi(spec, m))

    def log_weight_ratio(self, spec: LawSpec, x: int, y: int, bits: int) -> Interval:
        """Return phi(y) - phi(x)."""
        return arithmetic(bits).rational(self.exact_log_ratio(spec, x, y))

    def weight_ratio(self, spec: LawSpec, x: int, y: int, bits: int) -> Interval:
        """Return exp(phi(y) - phi(x)), the weight of x in units of that of y.

        The exponential turns absolute errors of its argument into relative ones. Arguments beyond
        2**30 leave the range of exponents.
        """
        log = self.exact_log_ratio(spec, x, y)
        size = log.numerator.bit_length() - log.denominator.bit_length() + 1
        precise = arithmetic(bits + 4 + min(max(size, 0), 32)).rational(log)
        return arithmetic(bits + 4).exp(precise)


def term_by_term(formulas: Formulas, spec: LawSpec, bits: int, order: int) -> About:
    """Return the moments from sums over n = x - m0, in units of the weight of m0."""
    m0 = nearest_integer(spec.mu)
    at = arithmetic(bits + 20)
    right, left = (_side(formulas, spec, m0, direction, bits, at, order) for direction in (1, -1))
    total = at.shift(at.add(right.powers[0], left.powers[0]), 1)
    raw = [
        at.div((at.sub if n % 2 else at.add)(right.powers[n], left.powers[n]), total)
        for n in range(1, order + 1)
    ]
    energy = at.div(at.add(right.energy, left.energy), total)
    return About(m0, raw, energy, at)


class _Side(NamedTuple):
    powers: list[Interval]
    energy: Interval


def _side(
    formulas: Formulas,
    spec: LawSpec,
    m0: int,
    direction: int,
    bits: int,
    at: Arithmetic,
    order: int,
) -> _Side:
    """Return the sums of n**i w, i = 0..order, and of e w, over n = 1, 2, ...

    w = exp(-e) is the weight of m0 + n or of m0 - n, in units of the weight of m0. e is convex in n
    and has its least value e(0) = 0. So the ratios of neighbouring w fall, and so do those of
    n**i w. The largest of these is n**order w. If its ratio to the term before is q, at most
    q/(1 - q) of it remains after it. For e w, e exp(-e) <= exp(-e/2) because e exp(-e/2) <= 1, and
    the ratios of exp(-e/2) are the square roots of those of w.
    """
    zero = at.rational(0)
    sums, energy = [zero] * (order + 1), zero
    previous = zero  # -e
    for n in count(1):
        log = formulas.log_weight_ratio(spec, m0 + direction * n, m0, at.bits)
        w = at.exp(log)
        sums = [at.add(total, at.scale(w, n**i)) for i, total in enumerate(sums)]
        half = at.up.exp(at.up.div(log.upper, 2))
        here = at.mul(at.neg(log), w)
        energy = at.add(energy, Interval(here.lower, min(here.upper, half)))  # e may be infinite
        step = at.up.sub(log.upper, previous.lower)  # at least the logarithm of the ratio of w
        q = at.scale(at.exp(Interval(step, step)), Fraction(n + 1, n) ** order).upper
        root = at.up.exp(at.up.div(step, 2))
        if q < 1 and root < 1:
            last = at.scale(w, n**order).upper
            remainder = at.up.div(at.up.mul(last, q), at.down.sub(1, q))
            remainder_energy = at.up.div(at.up.mul(half, root), at.down.sub(1, root))
            small = _small(remainder, sums[0].lower, bits) and _small(
                remainder_energy, energy.lower, bits
            )
            if small or (w.lower <= 0 and q < 0.5):
                return _Side(
                    [Interval(s.lower, at.up.add(s.upper, remainder)) for s in sums],
                    Interval(energy.lower, at.up.add(energy.upper, remainder_energy)),
                )
        previous = log
    raise AssertionError  # count never ends


def _small(remainder: object, total: object, bits: int) -> bool:
    return bool(arithmetic(32).up.mul_2exp(remainder, bits + 3) <= total)
