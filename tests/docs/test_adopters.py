"""The recipes of docs/adopters.md run against the libraries that they are for, exactly.

Each library's own tests of what a recipe replaces pass with it, where they are installed with it.
DG_ADOPTER names the library that must be there (`adopters` of noxfile.py); others are skipped.
"""

from __future__ import annotations

import importlib
import math
import os
import re
import subprocess
import sys
import unittest
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from law_checks import gaussian_table, laplace_table, rejected

import discretegauss as dg

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adopters.md"
RECIPES = {
    name: text
    for text, name in re.findall(
        r"^```python\n(# with_(\w+)\.py\n.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S
    )
}
pytestmark = pytest.mark.filterwarnings("default")  # libraries warn
BEFORE_TESTS = "import importlib, sys, pytest; importlib.import_module(sys.argv[1]); "


@pytest.fixture
def recipe(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The recipe that the test names, imported; what it changes in the library stays changed."""
    library = request.node.name.removeprefix("test_with_")
    if os.environ.get("DG_ADOPTER") != library:
        pytest.importorskip(library)
    (tmp_path / f"with_{library}.py").write_text(RECIPES[library], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module(f"with_{library}")


def run_tests_of_the_library(recipe: Any, *arguments: str, first: str = "") -> None:
    """With the recipe imported before; at least one passes."""
    path = Path(recipe.__file__)
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(path.parent)]
    program = f"{first}\n{BEFORE_TESTS}sys.exit(pytest.main(sys.argv[2:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, path.stem, *options, *arguments],
        cwd=path.parent,
        env=os.environ | {"PYTHONPATH": str(path.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_recipes_are_short_and_all_are_run() -> None:
    tested = {name.removeprefix("test_with_") for name in globals() if name.startswith("test_with")}
    assert set(RECIPES) == tested
    assert max(text.count("\n") for text in RECIPES.values()) <= 41  # with the file's name


def test_with_mbi(recipe: Any) -> None:
    """mbi takes its measurements unchanged; a row that counts more than once is refused."""
    import mbi

    domain = mbi.Domain(["a", "b"], [2, 20_000])
    rows = {"a": np.array([0, 1, 1]), "b": np.array([0, 5, 5])}
    one, both = recipe.measure(mbi.Dataset(rows, domain), [("a",), ("a", "b")], rho="0.125")
    assert one.noisy_measurement.shape == (2,)
    assert both.stddev**2 == pytest.approx(8)
    counts = np.zeros((2, 20_000), np.int64)
    counts[0, 0], counts[1, 5] = 1, 2
    noise = both.noisy_measurement - counts.ravel()
    assert rejected(noise, gaussian_table(Fraction(8))) == []
    loss = mbi.marginal_loss.from_linear_measurements([one, both], domain)
    assert set(loss.cliques) >= {("a", "b")}
    with pytest.raises(ValueError, match="weight 1"):
        recipe.measure(mbi.Dataset(rows, domain, np.array([1.0, 1, 2])), [("a",)], rho=1)


def test_with_opacus(recipe: Any) -> None:
    import torch
    from opacus import PrivacyEngine
    from opacus.accountants import RDPAccountant

    model = torch.nn.Linear(20, 3000)
    data = torch.utils.data.TensorDataset(torch.randn(40, 20))
    engine = PrivacyEngine(accountant="rdp")
    model, optimizer, batches = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=8),
        noise_multiplier=2.0**-13,
        max_grad_norm=0.7,
    )
    assert type(optimizer) is recipe.ExactOptimizer
    (x,) = next(iter(batches))
    model(x).sum().backward()
    optimizer.clip_and_accumulate()
    total = torch.cat([p.summed_grad.flatten() for p in optimizer.params])
    optimizer.add_noise()
    noisy = torch.cat([p.grad.flatten() for p in optimizer.params]) * (recipe.STEPS / 0.7)
    assert rejected(noisy.round().long() - total, gaussian_table(Fraction(64))) == []

    # the orders between whole ones gain a thousandth
    accountant = RDPAccountant()
    accountant.history = [(1.5, 0.04, 2250)]
    whole = accountant.get_epsilon(1e-5, alphas=list(range(2, 512)))
    assert accountant.get_epsilon(1e-5) <= whole < 1.001 * accountant.get_epsilon(1e-5)

    # not what a seed decides, noise_level's few draws among it; nor validators, of torchvision
    # compare_to_vanilla adds noise of 10^4 and trains to nan, which is refused here
    run_tests_of_the_library(
        recipe,
        "--pyargs",
        "opacus.tests.randomness_test",
        "opacus.tests.privacy_engine_test",
        "-k",
        "(OptimizerRandomnessTest or PrivacyEngineCustomLayerTest) "
        "and not (seed or deterministic or noise_level or validat or vanilla)",
        first="import hypothesis, sys, unittest.mock as m; "
        "hypothesis.settings.register_profile('few', max_examples=5); "
        "hypothesis.settings.load_profile('few'); "
        "sys.modules |= dict.fromkeys(('torchvision', 'torchvision.datasets'), m.MagicMock())",
    )


def test_with_jax_privacy(recipe: Any) -> None:
    """Sums of clipped gradients are kept up to half a step; the noise is exact."""
    import jax
    import jax_privacy

    grad_fn = jax_privacy.clipped_grad(
        lambda params, x: (params["w"] * x).sum() + params["b"].sum(),
        l2_clip_norm=1.0,
        batch_argnums=1,
    )
    params = {"w": jax.numpy.zeros((300, 100)), "b": jax.numpy.zeros(9)}
    grads = grad_fn(params, jax.numpy.full((4, 300, 100), 2.0**-9))
    privatizer = recipe.exact_privatizer(2.0**-20, grad_fn.sensitivity())
    state = privatizer.init(params)
    noisy, _ = privatizer.update(grads, state)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), noisy) == jax.tree.map(
        lambda x: (x.shape, x.dtype), params
    )
    step = 2.0**-23
    steps = np.asarray(noisy["w"], np.float64).ravel() / step
    noise = (steps - np.rint(np.asarray(grads["w"], np.float64).ravel() / step)).astype(np.int64)
    sigma = Fraction(1, 2**20) * (2**23 + math.isqrt(30_009) + 1)
    assert rejected(noise, gaussian_table(sigma**2)) == []
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(privatizer.update)(grads, state)


def test_with_flwr(recipe: Any) -> None:
    """The mean is kept up to half a step, of both widths of floats; the noise is exact."""
    from flwr.app import Array, ArrayRecord
    from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg

    strategy = DifferentialPrivacyServerSideFixedClipping(
        FedAvg(), noise_multiplier=2.0**-20, clipping_norm=1.0, num_sampled_clients=4
    )
    step = 2.0**-25
    values = {"w": np.full((300, 100), 0.1), "b": np.full(9, -0.25, np.float32)}
    values["scalar"] = np.array(0.5)  # of no axes
    mean = ArrayRecord({key: Array(value) for key, value in values.items()})
    noisy = strategy._add_noise_to_aggregated_arrays(mean)
    assert [noisy[key].numpy().dtype for key in values] == [np.float64, np.float32, np.float64]
    assert [noisy[key].numpy().shape for key in values] == [(300, 100), (9,), ()]
    steps = noisy["w"].numpy().ravel() / step
    assert (steps == np.rint(steps)).all()
    sigma = Fraction(1, 2**20) * (2**23 + math.isqrt(30_010) + 1)
    noise = (steps - np.rint(0.1 / step)).astype(np.int64)
    assert rejected(noise, gaussian_table(sigma**2)) == []


def test_with_diffprivlib(recipe: Any) -> None:
    from diffprivlib.mechanisms import GaussianDiscrete, Geometric

    gaussian = GaussianDiscrete(epsilon=1, delta=1e-6, sensitivity=2)
    law = dg.privacy.calibrate(dg.DiscreteGaussian, epsilon=1, delta=1e-6, sensitivity=2)
    drawn = np.array([gaussian.randomise(7) for _ in range(10_000)])
    assert rejected(drawn - 7, gaussian_table(law.sigma2)) == []
    geometric = Geometric(epsilon=0.5)
    drawn = np.array([geometric.randomise(0) for _ in range(10_000)])
    assert rejected(drawn, laplace_table(Fraction(2))) == []
    folder = Path(importlib.import_module("diffprivlib").__file__ or "").parents[1]
    names = ["GaussianDiscrete", "Geometric", "GeometricTruncated", "GeometricFolded"]
    files = [folder / "tests" / "mechanisms" / f"test_{name}.py" for name in names]
    # test_sanity_scale: delta is not monotone in sigma, and ours is a smaller one that meets it
    run_tests_of_the_library(recipe, *map(str, files), "-k", "not sanity_scale")


def test_with_opendp(recipe: Any) -> None:
    """Its noise is exact, and its map OpenDP's own."""
    import opendp.prelude as dp

    ours = recipe.make_discrete_gaussian("6.25")
    assert rejected(np.array(ours([5] * 30_000)) - 5, gaussian_table(Fraction(25, 4))) == []
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    theirs = dp.m.make_gaussian(*space, scale=2.5)
    for d_in in (0.0, 1.0, 3**0.5, 1e-9, 12345.678):
        assert Fraction(d_in) ** 2 / Fraction("12.5") <= ours.map(d_in) <= theirs.map(d_in)
    assert ours.check(1.0, 0.08)
    twice = dp.c.make_composition([ours, ours])
    assert twice.map(1.0) >= 0.16


def test_with_tmlt(recipe: Any) -> None:
    import pandas as pd
    from tmlt.core.measurements import aggregations, noise_mechanisms

    counts = pd.Series(np.full(30_000, 5))
    gaussian = aggregations.AddNoiseToSeries(noise_mechanisms.AddDiscreteGaussianNoise("25/4"))
    assert type(gaussian) is recipe.ExactSeries
    assert rejected(gaussian(counts).to_numpy() - 5, gaussian_table(Fraction(25, 4))) == []
    geometric = aggregations.AddNoiseToSeries(noise_mechanisms.AddGeometricNoise("3/2"))
    assert rejected(geometric(counts).to_numpy() - 5, laplace_table(Fraction(3, 2))) == []
    one = noise_mechanisms.AddDiscreteGaussianNoise(4)
    drawn = np.array([one(0) for _ in range(3000)])
    assert rejected(drawn, gaussian_table(Fraction(4))) == []


def test_with_dp_accounting(recipe: Any) -> None:
    """It passes the tests of dp-accounting for any accountant, and agrees with its own."""
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.privacy_accountant_test import PrivacyAccountantTest

    class Case(PrivacyAccountantTest):  # type: ignore[misc]
        def _make_test_accountants(self) -> list[Any]:
            return [recipe.CertifiedAccountant()]

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert (result.testsRun > 5, result.errors, result.failures) == (True, [], [])

    sampled = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0))
    for event, count in (
        (dp.GaussianDpEvent(10.0), 1000),
        (dp.LaplaceDpEvent(20.0), 100),
        (sampled, 1000),
        (dp.SelfComposedDpEvent(dp.ComposedDpEvent([sampled, dp.LaplaceDpEvent(9.0)]), 20), 1),
    ):
        ours = recipe.CertifiedAccountant().compose(event, count)
        theirs = PLDAccountant().compose(event, count)
        assert ours.get_epsilon(1e-5) <= theirs.get_epsilon(1e-5) * (1 + 1e-6)
        assert ours.get_delta(1.0) <= theirs.get_delta(1.0) * (1 + 1e-5)
