"""Permute-and-flip and the exponential mechanism select with the probabilities of their papers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from inputs import must_not_draw
from same_bits import same_bits
from scipy import stats

import discretegauss as dg
from discretegauss.errors import (
    ParameterOverflowError,
    ParameterTypeError,
    ParameterValueError,
)
from discretegauss.selection import _reference, exponential, permute_and_flip
from discretegauss.selection._engine import Selection, reference_selection
from discretegauss.selection._scores import gaps_of, scores_array
from discretegauss.testing import TapeSource

BOTH = [permute_and_flip, exponential]
KIND = {permute_and_flip: Selection.PERMUTE_AND_FLIP, exponential: Selection.EXPONENTIAL}


def exact_law(mechanism: Callable[..., Any], gammas: Sequence[float]) -> list[float]:
    """Return the probabilities by definition: a sum over all orders, or normalised weights."""
    weights = [math.exp(-gamma) for gamma in gammas]
    if mechanism is exponential:
        return [weight / math.fsum(weights) for weight in weights]
    law = [0.0] * len(weights)
    for order in permutations(range(len(weights))):
        left = 1 / math.factorial(len(weights))
        for candidate in order:
            law[candidate] += left * weights[candidate]
            left *= 1 - weights[candidate]
    return law


# --- every path of the algorithms


class Paths:
    """The paths of an algorithm through its choices, each with its probability."""

    def __init__(self) -> None:
        self.prefix: list[int] = []
        self.taken: list[int] = []

    def run(self, algorithm: Callable[[], int], rounds: int) -> Iterator[tuple[int | None, float]]:
        """Generate each result of the algorithm (None if it is cut) and its probability."""
        todo: list[list[int]] = [[]]
        while todo:
            self.prefix, self.p, self.open = todo.pop(), 1.0, todo
            self.taken = []
            self.rounds = rounds
            try:
                yield algorithm(), self.p
            except StopIteration:
                yield None, self.p

    def choose(self, weights: Sequence[float]) -> int:
        if len(self.taken) >= self.rounds:
            raise StopIteration
        at = len(self.taken)
        if at < len(self.prefix):
            choice = self.prefix[at]
        else:
            choice = 0
            self.open += [[*self.taken, i] for i in range(1, len(weights)) if weights[i] > 0]
            self.prefix = [*self.taken, 0]
        self.taken.append(choice)
        self.p *= weights[choice]
        return choice


@pytest.mark.parametrize("gaps", [[0], [0, 0], [0, 1], [3, 0, 1], [0, 2, 0, 5]])
@pytest.mark.parametrize("mechanism", BOTH)
def test_all_paths_of_the_algorithm_sum_to_the_law(
    mechanism: Callable[..., Any], gaps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the twin's choices are enumerated, its results have the stated probabilities.

    The exponential mechanism may not end, so it is cut, and the remainder is shared in proportion.
    """
    paths = Paths()

    def uniform(n: int, source: Any) -> int:
        return paths.choose([1 / n] * n)

    def flip(num: int, den: int, source: Any) -> bool:
        p = math.exp(-num / den)
        return paths.choose([p, 1 - p]) == 0

    monkeypatch.setattr(_reference, "uniform_below", uniform)
    monkeypatch.setattr(_reference, "bernoulli_exp", flip)
    algorithm = getattr(_reference, mechanism.__name__)
    law = [0.0] * len(gaps)
    for selected, p in paths.run(lambda: algorithm(gaps, 2, 3, None), 8):
        if selected is not None:
            law[selected] += p
    done = math.fsum(law)
    assert done > 1 - 1e-12 or mechanism is exponential
    expected = exact_law(mechanism, [gap * 2 / 3 for gap in gaps])
    assert np.allclose(np.array(law) / done, expected, atol=1e-12)


@pytest.mark.usefixtures("native_engine")
@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize(
    ("rows", "epsilon"),
    [
        (np.arange(40).reshape(4, 10) % 7, "1/10"),
        (np.array([[0.5, 0.25, -3.75], [1e-3, 0.0, 2.0]]), 0.1),
        (np.array([[0, 2**63, 2**64 - 1]], np.uint64), 2.0**-64),
        (np.array([[-(2**63), 2**63 - 1, 0]]), 0.1),
        (np.array([[0, 2**63]], np.uint64), 2**66),  # a product of 2**128: more than two words
        (np.array([[2**200, 2**200 - 1, 1]], object), Fraction(1, 3)),
        (np.array([["1/3", Fraction(1, 7), 5e-324]], object), 3),
        (np.array([[1, 2, 3, 4]]), Fraction(1, 2**200)),
    ],
)
def test_the_core_selects_as_its_twin(
    mechanism: Callable[..., Any], rows: Any, epsilon: Any
) -> None:
    """In machine words and in GMP integers, the core reads the same bytes and selects the same."""
    size = (250, len(rows))
    ours, theirs = same_bits(), same_bits()
    selected = mechanism(rows, epsilon, size=size, source=ours)
    gaps = gaps_of(scores_array(rows, "scores"), "scores")
    which = np.tile(np.arange(len(rows)), 250)
    rate = Fraction(epsilon) / 2 / gaps.denominator
    expected = np.empty(which.size, np.int64)
    reference_selection(KIND[mechanism], rate, gaps, which)(expected, theirs, 1)
    assert (selected.ravel() == expected).all()
    assert ours.used == theirs.used > 0


