"""Rounding keeps means and norms, the rotation turns back, and a round gives the clipped sum."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from inputs import must_not_draw
from scipy import stats

import discretegauss as dg
from discretegauss import Skellam, testing
from discretegauss.distributed import (
    Rotation,
    SecureSum,
    least_modulus,
    round_conditionally,
    rounded_norm,
)

pytestmark = [
    pytest.mark.usefixtures("native_engine"),
    pytest.mark.filterwarnings("ignore:draws from a seeded source"),
]


def test_rounded_norm_is_the_smaller_of_both_bounds_rounded_up() -> None:
    for c, d, retry in [(100, 1024, None), (3, 10**6, None), (5, 7, "1/100"), (5, 7, 0)]:
        with mpmath.workdps(40):
            root = mpmath.sqrt(d)
            log = (
                mpmath.mpf(1) / 2 if retry is None else mpmath.inf if not retry else mpmath.log(100)
            )
            moves = mpmath.sqrt(2 * log) * (c + root / 2)
            wanted = min(c + root, mpmath.sqrt(c**2 + mpmath.mpf(d) / 4 + moves))
            found = rounded_norm(c, dimension=d, retry=retry)
            assert wanted <= found <= wanted * (1 + mpmath.mpf(2) ** -52)


@pytest.mark.parametrize("x", [[0.25, -1.75, 0.5], [3.5, 0.0, -0.125], [2.5, -1.5, 0.5]])
@pytest.mark.parametrize("retry", [None, "99/100"])
def test_roundings_have_the_conditional_law(x: list[float], retry: Any) -> None:
    """20 000 seeded roundings pass a chi-square test; a false alarm has probability 1e-6.

    The limit: of the third vector, (3, -2, 1) is just as long as a norm may be, and is drawn.
    """
    norm = 3.6
    drawn = round_conditionally(
        np.tile(x, (20_000, 1)), norm, retry=retry, source=testing.seeded_source(1)
    )
    bound = Fraction(rounded_norm(norm, dimension=3, retry=retry)) ** 2
    chances: dict[tuple[int, ...], float] = {}
    for ups in product((0, 1), repeat=3):
        outcome = tuple(int(np.sign(v)) * (int(abs(v)) + up) for v, up in zip(x, ups, strict=True))
        shares = [abs(v) % 1 if up else 1 - abs(v) % 1 for v, up in zip(x, ups, strict=True)]
        if sum(z * z for z in outcome) <= bound and np.prod(shares):
            chances[outcome] = chances.get(outcome, 0) + float(np.prod(shares))
    if x[0] == 2.5 and retry:
        assert (3, -2, 1) in chances
        assert int(bound) == 14
    seen = dict.fromkeys(chances, 0)
    for row in drawn.tolist():
        seen[tuple(row)] += 1  # a KeyError: beyond the norm
    if len(seen) > 1:
        wanted = np.array(list(chances.values())) / sum(chances.values()) * len(drawn)
        assert stats.chisquare(list(seen.values()), wanted).pvalue > 1e-6


def test_no_rounding_is_longer_than_it_says() -> None:
    """The bound holds if most roundings would break it: it is tight, and vectors are long."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 64))
    x *= 8 * (1 - 2.0**-40) / np.linalg.norm(x, axis=1)[:, None]
    z = round_conditionally(x, 8, retry="95/100")
    bound = rounded_norm(8, dimension=64, retry="95/100")
    assert (np.square(z).sum(axis=1) <= bound**2).all()
    free = round_conditionally(x, 8, retry=0)
    assert (np.square(free).sum(axis=1) > bound**2).any()
    assert (np.abs(z - x) < 1).all()


def test_tiny_fractions_are_exact() -> None:
    """If a word equals the first 64 bits of a fraction, its other bits decide: 2**-6 goes up.

    The words are 0, and then one byte has every value.
    """
    rounded = [
        round_conditionally(
            [2.0**-70, 1.5], 2, source=testing.TapeSource(bytes(20) + bytes([byte]) + bytes(99))
        ).tolist()
        for byte in range(256)
    ]
    assert rounded.count([1, 2]) == 256 / 2**6 == 256 - rounded.count([0, 2])


@pytest.mark.parametrize("d", [1, 3, 64, 100])
def test_the_rotation_turns_back(d: int) -> None:
    rotation = Rotation(d)
    x = np.random.default_rng(2).normal(size=(4, d))
    turned = rotation.apply(x)
    assert turned.shape == (4, rotation.padded)
    assert np.allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(x, axis=1))
    assert np.allclose(rotation.undo(turned), x)


