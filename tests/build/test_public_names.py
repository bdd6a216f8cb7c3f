"""What a user can name: each name in one place, at most 95 in all."""

from __future__ import annotations

from typing import Any

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
    "release": "Person Plan PlanRelease Release Table release_plan release_table",
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
    "plots": "before_after consistent interval keep_groups",
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
