"""discretegauss itself: the default call, its other sources and methods, its plain-Python twin."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discretegauss import reference
from discretegauss._drawing.engines import build_info
from discretegauss.sampling import discrete_gaussian, discrete_laplace

from .base import Case, Contender, Draw, Missing, always

DEFAULT = "discretegauss, default"
CELLS = "discretegauss, cells"
GETRANDOM = "discretegauss, getrandom"
NATIVE = "discretegauss, reference"
TWIN = "discretegauss twin"

BUILD = "pip install . in a clone, with a C compiler"


def contenders() -> list[Contender | Missing]:
    """The compiled engine in every way to call it, and the same algorithms in plain Python."""
    return [*_native(), _twin()]


def _native() -> list[Contender | Missing]:
    """As a user calls it, by default and by each option that changes the speed."""
    ways: dict[str, dict[str, Any]] = {
        DEFAULT: {},
        CELLS: {"method": "cells"},
        GETRANDOM: {"source": "getrandom"},
        NATIVE: {"method": "reference"},
    }
    engine = build_info()["engine"]
    if engine != "native":
        reason = f"the engine in use is {engine!r}, not the compiled one"
        return [Missing(name, reason, BUILD) for name in ways]
    return [_way(name, **how) for name, how in ways.items()]


def _sampler(case: Case) -> Callable[..., Any]:
    return discrete_gaussian if case.law == "gaussian" else discrete_laplace


def _one_by_one(case: Case, how: dict[str, Any]) -> Draw:
    sample = _sampler(case)

    def draw(n: int) -> None:
        for _ in range(n):
            sample(case.parameter, **how)

    return draw


def _way(name: str, **how: Any) -> Contender:
    def prepare(case: Case) -> Draw:
        if case.shape == "scalar":
            return _one_by_one(case, how)
        sample = _sampler(case)
        wide = case.parameter.bit_length() > 100  # past int64: Python integers come out
        dtype = object if wide else np.int64
        return lambda n: sample(case.parameter, n, dtype=dtype, **how)

    return Contender(name, secure=True, prepare=prepare, exact=always)


def _twin() -> Contender:
    def prepare(case: Case) -> Draw:
        source = reference.SystemBytes()
        parameter, mu = Fraction(case.parameter), Fraction(0)
        sample = (
            reference.discrete_gaussian if case.law == "gaussian" else reference.discrete_laplace
        )

        def draw(n: int) -> object:
            return [sample(parameter, mu, source) for _ in range(n)]

        return draw

    return Contender(TWIN, secure=True, prepare=prepare, exact=always)