def test_integers_are_turned_back_exactly() -> None:
    """Floats would round sums past 2**53 and 2**63; only the last quotient is rounded."""
    rotation = Rotation(4)
    for big in (2**60 + 1, 2**80 + 1):
        y = np.array([big, 1 - big, 0, 0], dtype=object if big > 2**62 else np.int64)
        signs = rotation.signs.tolist()
        hadamard = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
        sums = [sum(h * int(v) for h, v in zip(row, y, strict=True)) for row in hadamard]
        wanted = [s * total / 2 for s, total in zip(signs, sums, strict=True)]
        assert rotation.undo(y).tolist() == wanted
    # the limit: four numbers of 2**61 add up to 2**63, one more than an int64 holds
    for each in (2**61 - 1, 2**61, -(2**61)):
        first = rotation.undo(np.full(4, each)).tolist()[0]
        assert first == int(rotation.signs[0]) * float(2 * each)
    with pytest.raises(OverflowError, match=r"vectors must be small enough .* below 2\*\*1024"):
        Rotation(1).undo(np.array([2**1100], object))


def test_the_signs_are_fair_and_of_the_source() -> None:
    signs = Rotation(2**16, source=testing.seeded_source(4)).signs
    assert (signs == Rotation(2**16, source=testing.seeded_source(4)).signs).all()
    assert set(signs.tolist()) == {-1, 1}
    assert abs(signs.sum()) < 5 * 2**8
    with pytest.raises(EOFError):
        Rotation(2**16, source=testing.TapeSource(b"12"))


@pytest.mark.parametrize("d", [1, 5, 2**20])
def test_a_rotation_travels_as_a_bit_for_each_sign(d: int) -> None:
    """A pickle of it, or of the round that has it, holds N bits and little more."""
    rotation = Rotation(d)
    secure = SecureSum(d, clip=1, steps=8, law=Skellam(9), most_clients=9, fewest_clients=1)
    again, secure_again = (pickle.loads(pickle.dumps(one)) for one in (rotation, secure))
    for one, found in ((rotation, again), (secure.rotation, secure_again.rotation)):
        assert found.signs.dtype == np.int64
        assert (found.signs == one.signs).all()
        assert vars(found).keys() == vars(one).keys()
    assert len(pickle.dumps(rotation)) < rotation.padded / 8 + 300
    assert len(pickle.dumps(secure)) < rotation.padded / 8 + 2000


@pytest.mark.parametrize("law", [Skellam(9), dg.DiscreteGaussian(9)])
def test_a_round_gives_the_clipped_sum_with_its_noise(law: Any) -> None:
    """The error is that of noise and rounding, with its variance within 15 %, so no sum wraps."""
    n, d = 40, 300
    x = np.random.default_rng(5).normal(size=(n, d))
    x[0] *= 1e6
    x[1] = 0
    secure = SecureSum(
        d,
        clip=10,
        steps=400,
        law=law,
        most_clients=n,
        fewest_clients=1,
        source=testing.seeded_source(6),
    )
    source = testing.seeded_source(7)
    messages = [secure.message(row, source=source) for row in x]
    norms = np.maximum(np.linalg.norm(x, axis=1), 10)
    wanted = (x * (10 / norms)[:, None]).sum(axis=0)
    error = (secure.total(messages) - wanted) / (10 / 400)
    assert 9 * n * 0.85 < error.var() < (9 + 1 / 4) * n * 1.15
    assert abs(secure.noise_std - 3 * n**0.5 / 40) < 1e-12
    assert secure.sensitivity == rounded_norm(400, dimension=512)


@pytest.mark.parametrize("largest", [1e308, 1.7e308, 2.0**901])
def test_the_longest_vectors_are_clipped_without_a_warning(largest: float) -> None:
    """A short vector beside it does not change, and a rotation refuses an overflow."""
    law = dg.DiscreteGaussian("1/1000")
    secure = SecureSum(10, clip=1, steps=2**20, law=law, most_clients=2, fewest_clients=1)
    vectors = np.array([[largest] * 10, [1e-2] * 10])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        long, short = secure.message(vectors)
        found = secure.total([long]), secure.total([short])
    assert np.abs(found[0] - 10**-0.5).max() < 1e-4
    assert np.abs(found[1] - 1e-2).max() < 1e-4
    with pytest.raises(OverflowError, match="vectors must be short"):
        Rotation(16).apply([1.7e308] * 16)


