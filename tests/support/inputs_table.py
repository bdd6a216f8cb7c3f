"""The table of inputs: every public parameter, which values it takes, and values to try on it.

A new public function or class needs a line in CALLS (how to call it rightly). A parameter of a new
name needs one in RULES (what it takes). tests/inputs/test_every_parameter.py fails until they are
there, and then tries VALUES on every parameter.
"""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from math import inf
from types import ModuleType
from typing import Any, NamedTuple

import gmpy2
import numpy as np

import discretegauss as dg
from discretegauss import release
from discretegauss.testing import TapeSource

MODULES: list[ModuleType] = [
    dg,
    dg.privacy,
    dg.selection,
    dg.snapping,
    dg.distributed,
    dg.testing,
    dg.utility,
    release,
]
"""The modules whose __all__ lists the public names."""

NO_PARAMETERS = {
    *("build_info", "__version__", "Counts", "PlanRelease", "Release", "PrivacyLoss"),
    *("data", "errors", "lattice", "privacy", "release", "selection", "snapping", "testing"),
    *("distributed", "utility", "spark", "compat", "plots", "verify", "estimate"),
}
"""Names of __all__ that take none; a Release is made by release_table, a PrivacyLoss by
constructors of its own (tests/privacy/test_privacy_loss.py). Classes of errors and of warnings are
not called either."""


# --- values ---


class Value(NamedTuple):
    """A value to try. exact: the number that it stands for, if any; sort: its kind otherwise."""

    value: Any
    exact: Fraction | None = None
    sort: str = "number"


def _number(value: Any, exact: Any) -> Value:
    return Value(value, Fraction(exact))


VALUES: dict[str, Value] = {
    "0": _number(0, 0),
    "-0.0": _number(-0.0, 0),
    "1": _number(1, 1),
    "-1": _number(-1, -1),
    "-0.5": _number(-0.5, "-1/2"),
    "0.1": _number(0.1, 0.1),
    "5e-324": _number(5e-324, 5e-324),
    "1e308": _number(1e308, 1e308),
    "2**4000": _number(2**4000, 2**4000),
    "-2**4000": _number(-(2**4000), -(2**4000)),
    "2**70000": Value(2**70000, None, "too long"),
    "Fraction": _number(Fraction(1, 3), "1/3"),
    "Decimal": _number(Decimal("0.25"), "1/4"),
    "'1/3'": Value("1/3", Fraction(1, 3), "text"),
    "int8": _number(np.int8(-3), -3),
    "uint64": _number(np.uint64(2**64 - 1), 2**64 - 1),
    "float32": _number(np.float32(0.5), "1/2"),
    "float64": _number(np.float64(1.5), "3/2"),
    "longdouble": _number(np.longdouble(0.5), "1/2"),
    "array of no axes": _number(np.array(2), 2),
    "mpz": _number(gmpy2.mpz(3), 3),
    "mpq": _number(gmpy2.mpq(2, 3), "2/3"),
    "mpfr": _number(gmpy2.mpfr(0.25), "1/4"),
    "nan": Value(float("nan"), None, "not finite"),
    "inf": Value(float("inf"), None, "not finite"),
    "-inf": Value(np.float32("-inf"), None, "not finite"),
    "Decimal nan": Value(Decimal("NaN"), None, "not finite"),
    "Decimal signalling nan": Value(Decimal("sNaN"), None, "not finite"),
    "mpfr nan": Value(gmpy2.mpfr("nan"), None, "not finite"),
    "''": Value("", None, "no text for a number"),
    "'one'": Value("one", None, "no text for a number"),
    "'1_0'": Value("1_0", None, "no text for a number"),
    "'\u0661'": Value("\u0661", None, "no text for a number"),
    "True": Value(True, None, "no number"),
    "bool_": Value(np.True_, None, "no number"),
    "bytes": Value(b"1", None, "no number"),
    "None": Value(None, None, "no number"),
    "1j": Value(1j, None, "no number"),
    "object": Value(object(), None, "no number"),
    "dict": Value({}, None, "no number"),
    "list": Value([1, 2], None, "array"),
    "empty list": Value([], None, "array"),
    "array": Value(np.array([1, 2]), None, "array"),
    "empty array": Value(np.array([]), None, "array"),
    "array of texts": Value(np.array(["a", "b"]), None, "array of no numbers"),
    "array of bool": Value(np.array([True]), None, "array of no numbers"),
}


