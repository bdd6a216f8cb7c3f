"""The settings of running counts, checked: how often a person is counted, and the noise for it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from ..._inputs.budget import Budget
from ..._inputs.decimal_text import rounded_up
from ..._inputs.messages import number_of, printable, refused
from ..._inputs.numbers import whole_number
from ..._inputs.paths import named_path
from ..._inputs.privacy_arguments import integer_sensitivity, require_rows, word_count
from ..._law import fits_range
from ..._law_functions.narrow import warn_of_narrow
from ...errors import ParameterOverflowError
from ...laws import DiscreteGaussian
from ...privacy.joint import Joint
from ...privacy.ledger import Ledger, open_ledger, recorded
from ...privacy.sensitivity import Sensitivity
from .inputs import ROOM, Key, checked_keys
from .state_file import StateFile
from .weights import MOST_DAYS, SCALE, Weights, error_of_sum, squared_change, weights

_FORMAT, _VERSION = "discretegauss running counts", 1
_LONGEST_BITS = 4096
_DAYS = (1, 7, 30, 365)
"""The lengths of the sums whose deviations are printed."""
_MUCH = 1.001
"""For a period of 1 the two deviations differ by the rounding of floats."""


@dataclass(frozen=True)
class Settings:
    """The arguments of `start`, which the first line of the file holds, and what follows."""

    period: int
    days: int
    apart: int
    change2: Fraction
    rho: Fraction
    keys: tuple[Key, ...] | None
    column: str | None = None
    ledger: str | None = None

    @classmethod
    def of_line(cls, line: dict[str, Any]) -> Settings:
        """Return the settings in a line; any error means that `fields` did not write it."""
        if (line["format"], line["version"]) != (_FORMAT, _VERSION):
            raise ValueError
        keys, column = line["keys"], line["column"]
        if keys is not None:
            keys = tuple([one if isinstance(one, str) else tuple(one) for one in keys])
        period, days, apart = (
            whole_number(line[name], name, minimum=1) for name in ("period", "days", "apart")
        )
        exact = Fraction(line["change2"]), Fraction(line["rho"])
        return cls(period, days, apart, *exact, keys, column, line["ledger"])

    def fields(self) -> dict[str, Any]:
        """Return the settings as JSON holds them; exact numbers are texts."""
        exact = {"change2": str(self.change2), "rho": str(self.rho)}
        return {"format": _FORMAT, "version": _VERSION} | asdict(self) | exact

    @cached_property
    def c(self) -> Weights:
        """The weights."""
        return weights(self.period)

    @cached_property
    def joint(self) -> Joint:
        """All weighted sums together, as one person changes them."""
        norm2 = self.change2 * squared_change(self.c, self.days, self.apart)
        most = math.floor(norm2)  # of integers, whose sizes are at most their squares
        return Joint([Sensitivity(norm2, Fraction(most), Fraction(most), most)])

    @cached_property
    def law(self) -> DiscreteGaussian:
        """The noise of a weighted sum."""
        return DiscreteGaussian(self.joint.tables[0].norm2 / (2 * self.rho))

    @property
    def width(self) -> int:
        """Return the number of series."""
        return 1 if self.keys is None else len(self.keys)

    def lines(self) -> list[tuple[str, str]]:
        """Return what the settings promise, for a report, and where fresh noise is better."""
        who = f"is counted on at most {self.days} days, at least {self.apart} from each other"
        norm = math.isqrt(math.floor(self.change2))
        root = str(norm) if norm**2 == self.change2 else f"the root of {rounded_up(self.change2)}"
        sigma, steps = math.sqrt(float(self.law.sigma2)), 2 * max(self.period, *_DAYS)
        delta = "1e-6"
        epsilon, proof = self.joint.epsilon([self.law._spec.parameter], Fraction(delta))
        epsilon_text = "inf" if epsilon == math.inf else rounded_up(Fraction(epsilon))
        lines = [
            ("one person", who if self.days > 1 else "is counted on 1 day"),
            ("one day", f"changes by a Euclidean norm of at most {root}"),
            ("rho", f"{rounded_up(self.rho)} (zCDP), of all days together, for ever"),
            ("(epsilon, delta)", f"({epsilon_text}, {delta}), by {proof}"),
            ("deviation", "of these counts, and of fresh noise each day at the same rho"),
        ]
        fresh = math.sqrt(float(self.change2 * self.days / (2 * self.rho)))
        for window in _DAYS:
            ours, other = sigma * error_of_sum(self.c, steps, window), fresh * math.sqrt(window)
            worse = ", so WORSE" if ours > _MUCH * other else ""
            lines.append((f"  any {number_of(window, 'day')}", f"{ours:.4g}, {other:.4g}{worse}"))
        return lines if self.ledger is None else [*lines, ("ledger", printable(self.ledger))]


def start_state(
    path: str | os.PathLike[str],
    *,
    period: int,
    budget: Budget,
    days: int,
    apart: int,
    sensitivity: object,
    rows_per_person: int,
    keys: Sequence[Any] | None,
    column: str | None = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
) -> Path:
    """Make a state file, as `Running.start` does, and return its path."""
    file = named_path(path, "path")
    longest = whole_number(period, "period", minimum=1)
    if longest > MOST_DAYS:
        raise refused("period", f"be at most {MOST_DAYS}", longest, ParameterOverflowError)
    norm, rows = integer_sensitivity(sensitivity), word_count(rows_per_person, "rows_per_person")
    names = None if keys is None else checked_keys(keys, "keys")
    require_rows(rows, 1 if names is None else len(names), sensitivity)
    terms = longest, word_count(days, "days"), word_count(apart, "apart"), rows * norm**2
    spent = "rho" if budget.rho is not None else "epsilon"
    rho = Settings(*terms, Fraction(1), names).joint.rho_of(budget, [Fraction(1)])
    for name, exact in ((spent, rho), ("sensitivity", norm)):
        if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > _LONGEST_BITS:
            raise ParameterOverflowError(f"{name} must have at most {_LONGEST_BITS} bits")
    settings = Settings(*terms, rho, names, column)
    if not fits_range(settings.law._spec, -ROOM, ROOM):
        raise ParameterOverflowError(
            f"{spent}, sensitivity and days must allow noise whose weighted sums stay below 2**62"
        )
    warn_of_narrow([DiscreteGaussian(settings.law._spec.parameter / SCALE**2)])
    what = {
        "running counts": str(file),
        "days": settings.days,
        "apart": settings.apart,
        "norm2 of one day": str(settings.change2),
        "period": longest,
        "law": str(settings.law),
    }
    line = recorded(open_ledger(ledger), what=what, rho=rho)
    StateFile.create(file, settings.fields(), line)
    return file
