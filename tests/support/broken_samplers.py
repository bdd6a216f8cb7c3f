"""Samplers with a planted fault: the harness in law_checks.py has to reject every one of them.

They use numpy's floats and a fixed seed, so every run makes the same draws and no verdict depends
on luck. `SOUND` holds the same samplers without the fault. The harness has to let them pass, or it
would prove nothing by rejecting the others.

Each fault is one that somebody shipped or nearly shipped, or one slip in Algorithms 1-3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isqrt

import numpy as np
import numpy.typing as npt
from law_checks import (
    LawTable,
    gaussian_table,
    laplace_table,
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Sampler = Callable[[np.random.Generator, int], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Control:
    """A sampler and the law it claims."""

    name: str
    claims: Callable[[], LawTable]
    sample: Sampler

    def seeded(self, n: int) -> Ints:
        """Return the same draws every time, so that no control fails or passes by luck."""
        seed = int.from_bytes(self.name.encode(), "little")
        draws = self.sample(np.random.default_rng(seed), n)
        if len(draws) != n:
            raise ValueError(f"{self.name} gave {len(draws)} draws, not {n}")
        return draws


# --- sound building blocks, vectorised ------------------------------------------------------


def magnitude(rng: np.random.Generator, n: int, scale: float) -> Ints:
    """Return n draws with P(y) ~ exp(-y / scale), y >= 0."""
    return np.floor(rng.exponential(scale, n)).astype(np.int64)


def laplace(rng: np.random.Generator, n: int, scale: float, *, zero_twice: bool = False) -> Ints:
    """Return n draws of Algorithm 2's law; zero_twice forgets to redraw minus zero."""
    redrawn = 0.0 if zero_twice else -np.expm1(-1 / scale) / 2
    y = magnitude(rng, int(1.02 * n / (1 - redrawn)) + 1000, scale)  # 10 deviations to spare
    negative = rng.random(len(y)) < 0.5
    if not zero_twice:
        kept = ~(negative & (y == 0))
        y, negative = y[kept], negative[kept]
    return np.where(negative, -y, y)[:n]


def exp_minus(gamma: Floats) -> Floats:
    """Return exp(-gamma), the probability of Algorithm 1."""
    return np.exp(-gamma)


def gaussian(
    rng: np.random.Generator,
    n: int,
    sigma2: float,
    *,
    accept: Callable[[Floats, float, int], Floats] | None = None,
    zero_twice: bool = False,
    proposal_step: int = 1,
) -> Ints:
    """Return n draws by Algorithm 3; accept(|y|, sigma2, t) is the probability of acceptance."""
    t = isqrt(floor(sigma2)) + 1

    def rule(y: Floats, s2: float, t: int) -> Floats:
        return exp_minus((y - s2 / t) ** 2 / (2 * s2))

    accept = rule if accept is None else accept
    parts: list[Ints] = []
    held = 0
    while held < n:
        scale = t - 1 + proposal_step
        y = laplace(rng, 2 * (n - held), scale, zero_twice=zero_twice)
        y = y[rng.random(len(y)) < accept(np.abs(y).astype(np.float64), sigma2, t)]
        parts.append(y)
        held += len(y)
    return np.concatenate(parts)[:n]


def by_table(rng: np.random.Generator, n: int, pmf: Floats, first: int) -> Ints:
    """Return n draws by inversion of a table of probabilities."""
    cdf = np.cumsum(pmf / pmf.sum())
    return first + np.searchsorted(cdf[:-1], rng.random(n), side="right").astype(np.int64)


def _moved(table: LawTable, source: int, to: int, share: float) -> tuple[Floats, int]:
    """Return the table with a share of one integer's probability given to another."""
    pmf = table.pmf.copy()
    amount = pmf[source - table.first] * share
    pmf[source - table.first] -= amount
    pmf[to - table.first] += amount
    return pmf, table.first


# --- laws claimed ---------------------------------------------------------------------------


def gauss(sigma2: int | str, mu: str = "0") -> Callable[[], LawTable]:
    return lambda: gaussian_table(Fraction(sigma2), Fraction(mu))


def lap(scale: int | str) -> Callable[[], LawTable]:
    return lambda: laplace_table(Fraction(scale))


# --- faults in the law of one draw -----------------------------------------------------------


def _proportional(accept_gamma: Callable[[Floats, float, int], Floats]) -> Sampler:
    """Return Algorithm 3 at sigma2 = 100 with another exponent in the acceptance."""
    return lambda rng, n: gaussian(
        rng, n, 100, accept=lambda y, s2, t: exp_minus(accept_gamma(y, s2, t))
    )


def _two_stage(rng: np.random.Generator, n: int, uniform: Callable[[int], Ints]) -> Ints:
    """Draw by Algorithm 2 at scale 10 as it is written, with the caller's uniforms below 10."""
    u = uniform(2 * n)  # six in ten are kept
    u = u[rng.random(len(u)) < np.exp(-u / 10)]
    v = magnitude(rng, len(u), 1)
    y = u + 10 * v
    negative = rng.random(len(y)) < 0.5
    kept = ~(negative & (y == 0))
    drawn: Ints = np.where(negative, -y, y)[kept][:n]
    return drawn


