"""Intervals that contain the share of a count in a whole that contains the count.

Let a estimate the count x, and T the whole N, with noise A and B. For the true share p = x/N,
x - p N = 0, so a - p T is the noise A - p B alone. So the set

    {p : abs(a - p T) <= t sqrt(V(p))},      V(p) = var(A) - 2 p cov(A, B) + p**2 var(B),

contains p with the probability P(abs(A - p B) <= t sqrt(V(p))). `ratio` has no covariance.

*The sum of the row's own noisy counts.* With R the noise of the others, which is independent of A,
A - p B = (1 - p) A - p R. Divided by 1 - p, this is A - q R with q = p/(1 - p). So the critical
value of `ratio` for A and R is enough, by the laws themselves (``_ratio.py``). At p = 1 it is -R,
the limit of large q, which `ratio` covers too. R has the law of a discrete Gaussian up to a factor
next to 1 (``_weighted_sum.py``), or tails by the ring (``_ring.py``).

*Tables made to add up.* A and B are weighted sums of draws, and so is A - p B. So t is the critical
value for any weights (``_chernoff.py``). cov(A, B) is var(B) times the part of a change in the
whole that the fit gives to the count: V/W on each level between them (``_nested.py``), or one part
for each cell of the whole if every combination is a row.

The set's ends are the roots of q2 p**2 - 2 q1 p + q0, or 0 and 1. The discriminant is computed as

    q1**2 - q2 q0 = v (a - T c/v)**2 + (u - c**2/v) q2,      u, c, v: t**2 var(A), cov, var(B),

without a difference of fourth powers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import gmpy2
import numpy as np

from .._certified.convolution import density_ratio_upper
from .._inputs.messages import describe
from ..errors import ParameterTypeError, ParameterValueError
from ..laws import DiscreteGaussian
from ._checks import miss
from ._chernoff import critical_value as of_any_weights
from ._consistent import Tables
from ._nested import Floats, Index, parts_of_wholes
from ._radii import largest_sum
from ._ratio import critical_value as of_ratio
from ._ring import tails_of_sum

_SLACK = 1e-9
"""t is raised by it, which is more than the errors of floats."""

_FLOATS_ERR = 4e-15
"""More than the relative error of the ends in floats."""

_BEYOND = Fraction(1, 10**14)


def share(
    tables: Any,
    laws: Any,
    count: Any = None,
    *,
    of: Sequence[Any] = (),
    confidence: object = 0.95,
) -> Any:
    """Return the share of each row in the sum of the rows that agree with it, with an interval.

    Parameters
    ----------
    tables : frame of pandas or polars, table of pyarrow, or dict of columns; or a list of them
        A noisy table, each count with its own draw. Or several, as for `consistent`; then the
        shares are those of the finest table, made to add up.
    laws : law, or a list of laws
        The noise of all tables, or of each; with mu = 0.
    count : label
        The column of noisy counts, without nulls.
    of : list of labels, optional
        The columns in which rows of one whole agree: shares of ``["town"]`` add up to 1 in each
        town. None: the whole is the sum of all rows. Of several tables, one must have these
        columns.
    confidence : number, optional
        Between 0 and 1, for each share by itself.

    Returns
    -------
    as a table
        The finest table, with ``count`` as it is in the shares, and new columns: "share", its
        standard error "error", and "low" and "high", between which the true share is.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `consistent`; if of is no list of columns of the table; if of several tables none has
        these columns, or if they cross and combinations are missing.

    Notes
    -----
    Guaranteed: an interval contains the true share with at least the confidence, by the laws of the
    noise, for all true counts that are at least 0, except a whole of 0. `ratio` of a count and its
    own sum has no such interval: it may hold a half where 95 % was asked. The error is a
    first-order approximation, and the shares are cut at 0 and 1.

    If the whole was released with a draw of its own, give both tables: the interval of a large part
    of a whole of 50 rows is less than half as wide.

    References
    ----------
    ``_share.py`` has the derivation.

    Examples
    --------
    >>> import discretegauss as dg
    >>> noisy = {"town": ["Aix", "Aix", "Bex", "Bex"], "age": [0, 1, 0, 1], "n": [90, 312, 7, 21]}
    >>> found = dg.estimate.share(noisy, dg.DiscreteGaussian(5), "n", of=["town"])
    >>> [round(x, 3) for x in found["share"]]
    [0.224, 0.776, 0.25, 0.75]
    >>> [round(x, 3) for x in found["low"]], [round(x, 3) for x in found["high"]]
    ([0.215, 0.767, 0.106, 0.633], [0.233, 0.785, 0.367, 0.894])
    """
    missed = miss(confidence)
    several = isinstance(tables, list | tuple)
    opened = Tables(tables if several else [tables], laws, count)
    if isinstance(of, str | bytes) or not isinstance(of, list | tuple):
        raise ParameterTypeError(f"of must be a list of columns, got {describe(of)}")
    names = opened.named[-1]
    for label in of:
        if label not in names:
            raise ParameterValueError(
                f"of must have columns of the finest table that say what is counted, got "
                f"{describe(label)}"
            )
    if len(opened.noisy) > 1:
        found = _of_fitted(opened, of, missed)
    else:
        group = opened.rows.groups_of(len(opened.noisy) - 1, list(of))
        found = _of_own(opened.noisy[-1], group, opened.laws[-1], missed)
    return opened.with_columns(-1, found)


def _of_own(counts: Floats, group: Index, law: Any, missed: Fraction) -> dict[Any, Floats]:
    """Return shares of the sums of noisy counts in each group."""
    n = np.bincount(group)
    whole = np.asarray(np.bincount(group, counts), np.float64)[group]
    s = float(law.var())
    t = np.array([_critical(law, int(size), missed) if size > 1 else 0.0 for size in n.tolist()])
    return _found(counts, whole, s, s, n[group] * s, t[group], n[group] == 1)


@lru_cache(maxsize=256)
def _critical(law: Any, n: int, missed: Fraction) -> float:
    """Return the critical value of a draw and n - 1 others."""
    if n == 2:
        return of_ratio(law, law, missed)
    if isinstance(law, DiscreteGaussian):
        factor = density_ratio_upper(law.sigma2, n - 1)
        if factor is not None and factor <= 1 + gmpy2.mpq(1, 2**64):
            return of_ratio(law, DiscreteGaussian((n - 1) * law.sigma2), missed)
    found = tails_of_sum(law, n - 1, _BEYOND)
    if found is None:
        return of_any_weights([law], missed)
    return of_ratio(law, _Others(law, n - 1, *found), missed)


class _Others:
    """The law of a sum of draws, as `ratio` asks for it."""

    def __init__(self, law: Any, n: int, tails: Floats, error: float) -> None:
        self._key, self._tails, self.error = (law, n), tails, error
        self._var = n * float(law.var())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Others) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)

    def var(self) -> float:
        return self._var

    def std(self) -> float:
        return math.sqrt(self._var)

    def isf(self, _probability: Any) -> int:
        """Return a number beyond which less than `_BEYOND` lies."""
        return self._tails.size - 1

    def sf(self, k: Any) -> Floats:
        """Return P(X > k), up to `error`."""
        far = np.minimum(np.where(k < 0, -k - 1, k), self._tails.size - 1)
        tails = self._tails[far]
        return np.asarray(np.where(k < 0, 1 - tails, tails))


def _of_fitted(opened: Tables, of: Sequence[Any], missed: Fraction) -> dict[Any, Floats]:
    """Return shares of the finest table, made to add up."""
    levels = [i for i, named in enumerate(opened.named) if set(named) == set(of)]
    if not levels:
        raise ParameterValueError("of must be the columns of one of the tables")
    level, last = levels[0], len(opened.named) - 1
    fitted = opened.fitted()
    if fitted.shapes is None:
        raise ParameterValueError("tables must be nested, or have every combination, for shares")
    place = opened.wholes[level]
    counts, whole = fitted.values[-1], fitted.values[level][place]
    errors, of_whole = fitted.errors[-1], fitted.errors[level][place]
    if opened.parents is None:
        part = 1 / np.bincount(place)[place]
    else:
        part, at = np.ones(counts.size), np.arange(counts.size)
        parts = parts_of_wholes(opened.variances, opened.parents)
        for down in range(last, level, -1):
            part = part * parts[down - 1][at]
            at = opened.parents[down - 1][at]
    t = np.full(counts.size, of_any_weights(opened.laws, missed))
    both = np.square(of_whole) * part
    alone = np.bincount(place)[place] == 1
    found = _found(counts, whole, errors**2, both, np.square(of_whole), t, alone)
    moved = (
        float(opened.floats_err) * largest_sum(opened.noisy) / np.maximum(np.abs(whole), of_whole)
    )
    found["low"] = np.where(alone, 1.0, np.maximum(found["low"] - moved, 0.0))
    found["high"] = np.minimum(found["high"] + moved, 1.0)
    return found


def _found(
    a: Floats, whole: Floats, of_a: Any, both: Any, of_whole: Any, t: Floats, alone: Any
) -> dict[Any, Floats]:
    """Return the shares, their errors, and the hull of the set in [0, 1]; 1 where a is alone."""
    t = t * (1 + _SLACK)
    u, c, v = np.square(t) * of_a, np.square(t) * both, np.square(t) * of_whole
    with np.errstate(all="ignore"):
        value = np.where(whole > 0, np.clip(a / whole, 0, 1), 0.0)
        spread = of_a - 2 * value * both + np.square(value) * of_whole
        error = np.sqrt(np.maximum(spread, 0)) / np.maximum(np.abs(whole), np.sqrt(of_whole))
        q2, q1, q0 = np.square(whole) - v, a * whole - c, np.square(a) - u
        square = v * np.square(a - whole * c / v) + np.maximum(u - c * c / v, 0) * q2
        is_real = square >= 0
        p = q1 + np.copysign(np.sqrt(np.maximum(square, 0)), q1)
        one, other = p / q2, q0 / p
        least, most = np.minimum(one, other), np.maximum(one, other)
        has_0 = q0 <= 0
        has_1 = np.square(a - whole) <= u - 2 * c + v
        # q2 < 0: the set is the outside of the roots, or everything
        low = np.where(least > 0, least, most) * (1 - _FLOATS_ERR)
        low = np.where(has_0 | ~is_real, 0.0, low)
        high = np.where(most < 1, most, least) * (1 + _FLOATS_ERR)
        high = np.where(has_1 | ~is_real, 1.0, high)
    empty = ~((low <= 1) & (high >= 0) & (low <= high))  # no share is near these counts
    low, high = (np.where(empty, value, np.clip(end, 0, 1)) for end in (low, high))
    ends = {"share": value, "error": error, "low": low, "high": high}
    exact = {"share": 1.0, "error": 0.0, "low": 1.0, "high": 1.0}
    return {name: np.where(alone, exact[name], one) for name, one in ends.items()}
