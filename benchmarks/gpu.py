"""Compare a GPU's draws with the CPU's, and time them: ten minutes on a machine with a GPU.

    pip install ".[cuda]" scipy        # and torch, for its rows
    python benchmarks/gpu.py           # or --items 1e6 --draws 1e9 for a look

It prints the compiler's facts, and compares every item with the CPU's, under the key of its call.
Then come the rates of whole calls, beside the cipher alone and torch, and at last a chi-square test
of each law. It ends with 1 if an item differs or a p-value is below 1e-9, and with 77 without a
GPU. docs/elsewhere/gpu.md says what the kernel does.
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
RATES = [(sigma, dtype) for sigma in (1, 30, 2**16) for dtype in ("int32", "int64")]
RATES.append((10**9, "int64"))  # its draws do not fit int32
N_BINS = 64
SMALL = 10**6


class Array:
    """Memory of the current device, with CUDA's array interface."""

    def __init__(self, n: int, dtype: str) -> None:
        self.device = cuda._cuda_core().Device()
        self.device.set_current()
        self.stream = self.device.default_stream
        self.n, self.dtype = n, np.dtype(dtype)
        self.buffer = self.device.allocate(n * self.dtype.itemsize, stream=self.stream)
        self.stream.sync()
        self.address = int(self.buffer.handle)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        told = {"shape": (self.n,), "typestr": self.dtype.str, "data": (self.address, False)}
        return told | {"strides": None, "version": 3, "stream": 1}

    def to_host(self) -> NDArray[Any]:
        pinned, array = cuda._pinned(self.n * self.dtype.itemsize)
        self.buffer.copy_to(pinned, stream=self.stream)
        self.stream.sync()
        return array.view(self.dtype).copy()

    def zero(self) -> None:
        self.buffer.fill(0, stream=self.stream)
        self.stream.sync()


def launch(array: Array, name: str, *arguments: int) -> None:
    """Run a kernel of gpu.cu."""
    core = cuda._cuda_core()
    kernel = compiled(array.device.arch, cuda._ITEMS[array.dtype]).get_kernel(name)
    blocks = 4 * array.device.properties.multiprocessor_count
    core.launch(array.stream, core.LaunchConfig(grid=blocks, block=256), kernel, *arguments)
    array.stream.sync()


@cache
def compiled(arch: str, item: str) -> Any:
    core = cuda._cuda_core()
    macros = [("ITEM", item), ("WORDS", "1")]
    options = core.ProgramOptions(
        arch=f"sm_{arch}", std="c++17", include_path=native.FOLDER, define_macro=macros
    )
    source = Path(__file__).with_suffix(".cu").read_text("utf-8")
    return core.Program(source, "c++", options).compile("cubin")


def draw_and_tell_key(out: Array, law: Any) -> bytes:
    """Fill an array as `law.sample` does, and return the key of this one call."""
    memory: Any = in_memory(out, "out")
    with cuda._Launches(memory, law._spec) as launches:
        launches.draw(memory, None)
        return bytes(launches._call["key"].tobytes())


def by_cpu(law: Any, dtype: str, n: int, key: bytes) -> NDArray[Any]:
    """Return the same items, by the C core on all processors."""
    out, sampler = np.empty(n, dtype), native.NativeSampler(law._spec, "cells")
    piece = 2**20

    def draw(first: int) -> None:
        sampler.noise_at(out[first : first + piece], first, key)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(draw, range(0, n, piece)))
    return out


def compare(n: int) -> Iterator[str]:
    """Compare every item with the CPU's, and then add noise in place."""
    for name, (law, dtype) in LAWS.items():
        out = Array(n, dtype)
        key = draw_and_tell_key(out, law)
        on_gpu, on_cpu = out.to_host(), by_cpu(law, dtype, n, key)
        differ = int((on_gpu != on_cpu).sum())
        dg.add_noise(out, law, out=out)
        moved = out.to_host().astype(np.int64) - on_gpu
        deviation = float(moved.std() / law.std())
        is_right = differ == 0 and abs(deviation - 1) < 10 / n**0.5
        verdict = "right" if is_right else "WRONG"
        yield f"{name}, {dtype}: {differ} of {n:.0e} items differ; {verdict}"


