"""The paper's algorithms as paper_python.py writes them: Fraction and SystemRandom."""

from __future__ import annotations

from fractions import Fraction

import paper_python
from contenders.base import Case, Contender, Draw, Missing, always


def contenders() -> list[Contender | Missing]:
    """Always there: it needs the standard library only."""

    def prepare(case: Case) -> Draw:
        parameter = Fraction(case.parameter)
        sample = (
            paper_python.discrete_gaussian
            if case.law == "gaussian"
            else paper_python.discrete_laplace
        )

        def draw(n: int) -> object:
            return [sample(parameter) for _ in range(n)]

        return draw

    return [Contender("paper, plain Python", secure=True, prepare=prepare, exact=always)]
