"""From measured rates to rows, the verdict on the targets, and text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from bench.contenders import Case, Contender
from bench.contenders.ours import NATIVE
from bench.rounds import Rates

PEER = "OpenDP"


@dataclass(frozen=True)
class Row:
    """One contender in one case. Rates are samples a second."""

    case: str
    contender: str
    exact: bool
    secure: bool
    median: float
    best: float
    ratio_to_opendp: float | None
    draws_per_call: int
    by_round: tuple[float, ...]


@dataclass(frozen=True)
class Verdict:
    """A target of the project and what this run says about it. met is None: not measured."""

    case: str
    target: float
    measured: float | None
    met: bool | None


def target_for(case: Case) -> float:
    """How many times OpenDP's rate the reference path owes in this case."""
    if case.shape == "scalar":
        return 20.0
    if case.law == "gaussian" and case.parameter == 10**100:
        return 3.0
    return 10.0


def make_rows(case: Case, contenders: Iterable[Contender], rates: Mapping[str, Rates]) -> list[Row]:
    """The rows of one case, in the order of the registry."""
    peer = rates.get(PEER)
    return [
        Row(
            case=case.name,
            contender=contender.name,
            exact=contender.exact(case),
            secure=contender.secure,
            median=rates[contender.name].median,
            best=rates[contender.name].best,
            ratio_to_opendp=rates[contender.name].ratio_to(peer) if peer else None,
            draws_per_call=rates[contender.name].draws_per_call,
            by_round=rates[contender.name].by_round,
        )
        for contender in contenders
        if contender.name in rates
    ]


def make_verdict(case: Case, rows: Iterable[Row]) -> Verdict:
    """Our native path against the target of the case."""
    target = target_for(case)
    measured = next(
        (row.ratio_to_opendp for row in rows if row.case == case.name and row.contender == NATIVE),
        None,
    )
    return Verdict(case.name, target, measured, None if measured is None else measured >= target)


def rows_text(rows: Iterable[Row]) -> str:
    """The table for people."""
    head = f"{'case':32} {'contender':22} exact secure {'samples/s':>12} {'x OpenDP':>9}"
    lines = [head, "-" * len(head)]
    previous = None
    for row in rows:
        if previous not in (None, row.case):
            lines.append("")
        previous = row.case
        ratio = "-" if row.ratio_to_opendp is None else f"{row.ratio_to_opendp:.3g}"
        lines.append(
            f"{row.case:32} {row.contender:22} {_yes(row.exact):5} {_yes(row.secure):6}"
            f" {row.median:12,.0f} {ratio:>9}"
        )
    return "\n".join(lines)


def verdicts_text(verdicts: Iterable[Verdict]) -> str:
    """The targets, met or not."""
    head = f"{'target (times OpenDP)':32} {'at least':>9} {'measured':>9}  verdict"
    lines = [head, "-" * len(head)]
    for verdict in verdicts:
        measured = "-" if verdict.measured is None else f"{verdict.measured:.3g}"
        word = {None: "not measured", True: "met", False: "NOT MET"}[verdict.met]
        lines.append(f"{verdict.case:32} {verdict.target:9.3g} {measured:>9}  {word}")
    return "\n".join(lines)


def as_json(rows: Iterable[Row], verdicts: Iterable[Verdict]) -> dict[str, object]:
    """Rows and verdicts as plain values."""
    return {
        "rows": [asdict(row) for row in rows],
        "verdicts": [asdict(verdict) for verdict in verdicts],
    }


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"
