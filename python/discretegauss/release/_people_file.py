"""A plan whose tables are counted from a file of people: read, count, draw, and write CSV files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .._inputs.messages import describe, printable
from .._inputs.numbers import checked_flag
from .._inputs.paths import named_path
from .._system.atomic_file import NewFile, no_op, place_together
from ..errors import DiscreteGaussError, ParameterTypeError, ParameterValueError, TableError
from ._csv_rows import csv_bytes
from ._destinations import File, checked_destinations, exists_already
from ._frames import Plan, Table
from ._people.counts import Counts
from ._people.query import narwhals
from ._person import names_of
from ._plan import content_of, named_in_errors, person_of, require_keys
from ._report import noise_json

_OF_BUDGET = ("rho", "epsilon", "delta", "report_delta")
_OF_PLAN = {*_OF_BUDGET, "person", "people", "categories", "together", "tables"}
_OF_TABLE = {"by", "out", "column", "values", "counts", "share", "unknown"}
_OTHERWISE = {"by", "out", "column"}
_OF_PEOPLE = {"file", "consistent"}
_PARQUET, _CSV = (".parquet", ".pq"), ".csv"


@dataclass(frozen=True, kw_only=True)
class PeoplePlan:
    """A plan in a file, with the file of people, the lists, and the outputs."""

    path: Path
    plan: Plan
    file: Path
    categories: dict[str | tuple[str, ...], list[Any]]
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
        categories = _categories(content)
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
            more = {key: item[key] for key in _OF_TABLE - _OTHERWISE if key in item}
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


def people_json(plan: PeoplePlan, release: PeopleRelease | None = None) -> str:
    """Return the noise of a plan as JSON, and of a release what to publish with the tables."""
    one, more = plan.plan, {"publish": [] if release is None else str(release.counts).splitlines()}
    unknown = {name: table.fields() for name, table in one._unknown.items()}
    tables = [{"out": str(plan.outs[name]), **unknown.get(name, {})} for name in one.tables]
    noise = [one.noise.get(name) for name in one.tables]
    return noise_json(plan.path, tables, one._shares, noise, one.cost, one.person, more)


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
            f"{type(error).__name__}{_wanted(plan)}"
        ) from None


def _wanted(plan: PeoplePlan) -> str:
    """Return which columns are no text by the plan, for the error of a file that has others."""
    names = ", ".join(map(repr, _kinds(plan)))
    return f"; listed numbers, sums and dates need columns of such values: {names}" * bool(names)


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
    casts = [_cast(nw, x, kind) for x, kind in _kinds(plan).items() if x in columns]
    return frame.with_columns(*casts) if casts else frame  # narwhals refuses no casts


def _cast(nw: Any, name: str, kind: Any) -> Any:
    column = nw.col(name)
    return column.str.to_date("%Y-%m-%d") if kind == nw.Date else column.cast(kind)


def _kinds(plan: PeoplePlan) -> dict[str, Any]:
    """Return the columns of text that are numbers or dates, and of which type."""
    nw = narwhals()
    kinds: dict[str, Any] = {}
    for key, values in plan.categories.items():
        names, known = (key,) if isinstance(key, str) else key, [x for x in values if x is not ...]
        columns = [known] if isinstance(key, str) else zip(*known, strict=True)
        kinds |= {name: _kind(nw, one) for name, one in zip(names, columns, strict=True)}
    sums = [one.columns or () for one in plan.plan.tables.values() if one.counting.values]
    kinds |= {name: nw.Int64 for names in sums for name in names}
    return {name: kind for name, kind in kinds.items() if kind}


def _kind(nw: Any, values: Iterable[Any]) -> Any:
    """Return the type of a column of text that has these values; None if it stays text."""
    flat = [x for one in values for x in (one if isinstance(one, list) else [one])]
    known = [x for x in flat if x is not None]
    if all(isinstance(x, int) and not isinstance(x, bool) for x in known):
        return nw.Int64
    if all(type(x) is date for x in known):
        return nw.Date
    return nw.Float64 if all(isinstance(x, int | float) for x in known) else None


def _categories(content: Mapping[str, Any]) -> dict[str | tuple[str, ...], list[Any]]:
    """Return the lists of [categories], and the combinations of [[together]]."""
    lists, together = content.get("categories", {}), content.get("together", [])
    if not isinstance(lists, dict):
        raise ParameterTypeError(f"categories must be a table, got {describe(lists)}")
    found: dict[str | tuple[str, ...], list[Any]] = {}
    found |= {name: _listed(values, f"categories.{name}", _end) for name, values in lists.items()}
    for one in together if isinstance(together, list) else [together]:
        if not isinstance(one, dict) or set(one) != {"columns", "values"}:
            raise ParameterTypeError(
                "together must have columns and values, such as columns = ['state', 'town'] and "
                "values = [['N', 'Aix'], ['S', 'Bex']], in each [[together]]"
            )
        columns = names_of(one["columns"], "together.columns")
        rows = _listed(one["values"], "together.values", _number)
        for row in rows:
            if row is not ... and (not isinstance(row, list) or len(row) != len(columns)):
                raise ParameterValueError(
                    f"together.values must be lists of {len(columns)} values, got {describe(row)}"
                )
        found[columns] = rows
    return found


def _listed(values: Any, name: str, inner: Callable[[Any], Any]) -> list[Any]:
    """Return a list of TOML as `Plan.count` takes it: "..." is `...`, and decimals are floats.

    inner says the same of what is in lists in it.
    """
    if not isinstance(values, list):
        raise ParameterTypeError(f"{name} must be a list, got {describe(values)}")
    return [
        ... if one == "..." else [inner(x) for x in one] if isinstance(one, list) else _number(one)
        for one in values
    ]


def _end(one: Any) -> Any:
    """Return an end of a bin. TOML has no null, so "" stands for no limit."""
    return None if one == "" else _number(one)


def _number(one: Any) -> Any:
    return one if isinstance(one, bool | int | str) or not hasattr(one, "as_tuple") else float(one)