@pytest.mark.parametrize("mechanism", BOTH)
def test_selections_have_the_exact_law(mechanism: Callable[..., Any]) -> None:
    """Chi-square of 160 000 selections among five, by both methods; false alarms are 2 in 10^9."""
    scores, n = [3, 0, "5/2", 3.25, 3], 160_000 if dg.build_info()["engine"] == "native" else 5000
    law = exact_law(mechanism, [0.25 * 0.6, 3.25 * 0.6, 0.75 * 0.6, 0, 0.25 * 0.6])
    counts = np.bincount(mechanism(scores, "6/5", size=n), minlength=5)
    assert stats.chisquare(counts, np.array(law) * n).pvalue > 1e-9
    monotone = mechanism(scores, "3/5", monotone=True, size=n)
    counts = np.bincount(monotone, minlength=5)
    assert stats.chisquare(counts, np.array(law) * n).pvalue > 1e-9


def test_permute_and_flip_is_private_and_no_worse() -> None:
    """For all small neighbours, exact ratios are at most exp(epsilon), and the error is smaller."""
    epsilon, worst = 1.0, 0.0
    neighbours = [(0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0)]
    for scores in [(0, 0, 0), (0, 1, 2), (3, 0, 0), (2, 2, 0)]:
        for change in neighbours:
            for signs in [(1, 1, 1), (1, -1, 1), (-1, -1, 1)]:
                other = [s + a * b for s, a, b in zip(scores, change, signs, strict=True)]
                laws = [
                    exact_law(permute_and_flip, [(max(q) - s) * epsilon / 2 for s in q])
                    for q in (scores, other)
                ]
                worst = max(worst, *(math.log(a / b) for a, b in zip(*laws, strict=True)))
        errors = [
            sum(p * (max(scores) - s) for p, s in zip(law, scores, strict=True))
            for law in (
                exact_law(m, [(max(scores) - s) * epsilon / 2 for s in scores]) for m in BOTH
            )
        ]
        assert errors[0] <= errors[1] + 1e-12
    assert epsilon / 3 < worst <= epsilon + 1e-9


# --- arguments


@pytest.mark.parametrize("mechanism", BOTH)
def test_shapes(mechanism: Callable[..., Any]) -> None:
    """Rows select along the last axis, and broadcast to a size."""
    scores = np.zeros((2, 3, 4), np.int8)
    assert type(mechanism([1, 2], 1)) is int
    assert mechanism(scores, 1).shape == (2, 3)
    assert mechanism(scores, 1, size=(5, 2, 3)).shape == (5, 2, 3)
    assert mechanism(scores[:0], 1).shape == (0, 3)
    first, second = [0, 9**9], [9**9, 0]
    assert mechanism([[first], [second]], 1, size=(2, 3)).tolist() == [[1] * 3, [0] * 3]
    assert mechanism([first, second], 1, size=(3, 2)).tolist() == [[1, 0]] * 3
    assert mechanism([[7]], 1).tolist() == [0]
    assert mechanism([0, 10**6, 1.5], 1, size=(2, 2)).tolist() == [[1, 1], [1, 1]]
    assert mechanism([1, 2], 1, size=()).shape == ()
    with pytest.raises(ParameterValueError, match="size"):
        mechanism(scores, 1, size=5)


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"scores": 3}, ParameterTypeError, "scores must be an array"),
        ({"scores": []}, ParameterValueError, "scores must have a candidate"),
        ({"scores": [1, float("nan")]}, ParameterValueError, r"scores\[1\]"),
        ({"scores": np.array([[1.0, np.inf]])}, ParameterValueError, r"scores\[0, 1\]"),
        ({"scores": np.array([True, False])}, ParameterTypeError, "scores"),
        ({"scores": [1, None]}, ParameterTypeError, r"scores\[1\]"),
        ({"scores": np.ma.masked_array([1, 2], [False, True])}, ParameterValueError, "scores"),
        ({"scores": [2**70000, 1]}, ParameterOverflowError, r"scores\[0\]"),
        ({"scores": [Fraction(1, 3**40000), Fraction(1, 5**28000)]}, ParameterOverflowError, "sc"),
        ({"scores": [2**65535, Fraction(1, 2**65535)]}, ParameterOverflowError, "bits"),
        ({"epsilon": 0}, ParameterValueError, "epsilon must be positive, got 0"),
        ({"epsilon": None}, ParameterTypeError, "epsilon"),
        ({"sensitivity": -1}, ParameterValueError, "sensitivity must be positive, got -1"),
        ({"source": "urandom"}, ParameterValueError, "source"),
        ({"threads": 0}, ParameterValueError, "threads"),
        ({"size": -1}, ParameterValueError, "size"),
    ],
)
def test_refusals(
    mechanism: Callable[..., Any], arguments: dict[str, Any], error: type, words: str
) -> None:
    """Errors name parameters, and scores by place, before anything is drawn."""
    given: dict[str, Any] = {"scores": [1, 2], "epsilon": 1, "source": must_not_draw} | arguments
    with pytest.raises(error, match=words):
        mechanism(**given)


