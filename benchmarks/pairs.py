"""What times say about values, by pairs of neighbouring calls: statistics for leakage.py.

A pair is two calls, one after the other, of which one is in a class of values and the other is not.
If the time says nothing about the value, either order is as likely, whatever the times look like
and however the machine is disturbed. So t, the sum of the differences over the root of the sum of
their squares, is standard normal, nearly, and never much more: P(|t| >= 4.5) is 7 in a million for
many pairs of like differences, and at most 8 in 10^5 for any (Hoeffding, on sums of signs).
Welch's t has no such bound: some interruptions that miss a small class by chance make it large.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LEAK_AT = 4.5

KEPT = (1, 0.999, 0.99, 0.95, 0.9, 0.75, 0.5)
"""Shares of the quickest calls that are looked at; 1 is raw."""

SHOWN = 0.9
"""Of which the difference is told."""

CLASSES = ("size", "sign", "zero", "top")
STATISTICS = ("raw", "cropped", "squares")
"""The times; those of the quick calls; the squares about their mean."""

FEWEST_PAIRS = 100

ROW = np.dtype([(name, np.int64) for name in ("time", "sum", "sizes", "zeros", "largest")])
"""A call: its nanoseconds, and what it drew."""


@dataclass(frozen=True)
class Verdict:
    """What was found in the calls of one way."""

    calls: int
    median_ns: float
    by_class: dict[str, float]
    """The largest t in size, by class; NaN where there are too few pairs."""
    by_statistic: dict[str, float]
    """The largest t in size, by statistic."""
    difference_ns: dict[str, float]
    """How much longer the calls of a class take: mean of the pairs among the quickest SHOWN."""

    seen_from_ns: dict[str, float]
    """How large that difference has to be for a t of LEAK_AT."""

    @property
    def worst(self) -> float:
        """The largest t of all."""
        return max(self.by_statistic.values(), default=0.0)

    @property
    def is_flagged(self) -> bool:
        """Whether some t tells that the time says something."""
        return self.worst >= LEAK_AT


def classes(rows: Any) -> dict[str, tuple[Bools, Bools]]:
    """Return who is in each class and who is outside it, by the values alone.

    For one draw: |x| above the middle, x > 0 against x < 0, x = 0, |x| in the top 5 %. For a fill:
    the sum of the sizes above its middle, a sum above 0 against one below, the number of zeros
    above its middle, the largest size in the top 5 % of fills.
    """
    return {
        "size": _cut(rows["sizes"], 0.5),
        "sign": (rows["sum"] > 0, rows["sum"] < 0),
        "zero": _cut(rows["zeros"], 0.5),
        "top": _cut(rows["largest"], 0.05),
    }


def calls_of(times: Any, values: Any) -> Any:
    """Return calls that took so many nanoseconds and drew the values of a row each."""
    rows, sizes = np.zeros(len(times), ROW), np.abs(values)
    rows["time"], rows["sum"], rows["sizes"] = times, values.sum(axis=1), sizes.sum(axis=1)
    rows["zeros"], rows["largest"] = (values == 0).sum(axis=1), sizes.max(axis=1)
    return rows


def judge(rows: Any) -> Verdict:
    """Judge the calls of one way, in the order in which they were made."""
    rows = rows[: len(rows) // 2 * 2]
    times = rows["time"].astype(np.float64)
    signs = {name: _pairs(*of) for name, of in classes(rows).items()}
    by_class = {
        name: float("nan") if np.count_nonzero(sign) < FEWEST_PAIRS else 0.0
        for name, sign in signs.items()
    }
    by_statistic = dict.fromkeys(STATISTICS, 0.0)
    difference, seen_from = dict.fromkeys(signs, 0.0), dict.fromkeys(signs, float("nan"))
    for share in KEPT:
        quick = times <= np.quantile(times, share)
        squares = (times - times[quick].mean()) ** 2
        kept = quick.reshape(-1, 2).all(axis=1)
        first = "raw" if share == 1 else "cropped"
        for statistic, view in ((first, times), ("squares", squares)):
            apart = np.subtract(*view.reshape(-1, 2).T)
            for name, sign in signs.items():
                if np.isnan(by_class[name]):
                    continue
                used = kept & (sign != 0)
                differences = apart[used] * sign[used]
                t = abs(t_of(differences))
                by_class[name] = max(by_class[name], t)
                by_statistic[statistic] = max(by_statistic[statistic], t)
                if statistic == "cropped" and share == SHOWN and len(differences):
                    difference[name] = float(differences.mean())
                    seen_from[name] = LEAK_AT * norm_of(differences) / len(differences)
    median = float(np.median(times))
    return Verdict(len(rows), median, by_class, by_statistic, difference, seen_from)


def t_of(differences: Floats) -> float:
    """Return the sum over the root of the sum of squares."""
    norm = norm_of(differences)
    return float(differences.sum()) / norm if norm > 0 else 0.0


def norm_of(differences: Floats) -> float:
    """Return the root of the sum of squares."""
    return sqrt(float(np.square(differences).sum()))


def _cut(values: Any, share: float) -> tuple[Bools, Bools]:
    """Cut where the share from the cut on is next to the one that is wanted."""
    cuts, first = np.unique(np.sort(values), return_index=True)
    if len(cuts) < 2:
        return np.zeros(len(values), bool), np.ones(len(values), bool)
    above = 1 - first[1:] / len(values)
    inside = values >= cuts[1:][np.argmin(np.abs(above - share))]
    return inside, ~inside


def _pairs(inside: Bools, outside: Bools) -> npt.NDArray[np.int8]:
    """Return 1 where a pair is inside and outside, -1 where outside and inside, else 0."""
    a, b = inside.reshape(-1, 2), outside.reshape(-1, 2)
    return (a[:, 0] & b[:, 1]).astype(np.int8) - (a[:, 1] & b[:, 0]).astype(np.int8)
