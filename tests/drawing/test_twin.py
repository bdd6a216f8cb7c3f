"""The C core and its twin in plain Python make the same draws from the same bytes.

The default run compares 500 draws of each law, and ``-m evidence`` 10**6 draws in all.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np
import parts
import pytest

from discretegauss._drawing.python_engine import PythonSampler
from discretegauss._law import Kind, LawSpec
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")


def F(value: Any, den: int = 1) -> Fraction:
    return Fraction(value) / den


GAUSSIANS = [
    *(LawSpec(Kind.DISCRETE_GAUSSIAN, F(v)) for v in [1, 2, 3, 5, 10, 99, 100, 101, 10**4, 10**6]),
    *(
        LawSpec(Kind.DISCRETE_GAUSSIAN, F(v))
        for v in ["1/4", "1/1000", "355/113", "99/100", "10/3"]
    ),
    *(LawSpec(Kind.DISCRETE_GAUSSIAN, F(v)) for v in [0.1, 1e-3, 2.7182818284590451, 12345.678]),
    *(LawSpec(Kind.DISCRETE_GAUSSIAN, F(2) ** e) for e in [40, 52, 64, 110, 200]),
    LawSpec(Kind.DISCRETE_GAUSSIAN, F(2**200 + 1, 3)),
    *(
        LawSpec(Kind.DISCRETE_GAUSSIAN, F(sigma2), F(mu))
        for sigma2, mu in [
            (1, "1/3"),
            (100, "-1/2"),
            ("1/1000", "1/2"),
            ("1/50", "-12345/7"),
            (0.1, "1/3"),
            (10**6, 10**12),
            (2**120, "22/7"),
        ]
    ),
]
LAPLACES = [
    *(LawSpec(Kind.DISCRETE_LAPLACE, F(v)) for v in [1, 10, 1000, "1/2", "5/2", "1/1000", 0.3]),
    *(LawSpec(Kind.DISCRETE_LAPLACE, F(2) ** e) for e in [53, 54, 56, 150]),
    *(
        LawSpec(Kind.DISCRETE_LAPLACE, F(scale), F(mu))
        for scale, mu in [
            (1, "1/2"),
            ("1/100", "-1/2"),
            (10, "-22/7"),
            (2**70, "1/3"),
            ("5/2", "1/3"),
            ("3/7", "-1/5"),
        ]
    ),
]
OTHERS = [
    *(LawSpec(Kind.GEOMETRIC_EXP, F(v)) for v in [1, "1/10", 3, 0.001]),
    *(LawSpec(Kind.BERNOULLI_EXP, F(v)) for v in [0, 1, 2, "1/3", "17/5", 0.7, 2**100]),
    *(LawSpec(Kind.BERNOULLI, F(v)) for v in [0, 1, "1/2", "2/3", 0.1, F(1, 2**130) + F(1, 3)]),
    *(
        LawSpec(Kind.UNIFORM_BELOW, F(v))
        for v in [1, 2, 3, 256, 257, 10**9, 2**55, 2**56 + 1, 10**40]
    ),
]
LAWS = GAUSSIANS + LAPLACES + OTHERS


def tape_for(spec: LawSpec, n_bytes: int) -> bytes:
    """Return a tape that looks random and is the same in every run."""
    return hashlib.shake_256(repr(spec).encode()).digest(n_bytes)


def tape_length(spec: LawSpec, n: int) -> int:
    longest = max(v.bit_length() for v in (*spec.parameter.as_integer_ratio(), 1))
    return n * (200 + longest) + 10**4


def draws(law: object, n: int, tape: bytes) -> tuple[list[int], int]:
    """Return n draws from the tape, and how many of its bytes they used."""
    source = TapeSource(tape)
    out = np.empty(n, dtype=object)
    law.fill(out, source)  # type: ignore[attr-defined]
    return out.tolist(), source.used


def compare(spec: LawSpec, n: int) -> None:
    tape = tape_for(spec, tape_length(spec, n))
    expected = draws(PythonSampler(spec), n, tape)
    assert draws(parts.NativeLaw(spec), n, tape) == expected
    assert draws(parts.NativeLaw(spec, words=False), n, tape) == expected


def ids(spec: LawSpec) -> str:
    text = f"{spec.kind.name.lower()}-{spec.parameter}-{spec.mu}"
    return text if len(text) < 60 else f"{text[:50]}..."


@pytest.mark.parametrize("spec", LAWS, ids=ids)
def test_core_and_twin_agree_on_draws_and_bytes_used(spec: LawSpec) -> None:
    """C (words and GMP) and Python draw the same from the same tape and use the same bytes."""
    compare(spec, 500)


@pytest.mark.evidence
@pytest.mark.parametrize("spec", LAWS, ids=ids)
def test_core_and_twin_agree_over_a_million_draws(spec: LawSpec) -> None:
    """They agree on at least 10**6 draws over all laws together."""
    n = -(-(10**6) // len(LAWS))
    assert n * len(LAWS) >= 10**6
    compare(spec, n)


def test_enough_laws_are_compared() -> None:
    """At least 40 parameters, from 10**-3 to 2**200, in words and in GMP."""
    assert len(LAWS) >= 40
    in_words = [parts.NativeLaw(spec).uses_words for spec in LAWS]
    assert min(in_words.count(True), in_words.count(False)) >= 10


def test_kinds_are_numbered_as_in_the_c_header() -> None:
    """Kind has the values of dg_law_kind, for all that the core has."""
    from discretegauss._native import lib

    kinds = [kind for kind in Kind if kind.in_core]
    assert {kind: int(kind) for kind in kinds} == {
        kind: getattr(lib, f"DG_{kind.name}") for kind in kinds
    }


def test_the_bound_on_parameters_is_that_of_the_c_header() -> None:
    """MAX_BITS of the Python layer is DG_MAX_PARAMETER_BITS."""
    from discretegauss._inputs.numbers import MAX_BITS
    from discretegauss._native import lib

    assert lib.DG_MAX_PARAMETER_BITS == MAX_BITS


@pytest.mark.parametrize("spec", [GAUSSIANS[6], LAPLACES[1], GAUSSIANS[-1]], ids=ids)
def test_how_a_fill_is_cut_does_not_change_the_draws(spec: LawSpec) -> None:
    """No byte of a caller's source goes unused, so pieces continue one another."""
    tape = tape_for(spec, tape_length(spec, 500))
    whole, used = draws(parts.NativeLaw(spec), 500, tape)
    source, pieces = TapeSource(tape), []
    for n in [1, 2, 3, 94, 400]:
        out = np.empty(n, dtype=object)
        parts.NativeLaw(spec).fill(out, source)
        pieces += out.tolist()
    assert (pieces, source.used) == (whole, used)
