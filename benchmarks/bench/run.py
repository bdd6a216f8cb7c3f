"""What is measured: the discrete Gaussian by all who can draw it, from sigma = 1 to 10^100."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

from .contenders import CannotRunError, Case, Contender, Draw, Missing, all_contenders
from .contenders.ours import DEFAULT, TWIN
from .rounds import measure

EXPONENTS = (0, 1, 2, 3, 6, 9, 12, 30, 100)
"""Of ten, for sigma."""

_ROUNDS = 3
_PIECE = 10**5
"""Draws in one call, at most: arrays that stay in the cache."""

_SMALLEST = Case("gaussian", 1)


@dataclass(frozen=True)
class Measured:
    """One contender at one sigma."""

    contender: str
    exponent: int
    rate: float
    """Samples a second, median over the rounds."""

    by_round: tuple[float, ...]


@dataclass(frozen=True)
class Skipped:
    """One contender at one sigma that it does not draw, and why."""

    contender: str
    exponent: int
    reason: str


def who_takes_part() -> tuple[list[Contender], list[Missing]]:
    """Those that draw arrays of the Gaussian here, and those that are not installed.

    Our plain-Python reference implementation only where there is no compiled core.
    """
    found, missing = all_contenders()
    names = {contender.name for contender in found}
    taking_part = [
        contender
        for contender in found
        if "gaussian" in contender.laws
        and "vector" in contender.shapes
        and (contender.name != TWIN or DEFAULT not in names)
    ]
    # of other laws than the one measured
    return taking_part, [peer for peer in missing if peer.name != "scipy dlaplace"]


def in_pieces(draw: Draw) -> Draw:
    """Return the same in calls of so many draws as users make at once."""

    def pieces(n: int) -> None:
        for start in range(0, n, _PIECE):
            draw(min(_PIECE, n - start))

    return pieces


def all_steps(contenders: list[Contender]) -> int:
    """Return how often ``after`` will be called, at most."""
    return len(EXPONENTS) * len(contenders) * (1 + _ROUNDS)


def measure_all(
    contenders: list[Contender], *, seconds: float, after: Callable[[], object]
) -> tuple[list[Measured], list[Skipped]]:
    """Time all at each sigma, ``seconds`` of the processor each, as other work counts less so."""
    measured: list[Measured] = []
    skipped: list[Skipped] = []
    for exponent in EXPONENTS:
        case = Case("gaussian", 10 ** (2 * exponent))
        draws: dict[str, Draw] = {}
        for contender in contenders:
            try:
                if contender.exact(_SMALLEST) and not contender.exact(case):
                    raise CannotRunError("its 64-bit result would saturate")
                draws[contender.name] = in_pieces(contender.prepare(case))
            except CannotRunError as reason:
                skipped.append(Skipped(contender.name, exponent, str(reason)))
        rates = measure(draws, seconds=seconds, rounds=_ROUNDS, clock=process_time, after=after)
        measured += [
            Measured(name, exponent, found.median, found.by_round) for name, found in rates.items()
        ]
    return measured, skipped
