"""One line of the bulk table: a bound that the project set, what this run measured, the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from bench.rounds import Rates

Sense = Literal["at least", "at most"]


@dataclass(frozen=True)
class BulkRow:
    """A case and its bound. measured is None: not measured, and note says why."""

    case: str
    bound: float
    measured: float | None
    sense: Sense = "at least"
    unit: str = "times"
    note: str = ""
    ours: tuple[float, ...] = ()
    """Our samples a second, one figure a round; empty where the row is no rate."""

    peer: tuple[float, ...] = ()
    """The other side's."""

    @property
    def met(self) -> bool | None:
        """The verdict."""
        if self.measured is None:
            return None
        return (
            self.measured >= self.bound
            if self.sense == "at least"
            else (self.measured <= self.bound)
        )


@dataclass(frozen=True)
class Settings:
    """How much is drawn: a measurement, or a quick look."""

    draws: int
    draws_threads: int
    rounds: int
    seconds: float
    """For each side where the number of draws is fitted to the time."""


Group = Callable[[Settings], Iterable[BulkRow]]
"""Some rows that are measured together."""

MEASUREMENT = Settings(draws=10**7, draws_threads=10**8, rounds=7, seconds=1.0)
QUICK = Settings(draws=10**6, draws_threads=10**7, rounds=3, seconds=0.15)


def ratio_row(
    case: str, bound: float, ours: Rates, peer: Rates | None, *, note: str = ""
) -> BulkRow:
    """How many times our rate is the peer's, the median over the rounds."""
    if peer is None:
        return BulkRow(case, bound, None, note=note, ours=ours.by_round)
    return BulkRow(
        case,
        bound,
        ours.ratio_to(peer),
        note=note,
        ours=ours.by_round,
        peer=peer.by_round,
    )


def rows_text(rows: Iterable[BulkRow]) -> str:
    """The table for people."""
    rows = list(rows)
    width = max((len(row.case) for row in rows), default=0)
    head = f"{'bulk case':{width}} {'bound':>16} {'measured':>10}  verdict"
    lines = [head, "-" * (len(head) + 5)]
    for row in rows:
        sign = ">=" if row.sense == "at least" else "<="
        word = {None: "not measured", True: "met", False: "NOT MET"}[row.met]
        note = f"  ({row.note})" if row.note else ""
        lines.append(
            f"{row.case:{width}} {f'{sign} {_figure(row.bound)} {row.unit}':>16}"
            f" {'-' if row.measured is None else _figure(row.measured):>10}  {word}{note}"
        )
    return "\n".join(lines)


def as_json(rows: Iterable[BulkRow]) -> list[dict[str, object]]:
    """The rows as plain values."""
    return [
        {
            "case": row.case,
            "sense": row.sense,
            "bound": row.bound,
            "unit": row.unit,
            # JSON has no infinity: of a table that is never repaid, see the note.
            "measured": row.measured if math.isfinite(row.measured or 0) else None,
            "met": row.met,
            "note": row.note,
            "ours_by_round": row.ours,
            "peer_by_round": row.peer,
        }
        for row in rows
    ]


def power(value: int) -> str:
    """10^4 for 10**4; other numbers, and those below 10^4, as they are."""
    exponent = len(str(value)) - 1
    return f"10^{exponent}" if value >= 10**4 and value == 10**exponent else str(value)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
