"""Mironov's chain to the bit, his theorem in toy floats, and the attack that it answers."""

from __future__ import annotations

import math
import random
import runpy
from pathlib import Path
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from evidence_cases import some
from scipy import stats

import discretegauss as dg
from discretegauss.snapping import SnappedLaplace, _mironov, snapping_laplace
from discretegauss.snapping._mironov import LN, logarithm, uniform_doubles
from discretegauss.snapping._parameters import parameters
from discretegauss.snapping._sides import draw_words
from discretegauss.testing import TapeSource

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "laplace_attack.py"
Floats = np.ndarray[Any, np.dtype[np.float64]]


def chain(x: float, sign: float, u: float, epsilon: Any, bound: float) -> float:
    """The mechanism as the paper writes it, each operation correctly rounded."""
    given = parameters(epsilon, bound, method="mironov")
    log = float(gmpy2.context(precision=53).log(gmpy2.mpfr(u, 53)))
    x = min(max(x, -bound), bound)
    z = x + sign * (float(given.scale) * log)
    k = math.floor(gmpy2.mpq(z) / given.grid + gmpy2.mpq(1, 2))
    return min(max(float(k * given.grid), -bound), bound)


def noise_of(source: TapeSource, n: int) -> tuple[Floats, Floats]:
    words = np.array([int.from_bytes(source.tape[8 * i : 8 * i + 8], "little") for i in range(n)])
    return uniform_doubles(words.astype(np.uint64), TapeSource(source.tape[8 * n :]))


def values(n: int) -> Floats:
    rng = np.random.default_rng(7)
    ends = [0.0, -0.0, 5e-324, 1e300, -1e300, math.inf, 0.5, -0.5, 4.0]
    return np.array([*ends, *rng.normal(0, 30, n - len(ends))])


@pytest.mark.parametrize(("epsilon", "bound"), [(1, 100), (0.1, 3000), ("1/3", 10), (5, 0.75)])
def test_the_chain_to_the_bit(epsilon: Any, bound: float) -> None:
    """Outputs are those of the paper's chain with MPFR's logarithm, from the bits of the source."""
    n = 2000
    source = TapeSource(random.Random(3).randbytes(10 * n))
    noisy = snapping_laplace(values(n), epsilon, bound, method="mironov", source=source)
    signs, u = noise_of(source, n)
    expected = [chain(*one, epsilon, bound) for one in zip(values(n), signs, u, strict=True)]
    assert noisy.tolist() == expected


def test_what_the_enclosure_leaves_open_mpfr_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a slack of 1/16 in the place of 2**-40 many are left open: the outputs are the same."""
    source = TapeSource(random.Random(4).randbytes(10**5))
    signs, u = noise_of(source, 5000)
    given = parameters(1, 100, method="mironov")
    noisy, few = _mironov._snap_chunk(values(5000), signs, u, given, 100.0)
    monkeypatch.setattr(_mironov, "_SLACK", 1 / 16)
    same, many = _mironov._snap_chunk(values(5000), signs, u, given, 100.0)
    assert (noisy == same).all()
    assert few < 3
    assert many > 300


def test_sums_in_the_middle_between_multiples_are_rounded_up() -> None:
    """Hard cases: the last bit of the logarithm decides, so MPFR has to, each time."""
    signs, u = noise_of(TapeSource(random.Random(6).randbytes(10**5)), 5000)
    given = parameters(1, 100, method="mironov")
    middle, scale = float(given.grid) / 2, float(given.scale)
    y = signs * (scale * np.array([LN(one) for one in u.tolist()]))
    x = middle - y
    hard = x + y == middle
    noisy, decided = _mironov._snap_chunk(x[hard], signs[hard], u[hard], given, 100.0)
    assert (noisy == 2 * middle).all()
    assert decided == hard.sum() > 1000
    down = _mironov._outputs(np.zeros(1), np.ones(1), np.array([-middle]), given, 100.0)
    assert down.tolist() == [0]


@pytest.mark.evidence
@pytest.mark.parametrize("piece", range(10))
def test_ten_million_outputs_are_those_of_mpfr(piece: int) -> None:
    """A million at a time, of two scales."""
    n = 10**6
    signs, u = noise_of(TapeSource(random.Random(5 + piece).randbytes(9 * n)), n)
    given = parameters("1/3" if piece % 2 else 1, 50, method="mironov")
    noisy, _ = _mironov._snap_chunk(values(n), signs, u, given, 50.0)
    logs = np.array([LN(one) for one in u.tolist()])
    x = np.clip(values(n), -50, 50)
    assert (noisy == _mironov._outputs(logs, signs, x, given, 50.0)).all()


def test_the_logarithm_is_within_its_bound() -> None:
    """2**-41 relatively is asked; near 1, at the ends of f's range, and far down it is 2**-48."""
    rng = np.random.default_rng(8)
    near_one = 1 - np.arange(1, 500) * 2.0**-53
    roots = math.sqrt(0.5) * (1 + np.arange(-50, 50) * 2.0**-53)
    far = np.ldexp(rng.uniform(1, 2, 500), rng.integers(-1022, -1, 500))
    with mpmath.workdps(40):
        for u in [*near_one, *roots, 0.7071, math.nextafter(0.7071, 0), *far, 2.0**-1022]:
            exact = mpmath.log(mpmath.mpf(float(u)))
            error = abs(mpmath.mpf(float(logarithm(np.array([u]))[0])) / exact - 1)
            assert error < mpmath.mpf(2) ** -46
            assert LN(float(u)) == float(exact)


