"""What is proven of a law's privacy besides its tails: what it costs in zCDP, and how it composes.

Of a law without a line in _facts_by_law.py there is `PrivacyFacts` alone: `delta`, `log_delta`,
`epsilon` of one query and `pld` need no more than its `Family`, if that is a `RationalFamily`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2

from .._certified.floats import float_at_least
from .._certified.interval import arithmetic
from .._inputs.messages import describe
from .._law import LawSpec
from ..errors import ParameterValueError
from ._composition import OneQuery

__all__ = ["PrivacyFacts", "float_above"]


class PrivacyFacts:
    """What is known of any law; every spec is canonical and centred."""

    def rho(self, spec: LawSpec, sensitivity: object) -> Fraction:
        """Return what it costs in zCDP, never too little; `sensitivity` is as a user gives it."""
        del sensitivity
        raise ParameterValueError(
            "law must be a discrete Gaussian or Laplace: no rho is known for a generalised "
            f"Gaussian, got beta = {describe(spec.beta)}"
        )

    def as_one_query(self, spec: LawSpec, change: int, queries: int) -> OneQuery:
        """Return the single query that stands for so many, each changed by at most ``change``."""
        if queries != 1:
            raise ParameterValueError(
                "queries must be 1 unless the law is a discrete Gaussian (compose others by "
                f"discretegauss.privacy.pld), got {describe(queries)}"
            )
        return OneQuery(spec, change, gmpy2.mpq(1), spec, 1, None)

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


def float_above(value: Any) -> float:
    """Return the smallest float that is at least the rational."""
    return float_at_least(arithmetic(64).rational(value).upper)
