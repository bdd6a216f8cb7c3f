"""What a release did, of one table or a plan, and what noise a budget asks for: text and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import gmpy2

from .._inputs.decimal_text import rounded, rounded_down, rounded_up
from .._inputs.messages import number_of, printable
from ..data.person import Change, Person
from ..data.person_noise import COROLLARY
from ._calibration import Calibration, Cost
from ._plan import FilePlan

_WIDTH = len("standard deviation")

Lines = list[tuple[str, str]]

_LONGEST_BITS = 100  # of numerator or denominator: 31 decimal digits


@dataclass(frozen=True, kw_only=True)
class Release(Calibration):
    """What a release did; printed, it is the report.

    Every field except ``seconds`` is independent of the counts' values. One answer is one count:
    ``queries`` is how many counts one person changes, in all columns together.

    Attributes
    ----------
    columns : tuple[str, ...]
        Of counts, in the order of the table.
    other_columns : int
        How many columns are published as they stand.
    disjoint : bool
        Whether nobody changes counts in two of the columns.
    person : Person or None
        Who is protected; None: who changes no more than `sensitivity` and `queries` say.
    """

    table: Path
    columns: tuple[str, ...]
    out: Path
    rows: int
    other_columns: int
    disjoint: bool
    seconds: float
    person: Person | None = None

    def __str__(self) -> str:
        return aligned([*_person_lines(self.person), *_table_lines(self)])


@dataclass(frozen=True, kw_only=True)
class PlanRelease:
    """What the release of a plan did, of one table or several; printed, it is the report.

    Attributes
    ----------
    path : Path or None
        None: of one table, which was released alone.
    shares : tuple[Fraction, ...]
        Of the plan's rho, one for each table.
    person : Person or None
        What the plan says of every person.
    consistent : tuple[tuple[Path, float], ...]
        Of each table, if they were made to add up: the file, and by what its variance fell.
    """

    path: Path | None
    shares: tuple[Fraction, ...]
    tables: tuple[Release, ...]
    cost: Cost
    person: Person | None = None
    consistent: tuple[tuple[Path, float], ...] = ()

    @property
    def rho(self) -> Fraction:
        """Of all tables together, exactly the budget."""
        return self.cost.rho

    @property
    def epsilon(self) -> float:
        """At ``delta``, of all tables together: an upper bound."""
        return self.cost.epsilon

    @property
    def delta(self) -> Fraction:
        """At which epsilon is reported."""
        return self.cost.delta

    def __str__(self) -> str:
        if self.path is None:
            return str(self.tables[0])
        parts = [
            [_share(share), *_table_lines(one)]
            for share, one in zip(self.shares, self.tables, strict=True)
        ]
        for part, (file, gain) in zip(parts, self.consistent, strict=False):
            part.append(("made to add up", f"{_name(file)}, variance 1/{gain:.3f} on average"))
        alone = sum((one.rho for one in self.tables), Fraction(0))
        return _with_total(parts, f"{_name(self.path)}, ", self.cost, self.person, alone)


def done_json(done: PlanRelease) -> str:
    """Return the report as JSON: that of the one table; or the total, and each with its share.

    Exact numbers are strings, ``epsilon`` is rounded up. An infinite epsilon is null.
    """
    if done.path is None:
        of_person = {} if done.person is None else {"person": asdict(done.person)}
        return _json(of_person | _table_fields(done.tables[0]))
    tables = [
        {"share": _exact(share), **_table_fields(one)}
        for share, one in zip(done.shares, done.tables, strict=True)
    ]
    for fields, (file, gain) in zip(tables, done.consistent, strict=False):
        fields |= {"consistent": str(file), "variance_divided_by": gain}
    return _json(_total_fields(done.path, done.cost, tables, done.person))


def plan_text(plan: FilePlan) -> str:
    """Return the noise that a plan asks for; no table is looked at."""
    names = [_name(one.table) for one in plan.tables]
    shares = [one.share for one in plan.tables]
    return noise_text(names, shares, plan.noise, plan.cost, plan.person, f"{_name(plan.path)}, ")


def noise_text(
    names: Sequence[str],
    shares: Sequence[Fraction],
    noise: Sequence[Calibration],
    cost: Cost,
    person: Person | None,
    plan: str = "",
) -> str:
    """Return the noise of tables that have these names; `plan` stands before their number."""
    parts = [
        [("table", name), _share(share), *_noise_lines(one, "answer", "answer")]
        for name, share, one in zip(names, shares, noise, strict=True)
    ]
    return _with_total(parts, plan, cost, person, sum((one.rho for one in noise), Fraction(0)))


def plan_json(plan: FilePlan) -> str:
    """Return the noise that a plan asks for as JSON, in the same form."""
    tables = [
        {
            "share": _exact(one.share),
            "table": str(one.table),
            "columns": one.columns,
            **_noise_fields(noise, "counts_per_person"),
        }
        for one, noise in zip(plan.tables, plan.noise, strict=True)
    ]
    return _json(_total_fields(plan.path, plan.cost, tables, plan.person))


def calibration_text(noise: Calibration) -> str:
    """Return what noise a budget asks for and what it costs, in the same form."""
    return aligned(_noise_lines(noise, "answer", "answer"))


def calibration_json(noise: Calibration) -> str:
    """Return what noise a budget asks for and what it costs, in the same form."""
    return _json(_noise_fields(noise, "queries"))


# --- JSON


def _table_fields(release: Release) -> dict[str, Any]:
    return {
        "table": str(release.table),
        "columns": release.columns,
        "rows": release.rows,
        "other_columns": release.other_columns,
        "out": str(release.out),
        **_noise_fields(release, "counts_per_person"),
        "disjoint": release.disjoint,
        "seconds": round(release.seconds, 3),
    }


def _total_fields(
    path: Path | None, cost: Cost, tables: list[dict[str, Any]], person: Person | None
) -> dict[str, Any]:
    asked = None if cost.asked_epsilon is None else _exact(cost.asked_epsilon)
    total = {"plan": str(path), **_cost_fields(cost), "asked_epsilon": asked}
    if person is not None:
        total["person"] = asdict(person)
    return {**total, "tables": tables}


def _noise_fields(noise: Calibration, queries: str) -> dict[str, Any]:
    """Return what JSON says of noise; ``queries``: how it calls the answers of one person."""
    return {
        "law": "discrete Gaussian",
        "sigma2": _exact(noise.sigma2),
        "std": str(noise.std),
        "interval95": [-noise.bound95, noise.bound95],
        **_change_fields(noise, queries),
        **_cost_fields(noise),
        "epsilon_by": noise.epsilon_by.rpartition(", ")[2],
    }


def _change_fields(noise: Calibration, queries: str) -> dict[str, Any]:
    if noise.counting is None or noise.change is None:
        return {"sensitivity": _exact(noise.sensitivity), queries: noise.queries}
    counting = noise.counting
    return {
        "by": counting.by if counting.is_named else None,
        "across": counting.across,
        "values": counting.values,
        "counts": counting.counts,
        "norm2": _exact(Fraction(noise.change.norm2)),
        "l1": _exact(Fraction(noise.change.l1)),
        "rows_per_person": noise.change.rows,
    }


def _cost_fields(cost: Cost) -> dict[str, Any]:
    return {
        "rho": _exact(cost.rho),
        "epsilon": cost.epsilon if cost.epsilon != math.inf else None,
        "delta": _exact(cost.delta),
        "epsilon_by": cost.epsilon_by,
    }


def _json(fields: dict[str, Any]) -> str:
    return json.dumps(fields, allow_nan=False, indent=2)


def _exact(value: Fraction) -> str:
    """Return all digits."""
    return str(gmpy2.mpq(value))  # which has no limit of digits


# --- text: lines of a name and what it says; numbers are rounded the safe way


def aligned(lines: Lines) -> str:
    """Return lines of names and texts."""
    return "\n".join([f"{name:<{_WIDTH}}  {text}" for name, text in lines])


def _with_total(
    parts: list[Lines], plan: str, cost: Cost, person: Person | None, alone: Fraction
) -> str:
    more = ""
    if alone > cost.rho:
        more = f"; by themselves {rounded_up(alone)}: nobody is the worst case of every table"
    total = [
        ("plan", f"{plan}{number_of(len(parts), 'table')}"),
        ("total rho", f"{rounded_up(cost.rho)} (zCDP){more}"),
        ("(epsilon, delta)", _achieved(cost, ", by")),
    ]
    said = [_person_lines(person)] if person is not None else []
    return "\n\n".join(map(aligned, [*said, *parts, total]))


def _person_lines(person: Person | None) -> Lines:
    return [] if person is None else [("person", printable(str(person)))]


def _name(path: Path | None) -> str:
    return printable(str(path))


def _share(share: Fraction) -> tuple[str, str]:
    return "share of rho", _exact(share)


def _table_lines(release: Release) -> Lines:
    several, others = len(release.columns) > 1, release.other_columns
    return [
        ("table", _name(release.table)),
        ("columns" if several else "column", printable(", ".join(release.columns))),
        ("rows", str(release.rows)),
        ("other columns", f"{others} (published unchanged)" if others else "none"),
        ("written to", _name(release.out)),
        *_noise_lines(release, "count" if several else "row", "count"),
        ("time", f"{release.seconds:.2f} s"),
    ]


def _noise_lines(noise: Calibration, drawn_for: str, changed: str) -> Lines:
    bound, by = noise.bound95, ", by" if noise.epsilon_by != COROLLARY else " from rho, by"
    of_noise = (
        "of the noise" if bound else "of the noise: nearly all answers are published unchanged"
    )
    return [
        ("law", f"discrete Gaussian N_Z(0, sigma2), one independent draw for each {drawn_for}"),
        ("sigma2", _sigma2(noise.sigma2)),
        ("standard deviation", _std(noise.std)),
        ("95 % interval", f"{f'{-bound} .. {bound}' if bound else '0 .. 0'} ({of_noise})"),
        *_change_lines(noise, changed),
        ("rho", f"{rounded_up(noise.rho)} (zCDP){'' if noise.change is None else ', by itself'}"),
        ("(epsilon, delta)", _achieved(noise, by)),
    ]


def _change_lines(noise: Calibration, changed: str) -> Lines:
    counting, most = noise.counting, noise.change
    if counting is None or most is None:
        return [("sensitivity", _sensitivity(noise, changed))]
    by = ", ".join(counting.by) or "nothing: one row"
    lines = [("grouped by", printable(by))] if counting.is_named else []
    if counting.across is not None:
        lines.append(("across", printable(f"{counting.across}: the names of the columns")))
    if counting.values is not None:
        low, high = counting.values
        lines.append(("values", f"each record adds {low} .. {high}; no file can show it"))
    if counting.counts == "people":
        lines.append(("counts", "people, each once in a row"))
    what = "sums" if counting.values is not None else "counts"
    return [*lines, ("one person", f"changes {what} by at most {_change(most)}")]


def _change(most: Change) -> str:
    l1, norm2, cell = (_no_more(Fraction(x)) for x in (most.l1, most.norm2, most.cell))
    norm = math.isqrt(most.norm2)
    text = _no_more(Fraction(norm)) if norm**2 == most.norm2 else f"the root of {norm2}"
    return f"{l1} in all, each by at most {cell} (Euclidean norm {text})"


def _sigma2(sigma2: Fraction) -> str:
    decimal_text = rounded(sigma2)
    relation = "=" if Fraction(decimal_text) == sigma2 else "~"
    bits = max(sigma2.numerator.bit_length(), sigma2.denominator.bit_length())
    if bits > _LONGEST_BITS:  # not to be read, and from 4300 digits on not to be printed
        return f"a fraction of {bits} bits {relation} {decimal_text}"
    exact = str(sigma2)
    return exact if exact == decimal_text else f"{exact} {relation} {decimal_text}"


def _std(std: Decimal) -> str:
    return rounded(Fraction(std)) if std else "below 1e-160"


def _sensitivity(noise: Calibration, changed: str) -> str:
    text = _no_more(noise.sensitivity)
    if noise.queries > 1:
        queries = _no_more(Fraction(noise.queries))
        return f"{text} (one person changes at most {queries} {changed}s, each by at most {text})"
    if noise.is_tight:
        return f"{text} (one person changes at most one {changed}, by at most {text})"
    return f"{text} (the Euclidean norm of all that one person changes is at most that)"


def _no_more(value: Fraction) -> str:
    """Return the value rounded down: rho and epsilon do not hold for more than the value."""
    if value.denominator == 1 and value < 10**12:
        return str(value)
    return rounded_down(value)


def _achieved(cost: Cost, by: str) -> str:
    """Return (epsilon, delta), what proves it, and before it what was asked for, if it was."""
    achieved, asked = f"{_pair(cost)}{by} {cost.epsilon_by}", cost.asked_epsilon
    if asked is None:
        return achieved
    return f"({rounded_up(asked)}, {rounded_up(cost.delta)}) as asked; achieved: {achieved}"


def budget_text(cost: Cost) -> str:
    """Return what was spent, on one line."""
    return f"rho = {rounded_up(cost.rho)}, (epsilon, delta) = {_pair(cost)}"


def law_and_budget(noise: Calibration) -> str:
    """Return the law, by its standard deviation, and what it costs, on two lines."""
    return f"discrete Gaussian, standard deviation {_std(noise.std)}\n{budget_text(noise)}"


def _pair(cost: Cost) -> str:
    least: float | Fraction = cost.epsilon
    if cost.asked_epsilon is not None:  # which is met, though the float above it be larger
        least = min(least, cost.asked_epsilon)
    shown = rounded_up(Fraction(least)) if least != math.inf else "inf"
    return f"({shown}, {rounded_up(cost.delta)})"
