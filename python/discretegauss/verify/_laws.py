"""The laws as the verifier sees them, apart from what computes them elsewhere: a line for each."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from .._law import Kind, LawSpec


class Shape(NamedTuple):
    """phi(x) = (abs(x - mu)/scale)**beta/divisor."""

    beta: Fraction
    scale: Fraction
    divisor: Fraction


class VerifiedLaw(NamedTuple):
    """What a kind of law is called, and the shape of a law of that kind."""

    name: str
    parameters: tuple[str, ...]
    """Names of `LawSpec.parameter` and, if there is one, of `LawSpec.beta`."""
    shape: Callable[[LawSpec], Shape]


_1, _2 = Fraction(1), Fraction(2)

LAWS = {
    Kind.DISCRETE_GAUSSIAN: VerifiedLaw(
        "discrete Gaussian", ("sigma2",), lambda spec: Shape(_2, _1, 2 * spec.parameter)
    ),
    Kind.DISCRETE_LAPLACE: VerifiedLaw(
        "discrete Laplace", ("scale",), lambda spec: Shape(_1, spec.parameter, _1)
    ),
    Kind.GENERALIZED_GAUSSIAN: VerifiedLaw(
        "generalised Gaussian",
        ("scale", "beta"),
        lambda spec: Shape(spec.beta, spec.parameter, _1),
    ),
}
"""Random cases choose among them in this order."""
