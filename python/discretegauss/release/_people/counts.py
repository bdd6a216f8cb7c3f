"""Noisy tables of people: counted, drawn once, and put into frames of the people's own library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._inputs.decimal_text import rounded
from ..._inputs.draw_arguments import checked_source
from ..._inputs.messages import describe, printable
from ..._inputs.numbers import checked_flag
from ..._inputs.privacy_arguments import checked_probability
from ..._inputs.source import Source
from ...data.addition import AddOptions, noisy, require_room
from ...data.cells import Cells
from ...errors import ParameterOverflowError, ParameterValueError
from ...estimate import consistent as made_consistent
from ...estimate import interval
from ...estimate import share as _share
from ...laws import Law
from ...sampling import uniform_below
from .._person import Person
from .categories import Categories
from .query import narwhals, open_people
from .tallies import OURS, Asked, sums_of, tallies
from .unknown_tables import UnknownTable

_EXACT = 2**52
"""Below it, a number and its noise are exact floats, which `consistent` computes with."""

Columns = dict[str, Any]


class Noisy(NamedTuple):
    """A noisy table, each number with its own draw: the keys of its rows, and what it counts."""

    keys: Columns
    label: str
    drawn: NDArray[np.int64]
    law: Law
    column: str | None
    counts: str


class Counts(Mapping[str, Any]):
    """Noisy tables of people, by their names in the plan. Printing shows the sentences to publish.

    Each is a frame of the people's own library (of DuckDB and Spark: of pyarrow; of Dask: of
    pandas). It has the columns of `by` with all combinations of the categories, the noisy number
    `n` (of a sum: the name of its column), its standard error "error", and an interval, "low" and
    "high", for the number of records that are kept.

    A table of unknown groups has the groups that are kept, in the order of their keys, and the
    noisy number of people. It has no intervals, because only large numbers are shown.
    """

    def __init__(
        self,
        frames: Mapping[str, Any],
        sentences: Sequence[str],
        noisy_tables: Mapping[str, Noisy],
        sure: Fraction,
    ) -> None:
        self._frames, self._sentences = dict(frames), list(sentences)
        self._noisy, self._sure = noisy_tables, sure

    def __getitem__(self, name: str) -> Any:
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def share(self, name: str, of: Sequence[str] = ()) -> Any:
        """Return the share of each row of a table in the rows that agree with it, with an interval.

        Parameters
        ----------
        name : str
            A table of this result.
        of : list of str, optional
            The columns in which rows of one whole agree: ``["town"]`` for shares within a town.
            None: the whole is the sum of all rows.

        Returns
        -------
        frame
            The table with its numbers, "share", and of the share "error", "low" and "high"
            (`discretegauss.estimate.share`). If another table of the plan counts the same by the
            columns `of`, its draws help. Numbers are those of the result. The shares are of the
            noisy numbers before all tables were made to add up.
        """
        if name not in self._noisy:
            raise ParameterValueError(
                f"name must be one of {', '.join(map(repr, self._noisy))}, got {describe(name)}"
            )
        table, columns = self._noisy[name], list(of) if not isinstance(of, str) else [of]
        whole = [
            one
            for one in self._noisy.values()
            if {*one.keys} == {*columns} < {*table.keys}
            and (one.column, one.counts) == (table.column, "records") == (one.column, table.counts)
        ]
        given = [table, *whole[:1]]
        shares = _share(
            [{**one.keys, table.label: one.drawn.tolist()} for one in given],
            [one.law for one in given],
            table.label,
            of=columns,
            confidence=self._sure,
        )
        nw = narwhals()
        found = nw.from_native(self._frames[name])
        shares[table.label] = found[table.label]  # as in the result, where tables may add up
        return nw.from_dict(shares, backend=found.implementation).to_native()

    def __str__(self) -> str:
        return "\n".join(self._sentences)

    def __repr__(self) -> str:
        return f"<Counts of {', '.join(map(repr, self._frames))}; print shows what to publish>"


def count(
    people: Any,
    person: Person,
    tables: Sequence[Asked],
    laws: Mapping[str, Law],
    cost: str,
    categories: object,
    recorded: Callable[[], AbstractContextManager[object]],
    *,
    consistent: object,
    confidence: object,
    source: Source,
    unknown: Mapping[str, UnknownTable],
) -> Counts:
    """Count people and add noise; see `Plan.count`.

    laws has the noise of the listed tables, and unknown has all others. cost is the text about the
    budget. `recorded` makes the block that draws a line in a ledger.
    """
    adding_up = checked_flag(consistent, "consistent")
    sure = checked_probability(confidence, "confidence")
    bits = checked_source(source)
    every, tables = tables, [one for one in tables if not one.unknown]
    if adding_up and unknown:
        raise ParameterValueError(
            f"consistent must be False for a plan with unknown groups, such as {min(unknown)!r}, "
            "because a group that is not kept is missing in every sum: use two plans"
        )
    needed, free = (
        [key for one in every if one.unknown == is_free for key in one.counting.by]
        for is_free in (False, True)
    )
    listed = Categories({} if categories is None else categories, needed, free)
    sums_of(tables)
    rows = {one.name: listed.keys(one.counting.by) for one in tables}
    groups = _adding_up(tables, person) if adding_up else []
    for group in groups:  # what it refuses of noisy counts it refuses of zeros
        zeros = {x.name: np.zeros(listed.n_rows(x.counting.by), np.int64) for x in group}
        _fitted(group, laws, rows, zeros, sure)
    frame = open_people(people)
    library = frame.implementation
    found_in = tallies(
        frame, person, every, listed, lambda ids, *_: uniform_below(2**63, ids.size, source=bits)
    )
    nw, backend = narwhals(), _library_of_result(library)
    of_unknown = {
        one.name: (_in_library(tally.keys, backend), tally.total, one.label)
        for one, tally in zip(every, found_in, strict=True)
        if one.unknown
    }
    truths = [tally.total for tally in found_in if tally.keys is None]
    for one, truth in zip(tables, truths, strict=True):
        require_room([Cells(truth)], laws[one.name])
        if groups and int(np.abs(truth).max()) >= _EXACT:
            raise ParameterOverflowError("sums must be below 2**52 to be made consistent")
    drawn = {}
    with recorded():
        for one, truth in zip(tables, truths, strict=True):
            drawn[one.name] = noisy([Cells(truth)], laws[one.name], AddOptions(source=bits))[0]
        kept = {name: unknown[name].kept(*of_unknown[name], bits) for name in unknown}
    del truths, found_in, of_unknown
    found = {one.name: _alone(one, laws[one.name], drawn[one.name], sure) for one in tables}
    for group in groups:
        found |= _fitted(group, laws, rows, drawn, sure)
    frames = kept | {
        name: nw.from_dict({**rows[name], **columns}, backend=backend).to_native()
        for name, columns in found.items()
    }
    noisy_tables = {
        x.name: Noisy(
            rows[x.name], x.label, drawn[x.name], laws[x.name], x.column, x.counting.counts
        )
        for x in tables
    }
    sentences = _sentences(
        tables,
        laws,
        unknown,
        person,
        cost,
        sure,
        has_lists=bool(listed.dimensions),
        is_consistent=bool(groups),
    )
    return Counts({one.name: frames[one.name] for one in every}, sentences, noisy_tables, sure)


def _library_of_result(library: Any) -> Any:
    if library.is_pandas() or library.is_polars():
        return library
    return "pandas" if library.is_dask() else "pyarrow"


def _in_library(keys: Any, backend: Any) -> Any:
    """Return keys as a frame of narwhals of the result's library."""
    if backend == "pyarrow" and not keys.implementation.is_pyarrow():
        return narwhals().from_native(keys.to_arrow(), eager_only=True)
    return keys