def test_uniform_doubles() -> None:
    """Some words bit by bit; exponents and mantissas are as frequent as fair bits make them."""
    words = np.array([1 << 63 | 1 << 52, 5 << 52 | 3, 1 << 62, 0], np.uint64)
    signs, u = uniform_doubles(words, TapeSource(bytes([0] * 8 + [4] + [0] * 7)))
    assert signs.tolist() == [-1, 1, 1, 1]
    expected = [0.5, 0.5 * (1 + 3 * 2.0**-52), 2.0**-11, 2.0 ** -(22 + 3)]
    assert u.tolist() == expected
    n = 20_000
    u = uniform_doubles(draw_words(n, "getrandom", 1), "getrandom")[1]
    mantissas, exponents = np.frexp(u)
    counts = np.bincount(np.minimum(-exponents, 8), minlength=9)
    often = [n / 2 ** (i + 1) for i in range(8)]
    assert stats.chisquare(counts, [*often, n / 2**8]).pvalue > 1e-9
    assert stats.kstest(2 * mantissas - 1, "uniform").pvalue > 1e-9


def test_its_law_is_nearly_the_ideal_one() -> None:
    """Chi-square against the exact law of the same scale and grid; p < 1e-9 fails."""
    n, given = 20_000, parameters("1/3", 20, method="mironov")
    draws = snapping_laplace(np.full(n, 0.3), "1/3", 20, method="mironov")
    law = SnappedLaplace(0.3, 1 / given.scale, 20)
    found, counts = np.unique(draws, return_counts=True)
    p = law.pmf(found)
    assert math.isclose(p.sum(), 1, abs_tol=1e-4)
    assert stats.chisquare(counts, p / p.sum() * n).pvalue > 1e-9


# --- the theorem, for all inputs and all bits of short floats


def rounded(x: Floats, bits: int) -> Floats:
    """Round to the nearest number of this many bits, ties to even."""
    mantissas, exponents = np.frexp(x)
    result: Floats = np.ldexp(np.rint(np.ldexp(mantissas, bits)), exponents - bits)
    return result


