"""discretegauss: exact integer noise for differential privacy, in bulk.

>>> import discretegauss as dg
>>> dg.discrete_gaussian(sigma2=100, size=5).shape
(5,)

``Law`` is the type of any of the laws, for annotations: ``def released(law: dg.Law) -> float``.

All that draws need is loaded at once, so that no draw imports anything. The laws and the modules,
which compute as well and need gmpy2, are loaded when they are first named: as ``dg.NAME`` or by
``from discretegauss import NAME``. A pickle of a law, and a task of `spark` or `dask`, get past
this: a worker loads what it draws with, and more by a call that asks for more.
"""

# ruff: noqa: F403, F405
import sys as _sys
from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import errors
from ._system.command_line import runs_the_command_line as _runs_the_command_line
from ._version import __version__

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

#: Where what is no module stands; the first two are loaded with the package.
_HOMES = ("sampling", "_drawing.engines", "laws", "data")

#: What calls of a module would import, if it were not loaded with it.
_AT_CALLS = {
    "laws": ("_law_functions.answers", "_law_functions.sum_of_draws", "_drawing.skellam"),
    "data": ("privacy",),
}


def _load(name: str) -> _Any:
    """Return what is named for the first time: a module, or what stands in one."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _find_spec(f"{__name__}.{name}") is not None:
        return _loaded(name)
    for home in _HOMES:
        module = _loaded(home)
        if hasattr(module, name):
            if name == "skellam":  # which needs gmpy2, unlike the others
                _loaded("_drawing.skellam")
            return globals().setdefault(name, getattr(module, name))
    raise AssertionError(name)  # no cover: each name is in one of them


def _loaded(home: str) -> _Any:
    """Import a module, and what its calls would import."""
    module = _import_module(f".{home}", __name__)
    for base, others in _AT_CALLS.items():
        spec = getattr(_sys.modules.get(f"{__name__}.{base}"), "__spec__", None)
        if spec is not None and not spec._initializing:  # its own imports are done
            for other in others:
                _import_module(f".{other}", __name__)
    return module


def __dir__() -> list[str]:
    return sorted(__all__)


if _TYPE_CHECKING:  # a checker would take any name for one of ours
    from . import (
        compat,
        dask,
        data,
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
    from ._drawing.engines import build_info
    from .data import *
    from .laws import *
    from .sampling import *
else:
    __getattr__ = _load


if not _runs_the_command_line():  # another program of its name loads this later
    for _name in _loaded("sampling").__all__:
        if _name != "skellam":
            _load(_name)
    _load("build_info")
