"""Hints for keywords, keys of plans and options of the command line that do not exist.

Users of other libraries try the names of these. A misspelt name gets the nearest one that exists.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from difflib import get_close_matches
from typing import Any, TypeVar

from ..errors import ParameterTypeError

_Function = TypeVar("_Function", bound=Callable[..., Any])

_NO_SEED = (
    "there is no seed, because whoever knows it can repeat the noise (tests in Python may pass "
    "source=testing.seeded_source(...))"
)

#: Keyword names that users of other libraries try, and our names for them, the usual one first.
_OUR_NAMES = {
    "eps": ("epsilon",),
    "loc": ("mu",),
    "mean": ("mu",),
    "location": ("mu",),
    "std": ("sigma",),
    "stddev": ("sigma",),
    "std_dev": ("sigma",),
    "var": ("sigma2", "variance"),
    "scale": ("sigma", "law"),
    "sigma": ("law",),
    "sigma2": ("law",),
    "noise": ("law",),
    "mechanism": ("law", "kind"),
    "n": ("size", "queries"),
    "shape": ("size", "beta"),
    "norm": ("sensitivity",),
    "l1_sensitivity": ("sensitivity",),
    "l2_sensitivity": ("sensitivity",),
    "count": ("queries",),
    "num_queries": ("queries",),
    "steps": ("queries",),
    "rounds": ("queries",),
    "iterations": ("queries",),
    "sample_rate": ("sampling",),
    "sampling_prob": ("sampling",),
    "noise_multiplier": ("sigma",),
    "target_epsilon": ("epsilon",),
    "target_delta": ("delta",),
    "clients": ("most_clients",),
    "max_groups": ("groups_per_person",),
    "groupby": ("by",),
    "group_by": ("by",),
    "col": ("columns", "column"),
    "output": ("out",),
    "overwrite": ("force",),
    "sep": ("delimiter",),
    "n_jobs": ("threads",),
    "person": ("records",),
    "workers": ("threads",),
}
_REPLACED = (
    "neighbours differ by one person, added or removed; double the sensitivity if a person is "
    "replaced, but not for several rounds on a secret sample"
)
_PLAN = (
    "say in a plan who is counted: plan = release.Plan(person, {'t': release.Table(by=...)}, "
    "rho=...), then plan.add_noise({'t': frame}, columns=...), and plan.laws['t'] for the law"
)
_ABOUT = dict.fromkeys(("seed", "rng", "random_state", "generator", "prng", "key"), _NO_SEED)
_ABOUT |= dict.fromkeys(("neighbours", "neighbors", "neighboring_relation"), _REPLACED)
_ABOUT["clients"] = "the noise of n clients together is law.sum(n)"
"""Names of parameters that a function lacks, and why."""


def hint_for(name: str, known: Collection[str]) -> str:
    """Return "; did you mean ...?" about a name that is not among the known ones, or "".

    Examples
    --------
    >>> hint_for("eps", ["epsilon", "delta"]), hint_for("sensitvity", ["sensitivity"])
    ('; did you mean epsilon?', '; did you mean sensitivity?')
    """
    plain = name.lower()
    ours = [one for one in _OUR_NAMES.get(plain, ()) if one in known]
    if not ours and plain in ("person", "by") and "disjoint" in known and "column" not in known:
        return f"; {_PLAN}"  # of values in memory; of a file they are parameters
    if not ours and plain in _ABOUT:
        return f"; {_ABOUT[plain]}"
    ours = ours or get_close_matches(plain, known, 1, 0.7)
    return f"; did you mean {ours[0]}?" if ours else ""


def with_hints(function: _Function) -> _Function:
    """Return the function with hints in its errors about keywords that it does not have."""

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # the function has begun
            known = list(inspect.signature(function).parameters)
            unknown = next((name for name in keywords if name not in known), None)
            if unknown is None:
                raise
        name = function.__qualname__.removesuffix(".__init__")
        raise ParameterTypeError(
            f"{name}() has no parameter {unknown!r}{hint_for(unknown, known)}"
        ) from None

    return call  # type: ignore[return-value]
