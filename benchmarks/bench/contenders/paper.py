"""The paper's algorithms as paper_python.py writes them: Fraction and SystemRandom.

The code that was published with the paper is of this kind, and takes about as long.
"""

from __future__ import annotations

from fractions import Fraction

from .. import paper_python
from .base import Case, Contender, Draw, Missing, always

NAME = "paper, plain Python"


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

    return [Contender(NAME, secure=True, prepare=prepare, exact=always)]
