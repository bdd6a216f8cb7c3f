"""One line of calls.py: a call, what it is measured against, the bound, the verdict."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from bench.rounds import Clock, Rates


class Sides(NamedTuple):
    """Both sides of a row, and how many items (draws, say) a call of each is for."""

    ours: Callable[[], object]
    theirs: Callable[[], object]
    our_items: int = 1
    their_items: int = 1


@dataclass(frozen=True)
class Question:
    """A call, its peer, and what is owed.

    prepare makes what is not timed; an ImportError of it is a peer that is not there.
    """

    case: str
    peer: str
    prepare: Callable[[], Sides]
    bound: float | None = None
    sense: Literal["at least", "at most"] = "at least"
    """At least: so many times the peer's speed. At most: so many times its time."""

    within: float | None = None
    """Seconds an item; who keeps to them needs not keep to the bound."""

    clock: Clock = time.process_time
    """Processor time, if nothing else is said: other programs on the machine do not count."""


@dataclass(frozen=True)
class Answer:
    """A question with what this run measured; nothing: skipped says why."""

    question: Question
    ours: Rates | None = None
    """In items a second, as the peer's."""

    theirs: Rates | None = None
    skipped: str = ""

    @property
    def measured(self) -> float | None:
        """The ratio, in the sense of the bound: the median of the rounds' ratios."""
        if self.ours is None or self.theirs is None:
            return None
        if self.question.sense == "at least":
            return self.ours.ratio_to(self.theirs)
        return self.theirs.ratio_to(self.ours)

    @property
    def met(self) -> bool | None:
        """The verdict; None: not measured, or nothing is owed."""
        bound, measured = self.question.bound, self.measured
        verdicts = []
        if bound is not None and measured is not None:
            at_least = self.question.sense == "at least"
            verdicts.append(measured >= bound if at_least else measured <= bound)
        if self.question.within is not None and (seconds := self.seconds(self.ours)) is not None:
            verdicts.append(seconds <= self.question.within)
        return any(verdicts) if verdicts else None

    def seconds(self, rates: Rates | None) -> float | None:
        """The time of an item, the median over the rounds."""
        if rates is None:
            return None
        return statistics.median(1 / rate for rate in rates.by_round)


def answers_text(answers: Iterable[Answer]) -> str:
    """The table for people."""
    answers = list(answers)
    width = max((len(answer.question.case) for answer in answers), default=0)
    head = (
        f"{'call':{width}} {'ours':>8} {'peer':>8} {'ratio':>7} {'bound':>15}  verdict       peer"
    )
    lines = [head, "-" * (len(head) + 16)]
    for answer in answers:
        measured = "-" if answer.measured is None else f"{answer.measured:.3g}"
        owes = answer.question.bound is not None or answer.question.within is not None
        word = {None: "not measured" if owes else "-", True: "met", False: "NOT MET"}[answer.met]
        lines.append(
            f"{answer.question.case:{width}} {_time(answer.seconds(answer.ours)):>8}"
            f" {_time(answer.seconds(answer.theirs)):>8} {measured:>7}"
            f" {_bound(answer.question):>15}  {word:12}  {answer.question.peer}"
        )
    return "\n".join(lines)


def as_json(answers: Iterable[Answer]) -> list[dict[str, object]]:
    """The rows as plain values."""
    return [
        {
            "case": answer.question.case,
            "peer": answer.question.peer,
            "sense": answer.question.sense,
            "bound": answer.question.bound,
            "within_seconds": answer.question.within,
            "measured": answer.measured,
            "met": answer.met,
            "seconds": answer.seconds(answer.ours),
            "peer_seconds": answer.seconds(answer.theirs),
            "calls_per_round": None if answer.ours is None else answer.ours.draws_per_call,
            "ours_by_round": () if answer.ours is None else answer.ours.by_round,
            "peer_by_round": () if answer.theirs is None else answer.theirs.by_round,
            "skipped": answer.skipped,
        }
        for answer in answers
    ]


def _bound(question: Question) -> str:
    parts = []
    if question.bound is not None:
        parts.append(f"{'>=' if question.sense == 'at least' else '<='} {question.bound:g}")
    if question.within is not None:
        parts.append(f"<= {_time(question.within)}")
    return " or ".join(parts).replace("or <= ", "or ") or "-"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
