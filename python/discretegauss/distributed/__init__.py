"""Noise in shares: each client adds its own, and only the sum of their messages is seen.

What a sum costs, `discretegauss.privacy` says of ``law.sum(clients)``; how much noise a share
needs, `discretegauss.privacy.calibrate` says with ``clients=``.
"""

from ._rotation import Rotation
from ._rounding import round_conditionally, rounded_norm
from ._rounds import SecureSum, least_modulus, total

__all__ = [
    "Rotation",
    "SecureSum",
    "least_modulus",
    "round_conditionally",
    "rounded_norm",
    "total",
]
