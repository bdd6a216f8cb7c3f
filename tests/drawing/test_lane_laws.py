"""Arrays of parameters in lanes: a model makes the same draw of each law from the same bytes.

The model is tests/oracles/lanes_twin.py, whose comparisons ball arithmetic decides. This file
computes the staircase of a law, as csrc/isochronous/lane_laws.h defines it. The C tests check every
constant (tests/c/test_lane_laws.c). `method="isochronous"` draws arrays of parameters in lanes.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from evidence_cases import at_once
from inputs import must_not_draw
from keystream import Tape
from lanes_twin import LaneFacts, LanesTwin
from law_checks import gaussian_table, laplace_table, rejected
from law_sums import G, L
from parts import fill_in_lanes
from same_bits import same_bits

import discretegauss as dg
from discretegauss.errors import ParameterValueError
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.usefixtures("native_engine")

KINDS = [G, L]
LOG2_E = F(1549082004, 2**30)  # rounded down


def draws_in_lanes(
    kind: Any, parameters: Any, source: Any, threads: int = 1, *, centres: Any = (0,)
) -> Any:
    """Return one draw of each law."""
    out = np.empty(len(parameters), np.int64)
    columns = [np.asarray(parameters), np.asarray(centres)]
    fill_in_lanes(out, kind, columns, source, threads)
    return out


def twin(kind: Any, parameter: F, centre: F) -> LanesTwin:
    """Return a law in its lane, with the staircase that lane_laws.h gives it."""
    law = kind(parameter, centre)
    power = 2 if kind is G else 1
    block_bits = 0
    while parameter >= 2 ** (7 * power):
        parameter /= 2**power
        block_bits += 1
    step = F(1, 2**5)  # up to the next of 32 steps an octave
    while step * 64 <= parameter:
        step *= 2
    while step * 32 > parameter:
        step /= 2
    end = (parameter // step + 1) * step
    least = power * end / LOG2_E
    towards = 1 if centre > 0 else 0  # twice the largest centre

    def exponent(n: int) -> int:
        return int(n ** (power - 1) * (n - towards))

    n_core = next(n for n in range(1, 300) if exponent(n) >= least)
    start = exponent(n_core)
    n_cells = next(n for n in range(2, 600) if exponent(n) - start >= least)
    n_bytes = 12 if block_bits <= 16 else 16
    return LanesTwin(law, LaneFacts(block_bits, n_core, n_cells - n_core, n_bytes))


def model_draws(
    kind: Any, parameters: list[F], tape: Tape, centres: list[F] | None = None
) -> list[int]:
    """Return the draws of a fill, which draws batches of 256 laws in rounds."""
    drawn: list[int] = []
    laws = list(zip(parameters, centres or [F(0)] * len(parameters), strict=True))
    for first in range(0, len(laws), 256):
        models = [twin(kind, p, c) for p, c in laws[first : first + 256]]
        longest = max(model.attempt_bytes for model in models)
        for model in models:
            model.attempt_bytes = longest
        found: dict[int, int] = {}
        pending = list(range(len(models)))
        while pending:
            for i in pending:
                if (y := models[i].attempt(tape)) is not None:
                    found[i] = y
            pending = [i for i in pending if i not in found]
        drawn += [found[i] for i in range(len(models))]
    return drawn


def parameters_of(
    kind: Any, rng: random.Random, n: int, most: int, least: int | None = None
) -> list[float]:
    if least is None:
        least = -16 if kind is G else -11
    return [2.0 ** rng.uniform(least, most) for _ in range(n)]


def as_words(values: list[F]) -> Any:
    return np.array([[value.numerator, value.denominator] for value in values])


@pytest.mark.parametrize("most", [12, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_those_of_the_model(kind: Any, most: int) -> None:
    """600 laws of all widths draw the model's values from a tape, and use as many bytes."""
    rng = random.Random(most)
    parameters = parameters_of(kind, rng, 600, most)
    data = rng.randbytes(60_000)
    source, read = TapeSource(data), Tape(data)
    drawn = draws_in_lanes(kind, parameters, source)
    assert drawn.tolist() == model_draws(kind, [F(p) for p in parameters], read)
    assert source.used == read.used


