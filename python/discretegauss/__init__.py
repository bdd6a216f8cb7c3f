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

from . import _start

# isort: split
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import errors
from ._version import __version__

if TYPE_CHECKING:
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
    )
    from ._drawing.engines import build_info
    from .data import add_noise, noise_for
    from .laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law
    from .paper_names import (
        floorsqrt as floorsqrt,
    )
    from .paper_names import (
        normalizing_constant as normalizing_constant,
    )
    from .paper_names import (
        sample_bernoulli as sample_bernoulli,
    )
    from .paper_names import (
        sample_bernoulli_exp as sample_bernoulli_exp,
    )
    from .paper_names import (
        sample_bernoulli_exp1 as sample_bernoulli_exp1,
    )
    from .paper_names import (
        sample_dgauss as sample_dgauss,
    )
    from .paper_names import (
        sample_dlaplace as sample_dlaplace,
    )
    from .paper_names import (
        sample_geometric_exp_fast as sample_geometric_exp_fast,
    )
    from .paper_names import (
        sample_geometric_exp_slow as sample_geometric_exp_slow,
    )
    from .paper_names import (
        sample_uniform as sample_uniform,
    )
    from .paper_names import (
        variance as variance,
    )
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
    "snapping",
    "spark",
    "testing",
    "uniform_below",
    "utility",
]

_MODULES = {
    "cdp2adp",
    "compat",
    "dask",
    "data",
    "distributed",
    "estimate",
    "lattice",
    "laws",
    "plots",
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
    "noise_for": "data",
    "bernoulli": "sampling",
    "bernoulli_exp": "sampling",
    "build_info": "_drawing.engines",
    "discrete_gaussian": "sampling",
    "discrete_laplace": "sampling",
    "generalized_gaussian": "sampling",
    "geometric_exp": "sampling",
    "uniform_below": "sampling",
}

#: Of the code that was published with the paper, for projects that held a copy of it.
_PAPER_NAMES = {
    "floorsqrt",
    "normalizing_constant",
    "sample_bernoulli",
    "sample_bernoulli_exp",
    "sample_bernoulli_exp1",
    "sample_dgauss",
    "sample_dlaplace",
    "sample_geometric_exp_fast",
    "sample_geometric_exp_slow",
    "sample_uniform",
    "variance",
}


#: What calls of a module would import, if it were not loaded with it.
_AT_CALLS = {"laws": "_law_functions.answers", "data": "privacy"}


def _load(name: str) -> Any:
    """Return what is named for the first time: a module, or what stands in one."""
    if name in _MODULES:
        return _loaded(name)
    if name in _PAPER_NAMES:  # not kept, so that dir() stays ours
        return getattr(_loaded("paper_names"), name)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(_loaded(_HOMES[name]), name))


def _loaded(home: str) -> ModuleType:
    """Import a module, and what its calls would import."""
    module = import_module(f".{home}", __name__)
    for base, rest in _AT_CALLS.items():
        if hasattr(sys.modules.get(f"{__name__}.{base}"), "__all__"):  # its own imports are done
            import_module(f".{rest}", __name__)
    return module


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # a type checker would take any name for one of ours
    __getattr__ = _load

if not _start.IS_THE_PROGRAM:  # which shows its help without numpy
    for _name, _home in _HOMES.items():
        if _home in ("sampling", "_drawing.engines"):
            _load(_name)
