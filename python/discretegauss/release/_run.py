"""Release a table of counts with differential privacy: read, calibrate, add noise, write."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from .._inputs.numbers import whole_number
from .._inputs.source import Source
from .._system.atomic_file import atomic_write, no_op
from .._system.progress import Progress
from ..errors import OutputError, TableError
from ._arguments import checked_flag, column_names, file_path, sensitivity_of_counts
from ._destination import checked_destination, exists_already, written_to_stdout
from ._files import compressed
from ._formats import Format, formats_of, opened_table
from ._interface import Chunk, Sink, Table
from ._noise import with_noise
from ._noise_for_budget import Calibration, calibration
from ._plot import Picture
from ._report import Release

__all__ = ["OutputError", "Release", "TableError", "release_table"]


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
    report_delta: object = None,
    force: bool = False,
    plot: str | os.PathLike[str] | None = None,
    progress: bool = False,
    source: Source = "getrandom",
) -> Release:
    """Add discrete Gaussian noise to columns of counts and write the table to another file.

    Parameters
    ----------
    table : str or os.PathLike of str
        A table with a header. Its name says what it is: Parquet (.parquet, .pq), Arrow IPC
        (.arrow, .feather, .ipc), an array of numpy (.npy), text with tabs (.tsv, .tab), else text
        with commas. Text is UTF-8; it and arrays may be compressed (.gz, .zst). Parquet and Arrow
        need pyarrow.
    column : str or sequence of str
        The name of the column of counts, or the names of several. Each count gets its own draw. The
        columns of an array are "0", "1" and so on.
    out : str or os.PathLike of str
        Where to write; another file than table, in its format, or one that is named likewise.
    rho : number, optional
        The zCDP budget, for all columns together. Either rho, or both of epsilon and delta.
    epsilon, delta : number, optional
        The (epsilon, delta) budget, for all columns together.
    sensitivity : number
        The most that one person changes one count, at least 1; with epsilon and delta a whole
        number. With rho it may also be the Euclidean norm of all that one person changes in a
        column, rounded up to a number that is not whole, and rows_per_person 1.
    rows_per_person : int
        The most rows in which one person changes counts.
    disjoint : bool
        Whether nobody changes counts in two of the columns. If not, one person is taken to change
        rows_per_person counts in each.
    report_delta : number, optional
        With rho: the delta at which epsilon is reported; 1e-6 by default.
    force : bool
        Whether to replace ``out`` and ``plot`` if they exist. The mode gets no wider; owner, group
        and access control list are those of a new file.
    plot : str or os.PathLike of str, optional
        Where to draw the noisy counts and their error bars, as .png, .pdf or .svg; no true count is
        in it. Needs matplotlib.
    progress : bool
        Whether a bar on stderr, if that is a terminal, says how far it is.
    source : "getrandom", "chacha20" or callable
        Where random bits come from.

    Returns
    -------
    Release
        What was done, to be kept beside the table; printed, it is the report.

    Raises
    ------
    TableError
        If the file is not a table with whole numbers in these columns. This error and the next are
        in `discretegauss.errors`, too.
    OutputError
        If out is the table itself, exists without force, is not a regular file, or is the file
        that stdout or stderr goes to.
    TypeError, ValueError, OverflowError
        If a parameter is wrong: `discretegauss.errors.ParameterTypeError` and so on.
    ImportError
        If the format needs pyarrow, or the plot matplotlib, which is not there.
    OSError
        If a file cannot be read or written, or (EntropyError) there is no randomness.
    KeyboardInterrupt
        At Ctrl-C. If it came when ``out`` was in its place, it has notes (``__notes__``) that say
        so: the release is made, and the budget is spent. Just as the function returns, it may come
        without; whether ``out`` is there (with force: is another file) tells at any time.

    Notes
    -----
    Guarantee: noisy count = count + draw, in exact integers of any size; the draws are independent
    and have the law N_Z(0, sigma2); whatever fails, ``out`` is written whole or left as it was.
    Memory does not grow with the table; of Parquet one row group is held at a time.

    Not promised: anything about what the noise does not touch. The rows of the table, and all other
    columns, are published as they are, so they must not depend on the people counted; nor must
    the order of the rows: a table sorted by its counts publishes their true ranking.
    """
    progress = checked_flag(progress, "progress")
    plan = plan_release(
        table,
        column,
        out,
        rho=rho,
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity,
        rows_per_person=rows_per_person,
        disjoint=disjoint,
        report_delta=report_delta,
        force=force,
        plot=plot,
    )
    return execute(plan, source, progress=progress)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A release whose parameters are right. No table is read yet."""

    release: Release
    """As it will be, except for the rows and the time that it takes."""
    of_table: Format
    of_out: Format
    destination: Path | None
    """``out`` with links resolved; None: stdout."""
    plot: Path | None
    """Likewise."""
    force: bool
    start: float


