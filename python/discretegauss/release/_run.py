"""Release the tables of a plan, one or several. All of them are written, or none."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.budget import Budget
from .._inputs.draw_arguments import checked_source
from .._inputs.keywords import with_hints
from .._inputs.numbers import checked_flag
from .._inputs.paths import named_path
from .._inputs.privacy_arguments import require_rows
from .._inputs.source import Source
from .._system.atomic_file import NewFile, Sink, no_op, place_together, probed
from .._system.folders import folder_made
from .._system.progress import Progress
from .._system.signals import signals_deferred
from ..data.addition import AddOptions, has_room, noisy
from ..data.cells import INT64_RANGE, Cells
from ..data.totals import RunningTotal, refusal_of_row
from ..errors import ParameterValueError, TableError
from ..laws import Law
from ..privacy.ledger import Entry, Ledger, recorded
from ._calibration import Calibration
from ._chunks import Chunk, FileTable, RowsBy
from ._consistent import ConsistentTables
from ._destinations import File, checked_destinations, exists_already, require_other_files
from ._files import Format, Stdout, compressed, formats_of, open_table
from ._first_look import FirstLook, alone_of
from ._groupings import Values, require_one_grouping, shared_keys
from ._person import Person
from ._plan import (
    FilePlan,
    PlannedTable,
    inputs_of,
    named_in_errors,
    outputs_of,
    plan_of_one,
    read_plan,
)
from ._plot import Picture, require_plot
from ._report import PlanRelease, Release


@with_hints
def release_table(
    table: str | os.PathLike[str],
    column: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    rows_per_person: int = 1,
    disjoint: bool = False,
    person: Person | None = None,
    by: str | Sequence[str] | None = None,
    across: str | None = None,
    delimiter: str | None = None,
    integral_floats: bool = False,
    report_delta: object = None,
    force: bool = False,
    plot: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    progress: bool = False,
    source: Source = "chacha20",
) -> Release:
    """Add noise to columns of counts and write the table to another file.

    Parameters
    ----------
    table : str or os.PathLike of str
        A table with a header. The name says the format: Parquet (.parquet, .pq), Arrow IPC (.arrow,
        .feather, .ipc), a numpy array (.npy), text with tabs (.tsv, .tab), else text with commas.
        Text is UTF-8. Text and arrays may be compressed (.gz, .zst). Parquet and Arrow need
        pyarrow.
    column : str or sequence of str
        The name of the column of counts, or the names of several. Each count gets its own draw. The
        columns of an array are "0", "1" and so on.
    out : str or os.PathLike of str
        The file to write, other than the table. An ending that the table could have selects that
        format. Without one the output has the table's format.
    rho : number, optional
        The zCDP budget, for all columns together: discrete Gaussian noise.
    epsilon, delta : number, optional
        In place of rho. epsilon alone is pure differential privacy, by discrete Laplace noise. With
        delta the noise is of the kind that has the smaller standard deviation.
    sensitivity : number
        The most by which one person changes one count, at least 1. With epsilon it must be a
        whole number. With rho and rows_per_person = 1 it may also be the Euclidean norm of all
        that one person changes in a column, rounded up to a number that is not whole.
    rows_per_person : int
        The most rows in which one person changes counts, at most all of the table. If several
        records of a person may fall in one row, `sensitivity` says how many.
    disjoint : bool
        Whether nobody changes counts in two of the columns. Otherwise one person may change
        rows_per_person counts in each.
    person : Person, optional
        In place of these three: how many records a person has, and in which columns they differ. A
        record counts in each of the columns of counts.
    by, across : str or sequence of str, str, optional
        With a person, as for `FileTable`: the columns by which the rows group the records, in which
        they must differ; and the key whose values are the names of the columns of counts. Without
        them all records of a person may be in one row, and in one column.
    delimiter : ",", ";", "|" or a tab, optional
        The delimiter of text in the table and in ``out``, if the name does not say it.
    integral_floats : bool
        Whether counts may be floats that are whole numbers, or text such as 12.0. The output has
        integers. Beyond 2**53 in size they are refused, because they may be rounded.
    report_delta : number, optional
        With rho: the delta at which epsilon is reported; 1e-6 by default.
    force : bool
        Whether to replace ``out`` and ``plot`` if they exist. The new file's mode is no wider than
        the old one's. Its owner, group and access control list are those of a new file.
    plot : str or os.PathLike of str, optional
        A .png, .pdf or .svg file for a picture of the noisy counts and their error bars. It shows
        no true count. Needs matplotlib.
    ledger : str or os.PathLike of str or privacy.Ledger, optional
        The ledger of these people. The release is a line in it before anything is drawn, and is
        refused beyond the ledger's limit.
    progress : bool
        Whether to show a progress bar on stderr, if that is a terminal.
    source : "getrandom", "chacha20" or callable
        The source of random bits.

    Returns
    -------
    Release
        The report, to be kept beside the table; print it to read it.

    Raises
    ------
    TableError
        If the file is not a table with whole numbers in these columns. Also if noisy counts might
        not fit the format, which the counts and the law decide, and no draw. This error and the
        next are in `discretegauss.errors`, too.
    OutputError
        If out or plot is the table, or the same file as the other; exists without force; is not a
        regular file; or is the file that stdout or stderr goes to.
    LedgerError
        If the ledger is not there or was changed, or if the release costs more than it has left.
    TypeError, ValueError, OverflowError
        If a parameter is wrong: `discretegauss.errors.ParameterTypeError` and so on.
    ImportError
        If the format needs pyarrow, or the plot matplotlib, and it is not installed.
    OSError
        If a file cannot be read or written, or (EntropyError) there is no randomness.
    KeyboardInterrupt
        At Ctrl-C. If ``out`` is in its place by then, the error has a note (``__notes__``) that the
        budget is spent. An interrupt just as the function returns may lack the note, so look for
        ``out`` itself (with force: for a new file).

    Notes
    -----
    Guarantee: noisy count = count + draw, in exact integers of any size; the draws are independent
    and have the law of the report; whatever fails, ``out`` is written whole or left as it was, and
    ``plot`` with it.
    Memory does not grow with the table. A Parquet file is held one row group at a time.

    Not promised: privacy of anything without noise. The rows of the table, their order, and all
    other columns are published as they are, so they must not depend on the people counted. A table
    sorted by its counts publishes their true ranking.
    """
    return execute(
        plan_of_one(
            table,
            column,
            out,
            budget=Budget(rho=rho, epsilon=epsilon, delta=delta),
            report_delta=report_delta,
            sensitivity=sensitivity,
            rows_per_person=rows_per_person,
            disjoint=disjoint,
            person=person,
            by=by,
            across=across,
            delimiter=delimiter,
            integral_floats=integral_floats,
        ),
        force=force,
        plot=plot,
        ledger=ledger,
        progress=progress,
        source=source,
    ).tables[0]


@with_hints
def release_plan(
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    plot: str | os.PathLike[str] | None = None,
    consistent: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    progress: bool = False,
    source: Source = "chacha20",
) -> PlanRelease:
    """Add noise to the counts of several tables under one budget; write all of them or none.

    Parameters
    ----------
    path : str or os.PathLike of str
        A plan, in TOML: docs/plans.md has its keys. Files in it are relative to its folder.
    force : bool
        Whether to replace outputs that exist.
    plot : str or os.PathLike of str, optional
        A .png, .pdf or .svg file for a picture of the noisy counts and the error of each table.
        Needs matplotlib.
    consistent : str or os.PathLike of str, optional
        A folder for the same tables, as CSV, made to add up by `discretegauss.estimate.consistent`,
        with a column of standard errors. They are computed from the noisy tables alone.
    ledger, progress, source
        As for `release_table`.

    Returns
    -------
    PlanRelease
        The report; print it to read it.

    Raises
    ------
    TableError, OutputError, LedgerError, TypeError, ValueError, OverflowError, ImportError, OSError
        As `release_table`; messages about the plan name the file and the table's number.
    KeyboardInterrupt
        At Ctrl-C.

    Notes
    -----
    Guarantee: all tables together cost the plan's rho, exactly. No output gets its name before all
    tables are read and all outputs, with the plot, are complete in temporary files. If one output
    cannot get its name, or Ctrl-C comes before, no output gets one. With force the old files then
    stay. Ctrl-C while the outputs get their names waits until all have them. The error then has a
    note that says so.

    Not promised: all or none if the process is killed, or the power fails, while the files get
    their names, which takes some milliseconds.
    """
    return execute(
        read_plan(path),
        force=force,
        plot=plot,
        consistent=consistent,
        ledger=ledger,
        progress=progress,
        source=source,
    )


Observer = ConsistentTables | Picture
"""A collector of the noisy tables that a release writes."""


@dataclass(frozen=True)
class _Run:
    """A table to read, and its output."""

    one: PlannedTable
    noise: Calibration
    of_table: Format
    of_out: Format
    file: NewFile | Stdout


def execute(
    plan: FilePlan,
    *,
    force: bool,
    plot: str | os.PathLike[str] | None = None,
    consistent: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    progress: bool = False,
    source: Source = "chacha20",
    to_stdout: bool = False,
    before_placing: Callable[[], None] = no_op,
) -> PlanRelease:
    """Read, draw and write the tables of a plan.

    ``to_stdout``: the one table goes to stdout, and its ``out`` is only a name for the report.
    ``before_placing`` is called when the files are complete and lack only their names.
    """
    force, progress = checked_flag(force, "force"), checked_flag(progress, "progress")
    outputs, inputs = outputs_of(plan.path, plan.tables), inputs_of(plan.path, plan.tables)
    formats = []
    for one in plan.tables:
        with named_in_errors(one.where):
            out = one.table if to_stdout else one.out
            formats.append(formats_of(one.table, out, one.delimiter))
    if ledger is not None:
        source = checked_source(source)
        ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        inputs.append(File(ledger.path, "the ledger"))
    streams: list[Stdout] = []
    observers: list[Observer] = []
    added_up = picture = None
    if to_stdout:
        streams, outputs = [Stdout()], []
        require_other_files([File(Path("/dev/stdout"), "the output")], inputs)
    if consistent is not None:
        folder = named_path(consistent, "consistent")
        added_up = ConsistentTables(folder, plan.tables, plan.person)
        observers.append(added_up)
        outputs += added_up.outputs
    if plot is not None:
        path = named_path(plot, "plot")
        require_plot(path)
        outputs.append(File(path, "the plot"))
        picture = Picture(path.suffix, of_plan=plan.path is not None)
        observers.append(picture)
    destinations = checked_destinations(outputs, inputs, force=force)
    files = [NewFile(path, replace=force) for path in destinations]
    n = len(plan.tables)
    sinks: Sequence[NewFile | Stdout] = streams or files[:n]
    each_table = zip(plan.tables, plan.noise, formats, sinks, strict=True)
    runs = []
    for one, noise, of_one, sink in each_table:
        runs.append(_Run(one, noise, *of_one, sink))
    shared = [] if plan.person is None else [x.counting for x in plan.tables if x.counting]
    values = [_look_through(run, plan.person, shared_keys(shared)) for run in runs]
    with named_in_errors(str(plan.path or "")):
        counted = [(x.where, x.counting, x.columns) for x in plan.tables if x.counting]
        require_one_grouping(counted, values if counted else [])
    shares = tuple([one.share for one in plan.tables])
    if ledger is not None:
        _rehearse(runs, plan.person, added_up)
    try:
        with (
            nullcontext() if added_up is None else folder_made(added_up.folder),
            nullcontext() if ledger is None else probed(destinations),
            nullcontext() if ledger is None else _recorded(ledger, plan) as entry,
        ):
            try:
                # No comprehension here: in Python 3.12 and 3.13 an exception that a trace function
                # (of a debugger that quits) raises inside one skips the `finally` below.
                tables = []
                for run in runs:
                    draw = partial(noisy, law=run.noise.law, how=AddOptions(source=source))
                    to_file = run.file.content()
                    table = _write(run, draw, to_file, observers, plan.person, progress=progress)
                    tables.append(replace(table, person=plan.person, ledger=entry))
                release = PlanRelease(
                    path=plan.path,
                    shares=shares,
                    tables=tuple(tables),
                    cost=plan.cost,
                    person=plan.person,
                    ledger=entry,
                    consistent=() if added_up is None else added_up.write(files[n : 2 * n]),
                )
                if picture is not None:
                    with files[-1].content() as write:
                        write(picture.drawn(release))
                for stream in streams:
                    stream.place()
                before_placing()
                place_together(files)
                return release
            finally:
                with signals_deferred():
                    for stream in streams:
                        stream.discard()
                    for file in files:
                        file.discard()
    except FileExistsError as error:  # another release made it after the check
        exists = exists_already(Path(error.filename))
        for note in getattr(error, "__notes__", []):
            exists.add_note(note)
        raise exists from None
    except BaseException as error:
        if any(stream.is_placed() for stream in streams) or (
            files and all(file.is_placed() for file in files)
        ):
            written = "the tables of the plan are" if plan.path else f"{plan.tables[0].out} is"
            error.add_note(f"{written} written; the budget is spent")
        raise


def _recorded(ledger: Ledger, plan: FilePlan) -> AbstractContextManager[Entry | None]:
    """Write the line of a release, in which nothing depends on a count, before the block."""
    tables = [
        {
            "table": str(one.table),
            "columns": one.columns,
            "out": str(one.out),
            "law": repr(noise.law),
            "sensitivity": str(noise.sensitivity),
            "queries": noise.queries,
        }
        for one, noise in zip(plan.tables, plan.noise, strict=True)
    ]
    what: dict[str, object] = {"tables": tables}
    if (person := plan.person) is not None:
        what["person"] = str(person)
    neighbours = None if person is None else person.neighbours
    return recorded(ledger, what=what, neighbours=neighbours, **plan.cost.of_ledger)


def _rehearse(
    runs: Sequence[_Run], person: Person | None, added_up: ConsistentTables | None
) -> None:
    """Write zeros nowhere, so that a table that cannot be written is refused before it costs.

    A pipe can be read only once.
    """
    if any(_is_pipe(run.one.table) for run in runs):
        added_up = None
    observers = [] if added_up is None else [added_up.another()]
    for run in runs:
        if not _is_pipe(run.one.table):
            _write(run, _zeros, nullcontext(_nowhere), observers, person, progress=False)
    for tables in observers:
        tables.fitted()


def _zeros(columns: Sequence[Cells]) -> list[NDArray[Any]]:
    kinds = [object if cells.integers.dtype == object else np.int64 for cells in columns]
    return [np.zeros(x.integers.shape, kind) for x, kind in zip(columns, kinds, strict=True)]


def _nowhere(_: bytes | memoryview) -> None:
    """Discard the bytes."""


def _is_pipe(path: Path) -> bool:
    """Return whether a table can be read only once. Refuse one that is not there."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return not stat.S_ISREG(os.stat(path).st_mode) or path.parts[:2] == ("/", "dev")


