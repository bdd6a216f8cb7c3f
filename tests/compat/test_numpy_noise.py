"""NumpyNoise has numpy's methods: it draws exact laws, and refuses the others."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from engine import ENGINE, needs_core
from law_checks import LawTable, gaussian_table, laplace_table, rejected
from numpy.typing import NDArray
from scipy import stats

from discretegauss.compat import NumpyNoise, SystemBits
from discretegauss.compat._noise_on_a_grid import scales_in_steps
from discretegauss.errors import MissingCoreError


def law_of(method: str, scale: int) -> LawTable:
    gaussian = method == "normal"
    return gaussian_table(Fraction(scale**2)) if gaussian else laplace_table(Fraction(scale))


@pytest.mark.parametrize("granularity", ["1", "1/4", "8"])
@pytest.mark.parametrize("method", ["normal", "laplace"])
def test_noise_is_the_law_in_steps(method: str, granularity: str) -> None:
    """Noise is loc + granularity * k, where k has sigma (or scale) in steps.

    The harness has few false alarms; a sigma that is wrong by 10 % would show.
    """
    g = Fraction(granularity)
    drawn = getattr(NumpyNoise(g), method)(loc=3 * g, scale=float(3 * g), size=(2, 6000))
    assert drawn.shape == (2, 6000)
    assert drawn.dtype == np.float64
    k = (drawn.ravel() - float(3 * g)) / float(g)
    assert (k == np.rint(k)).all()
    assert rejected(k.astype(int), law_of(method, 3)) == []


def test_without_a_granularity_noise_finer_than_1_is_refused() -> None:
    """Steps of 1 would be no noise for such data, which are hardly counts; you may pass 1."""
    for scale in (1 / 1000, 0.999, [2, "0.5"], np.array([0.25, 4.0])):
        for method in (NumpyNoise().laplace, NumpyNoise().normal):
            with pytest.raises(ValueError, match=r"scale must be at least 1 .*granularity="):
                method(0, scale)
    assert NumpyNoise(1).laplace(0, 1 / 1000) == 0  # except once in 10^434
    assert NumpyNoise().laplace(0, [0, 1.0]).shape == (2,)
    assert repr(NumpyNoise()) == "NumpyNoise()"
    assert repr(pickle.loads(pickle.dumps(NumpyNoise()))) == "NumpyNoise()"


@pytest.mark.parametrize("method", ["normal", "laplace"])
def test_arrays_broadcast_as_numpys_do_and_each_element_has_its_own_law(method: str) -> None:
    """loc and scale may have any form, and are exact."""
    ours, numpys = getattr(NumpyNoise("1/4"), method), getattr(np.random.default_rng(), method)
    given: list[tuple[Any, ...]] = [
        ([0, 1], [[1], [2]]),
        (np.array(0), np.array(3)),
        (np.zeros((2, 1)), 3, (2, 5)),
        ([[1, 2]], 3, (3, 2)),
        ([], 1),
        ([0], [1], ()),
        ([0, 1], 1, 3),
        ([0, 1], [1, 2, 3]),
        (0, 1, ()),
    ]
    for arguments in given:
        try:
            expected = np.shape(numpys(*arguments))
        except ValueError:
            with pytest.raises(ValueError, match="shape"):
                ours(*arguments)
            continue
        drawn = ours(*arguments)
        assert np.shape(drawn) == expected
        assert isinstance(drawn, float) == isinstance(numpys(*arguments), float)

    locs = np.array([[-1.25], [2.0**50]])
    scales = np.repeat([0, Fraction(3, 4), 2.5], 3000)
    steps = (ours(locs, scales) - locs) * 4
    assert not steps[:, :3000].any()
    for sigma, part in ((3, steps[:, 3000:6000]), (10, steps[:, 6000:])):
        assert rejected(part.ravel().astype(int), law_of(method, sigma)) == []


@pytest.mark.parametrize("dtype", ["f8", ">f4", "f2", int, np.uint8])
def test_scales_of_numpy_types_stay_floats(dtype: Any) -> None:
    """Of arrays that doubles hold no element is converted alone, even if some scales are 0."""
    scales = np.array([0, 1.25, 7, 100.5]).astype(dtype)
    steps = scales_in_steps(scales, -2, least=1)
    assert steps.dtype == np.float64
    assert steps.tolist() == [4 * x for x in scales.tolist()]


def test_loc_of_every_kind_is_added_exactly() -> None:
    """Without noise only loc is left: it is not rounded, and refused if it would be."""
    cases: list[tuple[Any, list[Any]]] = [
        ("1/1024", [3, -2.5, "1/1024", Fraction(7, 512), np.float32(0.125), np.int8(-3), 2**42]),
        (256, [0, -512, 2.0**60, 2**60, np.uint64(2**60), 10**6 * 256, "256"]),
        (2**-500, [0.0, 2.0**-450]),
    ]
    for granularity, locs in cases:
        prng = NumpyNoise(granularity)
        for loc in locs:
            assert prng.normal(loc, 0) == Fraction(loc if isinstance(loc, str) else float(loc))
        assert prng.normal(locs, 0).tolist() == [float(prng.normal(loc, 0)) for loc in locs]
    for bad in (0.5, 2**53, 2**60 + 1, np.int64(2**62 + 2), 2.0**53, "1/3", float("nan"), 5e-324):
        for loc in (bad, [0, bad], np.array([0, bad], object), np.array([bad, 0])):
            for scale in (0, 1, [1, 2]):
                with pytest.raises((ValueError, TypeError), match=r"^loc must be") as refused:
                    NumpyNoise().laplace(loc, scale)
                assert str(bad)[:5] not in str(refused.value)


def test_children_are_others_of_the_same_kind() -> None:
    """Like those of numpy's `Generator.spawn`, children have their own bits."""
    prng = NumpyNoise("1/2", source="chacha20")
    children = prng.spawn(2)
    assert [repr(one) for one in children] == [repr(prng)] * 2
    assert len({id(one) for one in (prng, *children)}) == 3
    if ENGINE == "native":
        words = [one.integers(0, 2**64, 1000, dtype=np.uint64) for one in (prng, *children)]
        assert len(np.unique(words)) == 3000
    assert prng.spawn(0) == []
    with pytest.raises(ValueError, match="n_children must be at least 0, got -1"):
        prng.spawn(-1)


