"""The checked sensitivity of a query, and the law and number of shares of its noise."""

from __future__ import annotations

from .._certified.interval import arithmetic
from .._inputs.privacy_arguments import integer_sensitivity, word_count
from .._law import Kind
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import Law


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
            f"the sum of such shares, got {type(noise).__name__}"
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


class Sensitivity:
    """How much one person changes an integer, or a vector of integers.

    Attributes
    ----------
    clients, dimension : int
        The least number of clients that add noise, and the number d of integers.
    norm, squared : Fraction
        The Euclidean norm D of the change, and its square.
    sum_norm : mpfr
        An upper bound on the sum L of absolute changes. It is at most sqrt(d) D, and at most D**2
        because the changes are integers.
    """

    def __init__(
        self, clients: object, sensitivity: object, dimension: object, sum_norm: object
    ) -> None:
        self.clients = word_count(clients, "clients")
        self._of_vector = is_vector(dimension, sum_norm)
        self.dimension = word_count(dimension, "dimension")
        self.norm = integer_sensitivity(sensitivity)
        self.squared = self.norm**2
        root = _AT128.sqrt(_AT128.rational(self.dimension))
        self.sum_norm = min(
            _AT128.scale(root, self.norm).upper, _AT128.rational(self.squared).upper
        )
        if sum_norm is not None:
            known = _AT128.rational(integer_sensitivity(sum_norm, "sum_norm")).upper
            self.sum_norm = min(self.sum_norm, known)

    @property
    def of_a_number(self) -> bool:
        """True if one number changes, by a whole D."""
        return not self._of_vector and self.norm.denominator == 1
