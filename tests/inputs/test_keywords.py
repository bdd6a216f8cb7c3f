"""An unknown keyword, key of a plan or option gets a hint: our name for it, or the nearest one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command

import discretegauss
from discretegauss._inputs.keywords import with_hints
from discretegauss.errors import ParameterTypeError, ParameterValueError
from discretegauss.release._plan import read_plan
from discretegauss.spark import noise_of_tasks

dg: Any = discretegauss  # checkers know that these keywords are wrong
NO_SEED = "there is no seed"
PLAN = "say in a plan who is counted: plan = release.Plan(person, {'t': release.Table(by="

HINTS: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: dg.add_noise([1], eps=1, delta=0.1),
        ("add_noise() has no parameter 'eps'; did you mean epsilon?"),
    ),
    (lambda: dg.add_noise([1], rho=1, seed=1), NO_SEED),
    (lambda: dg.add_noise([1], scale=2), "did you mean law?"),
    (lambda: dg.add_noise([1], rho=1, column="n"), "did you mean columns?"),
    (lambda: dg.noise_for([1], rho=1, sensitvity=2), "did you mean sensitivity?"),
    (
        lambda: dg.DiscreteGaussian(scale=2),
        ("DiscreteGaussian() has no parameter 'scale'; did you mean sigma?"),
    ),
    (lambda: dg.DiscreteLaplace(2, loc=1), "did you mean mu?"),
    (lambda: dg.privacy.calibrate(dg.DiscreteGaussian, eps=1, delta=0.1), "mean epsilon?"),
    (lambda: dg.privacy.delta(dg.DiscreteGaussian(3), eps=1), "did you mean epsilon?"),
    (lambda: dg.privacy.Budget(eps=1), "Budget() has no parameter 'eps'; did you mean epsilon?"),
    (lambda: dg.release.release_table("t", "n", "o", rho=1, columns="n"), "did you mean column?"),
    (lambda: dg.release.Person(3, distinc="a"), "did you mean distinct?"),
    (lambda: dg.selection.keep_groups({}, eps=1, delta=0.1), "did you mean epsilon?"),
    (lambda: dg.privacy.epsilon(dg.Skellam(9), "1e-6", steps=9), "did you mean queries?"),
    (lambda: dg.privacy.epsilon(dg.Skellam(9), "1e-6", sample_rate=1), "did you mean sampling?"),
    (lambda: dg.privacy.epsilon(dg.Skellam(9), "1e-6", clients=9), "together is law.sum(n)"),
    (lambda: dg.distributed.least_modulus(dg.Skellam(9), clients=9), "did you mean most_clients?"),
    (lambda: dg.release.Table(groupby=["town"]), "did you mean by?"),
    (lambda: dg.compat.NumpyNoise(seed=1), NO_SEED),
    (lambda: noise_of_tasks(np.empty(0, int), None, eps=1), "did you mean epsilon?"),
    (lambda: noise_of_tasks(np.empty(0, int), None, rho=1, random_state=1), NO_SEED),
    (lambda: dg.add_noise([1], rho=1, person=dg.release.Person(3)), PLAN),
    (lambda: dg.noise_for([1], rho=1, by="town"), PLAN),
    (lambda: noise_of_tasks(np.empty(0, int), None, rho=1, by="town"), PLAN),
]


@pytest.mark.parametrize(("call", "hint"), HINTS)
def test_an_unknown_keyword_is_named_with_a_hint(call: Callable[[], Any], hint: str) -> None:
    with pytest.raises(ParameterTypeError) as caught:
        call()
    assert hint in str(caught.value)


def test_other_errors_of_a_call_stay_as_they_are() -> None:
    """A missing argument, an unknown name without a near one, and errors from within."""

    @with_hints
    def function(one: int, *, two: int = 2) -> None:
        raise TypeError("from within")

    for arguments, message in (
        ({}, "missing 1 required positional argument: 'one'"),
        ({"one": 1, "two": 1}, "^from within$"),
        ({"one": 1, "wibble": 1}, r"function\(\) has no parameter 'wibble'$"),
    ):
        with pytest.raises(TypeError, match=message):
            function(**arguments)
    assert list(inspect.signature(function).parameters) == ["one", "two"]


def test_unknown_keys_of_a_plan_and_options_have_hints(tmp_path: Path, run: Command) -> None:
    (tmp_path / "plan.toml").write_text("eps = 1\ndelta = 0.1\n")
    with pytest.raises(ParameterValueError, match=r"'eps' is not a key .*; did you mean epsilon\?"):
        read_plan(tmp_path / "plan.toml")
    for option, hint in (
        ("--eps", "did you mean --epsilon?"),
        ("--person", "did you mean --records?"),
        ("--collumn", "did you mean --column?"),
        ("--row-per-person", "did you mean --rows-per-person?"),
        ("--seed", NO_SEED),
    ):
        done = run("release", "t.csv", option, 1)
        assert (done.code, hint in done.err) == (2, True)