def test_one_number_and_no_noise() -> None:
    prng = NumpyNoise()
    assert type(prng.normal(0, 2.5)) is float
    assert type(prng.laplace()) is float
    assert prng.normal(7, 0, 3).tolist() == [7.0, 7.0, 7.0]
    assert prng.laplace(7, 0) == 7.0
    assert repr(NumpyNoise("1/2")) == "NumpyNoise(granularity='1/2')"


def test_numbers_are_chosen_without_a_list_of_them() -> None:
    """They may be more than memory holds, and none are chosen of none."""
    rng = NumpyNoise()
    assert len({*rng.choice(10**15, 4, replace=False).tolist()}) == 4
    assert sorted(rng.choice(5, 5, replace=False).tolist()) == [0, 1, 2, 3, 4]
    assert isinstance(rng.choice(10**15), np.int64)
    assert rng.choice(0, size=0).shape == rng.choice([], size=0).shape == (0,)
    assert rng.choice(3, size=()).shape == ()


def test_choice_follows_p() -> None:
    """Probabilities may have very different sizes, and an element of probability 0 never comes."""
    p = [0.5, 0.0, 0.125, 0.375]
    drawn = NumpyNoise().choice(4, 6000, p=p)
    seen = np.bincount(drawn, minlength=4)
    assert seen[1] == 0
    expected = [6000 * p[i] for i in (0, 2, 3)]
    assert stats.chisquare(seen[[0, 2, 3]], expected).pvalue > 1e-9
    assert NumpyNoise().choice(["a", "b"], p=[1.0, 5e-324]) == "a"
    assert NumpyNoise().choice(3, (2, 2)).shape == (2, 2)
    assert int(NumpyNoise().choice(1)) == 0


