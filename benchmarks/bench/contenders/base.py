"""What a case and a contender are: the only two ideas the benchmark suite is made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Law = Literal["gaussian", "laplace"]
Shape = Literal["vector", "scalar"]

Draw = Callable[[int], object]
"""Draws n samples and returns or drops them; this is what is timed."""


@dataclass(frozen=True)
class Case:
    """One law with one parameter, drawn in bulk or one call at a time."""

    law: Law
    parameter: int  # sigma2 of the Gaussian, scale of the Laplace
    shape: Shape = "vector"

    @property
    def name(self) -> str:
        """For people and for --json, such as ``gaussian sigma2=10^4 vector``."""
        symbol = "sigma2" if self.law == "gaussian" else "scale"
        return f"{self.law} {symbol}={_power_of_ten(self.parameter)} {self.shape}"


def _power_of_ten(value: int) -> str:
    """10^100 for 10**100; numbers below 10^4 as they are."""
    exponent = len(str(value)) - 1
    return f"10^{exponent}" if value >= 10_000 and value == 10**exponent else str(value)


class CannotRunError(Exception):
    """Raised by `prepare`: this contender cannot do this case of its law; the text says why."""


@dataclass(frozen=True)
class Contender:
    """One way to draw: a name, what it promises, and how to set it up for a case."""

    name: str
    secure: bool
    """Every bit comes from the operating system's generator, or from one keyed by it."""

    prepare: Callable[[Case], Draw]
    """Set up outside the timed region; raises `CannotRunError` where it has nothing to offer."""

    exact: Callable[[Case], bool]
    """Draws the law exactly: no float decides, nothing is rounded, saturated or cut."""

    laws: tuple[Law, ...] = ("gaussian", "laplace")
    """The laws that it has; in the cases of other laws it is not asked."""

    shapes: tuple[Shape, ...] = ("vector", "scalar")
    """The same for the cases' shapes."""

    note: str = ""
    """What a reader of its figures must know."""


@dataclass(frozen=True)
class Missing:
    """A contender that is not installed here; it is listed as skipped, with the reason."""

    name: str
    reason: str
    install: str = ""
    """The line that installs it, if one does."""


def fits_int64(case: Case) -> bool:
    """Whether 64 bits hold the draws of a case but for less than 2^-128 of them."""
    standard_deviations = 14  # beyond this, less than 2^-128 of the Gaussian
    return case.law == "laplace" or math.isqrt(case.parameter) * standard_deviations < 2**63


def always(_case: Case) -> bool:
    """For `Contender.exact`: exact in every case."""
    return True


def never(_case: Case) -> bool:
    """For `Contender.exact`: exact in no case."""
    return False


GAUSSIAN_SIGMA2 = (1, 100, 10**4, 10**6, 10**100)
LAPLACE_SCALES = (1, 10, 1000)

CASES = (
    *(Case("gaussian", sigma2) for sigma2 in GAUSSIAN_SIGMA2),
    *(Case("laplace", scale) for scale in LAPLACE_SCALES),
    Case("gaussian", 100, "scalar"),
)
