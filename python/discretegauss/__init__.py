"""discretegauss: exact integer noise for differential privacy, in bulk.

>>> import discretegauss as dg
>>> dg.discrete_gaussian(sigma2=100, size=5).shape
(5,)

``Law`` is the type of any of the laws, for annotations: ``def released(law: dg.Law) -> float``.
"""

from . import _start as _start

# isort: split
from . import errors, privacy, release, selection, snapping, testing, utility
from ._drawing.engines import build_info
from ._version import __version__
from .laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law
from .sampling import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    generalized_gaussian,
    geometric_exp,
    uniform_below,
)

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "GeneralizedGaussian",
    "Law",
    "__version__",
    "bernoulli",
    "bernoulli_exp",
    "build_info",
    "discrete_gaussian",
    "discrete_laplace",
    "errors",
    "generalized_gaussian",
    "geometric_exp",
    "privacy",
    "release",
    "selection",
    "snapping",
    "testing",
    "uniform_below",
    "utility",
]