def test_choice_without_replacement_gives_every_order_alike() -> None:
    drawn = [tuple(NumpyNoise().choice(3, 2, replace=False).tolist()) for _ in range(1200)]
    seen = [drawn.count(pair) for pair in {*drawn}]
    assert len(seen) == 6
    assert stats.chisquare(seen).pvalue > 1e-9


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: NumpyNoise("0.1"), ValueError, "granularity must be a power of two"),
        (lambda: NumpyNoise(2**501), ValueError, "granularity must be a power of two"),
        (lambda: NumpyNoise().normal(0.5, 1), ValueError, "loc must be a whole multiple"),
        (lambda: NumpyNoise().normal(2**53, 1), ValueError, "loc must be a whole multiple"),
        (lambda: NumpyNoise().normal([1.5], 1), ValueError, "loc must be a whole multiple"),
        (lambda: NumpyNoise().normal("x", 1), TypeError, "loc must be a finite number, or"),
        (
            lambda: NumpyNoise().normal(0, [1, -2]),
            ValueError,
            r"negative, but scale\[1\] breaks it",
        ),
        (lambda: NumpyNoise().normal(0, True), TypeError, "scale must be a number, not a bool"),
        (lambda: NumpyNoise().normal(0, -1.5), ValueError, "scale must not be negative, got -1.5"),
        (lambda: NumpyNoise().laplace(0, 2**46), OverflowError, "scale must be at most"),
        (lambda: NumpyNoise().choice(0), ValueError, "a must be a positive integer"),
        (lambda: NumpyNoise().choice(2**70), ValueError, "a must be a positive integer"),
        (lambda: NumpyNoise().choice([1, 2], axis="x"), TypeError, "axis must be an integer"),  # type: ignore[arg-type]
        (lambda: NumpyNoise().choice(2, p=["a", "b"]), TypeError, "p must be an array of numbers"),
        (
            lambda: NumpyNoise().choice([[1]], axis=2),
            ValueError,
            "axis must be one of the 2 axes of a, got 2",
        ),
        (lambda: NumpyNoise().choice(2, 3, replace=False), ValueError, "size must be at most 2"),
        (lambda: NumpyNoise().choice(2, p=[1.0]), ValueError, "p must have the shape"),
        (lambda: NumpyNoise().choice(2, p=[2.0, -1.0]), ValueError, "p must be finite"),
        (lambda: NumpyNoise().choice(2, p=[0.5, 0.4]), ValueError, "p must have a sum within"),
        (lambda: NumpyNoise().choice(2, 1, False, [0.5, 0.5]), ValueError, "replace must be True"),
        (lambda: NumpyNoise().rand(3), AttributeError, "a numpy.random.Generator, has no rand$"),
        (lambda: NumpyNoise().seed(3), AttributeError, "no seed: there is no seed"),
    ],
)
def test_what_is_refused(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


@needs_core
@pytest.mark.parametrize("source", ["getrandom", "chacha20"])
def test_it_is_a_generator_of_numpys_over_secure_bits(source: Any) -> None:
    """Its bits are those of `SystemBits`; copies and pickles draw by their own bits."""
    prng = NumpyNoise("1/2", source=source)
    assert np.random.default_rng(prng) is prng
    assert isinstance(prng.bit_generator, SystemBits)
    assert sorted(prng.permutation(9).tolist()) == [*range(9)]
    assert prng.choice(np.eye(3), 2, axis=1).shape == (3, 2)
    copies = [prng, copy.copy(prng), copy.deepcopy(prng), pickle.loads(pickle.dumps(prng))]
    assert {str(one) for one in copies} == {"NumpyNoise(granularity='1/2')"}
    words = np.array([one.integers(0, 2**64, 1000, dtype=np.uint64) for one in copies])
    assert len(np.unique(words)) == 4000


EXACT = {
    *("normal", "laplace", "choice", "spawn", "integers", "bytes", "permutation", "permuted"),
    *("shuffle", "random"),
}
ROUNDED = {"uniform"}
REFUSED = {
    *("beta", "binomial", "chisquare", "dirichlet", "exponential", "f", "gamma", "geometric"),
    *("gumbel", "hypergeometric", "logistic", "lognormal", "logseries", "multinomial"),
    *("multivariate_hypergeometric", "multivariate_normal", "negative_binomial"),
    *("noncentral_chisquare", "noncentral_f", "pareto", "poisson", "power", "rayleigh"),
    *("standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal"),
    *("standard_t", "triangular", "vonmises", "wald", "weibull", "zipf"),
}


def test_each_method_of_numpys_is_exact_or_named_or_refused() -> None:
    """A method that a later numpy adds is refused; this test then asks in which list it is."""
    prng = NumpyNoise()
    assert EXACT | ROUNDED | REFUSED | {"bit_generator"} == {
        x for x in dir(np.random.Generator) if x[0] != "_"
    }
    table = " ".join(str(NumpyNoise.__doc__).split("=====\n")[2].split())
    for name in EXACT | ROUNDED:
        assert name in table
    for name in REFUSED:
        assert not hasattr(prng, name)
        with pytest.raises(AttributeError, match=f"has no {name}, because numpy rounds its law"):
            getattr(prng, name)
    with pytest.raises(AttributeError, match=r"laplace, or discretegauss\.geometric_exp, and"):
        prng.geometric(0.5)


@needs_core
def test_numpys_exact_methods_are_exact() -> None:
    """They give what their bits say: all places alike (6000 draws), and 53 bits of a number."""
    prng = NumpyNoise()
    drawn = prng.integers(6, size=6000), prng.permuted(np.tile(np.arange(6), (6000, 1)), axis=1)
    firsts = [int(prng.permutation(6)[0]) for _ in range(6000)]
    shuffled = np.arange(6)
    lasts = []
    for _ in range(6000):
        prng.shuffle(shuffled)
        lasts.append(int(shuffled[5]))
    for seen in (
        drawn[0],
        drawn[1][:, 0],
        firsts,
        lasts,
        [x % 6 for x in prng.bytes(6000) if x < 252],
    ):
        assert stats.chisquare(np.bincount(seen, minlength=6)).pvalue > 1e-9
    numbers = prng.random(1000) * 2**53
    assert (numbers == np.rint(numbers)).all()
    assert (numbers % 2 == 1).any()
    assert ((numbers >= 0) & (numbers < 2**53)).all()
    assert ((prng.uniform(3, 5, 1000) >= 3) & (prng.uniform(3, 5, 1000) <= 5)).all()


def test_what_is_numpys_needs_the_core_and_bits_of_the_system() -> None:
    """Without them, numpy's own methods are refused, and the others draw."""

    def own(buffer: memoryview) -> None:
        buffer[:] = os.urandom(len(buffer))

    prng = NumpyNoise(source=own)
    assert prng.normal(0, 9, 3).shape == prng.laplace(0, 9, 3).shape == prng.choice(5, 3).shape
    for name in EXACT | ROUNDED:
        if name not in {"normal", "laplace", "choice", "spawn"}:
            with pytest.raises(MissingCoreError, match=rf"NumpyNoise\.{name} needs the compiled"):
                getattr(prng, name)(3)
    for name in REFUSED:
        assert not hasattr(prng, name)
    assert str(prng.bit_generator) == "None"
    with pytest.raises((TypeError, AttributeError)):
        np.random.Generator.random(prng)


class Mechanism:
    """Code that takes one of numpy's generators and knows nothing of this package."""

    def __init__(self, prng: Any) -> None:
        self.prng = prng

    def measured(self, counts: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
        noisy: NDArray[np.float64] = counts + self.prng.normal(0, sigma, counts.size)
        return noisy

    def chosen(self, scores: NDArray[np.float64], epsilon: float) -> int:
        weights = np.exp(0.5 * epsilon * (scores - scores.max()))
        return int(self.prng.choice(scores.size, p=weights / weights.sum()))

    def released(self, counts: NDArray[np.int64], epsilon: float) -> NDArray[np.float64]:
        worst = self.chosen(np.abs(counts - counts.mean()), epsilon)
        with_noise = counts[worst : worst + 1]
        answer: NDArray[np.float64] = with_noise + self.prng.laplace(0, 1 / epsilon, 1)
        return answer


def test_code_that_takes_a_generator_of_numpys_takes_this() -> None:
    """Whole counts stay whole, while numpy's noise would add digits."""
    counts = np.array([5, 10, 900])
    exact, plain = Mechanism(NumpyNoise()), Mechanism(np.random.RandomState(1))
    for mechanism in (exact, plain):
        noisy = mechanism.measured(counts, 3.0)
        assert noisy.shape == (3,)
        assert (noisy == np.rint(noisy)).all() == (mechanism is exact)
        assert mechanism.chosen(counts.astype(float), 2.0) == 2
    assert exact.released(counts, 1.0).shape == (1,)
