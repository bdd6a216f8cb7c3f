"""Which facts belong to which law. Laws without a line here have what is known of all."""

from __future__ import annotations

from .._law import Kind, LawSpec
from ._discrete_gaussian import DiscreteGaussianFacts
from ._discrete_laplace import DiscreteLaplaceFacts
from ._facts import PrivacyFacts, SkellamFacts

_FACTS: dict[Kind, PrivacyFacts] = {
    Kind.DISCRETE_GAUSSIAN: DiscreteGaussianFacts(),
    Kind.DISCRETE_LAPLACE: DiscreteLaplaceFacts(),
    Kind.SKELLAM: SkellamFacts(),
}

_OF_ALL = PrivacyFacts()


def privacy_facts_of(spec: LawSpec) -> PrivacyFacts:
    """Return what is known of the law, which is `canonical`."""
    return _FACTS.get(spec.kind, _OF_ALL)
