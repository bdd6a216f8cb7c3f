"""The specification of a law: its kind, its exact parameters, and whether it fits a range."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple


class Kind(IntEnum):
    """The kinds of law, numbered as ``dg_law_kind`` in the C header (a test compares them).

    The C core does not know the kinds from 100 on.
    """

    BERNOULLI = 0
    UNIFORM_BELOW = 1
    BERNOULLI_EXP = 2
    GEOMETRIC_EXP = 3
    DISCRETE_LAPLACE = 4
    DISCRETE_GAUSSIAN = 5
    GENERALIZED_GAUSSIAN = 6
    SKELLAM = 100

    @property
    def in_core(self) -> bool:
        """Return whether the C core draws laws of this kind."""
        return self < Kind.SKELLAM

    @property
    def has_cells(self) -> bool:
        """Return whether cell tables and the isochronous sampler draw it: it has a centre."""
        return self.in_core and self >= Kind.DISCRETE_LAPLACE

    @property
    def has_reference(self) -> bool:
        """Return whether `reference` draws it in plain Python."""
        return self is not Kind.GENERALIZED_GAUSSIAN


class LawSpec(NamedTuple):
    """A law: its kind, its parameter (probability, n, gamma, scale or sigma2), its centre, beta."""

    kind: Kind
    parameter: Fraction
    mu: Fraction = Fraction(0)
    beta: Fraction = Fraction(1)

    def simplest(self) -> LawSpec:
        """Return the same law as a Laplace if beta is 1, as a Gaussian if beta is 2, else itself.

        `_certified` computes with the result. Draws keep the kind that the user names.
        """
        if self.kind is Kind.GENERALIZED_GAUSSIAN and self.beta == 1:
            return LawSpec(Kind.DISCRETE_LAPLACE, self.parameter, self.mu)
        if self.kind is Kind.GENERALIZED_GAUSSIAN and self.beta == 2:
            return LawSpec(Kind.DISCRETE_GAUSSIAN, self.parameter**2 / 2, self.mu)
        return self


def fits_range(spec: LawSpec, low: int, high: int) -> bool:
    """Return whether Pr[X < low or X > high] < 2**-128 is proven.

    Notes
    -----
    Let r be the distance from mu to the nearest integer outside, b the scale, f the distance from
    mu to its nearest integer (at most 1/2). Each bound is for one side; the two sides double it.

    *Discrete Laplace.* The tail beyond r sums to exp(-r/b)/(1 - exp(-1/b)); the normaliser is at
    least the near half-line alone, exp(-f/b)/(1 - exp(-1/b)). So it is at most exp(-(r - 1/2)/b),
    and 2 exp(-89.5) < 2**-128 = exp(-88.72...).

    *Discrete Gaussian.* With (r + k)**2 >= r**2 + 2 r k the tail is at most exp(-r**2/(2 sigma2))
    (1 + sigma2/r), as 1/(1 - exp(-u)) <= 1 + 1/u. Below, r >= 13 sigma. If sigma < 1 the normaliser
    is at least exp(-f**2/(2 sigma2)), and the quotient at most 1.08 exp(-(r**2 - 1/4)/(2 sigma2)).
    Else at least sigma integers lie within sigma of mu, the normaliser is at least 0.6 sigma, and
    the quotient at most (1/(0.6 sigma) + 1/7.8) exp(-r**2/(2 sigma2)) <= 1.8 exp(...). Two sides:
    3.6 exp(-90.5) < 2**-128 asks for (r**2 - 1/4)/(2 sigma2) >= 90.5; that implies r >= 13 sigma.

    *Generalised Gaussian*, phi(r) = (r/b)**beta. Below, r >= b, where phi' >= 1/b, so the tail is
    at most exp(-phi(r)) (1 + b). If b >= 1 the normaliser is at least b/e (as many integers lie
    within b of mu), and the quotient at most e (1 + 1/b) exp(-phi(r)) <= 5.5 exp(-phi(r - 1/2)).
    Else it is at least exp(-phi(1/2)), and as phi(r) - phi(1/2) >= phi(r - 1/2) (phi is convex,
    phi(0) = 0) the quotient at most 2 exp(-phi(r - 1/2)). Two sides: 11 exp(-92) < 2**-128. With z
    = (r - 1/2)/b >= 1, z**beta >= 92 follows from z**(k/4) >= 92 for any k <= 4 beta.

    *Geometric.* Pr[X >= r] = exp(-r gamma), and exp(-89) < 2**-128.

    *Skellam*, of variance v. As E(exp(t X)) = exp(v (cosh(t) - 1)) and cosh(t) - 1 <= t**2/2/(1 -
    t/3), a side is at most exp(-r**2/(2 (v + r/3))) (Bernstein), and 2 exp(-90) < 2**-128.
    """
    return KINDS[spec.kind].fits(spec, low, high)


class KindFacts(NamedTuple):
    """The facts that all laws of a kind share."""

    parameter: str
    """The user's name for `LawSpec.parameter`."""
    fits: Callable[[LawSpec, int, int], bool]
    """`fits_range` for laws of this kind; the proof is in its docstring."""
    may_be_zero: bool = False
    """True if the parameter may be 0."""


