"""Arrays of parameters in lanes: each element has its own law, as a model makes it of the bytes.

The model is a page of Python over integers, every comparison decided in ball arithmetic: it knows
the protocol of csrc/isochronous/lane_laws.h and nothing else. The C tests look at every constant
(tests/c/test_lane_laws.c).
"""

from __future__ import annotations

import random
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from exact_law import ExactLaw, leading_ones
from keystream import Tape
from law_checks import gaussian_table, laplace_table, rejected

import discretegauss as dg
from discretegauss._drawing import engines as _engine
from discretegauss._law import Kind, LawSpec
from discretegauss.errors import ParameterValueError
from discretegauss.testing import TapeSource

pytestmark = pytest.mark.skipif(_engine.native is None, reason="the C core is not in use")

KINDS = [Kind.DISCRETE_GAUSSIAN, Kind.DISCRETE_LAPLACE]
LOG2_E = F(1549082004, 2**30)  # from below


def draws_in_lanes(kind: Kind, parameters: Any, source: Any, threads: int = 1) -> Any:
    """Return one draw of each law; other laws than those that lanes hold are drawn as ever."""
    assert _engine.native is not None
    out = np.empty(len(parameters), np.int64)
    laws = _engine.native.NativeLaws(kind, np.asarray(parameters), np.zeros(1, np.int64))
    laws.fill(out, None, source, threads, in_lanes=True)
    return out


