"""The functions of a law at many integers at once, in float64.

Relative error at most 1e-14 (near the smallest floats: one unit of their last place), given that
np.exp, np.log and np.log1p are right to 4 units of the last place, which is what numpy tests for.

The exponent E = phi(x) - phi(m0) comes from the law's `Family` as a sum of two floats, with an
error below 2**-68 for E up to 1024: exp(-E) is as good as the exponential function.

Whatever is outside the range of these arguments is left to the certified functions, one by one.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._law import LawSpec
from .double_double import Pair, factor
from .families import family_of
from .family import mirrored, nearest_integer
from .floats import float_value
from .interval import arithmetic
from .lattice_sums import canonical
from .pair_arrays import rounded_values
from .pair_weights import DOUBLINGS
from .probability import Tail, kept_normaliser, logpmf, probability
from .wide_tails import tails_in_pieces

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
_Bools = NDArray[np.bool_]

#: Integers below are looked at.
_LARGEST = 2**61
#: Integers up to this distance from m0 are floats, and their squares two floats.
_FURTHEST = 2**53
#: Tails are summed term by term over at most so many integers, and so many for each one asked for.
_MOST_TERMS, _TERMS_EACH = 2**21, 256
#: Beyond that, a Gaussian's are interpolated: so many tails are worth the time.
MANY_TAILS = 256
#: Both where exp(-E) is at least exp(-600): no term is near the smallest floats.
_LAST_EXPONENT = 600
#: A tail below exp(-760) is 0 or the smallest float.
_NOTHING = 760


def vector_values(name: str, spec: LawSpec, ks: _Integers) -> tuple[_Floats, _Bools]:
    """Return the function of that name at integers, and where that is good to 1e-14.

    Of a law that `rounds_arrays`, where it is the value that the certified functions round to.

    Parameters
    ----------
    name : str
        pmf, logpmf, cdf, logcdf, sf or logsf.
    spec : LawSpec
        A law.
    ks : ndarray of int64
        Integers, one axis.
    """
    spec = canonical(spec)
    if not supported(spec):
        return np.empty(ks.size), np.zeros(ks.size, np.bool_)
    if family_of(spec).rounds_arrays:
        return rounded_values(name, spec, ks)
    if name == "pmf":
        return _pmf(spec, ks)
    if name == "logpmf":
        return _logpmf(spec, ks)
    return _tails(name, spec, ks)


def supported(spec: LawSpec) -> bool:
    """Return whether a canonical law is one of those that this module can do."""
    return family_of(spec).has_exponents(spec)


def _usable(xs: _Integers) -> _Bools:
    # np.abs of the least integer is that again, below 0
    return (xs > -_LARGEST) & (xs < _LARGEST)


# --- exponents


class _Constants(NamedTuple):
    """Of a law, each good to some 100 bits, log P(X = m0) to a float."""

    m0: int
    p0: Pair  # P(X = m0), as high (1 + low)
    p0_small: Pair  # the same times exp(-512); 0 of very wide laws
    log_p0: float


@lru_cache(maxsize=64)
def _constants(spec: LawSpec) -> _Constants:
    bits = 150
    at = arithmetic(200)
    m0, total = kept_normaliser(spec, bits)
    p0 = at.div(at.rational(1), total)
    return _Constants(
        m0,
        factor(p0),
        factor(at.mul(p0, at.exp(at.rational(-512)))),
        # of a narrow law it is tiny, and takes more bits
        float_value(lambda bits: logpmf(spec, m0, bits)),
    )


def _exponents(spec: LawSpec, c: _Constants, xs: _Integers) -> tuple[_Floats, _Floats, _Bools]:
    """Return E = phi(x) - phi(m0) = high + low, and where that is good."""
    good = _usable(xs)
    steps = np.where(good, xs, c.m0) - c.m0
    good &= np.abs(steps) <= _FURTHEST
    high, low = family_of(spec).exponents(spec, np.where(good, steps, 0).astype(np.float64))
    return high, low, good


def _pmf(spec: LawSpec, xs: _Integers) -> tuple[_Floats, _Bools]:
    c = _constants(spec)
    high, low, good = _exponents(spec, c, xs)
    far = high > 600
    # high - 512 is exact; past 1024 the result is 0 whatever the rest
    exponential = np.exp(-(np.minimum(high, 1024.0) - np.where(far, 512.0, 0.0)))
    scaled = exponential * (1.0 + (np.where(far, c.p0_small.low, c.p0.low) - low))
    return scaled * np.where(far, c.p0_small.high, c.p0.high), good


def _logpmf(spec: LawSpec, xs: _Integers) -> tuple[_Floats, _Bools]:
    c = _constants(spec)
    high, low, good = _exponents(spec, c, xs)
    # both parts are at most 0: nothing cancels
    return (c.log_p0 - high) - low, good


# --- tails


def _tails(name: str, spec: LawSpec, ks: _Integers) -> tuple[_Floats, _Bools]:
    """Return cdf, sf or their logarithms.

    Each is the tail P(Y >= m), m >= mu, of X or of -X, or 1 less that. Only tails up to 1/2 are
    used: there 1 - T has the relative error of T at most, log T twice that (log 2 > 1/2), and
    log(1 - T) twice that.
    """
    above = name in ("sf", "logsf")
    c = math.ceil(spec.mu)
    values, good = np.empty(ks.size), np.zeros(ks.size, np.bool_)
    usable = _usable(ks)
    right = ks >= (c - 1 if above else c)
    for side, law, complement in ((right, spec, not above), (~right, mirrored(spec), above)):
        places = np.flatnonzero(side & usable)
        ms = ks[places] + 1 if law is spec else -ks[places]
        tails, found = upper_tails(law, ms)
        found &= tails <= 0.5
        tails = np.where(found, tails, 0.5)
        if name in ("cdf", "sf"):
            missing = np.flatnonzero(~found)
            exponent = _LAST_EXPONENT if complement else _NOTHING
            beyond = missing[_beyond(law, ms[missing], exponent)]
            tails[beyond], found[beyond] = 0.0, True
            tails = 1.0 - tails if complement else tails
        else:
            tails = np.log1p(-tails) if complement else np.log(tails)
        values[places], good[places] = tails, found
    return values, good


def _beyond(spec: LawSpec, ms: _Integers, exponent: int) -> _Bools:
    """Return where P(X >= m) is certainly below exp(-exponent), for m >= mu.

    P(X >= m)/P(X = m) falls as m grows (the weights are log-concave), and m0 is not above m: so
    P(X >= m) <= P(X >= m0) P(X = m)/P(X = m0) <= exp(-E).
    """
    high, _, good = _exponents(spec, _constants(spec), ms)
    return good & (high > exponent + 1)


def upper_tails(spec: LawSpec, ms: _Integers) -> tuple[_Floats, _Bools]:
    """Return P(X >= m) for m >= mu, and where it was found."""
    values, found = np.empty(ms.size), np.zeros(ms.size, np.bool_)
    within = np.flatnonzero(ms <= last_term(spec))
    if not within.size:
        return values, found
    first, last = int(ms[within].min()), int(ms[within].max())
    table = tail_table(spec, first, last, most=_TERMS_EACH * within.size)
    if table is not None:
        values[within], found[within] = table[ms[within] - first], True
    elif within.size >= MANY_TAILS or family_of(spec).constant_tail_ratio:
        tails = tails_by_first_terms(spec, ms[within])
        if tails is not None:
            values[within], _, found[within] = tails
    return values, found


def tails_by_first_terms(spec: LawSpec, ms: _Integers) -> tuple[_Floats, _Floats, _Bools] | None:
    """Return P(X >= m) and P(X = m) for mu <= m <= `last_term`, and where they are good.

    None if the law has no fast way to tails.
    """
    steps = (ms - nearest_integer(spec.mu)).astype(np.float64)
    family = family_of(spec)
    terms, good = _pmf(spec, ms)
    ratios = family.tail_ratios_in_floats(spec, steps)
    if ratios is not None:
        return terms * ratios, terms, good
    tails = tails_in_pieces(spec, ms) if family.rounds_arrays else None
    return None if tails is None else (np.ldexp(tails.high, -DOUBLINGS), terms, good)


def tail_table(spec: LawSpec, first: int, last: int, *, most: int) -> _Floats | None:
    """Return P(X >= m) for m = first, ..., last + 1; None if they are out of range, or too many.

    Parameters
    ----------
    spec : LawSpec
        A law for which `supported`.
    first : int
        At least mu.
    last : int
        The last integer of the table but one.
    most : int
        So many terms are worth the time.

    Notes
    -----
    The terms, and the tail after them by the certified functions, are summed from the far end by
    doubling: each sum is the result of at most 22 roundings of positive numbers, hence a relative
    error of at most 22 * 2**-53 more than that of the terms.
    """
    n = last - first + 1
    if n > min(_MOST_TERMS, most) or last > last_term(spec):
        return None
    terms, good = _pmf(spec, np.arange(first, last + 1))
    if not good.all():
        return None
    rest = Tail(spec, last + 1, complement=False)
    sums = np.append(terms, float_value(lambda bits: probability(rest, bits)))
    step = 1
    while step <= n:
        sums[:-step] += sums[step:]
        step *= 2
    return sums


def last_term(spec: LawSpec) -> int:
    """Return an integer, at least mu - 1, up to which E is at most _LAST_EXPONENT."""
    at = arithmetic(64)
    reach = family_of(spec).distance_of(spec, at.rational(_LAST_EXPONENT), at).lower
    return nearest_integer(spec.mu) + int(min(reach, _FURTHEST)) - 1
