"""Single draws by the isochronous sampler: the same law, and what it makes of its bytes.

That no branch or address depends on a random bit is shown by tests/c/test_isochronous_time.c, the
law spot by spot by tests/c/test_isochronous.c; what remains to be seen in the times, by
benchmarks/leakage.py.
"""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import parts
import pytest
from evidence_cases import evidence
from isochronous_twin import IsochronousFacts, IsochronousTwin
from keystream import Tape
from law_checks import gaussian_table, laplace_table, rejected

import discretegauss as dg
from discretegauss import errors, laws
from discretegauss._drawing import engines as _engine
from discretegauss._law import Kind, LawSpec
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.skipif(_engine.native is None, reason="the C core is not in use")

F = Fraction


def gaussian(sigma2: object, mu: object = 0) -> LawSpec:
    return LawSpec(Kind.DISCRETE_GAUSSIAN, F(str(sigma2)), F(str(mu)))


def laplace(scale: object, mu: object = 0) -> LawSpec:
    return LawSpec(Kind.DISCRETE_LAPLACE, F(str(scale)), F(str(mu)))


def generalized(scale: object, beta: object, mu: object = 0) -> LawSpec:
    return LawSpec(Kind.GENERALIZED_GAUSSIAN, F(str(scale)), F(str(mu)), F(str(beta)))


def isochronous(spec: LawSpec) -> Any:
    assert _engine.native is not None
    return parts.NativeIsochronous(spec)


def twin(spec: LawSpec) -> IsochronousTwin:
    """Return the protocol of csrc/isochronous/README.md, every comparison decided in balls."""
    info = isochronous(spec).info
    facts = (int(n) for n in (info.block_bits, info.n_core, info.n_tail))
    return IsochronousTwin(spec, IsochronousFacts(*facts))


SPECS = [
    *(gaussian(s2) for s2 in ("1/100", "1/4", 1, "355/113", 100, 10**4, 10**8, 10**18, 10**22)),
    *(gaussian(s2, "1/3") for s2 in ("1/1000", 1, 10**4)),
    *(gaussian(s2, "1/2") for s2 in ("1/10000", 1, 10**4)),
    gaussian(100, 2**59 + 7),
    gaussian(100, F(-(2**70), 3)),
    gaussian("1/100", F(10**30, 7)),
    gaussian(10**40, "1/3"),
    gaussian(F(10**200, 7), -(10**99)),
    gaussian(F(2) ** 4000 + F(1, 3)),
    *(laplace(scale) for scale in ("1/10", 1, "5/2", 1000, 10**12, 10**16, 10**60)),
    laplace(100, "-1/2"),
    laplace(F(3, 7), F(10**25, 3)),
    *(generalized(100, beta) for beta in (1, "3/2", 2, 3, 4, "11/10", 50)),
    generalized(10**9, "5/2", "1/3"),
    generalized(10**50, "3/2", "-1/5"),
    generalized("1/2", 3, "1/3"),
]


def ids(spec: LawSpec) -> str:
    return f"{spec.kind.name.lower()}-{spec.parameter}-{spec.mu}-{spec.beta}"[:60]


@pytest.mark.parametrize("spec", SPECS, ids=ids)
def test_draws_are_those_of_the_model(spec: LawSpec) -> None:
    """200 draws from a tape: the model's values, and the model's bytes used."""
    model, law = twin(spec), isochronous(spec)
    n = 200
    tape = random.Random(20261121).randbytes(40 * n * (16 + model.low_bytes))
    source, read = TapeSource(tape), Tape(tape)
    for _ in range(n):
        assert law.draw(source) == model.draw(read)
        assert source.used == read.used


@pytest.mark.parametrize("spec", SPECS, ids=ids)
def test_the_staircase_is_above_the_law(spec: LawSpec) -> None:
    """Where each of the first steps begins g is at most its height, on both sides."""
    model = twin(spec)
    for step in range(1, 6):
        z = (model.n_core + (step - 1) * model.n_tail) << model.block_bits
        for y in (z, -1 - z):
            whole, exact = model.law.floor(2 ** (step + 100), y)
            assert whole < 2**100 or (whole == 2**100 and exact)


