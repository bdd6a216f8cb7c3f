"""The recipes of docs/ run with their libraries, and their noise has the law.

A library's tests of the code that a recipe replaces pass with the recipe, if they are installed.
DG_ADOPTER names the library that must be there (`adopters` of noxfile.py); others are skipped.
"""

from __future__ import annotations

import importlib
import math
import os
import re
import sys
import unittest
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from law_checks import gaussian_table, laplace_table, rejected
from programs import printed

import discretegauss as dg

DOCS = Path(__file__).resolve().parents[2] / "docs" / "elsewhere"
RECIPES = {
    name: text
    for page in ("adopters.md", "training.md")
    for text, name in re.findall(
        r"^```python\n(# with_(\w+)\.py\n.*?)^```$", (DOCS / page).read_text("utf-8"), re.M | re.S
    )
}
PROGRAMS = dict(
    reversed(found)
    for found in re.findall(
        r"^```python\n(# train_(\w+)\.py\n.*?)^```$",
        (DOCS / "training.md").read_text("utf-8"),
        re.M | re.S,
    )
)
pytestmark = pytest.mark.filterwarnings("default")  # libraries warn
BEFORE_TESTS = "import importlib, sys, pytest; importlib.import_module(sys.argv[1]); "


@pytest.fixture
def recipe(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import the recipe that the test is named after; it changes the library for good."""
    library = request.node.name.removeprefix("test_with_")
    if os.environ.get("DG_ADOPTER") != library:
        pytest.importorskip(library)
    (tmp_path / f"with_{library}.py").write_text(RECIPES[library], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module(f"with_{library}")


def run_tests_of_the_library(recipe: Any, *arguments: str, first: str = "") -> None:
    """Import the recipe, run the library's tests, and require that at least one runs."""
    path = Path(recipe.__file__)
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(path.parent)]
    program = f"{first}\n{BEFORE_TESTS}sys.exit(pytest.main(sys.argv[2:]))"
    command = [sys.executable, "-c", program, path.stem, *options, *arguments]
    printed(*command, cwd=path.parent, env=os.environ | {"PYTHONPATH": str(path.parent)})


def run_the_training(recipe: Any) -> None:
    """Run the page's whole program beside its recipe; it ends with the epsilon of 60 steps."""
    path = Path(recipe.__file__)
    library = path.stem.removeprefix("with_")
    options = ["-W", "ignore", "-c", PROGRAMS[library]]
    said = printed(sys.executable, *options, cwd=path.parent)
    assert said.splitlines()[-1] == "60 steps: epsilon = 1.553 at delta = 1e-6"


def test_recipes_are_short_and_all_are_run() -> None:
    tested = {name.removeprefix("test_with_") for name in globals() if name.startswith("test_with")}
    assert set(RECIPES) == tested
    assert max(text.count("\n") for text in (RECIPES | PROGRAMS).values()) <= 60
    assert set(PROGRAMS) == {"opacus", "jax_privacy"}


def test_with_mbi(recipe: Any) -> None:
    """mbi takes the measurements as they are; a row that counts more than once is refused."""
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
    import opacus.optimizers
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
        noise_multiplier=2.0**-17,
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

    # an example that is clipped is nearly STEPS long; one that is not finite is refused
    for p in optimizer.params:
        p.grad_sample, p.summed_grad = torch.rand(1, *p.shape) * 1e9, None
    optimizer.clip_and_accumulate()
    squares = sum(int((p.summed_grad**2).sum()) for p in optimizer.params)
    assert 0.999 * recipe.STEPS**2 < squares <= recipe.STEPS**2
    for p in optimizer.params:
        p.grad_sample = torch.full((1, *p.shape), math.inf)
    with pytest.raises(ValueError, match="finite"):
        optimizer.clip_and_accumulate()

    # what would add floats is refused, when it is made
    others: list[dict[str, Any]] = [
        {"clipping": "per_layer", "max_grad_norm": [1.0, 1.0]},
        {"clipping": "adaptive", "target_unclipped_quantile": 0.5, "clipbound_learning_rate": 0.1}
        | {"min_clipbound": 0.1, "max_clipbound": 9.0, "unclipped_num_std": 1.0},
        {"grad_sample_mode": "ghost", "criterion": torch.nn.CrossEntropyLoss()},
    ]
    for other in others:
        plain = torch.nn.Linear(20, 3)
        with pytest.raises(NotImplementedError, match=r"Optimizer.* is not exact: clip flat"):
            PrivacyEngine().make_private(
                module=plain,
                optimizer=torch.optim.SGD(plain.parameters(), lr=0.1),
                data_loader=torch.utils.data.DataLoader(data, batch_size=8),
                **{"noise_multiplier": 1.0, "max_grad_norm": 1.0} | other,
            )
    kinds = [kind for kind in vars(opacus.optimizers).values() if isinstance(kind, type)]
    base: Any = recipe.ExactOptimizer.__base__
    assert len(kinds) >= 8
    assert all(issubclass(kind, base) for kind in kinds)  # so all are refused
    with pytest.raises(NotImplementedError, match="DPOptimizer is not exact"):
        base(optimizer.original_optimizer, noise_multiplier=1.0)

    theirs = RDPAccountant()
    theirs.history = [(1.5, 0.04, 2250)]
    law, whole = dg.DiscreteGaussian(sigma=1.5 * recipe.STEPS), recipe.STEPS
    how: dict[str, Any] = {"queries": 2250, "sampling": "0.04", "dimension": total.numel()}
    assert dg.privacy.epsilon(law, 1e-5, whole, **how) < theirs.get_epsilon(1e-5)

    run_the_training(recipe)

    # Left out: tests that depend on a seed, and validators, which need torchvision.
    # compare_to_vanilla adds noise of 10^4 and trains to nan, which the recipe refuses, as it
    # refuses to clip per layer.
    run_tests_of_the_library(
        recipe,
        "--pyargs",
        "opacus.tests.randomness_test",
        "opacus.tests.privacy_engine_test",
        "-k",
        "(OptimizerRandomnessTest or PrivacyEngineCustomLayerTest) "
        "and not (seed or deterministic or noise_level or validat or vanilla or per_layer)",
        first="import hypothesis, sys, unittest.mock as m; "
        "hypothesis.settings.register_profile('few', max_examples=5); "
        "hypothesis.settings.load_profile('few'); "
        "sys.modules |= dict.fromkeys(('torchvision', 'torchvision.datasets'), m.MagicMock())",
    )


