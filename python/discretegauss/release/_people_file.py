"""A plan whose tables are counted from a file of people: read, count, draw, and write CSV files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .._inputs.messages import describe, printable
from .._inputs.numbers import checked_flag
from .._inputs.paths import named_path
from .._system.atomic_file import NewFile, no_op, place_together
from ..errors import DiscreteGaussError, ParameterTypeError, ParameterValueError, TableError
from ._counts import Counts
from ._csv_rows import csv_bytes
from ._destinations import File, checked_destinations, exists_already
from ._frames import Plan, Table
from ._people import narwhals
from ._plan import content_of, named_in_errors, person_of, require_keys

_OF_BUDGET = ("rho", "epsilon", "delta", "report_delta")
_OF_PLAN = {*_OF_BUDGET, "person", "people", "categories", "tables"}
_OF_TABLE = {"by", "out", "column", "values", "counts", "share"}
_OF_PEOPLE = {"file", "consistent"}
_PARQUET, _CSV = (".parquet", ".pq"), ".csv"


@dataclass(frozen=True, kw_only=True)
class PeoplePlan:
    """A plan in a file, with the file of people, the lists, and the outputs."""

    path: Path
    plan: Plan
    file: Path
    categories: dict[str, list[Any]]
    outs: dict[str, Path]
    is_consistent: bool


@dataclass(frozen=True, kw_only=True)
class PeopleRelease:
    """Tables that were counted and written; printing it shows the sentences to publish."""

    path: Path
    outs: dict[str, Path]
    counts: Counts

    def __str__(self) -> str:
        written = [printable(f"{name} is written to {out}.") for name, out in self.outs.items()]
        return "\n".join([*written, "", "To publish with the tables:", str(self.counts)])


def counts_people(path: str | os.PathLike[str]) -> bool:
    """Return whether a plan has a file of people."""
    return "people" in content_of(named_path(path, "path"))


def read_people_plan(path: str | os.PathLike[str]) -> PeoplePlan:
    """Read a plan with [people]; paths in it are relative to its folder."""
    path = named_path(path, "path")
    content = content_of(path)
    with named_in_errors(str(path)):
        require_keys(content, _OF_PLAN)
        for key in ("person", "people"):
            if not isinstance(content.get(key), dict):
                raise ParameterTypeError(f"{key} must be a table, [{key}]")
        people, items = content["people"], content.get("tables")
        require_keys(people, _OF_PEOPLE)
        if "file" not in people:
            raise ParameterValueError("file must be given in [people]")
        file = path.parent / named_path(people["file"], "file")
        if file.suffix.lower() not in (*_PARQUET, _CSV):
            raise ParameterValueError(f"file must end in .parquet, .pq or .csv, got {file.name!r}")
        if not isinstance(items, list) or not items:
            raise ParameterValueError("tables must be an array of at least one table, [[tables]]")
        lists = content.get("categories", {})
        if not isinstance(lists, dict):
            raise ParameterTypeError(f"categories must be a table, got {describe(lists)}")
        categories = {name: _listed(values, name) for name, values in lists.items()}
        person = person_of(content["person"])
    tables, outs = {}, {}
    for i, item in enumerate(items, 1):
        with named_in_errors(f"{path}: table {i}"):
            if not isinstance(item, dict):
                raise ParameterTypeError(f"each entry must be a table, got {describe(item)}")
            require_keys(item, _OF_TABLE)
            for key in ("by", "out"):
                if key not in item:
                    raise ParameterValueError(f"{key} must be given")
            out = path.parent / named_path(item["out"], "out")
            if out.suffix.lower() != _CSV:
                raise ParameterValueError(f"out must end in .csv, got {out.name!r}")
            more = {key: item[key] for key in ("values", "counts", "share") if key in item}
            if out.name in outs:
                raise ParameterValueError(f"out must differ, got {out.name!r} twice")
            tables[out.name] = Table(item["by"], item.get("column"), **more)
            outs[out.name] = out
    with named_in_errors(str(path)):
        budget = {key: content[key] for key in _OF_BUDGET if key in content}
        return PeoplePlan(
            path=path,
            plan=Plan(person, tables, **budget),
            file=file,
            categories=categories,
            outs=outs,
            is_consistent=checked_flag(people.get("consistent", False), "consistent"),
        )


def count_file(
    plan: PeoplePlan,
    *,
    force: bool,
    ledger: str | os.PathLike[str] | None = None,
    before_placing: Callable[[], None] = no_op,
) -> PeopleRelease:
    """Count the people of a plan, and write all of its tables, or none."""
    outputs = [File(out, f"the output {name}") for name, out in plan.outs.items()]
    inputs = [File(plan.path, "the plan itself"), File(plan.file, "the file of people")]
    files = [NewFile(x, replace=force) for x in checked_destinations(outputs, inputs, force=force)]
    counts = _counted(plan, ledger)
    try:
        for file, frame in zip(files, counts.values(), strict=True):
            table = narwhals().from_native(frame, eager_only=True)
            with file.content() as write:
                write(csv_bytes([table.columns, *table.iter_rows()]))
        before_placing()
        place_together(files)
    except FileExistsError as error:  # another release made it after the check
        raise exists_already(Path(error.filename)) from None
    except BaseException as error:
        error.add_note(
            "the tables of the plan are written; the budget is spent"
            if all(file.is_placed() for file in files)
            else "no table is written, and nothing of the noisy tables is known"
        )
        raise
    finally:
        for file in files:
            file.discard()
    return PeopleRelease(path=plan.path, outs=plan.outs, counts=counts)


def _counted(plan: PeoplePlan, ledger: str | os.PathLike[str] | None) -> Counts:
    try:
        frame = _opened(plan)
        return plan.plan.count(frame, plan.categories, consistent=plan.is_consistent, ledger=ledger)
    except (DiscreteGaussError, OSError, ImportError, MemoryError):
        raise
    except Exception as error:  # a library's message may show cells
        raise TableError(
            f"{plan.file} cannot be read with the columns that the plan says: "
            f"{type(error).__name__}"
        ) from None


def _opened(plan: PeoplePlan) -> Any:
    """Return the file as a lazy frame; text is made what the plan says of its columns."""
    if not plan.file.is_file():
        raise FileNotFoundError(f"there is no file {plan.file}")
    nw = narwhals()
    is_csv, path = plan.file.suffix.lower() == _CSV, str(plan.file)
    if find_spec("polars") is not None:
        import polars as pl

        found = pl.scan_csv(path, infer_schema=False) if is_csv else pl.scan_parquet(path)
    elif find_spec("duckdb") is not None:
        import duckdb

        of_text = {"all_varchar": True, "header": True}
        found = duckdb.read_csv(path, **of_text) if is_csv else duckdb.read_parquet(path)
    else:
        raise ImportError("a file of people is read by polars or DuckDB: pip install polars")
    frame = nw.from_native(found)
    if not is_csv:
        return frame
    columns = frame.collect_schema()
    kinds = {name: _kind(nw, values) for name, values in plan.categories.items()}
    sums = [one.columns or () for one in plan.plan.tables.values() if one.counting.values]
    kinds |= {name: nw.Int64 for names in sums for name in names}
    return frame.with_columns(
        *(nw.col(x).cast(kind) for x, kind in kinds.items() if kind and x in columns)
    )


def _kind(nw: Any, values: Any) -> Any:
    """Return the type of a column of text that has these values; None if it stays text."""
    flat = [x for one in values for x in (one if isinstance(one, list) else [one])]
    known = [x for x in flat if x is not ... and x is not None]
    if all(isinstance(x, int) and not isinstance(x, bool) for x in known):
        return nw.Int64
    return nw.Float64 if all(isinstance(x, int | float) for x in known) else None


def _listed(values: Any, name: str) -> list[Any]:
    """Return a list of TOML as `Plan.count` takes it: "..." is `...`, and decimals are floats.

    TOML has no null, so "" stands for no limit of a bin.
    """
    if not isinstance(values, list):
        raise ParameterTypeError(f"categories.{name} must be a list, got {describe(values)}")
    return [
        ... if one == "..." else [_end(x) for x in one] if isinstance(one, list) else _number(one)
        for one in values
    ]


def _end(one: Any) -> Any:
    return None if one == "" else _number(one)


def _number(one: Any) -> Any:
    return one if isinstance(one, bool | int | str) or not hasattr(one, "as_tuple") else float(one)
