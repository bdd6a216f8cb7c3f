"""Tumult Core's own sampler, one draw a call as its measurements make them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .base import Case, Contender, Draw, Missing, always

NAME = "Tumult Core"


def contenders() -> list[Contender | Missing]:
    """Tumult Core, if its sampler can be imported."""
    try:
        from tmlt.core.random.discrete_gaussian import sample_dgauss
    except ImportError as error:
        return [Missing(NAME, str(error), "pip install tmlt.core")]
    sample: Any = sample_dgauss

    def prepare(case: Case) -> Draw:
        sigma2 = Fraction(case.parameter)

        def draw(n: int) -> None:
            for _ in range(n):
                sample(sigma2)

        return draw

    return [Contender(NAME, secure=True, prepare=prepare, exact=always, laws=("gaussian",))]