# --- what parameters take ---


def is_far(x: Fraction) -> bool:
    return x != 0 and not Fraction(1, 2**200) < abs(x) < 2**200


class Rule(NamedTuple):
    """Which numbers a parameter takes, and whether arrays, NaN and infinities, too.

    near: a number beyond 2**200, or closer to 0 than 2**-200, may raise an OverflowError.
    """

    holds: Callable[[Fraction], bool]
    arrays: bool = False
    near: bool = False
    infinite: bool = False

    def takes(self, given: Value) -> bool | None:
        """Return whether a call with the value must succeed, or None if it may."""
        if given.exact is not None:
            if self.near and is_far(given.exact) and self.holds(given.exact):
                return None
            return self.holds(given.exact)
        if given.sort == "not finite":
            return self.infinite
        return self.arrays and given.sort == "array"


class Other(NamedTuple):
    """A parameter of another kind. `takes` returns whether a call succeeds, or None if it may."""

    takes: Callable[[Value], bool | None]


def _whole(least: int, most: float) -> Other:
    """Return the rule for numbers of an integer type in a range."""
    types = (int, np.integer, type(gmpy2.mpz()))
    return Other(
        lambda given: bool(
            isinstance(given.value, types)
            and not isinstance(given.value, bool)
            and bool(least <= given.value <= most)
        )
    )


def _one_up(given: Value) -> bool | None:
    if _whole(1, 100).takes(given):
        return True
    return None if _whole(1, inf).takes(given) else False


def _is_length(given: Value) -> bool:
    return bool(_whole(0, 2**40).takes(given))


def _size(given: Value) -> bool:
    value = given.value
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu" and value.ndim < 2
    return value is None or isinstance(value, list) or _is_length(given)


def _dtype(given: Value) -> bool | None:
    """Return None for an integer of numpy, whose type may hold the law or not."""
    return None if isinstance(given.value, np.integer) else False


def _share(given: Value) -> bool:
    """Return whether it is from 0 to 1, or an array; those in VALUES are above 1 or empty."""
    if given.exact is not None:
        return 0 <= given.exact <= 1
    return given.sort == "array" and len(given.value) == 0


def _or_none(rule: Rule | Other) -> Other:
    return Other(lambda given: given.value is None or rule.takes(given))


def _array_of(dtype: Any) -> Other:
    return _or_none(
        Other(lambda given: isinstance(given.value, np.ndarray) and given.value.dtype == dtype)
    )


positive, any_number = Rule(lambda x: x > 0), Rule(lambda x: True)
at_least_1 = Rule(lambda x: x >= 1)
not_negative, probability = Rule(lambda x: x >= 0), Rule(lambda x: 0 < x < 1)
_whole_number = Rule(lambda x: x > 0 and x.denominator == 1, near=True)
_point = Rule(lambda x: True, arrays=True, infinite=True)
_none = Other(lambda given: False)
_bytes = Other(lambda given: isinstance(given.value, bytes))
_no_value = Other(lambda given: given.value is None)
_flag = Other(lambda given: isinstance(given.value, bool))

_candidates = Other(lambda given: given.sort == "array" and len(given.value) > 0)


def _double(least: float, most: float) -> Other:
    """Return the rule for numbers in a range that doubles hold exactly."""
    return Other(
        lambda given: (
            given.exact is not None
            and least <= given.exact <= most
            and Fraction(float(given.exact)) == given.exact
        )
    )


def _values(given: Value) -> bool | None:
    """Return whether it is a double, text that means one, an infinity, or an array."""
    if given.exact is not None:
        return abs(given.exact) < 2**1024 - 2**970 and Fraction(float(given.exact)) == given.exact
    if given.sort == "not finite":
        return "inf" in repr(given.value)
    return given.sort == "array"