def _modulo_bias(rng: np.random.Generator, n: int) -> Ints:
    return _two_stage(rng, n, lambda m: rng.integers(0, 256, m) % 10)


def _redrawn_tail(rng: np.random.Generator, n: int) -> Ints:
    x = gaussian(rng, n + n // 100, 100)
    return x[np.abs(x) <= 40][:n]


def _table_of_4_sigma_and_a_half(rng: np.random.Generator, n: int) -> Ints:
    x = gaussian(rng, n + n // 100, 100)
    return x[np.abs(x) <= 45][:n]


def _moved_cell(rng: np.random.Generator, n: int) -> Ints:
    return by_table(rng, n, *_moved(gaussian_table(Fraction(1)), 1, 2, 0.02))


# --- faults between draws --------------------------------------------------------------------


def _sign_of_the_last_one(rng: np.random.Generator, n: int) -> Ints:
    """Use one sign bit for two draws."""
    y = np.abs(gaussian(rng, n, 100))
    sign = np.repeat(rng.integers(0, 2, n // 2 + 1), 2)[:n]
    return np.where(sign == 1, -y, y)


def _antithetic(rng: np.random.Generator, n: int) -> Ints:
    half = gaussian(rng, n // 2, 100)
    return np.column_stack([half, -half]).ravel()


def _buffer_again(rng: np.random.Generator, n: int) -> Ints:
    """Hand out one buffer of 10000 draws again and again."""
    return np.resize(gaussian(rng, 10_000, 100), n)


SOUND = [
    Control("gaussian 1", gauss(1), lambda rng, n: gaussian(rng, n, 1)),
    Control("gaussian 100", gauss(100), lambda rng, n: gaussian(rng, n, 100)),
    Control("gaussian 10000", gauss(10_000), lambda rng, n: gaussian(rng, n, 10_000)),
    Control("laplace 10", lap(10), lambda rng, n: laplace(rng, n, 10)),
    Control(
        "laplace 10 in two stages",
        lap(10),
        lambda rng, n: _two_stage(rng, n, lambda m: rng.integers(0, 10, m)),
    ),
    Control(
        "gaussian 1 by table",
        gauss(1, "1/3"),
        lambda rng, n: by_table(rng, n, (t := gauss(1, "1/3")()).pmf, t.first),
    ),
]

BROKEN = [
    Control("sigma off by 1 %", gauss(100), lambda rng, n: gaussian(rng, n, 102)),
    Control(
        "minus zero not redrawn, laplace 1000",
        lap(1000),
        lambda rng, n: laplace(rng, n, 1000, zero_twice=True),
    ),
    Control(
        "acceptance without the two",
        gauss(100),
        _proportional(lambda y, s2, t: (y - s2 / t) ** 2 / s2),
    ),
    Control("modulo bias", lap(10), _modulo_bias),
    Control("one-sided", lap(10), lambda rng, n: magnitude(rng, n, 10)),
    Control(
        "rounded normal, sigma2 = 1",
        gauss(1),
        lambda rng, n: np.rint(rng.normal(0, 1, n)).astype(np.int64),
    ),
    Control("tail cut at 4 sigma", gauss(100), _redrawn_tail),
    Control(
        "tail clamped at 4 sigma",
        gauss(100),
        lambda rng, n: np.clip(gaussian(rng, n, 100), -40, 40),
    ),
    Control(
        "wraps at 8 bits",
        gauss(10_000),
        lambda rng, n: gaussian(rng, n, 10_000).astype(np.int8).astype(np.int64),
    ),
    Control("one cell gives 2 % of itself to the next", gauss(1), _moved_cell),
    Control("off by one", gauss(100), lambda rng, n: gaussian(rng, n, 100) + 1),
    Control(
        "mu with the wrong sign",
        gauss(1, "1/3"),
        lambda rng, n: by_table(rng, n, (t := gauss(1, "-1/3")()).pmf, t.first),
    ),
    Control("sign bit used for two draws", gauss(100), _sign_of_the_last_one),
    Control("antithetic pairs", gauss(100), _antithetic),
    Control("a buffer handed out again", gauss(100), _buffer_again),
]

SLIGHTLY_BROKEN = [
    Control("sigma off by 0.2 %", gauss(100), lambda rng, n: gaussian(rng, n, 100.4004)),
    Control("tail cut at 4.5 sigma", gauss(100), _table_of_4_sigma_and_a_half),
    Control(
        "rounded normal, sigma2 = 16",
        gauss(16),
        lambda rng, n: np.rint(rng.normal(0, 4, n)).astype(np.int64),
    ),
]
"""Faults that only tens of millions of draws show."""
