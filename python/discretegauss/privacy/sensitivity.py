"""How far one person changes an answer, and the law and number of shares of its noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from .._certified.interval import arithmetic, fraction_of
from .._inputs.privacy_arguments import integer_sensitivity, word_count
from .._law import Kind
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import Law

#: What to do about a mechanism that is no noise on an answer.
LIKE_A_PURE_ONE = (
    "any mechanism that is (epsilon, delta)-private, such as a KeepRule, has "
    "PrivacyLoss.of_pure(epsilon, delta)"
)


def clients_of(noise: object) -> tuple[Law, int]:
    """Return the law of each share and the number of shares, which is 1 for a law."""
    if isinstance(noise, SumOfDraws):
        law: Law = noise.law
        if law._spec.kind is not Kind.DISCRETE_GAUSSIAN:
            raise ParameterValueError(
                "law must be a sum of discrete Gaussian or Skellam shares: no cost is known for "
                f"other sums, got {noise!r}"
            )
        return law, noise.clients
    if not isinstance(noise, Law):
        raise ParameterTypeError(
            "law must be a DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam, or "
            f"the sum of such shares, got {type(noise).__name__}; {LIKE_A_PURE_ONE}"
        )
    return noise, 1


def is_vector(dimension: object, sum_norm: object) -> bool:
    """Return whether a vector is meant, after checking both."""
    if sum_norm is not None:
        integer_sensitivity(sum_norm, "sum_norm")
    return word_count(dimension, "dimension") > 1 or sum_norm is not None


def refuse_vector(dimension: object, sum_norm: object, of: str) -> None:
    """Refuse a dimension above 1 and a sum norm."""
    if is_vector(dimension, sum_norm):
        raise ParameterValueError(
            f"dimension and sum_norm must not be given for {of}, only for a Skellam law or a sum "
            "of shares"
        )


_AT128 = arithmetic(128)


class Sensitivity(NamedTuple):
    """How far one person changes an answer, which is a vector of integers."""

    #: The square of the Euclidean norm of the change.
    norm2: Fraction
    #: The sum of the absolute changes.
    l1: Fraction
    #: The most by which one integer changes.
    each: Fraction
    #: The most integers that change.
    counts: int
    #: The most rows of a table that change.
    rows: int = 1
    #: The number of changes of norm `each` that make the largest one. None if none do.
    parts: int | None = None

    @classmethod
    def of_parts(cls, each: Fraction, parts: int) -> Sensitivity:
        """Return that of several answers, each of which changes by `each`.

        An `each` that is not whole is the Euclidean norm of all that changes in one column.
        """
        whole = each.denominator == 1
        counts = parts * (1 if whole else math.floor(each**2))
        l1 = counts * each if whole else Fraction(counts)
        return cls(parts * each**2, l1, each, counts, parts, parts)

    @classmethod
    def of_vector(
        cls, sensitivity: object, dimension: object = 1, sum_norm: object = None
    ) -> Sensitivity:
        """Return that of a vector: its norm D, the number d of integers, and the sum norm.

        The sum norm is at most sqrt(d) D, and at most D**2 because the changes are integers.
        """
        is_number = not is_vector(dimension, sum_norm)
        d, norm = word_count(dimension, "dimension"), integer_sensitivity(sensitivity)
        sums = [fraction_of(_AT128.scale(_AT128.sqrt(_AT128.rational(d)), norm).upper), norm**2]
        if sum_norm is not None:
            sums.append(integer_sensitivity(sum_norm, "sum_norm"))
        one = is_number and norm.denominator == 1
        return cls(norm**2, min(sums), norm, d, parts=1 if one else None)

    @property
    def of_a_number(self) -> bool:
        """True if one number changes, by a whole D."""
        return self.parts == 1 and self.each.denominator == 1
