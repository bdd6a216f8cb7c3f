"""Release a table of counts with differential privacy: read, calibrate, add noise, write."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from .._inputs.foreign_arrays import single
from .._inputs.messages import describe
from .._inputs.numbers import exact_rational, whole_number
from .._inputs.paths import named_path
from .._inputs.source import Source
from .._system.atomic_file import atomic_write, no_op
from ..errors import OutputError, ParameterTypeError, ParameterValueError, TableError
from ._csv_column import BLANKS, CountTable, read_counts
from ._noise_for_budget import Calibration, calibration

__all__ = ["OutputError", "Release", "TableError", "release_table"]

_INT64_UP_TO = 2**112
"""Up to this sigma2, P(a draw does not fit int64) < exp(-2**13); beyond, objects."""


@dataclass(frozen=True, kw_only=True)
class Release(Calibration):
    """What a release did. Every field except ``seconds`` is independent of the counts' values.

    One answer is one row: ``queries`` is the rows that one person changes.
    """

    table: Path
    column: str
    out: Path
    rows: int
    other_columns: int
    """Of the table; they are published as they stand."""
    seconds: float


def release_table(
    table: str | os.PathLike[str],
    column: str,
    out: str | os.PathLike[str],
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    rows_per_person: int = 1,
    report_delta: object = None,
    force: bool = False,
    source: Source = "getrandom",
) -> Release:
    """Add discrete Gaussian noise to a column of counts and write the table to another file.

    Parameters
    ----------
    table : str or os.PathLike of str
        A table with a header, UTF-8, delimited by commas, or tabs if its name ends in .tsv or
        .tab.
    column : str
        The name of the column of counts. Every byte outside it is written as it was read, but for
        blank lines at the end; of its cells nothing is kept, not their spaces and quotes either,
        nor spaces around the name.
    out : str or os.PathLike of str
        Where to write; another file than table.
    rho : number, optional
        The zCDP budget. Either rho, or both of epsilon and delta.
    epsilon, delta : number, optional
        The (epsilon, delta) budget.
    sensitivity : number
        The most that one person changes one count, at least 1; with epsilon and delta a whole
        number. With rho it may also be the Euclidean norm of all that one person changes,
        rounded up to a number that is not whole, and rows_per_person 1.
    rows_per_person : int
        The most rows of which one person changes the count.
    report_delta : number, optional
        With rho: the delta at which epsilon is reported; 1e-6 by default.
    force : bool
        Whether to replace ``out`` if it exists. The mode gets no wider; owner, group and access
        control list are those of a new file.
    source : "getrandom" or callable
        Where random bits come from.

    Returns
    -------
    Release
        What was done, to be kept beside the table.

    Raises
    ------
    TableError
        If the file is not a table with whole numbers in that column, or its layout tells how many
        digits they have. This error and the next are in `discretegauss.errors`, too.
    OutputError
        If out is the table itself, exists without force, is not a regular file, or is the file
        that stdout or stderr goes to.
    TypeError, ValueError, OverflowError
        If a parameter is wrong: `discretegauss.errors.ParameterTypeError` and so on.
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

    Not promised: anything about what the noise does not touch. The rows of the table, and all other
    columns, are published as they are, so they must not depend on the people counted; nor must
    the order of the rows: a table sorted by its counts publishes their true ranking.
    """
    plan = plan_release(
        table,
        column,
        out,
        rho=rho,
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity,
        rows_per_person=rows_per_person,
        report_delta=report_delta,
        force=force,
    )
    return execute(plan, source)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A release of which all that can be wrong was looked at. Nothing is drawn yet."""

    release: Release
    """As it will be, except for the time that it takes."""
    destination: Path
    """``out`` with links resolved."""
    counts: CountTable
    force: bool
    start: float


