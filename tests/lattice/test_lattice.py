"""Lattice: rounding that lengthens no vector, and clipping whose norms are proven."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import discretegauss as dg
from discretegauss import lattice
from discretegauss.testing import NotPrivateWarning, seeded_source

EXTREMES = [0.0, -0.0, 5e-324, 1e-310, 0.125, -0.3, 1 - 2**-53, 1.0, 2.0**53 + 2, -1e300]


@pytest.mark.parametrize("step", [1, 0.125, 2.0**-1074, 2.0**40, "1/3", 0.1])
def test_rounded_quotients_are_exact(step: float | str) -> None:
    """Toward zero, and to the nearest with ties to even."""
    quotients = [Fraction(x) / Fraction(step) for x in EXTREMES]
    assert lattice.to_lattice(EXTREMES, step).tolist() == [int(x) for x in quotients]
    nearest = lattice.to_lattice(EXTREMES, step, rounding="nearest")
    assert nearest.tolist() == [round(x) for x in quotients]


def test_quotients_at_the_end_of_int64_do_not_wrap() -> None:
    """The limit, one float before it and the negative end, by floats and by fractions."""
    before = float(np.nextafter(2.0**63, 0))
    for value, step in (
        (2.0**63, 1),
        (before, 1),
        (-(2.0**63), 1),
        (2.0**62, "1/2"),
        (4e18, "1/3"),
    ):
        found = lattice.to_lattice([value], step)
        assert found.tolist() == [int(Fraction(value) / Fraction(step))]
        assert found.dtype == (np.int64 if value in (before, -(2.0**63)) else object)
    for integer in (2**62 - 1, 2**62, -(2**62)):
        assert lattice.to_lattice(np.array([integer]), "1/2").tolist() == [2 * integer]


@pytest.mark.parametrize("beta", [1, "5/4", "3/2", 2, 3, 4])
@pytest.mark.parametrize("steps", [1, 7, 64, 1000])
def test_clipped_vectors_are_proven_short(beta: int | str, steps: int) -> None:
    """They keep their signs, and each is within a step of the vector scaled to the norm."""
    rng = np.random.default_rng(1)
    exponent = float(Fraction(beta))
    vectors = rng.normal(size=(300, 20)) * np.exp(rng.normal(size=(300, 1)) * 3)
    vectors[0], vectors[1, 0] = 0, 1e308
    z = lattice.clip(vectors, norm="3/2", steps=steps, beta=beta)
    assert no_longer(z, steps, beta)
    assert not (np.sign(z) * np.sign(vectors) < 0).any()
    norms = (np.abs(vectors[2:]) ** exponent).sum(axis=1) ** (1 / exponent)
    wanted = vectors[2:] * np.minimum(1, 1.5 / norms)[:, np.newaxis] * (steps / 1.5)
    assert np.abs(z[2:] - wanted).max() < 1 + 1e-6


def no_longer(z: Any, steps: int, beta: int | str) -> bool:
    """Return whether the norms are at most steps, in integers or with 60 digits."""
    with mpmath.workdps(60):
        b = mpmath.mpf(Fraction(beta).numerator) / Fraction(beta).denominator
        powers = [
            n**beta if isinstance(beta, int) else mpmath.mpf(n) ** b for n in range(steps + 1)
        ]
        return all(sum(powers[abs(x)] for x in row) <= powers[steps] for row in z.tolist())


@pytest.mark.parametrize("beta", [1, "3/2", 2])
def test_integers_prove_the_norm_if_floats_are_wrong(
    beta: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Floats that are too large by 5 % change nothing, though no coordinate is too large."""
    directions = lattice._directions

    def longer(rows: Any, exponent: float) -> tuple[Any, Any]:
        shares, norms = directions(rows, exponent)
        return 1.05 * shares, norms

    monkeypatch.setattr(lattice, "_directions", longer)
    z = lattice.clip(np.random.default_rng(2).normal(size=(20, 9)), norm=1, steps=100, beta=beta)
    assert no_longer(z, 100, beta)
    assert np.abs(z).sum(axis=1).min() > 80


@pytest.mark.filterwarnings("ignore::discretegauss.errors.PrivacyWarning")
def test_ends_of_steps_and_norms_are_taken_and_one_beyond_is_not() -> None:
    """Limits: 65 536 steps, and norms and steps of the lattice from 2**-1000 to 2**1000."""
    assert lattice.clip(np.zeros((0, 3)), norm=9, steps=2**16).shape == (0, 3)
    for steps in (0, 2**16 + 1):
        with pytest.raises(ValueError, match="steps must be at"):
            lattice.clip(np.zeros((0, 3)), norm=1, steps=steps)
    law = dg.DiscreteGaussian("1/1000")
    for exponent in (-1000, 1000):
        end = Fraction(2) ** exponent
        beyond = end * Fraction(9, 8) ** (exponent // 1000)
        assert lattice.clip([[float(end)]], norm=end, steps=4).tolist() == [[4]]
        assert lattice.noisy([float(end)], law, step=end).tolist() == [float(end)]
        with pytest.raises(OverflowError, match="norm must be from"):
            lattice.clip([[1.0]], norm=beyond, steps=4)
        with pytest.raises(OverflowError, match="step must be from"):
            lattice.noisy([1.0], law, step=beyond)


def test_clipping_ignores_numpys_error_state() -> None:
    """A quotient of two numbers may underflow, even if the caller makes numpy raise errors."""
    with np.errstate(all="raise"):
        assert lattice.clip([1e-300, 1e300, 0.0], norm=1, steps=100).tolist() == [0, 100, 0]


def test_an_exact_fit_is_kept() -> None:
    """Integers whose norm is exactly the bound do not change."""
    assert lattice.clip([[3.0, 4.0], [5.0, 0.0]], norm=5, steps=5).tolist() == [[3, 4], [5, 0]]


@pytest.mark.usefixtures("native_engine")
def test_noisy_values_lie_on_the_lattice() -> None:
    """The noise is the law's draws from the same bits."""
    law = dg.DiscreteGaussian(100)
    with pytest.warns(NotPrivateWarning):
        sources = seeded_source(3), seeded_source(3)
    found = lattice.noisy([0.3, -7.0], law, step=0.25, source=sources[0])
    drawn = law.sample(2, source=sources[1])
    assert found.tolist() == ((np.array([1, -28]) + drawn) * 0.25).tolist()


def test_refusals() -> None:
    """Messages about data name a place, never a value."""
    with pytest.raises(ValueError, match=r"values must be finite, but is not at index \(1,\)"):
        lattice.to_lattice([1.0, np.nan], 1)
    with pytest.raises(ValueError, match="step must be positive, got 0"):
        lattice.to_lattice([1.0], 0)
    with pytest.raises(ValueError, match="beta must be at least 1"):
        lattice.clip([[1.0]], norm=1, steps=4, beta=0.5)
    with pytest.raises(TypeError, match="vectors must be integers or floats"):
        lattice.clip([["1"]], norm=1, steps=4)
    with pytest.raises(OverflowError, match=r"steps\*\*beta must be smaller"):
        lattice.clip([[1.0]], norm=1, steps=4, beta=2**65)
    for far in ("1e-400", "1e400"):
        with pytest.raises(OverflowError, match=f"norm must be from .* got '{far}'"):
            lattice.clip([[1.0]], norm=far, steps=4)
        with pytest.raises(OverflowError, match=f"step must be from .* got '{far}'"):
            lattice.noisy([1.0], dg.DiscreteGaussian(4), step=far)