def chi_square(n: int, a_call: int) -> Iterator[str]:
    """Test each law by n draws in 64 bins, to 5 deviations from the mean."""
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
        is_few = expected < 100  # these bins become one
        expected = np.append(expected[~is_few], expected[is_few].sum())
        observed = np.append(seen[~is_few], seen[is_few].sum())
        some = expected > 0
        scale = observed[some].sum() / expected[some].sum()
        p = chisquare(observed[some], expected[some] * scale).pvalue
        verdict = "right" if p > 1e-9 else "WRONG"
        yield f"{name}: {seen.sum():.0e} draws, {some.sum()} bins, p = {p:.2g}; {verdict}"


def per_second(call: Callable[[], object], n: int) -> str:
    """Return the median of 9 calls after 2."""
    times = []
    for _ in range(11):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    took = sorted(times[2:])[4]
    return f"{n / took / 1e9:8.1f} * 10^9/s, {took * 1e6:10.1f} us"


def rates(n: int) -> Iterator[str]:
    """Time draws, sums in place, a small call, and the alternatives."""
    for sigma, dtype in RATES:
        law, out, small = dg.DiscreteGaussian(sigma**2), Array(n, dtype), Array(SMALL, dtype)
        yield f"sigma {sigma}, {dtype}: {per_second(partial(law.sample, out=out), n)}"
        out.zero()
        added = per_second(partial(dg.add_noise, out, law, out=out), n)
        yield f"sigma {sigma}, {dtype}, added in place: {added}"
        some = per_second(partial(law.sample, out=small), small.n)
        yield f"sigma {sigma}, {dtype}, {SMALL}: {some}"
    pinned = per_second(lambda: cuda._pinned(cuda._CALL.itemsize), 1)
    yield f"of each call, page-locked memory: {pinned}"
    out = Array(n // 4096 * 4096, "int32")
    call, _ = cuda._pinned(cuda._CALL.itemsize)
    arguments = out.address, out.n // 16, int(call.handle)
    yield f"the cipher alone: {per_second(lambda: launch(out, 'cipher', *arguments), out.n)}"
    yield from beside_torch(n)
    n, law, threads = n // 10, dg.DiscreteGaussian(2**32), os.cpu_count() or 1
    (staged, array), target = cuda._pinned(4 * n), Array(n, "int32")

    def on_cpu() -> None:
        law.sample(out=array.view(np.int32), threads=threads)
        target.buffer.copy_from(staged, stream=target.stream)
        target.stream.sync()

    yield f"sigma 2^16 on {threads} processors, and copied: {per_second(on_cpu, n)}"


def beside_torch(n: int) -> Iterator[str]:
    """Time torch's normal, and draws into its tensor."""
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
    """Return registers, memory and occupancy of the kernels."""
    device = cuda._cuda_core().Device()
    processors = device.properties.multiprocessor_count
    yield f"{device.name}, sm_{device.arch}, {processors} multiprocessors"
    for item, words in ((item, words) for item in ("int", "long long") for words in (1, 2)):
        names = cuda._kernels(device.device_id, device.arch, native.FOLDER, item, words)
        kernel = names["noise"]
        found = kernel.attributes
        blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0)
        yield (
            f"{item}, {words} words: {found.num_regs} registers, {found.local_size_bytes} bytes "
            f"of local memory, {found.shared_size_bytes} shared; {blocks} blocks at a time"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=float, default=1e8, help="to compare, of each law")
    parser.add_argument("--draws", type=float, default=1e11, help="of each law, for chi-square")
    parser.add_argument("--call", type=float, default=1e9, help="draws of a call that is timed")
    sizes = parser.parse_args()
    try:
        Array(1, "int32")
    except (ImportError, RuntimeError, OSError) as error:
        print(f"no GPU: {error}", file=sys.stderr)
        return 77
    a_call, wrong = int(sizes.call), False
    parts = facts(), compare(int(sizes.items)), rates(a_call), chi_square(int(sizes.draws), a_call)
    for part in parts:
        for line in part:
            print(line, flush=True)
            wrong |= line.endswith("WRONG")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
