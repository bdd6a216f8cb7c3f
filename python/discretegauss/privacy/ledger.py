"""A ledger of one limit: a file with a line for each release, on disk before a bit is drawn.

A limit is two numbers that are fixed when the ledger is started: rho, or a pure epsilon, and the
sum of the releases' own delta. Each release adds to both. docs/concepts/over_time.md proves that
all releases together keep the limit, also if each is chosen from earlier answers. It also shows why
no path may trade rho for delta.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from .._inputs.decimal_text import rounded_down, rounded_up
from .._inputs.keywords import with_hints
from .._inputs.messages import describe, printable, refused
from .._inputs.numbers import not_negative, positive
from .._inputs.paths import named_path
from .._inputs.privacy_arguments import checked_probability
from .._system.chained_file import ChainedFile, HashedLine
from ..errors import (
    LedgerError,
    ParameterOverflowError,
    ParameterTypeError,
)
from .zcdp import rho_of_pure, zcdp_epsilon, zcdp_rho

_MOST_BITS, _GRID = 256, 10**60
"""A sum with a longer denominator is rounded up to a multiple of 1/_GRID."""

_MOST_LIMIT_BITS = 4096
_NEIGHBOURS = ("add or remove", "replace")
_NOTHING = (Fraction(0), Fraction(0))

Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Entry:
    """A line of a ledger: the cost of one release, and the sums up to it.

    ``rho`` is None if the limit is a pure epsilon. ``epsilon`` is None if the cost was a rho.
    """

    n: int
    time: str
    what: Any = field(hash=False)
    rho: Fraction | None
    epsilon: Fraction | None
    delta: Fraction
    spent: Pair
    hash: str
    path: Path

    def __str__(self) -> str:
        return f"{self.path}, line {self.n}, {self.hash[:16]}"

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields of a report as JSON."""
        return {"path": str(self.path), "line": self.n, "hash": self.hash}