@pytest.mark.parametrize("left", [0, 1])
@pytest.mark.parametrize("ones", [0, 1, 55, 56, 62, 63, 64, 70, 71, 72, 1000])
def test_levels_far_out_are_reached(ones: int, left: int) -> None:
    """Tail levels as far as the bits go, on either side."""
    spec = laplace(10)
    model = twin(spec)
    choice = -(-model.n_core * 2**64 // model.n_cells) + 1
    in_point = min(ones, 63)
    point = (2**in_point - 1) << (64 - in_point) | left
    tape = choice.to_bytes(8, "little") + point.to_bytes(8, "little")
    if ones >= 63:
        whole, part = divmod(ones - 63, 8)
        tape += b"\xff" * whole + bytes([0xFF & ~(0xFF >> part)])
    tape += bytes(100)
    source, read = TapeSource(tape), Tape(tape)
    drawn = isochronous(spec).draw(source)
    z = model.n_core + ones * model.n_tail
    assert drawn == model.draw(read) == (-1 - z if left else z)
    assert source.used == read.used


# --- the law ---------------------------------------------------------------------------------

DRAWS = 200_000


@pytest.mark.parametrize("mu", [F(1, 3), *evidence(F(0), F(-1, 2))])
@pytest.mark.parametrize("sigma2", [F(1, 4), F(1), F(100), F(10**4)])
def test_single_draws_follow_the_gaussian(sigma2: Fraction, mu: Fraction) -> None:
    """law.sample(), 2 * 10^5 times, is not told from the exact law."""
    law = dg.DiscreteGaussian(sigma2, mu)
    draws = np.array([law.sample() for _ in range(DRAWS)])
    assert rejected(draws, gaussian_table(sigma2, mu)) == []


@pytest.mark.parametrize("mu", [F(2, 5), *evidence(F(0))])
@pytest.mark.parametrize("scale", [F(1, 2), F(3), F(100)])
def test_single_draws_follow_the_laplace(scale: Fraction, mu: Fraction) -> None:
    """The same for the discrete Laplace, from ChaCha20."""
    law = dg.DiscreteLaplace(scale, mu)
    draws = np.array([law.sample(source="chacha20") for _ in range(DRAWS)])
    assert rejected(draws, laplace_table(scale, mu)) == []


def test_single_draws_of_the_function_follow_the_laplace() -> None:
    """The same through the function, which finds its law anew for each draw."""
    scale, mu = F(3), F(2, 5)
    draws = np.array([dg.discrete_laplace(scale, mu=mu, source="chacha20") for _ in range(DRAWS)])
    assert rejected(draws, laplace_table(scale, mu)) == []


@pytest.mark.parametrize("mu", [F(1, 3), *evidence(F(0))])
def test_the_generalised_gaussian_contains_the_other_laws(mu: Fraction) -> None:
    """beta = 1 is the discrete Laplace, beta = 2 the discrete Gaussian of sigma2 = scale^2/2."""
    one, two = (dg.GeneralizedGaussian(20, beta, mu) for beta in (1, 2))
    draws = np.array([one.sample() for _ in range(DRAWS)])
    assert rejected(draws, laplace_table(F(20), mu)) == []
    draws = np.array([two.sample() for _ in range(DRAWS)])
    assert rejected(draws, gaussian_table(F(200), mu)) == []


@pytest.mark.parametrize("sigma2", [F(10**100), F(10**200, 7), F(2) ** 60_000])
def test_wide_laws_have_the_right_shape_and_free_low_bits(sigma2: Fraction) -> None:
    """Beyond 64 bits: x/sigma is normal to the eye of a test, and x mod 256 is uniform."""
    from scipy import stats

    law = dg.DiscreteGaussian(sigma2)
    draws = [law.sample() for _ in range(20_000)]
    sigma = isqrt(sigma2.numerator // sigma2.denominator)
    scaled = np.array([x * 2**60 // sigma / 2**60 for x in draws])
    assert stats.kstest(scaled, "norm").pvalue > 1e-8
    low = np.bincount([x % 256 for x in draws], minlength=256)
    assert stats.chisquare(low).pvalue > 1e-8


# --- how it is reached -------------------------------------------------------------------------


def tape() -> TapeSource:
    return TapeSource(random.Random(5).randbytes(10_000))


def test_single_draws_are_isochronous_by_default() -> None:
    """The function and the object draw alike from the same bytes; "reference" does not."""
    law = dg.DiscreteGaussian(10**30)
    expected = isochronous(gaussian(10**30)).draw(tape())
    assert law.sample(source=tape()) == expected
    assert dg.discrete_gaussian(10**30, source=tape()) == expected
    assert dg.discrete_gaussian("1e30", mu=0.0, source=tape()) == expected
    assert law.sample(source=tape(), method="reference") != expected
    copy = pickle.loads(pickle.dumps(law))
    assert copy.sample(source=tape()) == expected


@pytest.mark.parametrize(
    "law",
    [
        dg.DiscreteGaussian(F(1, 10**30)),
        dg.DiscreteLaplace(F(1, 10**30), "1/2"),
        dg.DiscreteGaussian(F(1, 2**65_000)),
    ],
    ids=["gaussian", "laplace", "65000 bits"],
)
def test_laws_without_an_isochronous_sampler_are_drawn_otherwise(law: Any) -> None:
    """Scales far below 1 are refused by it; their draws are those of the reference path."""
    with pytest.raises(errors.ParameterValueError):
        isochronous(law._spec)
    assert {law.sample() for _ in range(50)} <= {0, 1}
    assert law.sample(source=tape()) == law.sample(source=tape(), method="reference")


def test_steep_laws_are_drawn_from_cell_tables() -> None:
    """beta >= 64 is refused by the isochronous sampler, not by the law."""
    with pytest.raises(errors.ParameterValueError):
        isochronous(generalized(10, 64))
    law = dg.GeneralizedGaussian(10, 64)
    assert max(abs(law.sample()) for _ in range(1000)) <= 12


def test_a_source_that_fails_ends_the_draw() -> None:
    """The caller's own exception, whatever the width of the law; the next draw is right."""

    def broken(_buffer: memoryview) -> None:
        raise RuntimeError("no bits")

    for sigma2 in (100, 10**60):
        law = dg.DiscreteGaussian(sigma2)
        with pytest.raises(RuntimeError, match="no bits"):
            law.sample(source=broken)
        assert isinstance(law.sample(), int)


def test_a_callers_source_is_asked_for_no_byte_that_goes_unused() -> None:
    """An attempt reads 16 bytes and the low bits', a failed one is followed by another."""
    for spec in (gaussian(100), gaussian(10**26), gaussian(10**60)):
        law = isochronous(spec)
        asked: list[int] = []

        def fill(buffer: memoryview, asked: list[int] = asked) -> None:
            asked.append(len(buffer))
            buffer[:] = random.Random(len(asked)).randbytes(len(buffer))

        for _ in range(200):
            law.draw(fill)
        assert set(asked) == {int(law.info.attempt_bytes)}


def test_threads_share_a_law() -> None:
    """Four threads that draw at once from one object draw no value twice (chance: 10^-7)."""
    law = dg.DiscreteGaussian(2**100)
    start = threading.Barrier(4)

    def draw(_i: int) -> list[int]:
        start.wait()
        return [law.sample() for _ in range(5000)]

    with ThreadPoolExecutor(4) as pool:
        values = [x for some in pool.map(draw, range(4)) for x in some]
    assert len(set(values)) == 20_000


#: A module that is there before the package is emptied after it.
_KEPT_TO_THE_END = """
import sys, types
sys.held = sys.modules["held"] = held = types.ModuleType("held")
from fractions import Fraction
import discretegauss as dg
from discretegauss._drawing import engines as _engine
from discretegauss._law import Kind, LawSpec
held.law = dg.DiscreteGaussian(10**40)
held.law.sample()
held.sampler = _engine.sampler(LawSpec(Kind.DISCRETE_LAPLACE, Fraction(7)))
held.sampler.require("cells")
"""


def test_what_is_kept_until_python_ends_is_freed_in_silence() -> None:
    """When the modules of the package have lost their names."""
    ended = subprocess.run(
        [sys.executable, "-c", _KEPT_TO_THE_END], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_threads_may_make_a_law_ready_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each draws from a sampler that lives as long as its draw; the law keeps one of them."""
    both = threading.Barrier(2, timeout=600)

    def slowly(spec: LawSpec) -> Any:
        both.wait()
        return _engine.native.NativeSampler(spec)

    monkeypatch.setattr(laws, "sampler", slowly)
    law = dg.DiscreteGaussian(2**100)
    with ThreadPoolExecutor(2) as pool:
        assert all(draws.size == 5 for draws in pool.map(lambda _: law.sample(5), range(2)))
    assert law._sampler is law._sampler
