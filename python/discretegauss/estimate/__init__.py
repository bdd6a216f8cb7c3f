"""Estimates from noisy numbers: intervals of counts, totals, ratios, shares; tables that add up.

The functions use only released numbers, so they cost no privacy. They use the exact laws of the
noise, so the confidence is guaranteed. They draw nothing.

Each function accepts the containers that `discretegauss.add_noise` accepts.
"""

from ._checks import Estimate
from ._consistent import consistent
from ._interval import interval
from ._ratio import ratio
from ._share import share
from ._total import total

__all__ = ["Estimate", "consistent", "interval", "ratio", "share", "total"]
__dir__ = __all__.copy  # dir() and completion show these names alone
