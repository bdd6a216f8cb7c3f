"""Libraries that record what is called, and replay it: a recorded draw repeats its noise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ..errors import ParameterTypeError

__all__ = ["outside_of_graphs", "refuse_recorded"]

_Call = TypeVar("_Call", bound=Callable[..., Any])

_RECORDED = (
    "noise must not be drawn while torch records a graph, because replays would repeat it; draw "
    "outside of torch.jit.trace, torch.export, torch.fx and make_fx, and of custom operators there"
)
_MAPPED = (
    "noise must not be drawn within torch.vmap, because all parts of a batch would get the same; "
    "draw for the whole batch outside of it"
)
_UNKNOWN = (
    "noise must not be drawn while torch may record a graph, and this version of torch does not "
    "say whether it does; draw in a process without torch, or with a version that "
    "docs/elsewhere/gpu.md names"
)


def outside_of_graphs(call: _Call) -> _Call:
    """Return the call such that `torch.compile` runs it each time, and makes no graph of it."""

    @wraps(call)
    def run(*arguments: Any, **options: Any) -> Any:
        dynamo: Any = sys.modules.get("torch._dynamo")
        if dynamo is None:
            return call(*arguments, **options)
        return dynamo.disable(call)(*arguments, **options)

    return cast(_Call, run)


def refuse_recorded() -> None:
    """Raise an error if torch is loaded, and this thread's calls are recorded or mapped.

    A part of torch that is not loaded does not record. make_fx and torch.export trace, too, by the
    Tracer of torch.fx.
    """
    jit: Any = sys.modules.get("torch.jit")
    symbolic: Any = sys.modules.get("torch.fx._symbolic_trace")
    functions: Any = sys.modules.get("torch._C._functorch")
    try:
        is_traced = symbolic and symbolic._is_fx_tracing_flag and _calls(symbolic.Tracer)
        if is_traced or (jit and jit.is_tracing()):
            raise ParameterTypeError(_RECORDED)
        transforms = functions.get_interpreter_stack() if functions else None
        if transforms and functions.TransformType.Vmap in (one.key() for one in transforms):
            raise ParameterTypeError(_MAPPED)
    except AttributeError:
        spec = getattr(sys.modules.get("torch"), "__spec__", None)
        if not getattr(spec, "_initializing", False):  # else another thread imports it
            raise ParameterTypeError(_UNKNOWN) from None


def _calls(tracer: Any) -> bool:
    """Return whether this thread is within `Tracer.trace`: its flag is that of all threads."""
    frame = sys._getframe()
    while frame := cast(Any, frame.f_back):
        if frame.f_code is tracer.trace.__code__:
            return True
    return False
