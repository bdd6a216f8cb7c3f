"""Noise in shares: each client adds its own, and only the sum of their messages is seen."""

from ._rotation import Rotation
from ._rounding import round_conditionally, rounded_norm
from ._rounds import SecureSum, least_modulus
from ._secure_sum import share, total
from ._skellam import Skellam
from ._sum_of_gaussians import calibrate, rho
from ._sum_of_skellams import calibrate_skellam, epsilon, privacy_loss, renyi

__all__ = [
    "Rotation",
    "SecureSum",
    "Skellam",
    "calibrate",
    "calibrate_skellam",
    "epsilon",
    "least_modulus",
    "privacy_loss",
    "renyi",
    "rho",
    "round_conditionally",
    "rounded_norm",
    "share",
    "total",
]
