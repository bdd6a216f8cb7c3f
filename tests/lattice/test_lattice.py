"""Lattice: rounding that lengthens no vector, and clipping whose norms are proven."""

from __future__ import annotations

from fractions import Fraction

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


@pytest.mark.parametrize("beta", [1, "5/4", "3/2", 2, 3, 4])
@pytest.mark.parametrize("steps", [1, 7, 64, 1000])
def test_clipped_vectors_are_proven_short(beta: int | str, steps: int) -> None:
    """They keep their signs, and each is within a step of the vector scaled to the norm."""
    rng = np.random.default_rng(1)
    exponent = float(Fraction(beta))
    vectors = rng.normal(size=(300, 20)) * np.exp(rng.normal(size=(300, 1)) * 3)
    vectors[0], vectors[1, 0] = 0, 1e308
    z = lattice.clip(vectors, norm="3/2", steps=steps, beta=beta)
    lengths = (np.abs(z).astype(float) ** exponent).sum(axis=1) ** (1 / exponent)
    assert lengths.max() <= steps * (1 + 1e-12)
    assert not (np.sign(z) * np.sign(vectors) < 0).any()
    norms = (np.abs(vectors[2:]) ** exponent).sum(axis=1) ** (1 / exponent)
    wanted = vectors[2:] * np.minimum(1, 1.5 / norms)[:, np.newaxis] * (steps / 1.5)
    assert np.abs(z[2:] - wanted).max() < 1 + 1e-6


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