def test_the_modulus_holds_the_sum_or_is_refused() -> None:
    law = Skellam(4)
    least = least_modulus(law, most_clients=10, largest=50)
    secure = SecureSum(1, clip=1, steps=50, law=law, most_clients=10, fewest_clients=1)
    assert secure.modulus >= least == 2048
    for vector in (1.0, -1.0):
        full = secure.total([secure.message([vector]) for _ in range(10)])
        assert abs(full[0] - 10 * vector) < 2
    how: dict[str, Any] = {"clip": 1, "steps": 50, "law": law, "modulus": 256}
    how |= {"most_clients": 10, "fewest_clients": 1}
    for few in (256, 2047):
        with pytest.raises(ValueError, match=rf"modulus must be at least 2048 .* got {few}"):
            SecureSum(1, source=must_not_draw, **how | {"modulus": few})
    assert SecureSum(1, **how | {"modulus": 2048}).modulus == 2048
    wrapped = SecureSum(1, wrap=True, **how)
    lost = wrapped.total([wrapped.message([1.0]) for _ in range(10)])
    assert abs(lost[0] - 10) > 2  # 500 modulo 256


@pytest.mark.parametrize("dimension", [1, 3, 1000])
def test_the_modulus_is_for_the_rounded_norm(dimension: int) -> None:
    """Rounding makes a vector longer than its steps; of some of these, twice the modulus is due."""
    law, n, larger = Skellam(4), 9, []
    for steps in range(20, 120):
        secure = SecureSum(
            dimension, clip=1, steps=steps, law=law, most_clients=n, fewest_clients=1
        )
        how: dict[str, Any] = {"most_clients": n, "dimension": secure.rotation.padded}
        assert secure.modulus == least_modulus(law, largest=secure.sensitivity, **how)
        larger.append(secure.modulus > least_modulus(law, largest=steps, **how))
    assert any(larger)


@pytest.mark.parametrize("law", [Skellam(40), dg.DiscreteGaussian(40)])
def test_the_least_modulus_is_the_formula(law: Any) -> None:
    """Several at once, and the limit: half the modulus is the power of two above the bound."""
    n, d, failure = 7, 300, Fraction(1, 10**9)
    with mpmath.workdps(40):
        m = mpmath.log(2 * d * mpmath.mpf(10) ** 9)
        reach = mpmath.sqrt(2 * n * 40 * m) + (2 * m / 3 if law == Skellam(40) else 0)
        at_limit = (1024 - 1 - reach) / n
    for largest, modulus in ((at_limit - 1e-6, 2048), (at_limit + 1e-6, 4096)):
        asked = Fraction(float(largest))
        how: dict[str, Any] = {"most_clients": n, "largest": asked, "dimension": d}
        assert least_modulus(law, failure=failure, **how) == modulus


def test_more_messages_than_the_modulus_holds_are_refused() -> None:
    """The sum of 140 messages of 1 wraps to -122 if the modulus is made for 130."""
    secure = SecureSum(1, clip=1, steps=1000, law=Skellam(40), most_clients=130, fewest_clients=1)
    messages = [secure.message([1.0]) for _ in range(140)]
    for n in (131, 140):
        with pytest.raises(ValueError, match=f"to most_clients, 1 to 130, got {n}"):
            secure.total(messages[:n])
    assert abs(secure.total(messages[:130])[0] - 130) < 2


def test_a_sum_of_fewer_clients_than_the_calibration_has_is_not_opened() -> None:
    """One message of noise for 400 clients would cost an epsilon of thousands, where 4 is asked."""
    law = dg.privacy.calibrate(Skellam, epsilon=4, delta="1e-6", sensitivity=9, clients=5)
    secure = SecureSum(64, clip=1, steps=8, law=law, most_clients=9, fewest_clients=5)
    messages = [secure.message(np.full(64, 0.1)) for _ in range(9)]
    for few in (messages[:1], messages[:4], np.zeros((0, 64), int), [np.sum(messages, axis=0)]):
        with pytest.raises(ValueError, match=f"fewest_clients to .*, 5 to 9, got {len(few)}$"):
            secure.total(few)
    assert np.abs(secure.total(messages[:5]) - 0.5).max() < 10
    of_sum = np.sum(messages, axis=0) % secure.modulus
    assert secure.total(of_sum, clients=9).tolist() == secure.total(messages).tolist()
    for clients in (4, 10):
        with pytest.raises(ValueError, match=f"5 to 9, got {clients}$"):
            secure.total(of_sum, clients=clients)
    for wrong, how in ((of_sum, {}), (messages, {"clients": 9})):
        with pytest.raises(TypeError, match="clients must be given with a sum of messages"):
            secure.total(wrong, **how)
    for wrong in (of_sum[:9], 3, np.zeros((2, 5, 64), int)):
        with pytest.raises(ValueError, match="messages must have the shape"):
            secure.total(wrong, clients=9)


