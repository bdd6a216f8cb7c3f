"""discretegauss: exact integer noise for differential privacy, in bulk.

>>> import discretegauss as dg
>>> dg.discrete_gaussian(sigma2=100, size=5).shape
(5,)

``Law`` is the type of all laws, for annotations: ``def released(law: dg.Law) -> float``.
Other modules, ``dg.privacy`` for example, are imported on first use.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import data, errors
from ._drawing.engines import build_info
from ._version import __version__
from .data import add_noise, noise_for
from .laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law, Skellam
from .sampling import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    generalized_gaussian,
    geometric_exp,
    skellam,
    uniform_below,
)

if _TYPE_CHECKING:  # otherwise __getattr__ makes a type checker accept every name
    from . import (
        compat,
        dask,
        distributed,
        estimate,
        lattice,
        plots,
        privacy,
        release,
        selection,
        snapping,
        spark,
        testing,
        utility,
        verify,
    )

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "GeneralizedGaussian",
    "Law",
    "Skellam",
    "__version__",
    "add_noise",
    "bernoulli",
    "bernoulli_exp",
    "build_info",
    "compat",
    "dask",
    "data",
    "discrete_gaussian",
    "discrete_laplace",
    "distributed",
    "errors",
    "estimate",
    "generalized_gaussian",
    "geometric_exp",
    "lattice",
    "noise_for",
    "plots",
    "privacy",
    "release",
    "selection",
    "skellam",
    "snapping",
    "spark",
    "testing",
    "uniform_below",
    "utility",
    "verify",
]


def __getattr__(name: str) -> _Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
