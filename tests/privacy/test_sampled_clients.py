"""No bound for sampled clients or vectors is below the truth, which small cases enumerate.

Each case has the law of the sum on a grid of integers, every vector of the norm (one of each class
of signs and orders), both directions, and 1 to 5 rounds. Losses are rounded down to a multiple of H
and convolved, so the delta found is at most the true one. The tests plant faults and find them.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from evidence_cases import evidence
from numpy.typing import NDArray
from privacy_reference import gaussian_weight, mp
from scipy import stats

import discretegauss as dg
from discretegauss import privacy
from discretegauss._certified.interval import Interval, arithmetic
from discretegauss.privacy import _sampled_moment, shares
from discretegauss.privacy._dominating import Dominating, Moved
from discretegauss.privacy._known_sample import KnownSample, Sample
from discretegauss.privacy._noise_outcomes import GaussianNoise
from discretegauss.privacy._outcomes import Outcome, Outcomes
from discretegauss.privacy.loss_distribution import loss_of_release
from discretegauss.privacy.sensitivity import Sensitivity

Floats = NDArray[np.float64]

H = 2.0**-9
FAR = 30.0

#: Law, shares, norm, dimension.
QUICK: list[tuple[Any, int, int, int]] = [
    (dg.DiscreteGaussian(1), 4, 2, 1),
    (dg.DiscreteGaussian("1/2"), 4, 1, 2),
    (dg.Skellam(1), 3, 1, 2),
]
WHOLE: list[tuple[Any, int, int, int]] = [
    *QUICK,
    *((dg.DiscreteGaussian(s), n, d, 1) for s, n, d in (("1/4", 4, 1), ("1/2", 3, 1), (2, 3, 3))),
    *((dg.DiscreteGaussian(s), n, d, 1) for s, n, d in ((4, 2, 3), (3, 1, 2))),
    *((dg.DiscreteGaussian(s), n, d, 2) for s, n, d in ((1, 3, 2), (2, 2, 2), (4, 1, 2))),
    *((dg.DiscreteGaussian(s), n, d, 3) for s, n, d in ((1, 2, 1), (1, 1, 2))),
    *((dg.Skellam(m), n, d, k) for m, n, d, k in ((1, 2, 1, 1), (1, 6, 2, 1), (2, 3, 2, 2))),
    (dg.Skellam("1/2"), 3, 1, 3),
]


def sum_pmf(law: Any, clients: int) -> Floats:
    """Return P(-r), ..., P(r) of the sum, in floats."""
    reach = int(6 + 7 * math.sqrt(law.var()))
    one = law.pmf(np.arange(-reach, reach + 1))
    return np.asarray(functools.reduce(np.convolve, [one] * clients))


def changes(norm: int, dimension: int) -> Iterator[tuple[int, ...]]:
    for v in itertools.combinations_with_replacement(range(norm, -1, -1), dimension):
        if 0 < sum(x * x for x in v) <= norm * norm:
            yield v


def pair(pmf: Floats, v: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the noise and the noise moved by v, on one grid."""
    p = q = np.ones(1)
    for change in v:
        p = np.outer(p, np.append(np.zeros(change), pmf)).ravel()
        q = np.outer(q, np.append(pmf, np.zeros(change))).ravel()
    return p, q


def true_deltas(pairs: list[tuple[Floats, Floats, int]], epsilons: list[float]) -> list[float]:
    """Return lower bounds on delta of all rounds, given pairs of laws and how often each occurs."""
    size, rounds = int(FAR / H), sum(times for _, _, times in pairs)
    length = rounds * 2 * size + 1
    fast = 1 << length.bit_length()
    transformed: Any = 1.0
    for p, q, times in pairs:
        both = (p > 0) & (q > 0)
        loss = np.floor(np.log(p[both] / q[both]) / H).astype(int)
        near = np.abs(loss) <= size
        mass = np.bincount(loss[near] + size, p[both][near], 2 * size + 1)
        if rounds > 1:
            transformed = transformed * np.fft.rfft(mass, fast) ** times
    total = mass if rounds == 1 else np.maximum(np.fft.irfft(transformed, fast)[:length], 0.0)
    at = (np.arange(length) - rounds * size) * H
    return [
        float((total * np.maximum(-np.expm1(np.minimum(e - at, 0.0)), 0))[at > e].sum())
        for e in epsilons
    ]


