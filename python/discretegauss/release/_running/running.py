"""Counts that are published again and again, with exact noise whose sums stay accurate.

Day t measures y_t = sum over j of c_j x_{t-j} + z_t, with whole weights c and fresh noise z of the
law N_Z(0, sigma2). Published numbers are computed from the y alone. `docs/concepts/running.md` has
the proof that rho = D/(2 sigma2) for ever, also if later counts depend on what was published. D is
the largest squared norm of one person's change of all weighted sums.
"""

from __future__ import annotations

import json
import math
import os
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from io import FileIO
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._inputs.budget import Budget
from ..._inputs.keywords import with_hints
from ..._inputs.messages import number_of, printable, refused
from ..._inputs.numbers import whole_number
from ..._inputs.paths import named_path
from ..._inputs.privacy_arguments import checked_probability
from ..._inputs.source import Source
from ..._system.signals import signals_deferred
from ...data.entry import add_noise
from ...errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ...privacy.ledger import Ledger
from .._report import aligned
from .inputs import ROOM, Day, checked_counts, checked_day, day_after, number_of_day, shown
from .settings import Settings, start_state
from .state_file import DayLine, StateFile, broken_line
from .weights import LastRows, error_of_sum

_MOST_STEPS = 10**7


class Published(NamedTuple):
    """The whole numbers of a day that may be published. The values of all days add up to the total.

    Attributes
    ----------
    step : int
        The number of the day; the first is 1.
    day : date or int
        Its label.
    value, total : int, ndarray or Series
        The day's noisy count, and the total of all days so far; of the kind of the counts.
    """

    step: int
    day: Day
    value: Any
    total: Any


