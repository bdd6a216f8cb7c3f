"""Ten samplers with a planted fault, and the question of law_checks.py that has to reject each.

Together they name every question of the harness. The draws follow from a fixed seed, so no verdict
depends on luck. `SOUND` holds the same samplers without the fault. The harness has to let them
pass, or it would prove nothing by rejecting the others.

Each fault is one that somebody shipped or nearly shipped, or one slip in Algorithms 1-3.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from law_checks import LawTable, gaussian_table, laplace_table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Random = np.random.Generator


class Control(NamedTuple):
    """A sampler, the law that it claims, and the questions that have to reject it."""

    name: str
    claims: LawTable
    sample: Callable[[Random, int], Ints]
    found_by: frozenset[str] = frozenset()

    def seeded(self, n: int) -> Ints:
        """Return the same draws every time, so that no control fails or passes by luck."""
        seed = int.from_bytes(self.name.encode(), "little")
        draws = self.sample(np.random.default_rng(seed), n)
        if len(draws) != n:
            raise ValueError(f"{self.name} gave {len(draws)} draws, not {n}")
        return draws


def gauss(sigma2: object, mu: str = "0") -> LawTable:
    return gaussian_table(Fraction(str(sigma2)), Fraction(mu))


def lap(scale: int) -> LawTable:
    return laplace_table(Fraction(scale))


def by_table(table: LawTable, pmf: Floats | None = None) -> Callable[[Random, int], Ints]:
    """Return a sampler by inversion of a table, or of other probabilities at its integers."""
    p = table.pmf if pmf is None else pmf
    cdf = np.cumsum(p / p.sum())
    return lambda rng, n: table.first + np.searchsorted(cdf[:-1], rng.random(n), side="right")


def cut(table: LawTable, reach: int) -> Callable[[Random, int], Ints]:
    """Return a sampler of the table without what lies further than that from 0."""
    x = np.arange(table.first, table.last + 1)
    return by_table(table, np.where(np.abs(x) <= reach, table.pmf, 0.0))


def moved(table: LawTable, source: int, to: int, share: float) -> Callable[[Random, int], Ints]:
    """Return a sampler that gives a share of one integer's probability to another."""
    pmf = table.pmf.copy()
    amount = pmf[source - table.first] * share
    pmf[source - table.first] -= amount
    pmf[to - table.first] += amount
    return by_table(table, pmf)


def rounded_normal(sigma: int) -> Callable[[Random, int], Ints]:
    return lambda rng, n: np.rint(rng.normal(0, sigma, n)).astype(np.int64)


def _signed(y: Ints, negative: npt.NDArray[np.bool_]) -> Ints:
    drawn: Ints = np.where(negative, -y, y)
    return drawn


def _zero_twice(rng: Random, n: int) -> Ints:
    """Forget that Algorithm 2 draws again where it has drawn minus zero."""
    y = np.floor(rng.exponential(1000, n)).astype(np.int64)
    return _signed(y, rng.random(n) < 0.5)


def _two_stages(uniform: Callable[[Random, int], Ints]) -> Callable[[Random, int], Ints]:
    """Return Algorithm 2 at scale 10 as it is written, with the caller's uniforms below 10."""

    def sample(rng: Random, n: int) -> Ints:
        u = uniform(rng, 2 * n)  # six in ten are kept
        u = u[rng.random(len(u)) < np.exp(-u / 10)]
        y = u + 10 * np.floor(rng.exponential(1, len(u))).astype(np.int64)
        negative = rng.random(len(y)) < 0.5
        kept = ~(negative & (y == 0))
        return _signed(y[kept], negative[kept])[:n]

    return sample


def _sign_of_two(first: int) -> Callable[[Random, int], Ints]:
    """Return a sampler with one sign bit for two draws; the first pair begins with that draw."""

    def sample(rng: Random, n: int) -> Ints:
        negative = np.repeat(rng.random(n // 2 + 1) < 0.5, 2)[first : n + first]
        return _signed(np.abs(by_table(gauss(100))(rng, n)), negative)

    return sample


SOUND = [
    Control("gaussian 100", gauss(100), by_table(gauss(100))),
    Control("gaussian 1, mu = 1/3", gauss(1, "1/3"), by_table(gauss(1, "1/3"))),
    Control("laplace 10", lap(10), _two_stages(lambda rng, n: rng.integers(0, 10, n))),
]


def _broken(
    name: str, claims: LawTable, sample: Callable[[Random, int], Ints], *found_by: str
) -> Control:
    return Control(name, claims, sample, frozenset(found_by))


BROKEN = [
    _broken("sigma off by 1 %", gauss(100), by_table(gauss(102)), "spread"),
    _broken("minus zero not redrawn", lap(1000), _zero_twice, "peak"),
    _broken(
        "modulo bias",
        lap(10),
        _two_stages(lambda rng, n: rng.integers(0, 256, n) % 10),
        *("cells", "classes"),
    ),
    _broken(
        "one-sided",
        lap(10),
        lambda rng, n: np.floor(rng.exponential(10, n)).astype(np.int64),
        *("mirror total", "location"),
    ),
    _broken("rounded normal, sigma2 = 1", gauss(1), rounded_normal(1), "both tails"),
    _broken("tail cut at 4 sigma", gauss(100), cut(gauss(100), 40), "left tail", "right tail"),
    _broken(
        "one cell gives 2 % of itself to the next",
        gauss(1),
        moved(gauss(1), 1, 2, 0.02),
        *("cells", "mirror cells"),
    ),
    _broken("mu with the wrong sign", gauss(1, "1/3"), by_table(gauss(1, "-1/3")), "location"),
    _broken("one sign bit for draws 0 and 1", gauss(100), _sign_of_two(0), "pairs from 0"),
    _broken("one sign bit for draws 1 and 2", gauss(100), _sign_of_two(1), "pairs from 1"),
]

SLIGHTLY_BROKEN = [
    _broken("sigma off by 0.2 %", gauss(100), by_table(gauss("100.4004")), "spread"),
    _broken("tail cut at 4.5 sigma", gauss(100), cut(gauss(100), 45), "both tails"),
    _broken("rounded normal, sigma2 = 16", gauss(16), rounded_normal(4), "spread"),
]
"""Faults that only tens of millions of draws show."""
