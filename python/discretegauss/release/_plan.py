"""Plans of tables in files that share one budget. A release of one table is a plan, too."""

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

import gmpy2

from .._inputs.budget import Budget
from .._inputs.keywords import hint_for
from .._inputs.messages import describe, refused
from .._inputs.numbers import checked_flag, exact_rational, positive, whole_number
from .._inputs.paths import named_path
from .._inputs.privacy_arguments import integer_sensitivity, require_rows, whole_sensitivity
from .._system.atomic_file import errors_name
from ..errors import DiscreteGaussError, ParameterTypeError, ParameterValueError
from ..laws import DiscreteLaplace
from ..privacy.joint import Joint
from ..privacy.sensitivity import Sensitivity
from ._calibration import Calibration, Cost, calibrations, sigma2_for_error
from ._csv_rows import BLANKS
from ._destinations import File, require_other_files
from ._files import checked_delimiter
from ._first_bytes import looks_like
from ._groupings import require_values
from ._left_out import left_out, refuse_keys
from ._person import (
    UNNAMED,
    Counting,
    Person,
    checked_counting,
    joint,
    names_of,
    require_person,
)

_OF_BUDGET = ("rho", "epsilon", "delta")
_OF_PLAN = {*_OF_BUDGET, "report_delta", "confidence", "tables", "person"}
_OF_PERSON = {"records", "distinct", "per_cell", "neighbours", "id"}
_SHORT_FORM = ("sensitivity", "rows_per_person", "disjoint")
_OF_COUNTING = ("by", "across", "values", "counts")
_OF_TABLE = {"table", "column", "out", "share", "delimiter", "error", "weight", "cells"}
_OF_TABLE |= {"integral_floats"}
_OF_TABLE |= {*_SHORT_FORM, *_OF_COUNTING}

_MOST_TABLES = 64
"""The most tables of a plan, because the files of all tables are open at once."""


@dataclass(frozen=True, kw_only=True)
class PlannedTable:
    """One table of a plan, with its part of the budget."""

    where: str
    """The plan's file and the table's number, for messages; "" if the table is released alone."""
    table: Path
    columns: tuple[str, ...]
    out: Path
    share: Fraction
    sensitivity: Fraction
    rows_per_person: int
    disjoint: bool
    delimiter: str | None
    integral_floats: bool = False
    left_out: frozenset[str] = frozenset()
    """The columns that another table of the plan counts, which this one does not publish."""
    counting: Counting | None = None
    """What the table counts, if the plan has a statement about a person. Then sensitivity and
    rows_per_person are 1."""

    @property
    def has_groups(self) -> bool:
        """Return whether `by` is known, so that the rows must differ in it."""
        return self.counting is not None and self.counting.is_named

    @property
    def change(self) -> Sensitivity:
        """How far one person changes the table, if the plan has no statement about a person."""
        columns = 1 if self.disjoint else len(self.columns)
        return Sensitivity.of_parts(self.sensitivity, self.rows_per_person * columns)


@dataclass(frozen=True, kw_only=True)
class FilePlan:
    """A valid plan of tables in files. The files may be wrong: none of them has been opened."""

    path: Path | None  # None for one table that is released alone
    tables: tuple[PlannedTable, ...]
    noise: tuple[Calibration, ...]  # of each table
    cost: Cost  # of all tables together
    person: Person | None = None  # the statement about every person


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
    **more: object,
) -> FilePlan:
    """Return a plan of one table; the parameters are those of `release_table`."""
    one = _planned_table(
        "", {"table": table, "column": column, "out": out, **more}, Fraction(1), Path()
    )
    if person is None:
        for name, key in (("by", by), ("across", across)):
            if key is not None:
                raise ParameterTypeError(f"{name} needs person, which was not given")
        return _calibrated(None, (one,), budget, report_delta, None)
    require_person(person)
    if one.sensitivity != 1 or one.rows_per_person != 1 or one.disjoint:
        raise ParameterTypeError(
            "sensitivity, rows_per_person and disjoint must not be given with person"
        )
    counting = Counting(by=(UNNAMED,), across=None, columns=len(one.columns))
    if by is not None or across is not None:
        counting = checked_counting(
            by=(UNNAMED,) if by is None else by, across=across, columns=len(one.columns)
        )
    one = replace(one, counting=counting, disjoint=across is not None)
    return _calibrated(None, (one,), budget, report_delta, person)