def test_with_jax_privacy(recipe: Any) -> None:
    """Each example is a vector of at most STEPS; sums are exact, and so is their noise."""
    import jax

    steps, norm = recipe.STEPS, 0.5
    grad_fn = recipe.exact_clipped_grad(
        lambda params, x: (params["w"] * x).sum() + params["b"].sum(),
        l2_clip_norm=norm,
        batch_argnums=1,
    )
    params = {"w": jax.numpy.zeros((300, 100), "float32"), "b": jax.numpy.zeros(9, "float32")}
    scales = np.array([2.0**-30, 2.0**-9, 1e30, np.inf])[:, None, None]
    batch = jax.numpy.asarray(scales * np.random.default_rng(1).random((4, 300, 100)), "float32")
    alone = [grad_fn(params, batch[i : i + 1]) for i in range(4)]
    for grads in alone:
        squares = sum(int((x.astype(object) ** 2).sum()) for x in map(np.asarray, grads.values()))
        assert 0.99 * steps**2 < squares <= steps**2
    grads = jax.jit(grad_fn)(params, batch)
    assert all((grads[key] == sum(one[key] for one in alone)).all() for key in params)

    privatizer = recipe.exact_privatizer(2.0**-17, norm)
    noisy, _ = privatizer.update(grads, privatizer.init(params))
    assert {x.dtype for x in jax.tree.leaves(noisy)} == {np.dtype(np.float32)}
    noise = np.rint(np.asarray(noisy["w"], float) * (steps / norm)) - np.asarray(grads["w"])
    assert rejected(noise.astype(np.int64).ravel(), gaussian_table(Fraction(64))) == []
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(privatizer.update)(grads, ())
    with pytest.raises(TypeError, match="exact_clipped_grad"):
        privatizer.update(params, ())
    with pytest.raises(TypeError, match="normalize_by"):
        recipe.exact_clipped_grad(sum, l2_clip_norm=norm, normalize_by=4)
    run_the_training(recipe)


def test_with_flwr(recipe: Any) -> None:
    """The mean moves by at most half a step, for both widths of floats; the noise is exact."""
    from flwr.app import Array, ArrayRecord
    from flwr.clientapp.mod import localdp_mod
    from flwr.common import ndarrays_to_parameters
    from flwr.server.strategy import dpfedavg_fixed
    from flwr.serverapp.strategy import (
        DifferentialPrivacyServerSideAdaptiveClipping,
        DifferentialPrivacyServerSideFixedClipping,
        FedAvg,
    )
    from flwr.supercore import differential_privacy

    strategy = DifferentialPrivacyServerSideFixedClipping(
        FedAvg(), noise_multiplier=2.0**-20, clipping_norm=1.0, num_sampled_clients=4
    )
    step = 2.0**-25
    values = {"w": np.full((300, 100), 0.1), "b": np.full(9, -0.25, np.float32)}
    values["scalar"] = np.array(0.5)  # without axes
    mean = ArrayRecord({key: Array(value) for key, value in values.items()})
    noisy = strategy._add_noise_to_aggregated_arrays(mean)
    assert [noisy[key].numpy().dtype for key in values] == [np.float64, np.float32, np.float64]
    assert [noisy[key].numpy().shape for key in values] == [(300, 100), (9,), ()]
    steps = noisy["w"].numpy().ravel() / step
    assert (steps == np.rint(steps)).all()
    sigma = Fraction(1, 2**20) * (2**23 + math.isqrt(30_010) + 1)
    noise = (steps - np.rint(0.1 / step)).astype(np.int64)
    assert rejected(noise, gaussian_table(sigma**2)) == []

    adaptive = DifferentialPrivacyServerSideAdaptiveClipping(
        FedAvg(), noise_multiplier=1.0, num_sampled_clients=20
    )
    old, local = np.ones(3), [np.ones(3)]
    asks: Any = (
        lambda: adaptive._add_noise_to_aggregated_arrays(mean),
        lambda: localdp_mod.add_gaussian_noise_inplace(local, 1.0),
        lambda: dpfedavg_fixed.add_gaussian_noise([old], 1.0),
        lambda: differential_privacy.add_gaussian_noise_to_params(
            ndarrays_to_parameters(local), 1.0, 1.0, 4
        ),
    )
    for ask in asks:
        with pytest.raises(NotImplementedError, match="fixed clipping"):
            ask()