@contextmanager
def _open_planned(run: _Run) -> Iterator[FileTable]:
    """Open a table; errors about its content name its place in the plan."""
    one = run.one
    with (
        named_in_errors(one.where, (TableError, ParameterValueError)),
        open_table(
            one.table,
            one.columns,
            run.of_table,
            run.of_out,
            one.left_out,
            floats=one.integral_floats,
        ) as table,
    ):
        yield table


def _look_through(run: _Run, person: Person | None, shared: frozenset[str]) -> Values:
    """Refuse a table by its shape, its counts and the law, before anything is drawn for any table.

    Return the values of the shared keys. A pipe can be read only once, so `_write` checks it
    instead, by the same rules, if they need only one row at a time.
    """
    one, counts_have_no_limit = run.one, run.of_table.kind == "text"
    if _is_pipe(one.table):
        return {}
    rows = 0
    with _open_planned(run) as table:
        if one.counting is not None and one.has_groups:
            RowsBy(one.counting, table)  # refuses columns that are missing
        look = FirstLook(one, table, person, shared)
        for chunk in table.chunks():
            _require_room(chunk, run.noise.law, rows)
            rows += chunk.n_rows
            look.add(chunk)
            if counts_have_no_limit and rows >= one.rows_per_person and look.is_done:
                break
            del chunk  # frees memory before the next one is read
        if rows:
            require_rows(one.rows_per_person, rows, one.sensitivity)
        return look.finish()


