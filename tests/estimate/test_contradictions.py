"""Tables that cannot be of the same people are refused, and others are not."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from engine import needs_core

import discretegauss as dg
from discretegauss.errors import ParameterValueError
from discretegauss.estimate import consistent
from discretegauss.estimate._contradictions import sub_gaussian
from discretegauss.testing import seeded_source

Table = dict[str, list[Any]]

GAUSSIAN = dg.DiscreteGaussian(5)
DIFFERS = (
    r"^tables must be noisy counts of the same people, but table {} and table {} differ by up to "
    r"{} standard deviations of the noise{}; is a total among the rows, .*"
)


def states_and_towns(off: int, n: int = 1, parts: int = 2) -> list[Table]:
    """Return n wholes of some parts. The first whole is more by this than its parts."""
    states: Table = {"state": list(range(n)), "n": [100 * parts] * n}
    states["n"][0] += off
    cells = list(itertools.product(range(n), range(parts)))
    towns = {"state": [i for i, _ in cells], "town": [j for _, j in cells], "n": [100] * len(cells)}
    return [states, towns]


@pytest.mark.parametrize("n", [1, 100])
@pytest.mark.parametrize("sigma2", [5, "1/10"])
def test_one_difference_may_be_so_large(n: int, sigma2: Any) -> None:
    """One of n is refused beyond Chernoff's bound, for half of 10**-9 in n parts, and not before.

    A difference is a count less two others, so its sub-Gaussian parameter is 3 sigma2.
    """
    law = dg.DiscreteGaussian(sigma2)
    limit = math.floor(math.sqrt(2 * math.log(4e9 * n) * 3 * law.sigma2))
    assert limit < 20 * math.sqrt(3 * law.sigma2)
    consistent(states_and_towns(limit, n), law, "n")
    for off in (limit + 1, -limit - 1):
        with pytest.raises(ParameterValueError, match="most where state = 0;"):
            consistent(states_and_towns(off, n), law, "n")


def test_a_bound_of_a_normal_law_is_proven() -> None:
    """The bound is above the quantile of a chi-square, and not far above it."""
    chi2 = pytest.importorskip("scipy.stats").chi2
    for n in (1, 2, 10, 100, 10_000):
        most = math.log(4e9)
        bound = n + 2 * math.sqrt(n * most) + 2 * most
        assert chi2.isf(math.exp(-most), n) < bound < 1.5 * chi2.isf(math.exp(-most), n)


def test_many_small_differences_are_one_large_one() -> None:
    """Each of 100 wholes is off by less than 2 deviations, which one of them may be.

    The bound of their chi-square is 238; 100 differences of 6, of sigma2 15, make 240.
    """
    tables = states_and_towns(0, 100)
    tables[0]["n"] = [n + 5 for n in tables[0]["n"]]
    consistent(tables, GAUSSIAN, "n")
    tables[0]["n"] = [n + 1 for n in tables[0]["n"]]
    with pytest.raises(ParameterValueError, match=r"up to 1\.55 standard deviations"):
        consistent(tables, GAUSSIAN, "n")


def test_errors_name_the_tables_and_the_size() -> None:
    """They say which two differ, by their numbers, in any order, and not what was counted."""
    states, towns = states_and_towns(8000, 3)
    size = f"{8000 / math.sqrt(3 * GAUSSIAN.var()):.3g}".replace(".", r"\.").replace("+", r"\+")
    for tables in ([states, towns], [towns, states]):
        with pytest.raises(
            ParameterValueError, match=DIFFERS.format(1, 2, size, ", most where state = 0")
        ) as caught:
            consistent(tables, GAUSSIAN, "n")
        assert "8200" not in str(caught.value)
        found = consistent(tables, GAUSSIAN, "n", check=False)
        assert sum(found[tables.index(towns)]["n"][:2]) > 5000
    # a precise table and the margin of a cross, of which the finest table tells nothing
    sides: list[Table] = [{"a": [0, 1], "n": [5, 6]}, {"b": [0, 1], "n": [900, 6]}]
    cells: Table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "n": [0, 0, 0, 0]}
    laws = [GAUSSIAN, GAUSSIAN, dg.DiscreteGaussian(10**9)]
    with pytest.raises(ParameterValueError, match=DIFFERS.format(2, 3, "200", "")):
        consistent([cells, *sides], laws[::-1], "n")


def test_what_was_not_released_contradicts_nothing() -> None:
    """A null is not compared, nor is a sum with a null."""
    states, towns = states_and_towns(8000, 3)
    states["n"][0] = None
    found = consistent([states, towns], GAUSSIAN, "n")
    assert found[0]["n"][0] == pytest.approx(200)


def test_large_counts_are_compared_exactly() -> None:
    """Counts of 2**52 whose sum is right agree; a sum that is 40 too large does not."""
    law = dg.DiscreteGaussian("1/2")
    parts = [2**51 + 1, 2**51 - 3, 2**50 + 1]
    towns = {"town": [1, 2, 3], "n": parts}
    consistent([{"n": [sum(parts)]}, towns], law, "n")
    with pytest.raises(ParameterValueError, match=r"up to 28\.3 standard"):
        consistent([{"n": [sum(parts) + 40]}, towns], law, "n")


OTHERS = [
    dg.DiscreteLaplace(3),
    dg.DiscreteLaplace("1/20"),
    dg.GeneralizedGaussian(7, "3/2"),
    dg.Skellam(4),
]


@pytest.mark.parametrize("law", [GAUSSIAN, dg.DiscreteGaussian("1/10"), *OTHERS], ids=str)
def test_noise_is_sub_gaussian(law: Any) -> None:
    """E exp(t X) <= exp(t**2 s/2) for 400 t, given that X is within its q; s is not far larger."""
    s = sub_gaussian(law, 100)
    q = int(law.isf(1e-9 / 800))
    x = np.arange(-q, q + 1)
    mass = np.asarray(law.pmf(x), np.float64)
    for t in np.geomspace(1e-3, 30, 400) / law.std():
        powers = t * x + np.log(np.maximum(mass / mass.sum(), 1e-300))
        assert np.logaddexp.reduce(powers) <= t**2 * s / 2 * (1 + 1e-9) + 1e-12
    if isinstance(law, dg.DiscreteGaussian):
        assert s == float(law.sigma2)
    else:
        assert s <= max(31 * law.var(), 4)


@pytest.mark.parametrize("law", OTHERS, ids=str)
def test_other_noise_is_refused_by_its_own_tail(law: Any) -> None:
    """Among three draws, 45 deviations of other laws are refused, and their largest draws never."""
    off = math.ceil(45 * math.sqrt(3 * law.var())) + 20
    with pytest.raises(ParameterValueError, match="same people"):
        consistent(states_and_towns(off), law, "n")
    consistent(states_and_towns(int(law.isf(1e-9 / 12))), law, "n")


@needs_core
@pytest.mark.filterwarnings("ignore::discretegauss.testing.NotPrivateWarning")
@pytest.mark.parametrize("law", [dg.DiscreteGaussian("1/10"), GAUSSIAN, *OTHERS], ids=str)
def test_noise_is_not_refused(law: Any) -> None:
    """None of 10 releases of three tables is refused."""
    source = seeded_source(16)
    cells = list(itertools.product(range(3), range(4)))
    for _ in range(10):
        noise = law.sample(size=19, source=source).tolist()
        tables: list[Table] = [
            {"a": [0, 1, 2], "n": [20 + x for x in noise[:3]]},
            {"b": [0, 1, 2, 3], "n": [15 + x for x in noise[3:7]]},
            {
                "a": [a for a, _ in cells],
                "b": [b for _, b in cells],
                "n": [5 + x for x in noise[7:]],
            },
        ]
        consistent(tables, law, "n")


@pytest.mark.parametrize("sigma2", [5, 50])
def test_the_order_of_tables_changes_nothing(sigma2: int) -> None:
    """Of two tables with the same columns, either may have nulls; every order gives one result."""
    tables: list[Table] = [
        {"a": [1, 2], "n": [12, None]},
        {"a": [2, 1], "n": [20, 10]},
        {"n": [31]},
        {"a": [1, 2], "n": [None, None]},
    ]
    laws = [dg.DiscreteGaussian(s) for s in (2, 3, sigma2, 7)]
    expected = consistent(tables, laws, "n")
    for order in itertools.permutations(range(4)):
        found = consistent([tables[i] for i in order], [laws[i] for i in order], "n")
        for i, table in zip(order, found, strict=True):
            assert table["n"] == pytest.approx(expected[i]["n"], rel=1e-12)
            assert table["error"] == pytest.approx(expected[i]["error"], rel=1e-9)
