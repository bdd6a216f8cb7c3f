"""The discrete Gaussian in the privacy calculus: rho = sensitivity**2/(2 sigma2).

That is Theorem 4 of CKS 2020, and for several queries the sum of it over them Theorem 14.
"""

from __future__ import annotations

from fractions import Fraction

from .._inputs.privacy_arguments import positive_number
from .._law import LawSpec
from ._facts import PrivacyFacts, gaussian_cancelling_bits


class DiscreteGaussianFacts(PrivacyFacts):
    """The discrete Gaussian."""

    def rho(self, spec: LawSpec, sensitivity: object) -> Fraction:
        """Return sensitivity**2/(2 sigma2), exactly."""
        return positive_number(sensitivity, "sensitivity") ** 2 / (2 * spec.parameter)

    def cancelling_bits(self, spec: LawSpec, change: int) -> int:
        """Return about the logarithm of sigma/change."""
        return gaussian_cancelling_bits(spec, change)
