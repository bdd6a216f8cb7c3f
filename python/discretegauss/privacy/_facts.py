"""What is proven of a law's privacy besides its tails: what it costs in zCDP, and how it composes.

Of a law without a line in _facts_by_law.py there is `PrivacyFacts` alone: `delta`, `log_delta`,
`epsilon` of one query and `pld` need no more than its `Family`, if that is a `RationalFamily`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from .._inputs.messages import describe
from .._law import Kind, LawSpec
from ..errors import ParameterValueError


class PrivacyFacts:
    """What is known of any law; every spec is canonical and centred."""

    def rho(self, spec: LawSpec, sensitivity: object) -> Fraction:
        """Return what it costs in zCDP, never too little; `sensitivity` is as a user gives it."""
        del sensitivity
        which = f"generalised Gaussian, got beta = {describe(spec.beta)}"
        if spec.kind is Kind.SKELLAM:
            which = f"Skellam law, got variance = {describe(spec.parameter)}"
        raise ParameterValueError(
            f"law must be a discrete Gaussian or Laplace: no rho is known for a {which}"
        )

    def cancelling_bits(self, spec: LawSpec, change: int) -> int:
        """Return about how many bits cancel in delta; too few cost time alone."""
        del spec, change
        return 8

    def rough_log_delta(self, spec: LawSpec, epsilon: Any, change: int) -> tuple[Any, Any] | None:
        """Return about log(delta), and minus its slope in epsilon; None: there is no quick way."""
        del spec, epsilon, change
        return None

    def dp_event(self, events: Any, spec: LawSpec, sensitivity: object) -> Any:
        """Return the noise as one of dp-accounting's ``events``."""
        return events.ZCDpEvent(rho=float_above(self.rho(spec, sensitivity)), xi=0.0)


class SkellamFacts(PrivacyFacts):
    """The Skellam law, which is nearly a Gaussian of its variance."""

    def cancelling_bits(self, spec: LawSpec, change: int) -> int:
        """Return about the logarithm of sigma/change."""
        return gaussian_cancelling_bits(spec, change)


def gaussian_cancelling_bits(spec: LawSpec, change: int) -> int:
    """Return about the logarithm of sigma/change, the parameter being the variance."""
    variance = spec.parameter
    log_variance = variance.numerator.bit_length() - variance.denominator.bit_length()
    return max(0, log_variance // 2 - change.bit_length()) + 6


def float_above(value: Any) -> float:
    """Return the smallest float that is at least the rational."""
    return float_at_least(arithmetic(64).rational(value).upper)
