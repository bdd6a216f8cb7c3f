"""Tails at many integers, one from the next: R(m) = 1 + R(m + 1) P(X = m + 1)/P(X = m)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .._law import LawSpec
from .families import family_of
from .interval import Interval, arithmetic
from .lattice_sums import canonical, tail_ratio

#: Integers further apart than this are not worth the steps between them.
_WIDEST_GAP = 64


def tail_ratios(spec: LawSpec, ms: Iterable[int], bits: int) -> Iterator[tuple[int, Interval]]:
    """Yield (m, tail_ratio(spec, m)) for integers m >= mu, the largest first.

    Parameters
    ----------
    spec : LawSpec
        A discrete Gaussian, discrete Laplace or generalised Gaussian.
    ms : iterable of int
        Distinct; in any order.
    bits : int
        The relative width aimed at is 2**-bits.
    """
    run: list[int] = []
    for m in sorted(ms, reverse=True):
        if run and run[-1] - m > _WIDEST_GAP:
            yield from _downwards(spec, run, bits)
            run = []
        run.append(m)
    if run:
        yield from _downwards(spec, run, bits)


def _downwards(spec: LawSpec, run: list[int], bits: int) -> Iterator[tuple[int, Interval]]:
    """Yield the tails at integers that fall by small steps.

    All terms are positive, so lower ends come from lower ends. In n steps the ratio of weights
    gathers n errors, R as many of those: 2 log2(n) bits are kept for them.
    """
    spec = canonical(spec)
    family = family_of(spec)
    steps = run[0] - run[-1]
    bits += 2 * steps.bit_length() + 4
    ratio = tail_ratio(spec, run[0], bits)
    yield run[0], ratio
    if family.constant_tail_ratio:
        yield from ((m, ratio) for m in run[1:])
        return
    wanted = set(run[1:])
    at = arithmetic(bits + 4)
    weights = family.neighbour_ratios(spec, run[0] - 1, bits)
    for m in range(run[0] - 1, run[-1] - 1, -1):
        ratio = at.shift(at.mul(next(weights), ratio), 1)
        if m in wanted:
            yield m, ratio
