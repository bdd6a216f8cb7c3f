"""What has no loss of its own is refused, in a sentence that says what to do; doing so is right."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from privacy_reference import mp

import discretegauss as dg
from discretegauss import privacy
from discretegauss.privacy import PrivacyLoss
from discretegauss.selection import TruncatedLaplace, keep_rule

G, L = dg.DiscreteGaussian(4), dg.DiscreteLaplace(3)


@pytest.mark.parametrize("law", [keep_rule(1, "1e-6"), TruncatedLaplace(1, 14)])
def test_a_mechanism_without_a_loss_is_like_a_pure_one(law: Any) -> None:
    for ask in (privacy.loss, privacy.rho, lambda law: privacy.epsilon([G, law], "1e-6")):
        with pytest.raises(TypeError, match=r"got .*; any mechanism .* has PrivacyLoss.of_pure\("):
            ask(law)


def test_truncated_laplace_noise_loses_what_a_pure_release_loses() -> None:
    """Two releases, enumerated: k from -L to L with and without one more person."""
    law = TruncatedLaplace("3/2", 6)
    pairs = list(zip(law.pmf([*range(-6, 8)]), law.pmf([*range(-7, 7)]), strict=True))
    loss = PrivacyLoss.of_pure(1 / Fraction("3/2"), law.pmf(6)) ** 2
    with mpmath.workdps(40):
        for e in (Fraction(0), Fraction(1, 2), Fraction(4, 3)):
            factor = mpmath.exp(mp(e))
            exact = mpmath.fsum(
                max(mpmath.mpf(a) * c - factor * b * d, 0) for a, b in pairs for c, d in pairs
            )
            assert exact * (1 - 1e-13) <= loss.delta(e) <= exact * (1 + 1e-9)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda: privacy.epsilon([G, privacy.loss(L)], "1e-6"),
            "law must have laws and sums in a list, got PrivacyLoss",
        ),
        (lambda: privacy.epsilon([G, L], "1e-6", [1, 2]), "sensitivity must be one number"),
        (lambda: privacy.delta([G, L], 1, sampling=[1, "1/2"]), "sampling must be one number"),
    ],
)
def test_what_differs_is_composed(ask: Any, words: str) -> None:
    with pytest.raises(TypeError, match=rf"{words}.*compose losses that differ, loss\(a, 1"):
        ask()
    both = privacy.loss(G, 1, sampling="1/2") @ privacy.loss(L, 2)
    assert both.epsilon("1e-6") > privacy.loss(L, 2).epsilon("1e-6")


def test_a_vector_beside_laplace_noise_is_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match=r"noise for a vector.*; privacy.rho adds up"):
        privacy.epsilon([G, L], "1e-6", 2, dimension=3)
    assert privacy.rho([G, L]) == privacy.rho(G) + privacy.rho(L)


def test_replacing_a_person_has_a_sentence_and_no_argument() -> None:
    call: Any = privacy.epsilon
    with pytest.raises(TypeError, match="double the sensitivity if a person is replaced, but not"):
        call(G, "1e-6", neighbours="replace")
