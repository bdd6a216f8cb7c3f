"""The ways to draw one sample that timing.py measures, ours and the peers'."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import bulk
from bench.contenders.base import Case

CONTROL = "twin (control)"
"""The plain-Python twin: its time is known to tell the value, so it must be flagged."""


def as_it_is(drawn: Any) -> int:
    """For `Path.value`: the draw is the value."""
    return int(drawn)


@dataclass(frozen=True)
class Path:
    """A way to draw: what is timed, and how the value is taken from what it returned, untimed."""

    name: str
    draw: Callable[[], Any]
    value: Callable[[Any], int] = as_it_is


def paths(case: Case) -> list[Path]:
    """Return all paths that run here."""
    return [*_ours(case), *_without_python_int(case), *_opendp(case), _twin(case)]


def missing() -> dict[str, str]:
    """Who does not run here, and why."""
    reasons = {"discretegauss": bulk.reason_to_skip(), "OpenDP": _reason_without_opendp()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _ours(case: Case) -> list[Path]:
    import discretegauss as dg

    if bulk.reason_to_skip() is not None:
        return []
    parameter = case.parameter
    sample = dg.discrete_gaussian if case.law == "gaussian" else dg.discrete_laplace
    make = dg.DiscreteGaussian if case.law == "gaussian" else dg.DiscreteLaplace
    law = make(parameter)
    return [
        Path("law.sample(), getrandom", law.sample),
        Path("law.sample(), chacha20", lambda: law.sample(source="chacha20")),
        Path("function, getrandom", lambda: sample(parameter)),
        Path("function, chacha20", lambda: sample(parameter, source="chacha20")),
        Path("reference, getrandom", lambda: sample(parameter, method="reference")),
        Path(
            "reference, chacha20",
            lambda: sample(parameter, method="reference", source="chacha20"),
        ),
    ]


def _without_python_int(case: Case) -> list[Path]:
    """The C function alone, into a buffer: law.sample() but for the making of Python's integer."""
    if bulk.reason_to_skip() is not None:
        return []
    from discretegauss._drawing.native import NativeSampler
    from discretegauss._law import Kind, LawSpec
    from discretegauss._native import ffi, lib

    kind = Kind.DISCRETE_GAUSSIAN if case.law == "gaussian" else Kind.DISCRETE_LAPLACE
    sampler = NativeSampler(LawSpec(kind, Fraction(case.parameter)))
    handle, width = sampler._handle, int(lib.dg_sampler_wide_bytes(sampler._handle))
    buffer = ffi.new("uint8_t[]", width)

    def into_buffer(source: Any) -> Callable[[], int]:
        return lambda: lib.dg_sampler_draw_wide(buffer, width, lib.DG_AUTO, handle, source)

    def value(_status: int) -> int:
        return int.from_bytes(ffi.buffer(buffer), "little", signed=True)

    chacha20 = ffi.new("dg_source *", {"kind": lib.DG_SOURCE_CHACHA20})
    return [
        Path("C core alone, getrandom", into_buffer(ffi.NULL), value),
        Path("C core alone, chacha20", into_buffer(chacha20), value),
    ]


def _reason_without_opendp() -> str | None:
    try:
        import opendp.prelude  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def _opendp(case: Case) -> list[Path]:
    if _reason_without_opendp() is not None:
        return []
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.atom_domain(T="i64")
    if case.law == "gaussian":
        metric = dp.absolute_distance(T=float)
        measure = dp.m.make_gaussian(domain, metric, scale=math.sqrt(case.parameter))
    else:
        metric = dp.absolute_distance(T="i64")
        measure = dp.m.make_laplace(domain, metric, scale=float(case.parameter))
    return [Path("OpenDP", lambda: measure(0))]


def _twin(case: Case) -> Path:
    from discretegauss import reference

    sample = reference.discrete_gaussian if case.law == "gaussian" else reference.discrete_laplace
    parameter, mu = Fraction(case.parameter), Fraction(0)
    source = reference.SystemBytes()
    return Path(CONTROL, lambda: sample(parameter, mu, source))
