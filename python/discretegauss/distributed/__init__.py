"""Noise in shares: each client adds its own, and only the sum of their messages is seen."""

from ._secure_sum import share, total
from ._sum_of_gaussians import calibrate, rho
from .poisson import poisson, skellam

__all__ = ["calibrate", "poisson", "rho", "share", "skellam", "total"]
