"""discretegauss itself: the default call, its other sources and methods, its plain-Python twin."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discretegauss import reference
from discretegauss._drawing.engines import build_info
from discretegauss.errors import ParameterValueError
from discretegauss.sampling import discrete_gaussian, discrete_laplace

from .base import Case, Contender, Draw, Missing, always

DEFAULT = "discretegauss, default"
CHACHA20 = "discretegauss, chacha20"
ISOCHRONOUS = "discretegauss, isochronous"
NATIVE = "discretegauss, reference"
TWIN = "discretegauss twin"

BUILD = "pip install . in a clone, with a C compiler"


def contenders() -> list[Contender | Missing]:
    """The compiled engine in every way to call it, and the same algorithms in plain Python."""
    return [*_native(), _twin()]


def vectors_are_isochronous() -> bool:
    """Whether ``method="isochronous"`` fills arrays here."""
    method: Any = "isochronous"
    try:
        discrete_gaussian(1, 1, method=method)
    except ParameterValueError:
        return False
    return True


def _native() -> list[Contender | Missing]:
    """As a user calls it; from a table once enough is drawn, unless the method says otherwise."""
    engine = build_info()["engine"]
    if engine != "native":
        reason = f"the engine in use is {engine!r}, not the compiled one"
        return [Missing(name, reason, BUILD) for name in (DEFAULT, CHACHA20, ISOCHRONOUS, NATIVE)]
    in_vectors = vectors_are_isochronous()
    return [
        _way(DEFAULT),
        _way(CHACHA20, source="chacha20"),
        _way(ISOCHRONOUS, method="isochronous")
        if in_vectors
        else Contender(
            ISOCHRONOUS,
            secure=True,
            prepare=lambda case: _one_by_one(case, {}),
            exact=always,
            shapes=("vector",),
            note="its time does not depend on what is drawn; one draw a call",
        ),
        _way(NATIVE, method="reference"),
    ]


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
