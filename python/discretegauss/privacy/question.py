"""What is asked: noise, what one person changes, and how many clients add noise at the fewest."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.interval import arithmetic
from .._certified.search import least_decimal
from .._inputs.numbers import MAX_BITS
from .._inputs.privacy_arguments import positive_number, word_count
from .._law import Kind
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import Law


def clients_of(noise: object) -> tuple[Law, int]:
    """Return the law of each share, and how many shares there are; a Skellam law is one."""
    if isinstance(noise, SumOfDraws):
        law: Law = noise.law
        if law._spec.kind is not Kind.DISCRETE_GAUSSIAN:
            raise ParameterValueError(
                "law must be a sum of discrete Gaussian or Skellam shares: of others no cost is "
                f"known, got {noise!r}"
            )
        return law, noise.clients
    if not isinstance(noise, Law):
        raise ParameterTypeError(
            "law must be a DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam, or "
            f"the sum of such shares, got {type(noise).__name__}"
        )
    return noise, 1


def is_vector(dimension: object, sum_norm: object) -> bool:
    """Return whether these are of a vector; both must be right."""
    if sum_norm is not None:
        positive_number(sum_norm, "sum_norm")
    return word_count(dimension, "dimension") > 1 or sum_norm is not None


def refuse_vector(dimension: object, sum_norm: object, of: str) -> None:
    """Refuse what is known of vectors only."""
    if is_vector(dimension, sum_norm):
        raise ParameterValueError(
            f"dimension and sum_norm go with a Skellam law and sums of shares, not with {of}"
        )


AT = arithmetic(128)


def least_variance(
    cost: Callable[[Fraction], Any], budget: Fraction, guess: Fraction, name: str
) -> Fraction:
    """Return the least variance of 6 significant digits at which a share costs at most the budget.

    The cost, rounded up, falls as the variance grows; the guess is one near which it meets the
    budget, which is the parameter of that name.
    """
    if max(guess.numerator.bit_length(), guess.denominator.bit_length()) > MAX_BITS:
        raise ParameterOverflowError(f"{name} and sensitivity are too long, or too far apart")
    exact = gmpy2.mpq(budget)
    return least_decimal(lambda variance: bool(cost(variance) <= exact), guess)


class Sensitivity:
    """Checked, with the smallest sum norm that follows: of integers L <= sqrt(d) D and L <= D**2.

    Attributes
    ----------
    clients, dimension : int
        n, the fewest who add noise, and d.
    norm, squared : Fraction
        D and its square.
    sum_norm : mpfr
        At least the least bound on L.
    """

    def __init__(
        self, clients: object, sensitivity: object, dimension: object, sum_norm: object
    ) -> None:
        self.clients = word_count(clients, "clients")
        self._of_vector = is_vector(dimension, sum_norm)
        self.dimension = word_count(dimension, "dimension")
        self.norm = positive_number(sensitivity, "sensitivity")
        self.squared = self.norm**2
        root = AT.sqrt(AT.rational(self.dimension))
        self.sum_norm = min(AT.scale(root, self.norm).upper, AT.rational(self.squared).upper)
        if sum_norm is not None:
            given = AT.rational(positive_number(sum_norm, "sum_norm")).upper
            self.sum_norm = min(self.sum_norm, given)

    @property
    def of_a_number(self) -> bool:
        """Whether one number changes, by a whole D."""
        return not self._of_vector and self.norm.denominator == 1
