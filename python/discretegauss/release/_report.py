"""Reports of a release, and of the noise that a budget or a plan asks for, as text and JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import gmpy2

from .._inputs.decimal_text import rounded, rounded_down, rounded_up
from .._inputs.messages import number_of, printable
from .._law_functions.narrow import narrow_noise
from .._system.json_report import json_report
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law
from ..privacy.joint import COROLLARY, LAPLACE
from ..privacy.ledger import Entry
from ..privacy.sensitivity import Sensitivity
from ._calibration import Calibration, Composed, Cost, WithCost
from ._person import Person
from ._plan import FilePlan

_WIDTH = len("standard deviation")

_NAMES = {
    DiscreteGaussian: "discrete Gaussian",
    DiscreteLaplace: "discrete Laplace",
    GeneralizedGaussian: "generalized Gaussian",
}

_PURE = " (pure: delta = 0)"

Lines = list[tuple[str, str]]
"""Names, and the text beside each."""

_LONGEST_BITS = 100
"""The most bits of a printed numerator or denominator: 31 decimal digits."""


@dataclass(frozen=True, kw_only=True)
class Release(Calibration):
    """A release of one table; printing it shows the report.

    Every field except ``seconds`` is independent of the counts' values. One answer is one count:
    ``queries`` is how many counts one person changes, in all columns together.

    Attributes
    ----------
    columns : tuple[str, ...]
        The columns of counts, in the order of the table.
    other_columns : int
        How many columns are published unchanged.
    left_out : tuple[str, ...]
        The columns that are not published, because another table of the plan counts them.
    disjoint : bool
        Whether nobody changes counts in two of the columns.
    person : Person or None
        Who is protected. None: anybody who changes no more than `sensitivity` and `queries` say.
    ledger : Entry or None
        The line of the whole release in its ledger.
    """

    table: Path
    columns: tuple[str, ...]
    out: Path
    rows: int
    other_columns: int
    disjoint: bool
    seconds: float
    person: Person | None = None
    left_out: tuple[str, ...] = ()
    ledger: Entry | None = None

    def __str__(self) -> str:
        who = _person_lines(self.person) or _assumed_lines(self)
        return aligned([*who, *_table_lines(self), *ledger_lines(self.ledger)])


@dataclass(frozen=True, kw_only=True)
class PlanRelease(WithCost):
    """A release of the tables of a plan; printing it shows the report.

    Attributes
    ----------
    path : Path or None
        The file of the plan, or None for one table that was released alone.
    shares : tuple[Fraction, ...]
        Each table's share of the plan's rho, or of its epsilon.
    person : Person or None
        The statement about every person.
    ledger : Entry or None
        The line of the release in its ledger.
    consistent : tuple[tuple[Path, float], ...]
        For each table that was made to add up: its file, and its old variance divided by the new.
    """

    path: Path | None
    shares: tuple[Fraction, ...]
    tables: tuple[Release, ...]
    cost: Cost
    person: Person | None = None
    consistent: tuple[tuple[Path, float], ...] = ()
    ledger: Entry | None = None

    def __str__(self) -> str:
        if self.path is None:
            return str(self.tables[0])
        parts = [
            [_share(share, one), *(() if self.person else _assumed_lines(one)), *_table_lines(one)]
            for share, one in zip(self.shares, self.tables, strict=True)
        ]
        for part, (file, gain) in zip(parts, self.consistent, strict=False):
            part.append(("made to add up", f"{_name(file)}, variance 1/{gain:.3f} on average"))
        text = _with_total(parts, self.tables, f"{_name(self.path)}, ", self.cost, self.person)
        return "\n".join([text, *([aligned(ledger_lines(self.ledger))] if self.ledger else [])])


def plan_text(plan: FilePlan) -> str:
    """Return the noise of a plan as text. No table is read."""
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
    """Return the noise of named tables as text; `plan` stands before the number of tables."""
    parts = [
        [("table", name), _share(share, one), *_noise_lines(one, "answer", "answer")]
        for name, share, one in zip(names, shares, noise, strict=True)
    ]
    return _with_total(parts, noise, plan, cost, person)


def calibration_text(noise: Calibration, person: Person | None = None) -> str:
    """Return the noise of a budget and its cost as text."""
    return aligned([*_person_lines(person), *_noise_lines(noise, "answer", "answer")])


# --- JSON: exact numbers are strings, epsilon is rounded up, an infinite epsilon is null


def release_json(release: PlanRelease) -> str:
    """Return the report of a release: the fields of the one table, or the total and all tables."""
    tables = [
        {
            "table": str(one.table),
            "columns": one.columns,
            "rows": one.rows,
            "other_columns": one.other_columns,
            "left_out": one.left_out,
            "out": str(one.out),
            **_noise_fields(one, "counts_per_person"),
            "disjoint": one.disjoint,
            "seconds": round(one.seconds, 3),
        }
        for one in release.tables
    ]
    line = {} if release.ledger is None else {"ledger": release.ledger.fields}
    if release.path is None:
        return json_report(_person_fields(release.person) | tables[0] | line)
    for fields, (file, gain) in zip(tables, release.consistent, strict=False):
        fields |= {"consistent": str(file), "variance_divided_by": gain}
    return _total_json(release.path, release.cost, release.person, release.shares, tables, line)


def plan_json(plan: FilePlan) -> str:
    """Return the noise of a plan in the form of `release_json`. No table is read."""
    tables = [{"table": str(one.table), "columns": one.columns} for one in plan.tables]
    shares = [one.share for one in plan.tables]
    return noise_json(plan.path, tables, shares, plan.noise, plan.cost, plan.person)


def noise_json(
    path: Path | None,
    tables: Sequence[dict[str, Any]],
    shares: Sequence[Fraction],
    noise: Sequence[Calibration | None],
    cost: Cost,
    person: Person | None,
    more: Mapping[str, Any] | None = None,
) -> str:
    """Return the noise of tables, of which each has fields already; `more` is about all of them."""
    with_noise = [
        {**table, **({} if one is None else _noise_fields(one, "counts_per_person"))}
        for table, one in zip(tables, noise, strict=True)
    ]
    return _total_json(path, cost, person, shares, with_noise, more)


def calibration_json(noise: Calibration, person: Person | None = None) -> str:
    """Return the noise of a budget and its cost."""
    return json_report(_person_fields(person) | _noise_fields(noise, "queries"))


def draws_json(law: Law, size: int, out: str, source: str) -> str:
    """Return what was drawn: the law with its parameters, how often, to which file."""
    parameters = {name: _exact(getattr(law, name)) for name in law.__match_args__}
    drawn = {"law": _NAMES[type(law)], **parameters, "size": size, "out": out, "source": source}
    return json_report(drawn)


def _total_json(
    path: Path | None,
    cost: Cost,
    person: Person | None,
    shares: Sequence[Fraction],
    tables: Sequence[dict[str, Any]],
    more: Mapping[str, Any] | None = None,
) -> str:
    with_shares = [
        {"share": _exact(share), **one} for share, one in zip(shares, tables, strict=True)
    ]
    epsilon = None if cost.asked_epsilon is None else _exact(cost.asked_epsilon)
    total = {"plan": str(path), **_cost_fields(cost), "asked_epsilon": epsilon}
    return json_report({**total, **(more or {}), **_person_fields(person), "tables": with_shares})


def _person_fields(person: Person | None) -> dict[str, Any]:
    if person is None:
        return {}
    fields = asdict(person)
    if person.id is None:
        del fields["id"]
    return {"person": fields}


def _noise_fields(noise: Calibration, queries: str) -> dict[str, Any]:
    """Return the fields of noise; ``queries`` is the name of the number of answers."""
    change: dict[str, Any] = {"sensitivity": _exact(noise.sensitivity), queries: noise.queries}
    if (counting := noise.counting) is not None:
        change = {
            "by": counting.by if counting.is_named else None,
            "across": counting.across,
            "values": counting.values,
            "counts": counting.counts,
            "norm2": _exact(noise.change.norm2),
            "l1": _exact(noise.change.l1),
            "rows_per_person": noise.change.rows,
        }
    warning = narrow_noise(noise.law)
    [parameter] = noise.law.__match_args__[:1]
    return {
        **({"warning": warning} if warning else {}),
        "law": name_of(noise),
        parameter: _exact(getattr(noise.law, parameter)),
        "std": str(noise.std),
        "interval95": [-noise.bound95, noise.bound95],
        **change,
        **_cost_fields(noise),
        "epsilon_by": noise.epsilon_by.rpartition(", ")[2],
    }


def _cost_fields(cost: Cost) -> dict[str, Any]:
    of_rho = {}
    if not isinstance(cost, Composed):
        of_rho = {"rho": _exact(cost.rho), "rho_decimal": rounded_up(cost.rho)}
    return {
        **of_rho,
        "epsilon": cost.epsilon if cost.epsilon != math.inf else None,
        "delta": _exact(cost.delta),
        "epsilon_by": cost.epsilon_by,
        **({"reason": cost.reason} if cost.reason else {}),
    }


def _exact(value: Fraction) -> str:
    """Return all digits, also beyond the limit that str of a Fraction has."""
    return str(gmpy2.mpq(value))


# --- text: numbers are rounded in the safe direction


def aligned(lines: Lines) -> str:
    """Return the lines as text in two columns."""
    return "\n".join([f"{name:<{_WIDTH}}  {text}" for name, text in lines])


def _with_total(
    parts: list[Lines],
    noise: Sequence[Calibration],
    plan: str,
    cost: Cost,
    person: Person | None,
) -> str:
    alone, more = sum((one.rho for one in noise), Fraction(0)), ""
    if alone > cost.rho:
        more = f"; the sum by table is {rounded_up(alone)}: nobody is the worst case of every table"
    total = [
        ("plan", f"{plan}{number_of(len(parts), 'table')}"),
        *_chosen_lines(noise[0], cost.reason),
        ("total rho", f"{rounded_up(cost.rho)} (zCDP){more}"),
        ("(epsilon, delta)", _achieved(cost, ", by")),
    ]
    if _is_pure(cost):
        total[-2:] = [("total epsilon", f"{_epsilon(cost)}{_PURE}, by {cost.epsilon_by}")]
    return "\n\n".join([aligned(one) for one in (_person_lines(person), *parts, total) if one])


def with_unknown_text(person: Person, texts: Sequence[str], cost: Cost, n_tables: int) -> str:
    """Return a plan with unknown groups as text, given the texts of its tables."""
    total = [("plan", number_of(n_tables, "table")), ("total", budget_text(cost))]
    return "\n\n".join([aligned(_person_lines(person)), *texts, aligned(total)])


def _person_lines(person: Person | None) -> Lines:
    return [] if person is None else [("person", printable(str(person)))]


def ledger_lines(entry: Entry | None) -> Lines:
    """Return the line of a release in its ledger."""
    return [] if entry is None else [("ledger", printable(str(entry)))]


def _assumed_lines(release: Release) -> Lines:
    """Return what was assumed of a person, where there is no statement."""
    most, n_columns = _rounded_down(release.sensitivity), len(release.columns)
    if release.sensitivity.denominator != 1:
        return [("assumed", f"the Euclidean norm of all that one person changes is at most {most}")]
    n_rows = release.queries // (1 if release.disjoint else n_columns)
    rows = "one row" if n_rows == 1 else f"at most {_rounded_down(Fraction(n_rows))} rows"
    counts = "its count" if n_rows == 1 else "the count of each"
    if release.disjoint and n_columns > 1:
        rows, counts = f"{rows} and in one of {n_columns} columns", "a count"
    elif n_columns > 1:
        counts = f"each of its {n_columns} counts" if n_rows == 1 else "each of their counts"
    return [("assumed", f"one person is in {rows}, and changes {counts} by at most {most}")]


def _name(path: Path | None) -> str:
    return printable(str(path))


def _share(share: Fraction, noise: Calibration) -> tuple[str, str]:
    return f"share of {'epsilon' if _is_pure(noise) else 'rho'}", _exact(share)


def _is_pure(cost: Cost) -> bool:
    return cost.epsilon_by == LAPLACE


def _table_lines(release: Release) -> Lines:
    several, others = len(release.columns) > 1, release.other_columns
    return [
        ("table", _name(release.table)),
        ("columns" if several else "column", printable(", ".join(release.columns))),
        ("rows", str(release.rows)),
        ("other columns", f"{others} (published unchanged)" if others else "none"),
        *_left_out_lines(release.left_out),
        ("written to", _name(release.out)),
        *_noise_lines(release, "count" if several else "row", "count"),
        ("time", f"{release.seconds:.2f} s"),
    ]


def _left_out_lines(names: Sequence[str]) -> Lines:
    if not names:
        return []
    count = "counts it" if len(names) == 1 else "counts them"
    return [("left out", printable(f"{', '.join(names)} (another table of the plan {count})"))]


def _noise_lines(noise: Calibration, drawn_for: str, changed: str) -> Lines:
    bound, by = noise.bound95, ", by" if noise.epsilon_by != COROLLARY else " from rho, by"
    interval = f"-{bound} .. {bound} (of the noise)"
    if not bound:
        interval = "0 .. 0 (of the noise: nearly all answers are published unchanged)"
    warning, law = narrow_noise(noise.law), noise.law
    alone = "" if noise.counting is None else ", by itself"
    if isinstance(law, DiscreteLaplace):
        name, size = "discrete Laplace", ("scale", _fraction(law.scale))
        epsilon = rounded_up(noise.change.l1 / law.scale)
        cost = [("epsilon", f"{epsilon}{_PURE}{alone}, by {noise.epsilon_by}")]
    else:
        name, size = "discrete Gaussian N_Z(0, sigma2)", ("sigma2", _fraction(law.sigma2))
        cost = [
            ("rho", f"{rounded_up(noise.rho)} (zCDP){alone}"),
            ("(epsilon, delta)", _achieved(noise, by)),
        ]
    return [
        *([("warning", warning)] if warning else []),
        ("law", f"{name}, one independent draw for each {drawn_for}"),
        *_chosen_lines(noise, noise.reason),
        size,
        ("standard deviation", _std(noise.std)),
        ("95 % interval", interval),
        *_change_lines(noise, changed),
        *cost,
    ]


def _chosen_lines(noise: Calibration, reason: str) -> Lines:
    """Return why the law is of this kind, if a budget allowed both."""
    return [("chosen", f"{name_of(noise)}: {reason}")] if reason else []


def _change_lines(noise: Calibration, changed: str) -> Lines:
    if (counting := noise.counting) is None:
        return [("sensitivity", _sensitivity(noise, changed))]
    lines, quantity = [], "counts"
    if counting.is_named:
        lines.append(("grouped by", printable(", ".join(counting.by) or "nothing: one row")))
    if counting.across is not None:
        lines.append(("across", printable(f"{counting.across}: the names of the columns")))
    if counting.values is not None:
        (low, high), quantity = counting.values, "sums"
        lines.append(("values", f"each record adds {low} .. {high}, which no file can show"))
    if counting.counts == "people":
        lines.append(("counts", "people, each once in a row"))
    return [*lines, ("one person", f"changes {quantity} by at most {_change(noise.change)}")]


def _change(most: Sensitivity) -> str:
    l1, norm2, each = map(_rounded_down, (most.l1, most.norm2, most.each))
    norm = math.isqrt(int(most.norm2))
    text = _rounded_down(Fraction(norm)) if norm**2 == most.norm2 else f"the root of {norm2}"
    return f"{l1} in all, each by at most {each} (Euclidean norm {text})"


def _fraction(value: Fraction) -> str:
    decimal_text = rounded(value)
    relation = "=" if Fraction(decimal_text) == value else "~"
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits > _LONGEST_BITS:
        return f"a fraction of {bits} bits {relation} {decimal_text}"
    exact = str(value)
    return exact if exact == decimal_text else f"{exact} {relation} {decimal_text}"


def _std(std: Decimal) -> str:
    return rounded(Fraction(std)) if std else "below 1e-160"


def _sensitivity(noise: Calibration, changed: str) -> str:
    text = _rounded_down(noise.sensitivity)
    if noise.queries > 1:
        queries = _rounded_down(Fraction(noise.queries))
        return f"{text} (one person changes at most {queries} {changed}s, each by at most {text})"
    if noise.is_tight:
        return f"{text} (one person changes at most one {changed}, by at most {text})"
    return f"{text} (the Euclidean norm of all that one person changes is at most that)"


def _rounded_down(value: Fraction) -> str:
    """Round a bound on changes down, because rho and epsilon hold for no larger changes."""
    if value.denominator == 1 and value < 10**12:
        return str(value)
    return rounded_down(value)


def _achieved(cost: Cost, by: str) -> str:
    """Return (epsilon, delta) and its proof, after the epsilon of the budget if there is one."""
    achieved, epsilon = f"{_pair(cost)}{by} {cost.epsilon_by}", cost.asked_epsilon
    if epsilon is None:
        return achieved
    return f"({rounded_up(epsilon)}, {rounded_up(cost.delta)}) as asked; achieved: {achieved}"


def budget_text(cost: Cost) -> str:
    """Return the cost on one line."""
    if _is_pure(cost):
        return f"epsilon = {_epsilon(cost)}{_PURE}"
    if isinstance(cost, Composed):
        return f"(epsilon, delta) = {_pair(cost)}, by {cost.epsilon_by}"
    return f"rho = {rounded_up(cost.rho)}, (epsilon, delta) = {_pair(cost)}"


def name_of(noise: Calibration) -> str:
    """Return the name of the law."""
    return _NAMES[type(noise.law)]


def law_and_budget(noise: Calibration) -> str:
    """Return the standard deviation of the law, and the cost, on two lines."""
    return f"{name_of(noise)}, standard deviation {_std(noise.std)}\n{budget_text(noise)}"


def _pair(cost: Cost) -> str:
    return f"({_epsilon(cost)}, {rounded_up(cost.delta)})"


def _epsilon(cost: Cost) -> str:
    least: float | Fraction = cost.epsilon
    if cost.asked_epsilon is not None:  # it is met, and the float may be above it
        least = min(least, cost.asked_epsilon)
    return rounded_up(Fraction(least)) if least != math.inf else "inf"
