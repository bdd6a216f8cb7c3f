"""Every public parameter takes what the table says, and refuses all else before any draw.

inputs_table.py has the table, and some forty values for every parameter of the names in __all__.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine import ENGINE
from inputs import must_not_draw
from inputs_table import (
    CALLS,
    NO_PARAMETERS,
    RULES,
    SAID_AS,
    SKIPPED,
    SLOW,
    VALUES,
    Public,
    Rule,
    Value,
    everything_public,
    parameters,
    rule_for,
    tape,
)

import discretegauss as dg
from discretegauss.errors import (
    DiscreteGaussError,
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
)

PUBLIC = list(everything_public())
EACH = [(of, name) for of in PUBLIC for name in parameters(of) if (of.name, name) not in SKIPPED]


def _label(of: Public, name: str = "") -> str:
    owner = "" if of.owner is None else f"{of.owner.__name__}."
    return f"{owner}{of.name} {name}".strip()


def _needs_the_core(of: Public) -> bool:
    return "eneralized" in of.name or (of.owner is not None and "eneralized" in of.owner.__name__)


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Any]:
    """Return a function that calls a public name with valid arguments, except those given."""
    table = tmp_path / "counts.csv"
    table.write_text("n\n1\n2\n")

    def run(of: Public, **arguments: Any) -> Any:
        if of.name == "compose":
            return of.function(arguments["parts"])
        every = CALLS[of.name] | copy.deepcopy(arguments)  # an out is written to
        if "sigma" in arguments:
            del every["sigma2"]  # only one of the two may be given
        if of.owner is not None:
            return of.function(of.owner(**CALLS[of.owner.__name__]), **every)
        if of.name == "release_table":
            every |= {"table": table, "column": "n", "out": tmp_path / "noisy.csv", "force": True}
        return of.function(**every)

    return run


def test_everything_public_is_in_the_table() -> None:
    """A new function, class, method or parameter has to be put in the table."""
    missing = [_label(of) for of in PUBLIC if of.name not in CALLS]
    assert missing == [], "CALLS of inputs_table.py has no line for these"
    for of, name in EACH:
        assert rule_for(of, name), (of, name)
    assert {of.name for of in PUBLIC} == set(CALLS), "CALLS has a line for nothing"
    known = {name for of in PUBLIC for name in parameters(of)}
    assert set(RULES) <= known, "RULES has a line for nothing"
    skipped = {(of.name, name) for of in PUBLIC for name in parameters(of)}
    assert set(SKIPPED) <= skipped, "SKIPPED has a line for nothing"
    assert set(dg.__all__) | {"Counts", "PlanRelease", "Release", "PrivacyLoss"} > NO_PARAMETERS


def _expected(given: Value) -> tuple[type[Exception], ...]:
    """Return the error that a parameter for numbers raises."""
    if given.exact is not None and given.exact > 2**3000:
        return (ParameterValueError, ParameterOverflowError)
    match given.sort:
        case "number" | "text" | "not finite" | "no text for a number":
            return (ParameterValueError,)
        case "too long":
            return (ParameterOverflowError,)
        case "no number":
            return (ParameterTypeError,)
        case _:
            return (ParameterTypeError, ParameterValueError)


def _check_refusal(error: Exception, of: Public, name: str, label: str) -> None:
    """Assert what the error of a refused call says."""
    if name == "size" and not isinstance(error, DiscreteGaussError):  # numpy's
        assert isinstance(error, MemoryError | ValueError), f"{label}: {error!r}"
        assert label in ("uint64", "2**4000", "2**70000"), f"{label}: {error!r}"
        return
    assert isinstance(error, DiscreteGaussError), f"{label}: {error!r}"
    assert isinstance(error, TypeError | ValueError | OverflowError), label
    names = {name} | SAID_AS.get((of.name, name), set())
    assert any(name in str(error) for name in names), f"{label}: {error}"
    assert len(str(error)) < 500, label


def _refusal(call: Callable[[], object]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


@pytest.mark.filterwarnings("ignore::discretegauss.testing.NotPrivateWarning")
@pytest.mark.parametrize(("of", "name"), EACH, ids=lambda x: x if isinstance(x, str) else _label(x))
@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_a_parameter_takes_what_the_table_says(
    call: Callable[..., Any], of: Public, name: str
) -> None:
    """Valid values are taken; others raise the documented error, which names the parameter."""
    if ENGINE == "python" and _needs_the_core(of):
        pytest.skip("the generalised Gaussian needs the compiled core")
    rule = rule_for(of, name)
    has_source = "source" in parameters(of) and name not in ("source", "threads")
    for label, given in VALUES.items():
        if label in SLOW.get((of.name, name), ()):
            continue
        taken = rule.takes(given)
        arguments = {name: given.value}
        if has_source:
            arguments["source"] = must_not_draw if taken is False else tape()
        if taken:
            call(of, **arguments)
            continue
        error = _refusal(functools.partial(call, of, **arguments))
        if error is None:
            assert taken is None, f"{_label(of, name)} takes {label}"
            continue
        _check_refusal(error, of, name, label)
        if isinstance(rule, Rule):
            far = (ParameterOverflowError,) if taken is None else ()
            assert isinstance(error, (*_expected(given), *far)), f"{label}: {error!r}"