def test_with_diffprivlib(recipe: Any) -> None:
    from diffprivlib import mechanisms, tools
    from diffprivlib.mechanisms import (
        GaussianDiscrete,
        Geometric,
        GeometricFolded,
        GeometricTruncated,
    )

    gaussian = GaussianDiscrete(epsilon=1, delta=1e-6, sensitivity=2)
    law = dg.privacy.calibrate(dg.DiscreteGaussian, epsilon=1, delta=1e-6, sensitivity=2)
    drawn = np.array([gaussian.randomise(7) for _ in range(10_000)])
    assert rejected(drawn - 7, gaussian_table(law.sigma2)) == []
    geometric = Geometric(epsilon=0.5)
    drawn = np.array([geometric.randomise(0) for _ in range(10_000)])
    assert rejected(drawn, laplace_table(Fraction(2))) == []
    exact: set[Any] = {GaussianDiscrete, Geometric, GeometricTruncated, GeometricFolded}
    others: set[Any] = {x for x in vars(mechanisms).values() if isinstance(x, type)} - exact
    assert len(others) > 15
    assert all(other.randomise is recipe.refuse for other in others)
    asks: Any = (
        lambda: mechanisms.Laplace(epsilon=1, sensitivity=1).randomise(0),
        lambda: tools.mean([0.5, 1.0], epsilon=1, bounds=(0, 1)),
    )
    for ask in asks:
        with pytest.raises(NotImplementedError, match=r"Laplace.* decides by floats"):
            ask()
    assert GeometricTruncated(epsilon=1, lower=0, upper=5).randomise(3) in range(6)
    folder = Path(importlib.import_module("diffprivlib").__file__ or "").parents[1]
    names = ["GaussianDiscrete", "Geometric", "GeometricTruncated", "GeometricFolded"]
    files = [folder / "tests" / "mechanisms" / f"test_{name}.py" for name in names]
    # test_sanity_scale: delta is not monotone in sigma, and our sigma is smaller and meets it
    run_tests_of_the_library(recipe, *map(str, files), "-k", "not sanity_scale")


def test_with_opendp(recipe: Any) -> None:
    """The noise is exact, and the privacy map agrees with OpenDP's."""
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
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.measurements import aggregations, noise_mechanisms

    counts = pd.Series(np.full(30_000, 5))
    gaussian = aggregations.AddNoiseToSeries(noise_mechanisms.AddDiscreteGaussianNoise("25/4"))
    assert type(gaussian) is recipe.ExactSeries
    assert rejected(gaussian(counts).to_numpy() - 5, gaussian_table(Fraction(25, 4))) == []
    geometric = aggregations.AddNoiseToSeries(noise_mechanisms.AddGeometricNoise("3/2"))
    assert rejected(geometric(counts).to_numpy() - 5, laplace_table(Fraction(3, 2))) == []
    for kind in (noise_mechanisms.AddLaplaceNoise, noise_mechanisms.AddGaussianNoise):
        with pytest.raises(NotImplementedError, match=f"{kind.__name__} is not exact"):
            aggregations.AddNoiseToSeries(kind(NumpyFloatDomain(), 1))(counts.astype(float))
    one = noise_mechanisms.AddDiscreteGaussianNoise(4)
    drawn = np.array([one(0) for _ in range(3000)])
    assert rejected(drawn, gaussian_table(Fraction(4))) == []


def test_with_dp_accounting(recipe: Any) -> None:
    """It passes dp-accounting's tests for any accountant, and agrees with PLDAccountant."""
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
        assert ours.get_epsilon(1e-5) == pytest.approx(theirs.get_epsilon(1e-5), rel=1e-4)
        assert ours.get_delta(1.0) == pytest.approx(theirs.get_delta(1.0), rel=5e-4)
