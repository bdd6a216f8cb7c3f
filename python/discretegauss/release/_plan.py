"""A plan: tables that share one budget, and the noise of each. A release of one table is one."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._inputs.budget import Budget
from .._inputs.messages import describe, refused
from .._inputs.numbers import checked_flag, exact_rational, positive, whole_number
from .._inputs.paths import named_path
from .._inputs.privacy_arguments import require_rows, whole_sensitivity
from .._system.atomic_file import errors_name
from ..data.person import UNNAMED, Counting, Person, change, checked_counting, require_known
from ..data.person_noise import rho_of
from ..errors import DiscreteGaussError, OutputError, ParameterTypeError, ParameterValueError
from ._calibration import (
    Calibration,
    Cost,
    budget_for_error,
    calibrations,
    person_calibrations,
)
from ._csv_rows import BLANKS
from ._files import checked_delimiter

_OF_BUDGET = ("rho", "epsilon", "delta")
_OF_PLAN = {*_OF_BUDGET, "report_delta", "confidence", "tables", "person"}
_OF_PERSON = {"records", "distinct", "per_cell", "neighbours"}
_SHORT_FORM = ("sensitivity", "rows_per_person", "disjoint")
_OF_COUNTING = ("by", "across", "values", "counts")
_OF_TABLE = {"table", "column", "out", "share", "delimiter", "error", "weight", "cells"}
_OF_TABLE |= {*_SHORT_FORM, *_OF_COUNTING}

_MOST_TABLES = 64
"""Their files are open at once."""


@dataclass(frozen=True, kw_only=True)
class PlannedTable:
    """One table of a plan, with its part of the budget."""

    where: str
    """The file and the key, for messages; nothing of a table that is released alone."""
    table: Path
    columns: tuple[str, ...]
    out: Path
    share: Fraction
    sensitivity: Fraction
    rows_per_person: int
    disjoint: bool
    delimiter: str | None
    counting: Counting | None = None
    """What it counts, if the plan has a statement about a person; the three above say nothing then,
    but that columns are disjoint."""

    @property
    def has_groups(self) -> bool:
        """Whether it is said by what its rows group, so that they must differ."""
        return self.counting is not None and self.counting.is_named

    @property
    def queries(self) -> int:
        """How many counts one person changes."""
        return self.rows_per_person * (1 if self.disjoint else len(self.columns))

    def norm2(self, person: Person | None) -> Fraction:
        """Return the square of the norm of what one person changes."""
        if person is None or self.counting is None:
            return self.queries * self.sensitivity**2
        return Fraction(change(person, self.counting).norm2)


@dataclass(frozen=True, kw_only=True)
class FilePlan:
    """A plan of tables in files that is right. No table has been looked at.

    Attributes
    ----------
    path : Path or None
        None: of one table, which is released alone.
    noise : tuple[Calibration, ...]
        Of each table.
    cost : Cost
        Of all of them together.
    person : Person or None
        What the plan says of every person.
    """

    path: Path | None
    tables: tuple[PlannedTable, ...]
    noise: tuple[Calibration, ...]
    cost: Cost
    person: Person | None = None


def plan_of_one(
    table: object,
    column: object,
    out: object,
    *,
    budget: Budget,
    report_delta: object = None,
    person: Person | None = None,
    by: object = None,
    across: object = None,
    **said: object,
) -> FilePlan:
    """Return a plan of one table; the parameters are those of `release_table`."""
    given = {"table": table, "column": column, "out": out, **said}
    one = _planned("", given, Fraction(1), Path())
    if person is None:
        for name, key in (("by", by), ("across", across)):
            if key is not None:
                raise ParameterTypeError(f"{name} goes with person, which was not given")
        if budget.epsilon is not None:
            whole_sensitivity(said["sensitivity"])
        return _calibrated(None, (one,), budget, report_delta)
    if not isinstance(person, Person):
        raise ParameterTypeError(f"person must be a release.Person, got {describe(person)}")
    if one.sensitivity != 1 or one.rows_per_person != 1 or one.disjoint:
        raise ParameterTypeError(
            "sensitivity, rows_per_person and disjoint must not be given: person says it"
        )
    counting = Counting(by=(UNNAMED,), across=None, columns=len(one.columns))
    if by is not None or across is not None:
        counting = checked_counting(
            by=(UNNAMED,) if by is None else by, across=across, columns=len(one.columns)
        )
    require_known(person, [counting])
    one = replace(one, counting=counting, disjoint=across is not None)
    return _calibrated(None, (one,), budget, report_delta, person)


def read_plan(path: str | os.PathLike[str]) -> FilePlan:
    """Read a plan; paths in it are relative to its folder."""
    path = named_path(path, "path")
    content = _content(path)
    with named_in_errors(str(path)):
        _known(content, _OF_PLAN)
        given = content.get("tables")
        if not isinstance(given, list) or not given:
            raise ParameterValueError("tables must be an array of tables, [[tables]], at least one")
        if len(given) > _MOST_TABLES:
            raise ParameterValueError(f"tables must be at most {_MOST_TABLES}, got {len(given)}")
        person = _person(content["person"]) if "person" in content else None
    tables = tuple(_table(path, i, one, len(given), person) for i, one in enumerate(given, 1))
    _check_outputs(path, tables)
    with named_in_errors(str(path)):
        if person is not None:
            require_known(person, [one.counting for one in tables if one.counting is not None])
        for key in ("share", "error"):
            if len({key in one for one in given}) > 1:
                raise ParameterValueError(f"{key} must be given for all tables or for none")
        if "error" in given[0]:
            tables, rho = _for_errors(tables, given, content, person)
            return _calibrated(path, tables, Budget(rho=rho), content.get("report_delta"), person)
        if "confidence" in content:
            raise ParameterValueError("confidence goes with error, which no table has")
        if "best" in [one.get("share") for one in given]:
            tables = _best_shares(tables, given, person)
        if (total := sum(one.share for one in tables)) != 1:
            raise ParameterValueError(f"the shares must add up to 1, exactly; they are {total}")
        budget = Budget(**{key: content[key] for key in _OF_BUDGET if key in content})
        return _calibrated(path, tables, budget, content.get("report_delta"), person)


def _calibrated(
    path: Path | None,
    tables: tuple[PlannedTable, ...],
    budget: Budget,
    report_delta: object,
    person: Person | None = None,
) -> FilePlan:
    if person is None:
        by_table = [(one.sensitivity, one.queries, one.share) for one in tables]
        noise, cost = calibrations(budget, by_table, report_delta)
    else:
        counting = [one.counting for one in tables if one.counting is not None]
        shares = [one.share for one in tables]
        noise, cost = person_calibrations(budget, person, counting, shares, report_delta)
    return FilePlan(path=path, tables=tables, noise=tuple(noise), cost=cost, person=person)


def _for_errors(
    tables: Sequence[PlannedTable],
    given: Sequence[dict[str, Any]],
    content: dict[str, Any],
    person: Person | None,
) -> tuple[tuple[PlannedTable, ...], Fraction]:
    """Return the tables with the shares that the errors ask for, and rho of all of them."""
    if used := [key for key in _OF_BUDGET if key in content] + ["share"] * ("share" in given[0]):
        raise ParameterValueError(f"error says how much is spent: {used[0]} must not be given")
    parts = []
    for one, keys in zip(tables, given, strict=True):
        with named_in_errors(one.where):
            of_one = budget_for_error(keys["error"], content.get("confidence"), Fraction(1), 1)
            parts.append(Fraction(of_one.rho or 0) * one.norm2(person))
    total = sum(parts, Fraction(0))
    rho = total
    if person is not None:
        sigma2 = [one.norm2(person) / (2 * x) for one, x in zip(tables, parts, strict=True)]
        counting = [one.counting for one in tables if one.counting is not None]
        rho = rho_of(person, counting, sigma2)
    shares = [part / total for part in parts]
    return tuple(replace(one, share=x) for one, x in zip(tables, shares, strict=True)), rho


def _best_shares(
    tables: Sequence[PlannedTable], given: Sequence[dict[str, Any]], person: Person | None
) -> tuple[PlannedTable, ...]:
    """Return the tables with the shares for which the weighted sum of all variances is least.

    A table's variance is norm2/(2 rho_t), of so many cells: with their weight w the sum is least
    for rho_t in proportion to sqrt(norm2 w), by Cauchy's inequality.
    Shares are rounded to 1/10**4; the largest has the rest.
    """
    roots = []
    for one, keys in zip(tables, given, strict=True):
        with named_in_errors(one.where):
            if keys["share"] != "best":
                raise ParameterValueError("share must be 'best' for all tables or for none")
            if "cells" not in keys:
                raise ParameterValueError("cells must be given with share = 'best': how many rows")
            weight = positive(keys.get("weight", 1), "weight")
            cells = whole_number(keys["cells"], "cells", minimum=1)
            require_rows(one.rows_per_person, cells, one.sensitivity)
            of_all = one.norm2(person) * cells * weight
            roots.append(math.isqrt(math.floor(of_all * 2**128)))
    shares = [Fraction(max(1, round(10**4 * Fraction(x, sum(roots)))), 10**4) for x in roots]
    shares[shares.index(max(shares))] += 1 - sum(shares)
    return tuple(replace(one, share=x) for one, x in zip(tables, shares, strict=True))


def _check_outputs(path: Path, tables: Sequence[PlannedTable]) -> None:
    read = {os.path.realpath(file) for file in (path, *(one.table for one in tables))}
    written = set()
    for one in tables:
        out = os.path.realpath(one.out)
        if out in read:
            raise OutputError(f"{one.where}: out is the plan itself, or a table that it reads")
        if out in written:
            raise OutputError(
                f"{one.where}: out must be a file of its own, got {describe(str(one.out))}"
            )
        written.add(out)


@contextmanager
def named_in_errors(where: str) -> Iterator[None]:
    """Let what is wrong say where it stands, if that is said."""
    try:
        yield
    except DiscreteGaussError as error:
        if not where:
            raise
        raise type(error)(f"{where}: {error}") from None


def _content(path: Path) -> dict[str, Any]:
    try:
        with errors_name(path):
            text = path.read_bytes().decode()
        return tomllib.loads(text, parse_float=Decimal)
    except ValueError as error:  # its text may show what stands there: a table, by mistake
        at = re.search(r"\(at ([\w ,]+)\)$", str(error))
        place = f" (at {at[1]})" if at else ""
        raise ParameterValueError(f"{path}: is not a TOML file{place}") from None


def _person(given: object) -> Person:
    with named_in_errors("person"):
        if not isinstance(given, dict):
            raise ParameterTypeError(f"must be a table, [person], got {describe(given)}")
        _known(given, _OF_PERSON)
        if "records" not in given:
            raise ParameterValueError("records must be given: the most records of one person")
        return Person(**given)


def _counting(given: Mapping[str, Any], columns: int, person: Person | None) -> Counting | None:
    """Return what a table counts; None if the plan has no statement about a person."""
    if person is None:
        if extra := [key for key in _OF_COUNTING if key in given]:
            raise ParameterValueError(f"{extra[0]} goes with [person], which the plan has not")
        return None
    if extra := [key for key in _SHORT_FORM if key in given]:
        raise ParameterValueError(f"{extra[0]} must not be given: [person] says it")
    if "by" not in given:
        raise ParameterValueError(
            "by must be given with [person]: the columns by which the table groups the records"
        )
    said = {key: given[key] for key in _OF_COUNTING if key in given}
    return checked_counting(columns=columns, **said)


def _known(given: dict[str, Any], keys: set[str]) -> None:
    for key in given:
        if key not in keys:
            raise ParameterValueError(
                f"{key!r} is no key of a plan here; there are {', '.join(sorted(keys))}"
            )


def _table(plan: Path, number: int, given: Any, of: int, person: Person | None) -> PlannedTable:
    where = f"{plan}: table {number}"
    with named_in_errors(where):
        if not isinstance(given, dict):
            raise ParameterTypeError(f"tables must be tables, got {type(given).__name__}")
        _known(given, _OF_TABLE)
        for key in ("table", "column", "out"):
            if key not in given:
                raise ParameterValueError(f"{key} must be given")
            if given[key] == "-":
                raise ParameterValueError(f"{key} must not be '-': a plan reads and writes files")
        if given.get("share") != "best" and {"weight", "cells"} & set(given):
            raise ParameterValueError("weight and cells go with share = 'best'")
        to_be_found = given.get("share") == "best" or "error" in given
        share = Fraction(1, of)
        if "share" in given and not to_be_found:
            share = exact_rational(given["share"], "share")
        if share <= 0:
            raise ParameterValueError(f"share must be positive, got {share}")
        planned = _planned(where, given, share, plan.parent)
        counting = _counting(given, len(planned.columns), person)
        disjoint = planned.disjoint or (counting is not None and counting.across is not None)
        return replace(planned, counting=counting, disjoint=disjoint)


def _planned(
    where: str, given: Mapping[str, object], share: Fraction, folder: Path
) -> PlannedTable:
    return PlannedTable(
        where=where,
        table=folder / named_path(given["table"], "table"),
        columns=column_names(given["column"]),
        out=folder / named_path(given["out"], "out"),
        share=share,
        sensitivity=_sensitivity(given.get("sensitivity", 1)),
        rows_per_person=whole_number(given.get("rows_per_person", 1), "rows_per_person", minimum=1),
        disjoint=checked_flag(given.get("disjoint", False), "disjoint"),
        delimiter=checked_delimiter(given.get("delimiter")),
    )


def column_names(column: object) -> tuple[str, ...]:
    """Return the names: of one column, or of several."""
    names = (
        (column,) if isinstance(column, str) or not isinstance(column, Sequence) else tuple(column)
    )
    for name in names:
        if not isinstance(name, str):
            raise ParameterTypeError(
                f"column must be a string, or several strings, got {type(name).__name__}"
            )
        if not name.strip(BLANKS):  # an unset variable of a shell, and an index without a name
            raise refused("column", "not be empty", name)
    if not names:
        raise ParameterValueError("column must name at least one column, got none")
    if len(set(names)) < len(names):
        raise ParameterValueError(
            f"column must name each column once, got {describe(twice(names))} twice"
        )
    return names


def twice(names: Sequence[str]) -> str:
    """Return a name that is there more than once."""
    return next(name for i, name in enumerate(names) if name in names[:i])


def _sensitivity(sensitivity: object) -> Fraction:
    """Return it, at least 1."""
    exact = exact_rational(sensitivity, "sensitivity")
    if exact < 1:
        raise refused(
            "sensitivity", "be at least 1, as counts change by whole numbers", sensitivity
        )
    return exact