def _power_of_two(given: Value) -> bool:
    """Return whether it is a power of two, from 8/2**53 so that multiples up to 8 are doubles."""
    if given.value is None:
        return True
    x = given.exact
    return x is not None and 2**-50 <= x < 2**64 and Fraction(2) ** round(math.log2(x)) == x


#: The grid, whose multiples must be doubles, follows from these.
_scales = Other(
    lambda given: (
        given.exact is not None and given.exact > 0 and (2**-40 < given.exact < 2**40 or None)
    )
)

SNAPPED = ("snapping_laplace", "SnappedLaplace", "snapping_accuracy")
SELECTIONS = ("permute_and_flip", "exponential")
KEEPS = ("keep_groups", "keep_rule")

RULES: dict[str, Rule | Other] = {
    "sigma2": positive,
    "sigma": positive,
    "scale": positive,
    "gamma": positive,
    "mu": any_number,
    "beta": Rule(lambda x: x >= 1),
    "size": Other(_size),
    "dtype": Other(_dtype),
    "out": _array_of(np.int64),
    "method": _none,
    "source": _none,
    "threads": _whole(1, inf),
    "rho": not_negative,
    "epsilon": not_negative,
    "delta": probability,
    "sensitivity": positive,
    "law": _none,
    "queries": Other(lambda given: None if given.sort == "too long" else _one_up(given)),
    "parts": Rule(lambda x: x >= 0),
    "order": Rule(lambda x: x > 1),
    "divergence": not_negative,
    "k": _point,
    "q": _point,
    "confidence": Other(_share),
    "seed": _whole(0, inf),
    "tape": _bytes,
    "p": Other(_share),
    "value": Other(lambda given: given.sort != "array" and _values(given)),
    "values": Other(_values),
    "bound": _double(5e-324, 2.0**53),
    "grid": Other(_power_of_two),
    "lower": _no_value,
    "upper": _no_value,
    "alpha": probability,
    "largest": not_negative,
    "n": Rule(lambda x: x > 0 and x.denominator == 1),
    "scores": _candidates,
    "votes": _candidates,
    "monotone": Other(lambda given: True),
    "variance": positive._replace(near=True),
    "most_clients": _whole(1, 2**64 - 1),
    "dimension": _whole(1, 2**64 - 1),
    "sum_norm": _or_none(at_least_1),
    "norm": Rule(lambda x: x > 0, near=True),
    "retry": _or_none(Other(lambda given: given.exact is not None and 0 <= given.exact < 1)),
    "modulus": _whole(2, inf),
    "groups_per_person": _whole(1, 10**4),
    "clients": _whole(1, 2**64 - 1),
    "sampling": Rule(lambda x: 0 < x <= 1),
    "secret_sample": _flag,
    "kind": _none,
    "budget": _no_value,
    "person": _none,
    "records": _whole(1, 2**64 - 1),
    "per_cell": _whole(1, 2**64 - 1),
    "neighbours": _none,
    "tables": _none,
    "counts": _none,
}
"""The rules by the parameter's name, whatever has it. BUT has the exceptions."""

OF_A_BUDGET = ("calibrate", "Budget", "add_noise", "release_table", "Plan")
"""They take rho, which CALLS gives them, or epsilon."""

