"""discretegauss: exact integer noise for differential privacy, in bulk.

>>> import discretegauss as dg
>>> dg.discrete_gaussian(sigma2=100, size=5).shape
(5,)

Ten things that one looks for::

    add_noise                          noise on an array, a column or a table
    noise_for                          the law of that noise, for error bars
    discrete_gaussian                  draws alone; also discrete_laplace, skellam
    DiscreteGaussian                   a law: probabilities, quantiles, draws
    privacy.Budget                     a budget, which other functions take
    privacy.calibrate                  the noise that a budget asks for
    privacy.epsilon                    what noise costs; also delta, rho
    estimate.interval                  how far off a noisy count is; also total, share
    release.Plan                       several tables under one budget
    selection.keep_groups              the groups of a table that nobody knew before

``Law`` is the type of all laws, for annotations: ``def released(law: dg.Law) -> float``.
Other modules, ``dg.privacy`` for example, are imported on first use.
"""

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from . import (
        compat,
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
__dir__ = __all__.copy  # dir() and completion show these names alone

if not TYPE_CHECKING:  # a type checker that sees __getattr__ accepts every name

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return import_module(f".{name}", __name__)