class Model:
    """A law in its lane."""

    def __init__(self, kind: Kind, parameter: F) -> None:
        self.law = ExactLaw(LawSpec(kind, parameter, F(0)))
        power = 2 if kind is Kind.DISCRETE_GAUSSIAN else 1
        self.block_bits = 0
        while parameter >= 2 ** (7 * power):
            parameter /= 2**power
            self.block_bits += 1
        step = F(1, 2**5)  # up to the next of 32 steps an octave
        while step * 64 <= parameter:
            step *= 2
        while step * 32 > parameter:
            step /= 2
        end = (parameter // step + 1) * step
        least = power * end / LOG2_E
        self.n_core = next(n for n in range(1, 300) if n**power >= least)
        start = self.n_core**power
        self.n_cells = next(n for n in range(2, 600) if n**power - start >= least)
        self.n_tail = self.n_cells - self.n_core

    def attempt(self, tape: Tape, n_more: int) -> int | None:
        """Return what the next attempt of the tape accepts, if it does."""
        point, head, more = (int.from_bytes(tape.read(n), "little") for n in (8, 4, n_more))
        cell, part = divmod(head % 2**16 * self.n_cells, 2**16)
        if part < 2**16 % self.n_cells:
            return None
        bits, n_bits, block, step = point // 2, 63, cell, 0
        if cell >= self.n_core:  # a tail: its level is the number of leading ones
            level, byte = 63 - (bits ^ (2**63 - 1)).bit_length(), 0xFF
            while level >= 63 and byte == 0xFF:
                byte = tape.read(1)[0]
                level += leading_ones(byte)
            block, step = cell + level * self.n_tail, level + 1
            n_bits = max(0, 63 - step)
        low = (head // 2**16 + more * 2**16) % 2**self.block_bits
        z = block * 2**self.block_bits + low
        y = -1 - z if point % 2 else z
        return y if self.law.is_below(y, 2**step, 0, bits % 2**n_bits, n_bits, tape) else None


def model_draws(kind: Kind, parameters: list[F], tape: Tape) -> list[int]:
    """Return the draws of a fill: batches of 256 laws, in rounds."""
    drawn: list[int] = []
    for first in range(0, len(parameters), 256):
        models = [Model(kind, p) for p in parameters[first : first + 256]]
        n_more = 4 if any(model.block_bits > 16 for model in models) else 0
        found: dict[int, int] = {}
        pending = list(range(len(models)))
        while pending:
            for i in pending:
                if (y := models[i].attempt(tape, n_more)) is not None:
                    found[i] = y
            pending = [i for i in pending if i not in found]
        drawn += [found[i] for i in range(len(models))]
    return drawn


def parameters_of(kind: Kind, rng: random.Random, n: int, most: int) -> list[float]:
    return [2.0 ** rng.uniform(-16, most) for _ in range(n)]


@pytest.mark.parametrize("most", [12, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_those_of_the_model(kind: Kind, most: int) -> None:
    """600 laws of all widths from a tape: the model's values, and the model's bytes used."""
    rng = random.Random(most)
    parameters = parameters_of(kind, rng, 600, most)
    data = rng.randbytes(60_000)
    source, read = TapeSource(data), Tape(data)
    drawn = draws_in_lanes(kind, parameters, source)
    assert drawn.tolist() == model_draws(kind, [F(p) for p in parameters], read)
    assert source.used == read.used


@pytest.mark.parametrize("ones", [0, 1, 46, 47, 48, 49, 62, 63, 64, 71])
@pytest.mark.parametrize("kind", KINDS)
def test_attempts_that_words_do_not_decide(kind: Kind, ones: int) -> None:
    """Tail levels as far as the bits go, among attempts that are not special."""
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
    """6 laws in turn, each 10^5 times, by two threads: the draws of each have its law."""
    rng = np.random.default_rng(1)
    sigma2 = 2.0 ** rng.uniform(-4, 13, 6)
    scale = 2.0 ** rng.uniform(-3, 6, 6)
    for kind, parameters, table in (
        (Kind.DISCRETE_GAUSSIAN, sigma2, gaussian_table),
        (Kind.DISCRETE_LAPLACE, scale, laplace_table),
    ):
        drawn = draws_in_lanes(kind, np.tile(parameters, 100_000), source, 2).reshape(-1, 6)
        for i in range(6):
            assert rejected(drawn[:, i], table(F(float(parameters[i])), F(0))) == []


def test_system_bits_are_used_in_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes are for bits of the system and for "auto"; a caller's give what they gave."""
    assert _engine.native is not None
    seen: list[bool] = []
    fill = _engine.native.NativeLaws.fill

    def look(*args: Any, in_lanes: bool = False) -> None:
        seen.append(in_lanes)
        fill(*args, in_lanes=in_lanes)

    monkeypatch.setattr(_engine.native.NativeLaws, "fill", look)
    sigma2 = np.linspace(1, 9, 100)
    dg.discrete_gaussian(sigma2)
    dg.discrete_gaussian(sigma2, mu=np.arange(100), source="chacha20")
    dg.discrete_laplace(sigma2[:20])
    dg.discrete_gaussian(sigma2, method="reference")
    dg.discrete_gaussian(sigma2, source=TapeSource(random.Random(1).randbytes(20_000)))
    assert seen == [True, True, False, False, False]


def test_laws_that_lanes_do_not_hold_are_among_others() -> None:
    """Too steep, too wide, with another centre: they are drawn by the other way, in place."""
    rng = np.random.default_rng(2)
    sigma2 = rng.uniform(50, 60, 30_000)
    sigma2[::3] = rng.uniform(1e-7, 1e-6, 10_000)
    sigma2[1::9] = 2.0**70
    mu = np.zeros(30_000)
    mu[2::9] = 0.5
    drawn = dg.discrete_gaussian(sigma2, mu=mu + 1000)
    assert set(drawn[::3].tolist()) == {1000}
    assert np.median(abs(drawn[1::9] - 1000.0)) == pytest.approx(0.6745 * 2.0**35, rel=0.1)
    assert np.mean(drawn[2::9]) == pytest.approx(1000.5, abs=1)
    assert np.var(drawn[5::9] * 1.0) == pytest.approx(55, rel=0.15)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, object])
def test_every_dtype(dtype: Any) -> None:
    parameters = np.random.default_rng(3).uniform(0.4, 0.9, 20_000)
    drawn = dg.discrete_laplace(parameters, dtype=dtype, threads=2)
    assert drawn.dtype == np.dtype(dtype)
    assert np.mean(drawn == 0) == pytest.approx(np.mean(np.tanh(0.5 / parameters)), abs=0.02)


def test_a_bad_law_among_many_is_named() -> None:
    """Nothing is drawn, whichever way the others would be."""
    sigma2 = np.linspace(1, 2, 1000)
    for bad in (0.0, -1.0, np.nan, np.inf):
        sigma2[777] = bad
        with pytest.raises(ParameterValueError, match=r"sigma2\[777\]"):
            dg.discrete_gaussian(sigma2)
