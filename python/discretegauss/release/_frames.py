"""Plans of frames. One statement about a person and one budget cover all tables."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from .._inputs.budget import Budget
from .._inputs.draw_arguments import CHACHA20, checked_source
from .._inputs.keywords import with_hints
from .._inputs.messages import describe
from .._inputs.numbers import checked_flag, positive
from .._inputs.source import Source
from ..data.addition import AddOptions, noisy, require_room
from ..data.cells import Container
from ..data.entry import open_container
from ..data.groups import require_counts
from ..data.labelled_table import LabelledTable
from ..errors import ParameterTypeError, ParameterValueError
from ..privacy.joint import NoiseOfTable
from ..privacy.ledger import Ledger, open_ledger, recorded
from ..selection import KeepRule
from ._calibration import Calibration, Cost, WithCost, calibrations, composed, part_of
from ._distinct_rows import require_grouped
from ._first_look import alone_by
from ._groupings import (
    TableOfPlan,
    Values,
    require_one_grouping,
    require_values,
    shared_keys,
    value,
)
from ._left_out import refuse_keys
from ._people.counts import Counts, count
from ._people.tallies import asked
from ._people.unknown_tables import unknown_tables
from ._person import Counted, Counting, Person, checked_counting, joint, require_person
from ._plan import column_names, named_in_errors, require_whole
from ._report import budget_text, noise_text, with_unknown_text


@dataclass(frozen=True, init=False)
class Table:
    """One table of a `Plan`: its columns, and the records that it counts.

    Parameters
    ----------
    by : str or sequence of str
        The columns by which the table groups the records, as in GROUP BY; [] if it has one row.
    columns : str or sequence of str, optional
        The columns of counts. If None, there is one column, and `Plan.add_noise` names it.
    across : str, optional
        The key whose values are the names of these columns, so each record is counted in one of
        them. Without it a record is counted in all.
    values : two integers, optional
        For sums: the range to which you have clipped what each record adds. No table can show it.
    counts : "records" or "people", optional
        "people": a person is counted once in a row, however many records there are.
    unknown : bool, optional
        Whether nobody can list the groups. `Plan.count` then counts the people of each group that
        occurs, and names those of enough people, by `selection.keep_rule`. The plan needs epsilon
        and delta.
    share : number, optional
        The table's share of rho or epsilon; with unknown tables that of delta, too. Give it for all
        tables or for none; by default all are equal.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.
    """

    columns: tuple[str, ...] | None
    share: Fraction | None
    counting: Counting
    unknown: bool

    @with_hints
    def __init__(
        self,
        by: str | Sequence[str],
        columns: str | Sequence[str] | None = None,
        *,
        across: str | None = None,
        values: Sequence[int] | None = None,
        counts: Counted = "records",
        unknown: bool = False,
        share: object = None,
    ) -> None:
        names = None if columns is None else column_names(columns)
        counting = checked_counting(
            by=by, columns=len(names or "1"), across=across, values=values, counts=counts
        )
        if checked_flag(unknown, "unknown"):
            if values is not None or across is not None or not counting.by:
                raise ParameterValueError(
                    "unknown needs columns in by, and neither values nor across, because the "
                    "people of each group are counted"
                )
            counting = replace(counting, counts="people")
        object.__setattr__(self, "unknown", unknown)
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "share", None if share is None else positive(share, "share"))
        object.__setattr__(self, "counting", counting)


class Plan(WithCost):
    """Tables of the same people under one budget. Printing it shows their noise and its cost.

    Parameters
    ----------
    person : Person
        The statement about the records of every person.
    tables : mapping of str to Table
        What each table counts.
    rho, epsilon, delta : number, optional
        The budget of all tables together. rho asks for Gaussian noise, and epsilon alone, which is
        pure, for Laplace noise. epsilon with delta takes the kind whose tables have the least
        product of standard deviations. Unknown tables need epsilon with delta, which shares divide.
    report_delta : number, optional
        With rho: the delta at which epsilon is reported; 1e-6 by default.

    Attributes
    ----------
    laws : dict of str to DiscreteGaussian or DiscreteLaplace
        The noise of each count of a table.
    noise : dict of str to Calibration
        The noise of each table with its cost.
    rules : dict of str to KeepRule
        Of each unknown table, which is not in `laws` and `noise`: which groups are kept.
    cost : Cost
        The cost of all tables together.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    `docs/person.md` has the derivation, and `docs/concepts/person.md` the proofs.

    Examples
    --------
    >>> import discretegauss as dg
    >>> person = dg.release.Person(3, distinct=["town", "age"])
    >>> tables = {
    ...     "nation": dg.release.Table(by=[]),
    ...     "cells": dg.release.Table(by=["town", "age"]),
    ... }
    >>> plan = dg.release.Plan(person, tables, rho="0.1")
    >>> plan.laws["nation"], plan.laws["cells"]
    (DiscreteGaussian(sigma2=90), DiscreteGaussian(sigma2=30))
    """

    cost: Cost

    @with_hints
    def __init__(
        self,
        person: Person,
        tables: Mapping[str, Table],
        *,
        rho: object = None,
        epsilon: object = None,
        delta: object = None,
        report_delta: object = None,
    ) -> None:
        require_person(person)
        if not isinstance(tables, Mapping):
            raise ParameterTypeError(
                f"tables must be a dict from names to release.Table, got {describe(tables)}"
            )
        for name, table in tables.items():
            if not isinstance(name, str):
                raise ParameterTypeError(f"tables must have strings as names, got {describe(name)}")
            if not isinstance(table, Table):
                raise ParameterTypeError(
                    f"tables[{name!r}] must be a release.Table, got {describe(table)}"
                )
        if not tables:
            raise ParameterValueError("tables must have at least one table, got none")
        self.person, self.tables = person, dict(tables)
        self._shares = [table.share for table in self.tables.values() if table.share is not None]
        if not self._shares:
            self._shares = [Fraction(1, len(self.tables))] * len(self.tables)
        if len(self._shares) < len(self.tables):
            raise ParameterValueError("share must be given for all tables or for none")
        require_whole(self._shares)
        budget = Budget(rho=rho, epsilon=epsilon, delta=delta)
        parts = dict(zip(self.tables, self._shares, strict=True))
        listed = {name: one for name, one in self.tables.items() if not one.unknown}
        unknown = {name: one for name, one in self.tables.items() if one.unknown}
        self._unknown = unknown_tables(
            person, {name: (one.counting, parts[name]) for name, one in unknown.items()}, budget
        )
        counting = [one.counting for one in listed.values()]
        changed = joint(person, counting, [one.counting for one in unknown.values()])
        self.noise: dict[str, Calibration] = {}
        self._of_listed: Cost | None = None
        own, part = budget, sum((parts[name] for name in listed), Fraction(0))
        if unknown:
            self.cost = composed(budget, report_delta)
        if unknown and listed:
            epsilon, delta = part_of(budget, part)
            own = Budget(epsilon=epsilon, delta=delta)
        if listed:
            shares = [parts[name] / part for name in listed]
            noise, cost = calibrations(own, changed, shares, report_delta, counting)
            self.noise, self._of_listed = dict(zip(listed, noise, strict=True)), cost
            if not unknown:
                self.cost = cost

    @property
    def laws(self) -> dict[str, NoiseOfTable]:
        """The noise of each count of a table."""
        return {name: one.law for name, one in self.noise.items()}

    @property
    def rules(self) -> dict[str, KeepRule]:
        """Which groups of an unknown table are kept."""
        return {name: one.rule for name, one in self._unknown.items()}

    def __str__(self) -> str:
        shares = [self._shares[list(self.tables).index(name)] for name in self.noise]
        listed = list(self.noise), shares, list(self.noise.values())
        if not self._unknown:
            return noise_text(*listed, self.cost, self.person)
        texts = [one.text(name) for name, one in self._unknown.items()]
        if self._of_listed is not None:
            texts.insert(0, noise_text(*listed, self._of_listed, None, "listed groups, "))
        return with_unknown_text(self.person, texts, self.cost, len(self.tables))

    @with_hints
    def add_noise(
        self,
        frames: Mapping[str, Any],
        columns: object = None,
        *,
        integral_floats: bool = False,
        ledger: str | os.PathLike[str] | Ledger | None = None,
        source: Source = CHACHA20,
    ) -> dict[str, Any]:
        """Return the tables with noise; `discretegauss.add_noise` does the same for one.

        Parameters
        ----------
        frames : mapping of str to frame
            Frames of pandas, polars or pyarrow: one for each name of the plan, and no others.
        columns : label, optional
            The one column of counts of those tables whose `Table` names none.
        integral_floats, source
            As for `discretegauss.add_noise`.
        ledger : str or os.PathLike of str or privacy.Ledger, optional
            The ledger of these people. The call is a line in it before anything is drawn, and is
            refused beyond the ledger's limit.

        Returns
        -------
        dict
            New frames, by the same names. A frame lacks the columns that another frame's table
            counts, because they would be published without noise.

        Raises
        ------
        TypeError, ValueError, OverflowError, OSError
            As `discretegauss.add_noise`, and LedgerError as `release_table`. Also if frames are not
            those of the plan, if a column of `by` is missing or is counted by another table, or if
            two rows are one group. All tables are checked before anything is drawn.

        Notes
        -----
        Each call spends the budget again. The rows of a table are published as they are, so list
        every group, whether anybody is in it or not.
        """
        if not isinstance(frames, Mapping):
            raise ParameterTypeError(
                f"frames must be a dict from names to frames, got {describe(frames)}"
            )
        if set(frames) != set(self.tables):
            names = ", ".join(map(repr, self.tables))
            raise ParameterValueError(f"frames must have the names of the plan's tables, {names}")
        how, ledger = (
            AddOptions(floats=integral_floats, source=checked_source(source)),
            open_ledger(ledger),
        )
        if self._unknown:
            raise ParameterValueError(
                f"tables[{min(self._unknown)!r}] has unknown groups, which Plan.count counts"
            )
        laws, opened = self.laws, dict[str, tuple[LabelledTable, Container]]()
        counted, values = list[TableOfPlan](), list[Values]()
        shared = shared_keys(table.counting for table in self.tables.values())
        for name, table in self.tables.items():
            with named_in_errors(f"frames[{name!r}]"):
                frame, one = opened[name] = _open(frames[name], table, columns, integral_floats)
                alone = alone_by(self.person, table.counting)
                require_counts(frame.table, one, alone, table.counting.by)
                require_room(one.cells, laws[name])
            counted.append((f"frames[{name!r}]", table.counting, [str(x.label) for x in one.cells]))
            keys = [key for key in table.counting.by if key in shared]
            values.append({key: set(map(value, frame.distinct(key))) for key in keys})
        labels = {name: [x.label for x in one.cells] for name, (_, one) in opened.items()}
        every, tables = {label for of_one in labels.values() for label in of_one}, {}
        for name, (frame, one) in opened.items():
            others = every.difference(labels[name])
            with named_in_errors(f"frames[{name!r}]"):
                refuse_keys(self.tables[name].counting, others)
                tables[name] = one
                if _has_any(frame, others):
                    rest = frame.without(others)
                    tables[name] = open_container(rest, labels[name], floats=integral_floats)
        require_values(counted)
        require_one_grouping(counted, values)
        with self._recorded(ledger):
            return {
                name: one.close(noisy(one.cells, laws[name], how)) for name, one in tables.items()
            }

    def _recorded(self, ledger: Ledger | None) -> AbstractContextManager[object]:
        """Write the line of a call, if there is a ledger, before the block draws."""
        laws = self.laws | {name: rule.law for name, rule in self.rules.items()}
        what = {
            "tables": [{"table": name, "law": repr(law)} for name, law in laws.items()],
            "person": str(self.person),
        }
        of_person = self.person.neighbours
        return recorded(ledger, what=what, neighbours=of_person, **self.cost.of_ledger)

    @with_hints
    def count(
        self,
        people: Any,
        categories: Mapping[Any, Iterable[Any]] | None = None,
        *,
        consistent: bool = False,
        confidence: object = 0.95,
        source: Source = CHACHA20,
        ledger: str | os.PathLike[str] | Ledger | None = None,
    ) -> Counts:
        """Count the records of people, and add noise.

        Parameters
        ----------
        people : frame
            One row for each record: a frame of pandas, polars (a LazyFrame, too), pyarrow, DuckDB,
            Spark or Dask. Needs narwhals.
        categories : mapping
            For each column in `by` all of its values, in the order of the result; for columns that
            belong together, such as ("state", "town"), all combinations. Choose them without a look
            at the records. A list of pairs (low, high) puts numbers into bins, low <= number <
            high; None at the ends is no limit. None is a null, `...` all that is not listed.
        consistent : bool, optional
            Make tables of records add up, and those that sum the same column, by
            `estimate.consistent`.
        confidence : number, optional
            The probability that an interval holds its number.
        source : "getrandom", "chacha20" or callable, optional
            The source of bits for the noise and for the choice of records.
        ledger : str or os.PathLike of str or privacy.Ledger, optional
            As for `add_noise`.

        Returns
        -------
        Counts
            A mapping from names to frames; print it for the sentences to publish.

        Raises
        ------
        TypeError, ValueError, OverflowError, OSError, ImportError
            If people or categories are wrong, or narwhals is missing. Nothing was drawn.

        Notes
        -----
        Each call spends the budget again. Of a person with more records than `Person` says, chance
        decides which are kept: all have the same chance, and first those count that agree in
        `distinct`. Without `Person.id` all are counted, and the statement is a promise.

        A record is counted in no table if a column of any `by` has a value that is not listed. A
        column of an unknown table needs no list; then a null is a group, too. A `Table` with
        `values` sums the column of people that its `columns` names, clipped to them; a null adds 0.
        """
        tables = [
            asked(name, one.counting, one.columns, self.person, unknown=one.unknown)
            for name, one in self.tables.items()
        ]
        return count(
            people,
            self.person,
            tables,
            self.laws,
            budget_text(self.cost),
            categories,
            partial(self._recorded, open_ledger(ledger)),
            consistent=consistent,
            confidence=confidence,
            source=source,
            unknown=self._unknown,
        )


def _has_any(table: LabelledTable, labels: Collection[Any]) -> bool:
    """Return whether a table has columns of these labels; refuse an index that has them."""
    for level in table.levels():
        if level in labels:
            raise ParameterValueError(
                f"the index must not have the level {describe(level)}, which another table of the "
                "plan counts: it would be published without noise"
            )
    return any(label in labels for label in table.labels())


def _open(
    frame: Any, table: Table, columns: object, floats: bool
) -> tuple[LabelledTable, Container]:
    """Open a frame; refuse it if it does not have what its table says."""
    labelled = LabelledTable(frame, "the table")
    if isinstance(labelled.table, dict):
        raise ParameterTypeError(
            "the table must be a frame of pandas, polars or pyarrow, got a dict"
        )
    names = columns if table.columns is None else list(table.columns)
    if names is None:
        raise ParameterValueError(
            "columns must name the column of counts, in this call or in its Table"
        )
    values = open_container(labelled.table, names, floats=floats)
    if values.n_columns != table.counting.columns:
        raise ParameterValueError(
            f"columns must name one column, got {values.n_columns}; only a Table with columns= may "
            "have several"
        )
    require_grouped(labelled, table.counting.by, [one.label for one in values.cells])
    return labelled, values