def test_a_failing_source_leaves_no_selection() -> None:
    """The source's error comes through, and nothing is selected."""
    with pytest.raises(EOFError):
        permute_and_flip([1, 2, 3], 1, size=100, source=TapeSource(b"123"))


def test_threads_and_pieces_do_not_matter() -> None:
    """A long call by two threads selects once from each row, where the best is far ahead."""
    n = 50_000 if dg.build_info()["engine"] == "native" else 100
    best = np.arange(n) % 3
    scores = np.where(best[:, None] == np.arange(3), 10**9, 0)
    for mechanism in BOTH:
        assert (mechanism(scores, 1, threads=2) == best).all()


# --- report noisy max


def test_noisy_max_is_the_largest_sum() -> None:
    """It is the largest of votes plus the law's draws from the same bytes, then ties are broken."""
    votes = np.array([[4, 5, 6, 6], [10, 0, 0, 9]])
    for law in (dg.DiscreteLaplace(2), dg.DiscreteGaussian(4, mu=3)):
        ours, theirs = same_bits(), same_bits()
        selected = dg.selection.report_noisy_max(votes, law, size=(500, 2), source=ours)
        sums = votes + law.sample((500, 2, 4), source=theirs)
        ties = (sums == sums.max(axis=-1, keepdims=True)).sum(axis=-1)
        assert (np.take_along_axis(sums, selected[..., None], -1)[..., 0] == sums.max(-1)).all()
        assert (selected == sums.argmax(-1))[ties == 1].all()
        if (ties > 1).any():
            dg.uniform_below(ties[ties > 1], source=theirs)
        assert ours.used == theirs.used


def test_ties_are_broken_uniformly() -> None:
    """If noise moves no vote (a narrow law), each of three that tie wins a third of the time."""
    n = 48_000 if dg.build_info()["engine"] == "native" else 1600
    law = dg.DiscreteGaussian("1/1000")
    selected = dg.selection.report_noisy_max([1, 7, 7, 0, 7], law, size=n)
    counts = Counter(selected.tolist())
    assert set(counts) <= {1, 2, 4}
    assert stats.chisquare([counts[i] for i in (1, 2, 4)]).pvalue > 1e-9


def test_noisy_max_of_long_votes() -> None:
    """Long votes select what short ones do from the same bits, and one far ahead is selected."""
    law = dg.DiscreteLaplace(3)
    short = dg.selection.report_noisy_max([5, 4, 5], law, size=200, source=same_bits())
    long = [2**100 + 5, 2**100 + 4, 2**100 + 5]
    selected = dg.selection.report_noisy_max(long, law, size=200, source=same_bits())
    assert selected.tolist() == short.tolist()
    assert set(short.tolist()) == {0, 1, 2}
    assert dg.selection.report_noisy_max([0, 2**63, 5], dg.DiscreteGaussian(2)) == 1
    assert dg.selection.report_noisy_max([0, 10**40], dg.DiscreteLaplace(10**30)) == 1


