"""Compare a GPU's draws with the CPU's, and time them: ten minutes on a machine with a GPU.

    pip install ".[cuda]" scipy        # and torch, for its rows
    python benchmarks/gpu.py           # or --items 1e6 --draws 1e9 for a look

It prints the compiler's facts and the known answers of ``discretegauss verify --gpu``, and compares
every item of longer calls with the CPU's, under their keys. Then come the rates of whole calls,
beside the cipher alone and torch, and at last a chi-square test of each law. It ends with 1 if an
item differs or a p-value is below 1e-9, and with 77 without a GPU. docs/elsewhere/gpu.md says what
the kernel does.
"""

from __future__ import annotations

import argparse
import ctypes
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
from discretegauss._drawing import cuda_driver as driver
from discretegauss._inputs.tensors import DEFAULT_STREAM
from discretegauss.verify._gpu import known_answers

LAWS: dict[str, tuple[Any, str]] = {
    "gaussian, sigma 1": (dg.DiscreteGaussian(1), "int32"),
    "gaussian, sigma 2^16, mu 7/3": (dg.DiscreteGaussian(2**32, mu="7/3"), "int32"),
    "gaussian, sigma 10^9": (dg.DiscreteGaussian(10**18), "int64"),
    "laplace, scale 5/2, mu 1/3": (dg.DiscreteLaplace("5/2", mu="1/3"), "int32"),
    "laplace, scale 2^50": (dg.DiscreteLaplace(2**50), "int64"),
    "generalised, scale 1000, beta 3/2": (dg.GeneralizedGaussian(1000, "3/2"), "int32"),
}
RATES = [(sigma, dtype) for sigma in (1, 100, 10**6) for dtype in ("int32", "int64")]
RATES.append((10**9, "int64"))  # its draws do not fit int32
N_BINS = 64
SMALL = 10**6


class Array:
    """Memory of the first device, with CUDA's array interface."""

    def __init__(self, n: int, dtype: str) -> None:
        self.device, self.n, self.dtype = driver.devices()[0], n, np.dtype(dtype)
        with self.device.current():
            self.memory = driver.Memory(self.device, n * self.dtype.itemsize)
        self.address = self.memory.address

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        told = {"shape": (self.n,), "typestr": self.dtype.str, "data": (self.address, False)}
        return told | {"strides": None, "version": 3, "stream": DEFAULT_STREAM}

    def to_host(self) -> NDArray[Any]:
        array = np.empty(self.n, self.dtype)
        self.copy("cuMemcpyDtoHAsync_v2", array.ctypes.data, self.address)
        return array

    def from_host(self, array: NDArray[Any]) -> None:
        self.copy("cuMemcpyHtoDAsync_v2", self.address, array.ctypes.data)

    def copy(self, name: str, to: int, of: int) -> None:
        with self.device.current():
            driver.call(name, to, of, self.n * self.dtype.itemsize, DEFAULT_STREAM)
            driver.call("cuStreamSynchronize", DEFAULT_STREAM)


def launch(array: Array, name: str, *arguments: int) -> None:
    """Run a kernel of gpu.cu."""
    device = array.device
    with device.current():
        kernel = compiled(device, cuda._ITEMS[array.dtype])[name]
        driver.launch(kernel, 4 * device.processors, 256, DEFAULT_STREAM, *arguments)


@cache
def compiled(device: driver.Device, item: str) -> dict[str, Any]:
    import cuda.core as core

    options = core.ProgramOptions(
        arch=f"sm_{device.arch}",
        std="c++17",
        include_path=native.FOLDER,
        define_macro=[("ITEM", item), ("WORDS", "1")],
    )
    source = Path(__file__).with_suffix(".cu").read_text("utf-8")
    code = core.Program(source, "c++", options).compile("cubin").code
    return driver.functions(code, "count", "cipher")


def draw_and_tell_key(out: Array, law: Any) -> bytes:
    """Fill an array as `law.sample` does, and return the key of this one call."""
    with out.device.block(DEFAULT_STREAM, cuda._BLOCK_BYTES) as block:
        call = cuda._KernelCall(out.device, block, DEFAULT_STREAM, out.dtype, law._spec)
        call.draw(out.address, 0, out.n)
        return call.key.tobytes()


def locked(n_bytes: int) -> driver.Memory:
    """Return page-locked memory of the host."""
    device = driver.devices()[0]
    with device.current():
        return driver.Memory(device, n_bytes, on_host=True)


