"""A plan: the tables that share one budget, as a TOML file says, and the noise of each."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from .._inputs.messages import describe
from .._inputs.numbers import exact_rational, whole_number
from .._system.atomic_file import errors_name
from ..errors import DiscreteGaussError, OutputError, ParameterTypeError, ParameterValueError
from ._arguments import checked_flag, column_names, file_path, sensitivity_of_counts
from ._noise_for_budget import Calibration, calibration
from ._plan_cost import PlanCost, plan_cost, rho_of_plan

__all__ = ["PlanFile", "PlannedTable", "named_in_errors", "read_plan"]

_OF_PLAN = {"rho", "epsilon", "delta", "report_delta", "tables"}
_OF_TABLE = {"table", "column", "out", "share", "sensitivity", "rows_per_person", "disjoint"}

_MOST_TABLES = 64
"""Their files are open at once."""


@dataclass(frozen=True, kw_only=True)
class PlannedTable:
    """One table of a plan, with its part of the budget."""

    where: str
    """The file and the key, for messages."""
    table: Path
    column: tuple[str, ...]
    out: Path
    share: Fraction
    sensitivity: Fraction
    rows_per_person: int
    disjoint: bool

    @property
    def queries(self) -> int:
        """How many counts one person changes."""
        return self.rows_per_person * (1 if self.disjoint else len(self.column))


@dataclass(frozen=True, kw_only=True)
class PlanFile:
    """A plan that is right. No table has been looked at."""

    path: Path
    tables: tuple[PlannedTable, ...]
    noise: tuple[Calibration, ...]
    """Of each table."""
    cost: PlanCost


def read_plan(path: str | os.PathLike[str]) -> PlanFile:
    """Read a plan; paths in it are relative to its folder."""
    path = file_path(path, "path")
    content = _content(path)
    with named_in_errors(str(path)):
        _known(content, _OF_PLAN)
        given = content.get("tables")
        if not isinstance(given, list) or not given:
            raise ParameterValueError("tables must be an array of tables, [[tables]], at least one")
        if len(given) > _MOST_TABLES:
            raise ParameterValueError(f"tables must be at most {_MOST_TABLES}, got {len(given)}")
    tables = tuple(_table(path, i, one, len(given)) for i, one in enumerate(given, 1))
    _check_outputs(path, tables)
    with named_in_errors(str(path)):
        if len({"share" in one for one in given}) > 1:
            raise ParameterValueError("share must be given for all tables or for none")
        if (total := sum(one.share for one in tables)) != 1:
            raise ParameterValueError(f"the shares must add up to 1, exactly; they are {total}")
        rho = rho_of_plan(content, [(one.sensitivity, one.queries, one.share) for one in tables])
    noise = []
    for one in tables:
        with named_in_errors(one.where):
            noise.append(
                calibration(
                    rho=rho.rho * one.share,
                    sensitivity=one.sensitivity,
                    queries=one.queries,
                    report_delta=rho.delta,
                )
            )
    return PlanFile(path=path, tables=tables, noise=tuple(noise), cost=plan_cost(rho, noise))


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
    """Let what is wrong say where it stands."""
    try:
        yield
    except DiscreteGaussError as error:
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


def _known(given: dict[str, Any], keys: set[str]) -> None:
    for key in given:
        if key not in keys:
            raise ParameterValueError(
                f"{key!r} is no key of a plan here; there are {', '.join(sorted(keys))}"
            )


def _table(plan: Path, number: int, given: Any, of: int) -> PlannedTable:
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
        share = exact_rational(given.get("share", Fraction(1, of)), "share")
        if share <= 0:
            raise ParameterValueError(f"share must be positive, got {share}")
        return PlannedTable(
            where=where,
            table=plan.parent / file_path(given["table"], "table"),
            column=column_names(given["column"]),
            out=plan.parent / file_path(given["out"], "out"),
            share=share,
            sensitivity=sensitivity_of_counts(given.get("sensitivity", 1)),
            rows_per_person=whole_number(
                given.get("rows_per_person", 1), "rows_per_person", minimum=1
            ),
            disjoint=checked_flag(given.get("disjoint", False), "disjoint"),
        )
