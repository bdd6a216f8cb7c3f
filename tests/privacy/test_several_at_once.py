"""Clients, queries, lengths and laws given together all count: each figure is held from both sides.

A function with one count at a time may ignore one that stands beside another.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from six_digits import beside

import discretegauss as dg
from discretegauss import privacy

G, L, S = dg.DiscreteGaussian, dg.DiscreteLaplace, dg.Skellam
VECTOR: Any = {"sensitivity": 5, "dimension": 100}


def rho_of(law: Any, clients: int, how: dict[str, Any]) -> Fraction:
    return privacy.rho(law.sum(clients), **how)


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        (G, VECTOR | {"clients": 10, "queries": 4}),
        (G, {"sensitivity": 7, "dimension": 50, "sum_norm": 20, "clients": 3, "queries": 6}),
        (L, {"sensitivity": 3, "queries": 7}),
    ],
)
def test_calibrate_by_rho_spends_the_budget_and_no_more(kind: Any, how: dict[str, Any]) -> None:
    """Several at once: one digit less costs more than the budget, over all queries together."""
    rho, clients = Fraction("1.1"), how.get("clients", 1)
    law = privacy.calibrate(kind, rho=rho, **how)
    cost = {name: value for name, value in how.items() if name != "clients"}
    less = kind(beside(law._spec.parameter, -1))
    assert rho_of(law, clients, cost) <= rho < rho_of(less, clients, cost)


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        (G, {"sensitivity": 2, "queries": 5}),
        (L, {"sensitivity": 3, "queries": 4}),
        (S, {"sensitivity": 2, "queries": 4}),
        (S, VECTOR | {"clients": 6, "queries": 3, "sum_norm": 9}),
        (G, VECTOR | {"clients": 6, "queries": 3}),
    ],
)
def test_calibrate_by_epsilon_spends_the_budget_and_no_more(kind: Any, how: dict[str, Any]) -> None:
    """Several at once: the noise is enough for all of them, and a thousandth less is not."""
    law = privacy.calibrate(kind, epsilon=1, delta="1e-4", **how)
    clients = how.get("clients", 1)
    cost = {name: value for name, value in how.items() if name != "clients"}
    narrow = kind(law._spec.parameter * Fraction(999, 1000))
    assert privacy.delta(law.sum(clients), 1, **cost) <= 1e-4
    assert privacy.delta(narrow.sum(clients), 1, **cost) > 1e-4


def test_pure_noise_counts_queries_and_sensitivity() -> None:
    law = privacy.calibrate(L, epsilon="1/2", sensitivity=3, queries=4)
    assert law.scale == 24
    assert privacy.epsilon(law, 0, 3, queries=4) == 0.5
    assert privacy.delta(law, "1/2", 3, queries=4) == 0 < privacy.delta(law, "0.4999", 3, queries=4)


def test_rho_counts_queries_beside_all_else() -> None:
    """Several at once: of shares, of vectors, of sequences."""
    shares, how = G(2).sum(9), {"sensitivity": 4, "dimension": 30, "sum_norm": 11}
    one: Any = privacy.rho(shares, **how)
    assert privacy.rho(shares, queries=6, **how) == 6 * one > 6 * privacy.rho(G(18), 4)
    laws, changes = [G(5), L(3), shares], [1, 2, 4]
    together = privacy.rho(laws, changes, queries=3)
    assert together == 3 * sum(map(privacy.rho, laws, changes))
    assert privacy.compose("1/7", (G(5), 2), (L(3), 2), shares) == (
        Fraction(1, 7) + privacy.rho(G(5), 2) + privacy.rho(L(3), 2) + privacy.rho(shares)
    )


@pytest.mark.parametrize("how", [{}, {"sampling": "1/5"}, {"norm": 2}], ids="+".join)
def test_renyi_divergences_of_queries_add(how: dict[str, Any]) -> None:
    """Several at once: queries beside samples and balls, to two roundings."""
    one, four = (privacy.renyi(L(3), 5, 2, queries=n, **how) for n in (1, 4))
    assert math.nextafter(4 * one, 0) - 4 * math.ulp(one) <= four <= 4 * one


@pytest.mark.parametrize("how", [{}, {"sampling": "1/5", "secret_sample": False}], ids="+".join)
def test_the_order_of_laws_is_none(how: dict[str, Any]) -> None:
    """Order: of several laws, each with its own number of queries, it changes nothing.

    Losses that are composed by hand enclose the result.
    """
    laws: Any = [G(5), L(3), L(3), S(4), G(5), G(5)]
    found = privacy.delta(laws, 2, 2, queries=2, **how)
    assert privacy.delta(laws[::-1], 2, 2, queries=2, **how) == pytest.approx(found, rel=1e-9)
    loss = [privacy.loss(law, 2, **how) for law in (G(5), L(3), S(4))]
    lower, upper = (loss[0] ** 6 @ loss[1] ** 4 @ loss[2] ** 2).delta(2, bounds=True)
    assert lower <= found <= upper * (1 + 1e-9)
    assert upper < 1.01 * lower


def test_outcomes_are_paired_by_name() -> None:
    """Order of keys: mappings in another order are the same pair, and a missing outcome is 0."""
    p, q = {"a": "0.1", "b": "0.6", "c": "0.3"}, {"c": "0.5", "a": "0.2", "b": "0.3"}
    loss = privacy.PrivacyLoss.of_pair(p, q)
    lists = privacy.PrivacyLoss.of_pair(["0.1", "0.6", "0.3"], ["0.2", "0.3", "0.5"])
    for epsilon in (0, "1/2"):
        assert loss.delta(epsilon, bounds=True) == lists.delta(epsilon, bounds=True)
    assert loss.delta(0) == pytest.approx(0.3, rel=1e-9)
    half = privacy.PrivacyLoss.of_pair({"a": 1}, {"b": "1/2", "a": "1/2"})
    assert half.delta(1) == pytest.approx(0.5, rel=1e-9)


def test_pure_epsilons_of_several_laws_add() -> None:
    """Several at once: each law as often as it occurs, times the queries."""
    laws = [L(10), L(20), L(10)]
    assert privacy.epsilon(laws, 0, 3, queries=2) == pytest.approx(1.5, rel=1e-15)
    assert privacy.delta(laws, "1.5", 3, queries=2) == 0
    assert privacy.delta(laws, "1.49", 3, queries=2) > 0


@pytest.mark.parametrize("kind", [G, L, S])
def test_calibrate_for_an_error_counts_queries(kind: Any) -> None:
    """Several at once: all 30 answers are within 40 with 90 %, and one digit more is too much."""
    law = privacy.calibrate(kind, error=40, confidence="0.9", queries=30)
    wider = kind(beside(law._spec.parameter, 1))
    within, not_within = ((1 - 2 * Fraction(one.sf(40))) ** 30 for one in (law, wider))
    assert within >= Fraction(9, 10) * (1 - Fraction(1, 10**12)) > not_within