def by_cpu(law: Any, dtype: str, n: int, key: bytes) -> NDArray[Any]:
    """Return the same items, by the C core on all processors."""
    out, sampler = np.empty(n, dtype), native.NativeSampler(law._spec, "cells")
    piece = 2**20

    def draw(first: int) -> None:
        sampler.noise_at(out[first : first + piece], first, key)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(draw, range(0, n, piece)))
    return out


def answers() -> Iterator[str]:
    """Ask for known answers of many laws."""
    for fact, is_right in known_answers():
        yield f"{fact}; {'right' if is_right else 'WRONG'}"


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
        counts.from_host(np.zeros(counts.n, np.int64))
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
        out.from_host(np.zeros(n, dtype))
        added = per_second(partial(dg.add_noise, out, law, out=out), n)
        yield f"sigma {sigma}, {dtype}, added in place: {added}"
        some = per_second(partial(law.sample, out=small), small.n)
        yield f"sigma {sigma}, {dtype}, {SMALL}: {some}"
    out, call = Array(n // 4096 * 4096, "int32"), locked(cuda._BLOCK_BYTES)
    arguments = out.address, out.n // 16, call.address
    yield f"the cipher alone: {per_second(lambda: launch(out, 'cipher', *arguments), out.n)}"
    yield from beside_torch(n)
    n, law, threads = n // 10, dg.DiscreteGaussian(10**12), os.cpu_count() or 1
    staged, target = locked(4 * n), Array(n, "int32")

    def on_cpu() -> None:
        law.sample(out=staged.array.view(np.int32), threads=threads)
        target.from_host(staged.array)

    yield f"sigma 10^6 on {threads} processors, and copied: {per_second(on_cpu, n)}"


def beside_torch(n: int) -> Iterator[str]:
    """Time torch's normal, and draws into its tensor."""
    try:
        import torch
    except ImportError:
        yield "torch: not installed"
        return
    floats = torch.empty(n, dtype=torch.float32, device="cuda")

    def normal() -> None:
        floats.normal_(0, 10**6)
        torch.cuda.synchronize()

    def rounded() -> None:
        floats.normal_(0, 10**6).round_().to(torch.int32)
        torch.cuda.synchronize()

    yield f"torch.normal_, neither exact nor secure: {per_second(normal, n)}"
    yield f"torch.normal_, rounded, as int32: {per_second(rounded, n)}"
    tensor, law = torch.zeros(n, dtype=torch.int32, device="cuda"), dg.DiscreteGaussian(10**12)
    yield f"a tensor of torch, sigma 10^6: {per_second(lambda: law.sample(out=tensor), n)}"


def facts() -> Iterator[str]:
    """Return registers, memory and occupancy of the kernels."""
    device = driver.devices()[0]
    yield f"{device.name}, sm_{device.arch}, {device.processors} multiprocessors"
    asked = {"registers": 4, "bytes of local memory": 3, "shared": 1}
    for item, words in ((item, words) for item in ("int", "long long") for words in (1, 2)):
        with device.current():
            kernel = cuda._kernels(device, native.FOLDER, item, words)["noise"]
            of = {name: number("cuFuncGetAttribute", n, kernel) for name, n in asked.items()}
            blocks = number("cuOccupancyMaxActiveBlocksPerMultiprocessor", kernel, 256, 0)
        told = ", ".join(f"{n} {name}" for name, n in of.items())
        yield f"{item}, {words} words: {told}; {blocks} blocks at a time"


def number(name: str, *given: Any) -> int:
    """Return an integer that a function of the driver stores."""
    stored = ctypes.c_int()
    driver.call(name, ctypes.byref(stored), *given)
    return stored.value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=float, default=1e8, help="to compare, of each law")
    parser.add_argument("--draws", type=float, default=1e10, help="of each law, for chi-square")
    parser.add_argument("--call", type=float, default=1e9, help="draws of a call that is timed")
    sizes = parser.parse_args()
    try:
        Array(1, "int32")
    except (ImportError, RuntimeError, OSError) as error:
        print(f"no GPU: {error}", file=sys.stderr)
        return 77
    a_call, wrong = int(sizes.call), False
    parts = facts(), answers(), compare(int(sizes.items)), rates(a_call)
    for part in (*parts, chi_square(int(sizes.draws), a_call)):
        for line in part:
            print(line, flush=True)
            wrong |= line.endswith("WRONG")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