def _bit_fits(spec: LawSpec, low: int, high: int) -> bool:
    return low <= 0 and high >= 1


def _uniform_fits(spec: LawSpec, low: int, high: int) -> bool:
    return low <= 0 and high >= spec.parameter - 1


def _geometric_fits(spec: LawSpec, low: int, high: int) -> bool:
    return low <= 0 and (high + 1) * spec.parameter >= 89


def _distance_outside(spec: LawSpec, low: int, high: int) -> Fraction:
    """Return the r of `fits_range`; it is 0 or less if mu itself is outside."""
    return min(high + 1 - spec.mu, spec.mu - (low - 1))


def _laplace_fits(spec: LawSpec, low: int, high: int) -> bool:
    r = _distance_outside(spec, low, high)
    return r > 0 and 2 * r - 1 >= 179 * spec.parameter


def _gaussian_fits(spec: LawSpec, low: int, high: int) -> bool:
    r = _distance_outside(spec, low, high)
    return r > 0 and 4 * r * r - 1 >= 724 * spec.parameter


def _skellam_fits(spec: LawSpec, low: int, high: int) -> bool:
    r = _distance_outside(spec, low, high)
    return r > 0 and r * r >= 180 * (spec.parameter + r / 3)


def _generalized_fits(spec: LawSpec, low: int, high: int) -> bool:
    r = _distance_outside(spec, low, high)
    z = (2 * r - 1) / (2 * spec.parameter)
    if z < 1:
        return False
    quarters = min(int(4 * spec.beta), 256)
    # beta >= 1, so z = 92 is enough. z is rounded down because its exact power may take seconds
    z = Fraction(int(min(z, Fraction(92)) * 2**32), 2**32)
    return z**quarters >= 92**4


#: The facts of each kind.
KINDS = {
    Kind.BERNOULLI: KindFacts("p", _bit_fits, may_be_zero=True),
    Kind.UNIFORM_BELOW: KindFacts("n", _uniform_fits),
    Kind.BERNOULLI_EXP: KindFacts("gamma", _bit_fits, may_be_zero=True),
    Kind.GEOMETRIC_EXP: KindFacts("gamma", _geometric_fits),
    Kind.DISCRETE_LAPLACE: KindFacts("scale", _laplace_fits),
    Kind.DISCRETE_GAUSSIAN: KindFacts("sigma2", _gaussian_fits),
    Kind.GENERALIZED_GAUSSIAN: KindFacts("scale", _generalized_fits),
    Kind.SKELLAM: KindFacts("variance", _skellam_fits),
}
