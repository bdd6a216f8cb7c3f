"""CPU time of other libraries, beside that of our recipes for them.

    python benchmarks/adopters.py [LIBRARY...]

Each line has the CPU seconds of the library alone and with the recipe, and the first over the
second. Each library is measured in a process of its own, because a recipe changes its library.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import discretegauss as dg
from measure import measure, repeated

DOCS = Path(__file__).resolve().parents[1] / "docs" / "elsewhere"

Pair = tuple[str, Callable[[], object], Callable[[], object]]


def recipe(library: str) -> Any:
    """Import the recipe, which changes the library from then on."""
    pattern = rf"^```python\n(# with_{library}\.py\n.*?)^```$"
    pages = "".join((DOCS / page).read_text("utf-8") for page in ("adopters.md", "training.md"))
    (text,) = re.findall(pattern, pages, re.M | re.S)
    with TemporaryDirectory() as folder:
        Path(folder, f"with_{library}.py").write_text(text, encoding="utf-8")
        sys.path.insert(0, folder)
        return importlib.import_module(f"with_{library}")


def mbi() -> Pair:
    recipe("mbi")
    counts, law, rng = np.arange(10**6), dg.DiscreteGaussian(100), np.random.default_rng()
    theirs = lambda: counts + rng.normal(0, 10, counts.size)  # noqa: E731
    return "10^6 counts, numpy's normal", theirs, lambda: dg.add_noise(counts, law)


def opacus() -> Pair:
    import torch
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    torch.set_num_threads(1)
    model = GradSampleModule(torch.nn.Linear(1000, 100))
    model(torch.randn(64, 1000)).sum().backward()
    samples = [p.grad_sample for p in model.parameters()]
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    options = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "expected_batch_size": 64}

    def step(optimizer: Any) -> Callable[[], None]:
        def clip_and_add_noise() -> None:
            for p, sample in zip(optimizer.params, samples, strict=True):
                p.grad_sample, p.summed_grad = sample.detach(), None
            optimizer.clip_and_accumulate()
            optimizer.add_noise()

        return clip_and_add_noise

    theirs = DPOptimizer(inner, secure_mode=True, **options)
    ours = recipe("opacus").ExactOptimizer(inner, **options)
    return "clipping and noise, 64 by 10^5, its secure mode", step(theirs), step(ours)


def jax_privacy() -> Pair:
    import jax
    import jax_privacy as library

    ours = recipe("jax_privacy")
    params, batch = jax.numpy.zeros(10**5, "float32"), np.ones((64, 10**5), np.float32)

    def step(clipped: Any, privatizer: Any, update: Any) -> Callable[[], object]:
        grads = jax.jit(clipped(lambda p, x: (p * x).sum(), l2_clip_norm=1.0))
        return lambda: jax.block_until_ready(update(grads(params, batch), privatizer.init(params)))

    theirs = library.noise_addition.gaussian_privatizer(stddev=1.0)
    exact = ours.exact_privatizer(1.0, 1.0)
    return (
        "clipping and noise, 64 by 10^5",
        step(library.clipped_grad, theirs, jax.jit(theirs.update)),
        step(ours.exact_clipped_grad, exact, exact.update),
    )


def flwr() -> Pair:
    from flwr.app import Array, ArrayRecord
    from flwr.serverapp import strategy

    base = strategy.dp_fixed_clipping.DifferentialPrivacyFixedClippingBase
    before, after = base._add_noise_to_aggregated_arrays, recipe("flwr").add_exact_noise
    one = strategy.DifferentialPrivacyServerSideFixedClipping(strategy.FedAvg(), 1.0, 1.0, 10)
    mean = ArrayRecord({"w": Array(np.zeros(10**6, np.float32))})
    return "a mean of 10^6 numbers", lambda: before(one, mean), lambda: after(one, mean)


def diffprivlib() -> Pair:
    from diffprivlib.mechanisms import GaussianDiscrete

    theirs, before = GaussianDiscrete(epsilon=1, delta=1e-6), GaussianDiscrete.randomise
    recipe("diffprivlib")
    exact = GaussianDiscrete(epsilon=1, delta=1e-6)
    return (
        "100 numbers, one at a time",
        lambda: [before(theirs, 7) for _ in range(100)],
        lambda: [exact.randomise(7) for _ in range(100)],
    )


def opendp() -> Pair:
    ours = recipe("opendp")
    space = ours.dp.vector_domain(ours.dp.atom_domain(T="i64")), ours.dp.l2_distance(T=float)
    before, after = ours.dp.m.make_gaussian(*space, scale=10.0), ours.make_discrete_gaussian(100)
    counts = list(range(10**4))
    return "10^4 integers", lambda: before(counts), lambda: after(counts)


def tmlt() -> Pair:
    import pandas as pd
    from tmlt.core.measurements import noise_mechanisms
    from tmlt.core.measurements.pandas_measurements import series

    before = series.AddNoiseToSeries(noise_mechanisms.AddDiscreteGaussianNoise(100))
    apply, draw = type(before).__call__, noise_mechanisms.sample_dgauss
    after = recipe("tmlt").ExactSeries(noise_mechanisms.AddDiscreteGaussianNoise(100))
    exact, column = noise_mechanisms.sample_dgauss, pd.Series(range(1000))

    def theirs() -> None:
        noise_mechanisms.sample_dgauss = draw
        apply(before, column)
        noise_mechanisms.sample_dgauss = exact

    return "a column of 1000 counts", theirs, lambda: after(column)


def dp_accounting() -> Pair:
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    event = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0))

    def epsilon(kind: Any) -> Callable[[], float]:
        return lambda: kind().compose(event, 10**4).get_epsilon(1e-5)

    ours = recipe("dp_accounting").CertifiedAccountant
    return "10^4 sampled Gaussian releases", epsilon(PLDAccountant), epsilon(ours)


LIBRARIES = [mbi, opacus, jax_privacy, flwr, diffprivlib, opendp, tmlt, dp_accounting]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    pairs = {pair.__name__: pair for pair in LIBRARIES}
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", default=list(pairs))
    names = parser.parse_args().libraries
    if len(names) > 1:
        for name in names:
            subprocess.run([sys.executable, __file__, name], check=True)
    elif importlib.util.find_spec(names[0]) is None:
        print(f"{names[0]}: not installed")
    else:
        what, theirs, ours = pairs[names[0]]()
        rates = measure({"theirs": repeated(theirs), "ours": repeated(ours)}, seconds=2)
        times = [f"{1 / rates[name].median:.4g} s" for name in ("theirs", "ours")]
        ratio = rates["ours"].ratio_to(rates["theirs"])
        print(f"{names[0]} {what}: {', '.join(times)}, ratio {ratio:.3g}")


if __name__ == "__main__":
    main()
