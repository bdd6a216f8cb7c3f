"""The masses of `accounting.pld`, integer by integer in arrays of pairs of floats, rounded up.

An integer x of probability P and loss j h + r, 0 < r <= h, gives

    P (1 - exp(-r))/(1 - exp(-h))    to (j + 1) h,    and the rest to j h:

these are the rule's two masses for P alone, and both are linear in P. What is added up is, by
error:

- P, to 2**-88 of it: exponents E up to 1000 are good to 2**-100 (E + 1), exponentials to 2**-94;
- r, to e = 2**-98 (E + 1), E the largest, from the difference of two exponents;
- the quotient, which is at most 1, therefore to s = e (1 + 1/h) + 2**-84, and P s is added to both
  masses. An r that seems to be below 0 or above h, by no more than e, gives an upper bound at one
  multiple and s at the next: as much as the true masses or more, at no smaller losses;
- sums of at most 258 positive pairs, to 2**-96.

At the end each mass is raised by 2**-80 of it, and rounded up to a float.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._certified.double_double import (
    Floats,
    Pair,
    Pairs,
    exact_product,
    exact_sum,
    in_chunks,
    normalised,
    pair,
    positive_sum,
    product,
)
from .._certified.double_double_functions import exponential, exponential_minus_1
from .._certified.families import family_of
from .._certified.interval import Interval, arithmetic
from .._law import LawSpec
from ._privacy_loss import total_weight

#: For so many integers, so many between two multiples, exponents and h up to here, and this s.
MOST_INTEGERS, _MOST_IN_A_CELL = 2**18, 256
_LARGEST_EXPONENT, _LARGEST_ERROR = 500.0, 2.0**-64

_LAST_RAISE = 2.0**-80

#: Multiples so large are floats, and so are those beside them.
_MOST_MULTIPLES = 2**50


def loss_masses(
    spec: LawSpec, change: int, interval: float, stop: int, below: Interval
) -> dict[int, float] | None:
    """Return the masses of the integers from -stop to stop - 1 and of all below.

    Parameters
    ----------
    spec : LawSpec
        The law, centred.
    change : int
        The sensitivity, at least 1.
    interval : float
        h.
    stop : int
        At least 1.
    below : Interval
        P(X < -stop), which counts at the multiple above the least loss.

    Returns
    -------
    dict or None
        Of each multiple an upper bound of its mass; None where that is left to other means: of very
        many integers, or where errors would show.
    """
    inside = stop + change <= MOST_INTEGERS and interval <= _LARGEST_EXPONENT
    if not (inside and family_of(spec).has_exponents(spec)):
        return None
    with np.errstate(all="ignore"):  # the caller's settings are for the caller's arithmetic
        return _masses(spec, change, interval, stop, below)


def _masses(
    spec: LawSpec, change: int, interval: float, stop: int, below: Interval
) -> dict[int, float] | None:
    xs = np.arange(-stop, stop, dtype=np.float64)
    exponents, after = (family_of(spec).exponents(spec, at) for at in (xs, xs + change))
    largest = max(exponents.high.max(), after.high.max())
    error_of_rest = 2.0**-98 * (largest + 1)
    error = error_of_rest * (1 + 1 / interval) + 2.0**-84
    if largest > _LARGEST_EXPONENT or error > _LARGEST_ERROR:
        return None
    j, rest = _multiples(_difference(after, exponents), interval)
    steps = np.diff(j)
    starts = np.append(0, np.flatnonzero(steps) + 1)
    most = np.diff(starts, append=j.size).max()
    if most > _MOST_IN_A_CELL or np.abs(j).max() > _MOST_MULTIPLES or steps.min() < 0:
        return None
    p = _probabilities(spec, exponents)
    upper, lower = _shares(p, rest, interval, error)
    upper, lower = _cell_sums(upper, starts), _cell_sums(lower, starts)
    return _rounded_up(j[starts].astype(np.int64), upper, lower, pair(below))


def _difference(a: Pairs, b: Pairs) -> Pairs:
    high, low = exact_sum(a.high, -b.high)
    return normalised(high, low + (a.low - b.low))


def _multiples(losses: Pairs, interval: float) -> tuple[Floats, Pairs]:
    """Return j and r with loss = j h + r, 0 < r <= h, up to an error that is next to nothing."""
    j = np.ceil(losses.high / interval) - 1
    for _ in range(2):  # the quotient was rounded, and losses.low left out
        high, low = exact_product(j, interval)
        rest = _difference(losses, Pairs(high, low))
        j = j + np.where(rest.high > interval, 1.0, 0.0) - np.where(rest.high <= 0, 1.0, 0.0)
    high, low = exact_product(j, interval)
    return j, _difference(losses, Pairs(high, low))


def _probabilities(spec: LawSpec, exponents: Pairs) -> Pairs:
    at = arithmetic(200)
    at_0 = pair(at.div(at.rational(1), total_weight(spec, 150)))
    return in_chunks(lambda high, low: product(exponential(Pairs(-high, -low)), at_0), *exponents)


def _shares(p: Pairs, rest: Pairs, interval: float, error: float) -> tuple[Pairs, Pairs]:
    """Return upper bounds of what each integer gives to (j + 1) h and to j h."""
    at = arithmetic(200)
    whole = at.expm1(at.rational(-Fraction(interval)))
    per_whole = pair(at.div(at.rational(1), whole))
    share = in_chunks(
        lambda high, low: product(exponential_minus_1(Pairs(-high, -low)), per_whole), *rest
    )
    high, low = exact_sum(-share.high, 1.0)
    other = normalised(high, low - share.low)
    more = Pairs(p.high * error, np.zeros_like(p.high))
    return positive_sum(product(p, share), more), positive_sum(product(p, other), more)


def _cell_sums(values: Pairs, starts: NDArray[np.intp]) -> Pairs:
    """Return the sums of values from each start to the next."""
    counts = np.diff(starts, append=values.high.size)
    sums = Pairs(values.high[starts], values.low[starts])
    for i in range(1, int(counts.max())):
        cells = np.flatnonzero(counts > i)
        at = starts[cells] + i
        sums.high[cells], sums.low[cells] = positive_sum(
            Pairs(sums.high[cells], sums.low[cells]), Pairs(values.high[at], values.low[at])
        )
    return sums


def _rounded_up(j: NDArray[np.int64], upper: Pairs, lower: Pairs, below: Pair) -> dict[int, float]:
    multiples = np.union1d(j, j + 1)
    sums = Pairs(*(np.zeros(multiples.size) for _ in range(2)))
    for part, at in ((lower, j), (upper, j + 1)):
        places = np.searchsorted(multiples, at)
        sums.high[places], sums.low[places] = positive_sum(
            Pairs(sums.high[places], sums.low[places]), part
        )
    first = slice(1, 2)  # j + 1 for the least j
    sums.high[first], sums.low[first] = positive_sum(
        Pairs(sums.high[first], sums.low[first]), below
    )
    high, low = exact_sum(sums.high, sums.low + sums.high * _LAST_RAISE)
    masses = np.where(low > 0, np.nextafter(high, np.inf), high)
    return dict(zip(multiples.tolist(), masses.tolist(), strict=True))