BUT: dict[tuple[str, str], Rule | Other] = {
    **{(name, "rho"): positive for name in OF_A_BUDGET},
    **{(name, part): _no_value for name in OF_A_BUDGET for part in ("epsilon", "delta")},
    ("bernoulli_exp", "gamma"): not_negative,
    ("bernoulli_exp", "out"): _array_of(np.bool_),
    ("bernoulli", "out"): _array_of(np.bool_),
    **{(name, "epsilon"): positive for name in SELECTIONS},
    **{(name, "epsilon"): positive._replace(near=True) for name in KEEPS},
    **{(name, "delta"): Rule(lambda x: 0 < x < Fraction(1, 4)) for name in KEEPS},
    ("keep_groups", "columns"): _no_value,  # of a dict
    ("TruncatedLaplace", "largest"): _whole(1, 2**54),
    **{(name, "epsilon"): positive for name in ("exponential_rho", "permute_and_flip_rho")},
    ("noisy_max_epsilon", "sensitivity"): Rule(lambda x: x > 0 and x.denominator == 1),
    **{(name, part): _scales for name in SNAPPED for part in ("epsilon", "sensitivity")},
    ("snapping_laplace", "out"): _no_value,
    ("snapping_bound", "epsilon"): positive,
    ("snapping_bound", "gamma"): probability,
    **{("calibrate", name): _no_value for name in ("error", "confidence", "beta")},
    **{(name, "sampling"): Other(lambda given: given.exact == 1) for name in ("calibrate", "rho")},
    **{(name, "sensitivity"): at_least_1 for name in ("calibrate", "add_noise")},
    ("Skellam", "variance"): positive._replace(near=True),
    ("calibrate", "clients"): _or_none(_whole(1, 2**64 - 1)),
    ("loss", "sensitivity"): Rule(lambda x: x > 0 and x.denominator == 1, near=True),
    ("loss", "sampling"): Rule(lambda x: 0 < x <= 1, near=True),
    ("loss", "most"): _whole(16, 2**32),
    ("loss", "width"): Other(lambda given: given.value is None or None),
    ("renyi", "sensitivity"): _whole_number,
    ("renyi", "norm"): Other(lambda given: given.value is None or None),
    **{(name, "epsilon"): not_negative._replace(near=True) for name in ("delta", "log_delta")},
    ("epsilon", "delta"): probability._replace(near=True),
    **{(name, "sensitivity"): _whole_number for name in ("delta", "log_delta", "epsilon")},
    ("add_noise", "rows_per_person"): _whole(1, 1),  # as many as there are
    ("add_noise", "disjoint"): _flag,
    ("add_noise", "overflow"): _none,
    ("add_noise", "modulus"): _or_none(_whole(2, inf)),
    ("add_noise", "integral_floats"): _flag,
    ("compare_noise", "sigma2"): positive._replace(near=True),
    ("compare_queries", "delta"): probability._replace(near=True),
    ("continuous_gaussian_sf", "x"): any_number._replace(near=True),
    ("rounded_gaussian_pmf", "k"): any_number._replace(near=True),
    ("rounded_gaussian_sf", "k"): any_number._replace(near=True),
    ("stream", "total"): _whole(0, inf),
    ("stream", "chunk"): _whole(1, inf),
    ("distributed.least_modulus", "largest"): positive._replace(near=True),
    ("distributed.least_modulus", "failure"): probability,
    ("distributed.round_conditionally", "norm"): Rule(lambda x: 1 <= x <= 2**24, near=True),
    ("Rotation", "dimension"): Other(_one_up),
    ("SecureSum", "dimension"): Other(_one_up),
    ("SecureSum", "clip"): positive._replace(near=True),
    ("SecureSum", "steps"): Rule(lambda x: 2**-24 <= x <= 2**24),
    ("SecureSum", "wrap"): _flag,
    ("SecureSum", "fewest_clients"): _whole(1, 9),
    ("SecureSum", "modulus"): Other(
        lambda given: given.value is None or (None if _whole(2, inf).takes(given) else False)
    ),
    ("Skellam.sum_of", "clients"): Other(
        lambda given: None if _whole(1, inf).takes(given) else False
    ),
    ("release_table", "report_delta"): _or_none(probability),
    ("release_table", "sensitivity"): Rule(lambda x: 1 <= x < 10**600),  # noise of 600 digits
    ("release_table", "rows_per_person"): _whole(1, 2),
    ("release_table", "delimiter"): _no_value,
    ("Plan", "report_delta"): _or_none(probability),
    ("Table", "share"): _or_none(positive),
    # with rho, and of a list
    **{("add_noise", name): _no_value for name in ("law", "columns", "out")},
}

SAID_AS: dict[tuple[str, str], set[str]] = {
    ("compose", "parts"): {"rho"},
    ("calibrate", "queries"): {"sigma2"},  # which follows, and is too long
    ("release_table", "rows_per_person"): {"queries", "sigma2"},  # which are too many for a report
    ("compare_noise", "sigma2"): {"rho"},  # which follows
    ("compare_queries", "epsilon"): {"delta"},
    **{(name, part): {"grid"} for name in SNAPPED for part in ("epsilon", "sensitivity", "bound")},
}
"""Other names that a message may give instead of the parameter's."""

