"""Names that other libraries have for what is called otherwise here, or is not here at all."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from ..errors import ParameterTypeError

_F = TypeVar("_F", bound=Callable[..., Any])

_NO_SEED = (
    "there is no seed, as every bit comes from the operating system; "
    "for tests a draw takes source=testing.seeded_source(...)"
)
_BUDGET = (
    "for a budget write law = privacy.calibrate(DiscreteGaussian, epsilon=..., delta=...), "
    "or (rho=...), and draw with law.sample(size)"
)

_CENTRE = "the law has a centre of its own, mu"

#: By the name that was written: what to write instead, if there is a parameter of a name.
_INSTEAD = {
    "seed": {"": _NO_SEED},
    "rng": {"": _NO_SEED},
    "random_state": {"": _NO_SEED},
    "generator": {"": _NO_SEED},
    "eps": {"epsilon": "write epsilon"},
    "sens": {"sensitivity": "write sensitivity"},
    "epsilon": {"size": _BUDGET, "mu": _BUDGET},
    "rho": {"size": _BUDGET, "mu": _BUDGET},
    "loc": {"mu": "write mu", "k": _CENTRE, "q": _CENTRE},
    "shape": {"size": "write size"},
    "scale": {"sigma": "write sigma, or sigma2, its square"},
}


def names_instead(function: _F) -> _F:
    """Have a function say what to write for keywords that it does not have, but others do."""
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    called = re.sub(r"^(_Law|LawFunctions)\.", "law.", function.__qualname__)
    called = called.removesuffix(".__init__")

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except TypeError:
            for name in options:
                for needed, text in _INSTEAD.get(name, {}).items():
                    if name not in own and (not needed or needed in own):
                        raise ParameterTypeError(
                            f"{name} is not a parameter of {called}: {text}"
                        ) from None
            raise

    return call  # type: ignore[return-value]


def explain_keywords(namespace: dict[str, Any]) -> None:
    """Have everything public in a module's namespace do so: functions, classes, their methods."""
    for name in namespace["__all__"]:
        value = namespace[name]
        if isinstance(value, FunctionType) and not hasattr(value, "__wrapped__"):
            home = vars(sys.modules[value.__module__])  # where pickles look for it
            if home[value.__name__] is value:  # it has one name, or this is the first
                home[value.__name__] = names_instead(value)
            namespace[name] = home[value.__name__]
        elif isinstance(value, type) and value.__module__.startswith("discretegauss."):
            explain_methods(value)


def explain_methods(kind: type) -> None:
    """Have the public methods that a class has itself do so, and its __init__."""
    for name, method in list(vars(kind).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(method, FunctionType) and not hasattr(method, "__wrapped__"):
            setattr(kind, name, names_instead(method))
        elif isinstance(method, classmethod) and not hasattr(method.__func__, "__wrapped__"):
            setattr(kind, name, classmethod(names_instead(method.__func__)))