def plan_release(
    table: str | os.PathLike[str],
    column: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    to_stdout: bool = False,
    rho: object,
    epsilon: object,
    delta: object,
    sensitivity: object,
    rows_per_person: int,
    disjoint: bool,
    report_delta: object,
    force: bool,
    plot: str | os.PathLike[str] | None,
) -> Plan:
    """Do what comes before the table is read; the parameters are those of `release_table`.

    ``to_stdout``: what is written goes there, and ``out`` is only its name.
    """
    columns = column_names(column)
    table, out = file_path(table, "table"), file_path(out, "out")
    force, disjoint = checked_flag(force, "force"), checked_flag(disjoint, "disjoint")
    rows = whole_number(rows_per_person, "rows_per_person", minimum=1)
    noise = calibration(
        rho=rho,
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity_of_counts(sensitivity),
        queries=rows if disjoint else rows * len(columns),
        report_delta=report_delta,
    )
    return prepared(
        noise,
        table,
        columns,
        out,
        to_stdout=to_stdout,
        disjoint=disjoint,
        force=force,
        plot=None if plot is None else file_path(plot, "plot"),
    )


def prepared(
    noise: Calibration,
    table: Path,
    columns: tuple[str, ...],
    out: Path,
    *,
    to_stdout: bool = False,
    disjoint: bool,
    force: bool,
    plot: Path | None = None,
) -> Plan:
    """Return a release with this noise, if files may be written so."""
    start = time.perf_counter()
    of_table, of_out = formats_of(table, table if to_stdout else out)
    destination = None if to_stdout else checked_destination(table, out, force=force)
    picture = None
    if plot is not None:
        picture = checked_destination(table, plot, force=force)
        Picture.require(plot)
        if picture == destination:
            raise OutputError(f"{plot}: is the output itself; the plot must be another file")
    release = Release(
        **vars(noise),
        table=table,
        columns=columns,
        out=out,
        rows=0,
        other_columns=0,
        disjoint=disjoint,
        seconds=0.0,
    )
    return Plan(
        release=release,
        of_table=of_table,
        of_out=of_out,
        destination=destination,
        plot=picture,
        force=force,
        start=start,
    )


def execute(
    plan: Plan,
    source: Source = "getrandom",
    before_placing: Callable[[], None] = no_op,
    *,
    progress: bool = False,
) -> Release:
    """Read, draw and write. ``before_placing`` is called when all is done but giving the name."""
    release, rows = plan.release, 0
    try:
        with (
            opened_table(plan.release.table, release.columns, plan.of_table, plan.of_out) as table,
            _output(plan, before_placing) as write,
        ):
            release = replace(
                release, columns=table.columns, other_columns=len(table.other_columns)
            )
            picture = Picture(plan.plot, release, table.other_columns) if plan.plot else None
            rows = write_noisy(plan, table, write, source, picture, progress=progress)
            drawing = picture.drawn() if picture is not None else b""
    except FileExistsError:  # another release, since it was looked for
        raise exists_already(release.out) from None
    except BaseException as error:
        if f"{plan.destination} is written" in getattr(error, "__notes__", []):
            error.add_note("the budget is spent")
        raise
    if plan.plot is not None:
        _write_plot(plan.plot, drawing, plan)
    return replace(
        release,
        rows=rows,
        seconds=time.perf_counter() - plan.start,
    )


def write_noisy(
    plan: Plan,
    table: Table,
    sink: Sink,
    source: Source,
    watching: Watching | None,
    *,
    progress: bool,
) -> int:
    """Write the table with noise on its counts, and return how many rows it has."""
    rows, law = 0, plan.release.law
    with (
        Progress("rows", show=progress) as bar,
        compressed(sink, plan.of_out.compression) as inner,
        table.writer(inner) as writer,
    ):
        for chunk in table.chunks():
            noisy = with_noise(chunk.counts, law, source)
            writer.write(chunk, noisy)
            rows += len(noisy)
            bar.update(rows, table.fraction())
            if watching is not None:
                watching.add(chunk, noisy)
            del chunk, noisy  # before the next ones are read
        if not rows:
            raise TableError("the file has a header but no rows: there is nothing to release")
    return rows


class Watching(Protocol):
    """What is shown the noisy counts while they are written."""

    def add(self, chunk: Chunk, noisy: NDArray[Any]) -> None:
        """Look at the next rows."""


def _write_plot(path: Path, drawing: bytes, plan: Plan) -> None:
    try:
        with atomic_write(path, replace=plan.force) as write:
            write(drawing)
    except BaseException as error:
        error.add_note(f"{plan.release.out} is written; the budget is spent")
        raise


def _output(plan: Plan, before_placing: Callable[[], None]) -> AbstractContextManager[Sink]:
    if plan.destination is None:
        return written_to_stdout()
    return atomic_write(plan.destination, replace=plan.force, before_placing=before_placing)
