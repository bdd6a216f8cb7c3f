"""discretegauss: exact integer noise for differential privacy, in bulk.

>>> import discretegauss as dg
>>> dg.discrete_gaussian(sigma2=100, size=5).shape
(5,)

``Law`` is the type of any of the laws, for annotations: ``def released(law: dg.Law) -> float``.
"""

from . import _start as _start

# isort: split
from . import data, errors, privacy, release, testing, utility
from ._drawing.engines import build_info
from ._version import __version__
from .data import add_noise
from .laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law
from .sampling import (
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    generalized_gaussian,
    geometric_exp,
)

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "GeneralizedGaussian",
    "Law",
    "__version__",
    "add_noise",
    "bernoulli_exp",
    "build_info",
    "data",
    "discrete_gaussian",
    "discrete_laplace",
    "errors",
    "generalized_gaussian",
    "geometric_exp",
    "privacy",
    "release",
    "testing",
    "utility",
]