def plan_release(
    table: str | os.PathLike[str],
    column: str,
    out: str | os.PathLike[str],
    *,
    rho: object,
    epsilon: object,
    delta: object,
    sensitivity: object,
    rows_per_person: int,
    report_delta: object,
    force: bool,
) -> Plan:
    """Do what comes before the first draw; the parameters are those of `release_table`."""
    start = time.perf_counter()
    if not isinstance(column, str):
        raise ParameterTypeError(f"column must be a string, got {type(column).__name__}")
    if not column.strip(BLANKS):  # an unset variable of a shell, say, and an index without a name
        raise ParameterValueError(f"column must not be empty, got {describe(column)}")
    table, out = _path(table, "table"), _path(out, "out")
    if not isinstance(force, bool):
        raise ParameterTypeError(f"force must be True or False, got {describe(force)}")
    noise_for_budget = calibration(
        rho=rho,
        epsilon=epsilon,
        delta=delta,
        sensitivity=_of_counts(sensitivity),
        queries=whole_number(rows_per_person, "rows_per_person", minimum=1),
        report_delta=report_delta,
    )
    destination = _checked_destination(table, out, force=force)
    counts = read_counts(table, column)
    release = Release(
        **vars(noise_for_budget),
        table=table,
        column=column,
        out=out,
        rows=len(counts.counts),
        other_columns=counts.other_columns,
        seconds=0.0,
    )
    return Plan(release=release, destination=destination, counts=counts, force=force, start=start)


def execute(
    plan: Plan, source: Source = "getrandom", before_placing: Callable[[], None] = no_op
) -> Release:
    """Draw and write. ``before_placing`` is called when all is done but giving the name."""
    law, counts = plan.release.law, plan.counts.counts
    try:
        with atomic_write(
            plan.destination, replace=plan.force, before_placing=before_placing
        ) as write:
            dtype = np.int64 if law.sigma2 <= _INT64_UP_TO else object
            drawn = law.sample(len(counts), dtype=dtype, source=source)
            noise = drawn.tolist()  # Python integers, whose sums neither wrap nor round
            noisy = [count + draw for count, draw in zip(counts, noise, strict=True)]
            write(plan.counts.with_counts(noisy))
    except FileExistsError:  # another release, since it was looked for
        raise _exists_already(plan.release.out) from None
    except BaseException as error:
        if f"{plan.destination} is written" in getattr(error, "__notes__", []):
            error.add_note("the budget is spent")
        raise
    return replace(plan.release, seconds=time.perf_counter() - plan.start)


def _checked_destination(table: Path, out: Path, *, force: bool) -> Path:
    """Where the output goes, links resolved, if it may go there."""
    destination = Path(os.path.realpath(out))
    if not destination.exists():
        if out.exists():  # a pipe, say, as /dev/stdout, whose link in /proc names no place
            raise OutputError(f"{out}: exists and is not a regular file")
        if not destination.parent.is_dir():
            raise OutputError(f"{out}: there is no such folder to write to")
        return destination
    if table.exists() and destination.samefile(table):
        raise OutputError(f"{out}: is the table itself; the output must be another file")
    if not destination.is_file():
        raise OutputError(f"{out}: exists and is not a regular file")
    for number, stream in ((1, "stdout"), (2, "stderr")):
        if _is_open_as(number, destination):  # and what is printed there would be replaced, too
            raise OutputError(f"{out}: is what {stream} goes to; the output must be another file")
    if not force:
        raise _exists_already(out)
    return destination


def _path(value: object, name: str) -> Path:
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str):  # bytes, of a path or alone
        raise ParameterTypeError(
            f"{name} must be a path, a str or os.PathLike of one, got {type(value).__name__}"
        )
    return named_path(text, name, "a file")


def _of_counts(sensitivity: object) -> Fraction:
    exact = exact_rational(sensitivity, "sensitivity")
    if exact < 1:
        raise ParameterValueError(
            "sensitivity must be at least 1, as counts change by whole numbers, "
            f"got {describe(single(sensitivity))}"
        )
    return exact


def _is_open_as(number: int, path: Path) -> bool:
    """Return whether the file at the path is what the process has open by that number."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except OSError:  # nothing is open so
        return False


def _exists_already(out: Path) -> OutputError:
    return OutputError(
        f"{out}: exists already; use --force (in Python: force=True) to replace it, "
        "and mind that a second release of the same counts spends the budget again"
    )