SLOW: dict[tuple[str, str], set[str]] = {("compare_queries", "queries"): {"uint64"}}
"""Valid values that take half a minute, and are not tried."""

AT_K = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")
MOMENTS = ("mean", "var", "std", "entropy")

_ACCOUNTING = "needs dp-accounting: tests/privacy/test_accounting.py"
SKIPPED: dict[tuple[str, str], str] = {
    **{
        (name, part): _ACCOUNTING for name in ("pld", "dp_event") for part in ("law", "sensitivity")
    },
    ("pld", "value_discretization_interval"): _ACCOUNTING,
    ("pld", "log_mass_truncation_bound"): _ACCOUNTING,
    ("keep_groups", "counts"): "integers of any kind: tests/selection/test_keep_groups.py",
    ("add_noise", "values"): "integers of any kind: tests/data",
    **{
        ("noise_for", name): "as add_noise, which decides so, too: tests/data/test_arrays.py"
        for name in (
            *("values", "law", "rho", "epsilon", "delta", "sensitivity", "rows_per_person"),
            *("columns", "disjoint", "integral_floats"),
        )
    },
    **dict.fromkeys(
        (
            *(("distributed.total", "messages"), ("distributed.round_conditionally", "values")),
            *(("Rotation.apply", "vectors"), ("Rotation.undo", "vectors")),
            *(("SecureSum.message", "vector"), ("SecureSum.total", "messages")),
        ),
        "vectors and integers of any kind: tests/distributed",
    ),
    ("SecureSum.total", "clients"): "only with a sum: tests/distributed",
    ("rho", "sensitivity"): "a number or a sequence: tests/privacy/test_budget.py",
    ("release_table", "integral_floats"): "a bool: tests/release/test_integral_floats.py",
    **{
        ("release_table", name): "a path, a name or a bool: tests/release/test_release.py"
        for name in ("table", "out", "column", "force", "disjoint", "progress", "plot", "ledger")
    },
    **{
        ("release_table", name): "a statement: tests/release/test_person_plans.py"
        for name in ("person", "by", "across")
    },
    ("Person", "distinct"): "names: tests/release/test_person.py",
    ("Person", "id"): "a name: tests/release/test_count.py",
    **{
        ("Table", name): "names, or two integers: tests/release/test_person_plans.py"
        for name in ("by", "columns", "across", "values")
    },
    ("Table", "unknown"): "a bool: tests/release/test_unknown_tables.py",
    **{
        ("Plan.count", name): "people: tests/release/test_count.py"
        for name in ("people", "categories", "consistent", "confidence", "source", "ledger")
    },
    **{
        ("Plan.add_noise", name): "frames: tests/release/test_person_plans.py"
        for name in ("frames", "columns", "integral_floats", "ledger", "source")
    },
    **{
        (call, name): "a release: tests/privacy/test_ledger.py"
        for call, names in {
            "Ledger": ("path",),
            "Ledger.line_of": ("hash_start",),
            "Ledger.spend": ("rho", "epsilon", "delta", "what", "neighbours"),
        }.items()
        for name in names
    },
    **{
        (name, part): "states and days: tests/release/test_running.py"
        for name, parts in {
            "Running": ("path",),
            "Running.add": ("counts", "day", "source"),
            "Running.published": ("day",),
            "Running.deviation": ("steps", "window"),
            "Running.interval": ("confidence", "window"),
            "Running.epsilon": ("delta",),
        }.items()
        for part in parts
    },
    ("stream", "progress"): "a bool: tests/drawing/test_stream.py",
    **{(name, "bounds"): "any truth value" for name in (*AT_K, *MOMENTS, "bias")},
    **{(name, "monotone"): "any truth value" for name in (*SELECTIONS, "noisy_max_epsilon")},
    ("release_table", "source"): "handed on to discrete_gaussian, after the table is read",
    **{
        ("release_plan", name): "as release_table: tests/release/test_plan.py"
        for name in ("path", "force", "plot", "consistent", "ledger", "progress", "source")
    },
}

