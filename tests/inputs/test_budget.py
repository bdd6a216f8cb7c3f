"""A budget is given in one form, and one function reads it."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import pytest

from discretegauss.errors import ParameterTypeError, ParameterValueError
from discretegauss.privacy import Budget


def test_a_budget_is_exact_and_a_value() -> None:
    budget = Budget(epsilon=0.5, delta="1e-6")
    assert (budget.rho, budget.epsilon, budget.delta) == (None, Fraction(1, 2), Fraction(1, 10**6))
    assert repr(budget) == "Budget(epsilon=0.5, delta='1/1000000')"
    assert hash(Budget(rho=1)) == hash(Budget(rho="1"))
    assert pickle.loads(pickle.dumps(budget)) == budget
    with pytest.raises(AttributeError):
        budget.rho = Fraction(1)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ({"rho": "0.1"}, "rho = 0.1"),
        ({"rho": "1/3"}, "rho = 1/3"),
        ({"rho": 10**6}, "rho = 1000000"),
        ({"epsilon": 0, "delta": "1e-9"}, "(epsilon, delta) = (0, 1E-9)"),
        ({"epsilon": 1, "delta": 0}, "epsilon = 1"),
        ({"epsilon": "1/3"}, "epsilon = 1/3"),
    ],
)
def test_it_is_printed_in_one_form(numbers: dict[str, Any], text: str) -> None:
    assert str(Budget(**numbers)) == text


@pytest.mark.parametrize(
    ("numbers", "error", "says"),
    [
        ({}, ParameterTypeError, "give either rho, or epsilon, alone or with delta$"),
        ({"delta": 0.1}, ParameterTypeError, "give either rho, or epsilon, alone or with delta$"),
        ({"epsilon": 0}, ParameterValueError, "epsilon must be positive if delta is 0, got 0$"),
        ({"rho": 1, "delta": 1}, ParameterTypeError, "epsilon, alone or with delta, not both$"),
        ({"rho": 0}, ParameterValueError, "rho must be positive, got 0$"),
        ({"epsilon": -1, "delta": 0.1}, ParameterValueError, "epsilon must not be negative"),
        ({"epsilon": 1, "delta": 1}, ParameterValueError, "delta must lie between 0 and 1, both"),
        ({"epsilon": 0, "delta": 0}, ParameterValueError, "epsilon must be positive if delta"),
        ({"rho": "many"}, ParameterValueError, "rho must be a number such as"),
        ({"budget": 1}, ParameterTypeError, "budget must be a privacy.Budget, got 1; pass numbers"),
        ({"budget": Budget(rho=1), "rho": 1}, ParameterTypeError, "by name, not both$"),
    ],
)
def test_what_is_no_budget_is_refused(numbers: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        Budget.of(**numbers)
