"""A release on a sample that an observer may know: Theorem 3 of docs/concepts/shares.md.

The observer sees each coin. With probability 1 - q the person is not in the sample, and the loss is
exactly 0. With probability q the release loses what it loses without sampling.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .._certified.double_double import Floats
from .._inputs.numbers import checked_flag
from .._inputs.privacy_arguments import checked_sampling_rate
from ._outcomes import (
    OutcomeCells,
    RandomOutcome,
    fraction_at_least,
    fraction_at_most,
    product_at_least,
    product_at_most,
)


class Sample(NamedTuple):
    """How people are sampled: the probability q, and whether the coins stay secret."""

    rate: Fraction
    secret: bool = True

    @classmethod
    def of(cls, sampling: object, secret_sample: object) -> Sample:
        """Return what a caller asks for, checked; if everybody takes part, nothing is secret."""
        rate = checked_sampling_rate(sampling)
        return cls(rate, checked_flag(secret_sample, "secret_sample") or rate == 1)


class KnownSample(RandomOutcome):
    """A release, made with a probability that is below 1, beside the coin that decided."""

    def __init__(self, release: RandomOutcome, rate: Fraction) -> None:
        self._release, self.rate = release, rate
        self.symmetric, self.unit = release.symmetric, release.unit

    @property
    def span(self) -> float:
        """Return the distance between the extreme losses, roughly."""
        return self._release.span

    def cells(self, *, adding: bool, widest: float, tilt: float = 0.0) -> OutcomeCells:
        """Return the release's cells with q times their masses, and one cell of loss 0."""
        found = self._release.cells(adding=adding, widest=widest, tilt=tilt)
        with_person, without = self.rate, 1 - self.rate
        low, up = fraction_at_most(with_person), fraction_at_least(with_person)

        def at_most(masses: Floats) -> Floats:
            return np.append(product_at_most(masses, low), fraction_at_most(without))

        def at_least(masses: Floats) -> Floats:
            return np.append(product_at_least(masses, up), fraction_at_least(without))

        return OutcomeCells(
            np.append(found.loss, 0.0),
            np.append(found.spread, 0.0),
            at_most(found.p_low),
            at_least(found.p_up),
            at_most(found.r_low),
            at_least(found.r_up),
            fraction_at_least(with_person * Fraction(found.mass_below)),
            fraction_at_least(with_person * Fraction(found.mass_above)),
            fraction_at_most(with_person * Fraction(found.infinity_mass)),
            None if found.multiple is None else np.append(found.multiple, 0),
        )