ARRAYS = {"discrete_gaussian", "discrete_laplace", "generalized_gaussian"}
ARRAYS |= {"geometric_exp", "bernoulli_exp", "bernoulli", "uniform_below", "skellam"}
"""Functions whose first parameters, mu and beta may be arrays."""


# --- how to call what is public ---


def tape(n_bytes: int = 400_000) -> TapeSource:
    return TapeSource(random.Random(7).randbytes(n_bytes))


_SKELLAM = dg.Skellam(3)

CALLS: dict[str, dict[str, Any]] = {
    "Skellam": {"variance": 3},
    "Rotation": {"dimension": 3},
    "SecureSum": {"dimension": 1, "clip": 1, "steps": 8, "law": _SKELLAM, "most_clients": 9}
    | {"fewest_clients": 1},
    "Rotation.apply": {"vectors": [1.0, 2.0, 3.0]},
    "Rotation.undo": {"vectors": [1, 2, 3, 4]},
    "SecureSum.message": {"vector": [0.5]},
    "SecureSum.total": {"messages": [[1], [2]]},
    "distributed.total": {"messages": [[1], [2]], "modulus": 64},
    "distributed.rounded_norm": {"norm": 3, "dimension": 4},
    "distributed.round_conditionally": {"values": [0.5, -0.5], "norm": 1},
    "distributed.least_modulus": {"law": _SKELLAM, "most_clients": 9, "largest": 3},
    "discrete_gaussian": {"sigma2": 3},
    "discrete_laplace": {"scale": 3},
    "skellam": {"variance": 3},
    "generalized_gaussian": {"scale": 3, "beta": "3/2"},
    "geometric_exp": {"gamma": 1},
    "bernoulli_exp": {"gamma": 1},
    "bernoulli": {"p": "1/3"},
    "uniform_below": {"n": 3},
    **{name: {"scores": [1, 2, 4], "epsilon": 1} for name in SELECTIONS},
    "report_noisy_max": {"votes": [1, 2, 4], "law": dg.DiscreteLaplace(3)},
    "keep_groups": {"counts": {"a": 3}, "epsilon": 1, "delta": "1e-6"},
    "keep_rule": {"epsilon": 1, "delta": "1e-6"},
    "TruncatedLaplace": {"scale": 3, "largest": 5},
    "noisy_max_epsilon": {"law": dg.DiscreteLaplace(3)},
    **{name: {"epsilon": 1, "bound": 8} for name in SNAPPED},
    "snapping_laplace": {"values": 1, "epsilon": 1, "bound": 8},
    "SnappedLaplace": {"value": 1, "epsilon": 1, "bound": 8},
    "snapping_accuracy": {"epsilon": 1, "bound": 8, "alpha": "1/20"},
    "snapping_bound": {"largest": 8, "epsilon": 1, "gamma": "1/20"},
    "bias": {},
    "error_quantile": {"alpha": "1/20"},
    "exponential_rho": {"epsilon": 1},
    "permute_and_flip_rho": {"epsilon": 1},
    "DiscreteGaussian": {"sigma2": 3},
    "DiscreteLaplace": {"scale": 3},
    "GeneralizedGaussian": {"scale": 3, "beta": "3/2"},
    "zcdp_delta": {"rho": "1/10", "epsilon": 1},
    "zcdp_epsilon": {"rho": "1/10", "delta": "1/1000"},
    "zcdp_rho": {"epsilon": 1, "delta": "1/1000"},
    "zcdp_delta_standard": {"rho": "1/10", "epsilon": 1},
    "Budget": {"rho": "1/10"},
    "calibrate": {"kind": dg.DiscreteGaussian, "rho": "1/10"},
    "loss": {"law": dg.DiscreteGaussian(100)},
    "add_noise": {"values": [3], "rho": "1/10"},
    "noise_for": {"values": [3], "rho": "1/10"},
    "compose": {},
    "rho": {"law": dg.DiscreteGaussian(100)},
    "delta": {"law": dg.DiscreteGaussian(100), "epsilon": 1},
    "log_delta": {"law": dg.DiscreteGaussian(100), "epsilon": 1},
    "epsilon": {"law": dg.DiscreteGaussian(100), "delta": "1/1000"},
    "renyi": {"law": dg.DiscreteGaussian(100), "order": 2},
    "renyi_delta": {"divergence": 1, "order": 2, "epsilon": 1},
    "pld": {"law": dg.DiscreteGaussian(100)},
    "dp_event": {"law": dg.DiscreteGaussian(100)},
    "compare_noise": {"sigma2": 3},
    "compare_queries": {"epsilon": 1, "delta": "1/1000", "queries": 2},
    "continuous_gaussian_sf": {"sigma2": 3, "x": 1},
    "continuous_gaussian_delta": {"sigma2": 3, "epsilon": 1},
    "rounded_gaussian_pmf": {"sigma2": 3, "k": 1},
    "rounded_gaussian_sf": {"sigma2": 3, "k": 1},
    "rounded_gaussian_variance": {"sigma2": 3},
    "TapeSource": {"tape": b"1"},
    "seeded_source": {"seed": 1},
    "release_table": {"rho": "1/10"},  # and files of the test
    "release_plan": {},
    "Person": {"records": 3, "distinct": "town"},
    "Table": {"by": "town"},
    "Plan": {
        "person": release.Person(3, "town"),
        "tables": {"towns": release.Table("town")},
        "rho": "1/10",
    },
    "Plan.add_noise": {},
    "Plan.count": {},
    "Running": {},
    **{f"Running.{name}": {} for name in ("add", "published", "deviation", "interval", "epsilon")},
    "Ledger": {},
    "Ledger.line_of": {},
    "Ledger.refresh": {},
    "Ledger.spend": {},
    "sample": {},  # of each law
    "rvs": {},
    "sum": {"clients": 3},
    "stream": {"total": 3},
    **{name: {"k": 3} for name in AT_K},
    **{name: {} for name in MOMENTS},
    "tail_bound": {"k": 3},
    "ppf": {"q": "1/3"},
    "isf": {"q": "1/3"},
    "median": {},
    "support": {},
    "interval": {"confidence": "1/3"},
    "as_scipy": {},
}
"""Arguments of a right call, without the optional ones."""


