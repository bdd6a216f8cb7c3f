"""The worst analyst who chooses releases from answers: an exact recursion over likelihood ratios.

A release is a list of pairs (p, q): the probabilities of each answer for two neighbouring tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

Pairs = list[tuple[Fraction, Fraction]]
Allowed = Callable[[Fraction, Fraction], bool]


class Priced(NamedTuple):
    """A release with its cost."""

    cost: Fraction
    own: Fraction
    pairs: Pairs


class Path(NamedTuple):
    """A path of answers: its probabilities, what it has spent, and the releases on it."""

    p: Fraction
    q: Fraction
    cost: Fraction
    own: Fraction
    chosen: tuple[int, ...]


def randomised_response(odds: Fraction) -> Pairs:
    """Return a release of pure epsilon log(odds)."""
    p, q = odds / (1 + odds), 1 / (1 + odds)
    return [(p, q), (q, p)]


def leaking(pairs: Pairs, own: Fraction) -> Pairs:
    """Return a release that tells the truth with this probability."""
    kept = [((1 - own) * p, (1 - own) * q) for p, q in pairs]
    return [*kept, (own, Fraction(0)), (Fraction(0), own)]


class Analyst:
    """The strategy that makes the sum of (P - ratio Q)+ largest.

    Parameters
    ----------
    menu : sequence of Priced
        The releases to choose from, as often as wanted.
    allowed : callable
        Whether the sums of costs on a path may be these.
    ratio : Fraction
        exp(epsilon).
    """

    def __init__(self, menu: Sequence[Priced], allowed: Allowed, ratio: Fraction) -> None:
        self._menu, self._ratio = menu, ratio
        self._allowed = lru_cache(None)(allowed)
        self._best = lru_cache(None)(self._find)

    def worst(self, depth: int) -> Fraction:
        """Return the delta at that epsilon of at most `depth` releases."""
        return self._best(Fraction(1), Fraction(0), Fraction(0), depth)[0]

    def _find(
        self, odds: Fraction, cost: Fraction, own: Fraction, depth: int
    ) -> tuple[Fraction, int | None]:
        best, choice = max(Fraction(0), 1 - self._ratio * odds), None
        for i, one in enumerate(self._menu if depth else ()):
            if self._allowed(cost + one.cost, own + one.own):
                each = [
                    p * self._best(odds * q / p, cost + one.cost, own + one.own, depth - 1)[0]
                    for p, q in one.pairs
                    if p
                ]
                after = sum(each, Fraction(0))
                if after > best:
                    best, choice = after, i
        return best, choice

    def paths(self, depth: int) -> list[Path]:
        """Follow the strategy forwards, to all of its ends."""
        first = Path(Fraction(1), Fraction(1), Fraction(0), Fraction(0), ())
        ends, unfinished = [], [(first, depth)]
        while unfinished:
            path, left = unfinished.pop()
            # an answer that cannot be of the first table adds nothing
            found = self._best(path.q / path.p, path.cost, path.own, left) if path.p else (0, None)
            if found[1] is None:
                ends.append(path)
                continue
            one = self._menu[found[1]]
            for p, q in one.pairs:
                if p or q:
                    sums = path.cost + one.cost, path.own + one.own
                    after = Path(path.p * p, path.q * q, *sums, (*path.chosen, found[1]))
                    unfinished.append((after, left - 1))
        return ends
