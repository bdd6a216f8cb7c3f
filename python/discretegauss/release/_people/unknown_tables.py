"""Tables of a plan whose groups nobody listed: their part of the budget, and what is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..._inputs.budget import Budget
from ..._inputs.decimal_text import rounded_up
from ..._inputs.messages import printable
from ..._inputs.source import Source
from ...errors import ParameterValueError
from ...selection import KeepRule, keep_groups, keep_rule
from .._calibration import part_of
from .._person import Counting, Person
from .._plan import named_in_errors
from .._report import aligned
from .categories import Codes
from .query import narwhals


@dataclass(frozen=True, kw_only=True)
class UnknownTable:
    """A table of unknown groups, with its part of the budget and the rule that keeps groups."""

    counting: Counting
    share: Fraction
    epsilon: Fraction
    delta: Fraction
    most: int
    """The most groups that one person is in."""
    rule: KeepRule

    def kept(self, keys: Any, counts: Codes, label: str, source: Source) -> Any:
        """Return a frame of the kept groups, given the keys of all in a frame of narwhals."""
        nw = narwhals()
        column = nw.new_series(label, counts, nw.Int64, backend=keys.implementation)
        groups = keys.with_columns(column).to_native()
        return keep_groups(
            groups, self.epsilon, self.delta, self.most, columns=label, source=source
        )

    def fields(self) -> dict[str, Any]:
        """Return the fields of a report for programs."""
        return {
            "unknown": True,
            "by": self.counting.by,
            "law": repr(self.rule.law),
            "threshold": self.rule.threshold,
            "groups_per_person": self.most,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
        }

    def text(self, name: str) -> str:
        """Return the lines of a report."""
        return aligned(
            [
                ("table", printable(name)),
                ("share", str(self.share)),
                ("grouped by", printable(", ".join(self.counting.by))),
                ("counts", "people, each once in a group"),
                ("kept", f"groups whose noisy number is above {self.rule.threshold}"),
                ("law", f"{self.rule.law!r}, one independent draw for each group"),
                ("groups a person", str(self.most)),
                ("(epsilon, delta)", f"({rounded_up(self.epsilon)}, {rounded_up(self.delta)})"),
            ]
        )

    def sentence(self, name: str) -> str:
        """Return what is to be published with the table."""
        return (
            f"{name}: nobody listed its groups. It has those whose noisy number of people is above "
            f"{self.rule.threshold}. A group that one person alone is in is there with a "
            f"probability of at most {rounded_up(Fraction(self.rule.delta))}. Numbers of small "
            f"groups are too high on average. The noise is {self.rule.law!r}."
        )


def unknown_tables(
    person: Person,
    tables: Mapping[str, tuple[Counting, Fraction]],
    budget: Budget,
) -> dict[str, UnknownTable]:
    """Return unknown tables with their share of epsilon and delta, or refuse them."""
    found = {}
    for name, (counting, share) in tables.items():
        with named_in_errors(f"tables[{name!r}]"):
            if person.neighbours != "add or remove":
                raise ParameterValueError(
                    "neighbours must be 'add or remove' for unknown groups, got 'replace'"
                )
            if person.records > 1 and person.id is None:
                raise ParameterValueError(
                    "unknown groups count people, which needs a Person with id, or records = 1"
                )
            epsilon, delta = part_of(budget, share)
            found[name] = UnknownTable(
                counting=counting,
                share=share,
                epsilon=epsilon,
                delta=delta,
                most=person.records,
                rule=keep_rule(epsilon, delta, person.records),
            )
    return found