@pytest.mark.parametrize("most", [6, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_fractions_are_those_of_the_model(kind: Any, most: int) -> None:
    """Laws whose parameters and centres are floats or ratios draw the model's values."""
    rng = random.Random(most)
    floats = [F(x) for x in parameters_of(kind, rng, 300, most, -4)]
    parameters = floats[:150] + [x.limit_denominator(2**18) or F(1, 9) for x in floats[150:]]
    centres = [F(rng.uniform(-0.5, 0.5)) for _ in range(100)]
    centres += [F(rng.randrange(-1000, 1000), 2001) for _ in range(150)] + [F(0), F(-1, 2)] * 25
    data = rng.randbytes(60_000)
    source, read = TapeSource(data), Tape(data)
    drawn = draws_in_lanes(kind, as_words(parameters), source, centres=as_words(centres))
    assert drawn.tolist() == model_draws(kind, parameters, read, centres)
    assert source.used == read.used


@at_once("ones", [0, 1, 46, 47, 48, 49, 62, 63, 64, 71])
@pytest.mark.parametrize("kind", KINDS)
def test_attempts_that_words_do_not_decide(kind: Any, ones: int) -> None:
    """Attempts reach tail levels as far as the bits go, among ordinary ones."""
    rng = random.Random(ones)
    parameters = parameters_of(kind, rng, 40, 12)
    in_point = min(ones, 63)
    data = b""
    for i in range(40):
        point = (2**in_point - 1) << (64 - in_point) | i % 2
        data += point.to_bytes(8, "little") + (0xFFFF | i << 16).to_bytes(4, "little")
        if ones >= 63:  # where the level ends
            whole, part = divmod(ones - 63, 8)
            data += b"\xff" * whole + bytes([0xFF & ~(0xFF >> part)]) + bytes(16)
    data += rng.randbytes(10_000)
    source, read = TapeSource(data), Tape(data)
    drawn = draws_in_lanes(kind, parameters, source)
    assert drawn.tolist() == model_draws(kind, [F(p) for p in parameters], read)
    assert source.used == read.used


@pytest.mark.parametrize("source", ["getrandom", "chacha20"])
def test_every_law_of_an_array_is_drawn(source: Any) -> None:
    """Two threads draw 6 laws in turn, each 40 000 times. The draws of each have its law."""
    rng = np.random.default_rng(1)
    sigma2 = 2.0 ** rng.uniform(-4, 13, 6)
    scale = 2.0 ** rng.uniform(-3, 6, 6)
    centres = np.array([0, 0.5, -0.5, 0.499, -0.1, 1 / 3])
    for kind, parameters, table in ((G, sigma2, gaussian_table), (L, scale, laplace_table)):
        drawn = draws_in_lanes(
            kind, np.tile(parameters, 40_000), source, 2, centres=np.tile(centres, 40_000)
        ).reshape(-1, 6)
        for i in range(6):
            assert rejected(drawn[:, i], table(F(float(parameters[i])), F(float(centres[i])))) == []


@pytest.mark.parametrize("method", ["auto", "isochronous"])
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_parameters_are_those_of_the_model(kind: Any, method: Any) -> None:
    """The public function splits mu, and adds its nearest integer exactly."""
    rng = random.Random(4)
    parameters = parameters_of(kind, rng, 500, 20, -4)
    mu = [rng.uniform(-1e6, 1e6) for _ in range(500)]
    integers = [math.floor(F(x) + F(1, 2)) for x in mu]
    rests = [F(x) - c for x, c in zip(mu, integers, strict=True)]
    data = rng.randbytes(40_000)
    source, read = TapeSource(data), Tape(data)
    draw = dg.discrete_gaussian if kind is G else dg.discrete_laplace
    drawn = draw(np.array(parameters), mu=np.array(mu), method=method, source=source)
    expected = model_draws(kind, [F(p) for p in parameters], read, rests)
    assert drawn.tolist() == [c + y for c, y in zip(integers, expected, strict=True)]
    assert source.used == read.used


@pytest.mark.parametrize("dtype", [float, "f4", ">f2", int, np.uint8, object])
@pytest.mark.parametrize("off_centre", [False, True])
def test_arrays_of_sigma_are_those_of_the_model(dtype: Any, off_centre: bool) -> None:
    """Each law's sigma2 is the exact square of the float or integer, however long it is."""
    rng = random.Random(off_centre)
    least, most = (0, 8) if dtype is np.uint8 else (-2 if off_centre else -8, 31)
    most = min(most, 15) if dtype == ">f2" else most
    sigma = np.array([2.0 ** rng.uniform(least, most) for _ in range(300)]).astype(dtype)
    sigma[sigma == 0] = 1
    mu = np.full(300, 0.375 if off_centre else 5.0)
    data = rng.randbytes(30_000)
    source, read = TapeSource(data), Tape(data)
    drawn = dg.discrete_gaussian(sigma=sigma, mu=mu, method="isochronous", source=source)
    squares = [F(x) ** 2 for x in sigma.tolist()]
    wanted = model_draws(G, squares, read, [F(3, 8) if off_centre else F(0)] * 300)
    assert (drawn - (0 if off_centre else 5)).tolist() == wanted
    assert source.used == read.used


def test_isochronous_laws_of_any_numbers() -> None:
    """Each draw has its own law, for ratios, long numbers and repeated laws."""
    n = 3000
    sigma2 = np.tile(np.array([F(25, 3), 10**30, F(10**40 + 1, 10**39), 2**-18], object), n)
    mu = np.tile(np.array([F(1, 3), 0.5, -7, 10**12], object), n)
    drawn = dg.discrete_gaussian(sigma2, mu=mu, method="isochronous", source=same_bits())
    assert rejected(drawn[::4], gaussian_table(F(25, 3), F(1, 3))) == []
    assert np.median(abs(drawn[1::4] * 1.0)) == pytest.approx(0.6745e15, rel=0.1)
    assert rejected(drawn[2::4] + 7, gaussian_table(F(10), F(0))) == []
    assert set(drawn[3::4].tolist()) == {10**12}


@pytest.mark.parametrize("kind", KINDS)
def test_isochronous_refusals_come_before_a_draw(kind: Any) -> None:
    """A law too narrow, among distinct ones or equal ones, is refused, and no bit is read."""
    draw = dg.discrete_gaussian if kind is G else dg.discrete_laplace
    for parameters in (np.append(np.linspace(1, 2, 999), 1e-30), np.array([1, 1e-30] * 9)):
        with pytest.raises(ParameterValueError, match="'isochronous' in arrays of laws"):
            draw(parameters, method="isochronous", source=must_not_draw)


@pytest.mark.parametrize("method", ["auto", "isochronous"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, object])
def test_every_dtype(dtype: Any, method: Any) -> None:
    parameters = np.random.default_rng(3).uniform(0.4, 0.9, 20_000)
    drawn = dg.discrete_laplace(parameters, dtype=dtype, threads=2, method=method)
    assert drawn.dtype == np.dtype(dtype)
    assert np.mean(drawn == 0) == pytest.approx(np.mean(np.tanh(0.5 / parameters)), abs=0.03)


def test_a_bad_law_among_many_is_named() -> None:
    """Nothing is drawn, whatever the method of the others."""
    sigma2 = np.linspace(1, 2, 1000)
    for bad in (0.0, -1.0, np.nan, np.inf):
        sigma2[777] = bad
        with pytest.raises(ParameterValueError, match=r"sigma2\[777\]"):
            dg.discrete_gaussian(sigma2, source=TapeSource(b""))