def bounds_of(
    law: Any, clients: int, how: dict[str, Any], deltas: tuple[float, ...], *, secret: bool
) -> list[tuple[str, float, float]]:
    """Return each bound by itself: its name, a delta asked for, and its epsilon."""
    change = Sensitivity.of_vector(how["sensitivity"], how["dimension"])
    rounds = [shares.Rounds(law._spec, clients, change, how["queries"])]
    sample = Sample.of(how["sampling"], secret)
    bounds = [
        (type(bound).__name__, bound) for bound in shares.cost_of_shares(rounds, sample).bounds
    ]
    if change.of_a_number and isinstance(law, dg.DiscreteGaussian):
        of_vectors = shares.bounds_by_gaussian(rounds, sample)
        bounds += [("vectors", bound) for bound in of_vectors]
    return [
        (name, delta, float(bound.epsilon_upper(Fraction(delta))))
        for name, bound in bounds
        for delta in deltas
    ]


def wrong_bounds(
    cases: list[tuple[Any, int, int, int]],
    rates: tuple[str, ...],
    rounds: tuple[int, ...],
    deltas: tuple[float, ...] = (1e-4,),
    own: Callable[[Any, int], Floats] | None = None,
    seen: Callable[[Any, int], Floats] | None = None,
    secret: bool | None = None,
) -> tuple[int, list[Any]]:
    """Return the number of bounds tried, and those that the truth exceeds.

    ``own``: the law of the sum with the person sampled, if its noise follows the coin. ``seen``:
    the law of the sum without the person, if an observer sees the coin. ``secret``: what the bounds
    are told of the coin, the truth by default.
    """
    tried, wrong = 0, []
    for law, clients, norm, dimension in cases:
        pmf = sum_pmf(law, clients)
        for rate, count in itertools.product(rates, rounds):
            how = {"sensitivity": norm, "dimension": dimension, "queries": count, "sampling": rate}
            told = seen is None if secret is None else secret
            bounds = bounds_of(law, clients, how, deltas, secret=told)
            epsilons = [min(epsilon, 1e3) for _, _, epsilon in bounds]
            most, q = np.zeros(len(bounds)), float(Fraction(rate))
            for v in changes(norm, dimension):
                here, zero = pair(pmf, v)
                if own is not None:
                    more = own(law, clients)
                    side = (len(more) - len(pmf)) // 2
                    here, _ = pair(more, v)
                    _, zero = pair(np.pad(pmf, side), v)
                if seen is not None:  # outcomes are pairs of a sum and the coin
                    absent = functools.reduce(np.outer, [seen(law, clients)] * dimension).ravel()
                    here = np.append(q * here, (1 - q) * absent)
                    zero = np.append(q * zero, (1 - q) * absent)
                mixed = here if seen is not None else q * here + (1 - q) * zero
                for one, other in ((mixed, zero), (zero, mixed)):
                    most = np.maximum(most, true_deltas([(one, other, count)], epsilons))
            tried += len(bounds)
            for bound, delta in zip(bounds, most, strict=True):
                if delta > bound[1] * (1 + 1e-9) + 1e-13:
                    wrong.append((law, clients, norm, dimension, rate, count, *bound, delta))
    return tried, wrong


def without_own_share(law: Any, clients: int) -> Floats:
    """Return the law of the sum if the person's share, one of all, follows the coin."""
    return sum_pmf(law, clients - 1) if clients > 1 else np.ones(1)


MANY = itertools.product(("0.05", "0.3", "0.9", "1"), (1, 2, 5))


@pytest.mark.parametrize("seen", [None, without_own_share])
@pytest.mark.parametrize(("rate", "rounds"), [(None, 2), *evidence(*MANY)])
def test_no_true_delta_is_above_its_bound(rate: str | None, rounds: int, seen: Any) -> None:
    """Or, by Theorem 3, if an observer sees the coin, which the person's own share follows.

    With all rates and numbers of rounds these are more than 2000 bounds.
    """
    if rate is None:
        tried, wrong = wrong_bounds(QUICK, ("0.3",), (rounds,), seen=seen)
    else:
        deltas = (1e-2, 1e-4, 1e-6)
        tried, wrong = wrong_bounds(WHOLE, (rate,), (rounds,), deltas, seen=seen)
    assert tried >= (100 if rate else 9)
    assert not wrong


