"""Which object answers for which law. A new law is a file beside this one, and a line here."""

from __future__ import annotations

from .._law import Kind, LawSpec
from .discrete_gaussian import DiscreteGaussianFamily
from .discrete_laplace import DiscreteLaplaceFamily
from .family import Family
from .generalized_gaussian import GeneralizedGaussianFamily
from .skellam import SkellamFamily

_FAMILIES: dict[Kind, Family] = {
    Kind.DISCRETE_GAUSSIAN: DiscreteGaussianFamily(),
    Kind.DISCRETE_LAPLACE: DiscreteLaplaceFamily(),
    Kind.GENERALIZED_GAUSSIAN: GeneralizedGaussianFamily(),
    Kind.SKELLAM: SkellamFamily(),
}


def family_of(spec: LawSpec) -> Family:
    """Return what answers for the law, under the name it is given."""
    return _FAMILIES[spec.kind]
