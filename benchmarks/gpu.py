"""What a GPU draws, and how fast: ten minutes, for a machine that has one.

    pip install ".[cuda]" scipy        # and torch, for its rows
    python benchmarks/gpu.py           # or --items 1e6 for a look

It prints the compiler's facts, and compares every item with the CPU's, under the key of its call.
Then come rates with all that a call does, beside the cipher alone and torch, and a chi-square test
of each law. It ends with 1 if an item differs or a p-value is below 1e-9, and 77 without a GPU.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discretegauss as dg
from discretegauss._drawing import cuda, native
from discretegauss._inputs.tensors import in_memory

LAWS: dict[str, tuple[Any, str]] = {
    "gaussian, sigma 1": (dg.DiscreteGaussian(1), "int32"),
    "gaussian, sigma 2^16, mu 7/3": (dg.DiscreteGaussian(2**32, mu="7/3"), "int32"),
    "gaussian, sigma 10^9": (dg.DiscreteGaussian(10**18), "int64"),
    "laplace, scale 5/2, mu 1/3": (dg.DiscreteLaplace("5/2", mu="1/3"), "int32"),
    "laplace, scale 2^50": (dg.DiscreteLaplace(2**50), "int64"),
    "generalised, scale 1000, beta 3/2": (dg.GeneralizedGaussian(1000, "3/2"), "int32"),
}
RATES = [(1, "int32"), (30, "int32"), (2**16, "int32"), (10**9, "int64")]
N_BINS = 64
SMALL = 10**6


class Array:
    """Memory of the current device, as libraries show theirs."""

    def __init__(self, n: int, dtype: str) -> None:
        core = cuda._cuda_core()
        self.device = core.Device()
        self.device.set_current()
        self.stream = self.device.default_stream
        self.n, self.dtype = n, np.dtype(dtype)
        self.buffer = self.device.allocate(n * self.dtype.itemsize, stream=self.stream)
        self.stream.sync()

    @property
    def address(self) -> int:
        return int(self.buffer.handle)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": (self.n,),
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
            "stream": 1,
        }

    def to_host(self) -> NDArray[Any]:
        """A copy."""
        pinned, array = cuda._pinned(self.n * self.dtype.itemsize)
        self.buffer.copy_to(pinned, stream=self.stream)
        self.stream.sync()
        return array.view(self.dtype).copy()

    def zero(self) -> None:
        self.buffer.fill(0, stream=self.stream)
        self.stream.sync()


def launch(array: Array, name: str, *given: int) -> None:
    """Run a kernel of gpu.cu."""
    core = cuda._cuda_core()
    kernel = compiled(array.device.arch, cuda._ITEMS[array.dtype]).get_kernel(name)
    blocks = 4 * array.device.properties.multiprocessor_count
    core.launch(array.stream, core.LaunchConfig(grid=blocks, block=256), kernel, *given)
    array.stream.sync()


@cache
def compiled(arch: str, item: str) -> Any:
    core = cuda._cuda_core()
    options = core.ProgramOptions(
        arch=f"sm_{arch}",
        std="c++17",
        include_path=native.FOLDER,
        define_macro=[("ITEM", item), ("WORDS", "1")],
    )
    source = Path(__file__).with_suffix(".cu").read_text("utf-8")
    return core.Program(source, "c++", options).compile("cubin")


def drawn_under_a_known_key(out: Array, law: Any) -> bytes:
    """Fill an array as `law.sample` does, and keep the key of this one call."""
    memory: Any = in_memory(out, "out")
    with cuda._Launches(memory, law._spec) as launches:
        launches.draw(memory, None)
        return bytes(launches._call["key"].tobytes())


def by_cpu(law: Any, dtype: str, n: int, key: bytes) -> NDArray[Any]:
    """The same items, by the C core on all processors."""
    out, sampler = np.empty(n, dtype), native.NativeSampler(law._spec, "cells")
    piece = 2**20

    def draw(first: int) -> None:
        sampler.noise_at(out[first : first + piece], first, key)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(draw, range(0, n, piece)))
    return out


def compare(n: int) -> Iterator[str]:
    """Every item of the GPU beside the CPU's; then sums in place."""
    for name, (law, dtype) in LAWS.items():
        out = Array(n, dtype)
        key = drawn_under_a_known_key(out, law)
        on_gpu, on_cpu = out.to_host(), by_cpu(law, dtype, n, key)
        differ = int((on_gpu != on_cpu).sum())
        dg.add_noise(out, law, out=out)
        moved = out.to_host().astype(np.int64) - on_gpu
        deviation = float(moved.std() / law.std())
        is_right = differ == 0 and abs(deviation - 1) < 10 / n**0.5
        verdict = "right" if is_right else "WRONG"
        yield f"{name}, {dtype}: {differ} of {n:.0e} items differ; {verdict}"


