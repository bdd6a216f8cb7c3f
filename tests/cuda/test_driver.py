"""Noise on a GPU leaves the driver as it was: contexts, streams, graphs, memory, failures.

The driver is tests/cuda/fake_libcuda.c, which refuses what a driver refuses.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import parts
import pytest
from command import Command
from engine import needs_core
from fake_cuda import FakeGpu, Tensor
from kernel_on_cpu import head_of

import discretegauss as dg
from discretegauss.errors import ParameterOverflowError, ParameterValueError

pytestmark = [
    needs_core,
    pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang")), reason="needs C++"),
]

LAW = dg.DiscreteGaussian(10**4, mu="7/2")
CUDA, DRIVER = "discretegauss._drawing.cuda", "discretegauss._drawing.cuda_driver"


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    return FakeGpu(monkeypatch)


def zeros(device: int = 0, stream: int = 33) -> Tensor:
    return Tensor(np.zeros(5000, np.int64), device, stream)


def is_noise(tensor: Tensor, key: bytes) -> bool:
    """Return whether a tensor has the items of a key."""
    expected = np.zeros(tensor.array.size, np.int64)
    parts.NativeTable(LAW).noise_at(expected, 0, key)
    return bool((tensor.array == expected).all())


def required_nothing_left(gpu: FakeGpu) -> None:
    """Assert that no key is left, no context is pushed, and captures are as strict as before."""
    assert gpu.key_bytes == 0
    assert gpu.current == "none"
    assert gpu.driver.fake_mode() == 0


# --- contexts ---


def test_a_thread_without_a_context_makes_none_on_another_device(gpu: FakeGpu) -> None:
    tensor = zeros(device=1)
    LAW.sample(out=tensor)
    assert is_noise(tensor, gpu.keys[-1])
    assert [gpu.driver.fake_retained(device) for device in (0, 1)] == [0, 1]
    required_nothing_left(gpu)


def test_the_callers_own_context_stays_current(gpu: FakeGpu) -> None:
    """The kernels run in the primary context, to which the tensor's memory belongs."""
    gpu.own_context()
    for _ in range(2):
        tensor = zeros()
        LAW.sample(out=tensor)
        assert is_noise(tensor, gpu.keys[-1])
        assert (gpu.current, gpu.driver.fake_depth()) == ("own0", 1)
    assert {context for *_, context in gpu.launched} == {"primary0"}


def test_memory_of_another_context_is_refused(gpu: FakeGpu) -> None:
    tensor, other = zeros(), zeros()
    tensor.context = gpu.own_context()
    for ask in (LAW.sample, partial(dg.add_noise, tensor, LAW)):
        with pytest.raises(ParameterValueError, match=r"out must be .* primary context"):
            ask(out=tensor)
    with pytest.raises(ParameterValueError, match=r"values must be .* primary context"):
        dg.add_noise(tensor, LAW, out=other)
    assert not gpu.launched
    assert gpu.current == "own0"