def test_the_bound_of_a_secret_coin_is_false_if_the_coin_is_seen() -> None:
    assert wrong_bounds(QUICK[:1], ("0.3",), (2,), seen=without_own_share, secret=True)[1]


def test_faults_planted_in_a_known_sample_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A divergence of the wrong sign; and half the rate in losses, exact and of vectors."""
    grown = _sampled_moment._grown
    case: list[tuple[Any, int, int, int]] = [(dg.DiscreteGaussian(2), 2, 3, 1)]

    def names_of_wrong() -> set[str]:
        wrong = wrong_bounds(case, ("0.1",), (1,), (1e-2,), seen=without_own_share)[1]
        return {one[6] for one in wrong}

    assert not names_of_wrong()
    with monkeypatch.context() as planted:
        planted.setattr(_sampled_moment, "_grown", lambda cost, k: grown(lambda a: -cost(a), k))
        assert "SampledCurve" in names_of_wrong()
    monkeypatch.setattr(shares, "KnownSample", lambda release, rate: KnownSample(release, rate / 2))
    assert names_of_wrong() == {"LossBound", "vectors"}


def test_own_noise_that_follows_the_coin_is_found() -> None:
    """The trap: a client that is not sampled sends no noise either."""

    def with_own_share(law: Any, clients: int) -> Floats:
        return sum_pmf(law, clients + 1)

    case: list[tuple[Any, int, int, int]] = [(dg.DiscreteGaussian(2), 1, 1, 1)]
    assert not wrong_bounds(case, ("0.1",), (1,))[1]
    assert wrong_bounds(case, ("0.1",), (1,), own=with_own_share)[1]


def test_a_planted_sign_and_a_planted_factor_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A divergence of the wrong sign in Theorem 1; twice the variance in Theorem 2."""
    grown, of = _sampled_moment._grown, GaussianNoise.of
    case: list[tuple[Any, int, int, int]] = [(dg.DiscreteGaussian(4), 2, 2, 1)]
    with monkeypatch.context() as planted:
        planted.setattr(_sampled_moment, "_grown", lambda cost, k: grown(lambda a: -cost(a), k))
        assert {one[6] for one in wrong_bounds(case, ("0.3",), (1,))[1]} >= {"SampledCurve"}

    monkeypatch.setattr(GaussianNoise, "of", lambda sigma2, *how: of(2 * sigma2, *how))
    assert {one[6] for one in wrong_bounds(case, ("0.3",), (1,))[1]} == {"vectors"}


def test_excess_mass_is_taken_away_at_the_lowest_losses() -> None:
    """Three rounds of three outcomes, enumerated, with a factor and a shift for each direction."""
    p, q = (0.2, 0.3, 0.5), (0.6, 0.3, 0.1)

    def exactly(mass: float) -> Interval:
        return arithmetic(192).rational(Fraction(mass))

    def moved(factor: float, shift: float) -> Moved:
        pairs = [Outcome(exactly(a), exactly(b)) for a, b in zip(p, q, strict=True)]
        return Moved(Outcomes(pairs, Fraction(1)), gmpy2.log(factor), gmpy2.mpfr(shift))

    def delta_of(masses: list[float], losses: list[float], excess: float) -> float:
        assert masses[0] > excess
        masses = [masses[0] - excess, *masses[1:]]
        found = 0.0
        for three in itertools.product(zip(masses, losses, strict=True), repeat=3):
            mass = math.prod(one for one, _ in three)
            found += mass * max(-math.expm1(0.7 - sum(loss for _, loss in three)), 0)
        return found

    losses = [math.log(a / b) for a, b in zip(p, q, strict=True)]
    wanted = [
        delta_of([1.1 * a for a in p], [loss + 0.05 for loss in losses], 0.1),
        delta_of([1.02 * b for b in q[::-1]], [0.3 - loss for loss in losses[::-1]], 0.02),
    ]
    loss = loss_of_release(Dominating(moved(1.1, 0.05), moved(1.02, 0.3), Fraction(1))) ** 3
    upper = [float(side.delta_above(Fraction("0.7"))) for side in loss._adjacencies]
    for found, exact in zip(upper, wanted, strict=True):
        assert exact * (1 - 1e-9) <= found <= exact * 1.001


