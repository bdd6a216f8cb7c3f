"""Noise in shares: each client adds its own, and only the sum of their messages is seen.

`discretegauss.privacy` says what a sum costs, for ``law.sum(clients)``. Its `calibrate` says how
much noise each share needs, with ``clients=``.
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
__dir__ = __all__.copy  # dir() and completion show these names alone