class Ledger:
    """The releases about one group of people, under one limit, in a file that exists.

    `Ledger.start` makes a new one. Printing it shows every line, the limit, what is spent and left.

    Parameters
    ----------
    path : str or os.PathLike of str
        The file.

    Attributes
    ----------
    unit : str
        Whom the limit protects.
    neighbours : "add or remove" or "replace"
        As for `release.Person`.
    measure : "rho" or "epsilon"
        The kind of the limit, zCDP or pure differential privacy.
    limit, spent, left : (Fraction, Fraction)
        Pairs of that measure and of the releases' own delta.
    entries : tuple of Entry
        The lines, as they were when this object last read the file.

    Raises
    ------
    LedgerError
        If the file is not there, or is not a ledger as it was written.
    TypeError, ValueError, OSError
        If the path is wrong, or the file cannot be read.
    """

    @with_hints
    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.path.realpath(named_path(path, "ledger")))
        self._file = ChainedFile(self.path, "ledger", LedgerError)
        self.entries: tuple[Entry, ...] = ()
        self.refresh()
        head = self._file.lines[0].fields
        self.unit, self.neighbours = head["unit"], head["neighbours"]
        self._at = [Fraction(x) for x in head["limit"].get("at", ())]

    @classmethod
    @with_hints
    def start(
        cls,
        path: str | os.PathLike[str],
        *,
        unit: str,
        rho: object = None,
        epsilon: object = None,
        delta: object = None,
        own_delta: object = 0,
        neighbours: str = "add or remove",
    ) -> Self:
        """Make a ledger.

        Parameters
        ----------
        path : str or os.PathLike of str
            The file to make.
        unit : str
            Whom the limit protects, in words: "a resident of the register of 2026".
        rho, epsilon, delta : number, optional
            The limit: rho; or epsilon with delta, whose largest rho is the limit; or epsilon alone,
            for releases that are all of pure differential privacy.
        own_delta : number, optional
            The most that the releases' own delta may add up to; a part of ``delta``.
        neighbours : "add or remove" or "replace", optional
            Whether neighbours differ by one person, or by the records of one person. Costs for the
            other kind do not add up with these, and are refused.

        Raises
        ------
        LedgerError
            If the file exists.
        TypeError, ValueError, OverflowError, OSError
            If a parameter is wrong, or the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/people.ledger"
        >>> ledger = Ledger.start(path, unit="a resident of 2026", rho=1)
        >>> ledger.spend(rho="0.1", what="visits by town").n, ledger.left
        (1, (Fraction(9, 10), Fraction(0, 1)))
        """
        if not isinstance(unit, str) or not unit.strip():
            raise refused("unit", "say in words whom the limit protects", unit, ParameterTypeError)
        if not isinstance(neighbours, str) or neighbours not in _NEIGHBOURS:
            raise refused("neighbours", "be 'add or remove' or 'replace'", neighbours)
        limit = _limit(rho, epsilon, delta, own_delta)
        target = Path(os.path.realpath(named_path(path, "ledger")))
        fields = {"unit": unit, "neighbours": neighbours, "limit": limit}
        ChainedFile(target, "ledger", LedgerError).create(fields)
        return cls(target)

    @with_hints
    def spend(
        self,
        *,
        rho: object = None,
        epsilon: object = None,
        delta: object = 0,
        what: object = "",
        neighbours: str | None = None,
    ) -> Entry:
        """Write the line of a release that you are about to draw, or refuse it.

        Parameters
        ----------
        rho, epsilon, delta : number, optional
            The cost: rho; or epsilon, alone if it is pure; or epsilon with delta, for a release
            that is known to be (epsilon, delta)-DP and no more.
        what : object, optional
            The release in words, or in what JSON can hold. It must not depend on the counts.
        neighbours : "add or remove" or "replace", optional
            The neighbours that the cost is for, if they are known.

        Returns
        -------
        Entry
            The line, which is on disk. Nothing gives its cost back.

        Raises
        ------
        LedgerError
            If the cost is more than what is left, or of another kind than the limit; or if the file
            is not as it was written. Nothing may be drawn then.
        TypeError, ValueError, OSError
            If a parameter is wrong, or the line could not be written.
        """
        with self._line(rho, epsilon, delta, what, neighbours) as entry:
            return entry

    @contextmanager
    def _line(
        self, rho: object, epsilon: object, delta: object, what: object, neighbours: object
    ) -> Iterator[Entry]:
        """Write a line before the block begins. Errors after that have a note about it."""
        fields = self._cost(rho, epsilon, delta)
        if neighbours is not None and not (
            isinstance(neighbours, str) and neighbours == self.neighbours
        ):
            raise LedgerError(
                f"{self.path} is for neighbours {self.neighbours!r}, and the release for "
                f"{describe(neighbours)}: their costs do not add up"
            )
        try:
            json.dumps(what, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ParameterTypeError("what must be text, or what JSON can hold") from None
        added: list[HashedLine] = []
        try:
            with self._file.locked() as add:
                self._add_up()
                spent = self._sums(fields)
                exact = {key: str(x) for key, x in fields.items()}
                add({"what": what, **exact, "spent": [str(x) for x in spent]}, added)
                self._add_up()
            yield self.entries[added[0].fields["n"] - 1]
        except BaseException as error:  # Ctrl-C, for example
            for line in added:
                n = line.fields["n"]
                error.add_note(f"the ledger has line {n} of this release, so its budget is spent")
            raise

    def _cost(self, rho: object, epsilon: object, delta: object) -> dict[str, Fraction]:
        """Return the numbers of a cost, each rounded up, so that no line grows without end."""
        if (rho is None) == (epsilon is None):
            raise ParameterTypeError("a cost must be rho, or epsilon with or without delta")
        own = not_negative(delta, "delta")
        if epsilon is None:
            if own:
                raise ParameterTypeError("delta must not be given with rho, only with epsilon")
            cost = {"rho": _bounded(positive(rho, "rho"))}
            if self.measure == "epsilon":
                raise LedgerError(
                    f"{self.path} has a limit of pure epsilon, which no cost in rho keeps; a "
                    "discrete Laplace has an epsilon"
                )
            return {**cost, "delta": own}
        pure = positive(epsilon, "epsilon")
        cost = {"rho": _bounded(rho_of_pure(pure))} if self.measure == "rho" else {}
        return {**cost, "epsilon": _bounded(pure), "delta": _bounded(own)}

    def _sums(self, cost: Mapping[str, Fraction]) -> Pair:
        """Return the sums after a release of this cost, or refuse it."""
        sums = []
        for name, most, old in zip((self.measure, "delta"), self.limit, self.spent, strict=True):
            new = _bounded(old + cost[name])
            if new > most:
                raise LedgerError(
                    f"{self.path}: {name} = {rounded_up(cost[name])} is more than what is left: "
                    f"{rounded_down(most - old)} of {rounded_up(most)}"
                    f"{'' if name != 'delta' else ', by own_delta of its start'}"
                )
            sums.append(new)
        return sums[0], sums[1]

    @property
    def measure(self) -> str:
        """The kind of the limit, "rho" or "epsilon"."""
        return "rho" if "rho" in self._file.lines[0].fields["limit"] else "epsilon"

    @property
    def limit(self) -> Pair:
        """The limit of that measure, and of the releases' own delta."""
        limit = self._file.lines[0].fields["limit"]
        return Fraction(limit[self.measure]), Fraction(limit["delta"])

    @property
    def spent(self) -> Pair:
        """The sums of all lines."""
        return self.entries[-1].spent if self.entries else _NOTHING

    @property
    def left(self) -> Pair:
        """The remainder of the limit."""
        return self.limit[0] - self.spent[0], self.limit[1] - self.spent[1]

    def refresh(self) -> None:
        """Read the file again: other processes may have added lines."""
        self._file.read()
        self._add_up()

    def line_of(self, hash_start: str) -> Entry:
        """Return the line of a report, by at least 16 characters of its hash.

        Raises
        ------
        LedgerError
            If there is no such line, because the file is an old copy, for example.
        """
        if isinstance(hash_start, str) and len(hash_start) >= 16:
            for entry in self.entries:
                if entry.hash.startswith(hash_start):
                    return entry
        raise LedgerError(
            f"{self.path} has no line {describe(hash_start)}: it may be an old copy, and the hash "
            "of a report has at least 16 characters"
        )

    def _add_up(self) -> None:
        """Check the sums of the lines that are new."""
        entries = list(self.entries)
        for line in self._file.lines[1 + len(entries) :]:
            fields, before = line.fields, entries[-1].spent if entries else _NOTHING
            rho, pure = (Fraction(fields[x]) if x in fields else None for x in ("rho", "epsilon"))
            delta, cost = Fraction(fields["delta"]), Fraction(fields[self.measure])
            spent = _bounded(before[0] + cost), _bounded(before[1] + delta)
            if fields["n"] != len(entries) + 1 or [str(x) for x in spent] != fields["spent"]:
                raise LedgerError(f"{self.path}: line {len(entries) + 2} does not add up")
            n, time, what = fields["n"], fields["time"], fields["what"]
            entries.append(Entry(n, time, what, rho, pure, delta, spent, line.hash, self.path))
        self.entries = tuple(entries)

    def __str__(self) -> str:
        lines = [printable(f"{self.path}: {self.unit}; neighbours: {self.neighbours}")]
        for one in self.entries:
            cost = f"{one.epsilon if one.rho is None else one.rho}"
            lines.append(
                f"{one.n:>4}  {one.time}  {self._text((Fraction(cost), one.delta), rounded_up)}  "
                f"{_shown(one.what)}"
            )
        lines.append(f"limit {self._text(self.limit, rounded_up)}{self._as_epsilon(*self.limit)}")
        lines.append(f"spent {self._text(self.spent, rounded_up)}{self._as_epsilon(*self.spent)}")
        lines.append(f"left  {self._text(self.left, rounded_down)}")
        if self.measure == "rho":
            lines.append(
                "The limit's epsilon holds in any case. That of what is spent holds if no release "
                "was chosen from earlier answers."
            )
        return "\n".join(lines)

    def _text(self, pair: Pair, rounding: Any) -> str:
        text = f"{self.measure} {rounding(pair[0])}"
        return f"{text}, own delta {rounding(pair[1])}" if self.limit[1] else text

    def _as_epsilon(self, rho: Fraction, own: Fraction) -> str:
        """Return epsilon at the limit's delta."""
        if self.measure == "epsilon":
            return ""
        most = self.limit[1]
        at = self._at[1] if self._at else most + min(Fraction(1, 10**6), (1 - most) / 2)
        epsilon = zcdp_epsilon(rho, at - own)
        text = "inf" if epsilon == math.inf else rounded_up(Fraction(epsilon))
        return f": (epsilon, delta) = ({text}, {rounded_up(at)})"


def open_ledger(ledger: str | os.PathLike[str] | Ledger | None) -> Ledger | None:
    """Return the ledger of a release, which its caller gave as a path or a Ledger."""
    return ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger)