def worst_loss(bits: int, scale: float, bound: float, change: float, deepest: int) -> float:
    """The largest log-ratio of an output's probabilities over all neighbouring inputs."""
    grid = 2.0 ** math.ceil(math.log2(scale))
    half = np.arange(2 ** (bits - 1), 2**bits) / 2.0 ** (bits - 1)
    exponents = np.arange(1, deepest + 1)
    u = half[:, None] * 2.0**-exponents
    weights = np.broadcast_to(2.0**-exponents, u.shape).copy()
    weights[:, -1] *= 2
    y = rounded(scale * rounded(np.log(u), bits), bits).ravel()
    y, weights = np.concatenate([y, -y]), np.concatenate([weights.ravel()] * 2) / (2 * len(half))
    binades = [half * 2.0**e for e in range(-bits, 1 + int(math.log2(bound)))]
    inputs = np.unique(np.concatenate([[0.0], *binades, *(-one for one in binades)]))
    inputs = inputs[abs(inputs) <= bound]
    outputs: dict[float, int] = {}
    table = np.zeros((len(inputs), 2 * int(bound / grid) + 3))
    for row, x in enumerate(inputs):
        z = rounded(x + y, bits)
        noisy = np.clip(np.floor(z / grid + 0.5) * grid, -bound, bound)
        found, places = np.unique(noisy, return_inverse=True)
        sums = np.bincount(places, weights)
        for value, p in zip(found.tolist(), sums, strict=True):
            table[row, outputs.setdefault(value, len(outputs))] = p
    table = table[:, : len(outputs)]
    if (table == 0).any():
        return math.inf
    logs = np.log(table)
    worst = 0.0
    for row, x in enumerate(inputs):
        near = logs[abs(inputs - x) <= change]
        worst = max(worst, float(abs(near - logs[row]).max()))
    return worst


@pytest.mark.parametrize("bits", some([6, 7], 1))
@pytest.mark.parametrize(
    ("scale", "bound", "change"),
    [(1.0, 4.0, 1.0), (1.25, 4.0, 1.0), (1.0, 4.0, 0.3), (2.0, 6.0, 1.5)],
)
def test_the_theorem_holds_for_all_inputs_of_short_floats(
    bits: int, scale: float, bound: float, change: float
) -> None:
    """Every input, every uniform: no loss above (D + 12 B eta)/lambda + 2 eta."""
    eta = 2.0**-bits
    worst = worst_loss(bits, scale, bound, change, 24)
    assert change / scale < worst <= (change + 12 * bound * eta) / scale + 2 * eta


def test_noise_that_does_not_reach_far_enough_is_not_private() -> None:
    """With exponents up to 8 the noise ends at 5.5 scales, short of 2 B: the loss is infinite."""
    assert worst_loss(6, 1.0, 4.0, 1.0, 8) == math.inf


# --- the attack


def test_the_attack_succeeds_on_numpy_and_fails_on_snapping() -> None:
    """Three in four of numpy's outputs are impossible for the other answer; no snapped one is."""
    attack = runpy.run_path(str(EXAMPLE))
    rng = np.random.default_rng(12)
    for scale in (1, 3, 10**6):
        for pair in ((0.0, 1.0), (1.0, 0.0)):
            own, told = attack["attack"](float(scale), *pair, rng)
            assert own > 0.99
            assert told > 0.75
            assert attack["attack_on_snapping"](scale, *pair) == 0


def test_all_outputs_are_possible_for_all_values() -> None:
    """The supports of neighbours are one set, on which both laws are positive."""
    laws = [SnappedLaplace(value, 1, 4, grid="1/4") for value in (0, 1, 0.3, 1e-300, -4)]
    outputs = np.arange(-16, 17) / 4
    for law in laws:
        assert (law.pmf(outputs) > 0).all()
        assert math.isclose(law.pmf(outputs).sum(), 1, rel_tol=1e-12)
    for value in (0, 1):
        draws = snapping_laplace(np.full(2000, value), 1, 4, grid="1/4")
        assert set(draws.tolist()) <= set(outputs.tolist())


def test_rounding_noise_is_no_remedy() -> None:
    """Noise on a grid of 2**-32 added to answers off that grid: no output is shared."""
    noise = dg.discrete_laplace(2**32, 500) / 2.0**32
    grid_of = [set(((answer + noise) % 2.0**-32).tolist()) for answer in (0.0, 2.0**-40)]
    assert grid_of[0] == {0.0}
    assert grid_of[1] == {2.0**-40}