def test_the_driver_tells_where_an_array_lies(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays of numba do not say it. Memory that is not of a GPU is refused."""
    monkeypatch.delattr(Tensor, "__dlpack_device__")
    on_host, tensor = zeros(), zeros(device=1)
    on_host.is_on_gpu = False
    LAW.sample(out=tensor)
    assert is_noise(tensor, gpu.keys[-1])
    assert {context for *_, context in gpu.launched} == {"primary1"}
    gpu.forget_log()
    with pytest.raises(ParameterValueError, match="out must be on the device of values"):
        dg.add_noise(tensor, LAW, out=zeros())
    with pytest.raises(ParameterValueError, match="out must lie in memory of a GPU"):
        LAW.sample(out=on_host)
    assert not gpu.launched


# --- streams ---


def test_the_values_stream_is_waited_for(gpu: FakeGpu) -> None:
    """It may still write the values when the call begins; if it is that of out, order is enough."""
    LAW.sample(out=zeros())
    gpu.forget_log()
    values, out = zeros(stream=0x37), zeros(stream=0x21)
    values.array[:] = np.arange(5000)
    dg.add_noise(values, LAW, out=out)
    told = [line.split()[:4] for line in gpu.log]
    waited = told.index(["cuStreamSynchronize", "0x37", "in", "primary0"])
    assert told[waited - 1] == ["cuStreamIsCapturing", "0x37", "in", "primary0"]
    assert waited < told.index(["cuLaunchKernel", "ends", "stream", "0x21"])
    assert [stream for _, stream, _ in gpu.launched] == [0x21, 0x21]
    out.array -= values.array
    assert is_noise(out, gpu.keys[-1])
    gpu.forget_log()
    dg.add_noise(out, LAW, out=out)
    assert len([line for line in gpu.log if line.startswith("cuStreamSynchronize")]) == 2


@pytest.mark.parametrize("state", [1, 2])
def test_streams_that_capture_are_refused(gpu: FakeGpu, state: int) -> None:
    """Also one whose capture is invalid already."""
    gpu.capture(33, state)
    captured, other = zeros(), zeros(stream=34)
    for name, ask, out in (
        ("out", LAW.sample, captured),
        ("out", partial(dg.add_noise, other, LAW), captured),
        ("values", partial(dg.add_noise, captured, LAW), other),
    ):
        with pytest.raises(ParameterValueError, match=f"{name} must not .* captures a graph"):
            ask(out=out)
    assert not gpu.launched
    required_nothing_left(gpu)


def test_a_graph_that_another_thread_captures_stays_valid(gpu: FakeGpu) -> None:
    """At the first use memory is allocated, which would otherwise invalidate it."""
    gpu.driver.fake_capture_elsewhere()
    tensor = zeros()
    LAW.sample(out=tensor)
    assert is_noise(tensor, gpu.keys[-1])
    assert gpu.driver.fake_invalidated() == 0
    required_nothing_left(gpu)


# --- failures ---


@pytest.mark.parametrize(
    ("name", "code", "error", "said"),
    [
        ("cuInit", 100, RuntimeError, "needs NVIDIA's driver and a GPU; cuInit .*_100$"),
        ("cuInit", 803, RuntimeError, "needs NVIDIA's driver and a GPU; cuInit .*_803$"),
        ("cuInit", 3, RuntimeError, "was forked after the first use of CUDA .*'spawn'"),
        ("cuDevicePrimaryCtxRetain", 2, MemoryError, "no memory is left .* cuDevicePrimaryCtx"),
        ("cuMemHostAlloc", 2, MemoryError, "no memory is left .* cuMemHostAlloc"),
        ("cuMemAlloc_v2", 2, MemoryError, "no memory is left .* cuMemAlloc answers"),
        ("cuModuleLoadData", 209, RuntimeError, r"update the driver, or .*'cuda-core\[cu12\]'"),
        ("cuModuleLoadData", 222, RuntimeError, r"update the driver, or .*'cuda-core\[cu12\]'"),
        ("cuStreamIsCapturing", 400, ParameterValueError, "out must be on a stream of its own GPU"),
        ("cuStreamIsCapturing", 700, RuntimeError, "cuStreamIsCapturing answers CUDA_ERROR_700"),
        ("cuStreamIsCapturing", 906, ParameterValueError, "captures a graph"),
        ("cuLaunchKernel", 400, ParameterValueError, "on a stream of its own GPU: cuLaunchKernel"),
        ("cuLaunchKernel", 906, ParameterValueError, "captures a graph"),
        ("cuStreamSynchronize", 719, RuntimeError, "cuStreamSynchronize answers CUDA_ERROR_719"),
    ],
)
def test_errors_are_told_apart(
    gpu: FakeGpu, name: str, code: int, error: type[Exception], said: str
) -> None:
    """One sentence says what failed, and what to do. The next call draws."""
    gpu.fail(name, code)
    with pytest.raises(error, match=said):
        LAW.sample(out=zeros())
    required_nothing_left(gpu)
    tensor = zeros()
    LAW.sample(out=tensor)
    assert is_noise(tensor, gpu.keys[-1])


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "later"])
def test_any_call_of_the_driver_may_fail(
    monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    """Each fails once. No key is left, the context is as before, and nothing leaks."""

    def prepared() -> tuple[FakeGpu, Tensor, Tensor]:
        gpu = FakeGpu(monkeypatch)
        gpu.own_context(1)
        values, out = zeros(stream=7), zeros()
        if not is_first:
            dg.add_noise(values, LAW, out=out)
        gpu.forget_log()
        return gpu, values, out

    gpu, values, out = prepared()
    dg.add_noise(values, LAW, out=out)
    names, allocated = [line.split()[0] for line in gpu.log], gpu.driver.fake_allocated()
    if is_first:  # the remainder is called if something failed or is freed, or for `verify`
        later = {"cuGetErrorName", "cuModuleUnload", "cuMemFree_v2", "cuMemFreeHost"}
        source = Path(parts.cuda_driver().__file__).read_text("utf-8")
        source += Path(parts.cuda_driver().__file__).with_name("cuda.py").read_text("utf-8")
        called = {*re.findall(r"\bcu[A-Z]\w+", source)}
        assert {*names} | later | {"cuDeviceGetCount"} == called
    for i, name in enumerate(names):
        gpu, values, out = prepared()
        gpu.fail("", 999, nth=i + 1)
        with pytest.raises(
            RuntimeError, match=f"{name.removesuffix('_v2')} answers CUDA_ERROR_999"
        ):
            dg.add_noise(values, LAW, out=out)
        assert gpu.key_bytes == 0, (i, name)
        if name == "cuCtxPopCurrent_v2":
            continue  # the context stays, because the driver did not pop it
        assert (gpu.current, gpu.driver.fake_depth()) == ("own1", 1), (i, name)
        if name != "cuThreadExchangeStreamCaptureMode":
            assert gpu.driver.fake_mode() == 0, (i, name)
        dg.add_noise(values, LAW, out=out)
        assert is_noise(out, gpu.keys[-1])
        assert gpu.driver.fake_allocated() == allocated, (i, name)


def test_laws_that_are_not_used_any_more_are_freed(gpu: FakeGpu) -> None:
    """The device keeps 32; and a block for calls."""
    for i in range(40):
        dg.DiscreteGaussian(1000 + i).sample(out=zeros())
    assert gpu.driver.fake_allocated() == 33
    required_nothing_left(gpu)


def test_an_interrupt_wipes_the_key(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while the kernel runs: the call waits for the kernel, and then wipes."""
    LAW.sample(out=zeros())
    real, module = parts.cuda_driver().launch, DRIVER

    def interrupted(*given: Any) -> None:
        real(*given)
        gpu.forget_log()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"{module}.launch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            LAW.sample(out=zeros())
    assert gpu.log[0] == "cuStreamSynchronize 0x21 in primary0"
    required_nothing_left(gpu)


def test_a_signal_handler_may_draw_within_a_draw(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call has memory of its own for its key."""
    LAW.sample(out=zeros())
    real, inner, outer = parts.cuda_driver().launch, zeros(), zeros()

    def handled(*given: Any) -> None:
        monkeypatch.setattr(f"{DRIVER}.launch", real)
        LAW.sample(out=inner)
        real(*given)

    gpu.forget_log()
    monkeypatch.setattr(f"{DRIVER}.launch", handled)
    LAW.sample(out=outer)
    assert is_noise(inner, gpu.keys[0])
    assert is_noise(outer, gpu.keys[1])
    assert len(set(gpu.keys)) == 2
    required_nothing_left(gpu)


def test_a_fork_or_a_reset_after_the_first_use_is_said(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    LAW.sample(out=zeros())
    gpu.forget_log()
    process = os.getpid()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: process + 1)
        with pytest.raises(RuntimeError, match="forked after the first use of CUDA"):
            LAW.sample(out=zeros())
    assert not gpu.log
    gpu.driver.fake_reset_device(0)
    with pytest.raises(RuntimeError, match="was reset after its first use"):
        LAW.sample(out=zeros())
    assert not gpu.launched


@pytest.mark.process
def test_a_forked_child_is_told_and_others_race(gpu: FakeGpu) -> None:
    """A child says that it cannot draw. Threads of one device each get the noise of a key."""
    LAW.sample(out=zeros())
    gpu.forget_log()
    child = os.fork()
    if child == 0:
        try:
            LAW.sample(out=zeros())
        except RuntimeError as error:
            os._exit(7 if "forked after the first use of CUDA" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    tensors = [zeros() for _ in range(12)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda tensor: LAW.sample(out=tensor), tensors))
    keys = set(gpu.keys)
    assert len(keys) == 12
    for tensor in tensors:
        assert sum(is_noise(tensor, key) for key in keys) == 1
    required_nothing_left(gpu)


# --- the known answer ---


def test_a_known_answer_is_asked_for_each_device_law_and_type(gpu: FakeGpu) -> None:
    """It takes three launches of 4096 items under keys of their own, once each."""
    answer, draw = ["noise", "ends", "noise"], ["noise"]
    other = dg.DiscreteLaplace(9)
    narrow = Tensor(np.zeros(10, np.int32))
    for law, tensor, expected in (
        (LAW, zeros(), [*answer, *draw]),
        (LAW, zeros(), draw),
        (LAW, zeros(device=1), [*answer, *draw]),
        (other, zeros(), [*answer, *draw]),
        (other, narrow, [*answer, *draw]),
        (other, narrow, draw),
        (LAW, zeros(), draw),
    ):
        gpu.forget_log()
        law.sample(out=tensor)
        assert [name for name, *_ in gpu.launched] == expected
        assert len(set(gpu.keys)) == 1 + (expected != draw)
    assert len(gpu.compiled) == 3  # for two devices and two types


def test_wrong_kernels_draw_nothing(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong items, wrong ends or wrong sums: the error names device, driver, NVRTC and law."""
    launches = parts.gpu_launches()
    ends, draw, packed = launches.ends, launches._draw, parts.native_sampler().packed

    def wrong_law(self: Any) -> Any:
        law = packed(self)
        head_of(law)["c"] += 1
        return law

    def wrong_ends(self: Any, *given: int) -> tuple[int, int]:
        least, greatest = ends(self, *given)
        return least, greatest + 1

    def wrong_sums(self: Any, to: int, of: int, *given: int) -> None:
        draw(self, to, 0, *given)

    for owner, name, wrong in (
        (parts.native_sampler(), "packed", wrong_law),
        (launches, "ends", wrong_ends),
        (launches, "_draw", wrong_sums),
    ):
        parts.forget_gpus(monkeypatch)
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, wrong)
            tensor = zeros()
            for _ in range(2):
                with pytest.raises(RuntimeError, match="other noise than the CPU") as caught:
                    LAW.sample(out=tensor)
                told = str(caught.value)
                for part in ("a fake 0", "sm_90", "driver 13.2", "NVRTC 13.5", "int64", "10000"):
                    assert part in told
                assert "DISCRETE_GAUSSIAN, 10000, 3.5, 1, int64" in told
            assert not tensor.array.any()
        required_nothing_left(gpu)


def test_a_law_that_does_not_fit_is_refused_before_its_answer(gpu: FakeGpu) -> None:
    values = Tensor(np.zeros(10, np.int32))
    with pytest.raises(ParameterOverflowError, match="int32"):
        dg.add_noise(values, dg.DiscreteGaussian(2**64), out=values)
    assert not gpu.launched


def test_read_only_values_get_noise_elsewhere(gpu: FakeGpu) -> None:
    values, out = zeros(), zeros()
    values.is_read_only = True
    dg.add_noise(values, LAW, out=out)
    assert is_noise(out, gpu.keys[-1])
    with pytest.raises(ParameterValueError, match="out must be writable"):
        dg.add_noise(values, LAW, out=values)


def test_nothing_is_asked_of_the_driver_for_no_items(gpu: FakeGpu) -> None:
    empty = Tensor(np.zeros((0, 3), np.int64))
    assert LAW.sample(out=empty) is empty
    assert dg.add_noise(empty, LAW, out=empty) is empty
    assert not gpu.log


# --- discretegauss verify --gpu ---


def test_verify_asks_each_gpu_for_known_answers(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch, run: Command
) -> None:
    """A type that does not hold a law has no line, and neither has a law that no GPU draws."""
    laws = [LAW, dg.DiscreteLaplace(2**40), dg.DiscreteGaussian(2**110)]
    monkeypatch.setattr(
        "discretegauss.verify._gpu.fixed_cases", lambda: [law._spec for law in laws]
    )
    done = run("verify", "--gpu")
    assert (done.code, done.err) == (0, "")
    about = "(sm_90, driver 13.2, NVRTC 13.5) draws the CPU's discrete"
    assert done.out.splitlines()[1:] == [
        f"right: a fake {device} {about} {law}"
        for device in (0, 1)
        for law in (
            "Gaussian, sigma2 10000, mu 7/2, int32",
            "Gaussian, sigma2 10000, mu 7/2, int64",
            "Laplace, scale 1099511627776, mu 0, int64",
        )
    ]
    monkeypatch.setattr(parts.gpu_launches(), "ends", lambda *_: (0, 0))
    done = run("verify", "--gpu", "--json")
    assert (done.code, json.loads(done.out)["right"]) == (1, False)
    parts.forget_gpus(monkeypatch)
    gpu.fail("cuInit", 100)
    done = run("verify", "--gpu")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("discretegauss verify: noise on a GPU needs NVIDIA's driver and")
    for other in ("--quick", "--random=3"):
        assert run("verify", "--gpu", other).is_refused_with("must not be given with")
