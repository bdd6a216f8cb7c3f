"""What costs are asked of: a law, a sum of shares, a loss."""

from __future__ import annotations

from fractions import Fraction

from .._inputs.messages import refused
from .._inputs.privacy_arguments import positive_number, word_count
from .._law import Kind
from .._law_functions.sum_of_draws import SumOfDraws
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import Law
from .losses import PrivacyLoss

#: What has a cost.
Noise = Law | SumOfDraws | PrivacyLoss


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


def refuse_sampling(rate: Fraction) -> None:
    """Refuse sampling of vectors and sums of shares."""
    if rate != 1:
        rule = "be 1 for vectors and sums of shares: the cost of sampling them is not known"
        raise refused("sampling", rule, rate)


def refuse_vector(dimension: object, sum_norm: object, of: str) -> None:
    """Refuse what is known of vectors only."""
    if is_vector(dimension, sum_norm):
        raise ParameterValueError(
            f"dimension and sum_norm go with a Skellam law and sums of shares, not with {of}"
        )
