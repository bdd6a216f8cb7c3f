"""What noisy numbers say: between which numbers a count, a total or a ratio lies.

Also tables that add up: `consistent`. All of it is computed from what is released, so that it costs
no privacy, and by the exact laws of the noise, so that the confidence is guaranteed.

Each function takes the containers that `discretegauss.add_noise` takes. No draw is made here.
"""

from ._checks import Estimate
from ._consistent import consistent
from ._interval import interval
from ._ratio import ratio
from ._total import total

__all__ = ["Estimate", "consistent", "interval", "ratio", "total"]
