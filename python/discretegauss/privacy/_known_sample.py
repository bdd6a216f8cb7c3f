"""A release on a sample that an observer may know: Theorem 3 of docs/known_samples.md.

The observer sees each coin. With probability 1 - q the person is not in the sample, and the loss is
exactly 0. With probability q the release loses what it loses without sampling.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .._certified.double_double import Floats
from .._certified.floats import float_at_least, float_at_most
from .._certified.interval import arithmetic
from .._inputs.numbers import checked_flag
from .._inputs.privacy_arguments import checked_sampling_rate
from ._outcomes import TINY, Cells, Release

_AT = arithmetic(192)

#: More than the relative error of a product of two floats.
_ERROR = 2.0**-50


class Sample(NamedTuple):
    """How people are sampled: the probability q, and whether the coins stay secret."""

    rate: Fraction
    secret: bool = True

    @classmethod
    def of(cls, sampling: object, secret_sample: object) -> Sample:
        """Return what a caller asks for, checked; if everybody takes part, nothing is secret."""
        rate = checked_sampling_rate(sampling)
        return cls(rate, checked_flag(secret_sample, "secret_sample") or rate == 1)


class KnownSample(Release):
    """A release, made with a probability that is below 1, beside the coin that decided."""

    def __init__(self, release: Release, rate: Fraction) -> None:
        self._release, self._rate = release, rate
        self.symmetric, self.unit = release.symmetric, release.unit

    @property
    def span(self) -> float:
        """Return the distance between the extreme losses, roughly."""
        return self._release.span

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> Cells:
        """Return the release's cells with q times their masses, and one cell of loss 0."""
        found = self._release.cells(adding=adding, widest=widest, tilt=tilt)
        with_person, without = self._rate, 1 - self._rate
        low, up = _low(with_person), _up(with_person)

        def at_most(masses: Floats, rest: float) -> Floats:
            return np.append(np.maximum(masses * low * (1 - _ERROR) - TINY, 0.0), rest)

        def at_least(masses: Floats, rest: float) -> Floats:
            return np.append(masses * up * (1 + _ERROR) + TINY, rest)

        return Cells(
            np.append(found.loss, 0.0),
            np.append(found.spread, 0.0),
            at_most(found.p_low, _low(without)),
            at_least(found.p_up, _up(without)),
            at_most(found.r_low, _low(without)),
            at_least(found.r_up, _up(without)),
            _up(with_person * Fraction(found.mass_below)),
            _up(with_person * Fraction(found.mass_above)),
            _low(with_person * Fraction(found.infinity_mass)),
            None if found.multiple is None else np.append(found.multiple, 0),
        )


def _low(exact: Fraction) -> float:
    return float_at_most(_AT.rational(exact).lower)


def _up(exact: Fraction) -> float:
    return float_at_least(_AT.rational(exact).upper)