def read_plan(path: str | os.PathLike[str]) -> FilePlan:
    """Read a plan; paths in it are relative to its folder."""
    path = named_path(path, "path")
    content = content_of(path)
    with named_in_errors(str(path)):
        if "people" in content:
            raise ParameterValueError(
                "people are counted by `discretegauss release --plan`, in Python by release.Plan"
            )
        require_keys(content, _OF_PLAN)
        items = content.get("tables")
        if not isinstance(items, list) or not items:
            raise ParameterValueError("tables must be an array of at least one table, [[tables]]")
        if len(items) > _MOST_TABLES:
            raise ParameterValueError(
                f"tables must have at most {_MOST_TABLES} entries, got {len(items)}"
            )
        person = person_of(content["person"]) if "person" in content else None
    tables = tuple(_table(path, i, item, len(items), person) for i, item in enumerate(items, 1))
    require_other_files(outputs_of(path, tables), inputs_of(path, tables))
    tables = tuple(_without_counts_of_others(tables))
    with named_in_errors(str(path)):
        require_values(
            [(f"table {i}", x.counting, x.columns) for i, x in enumerate(tables, 1) if x.counting]
        )
        budget = {key: content[key] for key in _OF_BUDGET if key in content}
        pure_shares = None
        for key in ("share", "error"):
            if len({key in item for item in items}) > 1:
                raise ParameterValueError(f"{key} must be given for all tables or for none")
        if "error" in items[0]:
            if used := [*budget, *(["share"] if "share" in items[0] else [])]:
                raise ParameterValueError(f"{used[0]} must not be given with error, which sets rho")
            tables, rho = _for_errors(tables, items, content.get("confidence"), person)
            budget = {"rho": rho}
        elif "confidence" in content:
            raise ParameterValueError("confidence needs error, which no table has")
        elif "best" in [item.get("share") for item in items]:
            shares, pure_shares = _best_shares(tables, items, person)
            tables = _with_shares(tables, shares)
        require_whole([one.share for one in tables])
        report_delta = content.get("report_delta")
        return _calibrated(path, tables, Budget(**budget), report_delta, person, pure_shares)


def _without_counts_of_others(tables: Sequence[PlannedTable]) -> Iterator[PlannedTable]:
    names_of_all = left_out([(one.table, one.columns) for one in tables])
    for one, names in zip(tables, names_of_all, strict=True):
        with named_in_errors(one.where):
            refuse_keys(one.counting, names)
        yield replace(one, left_out=names)


def require_whole(shares: Sequence[Fraction]) -> None:
    """Refuse shares that do not add up to 1."""
    if (total := sum(shares)) != 1:
        raise ParameterValueError(f"the shares must add up to exactly 1, got {total}")


def _calibrated(
    path: Path | None,
    tables: tuple[PlannedTable, ...],
    budget: Budget,
    report_delta: object,
    person: Person | None,
    pure_shares: Sequence[Fraction] | None = None,
) -> FilePlan:
    for one in tables if budget.epsilon is not None else ():
        with named_in_errors(one.where):
            whole_sensitivity(one.sensitivity)
    counting, shares = [one.counting for one in tables], [one.share for one in tables]
    changed = _joint(tables, person)
    noise, cost = calibrations(budget, changed, shares, report_delta, counting, pure_shares)
    if pure_shares is not None and isinstance(noise[0].law, DiscreteLaplace):
        tables = _with_shares(tables, pure_shares)
    return FilePlan(path=path, tables=tables, noise=tuple(noise), cost=cost, person=person)


def _joint(tables: Sequence[PlannedTable], person: Person | None) -> Joint:
    """Return the tables as one person changes them together."""
    if person is None:
        return Joint([one.change for one in tables])
    return joint(person, [one.counting for one in tables if one.counting is not None])