def _alone(one: Asked, law: Law, drawn: NDArray[np.int64], sure: Fraction) -> Columns:
    """Return a table's columns of numbers, each with its own draw."""
    low, high = interval(drawn, law, sure, at_least=_least(one))
    error = np.full(drawn.size, float(law.std()))
    return {one.label: drawn, "error": error, "low": low, "high": high}


def _least(one: Asked) -> int | None:
    """Return a bound below all true numbers of a table."""
    values = one.counting.values
    return 0 if values is None or values[0] >= 0 else None


def _adding_up(tables: Sequence[Asked], person: Person) -> list[list[Asked]]:
    """Return the tables that add up, or refuse them: those of records, and of each sum.

    People who are counted once in each of several rows are counted once in their sum.
    """
    groups: dict[str | None, list[Asked]] = {}
    for one in tables:
        if one.counting.counts == "records" or person.records == 1:
            groups.setdefault(one.column, []).append(one)
    for group in groups.values():
        keys = set[str]().union(*(one.counting.by for one in group))
        if all(keys - set(one.counting.by) for one in group):
            names = ", ".join(repr(one.name) for one in group)
            raise ParameterValueError(
                f"consistent needs a table by {', '.join(sorted(keys))}, the finest, of which "
                f"{names} are sums"
            )
    return list(groups.values())


