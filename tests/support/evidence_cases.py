"""Split cases of a test that differ in numbers only: some run by default, others as evidence."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def evidence(*cases: Any) -> list[Any]:
    """Return the cases for ``-m evidence`` only; a tuple holds several arguments."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.evidence)
        for case in cases
    ]


def some(cases: Sequence[Any], n: int = 8) -> list[Any]:
    """Return the cases, single arguments. n of them, spread over all, are for every run."""
    kept = {round(i * (len(cases) - 1) / max(n - 1, 1)) for i in range(n)}
    return [
        case if i in kept else pytest.param(case, marks=pytest.mark.evidence)
        for i, case in enumerate(cases)
    ]


def crossed(*axes: Sequence[Any], n: int = 8) -> list[Any]:
    """Return all tuples with a value of each axis, of which n are for every run.

    These n hold every value of an axis of at most n values.
    """
    chosen = {
        tuple((i + k * (i // len(axis))) % len(axis) for k, axis in enumerate(axes))
        for i in range(n)
    }
    return [
        pytest.param(
            *(axis[i] for axis, i in zip(axes, place, strict=True)),
            marks=() if place in chosen else pytest.mark.evidence,
        )
        for place in itertools.product(*(range(len(axis)) for axis in axes))
    ]


Test = Callable[..., None]


def at_once(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run all cases as one test, if each takes less time than pytest needs for a test.

    Use it like `parametrize`. A failure names its case. All cases share their fixtures.
    """
    split = names.split(",") if isinstance(names, str) else names
    each = [(case,) if len(split) == 1 else case for case in cases]

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**given: Any) -> None:
            for case in each:
                try:
                    test(**given, **dict(zip(split, case, strict=True)))
                except BaseException as error:
                    error.add_note(f"where {', '.join(split)} = {case!r:.300}")
                    raise

        left = [p for name, p in signature.parameters.items() if name not in split]
        vars(run)["__signature__"] = signature.replace(parameters=left)
        return run

    return decorate