def test_a_law_beside_a_sum_is_as_tight_near_a_tie_as_its_loss() -> None:
    """Losses between two buckets would give 3.0e-4. Enumeration in mpmath gives 6.9755e-5."""
    law, e = dg.DiscreteGaussian("7/200"), "27.4727484"
    with mpmath.workdps(60):
        weight = gaussian_weight(Fraction(7, 200))
        total = mpmath.fsum(weight(x) for x in range(-20, 21))
        one = {x: weight(x) / total for x in range(-20, 21)}
        three = {
            x: mpmath.fsum(one[a] * one[b] * one.get(x - a - b, 0) for a in one for b in one)
            for x in range(-12, 13)
        }
        factor = mpmath.exp(mp(Fraction(e)))
        true = mpmath.fsum(
            max(one[x] * three[y] - factor * one[x + 1] * three[y + 1], mpmath.mpf(0))
            for x in range(-12, 12)
            for y in range(-12, 12)
        )
        found = privacy.delta([law, law.sum(3)], e)
        assert true <= found <= true * (1 + mpmath.mpf("1e-5"))


def test_long_vectors_cost_as_much_as_noise_of_a_centre() -> None:
    """At q = 0.01, multiplier 1, 1000 rounds and 10**6 numbers: 2.1246, and a centre has 2.1245."""
    how: dict[str, Any] = {"sensitivity": 4000, "dimension": 10**6, "queries": 1000}
    law = dg.DiscreteGaussian(160_000).sum(100)
    found = privacy.epsilon(law, "1e-6", sampling="0.01", **how)
    centre = privacy.PrivacyLoss.of_gaussian(1, sampling="0.01") ** 1000
    least, most = centre.epsilon("1e-6", bounds=True)
    assert least <= found < most + 1e-3
    assert privacy.delta(law, found, sampling="0.01", **how) <= 1.0001e-6
    assert privacy.log_delta(law, found, sampling="0.01", **how) <= math.log(1.0001e-6)
    assert privacy.delta(law, 0, sampling="0.01", **how) < 1


@pytest.mark.parametrize("kind", [dg.DiscreteGaussian, dg.Skellam])
def test_noise_that_is_calibrated_for_a_sample_is_least(kind: Any) -> None:
    how: dict[str, Any] = {"sensitivity": 40, "dimension": 100, "queries": 50, "sampling": "0.1"}
    law = privacy.calibrate(kind, epsilon=2, delta="1e-6", clients=20, **how)
    assert privacy.epsilon(law.sum(20), "1e-6", **how) <= 2
    assert privacy.delta(law.sum(20), 2, **how) <= 1e-6
    less = kind(law._spec.parameter * Fraction(9999, 10_000))
    assert privacy.epsilon(less.sum(20), "1e-6", **how) > 2


def test_one_number_costs_what_the_law_of_its_sum_does() -> None:
    """The loss is that of the sum's own probabilities, or of a single law if shares are wide."""
    law = dg.DiscreteGaussian("1/2").sum(3)
    found = privacy.epsilon(law, "1e-6", 2, sampling="0.1", queries=30)
    ours = privacy.loss(law, 2, sampling="0.1") ** 30
    places = range(-60, 61)
    pairs = [[law.pmf(k - moved, bounds=True) for k in places] for moved in (2, 0)]
    explicit = privacy.PrivacyLoss.of_pair(*pairs, bounds=True, sampling="0.1") ** 30
    assert found == ours.epsilon("1e-6") == pytest.approx(explicit.epsilon("1e-6"), rel=1e-4)
    wide = privacy.epsilon(dg.DiscreteGaussian(10**6).sum(100), "1e-6", 10**4, sampling="0.1")
    alone = privacy.epsilon(dg.DiscreteGaussian(10**8), "1e-6", 10**4, sampling="0.1")
    assert wide == pytest.approx(alone, rel=1e-6)


