"""Standard deviation and 95 % interval of the noise, against the law itself."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from discretegauss._spread import _far_spread, _summed_spread, spread


def law_by_definition(sigma2: Fraction) -> tuple[Decimal, int]:
    """Standard deviation and smallest k with P(|X| <= k) >= 0.95, in 50 digits, tails and all."""
    with localcontext() as context:
        context.prec = 50
        rate = Decimal(sigma2.denominator) / Decimal(2 * sigma2.numerator)
        weights: list[Decimal] = []
        x = 0
        while not weights or weights[-1] > Decimal("1e-60"):
            weights.append((-rate * x * x).exp())
            x += 1
        total = 2 * sum(weights) - weights[0]
        variance = 2 * sum(x * x * w for x, w in enumerate(weights)) / total
        within = weights[0]
        k = 0
        while within < Decimal("0.95") * total:
            k += 1
            within += 2 * weights[k]
        return variance.sqrt(), k


@pytest.mark.parametrize(
    "sigma2", ["1/100", "1/4", "1/2", "1", "355/113", "5", "10", "61.5866", "100", "10000"]
)
def test_spread_is_that_of_the_discrete_law(sigma2: str) -> None:
    std, bound = law_by_definition(Fraction(sigma2))
    found = spread(Fraction(sigma2))
    assert found.bound == bound
    assert math.isclose(found.std, std, rel_tol=1e-13)


def test_the_normal_law_takes_over_where_it_agrees() -> None:
    """Above 10**6 both ways give the same digits and the same k.

    (k may be 1 too large for about one sigma2 in 10**4; these 40 are none of them.)
    """
    for step in range(40):
        sigma2 = Fraction(10**6) + 1 + Fraction(12345 * step, 7)
        summed, far = _summed_spread(sigma2), _far_spread(sigma2)
        assert summed.bound == far.bound
        assert math.isclose(summed.std, far.std, rel_tol=1e-12)


@pytest.mark.parametrize("digits", [30, 300, 1198])
def test_spread_of_any_size(digits: int) -> None:
    found = spread(Fraction(10**digits))
    assert found.std.adjusted() == digits // 2
    assert 1959963984540054 <= found.bound // 10 ** (digits // 2 - 15) <= 1959963984540056


@pytest.mark.parametrize("sigma2", [Fraction(1, 10**4), Fraction(1, 10**5000)])
def test_noise_that_is_almost_none(sigma2: Fraction) -> None:
    found = spread(sigma2)
    assert found.bound == 0
    assert found.std < Decimal("1e-160")
