"""The two selections in plain Python: csrc/mechanisms/select.c reads the same bytes, and agrees.

A candidate's gap is an integer, the distance of its score from the best. A candidate passes with
probability exp(-gap num/den).

References
----------
McKenna, Sheldon, *Permute-and-Flip: A new mechanism for differentially private selection*, NeurIPS
2020, arXiv:2010.12603, Algorithm 1. McSherry, Talwar, *Mechanism Design via Differential Privacy*,
FOCS 2007.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ParameterValueError
from ..reference import Bytes, bernoulli_exp, uniform_below


def permute_and_flip(gaps: Sequence[int], num: int, den: int, source: Bytes) -> int:
    """Return the first candidate that passes, in uniformly random order. At least one gap is 0."""
    order = list(range(len(gaps)))
    for left in range(len(gaps), 0, -1):
        place = uniform_below(left, source)
        candidate = order[place]
        order[place] = order[left - 1]
        if bernoulli_exp(gaps[candidate] * num, den, source):
            return candidate
    raise ParameterValueError("gaps must hold a 0")


def exponential(gaps: Sequence[int], num: int, den: int, source: Bytes) -> int:
    """Return c with probability ~ exp(-gaps[c] num/den): draw uniformly until one passes."""
    while True:
        candidate = uniform_below(len(gaps), source)
        if bernoulli_exp(gaps[candidate] * num, den, source):
            return candidate