def test_renyi_of_a_sample_is_the_binomial_formula() -> None:
    """Both directions of the true divergence are at most it, and one is equal for one number."""
    q, order = Fraction(1, 10), 5
    found = privacy.renyi(dg.DiscreteLaplace(3), order, 2, sampling=q)
    x = np.arange(-200, 201)
    zero, here = np.exp(-np.abs(x) / 3), np.exp(-np.abs(x - 2) / 3)
    zero, here = zero / zero.sum(), here / here.sum()
    mixed = float(q) * here + (1 - float(q)) * zero
    both = [
        math.log(float((p**order * r ** (1 - order)).sum())) / (order - 1)
        for p, r in ((mixed, zero), (zero, mixed))
    ]
    assert both[1] < both[0] <= found * (1 + 1e-12)
    assert found == pytest.approx(both[0], rel=1e-10)
    known = privacy.renyi(dg.DiscreteLaplace(3), order, 2, sampling=q, secret_sample=False)
    moment = float((here**order * zero ** (1 - order)).sum())
    assert known == pytest.approx(math.log(0.9 + 0.1 * moment) / (order - 1), rel=1e-10)
    half = privacy.renyi(dg.DiscreteLaplace(3), "9/2", 2, sampling=q)
    assert privacy.renyi(dg.DiscreteLaplace(3), 4, 2, sampling=q) < half < found


def test_skellam_noise_that_is_too_wide_for_its_law_has_a_cost_on_a_sample() -> None:
    """A bound, so more than continuous Gaussian noise of the same variance costs."""
    bound = privacy.epsilon(dg.Skellam(2**28 + 1), "1e-6", 10**4, queries=30, sampling="0.1")
    normal = privacy.PrivacyLoss.of_gaussian(2**28 + 1, 10**4, sampling="0.1") ** 30
    least = normal.epsilon("1e-6")
    assert least < bound < 1.15 * least


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize("law", [dg.DiscreteGaussian(4), dg.Skellam(1)])
def test_no_true_delta_of_rounds_that_differ_is_above_its_bound(law: Any, dimension: int) -> None:
    """One round of 2 clients and two of 5; as if all rounds had 5, the bound is false."""
    how: dict[str, Any] = {"sensitivity": 1, "dimension": dimension, "sampling": "0.3"}
    few, many = law.sum(2), law.sum(5)
    found = privacy.epsilon([many, few, many], "1e-4", **how)
    pairs = []
    for clients, times in ((2, 1), (5, 2)):
        here, zero = pair(sum_pmf(law, clients), (1, *[0] * (dimension - 1)))
        pairs.append((0.3 * here + 0.7 * zero, zero, times))
    assert true_deltas(pairs, [found])[0] <= 1e-4
    if dimension == 1:  # where the bound is exact
        false = privacy.epsilon(many, "1e-4", queries=3, **how)
        assert true_deltas(pairs, [false])[0] > 1e-4


@pytest.mark.parametrize(
    ("kind", "secret", "dimension"),
    [
        (dg.DiscreteGaussian, True, 100),
        (dg.DiscreteGaussian, False, 1),
        (dg.Skellam, True, 1),
        (dg.Skellam, False, 100),
        *evidence(
            (dg.DiscreteGaussian, True, 1),
            (dg.DiscreteGaussian, False, 100),
            (dg.Skellam, True, 100),
            (dg.Skellam, False, 1),
        ),
    ],
)
def test_rounds_of_several_numbers_of_clients_cost_what_lies_between(
    kind: Any, secret: bool, dimension: int
) -> None:
    """Equal rounds in a list cost what `queries` of one do, in whatever order."""
    law = kind(40)
    how: dict[str, Any] = {"sensitivity": 20, "dimension": dimension, "sampling": "0.1"}
    how["secret_sample"] = secret

    def cost(noise: Any, queries: int = 1) -> float:
        return privacy.epsilon(noise, "1e-6", queries=queries, **how)

    few = cost(law.sum(20), 30)
    assert cost([law.sum(20)] * 30) == few
    mixed = cost([law.sum(20), law.sum(21), law.sum(20)] * 10)
    assert cost(law.sum(21), 30) < mixed < few
    same = privacy.delta([law.sum(21), law.sum(20), law.sum(20)], mixed, queries=10, **how)
    assert 0.9999e-6 < same < 1.0001e-6
    # two kinds of rounds that are almost equal, so their composition must lose nothing
    other = kind(Fraction(40 * (10**9 + 1), 10**9))
    assert cost([law.sum(20), other.sum(20)], 15) == pytest.approx(few, rel=2e-4)


