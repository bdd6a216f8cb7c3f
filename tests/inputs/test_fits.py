"""A dtype is taken only if a draw lies outside it with a probability below 2**-128.

`fits_range` decides that by a proof in its docstring. These tests sum the probability itself, in
decimals of 50 digits, at the narrowest range that it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MIN_EMIN, Decimal, localcontext
from fractions import Fraction

import pytest
from evidence_cases import evidence, some

from discretegauss._law import Kind, LawSpec, fits_range

LEAST = Decimal(2) ** -128

Weight = Callable[[int], Decimal]


def weight_of(spec: LawSpec) -> Weight:
    """Return the function that gives the law's weight at x."""

    def ratio(value: Fraction) -> Decimal:
        return Decimal(value.numerator) / Decimal(value.denominator)

    def weight(x: int) -> Decimal:
        r = abs(x - spec.mu)
        if spec.kind is Kind.DISCRETE_GAUSSIAN:
            return (-ratio(r * r / (2 * spec.parameter))).exp()
        if spec.kind is Kind.GENERALIZED_GAUSSIAN and r > 0:
            return (-((ratio(spec.beta) * ratio(r / spec.parameter).ln()).exp())).exp()
        return (-ratio(r / spec.parameter)).exp()

    return weight


def total_from(start: int, step: int, weight: Weight) -> Decimal:
    """Return the sum of the weights from start outwards, to one part in 10**20."""
    total, x = weight(start), start + step
    while True:
        term = weight(x)
        total += term
        # the weights fall at least geometrically from there on
        if term * 10**24 <= total:  # 0 where it is too small for a decimal
            return total
        x += step


def outside(spec: LawSpec, low: int, high: int) -> Decimal:
    """Return Pr[X < low or X > high] for low <= mu <= high."""
    with localcontext() as context:
        context.prec = 50
        context.Emin = MIN_EMIN
        weight, centre = weight_of(spec), round(spec.mu)
        whole = total_from(centre, 1, weight) + total_from(centre - 1, -1, weight)
        return (total_from(high + 1, 1, weight) + total_from(low - 1, -1, weight)) / whole


def narrowest(taken: Callable[[int], bool], least: int) -> int:
    """Return the least n >= least that is taken, given that all larger ones are, too."""
    high = least + 1
    while not taken(high):
        high *= 2
    low = least
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if taken(middle) else (middle, high)
    return low if taken(low) else high


MUS = [Fraction(0), Fraction(1, 3), Fraction(-1, 2), Fraction(-70, 3)]
GAUSSIANS = [LawSpec(Kind.DISCRETE_GAUSSIAN, Fraction(p)) for p in ("1/1000", "1/4", 1, 90, 4000)]
LAPLACES = [LawSpec(Kind.DISCRETE_LAPLACE, Fraction(p)) for p in ("1/100", "1/2", 1, 7, 30)]
GENERALIZED = [
    LawSpec(Kind.GENERALIZED_GAUSSIAN, Fraction(p), beta=Fraction(beta))
    for p in ("1/10", 1, 20)
    for beta in (1, "11/10", "3/2", 2, 3, 20)
]


@pytest.mark.parametrize("mu", [MUS[0], *evidence(*MUS[1:])], ids=str)
@pytest.mark.parametrize("spec", some([*GAUSSIANS, *LAPLACES, *GENERALIZED]), ids=str)
def test_the_narrowest_range_that_is_taken_holds_the_law(spec: LawSpec, mu: Fraction) -> None:
    """The range is -n ... n."""
    spec = spec._replace(mu=mu)
    n = narrowest(lambda n: fits_range(spec, -n, n), abs(round(mu)))
    assert outside(spec, -n, n) < LEAST


@pytest.mark.parametrize("spec", some([*GAUSSIANS, *LAPLACES, *GENERALIZED[::2]]), ids=str)
def test_the_range_of_an_unsigned_type_holds_the_law(spec: LawSpec) -> None:
    """The range is 0 ... 2**64 - 1, around the least mu = n + 1/3 that is taken."""
    spec = spec._replace(mu=Fraction(1, 3))
    n = narrowest(lambda n: fits_range(spec._replace(mu=n + Fraction(1, 3)), 0, 2**64 - 1), 0)
    assert outside(spec._replace(mu=n + Fraction(1, 3)), 0, 2 * n + 2**20) < LEAST


@pytest.mark.parametrize("gamma", [Fraction(1, 50), Fraction(1), Fraction(7, 3)], ids=str)
def test_the_narrowest_range_of_a_geometric_law_holds_it(gamma: Fraction) -> None:
    """Pr[X > n] is exp(-gamma (n + 1)), and one less would leave more than 2**-129 outside."""
    spec = LawSpec(Kind.GEOMETRIC_EXP, gamma)
    n = narrowest(lambda n: fits_range(spec, 0, n), 0)
    rate = Decimal(gamma.numerator) / Decimal(gamma.denominator)
    assert (-rate * (n + 1)).exp() < LEAST
    assert (-rate * n).exp() > LEAST / 2 or gamma > 1


@pytest.mark.parametrize("spec", some([*GAUSSIANS, *LAPLACES], 6), ids=str)
def test_what_is_refused_is_not_far_from_it(spec: LawSpec) -> None:
    """A range a fifth narrower than the narrowest taken leaves more than 2**-128 outside."""
    n = narrowest(lambda n: fits_range(spec, -n, n), 0)
    assert n < 3 or outside(spec, -(n * 4 // 5), n * 4 // 5) > LEAST