class Running:
    """Counts that are published every day, whose totals over weeks, months and years stay accurate.

    `Running.start` begins them, once. This opens what was begun, and `add` measures the next day.

    Parameters
    ----------
    path : str or os.PathLike of str
        The state file. It holds true counts: keep it as secret as they are.

    Attributes
    ----------
    rho : Fraction
        The cost of all days together, for ever.
    law : DiscreteGaussian
        The noise of a weighted sum, whose first weight is 2**16.
    keys : tuple or None
        The names of the series, if there are several.
    column : str or None
        The column of counts in the tables of the command line, if it has started this.
    last : Published or None
        What was published last. Several series are an array in the order of `keys`.

    Raises
    ------
    TypeError, ValueError, OSError
        If the file is missing, or is not such a state.

    Notes
    -----
    The guarantee is for everybody who is counted on at most `days` days, any two of them at least
    `apart` days from each other. It holds if later counts depend on what was published. An old copy
    of the file, put in its place, measures its last days again; that breaks the guarantee.
    docs/running.md says when fresh noise is better.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "flu.state")
    >>> run = Running.start(path, period=365, rho="0.1", days=2, apart=30)
    running counts ...
    >>> today = Running(path).add(1204, day="2026-11-28")
    >>> today.step, today.day, today.total == today.value
    (1, datetime.date(2026, 11, 28), True)
    """

    @with_hints
    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._state = StateFile(named_path(path, "path"))
        try:
            self._settings = Settings.of_line(self._state.settings())
            law = self._settings.law
        except (ArithmeticError, KeyError, TypeError, ValueError):
            raise broken_line(self._state.path, 1) from None
        self.rho, self.law, self.keys = self._settings.rho, law, self._settings.keys
        self.column = self._settings.column
        self.last: Published | None = None
        self._c = self._settings.c
        self._decreasing = self._c[1:][::-1].astype(float)
        self._state.keep = keep = max(1, len(self._c) - 1)
        self._days: list[Day] = []
        self._totals: list[NDArray[np.int64]] = []
        self._counts, self._estimates = (
            LastRows(keep, self._settings.width, kind) for kind in (np.int64, np.float64)
        )
        self._largest = deque[int](maxlen=keep)
        self._sum = np.zeros(self._settings.width)
        with self._state.locked() as file:
            self._catch_up(file)

    @classmethod
    @with_hints
    def start(
        cls,
        path: str | os.PathLike[str],
        *,
        period: int = 365,
        rho: object = None,
        epsilon: object = None,
        delta: object = None,
        days: int = 1,
        apart: int = 1,
        sensitivity: object = 1,
        rows_per_person: int = 1,
        keys: Sequence[Any] | None = None,
        ledger: str | os.PathLike[str] | Ledger | None = None,
    ) -> Running:
        """Begin a series of counts, and print what it gains over fresh noise each day.

        Parameters
        ----------
        path : str or os.PathLike of str
            The state file to make.
        period : int
            The longest sums that matter, in days. No number of days ends the guarantee. 1 is fresh
            noise each day.
        rho, epsilon, delta : number, optional
            The budget of all days together: rho, or epsilon with delta.
        days, apart : int
            One person is counted on at most `days` days, any two of them at least `apart` days from
            each other.
        sensitivity : number
            The most by which one person changes one count of one day, or the Euclidean norm of all
            that the person changes on one day.
        rows_per_person : int
            The most counts of one day that one person changes.
        keys : sequence, optional
            The names of several series: texts or integers, or tuples of them. They are public.
        ledger : str, os.PathLike of str or privacy.Ledger, optional
            A ledger of the same people. All days are one line of it, with the rho above.

        Returns
        -------
        Running
            The series, which has no days.

        Raises
        ------
        OutputError
            If the file exists. Nobody starts again by mistake: that measures the same people again.
        LedgerError
            If rho is more than the ledger has left, or the ledger is not right. No file is made.
        TypeError, ValueError, OverflowError, OSError
            If a parameter is wrong, or the file cannot be made.
        """
        file = start_state(
            path,
            period=period,
            budget=Budget(rho=rho, epsilon=epsilon, delta=delta),
            days=days,
            apart=apart,
            sensitivity=sensitivity,
            rows_per_person=rows_per_person,
            keys=keys,
            ledger=ledger,
        )
        run = cls(file)
        print(run)  # noqa: T201  # because it gains nothing for people who are there every day
        return run

    # --- one day

    @with_hints
    def add(self, counts: Any, day: object, *, source: Source = "chacha20") -> Published:
        """Measure a day's counts, store them, and return what may be published.

        Parameters
        ----------
        counts : int, sequence of int, ndarray, Series or DataFrame
            The day's true counts. Several are in the order of `keys`. A Series of pandas, or a
            frame of one column, has the keys as index, in any order.
        day : date, str or int
            The day after the last one: a date, as text 2026-11-28, or a whole number. The first may
            be any. A day without counts is a day of 0.
        source : "getrandom", "chacha20" or callable
            The source of random bits.

        Returns
        -------
        Published
            Whole numbers. The same day again, with the same counts, gives the same.

        Raises
        ------
        TypeError, ValueError, OverflowError
            If a parameter is wrong; if the day is not the next one; if it is published with other
            counts, or so long ago that its counts are forgotten. Nothing was drawn.
        OSError
            If the file cannot be written; then nothing is published.
        """
        x, index = checked_counts(counts, self.keys)
        label = checked_day(day)
        with self._state.locked() as file, signals_deferred():
            self._catch_up(file)
            step = self._step_of(label, x)
            if step == len(self._days):
                y: NDArray[np.int64] = add_noise(self._weighted(x), self.law, source=source)
                text = label if isinstance(label, int) else label.isoformat()
                line = {"day": text, "y": y.tolist(), "total": self._solved(y)[1].tolist()}
                self._state.append(file, line, json.dumps(x.tolist()).encode())
                self._catch_up(file)  # what is on the disk now is what is returned
        return self._published(step, index)

    @with_hints
    def published(self, day: object) -> Published:
        """Return what was published of an earlier day; several series in the order of `keys`."""
        label = checked_day(day)
        if label not in self._days:
            raise ParameterValueError(
                f"day must be a day of {self._state.path}, which lacks {label}"
            )
        return self._published(self._days.index(label), None)

    def _catch_up(self, file: FileIO) -> None:
        """Take over the days in the file that this object does not know."""
        private = deque[bytes](maxlen=self._state.keep)
        with closing(self._state.new_lines(file)) as lines:
            for line in lines:
                try:
                    self._take(line)
                except (KeyError, TypeError, ValueError, OverflowError):
                    raise broken_line(self._state.path, line.number) from None
                private.append(line.private)
        first = len(self._days) - len(private)
        for i, text in enumerate(private):
            try:
                x = self._row(json.loads(text))
            except (TypeError, ValueError, OverflowError):
                raise broken_line(self._state.path, first + i + 2) from None
            self._counts.append(x)
            self._largest.append(int(np.abs(x).max()))
        if self._days:
            self.last = self._published(len(self._days) - 1, None)

    def _take(self, line: DayLine) -> None:
        """Take over a day, without its true counts."""
        y, total = self._row(line.public["y"]), self._row(line.public["total"])
        label = checked_day(line.public["day"])
        if self._days and label != day_after(self._days[-1]):
            raise ValueError
        estimate, _ = self._solved(y)
        self._estimates.append(estimate)
        self._sum = self._sum + estimate
        self._totals.append(total)
        self._days.append(label)

    def _row(self, values: object) -> NDArray[np.int64]:
        row = np.asarray(values)
        if row.dtype != np.int64 or row.shape != (self._settings.width,):
            raise ValueError
        return row

    def _weighted(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weighted sums; refuse counts for which they, or a total, might not fit."""
        before = self._counts.last(len(self._c) - 1)
        largest = max([int(np.abs(x).max()), *self._largest])
        in_sum = int(self._c[: len(before) + 1].sum()) * largest
        if in_sum >= ROOM or float(np.abs(self._sum).max()) >= ROOM / 2:
            raise ParameterOverflowError(
                "counts must be so small that weighted sums and totals stay below 2**62"
            )
        found: NDArray[np.int64] = self._c[0] * x + self._c[1 : len(before) + 1][::-1] @ before
        return found

    def _solved(self, y: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the day's estimates and the totals. They are computed from the y alone."""
        before = self._estimates.last(len(self._c) - 1)
        known = self._decreasing[len(self._decreasing) - len(before) :] @ before
        estimate = (y - known) / float(self._c[0])
        return estimate, np.rint(self._sum + estimate).astype(np.int64)

    def _step_of(self, label: Day, x: NDArray[np.int64]) -> int:
        """Return the place of a day, which is the next one or published with the same counts."""
        if not self._days:
            return 0
        first, last = self._days[0], self._days[-1]
        if isinstance(label, int) != isinstance(first, int):
            kind = "a whole number" if isinstance(first, int) else "a date"
            raise ParameterTypeError(f"day must be {kind}, as on the days before, got {label}")
        step = number_of_day(label) - number_of_day(first)
        if step > len(self._days):
            raise ParameterValueError(
                f"day must be at most the one after {last}, got {label}: a day without counts is a "
                "day of 0, and has to be added"
            )
        back = len(self._days) - step
        kept = self._counts.last(self._state.keep)
        if step < 0 or back > len(kept):
            raise ParameterValueError(
                f"day must follow {last}, got {label}, whose counts are no longer kept"
            )
        if back and not np.array_equal(kept[-back], x):
            raise ParameterValueError(
                f"day must follow {last}, got {label}, which is published with other counts: count "
                "what is late, or corrected, on the next day. Its people are then counted on one "
                "more day"
            )
        return step

    def _published(self, step: int, index: Any) -> Published:
        total = self._totals[step]
        value = total - self._totals[step - 1] if step else total
        each = [shown(value, self.keys, "n", index), shown(total, self.keys, "n_total", index)]
        return Published(step + 1, self._days[step], *each)

    # --- what it is worth

    @with_hints
    def deviation(self, steps: int, window: int | None = None) -> float:
        """Return the standard deviation of a total, or of the sum of the days at its end.

        Parameters
        ----------
        steps : int
            The number of days since the first.
        window : int, optional
            The number of the last days to add up; all of them by default, and if there are fewer.
        """
        n = whole_number(steps, "steps", minimum=1)
        if n > _MOST_STEPS:
            raise refused("steps", "be at most 10**7", n)
        wide = n if window is None else whole_number(window, "window", minimum=1)
        return math.sqrt(float(self.law.sigma2)) * error_of_sum(self._c, n, wide)

    @with_hints
    def interval(self, confidence: object = 0.95, window: int | None = None) -> tuple[Any, Any]:
        """Return two whole numbers; the true total lies between them with this confidence.

        Parameters
        ----------
        confidence : number
            Between 0 and 1, for each series by itself.
        window : int, optional
            The number of the last days to add up; all of them by default, and if there are fewer.

        Raises
        ------
        TypeError, ValueError
            If a parameter is wrong, or if there is no day.

        Notes
        -----
        The error is a sum of wide discrete Gaussians, and nearly normal. The interval has room for
        the rounding of totals, so it holds the truth a little more often than it says.
        """
        sure = checked_probability(confidence, "confidence")
        wide = None if window is None else whole_number(window, "window", minimum=1)
        tail = float((1 - sure) / 2)
        if tail == 0:
            raise refused("confidence", "be at most 1 - 2**-1000", confidence)
        if not self._days:
            raise ParameterValueError("interval needs a day: add one first")
        now, n = self._totals[-1], len(self._days)
        is_total = wide is None or wide >= n
        if not is_total:
            now = now - self._totals[n - 1 - (wide or 0)]
        half = -NormalDist().inv_cdf(tail) * self.deviation(n, wide)
        half = math.ceil(half + (0.5 if is_total else 1))  # the rounding of one total, or of two
        return shown(now - half, self.keys), shown(now + half, self.keys)

    @with_hints
    def epsilon(self, delta: object) -> float:
        """Return an upper bound on the epsilon of all days together, for ever, at this delta."""
        at = checked_probability(delta, "delta")
        return self._settings.joint.epsilon([self.law._spec.parameter], at)[0]

    def __str__(self) -> str:
        path, days = printable(str(self._state.path)), number_of(len(self._days), "day")
        return aligned([("running counts", f"{path}, {days}"), *self._settings.lines()])