def test_a_known_sample_costs_the_mean_over_how_often_it_has_the_person() -> None:
    """At q = 0.01, multiplier 1 and 1000 rounds: the mean of continuous Gaussians' deltas."""
    how: dict[str, Any] = {"sensitivity": 4000, "dimension": 10**6, "queries": 1000}
    law = dg.DiscreteGaussian(160_000).sum(100)
    found = privacy.epsilon(law, "1e-6", sampling="0.01", secret_sample=False, **how)
    k = np.arange(1, 100)
    weights = stats.binom.pmf(k, 1000, 0.01)
    mu = np.sqrt(k)
    near = stats.norm.cdf(mu / 2 - found / mu)
    delta = weights @ (near - np.exp(found + stats.norm.logcdf(-mu / 2 - found / mu)))
    assert 0.99e-6 < delta <= 1e-6


def test_one_number_of_a_known_sample_is_the_mean_of_exact_losses() -> None:
    law = dg.DiscreteLaplace(3)
    how: dict[str, Any] = {"sampling": "0.3", "secret_sample": False, "queries": 4}
    for epsilon in (0, 1):
        weights = stats.binom.pmf(range(5), 4, 0.3)
        deltas = [0.0] + [privacy.delta(law, epsilon, queries=k) for k in range(1, 5)]
        assert privacy.delta(law, epsilon, **how) == pytest.approx(weights @ deltas, rel=1e-9)
    one = privacy.loss(law, sampling="0.3", secret_sample=False)
    lower, upper = (one**4).delta(1, bounds=True)
    assert lower <= privacy.delta(law, 1, **how) <= upper * (1 + 1e-12)
    assert privacy.epsilon(law, 0, **how) == privacy.epsilon(law, 0, queries=4)
    noise = privacy.calibrate(dg.DiscreteLaplace, epsilon=1, delta="1e-6", **how)
    assert privacy.delta(noise, 1, **how) <= 1e-6 < privacy.delta(noise, "0.99", **how)


def test_lists_and_samples_that_mean_nothing_are_refused() -> None:
    law, laplace = dg.DiscreteGaussian(4), dg.DiscreteLaplace(3)
    with pytest.raises(ValueError, match="law must have at least one entry"):
        privacy.epsilon([], "1e-6")
    with pytest.raises(ValueError, match="law must have Gaussian and Skellam shares only"):
        privacy.epsilon([law.sum(3), laplace], "1e-6")
    with pytest.raises(TypeError, match="got PrivacyLoss"):
        privacy.epsilon([law, privacy.loss(law)], "1e-6")
    with pytest.raises(TypeError, match="secret_sample must be True or False, got 0"):
        privacy.delta(law, 1, secret_sample=0)  # type: ignore[arg-type]
    both = privacy.epsilon([laplace, law], "1e-6")
    assert both == pytest.approx((privacy.loss(laplace) @ privacy.loss(law)).epsilon("1e-6"))


@pytest.mark.parametrize(("sigma2", "rate"), [(1, 0.3), (2, 0.05), (4, 0.9)])
@pytest.mark.parametrize("other", [-1, 0])
def test_replacing_a_vector_in_several_rounds_is_enumerated(
    sigma2: Any, rate: float, other: int
) -> None:
    """docs/concepts/shares.md: one of two rounds' moves by 1 and by -1 or 0, in both orders."""
    x = np.arange(-25, 26)
    without, one, there, twice = (
        np.asarray(dg.DiscreteGaussian(sigma2).pmf([*(x - move)])) for move in (0, 1, other, 2)
    )
    here, there = ((1 - rate) * without + rate * moved for moved in (one, there))
    mixed = (1 - rate) * without + rate * twice
    far = mixed > without
    loss = np.log(mixed[far] / without[far])
    masses = np.concatenate([mixed[far], without[far]])
    losses, masses = (
        np.append(np.concatenate([loss, -loss]), 0),
        np.append(masses, 1 - masses.sum()),
    )
    assert masses.min() >= 0
    for e in np.linspace(-3, 3, 25):
        gained = 1 - np.exp(np.minimum(e - np.add.outer(losses, losses), 0))
        bound = float((np.multiply.outer(masses, masses) * gained).sum())
        for p, q in ((here, there), (there, here)):
            both = np.multiply.outer(p, p) - math.exp(e) * np.multiply.outer(q, q)
            exact = float(np.maximum(both, 0).sum())
            assert exact <= bound + 1e-12
            assert bound <= 2 * exact + 1e-12 or e != 0 or other == 0