@pytest.mark.parametrize(
    ("votes", "law", "error", "words"),
    [
        ([1, 0.5], dg.DiscreteLaplace(1), ParameterValueError, r"whole numbers, but votes\[1\]"),
        ([1, "x"], dg.DiscreteLaplace(1), ParameterValueError, r"votes\[1\]"),
        (3, dg.DiscreteLaplace(1), ParameterTypeError, "votes must be an array"),
        ([1, 2], 3, ParameterTypeError, "law must be"),
    ],
)
def test_refusals_of_noisy_max(votes: Any, law: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        dg.selection.report_noisy_max(votes, law)


# --- costs


def exact_noisy_max(votes: Sequence[int], scale: int, reach: int) -> list[float]:
    """Return the probabilities of report_noisy_max with Laplace noise, by convolution."""
    z = np.arange(-reach, reach + 1)
    weights = np.exp(-abs(z) / scale)
    pmf = (weights / weights.sum()).tolist()
    law = [0.0] * len(votes)
    for point in np.ndindex(*[len(z)] * len(votes)):
        sums = [v + int(z[i]) for v, i in zip(votes, point, strict=True)]
        p = math.prod(pmf[i] for i in point)
        best = [i for i, s in enumerate(sums) if s == max(sums)]
        for i in best:
            law[i] += p / len(best)
    return law


def test_the_cost_of_noisy_max_is_met() -> None:
    """The exact log-ratio of neighbours is at most epsilon, and comes near it."""
    law = dg.DiscreteLaplace(2)
    for other, monotone in [((1, 3), False), ((2, 3), True)]:
        laws = [exact_noisy_max(votes, 2, 45) for votes in ((2, 2), other)]
        worst = max(abs(math.log(a / b)) for a, b in zip(*laws, strict=True))
        epsilon = float(dg.selection.noisy_max_epsilon(law, monotone=monotone))
        assert 0.4 * epsilon < worst <= epsilon + 1e-9


def test_costs() -> None:
    """Costs are exact numbers, and a law without a finite epsilon is refused."""
    s = dg.selection
    assert s.noisy_max_epsilon(dg.DiscreteLaplace(20), 3) == Fraction(3, 10)
    assert s.noisy_max_epsilon(dg.GeneralizedGaussian(20, 1), monotone=True) == Fraction(1, 20)
    assert s.exponential_rho(1) * 4 == s.permute_and_flip_rho(1) == Fraction(1, 2)
    with pytest.raises(ParameterValueError, match="DiscreteLaplace"):
        s.noisy_max_epsilon(dg.DiscreteGaussian(1))
    with pytest.raises(ParameterTypeError, match="law"):
        s.noisy_max_epsilon(3)  # type: ignore[arg-type]


def test_the_exponential_mechanism_meets_its_rho() -> None:
    """Renyi divergences of neighbours by the exact law are at most alpha epsilon**2/8."""
    epsilon = 1.5
    scores, other = [0, 1, 1, 3], [1, 0, 1, 2]
    p, q = (
        exact_law(exponential, [(max(s) - x) * epsilon / 2 for x in s]) for s in (scores, other)
    )
    for alpha in (1.01, 2, 8, 64):
        sums = math.fsum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))
        divergence = math.log(sums) / (alpha - 1)
        assert divergence <= alpha * float(dg.selection.exponential_rho(epsilon)) + 1e-12


# --- the laws that selections use


def test_bernoulli_and_uniform_below() -> None:
    """Frequencies, bounds, shapes and types are right, and refusals name p and n."""
    n = 160_000 if dg.build_info()["engine"] == "native" else 3200
    flags = dg.bernoulli("1/3", size=n)
    assert flags.dtype == np.bool_
    assert stats.binomtest(int(flags.sum()), n, 1 / 3).pvalue > 1e-9
    assert dg.bernoulli([0, 1, 0.5]).tolist()[:2] == [False, True]
    counts = np.bincount(dg.uniform_below(7, size=n), minlength=7)
    assert stats.chisquare(counts).pvalue > 1e-9
    assert dg.uniform_below([1, 1, 3]).tolist()[:2] == [0, 0]
    assert dg.uniform_below(2**200).bit_length() > 60
    refused: list[tuple[Callable[[], Any], str]] = [
        (lambda: dg.bernoulli(1.5), "p must be between 0 and 1, got 1.5"),
        (lambda: dg.bernoulli([0.5, -1]), r"p\[1\]"),
        (lambda: dg.uniform_below(0), "n must be positive, got 0"),
        (lambda: dg.uniform_below(2.5), "n must be a whole number, got 2.5"),
        (lambda: dg.uniform_below([3, "1/2"]), r"n\[1\]"),
    ]
    for call, words in refused:
        with pytest.raises(ParameterValueError, match=words):
            call()
    with pytest.raises(ParameterOverflowError, match="dtype"):
        dg.uniform_below(300, 5, dtype=np.uint8)