@pytest.mark.parametrize("modulus", [2**20, 2**70])
def test_a_message_that_comes_twice_is_refused_if_chance_does_not_explain_it(modulus: int) -> None:
    """Messages that little noise makes equal by chance are those of different clients."""
    how: dict[str, Any] = {"clip": 1, "steps": 8, "most_clients": 9, "fewest_clients": 2}
    secure = SecureSum(64, law=Skellam(9), modulus=modulus, **how)
    messages = [secure.message(np.full(64, 0.1)) for _ in range(4)]
    assert secure.total(messages).shape == (64,)
    again = [*messages, np.asarray(messages[2]) - modulus]  # the same modulo the modulus
    with pytest.raises(ValueError, match="one of each client, but two of them are the same"):
        secure.total(again)
    for law, d in ((Skellam("1/1000"), 64), (Skellam(9), 4)):
        narrow = SecureSum(d, law=law, **how)
        message = narrow.message(np.zeros(d))
        assert narrow.total([message, message]).shape == (d,)


def test_the_bound_on_equal_messages_is_their_probability() -> None:
    """For the vector of the most likely messages, 9 clients have some 36 pairs of 81."""
    for law in (Skellam(9), dg.DiscreteGaussian("1/3"), Skellam(2**40)):
        how: dict[str, Any] = {"clip": 1, "steps": 8, "most_clients": 9, "fewest_clients": 1}
        secure = SecureSum(4, law=law, **how)
        bound = secure._equal_by_chance(9)
        if law.var() < 1000:
            residues = float(law.pmf(np.arange(-500, 501) * secure.modulus).sum())
            assert 81 * residues**4 < bound < 81 * (residues * 1.02 + 2 / secure.modulus) ** 4
        assert bound < 81 * 0.1**4 or law.var() < 10


def test_noise_std_is_that_of_the_law_rounded_up() -> None:
    """If sigma2 is small, the variance is far below it: 0.0000908 for 1/20."""
    clients: dict[str, Any] = {"most_clients": 9, "fewest_clients": 1}
    for parameter in ("1/20", "1/1000"):
        law = dg.DiscreteGaussian(parameter)
        secure = SecureSum(1, clip=2, steps="1/3", law=law, **clients)
        with mpmath.workdps(40):
            ratio = mpmath.exp(-mpmath.mpf(law.sigma2.denominator) / 2)
            terms = [(k * k * ratio ** (k * k), ratio ** (k * k)) for k in range(1, 10)]
            of_squares, others = (2 * mpmath.fsum(part) for part in zip(*terms, strict=True))
            exact = 18 * mpmath.sqrt(of_squares / (1 + others))
            assert exact <= secure.noise_std <= exact * (1 + mpmath.mpf(2) ** -52)
    secure = SecureSum(1, clip=2, steps=3, law=Skellam("1/20"), **clients)
    with mpmath.workdps(40):
        exact = 2 * mpmath.sqrt(mpmath.mpf(9) / 20) / 3
        assert exact <= secure.noise_std <= exact * (1 + mpmath.mpf(2) ** -52)


@pytest.mark.parametrize("law", [Skellam(4), Skellam("1/100"), dg.DiscreteGaussian(4)])
def test_the_tails_behind_the_modulus_hold(law: Any) -> None:
    """The true tail of one share, from its probabilities, is below the failure."""
    for failure in (0.01, 1e-6, 1e-12):
        half = least_modulus(law, most_clients=1, largest=1, failure=failure) // 2
        ks = np.arange(half, half + 2000)
        assert 2 * float(np.sum(law.pmf(ks - 1))) <= failure


