"""Names that other libraries have for what is called otherwise here, or is not here at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..errors import ParameterTypeError

_F = TypeVar("_F", bound=Callable[..., Any])

_NO_SEED = (
    "there is no seed, as every bit comes from the operating system; "
    "for tests write source=testing.seeded_source(...)"
)
_BUDGET = (
    "for a budget write law = privacy.calibrate_gaussian(epsilon=..., delta=...), "
    "or (rho=...), and draw with law.sample(size)"
)

#: What to write instead, by the name that was written; and the parameter that must be there for it.
_INSTEAD = {
    "epsilon": (None, _BUDGET),
    "rho": (None, _BUDGET),
    "seed": (None, _NO_SEED),
    "rng": (None, _NO_SEED),
    "random_state": (None, _NO_SEED),
    "loc": ("mu", "write mu"),
    "shape": ("size", "write size"),
    "scale": ("sigma", "write sigma, or sigma2, its square"),
}


def names_instead(function: _F) -> _F:
    """Have a function say what to write for keywords that it does not have, but others do."""
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    instead = {
        name: text
        for name, (needed, text) in _INSTEAD.items()
        if name not in own and (needed is None or needed in own)
    }
    called = function.__qualname__.removesuffix(".__init__").removeprefix("_Law.")
    has_none_of = frozenset(instead).isdisjoint

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        if not has_none_of(options):
            name = next(name for name in options if name in instead)
            raise ParameterTypeError(f"{name} is no parameter of {called}: {instead[name]}")
        return function(*arguments, **options)

    return call  # type: ignore[return-value]
