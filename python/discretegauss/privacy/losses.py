"""The losses of one release or of many, in buckets: what composition costs, between bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import Interval, Rational, arithmetic
from .._inputs.foreign_arrays import single
from .._inputs.messages import describe
from .._inputs.numbers import whole_number
from .._inputs.privacy_arguments import (
    at_least_zero,
    positive_number,
    sampling_rate,
    whole_sensitivity,
)
from ..errors import ParameterOverflowError, ParameterTypeError, ParameterValueError
from ..laws import Law, centred
from ._buckets import Above, Below, Cell
from ._loss_cells import (
    FARTHEST,
    ContinuousGaussian,
    ContinuousLaplace,
    IntegerNoise,
    Noise,
    cells_of_noise,
    chosen_width,
    look,
)
from ._masses import ONE, integers

#: Buckets of one direction, at most, unless asked for.
_MOST = 2**17
_MOST_MOST = 2**32

_AT = arithmetic(192)

#: Buckets of a continuous Laplace, whose losses are at both ends and between.
_LAPLACE_BUCKETS = 128


class _Direction:
    """Both bounds of one direction, adding or removing a person."""

    def __init__(self, above: Above, below: Below) -> None:
        self.above, self.below = above, below

    @classmethod
    def of_cells(cls, cells: list[Cell], width: Fraction, most: int) -> _Direction:
        above, below = Above.of_cells(cells, width), Below.of_cells(cells, width)
        return cls(above.cropped(), below.cropped())._within(most)

    @property
    def width(self) -> Fraction:
        return self.above.width

    def _map(self, change: Callable[[Any], Any]) -> _Direction:
        return _Direction(change(self.above), change(self.below))

    def at_width(self, width: Fraction) -> _Direction:
        """Return the same with another width, exactly where the old one is a multiple of it."""
        if (self.width / width).denominator == 1:
            parts = (self.width / width).numerator
            return self if parts == 1 else self._map(lambda bound: bound.refined(parts))
        found = self
        while 2 * found.width <= width:
            found = found._map(lambda bound: bound.coarsened())
        return found if found.width == width else found._map(lambda bound: bound.regridded(width))

    def _within(self, most: int) -> _Direction:
        found = self
        while max(len(found.above.p), len(found.below.p)) > most:
            found = found._map(lambda bound: bound.coarsened())
        return found

    def composed(self, other: _Direction, most: int) -> _Direction:
        width = min(self.width, other.width)
        span = len(self.above.p) * self.width + len(other.above.p) * other.width
        while span > most * width:
            width *= 2
        a = self.at_width(width)
        b = a if other is self else other.at_width(width)
        return _Direction(a.above.composed(b.above), a.below.composed(b.below))._within(most)


class PrivacyLoss:
    """What one release gives away, or many: proven bounds of delta for every epsilon, and back.

    Make one of integer noise by `loss`, else by `of_pair`, `of_pure`, `of_laplace` or
    `of_gaussian`; ``loss ** n`` is what n such releases give away, ``a @ b`` what both do. Objects
    are immutable.

    Losses lie in buckets, whose masses are integers over 2**128, and compose by exact
    multiplication; all that is rounded is rounded away from the truth, so that the upper bound of
    delta is never below it, and the lower never above. The upper bound also holds where a release
    is chosen in view of earlier ones. Both directions are kept: with a person against without, and
    without against with.

    Source: Meiser and Mohammadi, *Tight on Budget? Tight Bounds for r-Fold Approximate Differential
    Privacy* (CCS 2018); connect-the-dots by Doroshenko et al., arXiv 2207.04380.

    Examples
    --------
    >>> import discretegauss as dg
    >>> loss = dg.privacy.loss(dg.DiscreteGaussian(100))
    >>> loss.delta(1) == dg.privacy.delta(dg.DiscreteGaussian(100), 1)
    False
    >>> lower, upper = (loss ** 1000).delta(8, bounds=True)
    >>> lower <= upper < lower * 1.001
    True
    """

    __slots__ = ("_most", "_with", "_without")

    _with: _Direction
    _without: _Direction
    _most: int

    def __init__(self) -> None:
        raise TypeError(
            "make a PrivacyLoss by privacy.loss, or by of_pair, of_pure, of_laplace, of_gaussian"
        )

    @classmethod
    def _of(cls, with_person: _Direction, without: _Direction, most: int) -> PrivacyLoss:
        found = object.__new__(cls)
        object.__setattr__(found, "_with", with_person)
        object.__setattr__(found, "_without", without)
        object.__setattr__(found, "_most", most)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a PrivacyLoss is immutable; cannot set {name}")

    @classmethod
    def _of_cells(
        cls, cells: list[Cell], width: Fraction, most: int, *, symmetric: bool = False
    ) -> PrivacyLoss:
        forward = _Direction.of_cells(cells, width, most)
        if symmetric:
            return cls._of(forward, forward, most)
        backward = _Direction.of_cells([cell.swapped for cell in cells], width, most)
        return cls._of(forward, backward, most)

    @classmethod
    def _of_noise(cls, noise: Noise, sampling: object, width: object, most: object) -> PrivacyLoss:
        rate = sampling_rate(sampling)
        checked_most = _bucket_count(most)
        seen = look(noise, rate)
        if width is None:
            h = chosen_width(noise, seen, rate, checked_most)
        else:
            h = _width(width, 2 * seen.cap, checked_most)
        cells = cells_of_noise(noise, rate, h, seen.cap)
        return cls._of_cells(cells, h, checked_most, symmetric=rate == 1)

    @classmethod
    def of_gaussian(
        cls,
        sigma2: object,
        sensitivity: object = 1,
        *,
        sampling: object = 1,
        width: object = None,
        most: object = _MOST,
    ) -> PrivacyLoss:
        """Return the loss of continuous Gaussian noise with variance sigma2: as `loss`."""
        variance = positive_number(sigma2, "sigma2")
        noise = ContinuousGaussian(variance, positive_number(sensitivity, "sensitivity"))
        return cls._of_noise(noise, sampling, width, most)

    @classmethod
    def of_laplace(
        cls,
        scale: object,
        sensitivity: object = 1,
        *,
        cut: object = None,
        width: object = None,
        most: object = _MOST,
    ) -> PrivacyLoss:
        """Return the loss of continuous Laplace noise, cut off at a distance if one is given.

        Parameters
        ----------
        scale : number
            Of the noise, positive.
        sensitivity : number, optional
            The most that one person changes the answer, positive.
        cut : number, optional
            The noise is conditioned on being at most so far from 0; at least the sensitivity.
        width, most : optional
            As for `loss`.
        """
        exact_scale = positive_number(scale, "scale")
        change = positive_number(sensitivity, "sensitivity")
        exact_cut = None if cut is None else positive_number(cut, "cut")
        if exact_cut is not None and exact_cut < change:
            raise ParameterValueError(
                f"cut must be at least the sensitivity, got {describe(single(cut))}"
            )
        noise = ContinuousLaplace(exact_scale, change, exact_cut)
        largest = min(change / exact_scale, Fraction(int(FARTHEST)))
        checked_most = _bucket_count(most)
        if width is None:
            h = largest / _LAPLACE_BUCKETS
        else:
            h = _width(width, 2 * largest, checked_most)
        cells = cells_of_noise(noise, Fraction(1), h, gmpy2.mpq(largest))
        return cls._of_cells(cells, h, checked_most, symmetric=True)

    @classmethod
    def of_pure(cls, epsilon: object, delta: object = 0, *, most: object = _MOST) -> PrivacyLoss:
        """Return the most that an (epsilon, delta)-private release loses.

        With probability delta all is told, else randomised response tells the truth with odds of
        exp(epsilon): nothing that is (epsilon, delta)-private loses more, also composed (Kairouz,
        Oh and Viswanath, arXiv 1311.0776).
        """
        exact = at_least_zero(epsilon, "epsilon")
        told = at_least_zero(delta, "delta")
        if told > 1:
            raise ParameterValueError(f"delta must be at most 1, got {describe(single(delta))}")
        kept = _AT.rational(1 - told)
        low = _AT.div(kept, _AT.shift(_AT.exp(_AT.rational(exact)), 1))
        high = _AT.sub(kept, low)
        known, none = _AT.rational(told), _AT.rational(0)
        place = 1 if exact else 0
        end: int | None = place
        if exact > FARTHEST:
            exact, end = Fraction(int(FARTHEST)), None
        cells = [
            Cell(known, none, 0, None),
            Cell(none, known, None, None),
            Cell(high, low, place, end),
            Cell(high, low, place, end).swapped,
        ]
        return cls._of_cells(cells, exact or Fraction(1), _bucket_count(most), symmetric=True)

    @classmethod
    def of_pair(
        cls,
        p: object,
        q: object,
        *,
        bounds: bool = False,
        width: object = None,
        most: object = _MOST,
    ) -> PrivacyLoss:
        """Return the loss of a mechanism whose outcomes are few: their probabilities.

        Parameters
        ----------
        p, q : mapping or sequence of numbers
            The probability of each outcome with a person, and without: by outcome, or in one order.
            Each must sum to 1 exactly, so they are fractions, decimals or text as a rule: floats
            mean their exact binary value.
        bounds : bool, optional
            True: each probability is a pair, a lower and an upper bound; a sum of 1 must lie
            between theirs. ``zip(*law.pmf(k, bounds=True))`` gives such pairs.
        width, most : optional
            As for `loss`.

        Examples
        --------
        >>> from discretegauss import privacy
        >>> response = privacy.PrivacyLoss.of_pair(["3/4", "1/4"], ["1/4", "3/4"])
        >>> round(response.delta(0), 12)
        0.5
        """
        pairs = _pairs(p, q, bounds)
        losses = [_loss_of(a, b, same=same) for a, b, same in pairs if a.upper and b.upper]
        checked_most = _bucket_count(most)
        ends = (abs(end) for loss in losses for end in loss if gmpy2.is_finite(end))
        largest = max(ends, default=gmpy2.mpfr(0)) or gmpy2.mpfr(1)
        if width is None:
            h = Fraction(2) ** (gmpy2.get_exp(largest) - 12)
        else:
            h = _width(width, 2 * gmpy2.mpq(largest), checked_most)
        cells, known = [], iter(losses)
        for a, b, _ in pairs:
            if a.upper and b.upper:
                low, high = (
                    gmpy2.mpq(end) / gmpy2.mpq(h) if gmpy2.is_finite(end) else None
                    for end in next(known)
                )
                first = None if low is None else int(low.numerator // low.denominator)
                last = None if high is None else int(-(-high.numerator // high.denominator))
                cells.append(Cell(a, b, first, last))
            elif a.upper:
                cells.append(Cell(a, b, 0, None))
            elif b.upper:
                cells.append(Cell(a, b, None, None))
        return cls._of_cells(cells, h, checked_most)

    def compose(self, *others: PrivacyLoss) -> PrivacyLoss:
        """Return the loss of this release and the others together; ``a @ b`` is the same of two."""
        found = self
        for other in others:
            if not isinstance(other, PrivacyLoss):
                raise ParameterTypeError(f"others must be PrivacyLoss, got {type(other).__name__}")
            found = found._composed(other)
        return found

    def _composed(self, other: PrivacyLoss) -> PrivacyLoss:
        most = max(self._most, other._most)
        forward = self._with.composed(other._with, most)
        if self._with is self._without and other._with is other._without:
            return PrivacyLoss._of(forward, forward, most)
        return PrivacyLoss._of(forward, self._without.composed(other._without, most), most)

    def __matmul__(self, other: object) -> PrivacyLoss:
        return self.compose(other) if isinstance(other, PrivacyLoss) else NotImplemented

    def __pow__(self, releases: object) -> PrivacyLoss:
        n = whole_number(releases, "releases", minimum=1)
        found: PrivacyLoss | None = None
        power = self
        while True:
            if n & 1:
                found = power if found is None else found._composed(power)
            n >>= 1
            if not n:
                return found  # type: ignore[return-value]
            power = power._composed(power)

    @property
    def _directions(self) -> set[_Direction]:
        return {self._with, self._without}

    def delta(self, epsilon: object, *, bounds: bool = False) -> Any:
        """Return the least delta at an epsilon >= 0, or an upper bound close to it.

        Parameters
        ----------
        epsilon : number
            At least 0.
        bounds : bool, optional
            True: return a lower bound, too.

        Returns
        -------
        float or (float, float)
            Never below delta; with ``bounds`` before it a number never above.
        """
        exact = at_least_zero(epsilon, "epsilon")
        upper = max(float_at_least(one.above.delta(exact)) for one in self._directions)
        if not bounds:
            return upper
        return max(float_at_most(one.below.delta(exact)) for one in self._directions), upper

    def epsilon(self, delta: object, *, bounds: bool = False) -> Any:
        """Return the least epsilon >= 0 at a delta, or an upper bound close to it.

        Parameters
        ----------
        delta : number
            From 0 to 1.
        bounds : bool, optional
            True: return a lower bound, too.

        Returns
        -------
        float or (float, float)
            Never below epsilon; infinite where delta is below the probability of an infinite loss.
        """
        exact = at_least_zero(delta, "delta")
        if exact > 1:
            raise ParameterValueError(f"delta must be at most 1, got {describe(single(delta))}")
        upper = max(_float_up(one.above.epsilon(exact)) for one in self._directions)
        if not bounds:
            return upper
        return max(_float_down(one.below.epsilon(exact)) for one in self._directions), upper

    @property
    def infinite(self) -> tuple[float, float]:
        """Bounds on the probability of an infinite loss: below it no delta has an epsilon."""
        lower = max(one.below.infinite for one in self._directions)
        upper = max(one.above.infinite for one in self._directions)
        return _float_down(_AT.down.div(lower, ONE)), _over_one(upper)

    def to_dp_accounting(self) -> Any:
        """Return the upper bounds as a PrivacyLossDistribution of dp-accounting, both directions.

        Raises
        ------
        ImportError
            If dp-accounting is not installed.

        Notes
        -----
        Every probability is rounded up. What dp-accounting then computes, it computes in floats.
        """
        try:
            from dp_accounting.pld import pld_pmf, privacy_loss_distribution
        except ImportError as error:
            raise ImportError("this needs dp-accounting: pip install dp-accounting") from error
        pmfs = []
        for one in (self._with, self._without):
            above = one.at_width(Fraction(float(one.width))).above
            found = {
                above.first + k: _over_one(mass) for k, mass in enumerate(integers(above.p)) if mass
            }
            infinite = _over_one(above.infinite)
            pmfs.append(
                pld_pmf.create_pmf(found, float(above.width), infinite, pessimistic_estimate=True)
            )
        return privacy_loss_distribution.PrivacyLossDistribution(*pmfs)

    def __repr__(self) -> str:
        one = self._with.above
        return f"PrivacyLoss({len(one.p)} buckets of {float(one.width):.6g})"


def loss(
    law: Law,
    sensitivity: object = 1,
    *,
    sampling: object = 1,
    width: object = None,
    most: object = _MOST,
) -> PrivacyLoss:
    """Return the privacy loss of integer noise on a query that one person changes.

    Parameters
    ----------
    law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam
        The noise; its mu must be an integer.
    sensitivity : number, optional
        The most that one person changes the answer, a whole number.
    sampling : number, optional
        The probability with which each person takes part, independently (Poisson sampling): in (0,
        1]. Neighbours differ by one person, added or removed.
    width : number, optional
        The width of the buckets, positive; by default it suits the law. One that makes more than
        ``most`` buckets of a release is refused.
    most : int, optional
        The most buckets, at least 16; where releases make more, two become one.

    Returns
    -------
    PrivacyLoss
        ``loss(...) ** n`` is what n such releases give away.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a parameter is wrong.

    Notes
    -----
    Time: some 0.1 to 1 s; where the noise reaches over more than 65 536 integers up to some 20 s,
    whatever its width, and with a generalised Gaussian or a Skellam law more.

    Losses beyond 2**40 count as infinite, and with these two those beyond 4096.

    Examples
    --------
    >>> import discretegauss as dg
    >>> thousand = dg.privacy.loss(dg.DiscreteGaussian(100)) ** 1000
    >>> thousand.epsilon("1e-6") < 20
    True
    """
    noise = IntegerNoise(centred(law), whole_sensitivity(sensitivity))
    return PrivacyLoss._of_noise(noise, sampling, width, most)


def _float_up(value: Any) -> float:
    return float("inf") if value is None else float_at_least(value)


def _over_one(mass: Any) -> float:
    """Return a mass over 2**128 as a float, rounded up."""
    return float_at_least(_AT.up.div(mass, ONE))


def _float_down(value: Any) -> float:
    return float("inf") if value is None else float_at_most(value)


def _bucket_count(value: object) -> int:
    count = whole_number(value, "most", minimum=16)
    if count > _MOST_MOST:
        raise ParameterOverflowError(f"most must be at most 2**32, got {describe(count)}")
    return count


def _width(value: object, span: Rational, most: int) -> Fraction:
    """Return a width that a caller gives, of buckets over a span of losses."""
    exact = positive_number(value, "width")
    if span > most * exact:
        raise ParameterValueError(
            f"width must be at least {float_at_least(_AT.rational(span / most).upper):.6g}, or "
            f"most larger than {describe(most)}, for losses that differ by up to "
            f"{float_at_least(_AT.rational(span).upper):.6g}, got {describe(single(value))}"
        )
    return exact


def _pairs(p: object, q: object, bounds: bool) -> list[tuple[Interval, Interval, bool]]:
    """Return the probabilities of each outcome, enclosed, and whether they are the same."""
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        outcomes = list(dict.fromkeys([*p, *q]))
        none = (0, 0) if bounds else 0
        p, q = [p.get(x, none) for x in outcomes], [q.get(x, none) for x in outcomes]
    if not (_is_sequence(p) and _is_sequence(q)):
        raise ParameterTypeError(
            "p, q: must be two mappings or two sequences of numbers, "
            f"got {type(p).__name__} and {type(q).__name__}"
        )
    read: Callable[[Any, str], list[Any]] = _enclosed if bounds else _exactly
    found_p, found_q = read(p, "p"), read(q, "q")
    if len(found_p) != len(found_q):
        raise ParameterValueError(
            f"p, q: must have as many outcomes each, got {len(found_p)} and {len(found_q)}"
        )
    if bounds:
        return [(a, b, False) for a, b in zip(found_p, found_q, strict=True)]
    return [
        (_AT.rational(a), _AT.rational(b), a == b) for a, b in zip(found_p, found_q, strict=True)
    ]


def _exactly(values: Sequence[object], name: str) -> list[Fraction]:
    numbers = [at_least_zero(value, name) for value in values]
    if sum(numbers) != 1:
        raise ParameterValueError(
            f"{name} must sum to 1 exactly (floats mean their exact binary value; fractions "
            "and text such as '1/3' mean what they say; bounds=True takes pairs of bounds)"
        )
    return numbers


def _enclosed(values: Sequence[object], name: str) -> list[Interval]:
    found = []
    for place, pair in enumerate(values):
        if not _is_pair(pair):
            raise ParameterTypeError(
                f"{name} must hold pairs, a lower and an upper bound, but has "
                f"{type(pair).__name__} at place {place}"
            )
        lower, upper = (at_least_zero(end, name) for end in pair)  # type: ignore[attr-defined]
        if lower > upper:
            raise ParameterValueError(
                f"{name} must have lower bounds that are at most the upper ones, but has not "
                f"at place {place}"
            )
        found.append((lower, upper))
    if not sum(lower for lower, _ in found) <= 1 <= sum(upper for _, upper in found):
        raise ParameterValueError(f"{name} must have bounds between which a sum of 1 lies")
    return [Interval(_AT.rational(low).lower, _AT.rational(up).upper) for low, up in found]


def _loss_of(a: Interval, b: Interval, *, same: bool) -> Interval:
    """Return the loss of an outcome that either law may have."""
    if same:
        return _AT.rational(0)
    low = _AT.down.log(_AT.down.div(a.lower, b.upper)) if a.lower else -gmpy2.inf()
    high = _AT.up.log(_AT.up.div(a.upper, b.lower)) if b.lower else gmpy2.inf()
    return Interval(low, high)


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_pair(value: object) -> bool:
    return _is_sequence(value) and len(value) == 2  # type: ignore[arg-type]
