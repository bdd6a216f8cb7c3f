"""Release the tables of a plan: all of them or none."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from .._inputs.source import Source
from .._system.atomic_file import NewFile, no_op, place_together
from .._system.signals import signals_deferred
from ..errors import OutputError, TableError
from ._arguments import checked_flag, file_path
from ._destination import checked_destination, exists_already
from ._formats import opened_table
from ._plan_file import PlanFile, PlannedTable, named_in_errors, read_plan
from ._plan_plot import PlanPicture
from ._plan_report import PlanRelease
from ._plot import Picture
from ._report import Release
from ._run import Plan, prepared, write_noisy

__all__ = ["execute_plan", "release_plan"]


def release_plan(
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    plot: str | os.PathLike[str] | None = None,
    progress: bool = False,
    source: Source = "getrandom",
) -> PlanRelease:
    """Add noise to the counts of several tables under one budget; write all of them or none.

    Parameters
    ----------
    path : str or os.PathLike of str
        A plan, in TOML: docs/plans.md has its keys. Files in it are relative to its folder.
    force : bool
        Whether to replace outputs that exist.
    plot : str or os.PathLike of str, optional
        Where to draw the noisy counts and the error of each table, as .png, .pdf or .svg. Needs
        matplotlib.
    progress : bool
        Whether a bar on stderr, if that is a terminal, says how far it is.
    source : "getrandom", "chacha20" or callable
        Where random bits come from.

    Returns
    -------
    PlanRelease
        What was done; printed, it is the report.

    Raises
    ------
    TableError, OutputError, TypeError, ValueError, OverflowError, ImportError, OSError
        As `release_table`; messages about the plan name the file and the table's number.
    KeyboardInterrupt
        At Ctrl-C.

    Notes
    -----
    Guarantee: the rho of the tables add up to the plan's, exactly. Every table is read and its
    output, and the plot, complete in a temporary file before the first gets its name. If one cannot
    get it, or Ctrl-C comes before, none has it, and with force the old files are there as before.
    Ctrl-C while they get their names waits: then all have them, and it has a note that says so.

    Not promised: all or none where the process is killed, or the power fails, while the files get
    their names, which takes some milliseconds.
    """
    return execute_plan(
        read_plan(path),
        force=checked_flag(force, "force"),
        plot=plot,
        progress=checked_flag(progress, "progress"),
        source=source,
    )


def execute_plan(
    plan: PlanFile,
    *,
    force: bool,
    plot: str | os.PathLike[str] | None,
    progress: bool,
    source: Source = "getrandom",
    before_placing: Callable[[], None] = no_op,
) -> PlanRelease:
    """Release the tables of a plan that is read; see `release.execute`."""
    runs = _runs(plan, force=force)
    files = [NewFile(cast("Path", run.destination), replace=force) for run in runs]
    picture = None
    if plot is not None:
        path = file_path(plot, "plot")
        files.append(NewFile(_checked_plot(plan, runs, path, force), replace=force))
        picture = PlanPicture(path.suffix.lower())
    tables = []
    try:
        try:
            for one, run, file in zip(plan.tables, runs, files, strict=False):  # and the plot
                tables.append(_write(one, run, file, source, picture, progress=progress))
            done = PlanRelease(
                path=plan.path,
                shares=tuple(one.share for one in plan.tables),
                tables=tuple(tables),
                cost=plan.cost,
            )
            if picture is not None:
                with files[-1].content() as write:
                    write(picture.drawn(done))
            before_placing()
            place_together(files)
            return done
        finally:
            with signals_deferred():
                for file in files:
                    file.discard()
    except FileExistsError as error:  # another release, since it was looked for
        raise exists_already(Path(error.filename)) from None
    except BaseException as error:
        if all(file.is_placed() for file in files):
            error.add_note("the tables of the plan are written; the budget is spent")
        raise


def _write(
    one: PlannedTable,
    run: Plan,
    file: NewFile,
    source: Source,
    picture: PlanPicture | None,
    *,
    progress: bool,
) -> Release:
    """Write a table under its temporary name."""
    start, release = time.perf_counter(), run.release
    watching = None if picture is None else picture.next_table()
    try:
        with (
            opened_table(release.table, release.columns, run.of_table, run.of_out) as table,
            file.content() as write,
        ):
            rows = write_noisy(run, table, write, source, watching, progress=progress)
            columns, others = table.columns, len(table.other_columns)
    except TableError as error:
        raise TableError(f"{one.where}: {error}") from None
    seconds = time.perf_counter() - start
    return replace(release, columns=columns, other_columns=others, rows=rows, seconds=seconds)


def _runs(plan: PlanFile, *, force: bool) -> list[Plan]:
    runs = []
    for one, noise in zip(plan.tables, plan.noise, strict=True):
        with named_in_errors(one.where):
            runs.append(
                prepared(noise, one.table, one.column, one.out, disjoint=one.disjoint, force=force)
            )
    return runs


def _checked_plot(plan: PlanFile, runs: Sequence[Plan], plot: Path, force: bool) -> Path:
    Picture.require(plot)
    found = checked_destination(plan.path, plot, force=force)
    used = {run.destination for run in runs}
    if found in used or found in {Path(os.path.realpath(one.table)) for one in plan.tables}:
        raise OutputError(f"{plot}: is a file of the plan; the plot must be another one")
    return found