def _for_errors(
    tables: Sequence[PlannedTable],
    items: Sequence[dict[str, Any]],
    confidence: object,
    person: Person | None,
) -> tuple[tuple[PlannedTable, ...], Fraction]:
    """Return the tables with the shares that their errors need, and the rho of all of them."""
    sigma2 = []
    for one, item in zip(tables, items, strict=True):
        with named_in_errors(one.where):
            sigma2.append(sigma2_for_error(item["error"], confidence))
    changed = _joint(tables, person)
    alone = [x.norm2 / one for x, one in zip(changed.tables, sigma2, strict=True)]
    return _with_shares(tables, [one / sum(alone) for one in alone]), changed.rho(sigma2)


def _best_shares(
    tables: Sequence[PlannedTable], items: Sequence[dict[str, Any]], person: Person | None
) -> tuple[list[Fraction], list[Fraction]]:
    """Return the shares of rho, and of epsilon, that make the weighted sum of all variances least.

    With Gaussian noise each cell of a table has the variance norm2/(2 rho_t). By Cauchy's
    inequality the sum with the weights w is least if each rho_t is in proportion to
    sqrt(norm2 cells w). With Laplace noise it is about 2 (l1/epsilon_t)**2. By Hoelder's inequality
    the sum is least if each epsilon_t is in proportion to the cube root of l1**2 cells w.
    Shares are multiples of 1/10**4; the largest share takes the remainder.
    """
    roots, cube_roots = list[int](), list[int]()
    for one, item, change in zip(tables, items, _joint(tables, person).tables, strict=True):
        with named_in_errors(one.where):
            if item["share"] != "best":
                raise ParameterValueError("share must be 'best' for all tables or for none")
            if "cells" not in item:
                raise ParameterValueError(
                    "cells, the number of rows, must be given with share = 'best'"
                )
            weight = positive(item.get("weight", 1), "weight")
            cells = whole_number(item["cells"], "cells", minimum=1)
            require_rows(one.rows_per_person, cells, one.sensitivity)
            of_all = cells * weight * 2**128
            roots.append(math.isqrt(math.floor(change.norm2 * of_all)))
            cube_roots.append(int(gmpy2.iroot(gmpy2.mpz(math.floor(change.l1**2 * of_all)), 3)[0]))
    return _in_proportion(roots), _in_proportion(cube_roots)


def _in_proportion(sizes: Sequence[int]) -> list[Fraction]:
    shares = [Fraction(max(1, round(10**4 * Fraction(x, sum(sizes)))), 10**4) for x in sizes]
    shares[shares.index(max(shares))] += 1 - sum(shares)
    return shares


def _with_shares(
    tables: Sequence[PlannedTable], shares: Sequence[Fraction]
) -> tuple[PlannedTable, ...]:
    return tuple(replace(one, share=share) for one, share in zip(tables, shares, strict=True))


def inputs_of(path: Path | None, tables: Sequence[PlannedTable]) -> list[File]:
    """Return the files that a release of these tables reads."""
    if path is None:
        return [File(tables[0].table, "the table itself")]
    read = [File(one.table, f"table {i} of the plan") for i, one in enumerate(tables, 1)]
    return [File(path, "the plan itself"), *read]


def outputs_of(path: Path | None, tables: Sequence[PlannedTable]) -> list[File]:
    """Return the files for the noisy tables."""
    if path is None:
        return [File(tables[0].out, "the output")]
    return [File(one.out, f"the output of table {i}", one.where) for i, one in enumerate(tables, 1)]


@contextmanager
def named_in_errors(
    where: str, errors: type[Exception] | tuple[type[Exception], ...] = DiscreteGaussError
) -> Iterator[None]:
    """Put `where`, unless it is empty, in front of the messages of these errors."""
    try:
        yield
    except errors as error:
        if not where:
            raise
        raise type(error)(f"{where}: {error}") from None