def _fitted(
    group: Sequence[Asked],
    laws: Mapping[str, Law],
    rows: Mapping[str, Columns],
    drawn: Mapping[str, NDArray[np.int64]],
    sure: Fraction,
) -> dict[str, Columns]:
    """Return the columns of numbers of tables that are made to add up."""
    label, of_group = group[0].label, [laws[one.name] for one in group]
    # tables may have different names for their numbers
    noisy_tables = [{**rows[one.name], label: drawn[one.name].tolist()} for one in group]
    found = {}
    added_up = made_consistent(noisy_tables, of_group, label, confidence=sure)
    for one, table in zip(group, added_up, strict=True):
        value, error, low, high = (np.array(table[x]) for x in (label, *OURS))
        if _least(one) is not None:
            low, high = np.maximum(low, 0), np.maximum(high, 0)
        found[one.name] = {one.label: value, "error": error, "low": low, "high": high}
    return found


def _sentences(
    tables: Sequence[Asked],
    laws: Mapping[str, Law],
    unknown: Mapping[str, UnknownTable],
    person: Person,
    cost: str,
    sure: Fraction,
    *,
    has_lists: bool,
    is_consistent: bool,
) -> list[str]:
    """Return what is to be published with the tables."""
    kept = "This is a promise: it was not checked, as no column says whose records they are."
    if person.id is not None:
        kept = (
            f"More records of one {person.id} were not counted: which ones, chance decided. "
            "Numbers and intervals are about the records that were kept."
        )
    kinds = sorted(
        {_kind(law) for law in [*laws.values(), *(x.rule.law for x in unknown.values())]}
    )
    lines = [
        f"Noise of the {' and the '.join(kinds)} law was added to each number, once.",
        f"All tables together have differential privacy: {cost}.",
        f"It protects everybody with {person}.",
        kept,
    ]
    if has_lists:
        lines.append("Records with a value that is not listed are not counted.")
    if is_consistent:
        lines.append("The tables were made to add up, from their noisy numbers alone.")
    for one in tables:
        law, name = laws[one.name], one.name
        radius = int(law.isf((1 - sure) / 2))
        lines.append(
            f"{name}: the noise has a standard deviation of {rounded(Fraction(float(law.std())))}, "
            f"and is within -{radius} .. {radius} with a probability of {float(sure):.6g}."
        )
    lines += [one.sentence(name) for name, one in unknown.items()]
    return [printable(line) for line in lines]


def _kind(law: object) -> str:
    """Return a law's name, which begins with a small letter: discrete Gaussian."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(law).__name__)
    return words[0].lower() + words[1:]
