"""The laws that the verifier knows, a line for each, independent of the code that draws them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from .._law import Kind, LawSpec


class WeightShape(NamedTuple):
    """phi(x) = (abs(x - mu)/scale)**beta/divisor."""

    beta: Fraction
    scale: Fraction
    divisor: Fraction


class VerifiedLaw(NamedTuple):
    """The name of a kind of law, its parameters, and the shape of each law of that kind."""

    name: str
    parameters: tuple[str, ...]
    """The names of `LawSpec.parameter` and, if the kind has one, of `LawSpec.beta`."""
    shape: Callable[[LawSpec], WeightShape]


_1, _2 = Fraction(1), Fraction(2)

LAWS = {
    Kind.DISCRETE_GAUSSIAN: VerifiedLaw(
        "discrete Gaussian", ("sigma2",), lambda spec: WeightShape(_2, _1, 2 * spec.parameter)
    ),
    Kind.DISCRETE_LAPLACE: VerifiedLaw(
        "discrete Laplace", ("scale",), lambda spec: WeightShape(_1, spec.parameter, _1)
    ),
    Kind.GENERALIZED_GAUSSIAN: VerifiedLaw(
        "generalised Gaussian",
        ("scale", "beta"),
        lambda spec: WeightShape(spec.beta, spec.parameter, _1),
    ),
}
"""Random cases choose from this order."""
