"""A privacy budget, as the user states it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from fractions import Fraction

from ..errors import ParameterTypeError, ParameterValueError
from .keywords import with_hints
from .messages import describe, refused, written
from .numbers import exact_rational
from .privacy_arguments import at_least_zero, positive_number

_DIGITS = Context(prec=12)
"""Numbers of at most 12 digits are printed as decimals, all others as fractions."""


@dataclass(frozen=True, init=False, repr=False, slots=True)
class Budget:
    """A privacy budget: rho of zCDP, or epsilon, alone or with delta.

    Parameters
    ----------
    rho : number, optional
        The zCDP budget, positive.
    epsilon, delta : number, optional
        In place of rho: epsilon at least 0, delta below 1, and 0 by default. If delta = 0, which is
        pure differential privacy, epsilon must be positive; only the discrete Laplace satisfies it.

    Attributes
    ----------
    rho, epsilon, delta : Fraction or None
        The exact values of the arguments.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If a number breaks its rule, or if the call has neither rho nor epsilon.

    Examples
    --------
    >>> from discretegauss.privacy import Budget
    >>> budget = Budget(epsilon=1, delta="1e-6")
    >>> budget, budget == Budget(epsilon=1.0, delta="1/1000000")
    (Budget(epsilon=1, delta='1/1000000'), True)
    >>> print(budget)
    (epsilon, delta) = (1, 0.000001)
    >>> Budget(epsilon=1) == Budget(epsilon=1, delta=0)
    True
    """

    rho: Fraction | None
    epsilon: Fraction | None
    delta: Fraction | None

    @with_hints
    def __init__(self, *, rho: object = None, epsilon: object = None, delta: object = None) -> None:
        exact: tuple[Fraction | None, Fraction | None, Fraction | None]
        if rho is not None:
            if epsilon is not None or delta is not None:
                raise ParameterTypeError(
                    "give either rho, or epsilon, alone or with delta, not both"
                )
            exact = positive_number(rho, "rho"), None, None
        elif epsilon is None:
            raise ParameterTypeError("give either rho, or epsilon, alone or with delta")
        else:
            exact = None, at_least_zero(epsilon, "epsilon"), _below_one(delta)
            if not any(exact):
                raise ParameterValueError("epsilon must be positive if delta is 0, got 0")
        for name, value in zip(("rho", "epsilon", "delta"), exact, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls,
        budget: object = None,
        *,
        rho: object = None,
        epsilon: object = None,
        delta: object = None,
    ) -> Budget:
        """Return a function's budget, which its caller gave as one object or by these names."""
        if budget is None:
            return cls(rho=rho, epsilon=epsilon, delta=delta)
        if not isinstance(budget, cls):
            raise ParameterTypeError(
                f"budget must be a privacy.Budget, got {describe(budget)}; pass numbers by "
                "name, rho=... or epsilon=..., delta=..."
            )
        if any(number is not None for number in (rho, epsilon, delta)):
            raise ParameterTypeError("give either a budget, or its numbers by name, not both")
        return budget

    def __repr__(self) -> str:
        numbers = (("rho", self.rho), ("epsilon", self.epsilon), ("delta", self.delta))
        arguments = (f"{name}={written(value)}" for name, value in numbers if value is not None)
        return f"Budget({', '.join(arguments)})"

    def __str__(self) -> str:
        if self.rho is not None:
            return f"rho = {_short(self.rho)}"
        if self.delta == 0:
            return f"epsilon = {_short(self.epsilon)}"
        return f"(epsilon, delta) = ({_short(self.epsilon)}, {_short(self.delta)})"


def _below_one(delta: object) -> Fraction:
    exact = Fraction(0) if delta is None else exact_rational(delta, "delta")
    if not 0 <= exact < 1:
        raise refused("delta", "lie between 0 and 1, both excluded", delta)
    return exact


def _short(value: Fraction | None) -> str:
    """Return the number as a decimal if a short one is exact, else as a fraction."""
    exact = Fraction(value or 0)
    context = _DIGITS.copy()
    found = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    return written(exact).strip("'") if context.flags[Inexact] else str(found)
