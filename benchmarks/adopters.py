"""CPU time of other libraries, and of what docs/adopters.md puts in the place of their noise.

    python benchmarks/adopters.py [--rounds 5] LIBRARY...

Each line: the least CPU seconds of some interleaved rounds, the library's own and with the recipe,
and the first over the second. Each library is measured in a process of its own, if it is there.
"""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import discretegauss as dg

PAGE = Path(__file__).resolve().parents[1] / "docs" / "adopters.md"


def recipe(library: str) -> Any:
    """Return the recipe, imported: the library is changed from then on."""
    found = re.search(
        rf"^```python\n(# with_{library}\.py\n.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S
    )
    if found is None:
        raise SystemExit(f"docs/adopters.md has no recipe for {library}")
    with TemporaryDirectory() as folder:
        Path(folder, f"with_{library}.py").write_text(found[1], encoding="utf-8")
        sys.path.insert(0, folder)
        return importlib.import_module(f"with_{library}")


Pair = tuple[str, Callable[[], object], Callable[[], object]]


def mbi() -> Pair:
    recipe("mbi")
    counts, law, rng = np.arange(10**6), dg.DiscreteGaussian(100), np.random.default_rng()
    return (
        "10^6 counts, numpy's normal",
        lambda: counts + rng.normal(0, 10, counts.size),
        lambda: dg.add_noise(counts, law),
    )


def opacus() -> Pair:
    import torch
    from opacus.grad_sample import GradSampleModule
    from opacus.optimizers import DPOptimizer

    ours = recipe("opacus").ExactOptimizer
    torch.set_num_threads(1)
    model = GradSampleModule(torch.nn.Linear(1000, 100))
    model(torch.randn(64, 1000)).sum().backward()
    samples = [p.grad_sample for p in model.parameters()]
    made = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(kind: Any, secure: bool) -> Callable[[], None]:
        optimizer = kind(
            made,
            noise_multiplier=1.0,
            max_grad_norm=1.0,
            expected_batch_size=64,
            secure_mode=secure,
        )

        def clip_and_add_noise() -> None:
            for p, sample in zip(optimizer.params, samples, strict=True):
                p.grad_sample, p.summed_grad = sample.detach(), None
            optimizer.clip_and_accumulate()
            optimizer.add_noise()

        return clip_and_add_noise

    return (
        "clipping and noise, 64 by 10^5, its secure mode",
        step(DPOptimizer, True),
        step(ours, False),
    )


def jax_privacy() -> Pair:
    import jax
    from jax_privacy import noise_addition

    theirs = noise_addition.gaussian_privatizer(stddev=1.0)
    ours = recipe("jax_privacy").exact_privatizer(1.0, 1.0)
    total = jax.numpy.zeros(10**6)
    state, compiled = theirs.init(total), jax.jit(theirs.update)
    wait: Any = jax.block_until_ready
    return (
        "a sum of 10^6 numbers",
        lambda: wait(compiled(total, state)),
        lambda: ours.update(total, ours.init(total)),
    )


def flwr() -> Pair:
    from flwr.app import Array, ArrayRecord
    from flwr.serverapp import strategy

    base = strategy.dp_fixed_clipping.DifferentialPrivacyFixedClippingBase
    before = base._add_noise_to_aggregated_arrays
    after = recipe("flwr").add_exact_noise
    one = strategy.DifferentialPrivacyServerSideFixedClipping(strategy.FedAvg(), 1.0, 1.0, 10)
    mean = ArrayRecord({"w": Array(np.zeros(10**6, np.float32))})
    return "a mean of 10^6 numbers", lambda: before(one, mean), lambda: after(one, mean)


def diffprivlib() -> Pair:
    from diffprivlib.mechanisms import GaussianDiscrete

    mechanism = GaussianDiscrete(epsilon=1, delta=1e-6)
    before = GaussianDiscrete.randomise
    recipe("diffprivlib")
    exact = GaussianDiscrete(epsilon=1, delta=1e-6)
    return (
        "100 numbers, one at a time",
        lambda: [before(mechanism, 7) for _ in range(100)],
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
    ours = recipe("tmlt")
    after = ours.ExactSeries(noise_mechanisms.AddDiscreteGaussianNoise(100))
    exact, column = noise_mechanisms.sample_dgauss, pd.Series(range(1000))

    def with_its_own() -> None:
        noise_mechanisms.sample_dgauss = draw
        apply(before, column)
        noise_mechanisms.sample_dgauss = exact

    return "a column of 1000 counts", with_its_own, lambda: after(column)


def dp_accounting() -> Pair:
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    ours = recipe("dp_accounting").CertifiedAccountant
    event = dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0))

    def epsilon(kind: Any) -> Callable[[], float]:
        return lambda: kind().compose(event, 10**4).get_epsilon(1e-5)

    return "10^4 sampled Gaussian releases", epsilon(PLDAccountant), epsilon(ours)


LIBRARIES = [mbi, opacus, jax_privacy, flwr, diffprivlib, opendp, tmlt, dp_accounting]


def measure(pair: Pair, rounds: int) -> None:
    """Print the line of one library."""
    what, *both = pair
    least = [float("inf"), float("inf")]
    for _ in range(rounds):
        for i, call in enumerate(both):
            start = time.process_time()
            call()
            least[i] = min(least[i], time.process_time() - start)
    print(
        f"{what}: {least[0]:.4g} s, {least[1]:.4g} s, ratio {least[0] / least[1]:.3g}", flush=True
    )


def main() -> None:
    """Measure what is asked for, or all that can be imported."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY")
    arguments = parser.parse_args()
    names = {found.__name__: found for found in LIBRARIES}
    if len(arguments.libraries) == 1:
        (library,) = arguments.libraries
        print(library, end=" ")
        return measure(names[library](), arguments.rounds)
    for library in arguments.libraries or names:
        if importlib.util.find_spec(library) is None:
            print(f"{library}: not installed")
            continue
        command = [sys.executable, __file__, "--rounds", str(arguments.rounds), library]
        subprocess.run(command, check=True)
    return None


if __name__ == "__main__":
    main()
