"""discretegauss: exact integer noise for differential privacy, in bulk.

>>> import discretegauss as dg
>>> dg.discrete_gaussian(sigma2=100, size=5).shape
(5,)

``Law`` is the type of any of the laws, for annotations: ``def released(law: dg.Law) -> float``.

All that draws need is loaded at once, so that no draw imports anything. The laws and the modules,
which compute as well and need gmpy2, are loaded when they are first named.
"""

from . import _start

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import errors
from ._version import __version__

if TYPE_CHECKING:
    from . import (
        dask,
        data,
        distributed,
        lattice,
        privacy,
        release,
        selection,
        snapping,
        spark,
        testing,
        utility,
    )
    from ._drawing.engines import build_info
    from .data import add_noise
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
    "add_noise",
    "bernoulli",
    "bernoulli_exp",
    "build_info",
    "dask",
    "data",
    "discrete_gaussian",
    "discrete_laplace",
    "distributed",
    "errors",
    "generalized_gaussian",
    "geometric_exp",
    "lattice",
    "privacy",
    "release",
    "selection",
    "snapping",
    "spark",
    "testing",
    "uniform_below",
    "utility",
]

_MODULES = {
    "dask",
    "data",
    "distributed",
    "lattice",
    "laws",
    "privacy",
    "reference",
    "release",
    "sampling",
    "selection",
    "snapping",
    "spark",
    "testing",
    "utility",
}

_HOMES = {
    "DiscreteGaussian": "laws",
    "DiscreteLaplace": "laws",
    "GeneralizedGaussian": "laws",
    "Law": "laws",
    "add_noise": "data",
    "bernoulli": "sampling",
    "bernoulli_exp": "sampling",
    "build_info": "_drawing.engines",
    "discrete_gaussian": "sampling",
    "discrete_laplace": "sampling",
    "generalized_gaussian": "sampling",
    "geometric_exp": "sampling",
    "uniform_below": "sampling",
}


def _load(name: str) -> Any:
    """Return what is named for the first time: a module, or what stands in one."""
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # a type checker would take any name for one of ours
    __getattr__ = _load

if not _start.IS_THE_PROGRAM:  # which shows its help without numpy
    for _name, _home in _HOMES.items():
        if _home in ("sampling", "_drawing.engines"):
            _load(_name)