def test_what_is_refused_draws_nothing() -> None:
    for error, message, values, how in (
        (ValueError, "norm of at most norm", [3.0, 4.0], {"norm": 4.999}),
        (ValueError, "values must be finite", [np.nan], {"norm": 5}),
        (TypeError, "values must be integers or floats", ["1"], {"norm": 5}),
        (ValueError, "norm must be at most", [1.0], {"norm": 2**25}),
        (ValueError, "retry must be", [1.0], {"norm": 2, "retry": 1}),
    ):
        with pytest.raises(error, match=message):
            round_conditionally(values, source=must_not_draw, **how)
    assert round_conditionally([3.0, 4.0], 5).tolist() == [3, 4]
    with pytest.raises(ValueError, match="dimension must be at least 1"):
        Rotation(0, source=must_not_draw)
    right: dict[str, Any] = {"clip": 1, "steps": 50, "law": Skellam(4)}
    right |= {"most_clients": 10, "fewest_clients": 3}
    secure = SecureSum(3, **right)
    for vector, message in (([1.0], "3 numbers along the last"), ([1, np.inf, 0], "be finite")):
        with pytest.raises(ValueError, match=message):
            secure.message(vector, source=must_not_draw)
    with pytest.raises(ValueError, match="sampling must be at most 1"):
        secure.message([1, 0, 0], sampling=2, source=must_not_draw)
    refused: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (TypeError, "wrap must be True or False", {"wrap": 1}),
        (ValueError, "steps must be from", {"steps": "1e-400"}),
        (OverflowError, "clip must be from", {"clip": "1e-400"}),
        (ValueError, "mu = 0", {"law": dg.DiscreteGaussian(4, mu=1)}),
        (ValueError, "fewest_clients must be at most most_clients = 10", {"fewest_clients": 11}),
        (ValueError, "fewest_clients must be at least 1", {"fewest_clients": 0}),
    ]
    for kind, message, wrong in refused:
        with pytest.raises(kind, match=message):
            SecureSum(3, source=must_not_draw, **(right | wrong))


@pytest.mark.parametrize("exponent", [0, -100, -460, -620, -1060])
def test_a_vector_just_too_long_is_refused_however_small(exponent: int) -> None:
    """The limit, and one beyond: a norm that is smaller by a part of 2**-80."""
    unit = Fraction(2) ** exponent
    vector = [[float(3 * unit), float(4 * unit)]]
    round_conditionally(vector, norm=5 * unit)
    with pytest.raises(ValueError, match="norm of at most norm"):
        round_conditionally(vector, norm=5 * unit * (1 - Fraction(1, 2**80)))


def test_ends_of_norms_and_steps_are_taken_and_one_beyond_is_not() -> None:
    """Limits: 2**24 and 2**-24 steps, a clip from 2**-1000 to 2**1000, half a retry below 1."""
    assert round_conditionally([2.0**24], 2**24).tolist() == [2**24]
    with pytest.raises(ValueError, match=r"norm must be at most 2\*\*24"):
        round_conditionally([1.0], 2**24 + Fraction(1, 2**40))
    how: dict[str, Any] = {"law": Skellam(4), "most_clients": 1, "fewest_clients": 1}
    for steps in (Fraction(1, 2**24), 2**24):
        assert SecureSum(1, clip=1, steps=steps, **how).steps == steps
    for steps in (Fraction(1, 2**24 + 1), 2**24 + Fraction(1, 9)):
        with pytest.raises(ValueError, match="steps must be from"):
            SecureSum(1, clip=1, steps=steps, **how)
    for clip in (Fraction(1, 2**1000), Fraction(2**1000)):
        assert SecureSum(1, clip=clip, steps=8, **how).clip == clip
        beyond = clip * (1 + Fraction(1, 9)) if clip > 1 else clip * Fraction(8, 9)
        with pytest.raises(OverflowError, match="clip must be from"):
            SecureSum(1, clip=beyond, steps=8, **how)


def test_a_coin_decides_about_the_vector_and_never_about_the_noise() -> None:
    """4000 messages, seeded: the vector is in a quarter of them, the noise in all."""
    law, rate, n = dg.DiscreteGaussian(4), Fraction(1, 4), 4000
    secure = SecureSum(2, clip=1, steps=1000, law=law, most_clients=n, fewest_clients=1)
    vectors = np.tile([1.0, 0.0], (n, 1))
    sent = secure.message(vectors, sampling=rate, source=testing.seeded_source(4))
    base = secure.modulus
    steps = (sent + base // 2) % base - base // 2
    there = np.abs(steps).sum(axis=1) > 500
    assert stats.binomtest(int(there.sum()), n, float(rate)).pvalue > 1e-6
    missing = steps[~there]
    assert abs(np.var(missing) - law.var()) < 0.2
    assert np.abs(missing).max() < 20
    assert secure.message(vectors[0], sampling=rate).shape == (2,)