def recorded(
    ledger: Ledger | None,
    *,
    what: object,
    rho: object = None,
    epsilon: object = None,
    delta: object = 0,
    neighbours: str | None = None,
) -> AbstractContextManager[Entry | None]:
    """Write the line of a release, if it has a ledger, before the block draws.

    Errors of the block have a note about the line.
    """
    if ledger is None:
        return nullcontext()
    return ledger._line(rho, epsilon, delta, what, neighbours)


def _limit(rho: object, epsilon: object, delta: object, own_delta: object) -> dict[str, Any]:
    """Return the limit as it stands in the file."""
    own = not_negative(own_delta, "own_delta")
    if own >= 1:
        raise refused("own_delta", "be below 1", own_delta)
    if (rho is None) == (epsilon is None) or (delta is not None and epsilon is None):
        raise ParameterTypeError("a limit must be rho, or epsilon with or without delta")
    at: list[Fraction] = []
    if epsilon is None:
        numbers = {"rho": positive(rho, "rho")}
    elif delta is None:
        numbers = {"epsilon": positive(epsilon, "epsilon")}
    else:
        at = [positive(epsilon, "epsilon"), checked_probability(delta, "delta")]
        if own >= at[1]:
            raise refused("own_delta", "be below delta", own_delta)
        numbers = {"rho": Fraction(zcdp_rho(at[0], at[1] - own))}
        if not numbers["rho"]:
            raise refused("epsilon", "allow a rho above 0 at this delta", epsilon)
    numbers["delta"] = own
    for value in (*numbers.values(), *at):
        if max(value.numerator, value.denominator).bit_length() > _MOST_LIMIT_BITS:
            raise ParameterOverflowError(
                f"the numbers of a limit must have at most {_MOST_LIMIT_BITS} bits, "
                f"got {describe(value)}"
            )
    limit: dict[str, Any] = {name: str(value) for name, value in numbers.items()}
    return limit | {"at": [str(value) for value in at]} if at else limit


def _bounded(value: Fraction) -> Fraction:
    """Return the value, rounded up by less than 1e-60 if its denominator is long."""
    if value.denominator.bit_length() <= _MOST_BITS:
        return value
    return Fraction(-(-value.numerator * _GRID // value.denominator), _GRID)


def _shown(what: Any) -> str:
    return printable(what) if isinstance(what, str) else json.dumps(what)
