"""Release the tables of a plan: all of them or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from .._inputs.source import Source
from .._system.atomic_file import atomic_write, no_op
from ..errors import OutputError, TableError
from ._arguments import checked_flag, file_path
from ._destination import checked_destination
from ._plan_file import PlanFile, named_in_errors, read_plan
from ._plan_plot import plan_picture
from ._plan_report import PlanRelease
from ._plot import Picture
from ._report import Release
from ._run import Plan, execute, plan_release

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
    output complete in a temporary file before the first output gets its name. If one cannot get
    it, those that did are removed; what they replaced (with force) is lost then.
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
    picture = None if plot is None else _checked_plot(plan, runs, file_path(plot, "plot"), force)
    done: list[Release] = []
    _together(plan, runs, done, source, before_placing, progress)
    found = PlanRelease(
        path=plan.path,
        shares=tuple(one.share for one in plan.tables),
        tables=tuple(reversed(done)),
        cost=plan.cost,
    )
    if picture is not None:
        try:
            drawn = plan_picture(found, [run.of_out for run in runs], picture.suffix.lower()[1:])
            with atomic_write(picture, replace=force) as write:
                write(drawn)
        except BaseException as error:
            error.add_note("the tables are written; the budget is spent")
            raise
    return found


def _runs(plan: PlanFile, *, force: bool) -> list[Plan]:
    runs = []
    for one, noise in zip(plan.tables, plan.noise, strict=True):
        with named_in_errors(one.where):
            runs.append(
                plan_release(
                    one.table,
                    one.column,
                    one.out,
                    rho=noise.rho,
                    epsilon=None,
                    delta=None,
                    sensitivity=one.sensitivity,
                    rows_per_person=one.rows_per_person,
                    disjoint=one.disjoint,
                    report_delta=noise.delta,
                    force=force,
                    plot=None,
                )
            )
    read = {Path(os.path.realpath(one.table)) for one in plan.tables}
    read.add(Path(os.path.realpath(plan.path)))
    written = set()
    for one, run in zip(plan.tables, runs, strict=True):
        if run.destination in read:
            raise OutputError(f"{one.where}: out is the plan itself, or a table that it reads")
        if run.destination in written:
            raise OutputError(f"{one.where}: out must be a file of its own")
        written.add(run.destination)
    return runs


def _checked_plot(plan: PlanFile, runs: Sequence[Plan], plot: Path, force: bool) -> Path:
    Picture.require(plot)
    found = checked_destination(plan.path, plot, force=force)
    used = {run.destination for run in runs}
    if found in used or found in {Path(os.path.realpath(one.table)) for one in plan.tables}:
        raise OutputError(f"{plot}: is a file of the plan; the plot must be another one")
    return found


def _together(
    plan: PlanFile,
    runs: Sequence[Plan],
    done: list[Release],
    source: Source,
    before_placing: Callable[[], None],
    progress: bool,
) -> None:
    """Release the tables, the last first: each gets its name when those after it have theirs.

    All are complete before any has its name: at the last moment before a table is placed, the next
    one is begun.
    """
    if not runs:
        before_placing()
        return
    first, rest = runs[0], runs[1:]
    where = plan.tables[len(plan.tables) - len(runs)].where
    is_written = False

    def others() -> None:
        nonlocal is_written
        is_written = True
        _together(plan, rest, done, source, before_placing, progress)

    try:
        done.append(execute(first, source, others, progress=progress))
    except BaseException as error:
        _take_back(rest[: len(done)] if len(done) == len(rest) else (), first, error)
        if isinstance(error, TableError) and not is_written:
            raise TableError(f"{where}: {error}") from None
        raise


def _take_back(placed: Sequence[Plan], failed: Plan, error: BaseException) -> None:
    """Remove what is placed, also the one whose placing was interrupted, and say what stays."""
    notes = getattr(error, "__notes__", [])
    gone = [run.destination for run in placed]
    if f"{failed.destination} is written" in notes:
        gone.append(failed.destination)
        notes[:] = [n for n in notes if n not in (f"{failed.destination} is written", _SPENT)]
    for path in gone:
        if path is not None:
            with suppress(FileNotFoundError):
                try:
                    path.unlink()
                except OSError:
                    error.add_note(f"{path} is written, and could not be removed; {_SPENT}")


_SPENT = "the budget is spent"