def content_of(path: Path) -> dict[str, Any]:
    """Return the content of a plan's file."""
    try:
        with errors_name(path):
            text = path.read_bytes().decode("utf-8-sig")  # some editors begin with a mark
        return tomllib.loads(text, parse_float=Decimal)
    except ValueError as error:  # its text may show cells, if the file is a table
        at = re.search(r"\(at ([\w ,]+)\)$", str(error))
        place = f" (at {at[1]})" if at else ""
        words, _ = looks_like(path)
        said = f"; it is {words}, and a plan is text in UTF-8" if words else place
        raise ParameterValueError(f"{path} is not a TOML file{said}") from None


def person_of(keys: object) -> Person:
    """Return the statement of [person]."""
    with named_in_errors("person"):
        if not isinstance(keys, dict):
            raise ParameterTypeError(f"must be a table, [person], got {describe(keys)}")
        require_keys(keys, _OF_PERSON)
        if "records" not in keys:
            raise ParameterValueError("records, the most that one person has, must be given")
        return Person(**keys)


def _counting(item: Mapping[str, Any], columns: int, person: Person | None) -> Counting | None:
    """Return what a table counts; None if the plan has no statement about a person."""
    if person is None:
        if extra := [key for key in _OF_COUNTING if key in item]:
            raise ParameterValueError(f"{extra[0]} needs [person], which the plan does not have")
        return None
    if extra := [key for key in _SHORT_FORM if key in item]:
        raise ParameterValueError(f"{extra[0]} must not be given with [person]")
    if "by" not in item:
        raise ParameterValueError(
            "by, the columns by which the table groups the records, must be given with [person]"
        )
    keys = {key: item[key] for key in _OF_COUNTING if key in item}
    return checked_counting(columns=columns, **keys)


def require_keys(item: dict[str, Any], keys: set[str]) -> None:
    """Refuse a part of a plan with other keys."""
    for key in item:
        if key not in keys:
            raise ParameterValueError(
                f"{key!r} is not a key of this part of a plan, which has "
                f"{', '.join(sorted(keys))}{hint_for(key, keys)}"
            )


def _table(plan: Path, number: int, item: Any, of: int, person: Person | None) -> PlannedTable:
    where = f"{plan}: table {number}"
    with named_in_errors(where):
        if not isinstance(item, dict):
            raise ParameterTypeError(f"each entry must be a table, got {type(item).__name__}")
        require_keys(item, _OF_TABLE)
        for key in ("table", "column", "out"):
            if key not in item:
                raise ParameterValueError(f"{key} must be given")
            if item[key] == "-":
                raise ParameterValueError(f"{key} must not be '-': a plan reads and writes files")
        if item.get("share") != "best" and {"weight", "cells"} & set(item):
            raise ParameterValueError("weight and cells need share = 'best'")
        share = Fraction(1, of)
        if "share" in item and item["share"] != "best" and "error" not in item:
            share = exact_rational(item["share"], "share")
        if share <= 0:
            raise ParameterValueError(f"share must be positive, got {share}")
        one = _planned_table(where, item, share, plan.parent)
        counting = _counting(item, len(one.columns), person)
        disjoint = one.disjoint or (counting is not None and counting.across is not None)
        return replace(one, counting=counting, disjoint=disjoint)


def _planned_table(
    where: str, item: Mapping[str, object], share: Fraction, folder: Path
) -> PlannedTable:
    return PlannedTable(
        where=where,
        table=folder / named_path(item["table"], "table"),
        columns=column_names(item["column"]),
        out=folder / named_path(item["out"], "out"),
        share=share,
        sensitivity=integer_sensitivity(item.get("sensitivity", 1)),
        rows_per_person=whole_number(item.get("rows_per_person", 1), "rows_per_person", minimum=1),
        disjoint=checked_flag(item.get("disjoint", False), "disjoint"),
        delimiter=checked_delimiter(item.get("delimiter")),
        integral_floats=checked_flag(item.get("integral_floats", False), "integral_floats"),
    )


def column_names(column: object) -> tuple[str, ...]:
    """Return the names of one column or several as a tuple."""
    names = names_of(column, "column")
    for name in names:
        if not name.strip(BLANKS):  # an unset variable of a shell, or an index without a name
            raise refused("column", "not be empty", name)
    if not names:
        raise ParameterValueError("column must name at least one column, got none")
    return names
