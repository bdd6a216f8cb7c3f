"""A radius that holds S = sum of w_j X_j, for draws of any laws with any weights.

Let u be a unit and w_j = u v_j + e_j, with whole v_j. Then S is u times a sum with whole weights,
whose law ``_ring.py`` has, and the rest, sum of e_j X_j, which ``_chernoff.py`` bounds. The rest
gets ``_OF_REST`` of the miss. If u divides all weights, there is no rest, and the radius is the
least, up to the rounding of the ring. If the ring would be too large, u is the largest of some
candidates whose rest is small.

*Wide laws.* If u is larger than a weight, its draw is first split into X = q Y + Z with w q near u:

*discrete Laplace*: X = G - H with geometric G and H. G is q floor(G/q) and a remainder, which is
independent of it, because a geometric law has no memory. So Y has the scale scale/q, and Z is the
difference of two remainders in [0, q - 1]. By Hoeffding Z is sub-Gaussian with (q - 1)**2/2.

*discrete Gaussian*: let Y and Z have sigma2_Y = (sigma2 - 3 q**2)/q**2 and sigma2_Z = 3 q**2. The
mass of q Y + Z at x is in proportion to exp(-x**2/(2 sigma2)) times the sum over y of
exp(-(y - c)**2/(2 tau)), where c depends on x and tau = sigma2_Y sigma2_Z/sigma2. By Poisson
summation this sum changes with c by less than 1 -+ 2.001 exp(-2 pi**2 tau). As 18 q**2 <= sigma2,
tau is at least 2.5, and every probability is that of q Y + Z up to a factor below 1 + 2**-64.

*Many discrete Gaussians* of one weight are one, up to such a factor (``_certified/convolution.py``
has the proof), unless sigma2 is below about 3. The miss is divided by all these factors.

Other laws are not split. If the ring is too large for them, Chernoff's bound of S is the radius, as
it is where that is smaller or the miss is near the rounding of the ring.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np

from .._certified.convolution import density_ratio_upper
from ..errors import ParameterOverflowError
from ..laws import DiscreteGaussian, DiscreteLaplace
from ._chernoff import Cells
from ._chernoff import radius as chernoff_radius
from ._ring import LARGEST, ring_radius

_OF_REST = Fraction(1, 1024)

_SMALL_REST = 0.002
"""The deviation of a rest that counts as small, in deviations of S."""

_DEVIATIONS = 16
"""About how many deviations of S a ring has."""

_NEXT_TO_1 = Fraction(1, 2**62)
"""More than what a split, or draws taken for one, add to a factor of 1."""

_TRIES = 4
"""So many units are tried if the first makes too large a ring."""

_PARTS = np.concatenate([np.arange(1, 1024), np.rint(1024 * 2 ** (np.arange(40) / 4))])
"""Candidates for the unit are the largest weight divided by these, and multiples of it."""


def radius(cells: Cells, miss: Fraction, doubts: Cells | None = None) -> Fraction:
    """Return an r with P(abs(S) > r) <= miss that is proven.

    `cells` has the number of draws for each weight and law; weights of 0 have no part. `doubts` has
    the draws by how far their true weights may be from the given ones, all above 0.
    """
    cells = {(w, law): n for (w, law), n in cells.items() if w and n}
    extra = Fraction(0)
    if doubts:
        extra = chernoff_radius(doubts, miss * _OF_REST)
        miss *= 1 - _OF_REST
    if not cells:
        return extra
    if not doubts and len(cells) == 1:
        (((w, law), n),) = cells.items()
        if (exact := _of_equals(law, n, miss)) is not None:
            return w * exact
    whole = chernoff_radius(cells, miss)
    joined, factors = _joined(cells)
    most = miss * (1 - factors * _NEXT_TO_1)
    for unit in _units(joined):
        found = _in_units(
            [_SplitDraws(w, law, n, unit) for (w, law), n in joined.items()], unit, most
        )
        if found is not None:
            return min(whole, found) + extra
    return whole + extra


def _in_units(parts: Sequence[_SplitDraws], unit: Fraction, miss: Fraction) -> Fraction | None:
    """Return the radius by the ring of this unit; None if it is too large or not precise enough."""
    main: Counter[tuple[int, Any]] = Counter()
    rest: Counter[tuple[Fraction, Any]] = Counter()
    for part in parts:
        main[part.v, part.law] += part.n
        rest[abs(part.off), part.law] += part.n
    main = Counter({key: n for key, n in main.items() if key[0]})
    rest = Counter({key: n for key, n in rest.items() if key[0]})
    proxy = sum((part.n * part.weight**2 * part.proxy for part in parts), Fraction(0))
    extra = Fraction(0)
    if rest or proxy:
        extra = chernoff_radius(rest, miss * _OF_REST, proxy)
        miss *= 1 - _OF_REST
    found = ring_radius(main, miss) if main else 0
    return None if found is None else unit * found + extra


class _SplitDraws:
    """Draws of one weight and law, in a unit: w X = unit v Y + off Y + w Z.

    `proxy` is the sub-Gaussian parameter of Z.
    """

    def __init__(self, weight: Fraction, law: Any, n: int, unit: Fraction) -> None:
        self.weight, self.n = weight, n
        self.q = q = _split_at(law, round(unit / weight))
        self.law, self.proxy = law, Fraction(0)
        if q > 1 and isinstance(law, DiscreteLaplace):
            self.law, self.proxy = DiscreteLaplace(law.scale / q), Fraction((q - 1) ** 2, 2)
        elif q > 1:
            self.law = DiscreteGaussian((law.sigma2 - 3 * q * q) / (q * q))
            self.proxy = Fraction(3 * q * q)
        self.v = round(weight * q / unit)
        self.off = weight * q - unit * self.v


def _split_at(law: Any, wanted: int) -> int:
    """Return the q nearest to the wanted one at which the law may be split; 1 is no split."""
    if isinstance(law, DiscreteLaplace):
        return max(wanted, 1)
    if isinstance(law, DiscreteGaussian):
        return max(min(wanted, math.isqrt(math.floor(law.sigma2 / 18))), 1)
    return 1


def _of_equals(law: Any, n: int, miss: Fraction) -> int | None:
    """Return the least radius of a sum of n draws, if its law is known."""
    if n == 1:
        return int(law.isf(miss / 2))
    try:
        return int(law.sum(n).interval(1 - miss)[1])
    except ParameterOverflowError:
        return None


def _joined(cells: Cells) -> tuple[Cells, int]:
    """Return the draws, with many discrete Gaussians as one, and how many factors next to 1."""
    found: Counter[tuple[Fraction, Any]] = Counter()
    for (w, law), n in cells.items():
        if isinstance(law, DiscreteGaussian) and n > 1:
            ratio = density_ratio_upper(law.sigma2, n)
            if ratio is not None and ratio <= 1 + gmpy2.mpq(1, 2**64):
                law, n = DiscreteGaussian(n * law.sigma2), 1  # noqa: PLW2901
        found[w, law] += n
    return found, len(cells) + sum(found.values())


def _units(cells: Cells) -> Iterator[Fraction]:
    """Return a unit that divides all weights, unless it is too small, then some with a small rest.

    The latter are the largest candidate whose rest is small, or that with the least rest, and its
    multiples.
    """
    most, widest = max(w for w, _ in cells), max(float(law.std()) for _, law in cells)
    weights = np.array([float(w / most) for w, _ in cells])
    widths = np.array([float(law.std()) / widest for _, law in cells])
    draws = np.array(list(cells.values()), np.float64)
    deviation = math.sqrt(float(np.sum(draws * np.square(weights * widths))))
    least = deviation * widest * _DEVIATIONS / LARGEST  # in units of the largest weight
    common = math.lcm(*(w.denominator for w, _ in cells))
    divisor = Fraction(math.gcd(*(int(w * common) for w, _ in cells)), common)
    if divisor >= most * Fraction(least / 2):
        yield divisor
    widest_unit = max(0.0, math.log2(deviation * widest))
    wide = np.rint(2 ** (np.arange(int(4 * widest_unit), 3, -1) / 4))
    units = np.concatenate([wide, 1 / _PARTS])
    units = units[units >= least][:, None]
    if not units.size:
        return
    largest = [float(_split_at(law, 2**1000)) for _, law in cells]
    q = np.clip(np.rint(units / weights), 1, largest)
    off = weights * q - units * np.rint(weights * q / units)
    laplace = np.array([isinstance(law, DiscreteLaplace) for _, law in cells])
    proxy = np.where(q > 1, np.where(laplace, (q - 1) ** 2 / 2, 3 * q**2), 0) / widest**2
    rest = np.sum(draws * (np.square(off * widths / q) + weights**2 * proxy), axis=1)
    small = np.flatnonzero(rest <= (_SMALL_REST * deviation) ** 2)
    found = float(units[int(small[0]) if small.size else int(np.argmin(rest)), 0])
    best = Fraction(round(found)) if found >= 1 else Fraction(1, round(1 / found))
    yield from (most * best * 2**i for i in range(_TRIES))