def _require_room(chunk: Chunk, law: Law, rows: int) -> None:
    """Refuse counts whose noise might not fit; `rows` rows come before the chunk."""
    for cells in chunk.cells:
        if not has_room(cells, law):
            kind = "int64" if cells.range == INT64_RANGE else "decimals of this precision"
            raise TableError(
                f"rows {rows + 1} to {rows + chunk.n_rows}, column {cells.label!r}: noisy counts "
                f"must fit {kind} with Pr[outside] < 2**-128, but they might not; any count fits a "
                "CSV file"
            )


def _write(
    run: _Run,
    draw: Callable[[Sequence[Cells]], list[NDArray[Any]]],
    sink: AbstractContextManager[Sink],
    observers: Sequence[Observer],
    person: Person | None,
    *,
    progress: bool,
) -> Release:
    """Write a table to a sink, with the numbers of `draw` in place of its counts."""
    start, one, rows = time.perf_counter(), run.one, 0
    with _open_planned(run) as table, sink as whole:
        release = Release(
            **vars(run.noise),
            table=one.table,
            columns=table.columns,
            out=one.out,
            rows=0,
            other_columns=len(table.other_columns),
            left_out=table.left_out,
            disjoint=one.disjoint,
            seconds=0.0,
        )
        by = RowsBy(one.counting, table) if one.counting and one.has_groups else None
        totals = RunningTotal() if alone_of(one, person).rows else None
        collectors = [each.next_table(release, table.other_columns) for each in observers]
        with (
            compressed(whole, run.of_out.compression) as file,
            Progress("rows", show=progress) as bar,
            table.writer(file) as write,
        ):
            for chunk in table.chunks():
                _require_room(chunk, run.noise.law, rows)
                sums = draw(chunk.cells)
                write(chunk.close(sums))
                if by is not None:
                    by.add(chunk)
                if totals is not None:
                    totals.add(chunk.cells)
                rows += chunk.n_rows
                bar.update(rows, table.fraction())
                for each in collectors:
                    each.add(chunk, sums)
                del chunk, sums  # frees memory before the next ones are read
            if not rows:
                raise TableError("the file has a header but no rows: there is nothing to release")
            require_rows(one.rows_per_person, rows, one.sensitivity)
            if by is not None:
                by.require_differing()
            if totals is not None and totals.total is not None:
                alone = alone_of(one, person)
                raise TableError(refusal_of_row(totals.total, alone, place=table.place))
    return replace(release, rows=rows, seconds=time.perf_counter() - start)