def chi_square(n: int, a_call: int) -> Iterator[str]:
    """Each law in 64 bins to 5 deviations."""
    from scipy.stats import chisquare

    for name, (law, dtype) in LAWS.items():
        step = max(1, int(law.std() * 10 / N_BINS))
        low = round(law.mu) - step * (N_BINS // 2)
        out, counts = Array(min(n, a_call), dtype), Array(N_BINS + 2, "int64")
        counts.zero()
        for _ in range(max(1, n // out.n)):
            law.sample(out=out)
            launch(out, "count", out.address, out.n, low, step, counts.address)
        seen = counts.to_host()
        edges = [law.cdf(low + step * i - 1) for i in range(N_BINS + 1)]
        expected = np.diff([0.0, *edges, 1.0]) * seen.sum()
        kept = expected >= 100
        expected, seen = (
            np.append(expected[kept], expected[~kept].sum()),
            np.append(seen[kept], seen[~kept].sum()),
        )
        some = expected > 0
        p = chisquare(seen[some], expected[some] * seen[some].sum() / expected[some].sum()).pvalue
        verdict = "right" if p > 1e-9 else "WRONG"
        yield f"{name}: {seen.sum():.0e} draws, {some.sum()} bins, p = {p:.2g}; {verdict}"


def per_second(call: Callable[[], object], n: int) -> str:
    """The median of 9 calls after 2."""
    times = []
    for _ in range(11):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    took = sorted(times[2:])[4]
    return f"{n / took / 1e9:8.1f} * 10^9/s, {took * 1e6:10.1f} us"


def rates(n: int) -> Iterator[str]:
    """Draws, sums in place, a small call, and what else there is."""
    for sigma, dtype in RATES:
        law, out, small = dg.DiscreteGaussian(sigma**2), Array(n, dtype), Array(SMALL, dtype)
        yield f"sigma {sigma}, {dtype}: {per_second(partial(law.sample, out=out), n)}"
        out.zero()
        added = per_second(partial(dg.add_noise, out, law, out=out), n)
        yield f"sigma {sigma}, {dtype}, added in place: {added}"
        some = per_second(partial(law.sample, out=small), small.n)
        yield f"sigma {sigma}, {dtype}, {SMALL}: {some}"
    out = Array(n // 4096 * 4096, "int32")
    call, _ = cuda._pinned(cuda._CALL.itemsize)
    given = out.address, out.n // 16, int(call.handle)
    yield f"the cipher alone: {per_second(lambda: launch(out, 'cipher', *given), out.n)}"
    yield from beside_torch(n)
    noise, law = np.empty(n // 10, np.int32), dg.DiscreteGaussian(2**32)
    staged, array = cuda._pinned(noise.nbytes)
    target, threads = Array(noise.size, "int32"), os.cpu_count() or 1

    def on_cpu() -> None:
        law.sample(out=array.view(np.int32), threads=threads)
        target.buffer.copy_from(staged, stream=target.stream)
        target.stream.sync()

    yield f"sigma 2^16 on {threads} processors, and copied: {per_second(on_cpu, noise.size)}"


def beside_torch(n: int) -> Iterator[str]:
    try:
        import torch
    except ImportError:
        yield "torch: not installed"
        return
    floats = torch.empty(n, dtype=torch.float32, device="cuda")

    def normal() -> None:
        floats.normal_(0, 2**16)
        torch.cuda.synchronize()

    def rounded() -> None:
        floats.normal_(0, 2**16).round_().to(torch.int32)
        torch.cuda.synchronize()

    yield f"torch.normal_, neither exact nor secure: {per_second(normal, n)}"
    yield f"torch.normal_, rounded, as int32: {per_second(rounded, n)}"
    tensor, law = torch.zeros(n, dtype=torch.int32, device="cuda"), dg.DiscreteGaussian(2**32)
    yield f"a tensor of torch, sigma 2^16: {per_second(lambda: law.sample(out=tensor), n)}"


def facts() -> Iterator[str]:
    """Registers, memory and occupancy of the kernels."""
    device = cuda._cuda_core().Device()
    processors = device.properties.multiprocessor_count
    yield f"{device.name}, sm_{device.arch}, {processors} multiprocessors"
    for item in ("int", "long long"):
        for words in (1, 2):
            given = device.device_id, device.arch, native.FOLDER, item, words
            kernel = cuda._kernels(*given)["noise"]
            told = kernel.attributes
            blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0)
            yield (
                f"{item}, {words} words: {told.num_regs} registers, {told.local_size_bytes} bytes "
                f"of local memory, {told.shared_size_bytes} shared; {blocks} blocks at a time"
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=float, default=1e8, help="that are compared, of each law")
    parser.add_argument("--draws", type=float, default=1e11, help="in the chi-square tests, of all")
    parser.add_argument("--call", type=float, default=1e9, help="of a call whose rate is measured")
    asked = parser.parse_args()
    try:
        Array(1, "int32")
    except (ImportError, RuntimeError, OSError) as error:
        print(f"no GPU: {error}", file=sys.stderr)
        return 77
    n, a_call = int(asked.items), int(asked.call)
    wrong = False
    parts = facts(), compare(n), rates(a_call), chi_square(int(asked.draws) // len(LAWS), a_call)
    for part in parts:
        for line in part:
            print(line, flush=True)
            wrong |= line.endswith("WRONG")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
