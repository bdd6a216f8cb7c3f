"""What a user can name: each name in one place, at most 95 in all, and each says what to write."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import discretegauss

dg: Any = discretegauss  # which takes keywords that checkers know to be wrong

#: Modules and what is in them. The paper's names, which are not ours, are in `compat` beside these.
PUBLIC = {
    "": (
        "DiscreteGaussian DiscreteLaplace GeneralizedGaussian Skellam Law add_noise bernoulli "
        "bernoulli_exp build_info discrete_gaussian discrete_laplace generalized_gaussian "
        "geometric_exp noise_for skellam uniform_below"
    ),
    "privacy": (
        "Budget PrivacyLoss calibrate compose delta dp_event epsilon log_delta loss pld renyi "
        "renyi_delta rho zcdp_delta zcdp_delta_standard zcdp_epsilon zcdp_rho"
    ),
    "release": "PlanRelease Release release_plan release_table",
    "selection": (
        "TruncatedLaplace exponential exponential_rho keep_groups keep_rule "
        "noisy_max_epsilon permute_and_flip permute_and_flip_rho report_noisy_max"
    ),
    "snapping": "SnappedLaplace snapping_accuracy snapping_bound snapping_laplace",
    "distributed": ("Rotation SecureSum least_modulus round_conditionally rounded_norm total"),
    "lattice": "clip noisy to_lattice",
    "spark": "add_noise",
    "dask": "add_noise",
    "data": "flights",
    "estimate": "Estimate consistent interval ratio total",
    "utility": (
        "compare_noise compare_queries continuous_gaussian_delta continuous_gaussian_sf "
        "rounded_gaussian_pmf rounded_gaussian_sf rounded_gaussian_variance"
    ),
    "plots": "before_after consistent epsilon_delta interval keep_groups probabilities queries "
    "queries_ratio tails variance write_figures",
    "verify": "verify",
    "testing": "NotPrivateWarning TapeSource seeded_source",
    "errors": (
        "DiscreteGaussError EntropyError MissingCoreError OutputError ParameterOverflowError "
        "ParameterTypeError ParameterValueError RangeError SourceError TableError"
    ),
    "compat": "NumpyNoise SystemBits",
}
MODULES = {name: getattr(dg, name) if name else dg for name in PUBLIC}

PAPERS = {
    *("floorsqrt", "normalizing_constant", "sample_uniform", "variance", "cdp2adp"),
    *("sample_bernoulli", "sample_bernoulli_exp", "sample_bernoulli_exp1"),
    *("sample_dgauss", "sample_dlaplace", "sample_geometric_exp_fast"),
    "sample_geometric_exp_slow",
}
"""Of the code that was published with the paper."""

ELSEWHERE = {"add_noise", "noise_for", "OutputError", "TableError", "__version__"}
"""Counted where they belong: a module may name them once more."""


def test_each_module_has_these_names_and_no_others() -> None:
    for name, module in MODULES.items():
        found = set(module.__all__) - (PAPERS if name == "compat" else set())
        if not name:
            found -= set(PUBLIC)
        assert found - ELSEWHERE == set(PUBLIC[name].split()) - ELSEWHERE, name
    assert set(dir(dg)) == set(dg.__all__)


def test_there_are_at_most_95_of_them() -> None:
    """One is learned once, where several modules have it: `add_noise`."""
    assert len({name for names in PUBLIC.values() for name in names.split()}) <= 95


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, module in MODULES.items():
        for one in module.__all__:
            found = getattr(module, one)
            if isinstance(found, FunctionType) and inspect.signature(found).parameters:
                yield f"{name}.{one}", found


@pytest.mark.parametrize(
    ("name", "function"), list(functions()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_every_function_says_what_to_write_for_a_seed(
    name: str, function: Callable[..., Any]
) -> None:
    """And can be sent to another process, by its name."""
    assert pickle.loads(pickle.dumps(function)) is function
    word = "generator" if {"seed", "rng"} & set(inspect.signature(function).parameters) else "seed"
    with pytest.raises(TypeError, match=r"there is no seed.*source=testing.seeded_source"):
        function(**{word: 1})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: dg.DiscreteGaussian(3).sample(seed=1), "seed is not a parameter of law.sample"),
        (lambda: dg.Skellam(3).rvs(5, random_state=1), "random_state is not a parameter of law"),
        (lambda: dg.Skellam(3).pmf(0, loc=1), "the law has a centre of its own, mu"),
        (lambda: dg.DiscreteLaplace(3, loc=1), "loc is not a parameter of .*Laplace: write mu"),
        (lambda: dg.DiscreteGaussian(scale=1), "scale .* write sigma, or sigma2, its square"),
        (lambda: dg.privacy.delta(dg.Skellam(3), eps=1), "eps .* delta: write epsilon"),
        (lambda: dg.discrete_gaussian(3, 5, epsilon=1), "write law = privacy.calibrate"),
        (lambda: dg.privacy.PrivacyLoss.of_gaussian(3, rng=1), "rng .* PrivacyLoss.of_gaussian"),
        (lambda: dg.distributed.Rotation(3, seed=1), "seed is not a parameter of Rotation"),
    ],
)
def test_words_of_other_libraries_are_explained(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(dg.errors.ParameterTypeError, match=says):
        call()


def test_a_script_of_that_name_keeps_its_ctrl_c(tmp_path: Path) -> None:
    """The command line alone answers it otherwise, while it is loaded."""
    script = tmp_path / "discretegauss"
    script.write_text(
        "import sys; sys.path[:] = sys.path[1:]\n"
        "import discretegauss, signal\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
        "print(discretegauss.discrete_gaussian(3, 2).shape)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["True", "(2,)"]