class Public(NamedTuple):
    """A public callable and the class that it belongs to."""

    name: str
    function: Callable[..., Any]
    owner: type | None


def _not_called(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, Exception)


def everything_public() -> Iterator[Public]:
    """Generate the functions, classes and public methods of the package."""
    for module in MODULES:
        # the names of `distributed` are those of `privacy`, too
        prefix = "distributed." if module is dg.distributed else ""
        for name in module.__all__:
            found = getattr(module, name)
            if name in NO_PARAMETERS or _not_called(found) or not callable(found):
                continue
            yield Public(name if isinstance(found, type) else prefix + name, found, None)
            if isinstance(found, type):
                own = found in (release.Plan, release.Running, dg.privacy.Ledger)
                prefix_of_methods = f"{name}." if prefix or own else ""
                for method, function in inspect.getmembers(found, _is_method):
                    if not method.startswith("_"):
                        yield Public(prefix_of_methods + method, function, found)


def _is_method(found: object) -> bool:
    """Return whether it is a method of Python, or a built-in one, as `sample` is."""
    return inspect.isfunction(found) or (
        inspect.ismethoddescriptor(found) and hasattr(found, "__text_signature__")
    )


def parameters(of: Public) -> list[str]:
    """Return the names of its parameters, without self."""
    names = list(inspect.signature(of.function).parameters)
    return names[1:] if of.owner is not None else names


def rule_for(of: Public, name: str) -> Rule | Other:
    """Return the rule of a parameter."""
    rule = BUT.get((of.name, name), RULES.get(name))
    if rule is None:
        raise LookupError(f"{of.name} has a parameter {name} that RULES does not know")
    if isinstance(rule, Rule) and of.name in ARRAYS:
        return rule._replace(arrays=True)
    return rule
