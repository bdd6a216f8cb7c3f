"""The bounds of PrivacyLoss hold the truth for any number of releases, and are close together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import gmpy2
import mpmath
import numpy as np
import pytest
from composition_reference import delta_of_laplaces
from evidence_cases import evidence
from privacy_reference import mp

import discretegauss as dg
from discretegauss.privacy import PrivacyLoss
from discretegauss.privacy import loss as loss_of

_BITS = 300


def _exp(x: Fraction) -> Any:
    """Return exp(x) to 300 bits, as an mpq: a tenth of the time of a Fraction."""
    with gmpy2.context(precision=_BITS):
        return gmpy2.mpq(gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(x))))


def _delta(p: Sequence[Any], q: Sequence[Any], epsilon: Fraction) -> Fraction:
    """Return delta of a pair, outcome by outcome, the larger one of both adjacencies."""
    factor, zero = _exp(epsilon), gmpy2.mpq(0)
    pairs = [(gmpy2.mpq(a), gmpy2.mpq(b)) for a, b in zip(p, q, strict=True)]
    one = sum((max(zero, a - factor * b) for a, b in pairs), zero)
    two = sum((max(zero, b - factor * a) for a, b in pairs), zero)
    return Fraction(int(max(one, two).numerator), int(max(one, two).denominator))


def _law(rng: np.random.Generator, n: int) -> list[Fraction]:
    weights = [int(w) for w in rng.integers(0, 50, n)]
    weights[0] += 1
    return [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.parametrize("trial", [0, *evidence(*range(1, 12))])
def test_bounds_hold_enumerated_products(trial: int) -> None:
    """All outcomes of up to three releases of small pairs are enumerated."""
    rng = np.random.default_rng(trial)
    pairs = [(_law(rng, 4), _law(rng, 4)) for _ in range(2)]
    most = int(rng.choice([64, 4096, 2**17]))
    losses = [PrivacyLoss.of_pair(p, q, most=most) for p, q in pairs]
    for which in ([0], [0, 0], [0, 1], [0, 1, 0]):
        loss = losses[which[0]].compose(*(losses[i] for i in which[1:]))
        p, q = [Fraction(1)], [Fraction(1)]
        for i in which:
            p = [a * b for a, b in product(p, pairs[i][0])]
            q = [a * b for a, b in product(q, pairs[i][1])]
        for epsilon in (Fraction(0), Fraction(1, 3), Fraction(2)):
            lower, upper = loss.delta(epsilon, bounds=True)
            exact = _delta(p, q, epsilon)
            assert lower <= exact <= upper
            assert upper - lower < (0.2 if most == 64 else 0.01)
            low, high = loss.epsilon(exact, bounds=True)
            if exact > 0 and high < float("inf"):
                assert low <= float(epsilon) + 1e-12 or _delta(p, q, Fraction(low)) >= exact
                assert _delta(p, q, Fraction(high)) <= exact


@pytest.mark.parametrize(
    ("releases", "delta"), [(1, 0), (40, 0), *evidence((2**18, Fraction(1, 10**9)))]
)
def test_pure_releases_are_the_binomial_sum(releases: int, delta: Fraction) -> None:
    """(epsilon, delta) composed is a sum over how often randomised response told the truth."""
    step = Fraction(1, 100) if releases > 40 else Fraction(1, 2)
    loss = PrivacyLoss.of_pure(step, delta) ** releases
    for epsilon in (Fraction(1, 4), releases * step * Fraction(3, 400)):
        lower, upper = loss.delta(epsilon, bounds=True)
        with mpmath.workdps(60):
            none = (1 - mp(delta)) ** releases
            exact = 1 - none * (1 - delta_of_laplaces(1 / step, epsilon, releases))
            assert lower <= exact * (1 + mpmath.mpf(10) ** -50)
            assert exact * (1 - mpmath.mpf(10) ** -50) <= upper
        assert upper - lower <= (1e-6 if releases > 40 else 1e-11) * upper


def test_two_to_the_18_truncated_laplace_releases() -> None:
    """The setting of Meiser and Mohammadi; exact values by Laplace inversion at 40 digits."""
    one = PrivacyLoss.of_laplace(200, cut=2500)
    assert one.infinite == pytest.approx((9.3399981873326e-9,) * 2, rel=1e-13)
    many = one**2**18
    for epsilon, exact in ((0, 0.799571490651668), (4, 0.26756478846054), (8, 0.019001815287125)):
        lower, upper = many.delta(epsilon, bounds=True)
        assert lower <= exact <= upper < lower * 1.001
    assert many.infinite == pytest.approx((2.44542954979607e-3,) * 2, rel=1e-12)
    assert many.epsilon("1e-3") == float("inf")


@pytest.mark.parametrize(
    ("law", "sensitivity", "queries"),
    [
        (dg.DiscreteGaussian(100), 3, 1),
        (dg.DiscreteGaussian(30), 1, 9),
        (dg.DiscreteGaussian("7/20"), 1, 5),
        (dg.DiscreteGaussian(10**6), 1, 1000),
        (dg.DiscreteLaplace("10/3"), 4, 1),
        (dg.DiscreteLaplace(10), 1, 100),
        (dg.Skellam(20), 2, 3),
        (dg.GeneralizedGaussian(8, beta="3/2"), 5, 2),
    ],
)
@pytest.mark.parametrize("sample", [{}, {"sampling": "1/10", "secret_sample": False}])
def test_a_loss_answers_as_the_functions_do(
    law: dg.Law, sensitivity: int, queries: int, sample: dict[str, Any]
) -> None:
    """One question has one answer by both ways, also if the queries are composed one by one."""
    made = loss_of(law, sensitivity, **sample)
    composed = [made**queries]
    if queries > 1:
        composed.append(made ** (queries - 1) @ made)
    for loss in composed:
        how = {"queries": queries, **sample}
        for epsilon in (0, "1/10", 3):
            assert loss.delta(epsilon) == dg.privacy.delta(law, epsilon, sensitivity, **how)
            log = dg.privacy.log_delta(law, epsilon, sensitivity, **how)
            assert loss.log_delta(epsilon) == log
        for delta in ("1e-3", "1e-9"):
            assert loss.epsilon(delta) == dg.privacy.epsilon(law, delta, sensitivity, **how)


def test_noise_chosen_by_an_earlier_answer_may_cost_more_than_each_list() -> None:
    """After "yes" comes b1, after "no" b2: delta is 4/9 where both lists cost 1/3."""
    yes, no = Fraction(2, 3), Fraction(1, 3)
    a = PrivacyLoss.of_pair([yes, no], [no, yes])
    b1 = PrivacyLoss.of_pair(["4/5", "1/5"], ["1/5", "4/5"])
    b2 = PrivacyLoss.of_pure(0, "1/3")
    p = [yes * Fraction(4, 5), yes * Fraction(1, 5), no * Fraction(2, 3), no * Fraction(1, 3), 0]
    q = [no * Fraction(1, 5), no * Fraction(4, 5), yes * Fraction(2, 3), 0, yes * Fraction(1, 3)]
    log_3 = "1.0986122886681098"
    for loss, delta in ((a @ b1, 1 / 3), (a @ b2, 1 / 3), (PrivacyLoss.of_pair(p, q), 4 / 9)):
        lower, upper = loss.delta(log_3, bounds=True)
        assert delta - 1e-6 < lower <= upper < delta + 1e-6


def test_integer_noise_is_what_the_tight_functions_say() -> None:
    """Buckets of a given width hold the closed forms of one release, and of several Gaussians."""
    cases: list[tuple[dg.Law, int]] = [
        (dg.DiscreteGaussian(100), 1),
        (dg.DiscreteLaplace("10/3"), 4),
        (dg.GeneralizedGaussian(8, beta="3/2"), 5),
        (dg.DiscreteGaussian(10**6), 300),
    ]
    for law, sensitivity in cases:
        loss = loss_of(law, sensitivity, most=2**12, width="1/256")
        for epsilon in ("1/10", 1):
            exact = dg.privacy.delta(law, epsilon, sensitivity)
            lower, upper = loss.delta(epsilon, bounds=True)
            assert lower <= exact
            assert exact * (1 - 1e-15) <= upper <= exact * 1.001 + 1e-30
    law = dg.DiscreteGaussian(30)
    nine = loss_of(law, width="1/4096") ** 9
    for delta in ("1e-3", "1e-9"):
        exact = dg.privacy.epsilon(law, delta, queries=9)
        lower, upper = nine.epsilon(delta, bounds=True)
        assert lower <= exact
        assert exact * (1 - 1e-14) <= upper <= exact * (1 + 1e-5)


def test_beta_1_and_2_are_the_other_laws() -> None:
    """Bit for bit."""
    cases: list[tuple[dg.Law, dg.Law]] = [
        (dg.GeneralizedGaussian(5, beta=1), dg.DiscreteLaplace(5)),
        (dg.GeneralizedGaussian(6, beta=2), dg.DiscreteGaussian(18)),
    ]
    for one, other in cases:
        a, b = (loss_of(law, 2, sampling="1/4", most=2**12) ** 5 for law in (one, other))
        for epsilon in (0, "1/5", 1):
            assert a.delta(epsilon, bounds=True) == b.delta(epsilon, bounds=True)


@pytest.mark.parametrize(
    ("beta", "epsilon", "of_two", "change", "of_one"),
    [
        ("3/2", 3, 2.9558793642582e-5, 8, 2.8164465703677e-5),  # the norm of (5, 5) is 7.94
        (4, 1, 0.37026799, 6, 0.26717971),  # here 5.95
    ],
)
def test_two_coordinates_may_be_worse_than_one(
    beta: Any, epsilon: int, of_two: float, change: int, of_one: float
) -> None:
    """A counterexample to 'the worst of a ball of the beta-norm is one coordinate'."""
    law = dg.GeneralizedGaussian(8, beta)
    two = loss_of(law, 5) ** 2
    assert two.delta(epsilon, bounds=True) == pytest.approx((of_two,) * 2, rel=1e-4)
    assert dg.privacy.delta(law, epsilon, change) == pytest.approx(of_one, rel=1e-7)


def test_bounds_of_probabilities_are_taken_as_such() -> None:
    """Enclosed probabilities give bounds around those of exact ones."""
    law = dg.DiscreteGaussian(2)
    k = np.arange(-12, 13)
    pairs = []
    for moved in (0, 1):
        low, high = law.pmf(k + moved, bounds=True)
        ends = [law.sf(12 - moved, bounds=True), law.sf(12 + moved, bounds=True)]
        pairs.append([*zip(low.tolist(), high.tolist(), strict=True), *ends])
    found = PrivacyLoss.of_pair(*pairs, bounds=True) ** 3
    exact = loss_of(law) ** 3
    for epsilon in (0, "1/2", 2):
        lower, upper = found.delta(epsilon, bounds=True)
        low, high = exact.delta(epsilon, bounds=True)
        assert lower <= high
        assert low <= upper <= lower * 1.01 + 1e-12
    certain = PrivacyLoss.of_pair([("1/4", "1/4"), ("3/4", 1)], [(0, 0), (1, 1)], bounds=True)
    assert certain.infinite[0] <= 0.25 <= certain.infinite[1]
    assert PrivacyLoss.of_pair([(0, 1), (0, 1)], [(0, 1), (0, 1)], bounds=True).delta(1) == 1
    for wrong, message in (
        ([("1/2", "1/4"), (0, 1)], "p must have lower bounds that are at most the upper ones"),
        ([("1/4", "1/3"), (0, "1/3")], "p must have bounds between which a sum of 1 lies"),
        ([1, (0, 1)], "p must hold pairs"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            PrivacyLoss.of_pair(wrong, [(0, 1), (0, 1)], bounds=True)


@pytest.mark.parametrize(
    ("scale", "beta"), [(1, 20), ("5/2", 8), ("7/2", 1000), *evidence((4, 10**6))]
)
@pytest.mark.parametrize("sampling", [1, Fraction(1, 10)])
def test_steep_laws(scale: Any, beta: int, sampling: Any) -> None:
    """Losses of 10**12 and of 1 together; two releases, all outcomes, both adjacencies."""
    size = Fraction(scale)
    weights = []
    for x in range(-6, 7):
        exponent = abs(x) / size
        weights.append(_exp(-(exponent**beta)) if exponent <= 1 or beta < 100 else Fraction(0))
    weights = [w if w > Fraction(1, 2**400) else Fraction(0) for w in weights]
    here = [w / sum(weights) for w in weights]
    moved = [*here[1:], Fraction(0)]
    p = [sampling * a + (1 - sampling) * b for a, b in zip(here, moved, strict=True)]
    law = dg.GeneralizedGaussian(scale, beta)
    loss = loss_of(law, sampling=sampling, most=2**12)
    twice = [[a * b for a, b in product(one, one)] for one in (p, moved)]
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
        for released, pair in ((loss, (p, moved)), (loss @ loss, twice)):
            exact = _delta(pair[0], pair[1], epsilon)
            lower, upper = released.delta(epsilon, bounds=True)
            assert lower <= exact * (1 + Fraction(1, 10**15)) + Fraction(1, 2**100)
            assert exact * (1 - Fraction(1, 10**15)) <= upper <= exact * Fraction(11, 10) + 1e-30


def test_lower_bounds_where_masses_without_are_next_to_nothing() -> None:
    """Beyond epsilon 88 they are below the unit of masses."""
    many = loss_of(dg.DiscreteGaussian(100)) ** 10**4
    lower, upper = many.epsilon("1e-6", bounds=True)
    exact = 50 + 10 * 4.753424308822899  # the loss is nearly N(50, 100)
    assert lower <= upper < lower * 1.001
    assert abs(upper - exact) < 2


@pytest.mark.parametrize(
    "make",
    [
        lambda **how: PrivacyLoss.of_pair(["1/2", "1/2"], ["1/4", "3/4"], **how),
        lambda **how: loss_of(dg.DiscreteGaussian(4), **how),
        lambda **how: loss_of(dg.DiscreteGaussian(10**9), **how),
        lambda **how: PrivacyLoss.of_gaussian(4, **how),
        lambda **how: PrivacyLoss.of_laplace(4, **how),
    ],
)
def test_a_width_of_too_many_buckets_is_refused(make: Callable[..., PrivacyLoss]) -> None:
    """The error names the width, before memory is allocated."""
    with pytest.raises(ValueError, match=r"^width must be at least .* got '1e-90'") as refusal:
        make(width="1e-90", most=1000)
    make(
        width=str(refusal.value).split()[5].rstrip(","), most=1000
    )  # the width in the message is enough


@pytest.mark.parametrize(
    "make",
    [
        lambda: PrivacyLoss.of_pure(10**300, "1/2"),
        lambda: PrivacyLoss.of_pair(["1/3", "2/3"], [0, 1], width=10**400),
        lambda: PrivacyLoss.of_laplace("1e-40", "1e40"),
        lambda: PrivacyLoss.of_laplace("0.007", "1e-400", cut="1e-390"),
        lambda: PrivacyLoss.of_gaussian("1e-100", "1/100", most=64),
        lambda: PrivacyLoss.of_gaussian(10**100, "1e-300", most=64),
        lambda: loss_of(dg.DiscreteGaussian("1e-400"), 2, most=64),
        lambda: loss_of(dg.DiscreteGaussian(10**600), 2, most=64),
        lambda: loss_of(dg.DiscreteLaplace(10**300), 2, most=64),
        lambda: loss_of(dg.DiscreteGaussian(4), sampling="1e-300", most=64),
        lambda: loss_of(dg.GeneralizedGaussian("1e-600", 3), most=64),
        lambda: PrivacyLoss.of_pair([("1/4", "3/4")] * 2, [("1/4", "3/4")] * 2, bounds=True),
    ],
)
def test_extreme_parameters_have_bounds(make: Callable[[], PrivacyLoss]) -> None:
    """Also composed, with epsilons far below and above the losses."""
    for loss in (make(), make() ** 20):
        for epsilon in (0, "1e-300", 1, 10**300):
            lower, upper = loss.delta(epsilon, bounds=True)
            assert 0 <= lower <= upper <= 1
        for delta in ("1e-300", "1/2"):
            lower, upper = loss.epsilon(delta, bounds=True)
            assert 0 <= lower <= upper


def test_a_steep_sampled_gaussian_costs_what_being_sampled_does() -> None:
    """Noise of a 30th of the sensitivity hides nothing: 1 - (1 - rate)**releases."""
    loss = PrivacyLoss.of_gaussian("1/900", sampling="1/10") ** 3
    lower, upper = loss.delta(1, bounds=True)
    assert lower <= 0.271 <= upper < 0.2711


def test_refusals() -> None:
    """Parameters are checked as in all functions."""
    law = dg.DiscreteGaussian(4)
    with pytest.raises(ValueError, match="sampling must be at most 1, got 2"):
        loss_of(law, sampling=2)
    with pytest.raises(ValueError, match=r"sampling must be 1, or at most 1 - 2\*\*-90"):
        loss_of(law, sampling=1 - Fraction(1, 10**400))
    with pytest.raises(OverflowError, match=r"releases must be fewer than 2\*\*64"):
        loss_of(law) ** 10**400
    with pytest.raises(ValueError, match="q must sum to 1 exactly"):
        PrivacyLoss.of_pair(["1/2", "1/2"], [0.1, 0.9])
    with pytest.raises(ValueError, match="cut must be at least the sensitivity, got 1"):
        PrivacyLoss.of_laplace(3, 2, cut=1)
    loss = PrivacyLoss.of_pure(1)
    with pytest.raises(ValueError, match="releases must be at least 1"):
        loss**0
    with pytest.raises(TypeError):
        loss @ 3
    with pytest.raises(AttributeError):
        loss.most = 3


BAD = ["x", None, float("nan"), -1, 1j, [1], True]


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_each_parameter_refuses_what_is_no_such_number(bad: Any) -> None:
    """The error names the parameter."""
    law, loss = dg.DiscreteGaussian(4), PrivacyLoss.of_pure(1)
    calls: list[tuple[str, Callable[[], object]]] = [
        ("law", lambda: loss_of(bad)),
        ("sensitivity", lambda: loss_of(law, bad)),
        ("sampling", lambda: loss_of(law, sampling=bad)),
        ("most", lambda: loss_of(law, most=bad)),
        ("sigma2", lambda: PrivacyLoss.of_gaussian(bad)),
        ("scale", lambda: PrivacyLoss.of_laplace(bad)),
        ("delta", lambda: PrivacyLoss.of_pure(1, bad)),
        ("epsilon", lambda: loss.delta(bad)),
        ("delta", lambda: loss.epsilon(bad)),
        ("releases", lambda: loss**bad),
        ("p", lambda: PrivacyLoss.of_pair([bad, 2], [1, 0])),
    ]
    for name, call in calls:
        with pytest.raises((TypeError, ValueError), match=f"^{name}\\b"):
            call()


def test_handed_to_dp_accounting() -> None:
    """Both adjacencies, and no smaller delta."""
    pytest.importorskip("dp_accounting")
    loss = loss_of(dg.DiscreteGaussian(4), sampling="1/10", width=2**-10)
    theirs = loss.to_dp_accounting()
    assert theirs.get_delta_for_epsilon(0.25) == pytest.approx(loss.delta(0.25), rel=1e-9)


@pytest.mark.parametrize(
    ("law", "change", "sampling"),
    [
        (dg.DiscreteGaussian(100), 10, "0.01"),  # the losses of one side are mostly tiny
        (dg.DiscreteLaplace(10), 3, "0.1"),  # few values, which are no multiples
        (dg.DiscreteGaussian(10**4), 1, "0.01"),  # all losses are tiny
    ],
)
def test_one_round_for_dp_accounting_has_few_buckets_and_stays_tight(
    law: Any, change: int, sampling: str
) -> None:
    """Composed in floats, as there; 4 * 10**7 buckets took two minutes."""
    one = loss_of(law, change, sampling=sampling)
    epsilon, deltas, size = (one**1000).epsilon(1e-6), [], 2**21
    for side in one._adjacencies:
        masses, width, infinite = side.masses()
        assert infinite < 1e-12
        assert max(masses) - min(masses) < 2**18
        dense = np.zeros(size)
        dense[list(masses)] = list(masses.values())  # negative losses from the end on
        total = np.fft.irfft(np.fft.rfft(dense) ** 1000, size)[: size // 2]
        losses = np.arange(size // 2) * width
        deltas.append(total @ -np.expm1(np.minimum(epsilon - losses, 0.0)))
    assert 0.995e-6 < max(deltas) < 1.005e-6


def test_a_change_far_beyond_the_noise_takes_little_memory() -> None:
    """Integers between, where neither law has mass, are not listed: they would take 8 GB."""
    assert loss_of(dg.GeneralizedGaussian(100, "3/2"), 10**15).delta(1) > 1 - 1e-15


def test_a_width_gives_what_it_says_where_a_sum_must_have_wider_buckets() -> None:
    """If a width that is no part of the losses is doubled, delta grows by 3e-3, not 1e-6."""
    for width in ("1e-5", "1e-7"):
        many = PrivacyLoss.of_laplace(200, cut=2500, width=width) ** 2**18
        for epsilon in (0, 8):
            lower, upper = many.delta(epsilon, bounds=True)
            assert lower <= upper <= lower * (1 + 1e-6)


@pytest.mark.parametrize("law", [dg.DiscreteGaussian("1e-4000"), dg.DiscreteLaplace("1e-4000")])
def test_losses_beyond_floats_are_infinite(law: Any) -> None:
    """Several releases must not raise an OverflowError of Python."""
    many = loss_of(law) ** 3
    assert many.delta(10**9) == 1.0
    assert many.epsilon("1/2") == float("inf")
    assert dg.privacy.delta(law, 1, queries=3) == 1.0


@pytest.mark.parametrize("secret", [True, False])
def test_delta_is_at_most_the_chance_of_taking_part(secret: bool) -> None:
    """Noise that hides nothing costs just that chance, also if it is as small as 2e-9."""
    narrow, rate = dg.DiscreteGaussian("4/125"), Fraction(1, 10**9)
    chance = 1 - (1 - rate) ** 2
    how: dict[str, Any] = {"queries": 2, "sampling": rate, "secret_sample": secret}
    for law in (narrow, narrow.sum(8)):
        found = dg.privacy.delta(law, "1e-12", **how)
        assert Fraction(found) >= chance * Fraction(997, 1000)
        assert Fraction(found) <= chance * (1 + Fraction(1, 10**15))
        assert dg.privacy.epsilon(law, chance * (1 + Fraction(1, 10**15)), **how) == 0
